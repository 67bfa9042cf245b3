"""Bad calls: the exact type of each error, a message that names the item, nothing changed.

What may be wrong with samples and labels is in tests/inputs, with any estimator in test_laws.py,
with numbers in tests/test_numbers.py, with what is scored in tests/test_metrics.py.
"""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.fits import FITS
from helpers.refusals import refused
from helpers.structures import Signs
from sklearn.base import clone
from sklearn.utils._param_validation import InvalidParameterError

import sskit
from sskit.solvers import BCFW, CuttingPlane, MultiPlane, Subgradient

NAN, INF = np.nan, np.inf
DATA = {"X", "y", "sample_weight"}


def put(items, index, value):
    """Return a copy with one item, or one entry of an array, replaced."""
    items = items.copy()
    items[index] = value
    return items


BOUNDS = [
    ((0, 1, 2), r"^bounds must be a pair.*\(0, 1, 2\)"),
    ((1.0, -1.0), r"^bounds: the lower bound 1.0 at \[0\].*upper bound -1.0"),
    ((None, NAN), "upper bound in bounds is NaN"),
    ((INF, None), r"^bounds: the lower bound inf at \[0\]"),
    ((None, -INF), r"^bounds: the lower bound -inf at \[0\].*upper bound -inf"),
    (([0, 0], None), r"lower bound in bounds must be.*shape \(\d+,\), got.*shape \(2,\)"),
    (("0", None), "lower bound in bounds must be None, a number.*got '0'"),
    ({"weights": (0, 1)}, "^bounds has no block 'weights'.*'coef'"),
    ({"coef": 0}, r"^bounds\['coef'\] must be a pair.*got 0"),
    ({"coef": (0, np.ones(2))}, r"upper bound in bounds\['coef'\].*\(3, \d\), got.*\(2,\)"),
    ({"coef": (1, 0)}, r"^bounds\['coef'\]: the lower bound 1.0 at \[0, 0\]"),
    ({"coef": (NAN, 1)}, r"lower bound in bounds\['coef'\] is NaN"),
]
OF_ALL = [
    ("^lam=4.94066e-324 is too small", {"lam": 5e-324}),
    ("steps='fw'.*solver='ssg'", {"solver": "ssg", "steps": "fw"}),
    ("sampling='uniform'.*solver='fw'", {"solver": "fw", "sampling": "uniform"}),
    ("steps='fw'.*solver=BCFW", {"solver": BCFW(), "steps": "fw"}),
    ("cache=False.*solver=Subgradient", {"solver": Subgradient(), "cache": False}),
    ("cache=True.*solver='ssg'", {"solver": "ssg", "cache": np.True_}),
    ("steps='fw'.*solver='gdmm'", {"solver": "gdmm", "steps": "fw"}),
]
OF_CHAINS = [
    ("^sample_weight has the sum 6e-320", {"sample_weight": np.full(12, 5e-321)}),
    ("^sample_weight has the sum inf", {"sample_weight": np.full(12, 1e308)}),
    (r"^sample_weight must be numbers of shape \(12,\)", {"sample_weight": np.ones(5)}),
    ("^sample_weight must hold numbers", {"sample_weight": ["1"] * 12}),
    ("^sample_weight is no array: its items", {"sample_weight": [[1.0], [1.0, 2.0]] * 6}),
    *((rf"^class_weight\[0\] is {weight!r}", {"class_weight": {0: weight}})
      for weight in (-1, NAN, "big")),
    (r"^allowed_transitions must.*\(3, 3\).*shape \(2, 2\)",
     {"allowed_transitions": np.ones((2, 2), bool)}),
    ("^allowed_transitions must be a boolean.*float64", {"allowed_transitions": np.ones((3, 3))}),
    (r"^y\[0\]\[\d\] is 2 after 2", {"allowed_transitions": ~np.eye(3, dtype=bool)}),
    ("^allowed_transitions='bio' needs .*y.2..2. is 0$", {"allowed_transitions": "bio"}),
    (r"bounds\['transitions'\].*\(3, 3\).*\(3,\)",
     {"bounds": {"transitions": (np.zeros(3), None)}}),
    ("no block 'intercept'.*'start', 'end'", {"bounds": {"intercept": (0, 1)}}),
]  # fmt: skip
X2, Y2 = FITS["rows"].data()
OF_ROWS = [
    (r"^the features in X are too large.*X\[2\]$",
     {"X": sp.csr_array(put(X2, (2, 1), 1e200)), "lam": 0.1}),
    (r"y should be a 1d array.*\(24, 2\)", {"y": np.stack([Y2, Y2], axis=1)}),
    ("^y must have at least 2 classes, got 1 class: a", {"y": np.full(24, "a")}),
    ("no block 'intercept'.*'coef'", {"bounds": {"intercept": (0, 1)}, "fit_intercept": False}),
]  # fmt: skip


