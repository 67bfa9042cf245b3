"""Schemes of tags in training and prediction, tags that break them, and rules of prediction."""

import numpy as np
import pytest
from helpers.labellings import max_marginals, score_labellings
from helpers.objectives import bracket
from helpers.paper import follows
from helpers.refusals import refused
from sklearn.base import clone

from sskit import EarlyStopping, SequenceTagger
from sskit._tag_schemes import find_violations
from sskit.datasets import make_chains
from sskit.metrics import convert_tags, span_f1_score
from sskit.models.chain.transitions import kinds_of, repair, scheme_transitions

NAMES = np.array(["B-x", "B-y", "I-x", "I-y", "O"])
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
SCHEMES = ["bio", "iob1", "bioes", "bilou"]


# sequences of spans of two kinds, and their tags by scheme
X, STATES = make_chains(40, n_features=5, n_states=5, noise=1.5, max_length=7, random_state=3)
TAGS = {
    scheme: convert_tags([NAMES[k] for k in STATES], "bio", scheme, strict=False)
    for scheme in SCHEMES
}
# sequences of which many labels are not legal
ROWS, STATES = make_chains(30, n_features=5, n_states=5, noise=2.0, max_length=7, random_state=3)
CORPUS = ROWS, [NAMES[k] for k in STATES]


def tagger(scheme, **options):
    given = {"lam": 0.05, "tol": 0.05, "random_state": 0, "allowed_transitions": scheme}
    return SequenceTagger(**given | options)


def n_violations(y, scheme="bio", classes=NAMES):
    labels = np.searchsorted(classes, np.concatenate(y))
    offsets = np.cumsum([0, *map(len, y)])
    return len(find_violations(labels, offsets, *scheme_transitions(scheme, classes)))


@pytest.mark.parametrize("given", [{}, {"kernel": "rbf"}, {"order": 2}], ids=" ".join)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_predictions_are_legal_and_the_best(scheme, given):
    y = TAGS[scheme]
    model = tagger(scheme, **given).fit(X, y)
    found, classes = model.predict(X), model.classes_
    assert model.certified_ and n_violations(found, scheme, classes) == 0
    convert_tags(found, scheme, "bio")  # all are legal
    free = clone(model).set_params(allowed_transitions=None).fit(X, y).predict(X)
    assert scheme in ("bio", "iob1") or n_violations(free, scheme, classes) > 0
    assert span_f1_score(y, found, scheme=scheme) > 0.5
    rules, start, end = model.allowed_transitions_, model.allowed_start_, model.allowed_end_
    assert end.all() == (scheme in ("bio", "iob1"))
    assert scheme != "bio" or rules.tolist() == [
        [b[0] != "I" or a[1:] == b[1:] for b in NAMES] for a in NAMES
    ]
    # a forbidden transition has no weight
    assert "kernel" in given or not model.transitions_[~rules].any()
    few = [x for x in X if len(x) <= 3]
    tables, best = model.decision_function(few), model.predict_topk(few, 6)
    for x, table, top in zip(few, tables, best, strict=True):
        labels, values = score_labellings(model, x)
        legal = follows(labels, rules, start, end)
        values = np.where(legal, values, -np.inf)
        order = np.argsort(-values)[: min(6, legal.sum())]
        assert top.tolist() == classes[labels[order]].tolist()
        np.testing.assert_allclose(table, max_marginals(labels, values, len(classes)), atol=1e-9)


@pytest.mark.parametrize("solver", ["bcfw", "cutting_plane", "frank_wolfe", "multi_plane", "gdmm"])
def test_with_other_solvers(solver):
    """They train the same model: what one proves holds for the other."""
    y, rescaling = TAGS["bioes"], "slack" if solver == "frank_wolfe" else "margin"
    best = tagger("iobes", rescaling=rescaling, tol=0.01).fit(X, y)  # one scheme
    model = tagger("bioes", solver=solver, rescaling=rescaling, max_iter=400)
    if solver == "bcfw":  # goes on, with threads
        model.set_params(warm_start=True, tol=0.2).fit(X, y).set_params(tol=0.05, n_jobs=2)
    bracket(model.fit(X, y), best)
    for size in (None, 1, 3):
        model.set_params(beam_size=size)
        assert n_violations(model.predict(X), "bioes", model.classes_) == 0


