"""Data in parts of which not all labels are known."""

import dask
import numpy as np
import pytest
from helpers.labellings import losses_of, objective
from sklearn.base import clone

from sskit import SequenceTagger, TreeTagger
from sskit.dask import Distributed
from sskit.datasets import make_chains

X, Y = make_chains(24, n_features=3, n_states=3, noise=1.2, max_length=5, random_state=0)
TREES = [(x, np.maximum(np.arange(len(x)) - 2, -1)) for x in X]
EDGED = [(x, x[1:, :2] - x[:-1, 1:]) for x in X]
FORMS = (lambda k: k, lambda k: -1, lambda k: {k, (k + 1) % 3})
SOME = [[FORMS[(i + t) % 3](k) for t, k in enumerate(y.tolist())] for i, y in enumerate(Y)]
# of the first part all labels are known, of the second none for sure, of the third two labels
SOME[:6] = [y.tolist() for y in Y[:6]]
SOME[6:12] = [[-1, *[{0, 1}] * (len(y) - 1)] for y in Y[6:12]]
SOME[12:18] = [[-1 if k == 2 else int(k) for k in y] for y in Y[12:18]]
PARTS = [slice(0, 6), slice(6, 12), slice(12, 18), slice(18, 24)]
GIVEN = {"ignore_label": -1, "random_state": 0, "lam": 0.05, "tol": 0.01, "max_iter": 500}
CASES = {
    "chains": (SequenceTagger(**GIVEN), X),
    "edges": (SequenceTagger(**GIVEN), EDGED),
    "order 2": (SequenceTagger(order=2, **GIVEN), X),
    "rules": (SequenceTagger(allowed_transitions=np.eye(3) < 1, on_violation="ignore", **GIVEN), X),
    "slack": (SequenceTagger(rescaling="slack", **GIVEN), X),
    "trees": (TreeTagger(**GIVEN), TREES),
    "weights of classes": (TreeTagger(class_weight={0: 2.0, 1: 0.5}, **GIVEN), TREES),
}


def cut(items):
    return [list(items[part]) for part in PARTS]


@pytest.mark.parametrize("case", CASES)
def test_parts_together_are_the_data_in_one_piece(case):
    estimator, items = CASES[case]
    whole, parts = clone(estimator).fit(items, SOME), (cut(items), cut(SOME))
    if case in ("chains", "trees"):  # they pass through memory
        parts = [[dask.delayed(part) for part in column] for column in parts]
    model = Distributed(estimator, client=False).fit(*parts)
    found = model.estimator_
    assert found.certified_ and (np.diff(found.round_objectives_) <= 0).all()
    assert found.n_rounds_ == len(found.round_objectives_)
    assert found.history_["n_passes"][-1] == found.n_iter_
    assert (np.diff(model.history_["n_passes"]) >= 0).all()
    # both begin with what is known; under slack rescaling searches bound what they may have missed
    rel = 0.15 if case == "slack" else 0.02
    assert found.round_objectives_[-1] == pytest.approx(whole.round_objectives_[-1], rel=rel)
    assert found.dual_gap_ >= found.primal_objective_ - whole.primal_objective_ - 0.02
    if case == "chains":
        known = [losses_of(y, range(3), hidden=-1) for y in SOME]
        value = objective(found, X, *zip(*known, strict=True))
        assert found.round_objectives_[-1] == pytest.approx(value, rel=1e-9)
    same = [a == b for a, b in zip(found.predict(items), whole.predict(items), strict=True)]
    assert np.concatenate(same).mean() > 0.9


def fit_parts(y, token_weight=None, **options):
    """The fit of the data in parts."""
    weights = None if token_weight is None else cut(token_weight)
    model = Distributed(SequenceTagger(**GIVEN | options), client=False)
    return model.fit(cut(X), cut(y), token_weight=weights).estimator_


def test_without_any_certain_label():
    sets = [[-1 if t else {int(k), 2} if k < 2 else {0, 1} for t, k in enumerate(y)] for y in Y]
    found = fit_parts(sets, max_iter=2000)
    assert (np.diff(found.round_objectives_) <= 0).all() and found.certified_


def test_weights_of_tokens():
    weights = [3.0 * (np.arange(len(y)) % 2) for y in Y]
    for y in (Y, SOME):
        whole = SequenceTagger(**GIVEN).fit(X, y, token_weight=weights).primal_objective_
        assert fit_parts(y, weights).primal_objective_ == pytest.approx(whole, rel=0.03)
        assert fit_parts(y).primal_objective_ != pytest.approx(whole, rel=0.05)


def test_what_is_refused(tmp_path):
    parts = cut(X), cut(SOME)
    for changed, options, message in (
        ({"warm_start": True}, {}, "no completion of them is kept: set warm_start=False"),
        ({}, {"checkpoint": tmp_path}, "no completion of them is kept"),
        ({"class_weight": "balanced"}, {}, "class_weight='balanced' counts as fractions"),
        ({"n_states_per_label": 2}, {}, "data in parts cannot .* n_states_per_label=2"),
    ):
        model = Distributed(SequenceTagger(**GIVEN | changed), client=False, **options)
        with pytest.raises(ValueError, match=message):
            model.fit(*parts)
    parts[1][1] = [[-1] * len(y) for y in parts[1][1]]
    with pytest.raises(ValueError, match="part 1: y has no labels but ignore_label=-1"):
        Distributed(SequenceTagger(**GIVEN), client=False).fit(*parts)
