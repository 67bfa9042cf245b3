"""What is known of labels before sequences are tagged: the best labelling under it."""

from functools import partial

import numpy as np
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sskit import SequenceTagger
from sskit.datasets import make_chains
from sskit.preprocessing import TokenTransformer

K = 3


X, Y = make_chains(30, n_features=4, n_states=K, noise=1.5, max_length=5, random_state=0)
# the label 1 may not come after 0, nor 2 after 1
ALLOWED = ~np.array([[0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=bool)


def draw(rng, rules):
    """What is known of sequences, so that something is left by the rules."""
    known = []
    for x in X:
        while True:
            mask = rng.random((len(x), K)) < 0.6
            mask[np.arange(len(x)), rng.integers(K, size=len(x))] = True
            reached = mask[0]
            for row in mask[1:]:
                reached = row & (reached.any() if rules is None else rules[reached].any(axis=0))
            if reached.any():
                break
        known.append(mask)
    return known


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("rules", [None, ALLOWED])
def test_a_beam_keeps_to_it(kernel, rules):
    """Where the beam loses all that is possible, the best labelling is found in its place."""
    model = SequenceTagger(lam=0.05, tol=0.1, random_state=0, kernel=kernel).fit(X, Y)
    model.set_params(allowed_transitions=rules)
    for seed in range(5):
        known = draw(np.random.default_rng(seed), rules)
        for size in (1, 2, None):
            found = model.set_params(beam_size=size).predict(X, known=known)
            for y, mask in zip(found, known, strict=True):
                assert mask[np.arange(len(y)), y].all()
                assert rules is None or rules[y[:-1], y[1:]].all()
    # empty sequences have nothing that could be known
    wider = model.predict([np.empty((0, 4)), *X, X[0][:0]], known=[[], *known, None])
    assert len(wider[0]) == len(wider[-1]) == 0
    assert all(map(np.array_equal, wider[1:-1], found))


TAGS = np.array(["B-x", "E-x", "I-x", "O", "S-x"])


@pytest.mark.parametrize("beam_size", [None, 2])
def test_what_contradicts_the_rules_is_named(beam_size):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 3)) for n in (2, 4, 4)]
    y = [TAGS[[3, 4]], TAGS[[0, 2, 1, 3]], TAGS[[3, 0, 1, 3]]]
    model = SequenceTagger(allowed_transitions="bioes", lam=0.1, beam_size=beam_size).fit(X, y)
    calls = (model.predict, model.decision_function, partial(model.predict_topk, k=2))
    for known, message in (
        (["O", "O", "I-x", None], r"known\[2\]\[2\] .* follow those before"),
        (["E-x", None, None, None], r"known\[2\]\[0\] .* begin a sequence"),
        ([None, None, None, {"B-x", "I-x"}], r"known\[2\]\[3\] .* end a sequence"),
        (["B-x", {"B-x", "O"}, None, "O"], r"known\[2\]\[1\] .* follow those before"),
        (["O", {"B-x", "S-x"}, {"B-x", "I-x"}, {"S-x", "B-x"}], r"known\[2\]\[3\] .* follow"),
    ):
        for call in calls:
            with pytest.raises(ValueError, match=message):
                call(X, known=[None, None, known])
    for known in (["B-x", None, None, "O"], ["O", "B-x", "I-x", {"I-x", "E-x"}]):
        found, *_ = [call(X, known=[None, None, known])[2] for call in calls]
        for label, entry in zip(found, known, strict=True):
            assert entry is None or label in (entry if isinstance(entry, set) else {entry})


def test_it_is_routed_through_pipelines():
    with config_context(enable_metadata_routing=True):
        tagger = SequenceTagger(lam=0.05, tol=0.1).set_predict_request(known=True)
        model = make_pipeline(TokenTransformer(StandardScaler()), tagger).fit(X, Y)
        known = [[1, *[None] * (len(x) - 1)] for x in X]
        assert all(y[0] == 1 for y in model.predict(X, known=known))
    assert SequenceTagger().get_metadata_routing().predict.requests == {"known": None}