SOME = [np.array(["O", "O", "O"]), np.array(["B-x", "E-x", "S-x"]), np.array(["B-x", "I-x", "E-x"])]


def test_tags_that_break_the_scheme_are_named():
    """More of them are in tests/models/chain/test_transitions.py."""
    for scheme, tags, message in (
        ("bioes", "O B-x I-x", r"y\[3\]\[2\] is I-x at the end, which allowed_transitions"),
        ("iobes", "B-x B-x B-x", r"y\[3\]\[1\] is B-x after B-x, .* there are 2 such labels"),
        ("bio", "O O O", "needs the labels O, B-TYPE, I-TYPE, but y.1..1. is 'E-x'"),
    ):
        y, model = [*SOME, np.array(tags.split())], tagger(scheme)
        with refused(model, ValueError, message):
            model.fit([np.ones((3, 2)) for _ in y], y)
    y = [["I-x", "B-x", "O"], ["O", "B-x", "O"]]  # one of iob1 parts spans only
    with pytest.raises(ValueError, match=r"^y\[1\]\[1\] is B-x after O, which"):
        tagger("iob1").fit([np.ones((3, 2))] * 2, y)


def test_repaired_labels_are_trained_on():
    X, y = CORPUS
    model = tagger("bio", on_violation="repair", tol=0.01)
    before = [labels.copy() for labels in y]
    told = r"11 labels .* first of them y\[8\]\[0\] from I-x to B-y"
    with pytest.warns(UserWarning, match=told) as caught:
        model.fit(X, y)
    assert caught[0].filename == __file__
    assert all(map(np.array_equal, y, before))
    # the same as training on labels that are repaired by hand, of which nothing is told
    offsets, labels = np.cumsum([0, *map(len, y)]), np.searchsorted(NAMES, np.concatenate(y))
    rules = scheme_transitions("bio", NAMES)
    tokens = find_violations(labels, offsets, *rules)
    labels = repair(tokens, labels, offsets, *rules, kinds_of(NAMES))
    hand = np.split(NAMES[labels], offsets[1:-1])
    repaired = clone(model).set_params(on_violation="raise").fit(X, hand)
    for name in ("transitions_", "dual_gap_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(repaired, name))


def test_early_stopping_tells_of_repairs_once():
    X, y = CORPUS
    bio = tagger("bio", on_violation="repair", tol=0.01)
    model = EarlyStopping(bio, n_iter_no_change=2, random_state=0)
    told = "labels that allowed_transitions does not allow were changed"
    for given in ({}, {"X_val": X[:5], "y_val": y[:5]}):
        with pytest.warns(UserWarning, match=told) as caught:
            model.fit(X, y, **given)
        assert len(caught) == 1
    assert not hasattr(model.estimator_, "_watch")


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_rules_of_prediction_only(kernel):
    X, y = CORPUS
    free = tagger(None, kernel=kernel).fit(X, y)
    ruled = tagger("bio", on_violation="ignore", kernel=kernel).fit(X, y)
    assert ruled.dual_gap_ == free.dual_gap_
    np.testing.assert_array_equal(ruled.transitions_, free.transitions_)
    assert n_violations(free.predict(X)) > 0 == n_violations(ruled.predict(X))
    assert ruled.allowed_transitions_.shape == (5, 5)
    # prediction keeps to rules that are set after the fit, and forgets those that are taken away
    free.set_params(allowed_transitions="bio")
    assert all(map(np.array_equal, free.predict(X), ruled.predict(X)))
    assert all(n_violations(some) == 0 for some in zip(*free.predict_topk(X[:3], 2), strict=False))
    assert (free.decision_function(X)[0][0, 2:4] == -np.inf).all()
    assert n_violations(ruled.set_params(allowed_transitions=None).predict(X)) > 0
