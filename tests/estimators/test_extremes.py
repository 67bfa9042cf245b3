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


@pytest.fixture
def chains():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(3, 2)) for _ in range(6)]
    return X, [rng.integers(3, size=3) for _ in X]


@pytest.mark.parametrize(
    ("huge", "usual"),
    [
        (BCFW(block_steps=HUGE), BCFW(block_steps=1000)),
        (BCFW(batch_size=HUGE), BCFW(batch_size=12)),
        (BCFW(steps="pairwise", cache_size=1e300), BCFW(steps="pairwise")),
        (MultiPlane(max_planes=HUGE, plane_life=HUGE), MultiPlane(plane_life=1000)),
        (CuttingPlane(cut_life=HUGE), CuttingPlane(cut_life=1000)),
    ],
)
def test_limits_that_nothing_reaches(rows, huge, usual):
    fitted = [
        StructSVMClassifier(solver=solver, random_state=0).fit(*rows) for solver in (huge, usual)
    ]
    np.testing.assert_array_equal(fitted[0].coef_, fitted[1].coef_)


def test_patience_that_no_fit_has(rows):
    solver = CuttingPlane(cuts="constant", cut_size=5, patience=HUGE)
    model = StructSVMClassifier(solver=solver, max_iter=3, random_state=0)
    with pytest.warns(UserWarning, match="stopped after 3 passes"):
        model.fit(*rows)


@pytest.mark.parametrize("megabytes", [1e300, 1e308])  # the second is infinite in bytes
def test_a_kernel_cache_beyond_all_memory(rows, megabytes):
    model = StructSVMClassifier(kernel="rbf", kernel_cache=megabytes, random_state=0).fit(*rows)
    assert model.certified_


@pytest.mark.parametrize(
    "params",
    [
        {"kernel": "rbf", "kernel_cache": np.float16(0.5)},
        {"solver": BCFW(steps="pairwise", cache_size=np.float16(0.5))},
        {"solver": MultiPlane(cache_size=np.float16(0.5))},
    ],
)
def test_sizes_of_caches_of_narrow_types(rows, params):
    assert StructSVMClassifier(random_state=0, **params).fit(*rows).certified_


@pytest.mark.parametrize("kernel", [pd.NA, np.array(["rbf", "poly"])])
def test_kernels_that_are_none(rows, kernel):
    for model in (StructSVMClassifier(kernel=kernel), SequenceTagger(kernel=kernel)):
        for tool in (model, RegularizationPath(model), EarlyStopping(model)):
            with pytest.raises(ValueError, match="The 'kernel' parameter of"):
                tool.fit(*rows)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_gamma_of_tiny_features(rows, form):
    X, y = rows
    model = StructSVMClassifier(kernel="rbf", random_state=0).fit(form(1e-160 * X), y)
    assert model.certified_


def test_lam_of_labels_that_cost_too_much(rows):
    X, y = rows
    model = MultilabelPairwise(label_weight=[1e308, 2.0, 0.0])
    with pytest.raises(ValueError, match="^lam=.*e-3.* is too small"):
        model.fit(X, np.eye(3, dtype=int)[y % 3])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_gamma_of_features_that_are_too_large(rows, form):
    X, y = rows
    X = X.copy()
    X[4, 1] = 1e200
    with pytest.raises(ValueError, match=r"features in X are too large.*X\[4\]$"):
        StructSVMClassifier(kernel="poly").fit(form(X), y)


def test_scores_in_a_kernel_space_that_overflow(rows):
    X, y = rows
    model = StructSVMClassifier(kernel=lambda A, B: A @ B.T, lam=1e-3, random_state=0).fit(X, y)
    X = X.copy()
    X[2] = 1e307 * np.sign(X[2])
    with pytest.raises(ValueError, match=r"^X\[2\] is too large"):
        model.predict(X)


@pytest.mark.parametrize("predict", ["predict", "score"])
def test_sparse_matrices_that_are_broken_are_not_read(rows, predict):
    X, y = rows
    Y = np.eye(3, dtype=int)[y]
    model = MultilabelPairwise(random_state=0).fit(X, Y)
    wrong = sp.csr_matrix(Y)
    wrong.indptr[1] = 10**6
    if predict == "score":
        with pytest.raises(ValueError, match="^y is a broken CSR matrix"):
            model.score(X, wrong)
    with pytest.raises(ValueError, match="^y is a broken CSR matrix"):
        model.fit(X, wrong)
    with pytest.raises(ValueError, match="^X is a broken CSR matrix"):
        model.predict(wrong)


