"""Bad calls: the exact type of each error, a message that names the item, nothing changed.

What may be wrong with samples and labels is in tests/inputs, with any estimator in test_laws.py.
"""

import copy
from functools import cache

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from helpers.structures import Signs
from sklearn.datasets import make_blobs
from sklearn.utils._param_validation import InvalidParameterError

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
from sskit.datasets import make_chains
from sskit.solvers import BCFW, CuttingPlane, MultiPlane, Subgradient

NAN, INF = np.nan, np.inf


@cache
def chains():
    """Return six chains of three features and the labels "B-x", "I-x" and "O"."""
    X, y = make_chains(6, n_features=3, n_states=2, min_length=3, max_length=5, random_state=0)
    labels = [np.where(states == 1, "B-x", "O") for states in y]
    for sequence in labels:
        sequence[:2] = "B-x", "I-x"
    labels[1][:3] = "O", "B-x", "I-x"
    return X, labels


@cache
def points():
    """Return thirty points of four features and the labels "a", "b" and "c"."""
    X, y = make_blobs(30, 4, centers=3, center_box=(-2, 2), random_state=0)
    return X, np.array(["a", "b", "c"])[y]


def put(items, index, value):
    """Return a copy with one item, or one entry of an array, replaced."""
    items = items.copy()
    items[index] = value
    return items


DATA = {SequenceTagger: chains, StructSVMClassifier: points}
XS, YS = chains()
X2, Y2 = points()
TOO_LARGE = r"^the features in X are too large.*X\[2\]$"
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
FIT = {
    SequenceTagger: [
        ("^sample_weight has the sum 6e-320", {"sample_weight": np.full(6, 1e-320)}),
        ("^sample_weight has the sum inf", {"sample_weight": np.full(6, 1e308)}),
        (r"^sample_weight must be numbers of shape \(6,\)", {"sample_weight": np.ones(5)}),
        *(("^sample_weight must hold numbers", {"sample_weight": weight})
          for weight in (["a"] * 6, ["1"] * 6, np.full(6, 1 + 1j))),
        ("^sample_weight is no array: its items", {"sample_weight": [np.ones(len(x)) for x in XS]}),
        *((rf"^class_weight\['O'\] is {weight!r}", {"class_weight": {"O": weight}})
          for weight in (-1, NAN, "big")),
        (r"^allowed_transitions must.*\(3, 3\).*shape \(2, 2\)",
         {"allowed_transitions": np.ones((2, 2), bool)}),
        ("^allowed_transitions must be a boolean.*float64",
         {"allowed_transitions": np.ones((3, 3))}),
        (r"^y\[0\]\[1\] is I-x after B-x", {"allowed_transitions": np.eye(3, dtype=bool)}),
        (r"^y\[2\]\[0\] is I-x at the start",
         {"allowed_transitions": "bio", "y": put(YS, 2, put(YS[2], 0, "I-x"))}),
        ("^allowed_transitions='bio' needs .*y.0..0. is 0$",
         {"allowed_transitions": "bio", "y": [np.zeros(len(x), int) for x in XS]}),
        (r"bounds\['transitions'\].*\(3, 3\).*\(3,\)",
         {"bounds": {"transitions": (np.zeros(3), None)}}),
        ("no block 'intercept'.*'start', 'end'", {"bounds": {"intercept": (0, 1)}}),
    ],
    StructSVMClassifier: [
        (TOO_LARGE, {"X": sp.csr_array(put(X2, (2, 1), 1e200)), "lam": 0.1}),
        (r"y should be a 1d array.*\(30, 2\)", {"y": np.stack([Y2, Y2], axis=1)}),
        ("^y must have at least 2 classes, got 1 class: a", {"y": np.full(30, "a")}),
        ("no block 'intercept'.*'coef'", {"bounds": {"intercept": (0, 1)}, "fit_intercept": False}),
    ],
}  # fmt: skip
SCORE = {
    SequenceTagger: [
        (TypeError, "^y_true must be a list", {"y": None}),
        (TypeError, "^y_true has labels of dtype int64 but y_pred of <U3",
         {"y": [np.zeros(len(x), int) for x in XS]}),
        (ValueError, "^y_true has 5 samples", {"y": YS[:5]}),
        (ValueError, r"^y_true\[4\] has 1 labels but y_pred\[4\] has \d", {"y": put(YS, 4, ["O"])}),
        (ValueError, r"^sample_weight\[1\] is nan", {"sample_weight": put(np.ones(6), 1, NAN)}),
    ],
    StructSVMClassifier: [
        (ValueError, "inconsistent numbers of samples", {"y": Y2[:9]}),
        (ValueError, "mix of continuous and multi", {"y": X2[:, 0]}),
    ],
}  # fmt: skip


