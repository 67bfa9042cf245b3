"""Extreme numbers: what has a meaning works, what has none is refused by name."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.structures import Signs

from sskit import (
    EarlyStopping,
    MultilabelPairwise,
    PartsModel,
    RegularizationPath,
    SegmentationModel,
    SequenceTagger,
    StructSVMClassifier,
    StructuredSVM,
)
from sskit.solvers import BCFW, CuttingPlane, MultiPlane

HUGE = 10**30


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    return rng.normal(size=(12, 3)), np.arange(12) % 3


def test_limits_that_nothing_reaches(rows):
    for huge, usual in (
        (BCFW(block_steps=HUGE), BCFW(block_steps=1000)),
        (BCFW(batch_size=HUGE), BCFW(batch_size=12)),
        (BCFW(steps="pairwise", cache_size=1e300), BCFW(steps="pairwise")),
        (MultiPlane(max_planes=HUGE, plane_life=HUGE), MultiPlane(plane_life=1000)),
        (CuttingPlane(cut_life=HUGE), CuttingPlane(cut_life=1000)),
    ):
        fitted = [StructSVMClassifier(solver=solver, random_state=0).fit(*rows)
                  for solver in (huge, usual)]  # fmt: skip
        np.testing.assert_array_equal(fitted[0].coef_, fitted[1].coef_)
    solver = CuttingPlane(cuts="constant", cut_size=5, patience=HUGE)
    model = StructSVMClassifier(solver=solver, max_iter=3, random_state=0)
    with pytest.warns(UserWarning, match="stopped after 3 passes"):
        model.fit(*rows)


def test_sizes_of_caches(rows):
    X, y = rows
    for params in (
        {"kernel": "rbf", "kernel_cache": 1e300},
        {"kernel": "rbf", "kernel_cache": 1e308},  # infinite in bytes
        {"kernel": "rbf", "kernel_cache": np.float16(0.5)},
        {"solver": BCFW(steps="pairwise", cache_size=np.float16(0.5))},
        {"solver": MultiPlane(cache_size=np.float16(0.5))},
    ):
        assert StructSVMClassifier(random_state=0, **params).fit(X, y).certified_
    X[4, 1] = 1e200
    for form in (np.asarray, sp.csr_array):  # gamma of features that are tiny, or too large
        tiny = form(1e-160 * rows[0] * (np.arange(12) != 4)[:, None])
        assert StructSVMClassifier(kernel="rbf", random_state=0).fit(tiny, y).certified_
        with pytest.raises(ValueError, match=r"features in X are too large.*X\[4\]$"):
            StructSVMClassifier(kernel="poly").fit(form(X), y)


def test_answers_that_are_too_large():
    X, y = np.eye(2), [1, -1]
    for method, answer, message in (
        ("joint_feature", np.array([1.0, 1e200]), "joint_feature of sample 0 is 1e.200, whose sq"),
        ("joint_feature", np.array([1.0, np.inf]), "joint_feature of sample 0 is not finite at 1"),
        ("loss", 1e200, r"loss of sample 0 is 1e\+200, expected a finite number >= 0 up to 1e"),
        ("loss", np.complex128(1.0), r"loss of sample 0 is .*1\+0j.*, expected a number"),
        ("loss", 10**400, "loss of sample 0 is 1000.*, expected a number"),
    ):

        def given(*args, method=method, answer=answer):
            return answer if method == "joint_feature" or args[0] != args[1] else 0.0

        with pytest.raises(ValueError, match=message):
            StructuredSVM(Signs({method: given})).fit(X, y)


@pytest.mark.filterwarnings("ignore:.*stopped after")
@pytest.mark.parametrize("solver", ["bcfw", "fw", "one_slack", "ssg"])
def test_objectives_that_overflow_are_no_results(solver):
    X, y = np.array([[1e149, 1.0], [-1e149, 1.0]]), [-1, 1]
    for lam in (1e-120, 1.0):
        model = StructuredSVM(Signs(), lam=lam, solver=solver, max_iter=3)
        try:
            model.fit(X, y)
        except ValueError as error:
            assert "overflow: scale the features of X" in str(error)  # noqa: PT017
            assert not hasattr(model, "coef_")
        else:
            assert np.isfinite([*model.coef_, model.primal_objective_, model.dual_gap_]).all()


def test_segmentation_of_one_label_ends():
    X = [(np.ones((2, 1)), [[0, 1]], None)] * 3
    for given in ({}, {"pairwise_form": "full"}, {"rescaling": "slack"}):
        model = SegmentationModel(**given).fit(X, [["a", "a"]] * 3)
        assert model.predict(X)[0].tolist() == ["a", "a"]
        assert model.primal_objective_ == pytest.approx(0.0, abs=1e-14)


def test_springs():
    rng, means = np.random.default_rng(0), np.zeros((2, 1, 2))
    X, y = rng.normal(size=(4, 2, 3, 3)), rng.integers(3, size=(4, 2, 2))
    # no more types than samples
    model = PartsModel([-1, 0], n_types=2**31, tol=0.1, random_state=0).fit(X, y)
    assert model.types_.shape == (2, 4)
    means[1, 0, 1] = 1e200
    with pytest.raises(ValueError, match=r"means\[1, 0, 1\] is 1e.200, expected a number of cells"):
        PartsModel([-1, 0], means=means).fit(X, y)


def test_a_path_serves_all_lam(rows):
    model = StructSVMClassifier(random_state=0)
    path = RegularizationPath(model, eps=0.5, lam_min=1e-3).fit(*rows)
    for lam in (1e308, 1e200, max(path.lam_end_, 5e-324), max(path.lam_end_, 1e-160)):
        assert path.dual_objective_at(lam) < np.inf
        assert 0.0 <= path.relative_gap_at(lam) <= path.max_gap_ * (1 + 1e-9)
        assert np.isfinite(path.estimator_at(lam).predict(rows[0])).all()
    with pytest.raises(ValueError, match="^lam must be a positive finite number"):
        path.coef_at(10**400)


def test_scores_and_costs_that_overflow(rows):
    X, y = rows
    model = StructSVMClassifier(kernel=lambda A, B: A @ B.T, lam=1e-3, random_state=0).fit(X, y)
    large = X.copy()
    large[2] = 1e307 * np.sign(X[2])
    with pytest.raises(ValueError, match=r"^X\[2\] is too large"):
        model.predict(large)
    model = MultilabelPairwise(label_weight=[1e308, 2.0, 0.0])
    with pytest.raises(ValueError, match="^lam=.*e-3.* is too small"):
        model.fit(X, np.eye(3, dtype=int)[y])
    for kernel in (pd.NA, np.array(["rbf", "poly"])):
        for tool in (SequenceTagger, lambda **given: EarlyStopping(SequenceTagger(**given))):
            with pytest.raises(ValueError, match="The 'kernel' parameter of"):
                tool(kernel=kernel).fit(X, y)