# ---- numbers of structures -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "answer", "message"),
    [
        ("joint_feature", np.array([1.0, 1e200]), "joint_feature of sample 0 is 1e.200, whose sq"),
        ("joint_feature", np.array([1.0, np.inf]), "joint_feature of sample 0 is not finite at 1"),
        ("loss", 1e200, r"loss of sample 0 is 1e\+200, expected a finite number >= 0 up to 1e"),
        ("loss", np.complex128(1.0), r"loss of sample 0 is .*1\+0j.*, expected a number"),
        ("loss", 10**400, "loss of sample 0 is 1000.*, expected a number"),
    ],
)
def test_answers_that_are_too_large(method, answer, message):
    X, y = np.eye(2), [1, -1]

    def given(*args):
        return answer if method == "joint_feature" or args[0] != args[1] else 0.0

    with pytest.raises(ValueError, match=message):
        StructuredSVM(Signs({method: given})).fit(X, y)


@pytest.mark.filterwarnings("ignore:.*stopped after")
@pytest.mark.parametrize("lam", [1e-120, 1.0])
@pytest.mark.parametrize("solver", ["bcfw", "fw", "one_slack", "ssg"])
def test_objectives_that_overflow_are_no_results(solver, lam):
    X, y = np.array([[1e149, 1.0], [-1e149, 1.0]]), [-1, 1]
    model = StructuredSVM(Signs(), lam=lam, solver=solver, max_iter=3)
    try:
        model.fit(X, y)
    except ValueError as error:
        assert "overflow: scale the features of X" in str(error)  # noqa: PT017
        assert not hasattr(model, "coef_")
    else:
        assert np.isfinite([*model.coef_, model.primal_objective_, model.dual_gap_]).all()


# ---- other estimators ----------------------------------------------------------------------


@pytest.mark.parametrize("pairwise", ["potts", "full"])
@pytest.mark.parametrize("rescaling", ["margin", "slack"])
def test_segmentation_of_one_label_ends(pairwise, rescaling):
    X = [(np.ones((2, 1)), [[0, 1]], None)] * 3
    model = SegmentationModel(pairwise_form=pairwise, rescaling=rescaling).fit(X, [["a", "a"]] * 3)
    assert model.predict(X)[0].tolist() == ["a", "a"]
    assert model.primal_objective_ == pytest.approx(0.0, abs=1e-14)


def poses():
    rng = np.random.default_rng(0)
    return [rng.normal(size=(2, 3, 3)) for _ in range(4)], [
        rng.integers(3, size=(2, 2)) for _ in range(4)
    ]


def test_types_of_springs_are_no_more_than_samples():
    model = PartsModel([-1, 0], n_types=2**31, tol=0.1, random_state=0).fit(*poses())
    assert model.types_.shape == (2, 4)


def test_means_of_springs_that_are_too_large():
    means = np.zeros((2, 1, 2))
    means[1, 0, 1] = 1e200
    with pytest.raises(ValueError, match=r"means\[1, 0, 1\] is 1e.200, expected a number of cells"):
        PartsModel([-1, 0], means=means).fit(*poses())


def test_a_path_serves_all_lam(rows):
    model = StructSVMClassifier(random_state=0)
    path = RegularizationPath(model, eps=0.5, lam_min=1e-3).fit(*rows)
    for lam in (1e308, 1e200, max(path.lam_end_, 5e-324), max(path.lam_end_, 1e-160)):
        assert path.dual_objective_at(lam) < np.inf
        assert 0.0 <= path.relative_gap_at(lam) <= path.max_gap_ * (1 + 1e-9)
        assert np.isfinite(path.estimator_at(lam).predict(rows[0])).all()
    with pytest.raises(ValueError, match="^lam must be a positive finite number"):
        path.coef_at(10**400)


@pytest.mark.parametrize("lam", ["big", -1.0, [0.1]])
def test_the_lam_of_the_estimator_of_a_path(rows, lam):
    path = RegularizationPath(StructSVMClassifier(lam=lam))
    with pytest.raises(ValueError, match="The 'lam' parameter of StructSVMClassifier must be"):
        path.fit(*rows)


@pytest.mark.parametrize("score", ["1.0", None, [1.0, 2.0], b"1"])
def test_scores_that_are_no_numbers(chains, score):
    for model in (
        EarlyStopping(SequenceTagger(random_state=0), scoring=lambda *args: score),
        RegularizationPath(SequenceTagger(), eps=0.5, cv=2, scoring=lambda *args: score),
    ):
        with pytest.raises(ValueError, match="^scoring must return a number, got"):
            model.fit(*chains)
