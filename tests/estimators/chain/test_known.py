"""What is known of labels before sequences are tagged: the best labelling under it."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sskit import SequenceTagger
from sskit.datasets import make_chains
from sskit.models.chain.transitions import check_possible
from sskit.preprocessing import TokenTransformer

K = 3


def make_data(n=30):
    X, y = make_chains(n, n_features=4, n_states=K, noise=1.5, max_length=5, random_state=0)
    return [x.astype(np.float32) for x in X], y


X, Y = make_data()
# the label 1 may not come after 0, nor 2 after 1
ALLOWED = ~np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)


def fit(**options):
    given = {"lam": 0.05, "tol": 0.1, "random_state": 0, "on_violation": "ignore"}
    return SequenceTagger(**given | options).fit(X, Y)


MODELS = {
    "linear": fit(),
    "ruled": fit(allowed_transitions=ALLOWED),
    "rbf": fit(kernel="rbf"),
    "ruled rbf": fit(kernel="rbf", allowed_transitions=ALLOWED),
}


def draw(rng, sequences, model):
    """What is known of sequences: items of every form, and what they allow."""
    rules = model.allowed_transitions_
    known, masks = [], []
    for x in sequences:
        while True:
            mask = rng.random((len(x), K)) < 0.6
            mask[np.arange(len(x)), rng.integers(K, size=len(x))] = True
            if rules is None or options_of(len(x), mask, rules):
                break
        form = rng.integers(3)
        if form == 0:
            known.append(None)
            mask[:] = True
        elif form == 1:
            known.append(mask)
        else:
            entries = [model.classes_[row].tolist() for row in mask]
            known.append(
                [None if len(s) == K else s[0] if len(s) == 1 else set(s) for s in entries]
            )
        masks.append(mask)
    return known, masks


def options_of(length, mask, allowed=None):
    """All labellings that are possible, by enumeration."""
    return [
        y
        for y in itertools.product(range(K), repeat=length)
        if all(mask[t, k] for t, k in enumerate(y))
        and (allowed is None or all(allowed[pair] for pair in itertools.pairwise(y)))
    ]


def node_scores(model, x):
    if model.kernel == "linear":
        return x.astype(float) @ model.coef_.T
    return model.kernel_(x.astype(float), model.support_vectors_) @ model.dual_coef_.T


def score_of(model, nodes, y):
    y = np.array(y)
    score = nodes[np.arange(len(y)), y].sum() + model.transitions_[y[:-1], y[1:]].sum()
    return score + model.start_[y[0]] + model.end_[y[-1]]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_the_best_labelling_under_it_is_that_of_enumeration(name, seed):
    model, rng = MODELS[name], np.random.default_rng(seed)
    known, masks = draw(rng, X, model)
    found = model.predict(X, known=known)
    top, top_scores = model.predict_topk(X, 4, return_scores=True, known=known)
    marginals = model.decision_function(X, known=known)
    for i, (x, mask) in enumerate(zip(X, masks, strict=True)):
        nodes = node_scores(model, x)
        options = options_of(len(x), mask, model.allowed_transitions_)
        scores = np.array([score_of(model, nodes, y) for y in options])
        order = np.sort(scores)[::-1]
        best = np.searchsorted(model.classes_, found[i])
        assert tuple(best) in options
        assert score_of(model, nodes, best) == pytest.approx(order[0], abs=1e-4)
        np.testing.assert_allclose(top_scores[i], order[:4], atol=1e-4)
        assert len({tuple(y) for y in top[i]}) == min(4, len(options))
        expected = np.full((len(x), K), -np.inf)
        for y, score in zip(options, scores, strict=True):
            cells = np.arange(len(x)), np.array(y)
            expected[cells] = np.maximum(expected[cells], score)
        np.testing.assert_allclose(marginals[i], expected, atol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_nothing_known_changes_no_bits(name):
    model = MODELS[name]
    nothing = [None] * len(X), [np.ones((len(x), K), dtype=bool) for x in X]
    for known in (None, *nothing):
        assert all(map(np.array_equal, model.predict(X, known=known), model.predict(X)))
        scores = model.decision_function(X, known=known)
        assert all(map(np.array_equal, scores, model.decision_function(X)))
    before = [mask.copy() for mask in nothing[1]]
    assert all(map(np.array_equal, before, nothing[1]))


@pytest.mark.parametrize("name", ["linear", "ruled"])
def test_forms_of_features_and_threads(name):
    model = MODELS[name]
    known, _ = draw(np.random.default_rng(5), X, model)
    wanted = model.predict(X, known=known)
    for given in ([sp.csr_array(x) for x in X], [x.astype(np.float64) for x in X]):
        assert all(map(np.array_equal, model.predict(given, known=known), wanted))
    model.set_params(n_jobs=2)
    assert all(map(np.array_equal, model.predict(X, known=known), wanted))
    model.set_params(n_jobs=None)
    # empty sequences have nothing that could be known
    wider = model.predict([np.empty((0, 4)), *X], known=[[], *known])
    assert len(wider[0]) == 0
    assert all(map(np.array_equal, wider[1:], wanted))
    assert len(model.predict([np.empty((0, 4))], known=[None])[0]) == 0


@pytest.mark.parametrize("name", ["linear", "ruled", "ruled rbf"])
@pytest.mark.parametrize("size", [1, 2])
def test_a_beam_keeps_to_it(name, size):
    """Where the beam loses all that is possible, the best labelling is found in its place."""
    model = MODELS[name]
    rules = ALLOWED if "ruled" in name else None
    for seed in range(5):
        known, masks = draw(np.random.default_rng(seed), X, model)
        model.set_params(beam_size=size)
        found = model.predict(X, known=known)
        model.set_params(beam_size=None)
        for y, mask in zip(found, masks, strict=True):
            assert tuple(np.searchsorted(model.classes_, y)) in options_of(len(y), mask, rules)


def test_rules_that_are_set_after_the_fit():
    model = fit().set_params(allowed_transitions=ALLOWED)
    known = [[0, *[None] * (len(x) - 1)] for x in X]
    found = model.predict(X, known=known)
    assert all(y[0] == 0 and ALLOWED[y[:-1], y[1:]].all() for y in found)


TAGS = np.array(["B-x", "E-x", "I-x", "O", "S-x"])


@pytest.mark.parametrize(
    ("known", "message"),
    [
        (["O", "O", "I-x", None], r"known\[2\]\[2\] .* follow those before"),
        (["E-x", None, None, None], r"known\[2\]\[0\] .* begin a sequence"),
        ([None, None, None, {"B-x", "I-x"}], r"known\[2\]\[3\] .* end a sequence"),
        (["B-x", None, None, "O"], None),
        (["B-x", {"B-x", "O"}, None, "O"], r"known\[2\]\[1\] .* follow those before"),
        (["O", "B-x", "I-x", {"I-x", "E-x"}], None),
        (["O", {"B-x", "S-x"}, {"B-x", "I-x"}, {"S-x", "B-x"}], r"known\[2\]\[3\] .* follow"),
    ],
)
@pytest.mark.parametrize("beam_size", [None, 2])
def test_what_contradicts_the_rules_is_named(known, message, beam_size):
    rng = np.random.default_rng(0)
    sequences = [rng.normal(size=(n, 3)) for n in (2, 4, 4)]
    y = [TAGS[[3, 4]], TAGS[[0, 2, 1, 3]], TAGS[[3, 0, 1, 3]]]
    model = SequenceTagger(allowed_transitions="bioes", lam=0.1, beam_size=beam_size)
    model.fit(sequences, y)
    items = [None, None, known]
    for method in (model.predict, model.decision_function, lambda X, known: topk(model, X, known)):
        if message is None:
            method(sequences, known=items)
        else:
            with pytest.raises(ValueError, match=message):
                method(sequences, known=items)
    if message is None:
        for label, entry in zip(model.predict(sequences, known=items)[2], known, strict=True):
            assert entry is None or label in (entry if isinstance(entry, set) else {entry})


def topk(model, X, known):
    return model.predict_topk(X, 2, known=known)


def test_the_first_of_several_is_named():
    rng = np.random.default_rng(0)
    for _ in range(200):
        allowed, start, end = rng.random((3, 3)) < 0.5, rng.random(3) < 0.7, rng.random(3) < 0.7
        lengths = rng.integers(0, 5, size=4)
        offsets = np.concatenate([[0], lengths.cumsum()])
        possible = rng.random((offsets[-1], 3)) < 0.7
        possible[np.arange(offsets[-1]), rng.integers(3, size=offsets[-1])] = True
        wrong = None
        for i, (a, b) in enumerate(itertools.pairwise(offsets.tolist())):
            reached = start
            for t in range(b - a):
                reached = (reached if t == 0 else allowed[reached].any(axis=0)) & possible[a + t]
                if not (reached & (end if t == b - a - 1 else True)).any():
                    # sequences of which nothing is known are looked at elsewhere
                    if not possible[a:b].all():
                        wrong = wrong or (i, t)
                    break
        if wrong is None:
            check_possible(possible, offsets, allowed, start, end)
        else:
            with pytest.raises(ValueError, match=r"known\[{}\]\[{}\] ".format(*wrong)):
                check_possible(possible, offsets, allowed, start, end)


@pytest.mark.parametrize(
    ("known", "error", "message"),
    [
        ([None], ValueError, "X has 3 samples but known has 1"),
        ([None, [0], None], ValueError, r"X\[1\] has \d rows but known\[1\] has 1 labels"),
        ([[7] * len(X[0]), None, None], ValueError, r"known\[0\]\[0\] has 7, which is no label"),
        ([[set()] * len(X[0]), None, None], ValueError, r"known\[0\]\[0\] is an empty set"),
        ([None, None, np.ones((1, 3), bool)], ValueError, r"known\[2\] must have shape"),
        ([None, "0120", None], TypeError, r"known\[1\] must be a sequence of labels"),
        (3, TypeError, "known must be a list with"),
    ],
)
def test_what_cannot_be_known_is_named(known, error, message):
    for method in (MODELS["linear"].predict, MODELS["ruled rbf"].decision_function):
        with pytest.raises(error, match=message):
            method(X[:3], known=known)


def test_it_is_routed_through_pipelines():
    with config_context(enable_metadata_routing=True):
        tagger = SequenceTagger(lam=0.05, tol=0.1).set_predict_request(known=True)
        model = make_pipeline(TokenTransformer(StandardScaler()), tagger).fit(X, Y)
        known = [[1, *[None] * (len(x) - 1)] for x in X]
        assert all(y[0] == 1 for y in model.predict(X, known=known))
    assert SequenceTagger().get_metadata_routing().predict.requests == {"known": None}