def cases(cls):
    """Yield the error, the message and what is given, of calls of fit."""
    given = {"solver": BCFW(cache_size=0.0)}
    yield InvalidParameterError, "'cache_size' parameter.*0.0", given
    for bounds, message in BOUNDS:
        yield ValueError, message, {"bounds": bounds}
    for message, given in OF_ALL + FIT[cls]:
        yield ValueError, message, given


@cache
def fitted(cls):
    """Return a fitted model, to be copied."""
    return cls(tol=0.5, random_state=0).fit(*DATA[cls]())


def check(model, method, error, message, given):
    """Expect an error, and that the model is what it was."""
    X, y = DATA[type(model)]()
    arguments = {"X": X, "y": y, "sample_weight": None}
    params = {name: given[name] for name in given if name not in arguments}
    arguments |= {name: given[name] for name in given if name in arguments}
    before = joblib.hash(vars(model.set_params(**params)))
    with pytest.raises(error, match=message) as caught:
        getattr(model, method)(**arguments)
    # the exact type: subclasses that say something else would hide here
    assert type(caught.value) is error
    assert joblib.hash(vars(model)) == before


@pytest.mark.parametrize("cls", DATA)
def test_what_is_wrong_is_named_and_changes_nothing(cls):
    for case in cases(cls):
        check(copy.deepcopy(fitted(cls)), "fit", *case)
        check(cls(), "fit", *case)
    for case in SCORE[cls]:
        check(copy.deepcopy(fitted(cls)), "score", *case)


def test_other_column_names():
    frame = pd.DataFrame(X2, columns=list("pqrs"))
    model = StructSVMClassifier(tol=0.5).fit(frame, Y2)
    before = joblib.hash(vars(model))
    for method in (model.predict, model.decision_function):
        with pytest.raises(ValueError, match="feature names should match.*\n.*unseen.*\n- t"):
            method(frame.rename(columns={"s": "t"}))
    assert joblib.hash(vars(model)) == before


def test_error_in_the_middle_of_a_fit_leaves_the_model(monkeypatch):
    model = copy.deepcopy(fitted(SequenceTagger))
    before = joblib.hash(vars(model))

    def fail(*args, **kwargs):
        raise MemoryError("no memory")

    monkeypatch.setattr(BCFW, "_start", fail)
    with pytest.raises(MemoryError, match="no memory"):
        model.fit(*chains())
    assert joblib.hash(vars(model)) == before


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
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4, 2, 3, 3)), rng.integers(3, size=(4, 2, 2))
    # no more types than samples
    model = PartsModel([-1, 0], n_types=2**31, tol=0.1, random_state=0).fit(X, y)
    assert model.types_.shape == (2, 4)


def test_a_path_serves_all_lam(rows):
    model = StructSVMClassifier(random_state=0)
    path = RegularizationPath(model, eps=0.5, lam_min=1e-3).fit(*rows)
    for lam in (1e308, 1e200, max(path.lam_end_, 5e-324), max(path.lam_end_, 1e-160)):
        assert path.dual_objective_at(lam) < np.inf
        assert 0.0 <= path.relative_gap_at(lam) <= path.max_gap_ * (1 + 1e-9)
        assert np.isfinite(path.estimator_at(lam).predict(rows[0])).all()


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
