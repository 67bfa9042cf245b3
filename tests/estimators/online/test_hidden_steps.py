"""Steps over parts with weights of tokens, labels that are not known, and hidden states."""

import numpy as np
import pytest

from sskit import SequenceTagger, TreeTagger
from sskit.datasets import make_chains

X, Y = make_chains(24, n_features=3, n_states=3, noise=1.2, max_length=5, random_state=0)
RNG = np.random.default_rng(0)
TREES = [(x, np.maximum(np.arange(len(x)) - 2, -1)) for x in X]
WEIGHTS = [RNG.integers(0, 3, size=len(y)).astype(float) for y in Y]
# of a part no more than some labels occur, and others in sets only
SOME = [[(int(k), -1, {int(k), (int(k) + 1) % 3})[(i + t) % 3] for t, k in enumerate(y)]
        for i, y in enumerate(Y)]  # fmt: skip
PARTS = [slice(0, 8), slice(8, 16), slice(16, 24)]
GIVEN = {"ignore_label": -1, "random_state": 0, "lam": 0.05, "tol": 0.01}
CASES = {
    "chains": (SequenceTagger(**GIVEN), X),
    "trees": (TreeTagger(**GIVEN), TREES),
    "states": (SequenceTagger(n_states_per_label={1: 2}, **GIVEN), X),
    "trees, states": (TreeTagger(n_states_per_label={1: 2}, **GIVEN), TREES),
    "states, order 2": (SequenceTagger(n_states_per_label={1: 2}, order=2, **GIVEN), X),
}


def fresh(case):
    estimator, items = CASES[case]
    return type(estimator)(**estimator.get_params()), items


@pytest.mark.parametrize("case", CASES)
def test_steps_learn_from_what_is_known(case):
    model, items = fresh(case)
    for part in PARTS:
        model.partial_fit(items[part], SOME[part], classes=[0, 1, 2])
        assert (np.diff(model.round_objectives_) <= 0).all()
        assert model.certified_
        assert model.n_rounds_ == len(model.round_objectives_)
    assert model.n_samples_seen_ == 24
    assert model.score(items, Y) > 0.6
    known = fresh(case)[0].partial_fit(items[:8], Y[:8], classes=[0, 1, 2])
    assert known.classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("case", ["chains", "trees"])
@pytest.mark.parametrize("y", [Y, SOME], ids=["known", "some"])
def test_weights_of_tokens_are_weights_of_losses(case, y):
    """A first step is a fit; and a token without weight says nothing in any."""
    (model, items), (whole, _) = fresh(case), fresh(case)
    model.partial_fit(items, y, classes=[0, 1, 2], token_weight=WEIGHTS)
    whole.fit(items, y, token_weight=WEIGHTS)
    assert model.coef_.tobytes() == whole.coef_.tobytes()
    assert model.primal_objective_ == whole.primal_objective_
    plain = fresh(case)[0].partial_fit(items, y, classes=[0, 1, 2])
    assert plain.primal_objective_ != model.primal_objective_
    again = fresh(case)[0]
    for part in PARTS:
        again.partial_fit(items[part], y[part], [0, 1, 2], token_weight=WEIGHTS[part])
        ones = [np.ones(len(labels)) for labels in y[part]]
        plain.partial_fit(items[part], y[part], token_weight=ones)
    assert again.coef_.tobytes() != plain.coef_.tobytes()


def test_a_step_begins_at_the_completion_of_the_last_weights():
    model = fresh("chains")[0].partial_fit(X[:16], Y[:16])
    found, before = model.predict(X[16:]), model.coef_.copy()
    hidden = [[-1 if i and len(k) > 1 else int(k[0]), *[-1] * (len(k) - 1)]
              for i, k in enumerate(found)]  # fmt: skip
    model.partial_fit(X[16:], hidden)
    # what the last weights say already changes them little
    assert np.abs(model.coef_ - before).max() < 0.3 * np.abs(before).max()
    new = fresh("chains")[0]
    for y, weight, message in (
        ([[-1] * len(y) for y in Y[:2]], None, "y has no labels but ignore_label=-1"),
        (Y[:2], [WEIGHTS[0], [1.0] * 99], r"token_weight\[1\]"),
    ):
        with pytest.raises(ValueError, match=message):
            new.partial_fit(X[:2], y, classes=[0, 1, 2], token_weight=weight)
    assert not hasattr(new, "coef_")