@pytest.mark.parametrize(("name", "own"), [("chains", OF_CHAINS), ("rows, scaled", OF_ROWS)])
def test_what_is_wrong_is_named_and_changes_nothing(name, own):
    X, y = FITS[name].data()
    new = clone(FITS[name].estimator)
    fitted = clone(new).set_params(tol=0.5, random_state=0).fit(X, y)
    cases = [(message, {"bounds": bounds}) for bounds, message in BOUNDS]
    cases += [("'cache_size' parameter.*0.0", {"solver": BCFW(cache_size=0.0)}), *OF_ALL, *own]
    for message, given in cases:
        data = {"X": X, "y": y} | {key: given[key] for key in DATA & given.keys()}
        params = {key: given[key] for key in given.keys() - DATA}
        for model in (new, fitted):
            before = model.get_params()
            with refused(model.set_params(**params), ValueError, message) as caught:
                model.fit(**data)
            # the exact type: subclasses that say something else would hide here
            assert type(caught.value) in (ValueError, InvalidParameterError)
            model.set_params(**before)


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
        fitted = [sskit.StructSVMClassifier(solver=solver, random_state=0).fit(*rows)
                  for solver in (huge, usual)]  # fmt: skip
        np.testing.assert_array_equal(fitted[0].coef_, fitted[1].coef_)
    solver = CuttingPlane(cuts="constant", cut_size=5, patience=HUGE)
    model = sskit.StructSVMClassifier(solver=solver, max_iter=3, random_state=0)
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
        assert sskit.StructSVMClassifier(random_state=0, **params).fit(X, y).certified_
    X[4, 1] = 1e200
    for form in (np.asarray, sp.csr_array):  # gamma of features that are tiny, or too large
        tiny = form(1e-160 * rows[0] * (np.arange(12) != 4)[:, None])
        assert sskit.StructSVMClassifier(kernel="rbf", random_state=0).fit(tiny, y).certified_
        with pytest.raises(ValueError, match=r"features in X are too large.*X\[4\]$"):
            sskit.StructSVMClassifier(kernel="poly").fit(form(X), y)


@pytest.mark.filterwarnings("ignore:.*stopped after")
@pytest.mark.parametrize("solver", ["bcfw", "fw", "one_slack", "ssg"])
def test_objectives_that_overflow_are_no_results(solver):
    X, y = np.array([[1e149, 1.0], [-1e149, 1.0]]), [-1, 1]
    for lam in (1e-120, 1.0):
        model = sskit.StructuredSVM(Signs(), lam=lam, solver=solver, max_iter=3)
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
        model = sskit.SegmentationModel(**given).fit(X, [["a", "a"]] * 3)
        assert model.predict(X)[0].tolist() == ["a", "a"]
        assert model.primal_objective_ == pytest.approx(0.0, abs=1e-14)


def test_springs():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4, 2, 3, 3)), rng.integers(3, size=(4, 2, 2))
    # no more types than samples
    model = sskit.PartsModel([-1, 0], n_types=2**31, tol=0.1, random_state=0).fit(X, y)
    assert model.types_.shape == (2, 4)


def test_a_path_serves_all_lam(rows):
    model = sskit.StructSVMClassifier(random_state=0)
    path = sskit.RegularizationPath(model, eps=0.5, lam_min=1e-3).fit(*rows)
    for lam in (1e308, 1e200, max(path.lam_end_, 5e-324), max(path.lam_end_, 1e-160)):
        assert path.dual_objective_at(lam) < np.inf
        assert 0.0 <= path.relative_gap_at(lam) <= path.max_gap_ * (1 + 1e-9)
        assert np.isfinite(path.estimator_at(lam).predict(rows[0])).all()


def test_scores_and_costs_that_overflow(rows):
    X, y = rows
    model = sskit.StructSVMClassifier(kernel=lambda A, B: A @ B.T, lam=1e-3, random_state=0).fit(
        X, y
    )
    large = X.copy()
    large[2] = 1e307 * np.sign(X[2])
    with pytest.raises(ValueError, match=r"^X\[2\] is too large"):
        model.predict(large)
    model = sskit.MultilabelPairwise(label_weight=[1e308, 2.0, 0.0])
    with pytest.raises(ValueError, match="^lam=.*e-3.* is too small"):
        model.fit(X, np.eye(3, dtype=int)[y])
    for kernel in (pd.NA, np.array(["rbf", "poly"])):
        for tool in (
            sskit.SequenceTagger,
            lambda **given: sskit.EarlyStopping(sskit.SequenceTagger(**given)),
        ):
            with pytest.raises(ValueError, match="The 'kernel' parameter of"):
                tool(kernel=kernel).fit(X, y)
