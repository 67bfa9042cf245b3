"""Bad calls: the exact type of each error, a message that names the item, nothing changed."""

import copy
import re
from functools import cache
from typing import NamedTuple

import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import InvalidParameterError

from sskit import SequenceTagger, SlackRescaling, StructSVMClassifier
from sskit.datasets import make_chains
from sskit.solvers import BCFW, Subgradient

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


class Case(NamedTuple):
    """A bad call: keyword arguments are those of the method, or else parameters."""

    cls: type
    name: str
    error: type
    pattern: str
    method: str = "fit"
    arguments: dict = {}


def tagger(name, error, pattern, method="fit", **arguments):
    return Case(SequenceTagger, name, error, pattern, method, arguments)


def classifier(name, error, pattern, method="fit", **arguments):
    return Case(StructSVMClassifier, name, error, pattern, method, arguments)


XS, YS = chains()
X2, Y2 = points()
BROKEN = sp.csr_array(XS[2])
BROKEN.indices[4] = 7


def broken(X):
    """Return a CSR matrix with an index beyond its columns."""
    X = sp.csr_array(X)
    X.indices[5] = 99
    return X


def other_features(x):
    return np.hstack([x, x])


# Values that scikit-learn's parameter constraints refuse.
INVALID = {
    "lam": [0, -1.0, NAN, INF, "0.1", [0.1]],
    "rescaling": ["both", None, SlackRescaling],
    "solver": ["sgd", BCFW, None],
    "steps": ["big", None],
    "sampling": ["all", 1],
    "cache": ["yes", None],
    "loss": ["square", None],
    "kernel": ["cubic", None],
    "gamma": ["big", -1.0],
    "degree": [2.5, -1],
    "coef0": ["0", NAN],
    "kernel_cache": [0, "1", INF],
    "bounds": [1.0, "positive"],
    "tol": [-0.1, NAN, "1e-3", None],
    "max_iter": [0, -1, 10.0, None],
    "warm_start": ["no", None],
    "n_jobs": [2.5, "2", 0],
    "random_state": ["x", -1],
    "verbose": ["loud", -1],
    "class_weight": ["even", 2.0],
}
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
OTHER = [
    (ValueError, "^lam=4.94066e-324 is too small", {"lam": 5e-324}),
    (ValueError, "steps='fw'.*solver='ssg'", {"solver": "ssg", "steps": "fw"}),
    (ValueError, "sampling='uniform'.*solver='fw'", {"solver": "fw", "sampling": "uniform"}),
    (ValueError, "steps='fw'.*solver=BCFW", {"solver": BCFW(), "steps": "fw"}),
    (
        ValueError,
        "cache=False.*solver=Subgradient",
        {"solver": Subgradient(), "cache": False},
    ),
    *(
        (InvalidParameterError, f"'{name}' parameter.*{value!r}", {"solver": BCFW(**{name: value})})
        for name, value in {
            "gap_every": 0,
            "max_time": -1,
            "averaging": "no",
            "sampling": "all",
            "steps": "big",
            "cache": "yes",
            "block_steps": 0,
            "stored_passes": -1,
            "cache_size": 0.0,
        }.items()
    ),
    (ValueError, "^warm_start=True.*solver='ssg'", {"warm_start": np.True_, "solver": "ssg"}),
    (
        ValueError,
        "^warm_start=True.*solver=Subgradient",
        {"warm_start": True, "solver": Subgradient()},
    ),
    (ValueError, "cache=True.*solver='ssg'", {"solver": "ssg", "cache": np.True_}),
    (ValueError, "^bounds cannot .* solver='gdmm'", {"bounds": (0, None), "solver": "gdmm"}),
    (
        ValueError,
        "^bounds cannot .*soft_bcfw",
        {"bounds": (0, None), "solver": "soft_bcfw"},
    ),
    (ValueError, "^warm_start=True.*soft_bcfw", {"warm_start": True, "solver": "soft_bcfw"}),
    (ValueError, "^warm_start=True.*solver='gdmm'", {"warm_start": True, "solver": "gdmm"}),
    (ValueError, "steps='fw'.*solver='gdmm'", {"solver": "gdmm", "steps": "fw"}),
]


def parameter_cases(cls):
    """Yield the bad parameters that the estimators have in common."""
    for name, values in INVALID.items():
        for value in values if hasattr(cls(), name) else ():
            got = re.escape(repr(value))
            pattern = f"^The '{name}' parameter of {cls.__name__} must be .*Got {got} instead"
            yield Case(cls, f"{name}={value}", InvalidParameterError, pattern, "fit", {name: value})
    for bounds, pattern in BOUNDS:
        yield Case(cls, f"bounds={bounds}", ValueError, pattern, "fit", {"bounds": bounds})
    for number, (error, pattern, params) in enumerate(OTHER):
        yield Case(cls, f"parameters_{number}", error, pattern, "fit", params)


# fmt: off
FIT = [
    # features
    tagger("X_none", TypeError, "^X must be a list.*NoneType", X=None),
    tagger("X_number", TypeError, "^X must be a list.*int", X=3),
    tagger("X_string", TypeError, "^X must be a list.*str", X="abc"),
    tagger("X_no_sequences", ValueError, "X must hold one sample or more", X=[], y=[]),
    tagger("X_matrix", ValueError, r"^X must be a list.*shape \(\d+, 3\)", X=np.concatenate(XS)),
    tagger("X_csr", ValueError, "^X must be a list.*csr", X=sp.csr_array(np.concatenate(XS))),
    tagger("X_frame", ValueError, "^X must be a list.*DataFrame", X=pd.DataFrame(XS[0])),
    tagger("X_4d", ValueError, r"^X must be a list.*\(6, 1, 3, 3\)", X=np.zeros((6, 1, 3, 3))),
    tagger("X_nan", ValueError, r"^X\[2\] contains NaN at row 1, column 0",
           X=put(XS, 2, put(XS[2], (1, 0), NAN))),
    tagger("X_inf", ValueError, r"^X\[2\] contains infinity at row 1, column 2",
           X=put(XS, 2, put(XS[2], (1, 2), INF))),
    tagger("X_inf_csr", ValueError, r"^X\[4\] contains infinity at row 0, column 1",
           X=put(XS, 4, sp.csr_array(put(XS[4], (0, 1), -INF)))),
    tagger("X_broken_csr", ValueError, r"^X\[2\] is a broken CSR matrix",
           X=put(XS, 2, BROKEN)),
    tagger("X_empty_sequence", ValueError, r"^X\[3\] is empty", X=put(XS, 3, XS[3][:0])),
    tagger("X_empty_list", ValueError, r"^X\[3\] is empty", X=put(XS, 3, [])),
    tagger("X_no_features", ValueError, "^X has 0 features", X=[x[:, :0] for x in XS]),
    tagger("X_other_width", ValueError, r"^X\[1\] has 2 features but X\[0\] has 3",
           X=put(XS, 1, XS[1][:, :2])),
    tagger("X_one_dimensional", ValueError, r"^X\[4\] must be a matrix",
           X=put(XS, 4, XS[4][:, 0])),
    tagger("X_ragged_rows", ValueError, r"^X\[0\] is no array", X=put(XS, 0, [[1, 2, 3], [1]])),
    tagger("X_item_none", TypeError, r"^X\[5\] must be a matrix.*NoneType", X=put(XS, 5, None)),
    tagger("X_item_string", TypeError, r"^X\[5\] must be .* got str", X=put(XS, 5, "abc")),
    tagger("X_strings", ValueError, r"^X\[1\] must hold numbers",
           X=put(XS, 1, XS[1].astype(str))),
    tagger("X_string_objects", ValueError, r"^X\[1\] must hold numbers",
           X=put(XS, 1, XS[1].astype(str).astype(object))),
    tagger("X_complex", ValueError, r"^X\[2\] must hold numbers", X=put(XS, 2, XS[2] * 1j)),
    tagger("X_dates", ValueError, r"^X\[2\] must hold numbers",
           X=put(XS, 2, XS[2].astype("datetime64[s]"))),
    tagger("X_dicts", ValueError, r"^X\[2\] must be .*TokenVectorizer",
           X=put(XS, 2, [{"word": "a"}] * 3)),
    tagger("X_huge", ValueError, r"^the features in X are too large.*X\[2\]$",
           X=put(XS, 2, 1e200 * XS[2])),
    tagger("X_huge_whatever_lam", ValueError, r"^the features in X are too large.*X\[2\]$",
           X=put(XS, 2, 1e200 * XS[2]), lam=0.1),
    # labels
    tagger("y_none", TypeError, "^y must be a list", y=None),
    tagger("y_string", TypeError, "^y must be a list.*str", y="B-x"),
    tagger("y_flat", ValueError, r"^y must be a list.*shape \(\d+,\)", y=np.concatenate(YS)),
    tagger("y_too_few", ValueError, "^X has 6 samples but y has 5", y=YS[:5]),
    tagger("y_wrong_length", ValueError, r"^X\[4\] has \d rows but y\[4\] has 2 labels",
           y=put(YS, 4, ["O", "O"])),
    tagger("y_empty_sequence", ValueError, r"^X\[4\] has \d rows but y\[4\] has 0 labels",
           y=put(YS, 4, [])),
    tagger("y_item_string", TypeError, r"^y\[2\] must be a sequence.*str",
           y=put(YS, 2, "O" * len(XS[2]))),
    tagger("y_item_scalar", TypeError, r"^y\[2\] must be a sequence.*int", y=put(YS, 2, 1)),
    tagger("y_item_set", TypeError, r"^y\[2\] must be a sequence.*set", y=put(YS, 2, {"O"})),
    tagger("y_item_2d", ValueError, r"^y\[1\] must be a sequence of labels,.* one-dimensional",
           y=put(YS, 1, YS[1][:, None])),
    tagger("y_missing", ValueError, r"^y\[3\]\[1\] is None",
           y=put(YS, 3, put(YS[3].astype(object), 1, None))),
    tagger("y_nan", ValueError, r"^y\[0\]\[2\] is nan",
           y=put(YS, 0, put(YS[0].astype(object), 2, NAN))),
    tagger("y_all_nan", ValueError, r"^y\[0\]\[0\] is nan", y=[np.full(len(x), NAN) for x in XS]),
    tagger("y_continuous", ValueError, r"^y\[0\]\[0\] is 0.5: .*continuous",
           y=[np.full(len(x), 0.5) for x in XS]),
    tagger("y_mixed", TypeError, r"y\[0\]\[0\] is 'B-x' but y\[3\]\[1\] is 7",
           y=put(YS, 3, put(YS[3].astype(object), 1, 7))),
    tagger("y_unhashable", TypeError, r"^y\[1\]\[0\] is .*, of type list",
           y=put(YS, 1, [["O"]] * len(XS[1]))),
    # sample weights
    tagger("weight_negative", ValueError, r"^sample_weight\[2\] is -1.0",
           sample_weight=put(np.ones(6), 2, -1)),
    tagger("weight_nan", ValueError, r"^sample_weight\[5\] is nan",
           sample_weight=put(np.ones(6), 5, NAN)),
    tagger("weight_inf", ValueError, r"^sample_weight\[0\] is inf",
           sample_weight=put(np.ones(6), 0, INF)),
    tagger("weight_zeros", ValueError, "^sample_weight is zero", sample_weight=np.zeros(6)),
    tagger("weight_length", ValueError, r"^sample_weight must be numbers of shape \(6,\)",
           sample_weight=np.ones(5)),
    tagger("weight_2d", ValueError, r"sample_weight .* \(6, 2\)", sample_weight=np.ones((6, 2))),
    tagger("weight_strings", ValueError, "^sample_weight must hold numbers",
           sample_weight=["a"] * 6),
    tagger("weight_digits", ValueError, "^sample_weight must hold numbers",
           sample_weight=["1"] * 6),
    tagger("weight_complex", ValueError, "^sample_weight must hold numbers",
           sample_weight=np.full(6, 1 + 1j)),
    tagger("weight_tiny", ValueError, "^sample_weight has the sum 6e-320",
           sample_weight=np.full(6, 1e-320)),
    tagger("weight_huge", ValueError, "^sample_weight has the sum inf",
           sample_weight=np.full(6, 1e308)),
    tagger("weight_per_token", ValueError, "^sample_weight is no array: its items have",
           sample_weight=[np.ones(len(x)) for x in XS]),
    # what depends on the labels
    tagger("class_weight_negative", ValueError, r"^class_weight\['O'\] is -1",
           class_weight={"O": -1}),
    tagger("class_weight_nan", ValueError, r"^class_weight\['O'\] is nan", class_weight={"O": NAN}),
    tagger("class_weight_string", ValueError, r"^class_weight\['O'\] is 'big'",
           class_weight={"O": "big"}),
    tagger("transitions_string", InvalidParameterError, "'allowed_transitions' parameter.*'iob'",
           allowed_transitions="iob"),
    tagger("transitions_number", InvalidParameterError, "'allowed_transitions' parameter.*1",
           allowed_transitions=1),
    tagger("transitions_shape", ValueError, r"^allowed_transitions must.*\(3, 3\).*shape \(2, 2\)",
           allowed_transitions=np.ones((2, 2), bool)),
    tagger("transitions_dtype", ValueError, "^allowed_transitions must be a boolean.*float64",
           allowed_transitions=np.ones((3, 3))),
    tagger("transitions_violated", ValueError, r"^y\[0\]\[1\] is I-x after B-x",
           allowed_transitions=np.eye(3, dtype=bool)),
    tagger("bio_violated", ValueError, r"^y\[2\]\[0\] is I-x at the start",
           allowed_transitions="bio", y=put(YS, 2, put(YS[2], 0, "I-x"))),
    tagger("bio_labels", ValueError, "^allowed_transitions='bio' needs .*y.0..0. is 'B_x'$",
           allowed_transitions="bio", y=[np.where(s == "O", s, "B_x") for s in YS]),
    tagger("bio_numbers", ValueError, "^allowed_transitions='bio' needs .*y.0..0. is 0$",
           allowed_transitions="bio", y=[np.zeros(len(x), int) for x in XS]),
    tagger("bounds_transitions", ValueError, r"bounds\['transitions'\].*\(3, 3\).*\(3,\)",
           bounds={"transitions": (np.zeros(3), None)}),
    tagger("bounds_intercept", ValueError, "no block 'intercept'.*'start', 'end'",
           bounds={"intercept": (0, 1)}),
    # the same for the classifier
    classifier("X_none", ValueError, "^Expected 2D array, got scalar", X=None),
    classifier("X_one_dimensional", ValueError, "Expected 2D array", X=X2[:, 0]),
    classifier("X_3d", ValueError, "X.* dim 3|dim 3", X=X2[None]),
    classifier("X_nan", ValueError, "^X contains NaN at row 2, column 1$",
               X=put(X2, (2, 1), NAN)),
    classifier("X_inf", ValueError, "^X contains infinity at row 2, column 1$",
               X=put(X2, (2, 1), INF)),
    classifier("X_nan_csr", ValueError, "^X contains NaN at row 2, column 1$",
               X=sp.csr_array(put(X2, (2, 1), NAN))),
    classifier("X_empty", ValueError, r"0 sample\(s\)", X=X2[:0], y=Y2[:0]),
    classifier("X_no_features", ValueError, r"0 feature\(s\)", X=X2[:, :0]),
    classifier("X_strings", ValueError, "could not convert string to float|dtype='numeric'",
               X=np.full((30, 2), "a")),
    classifier("X_broken_csr", ValueError, "^X is a broken CSR matrix",
               X=broken(X2)),
    classifier("X_complex", ValueError, "Complex data", X=X2 * 1j),
    classifier("y_none", ValueError, "requires y.*None", y=None),
    classifier("y_string", ValueError, "y", y="abc"),
    classifier("y_2d", ValueError, r"y should be a 1d array.*\(30, 2\)",
               y=np.stack([Y2, Y2], axis=1)),
    classifier("y_length", ValueError, r"inconsistent numbers of samples: \[30, 29\]", y=Y2[:29]),
    classifier("y_continuous", ValueError, "Unknown label type: continuous", y=X2[:, 0]),
    classifier("X_huge", ValueError, r"^the features in X are too large.*X\[2\]$",
               X=put(X2, (2, 1), 1e200)),
    classifier("X_huge_csr", ValueError, r"^the features in X are too large.*X\[2\]$", lam=0.1,
               X=sp.csr_array(put(X2, (2, 1), 1e200))),
    classifier("y_nan", ValueError, r"^y\[3\] is nan: labels must not",
               y=put(np.ones(30), 3, NAN)),
    classifier("y_none_in_objects", ValueError, r"^y\[3\] is None: labels must not",
               y=put(Y2.astype(object), 3, None)),
    classifier("y_missing_in_series", ValueError, r"^y\[3\] is .*: labels must not",
               y=pd.Series(put(Y2.astype(object), 3, None), dtype="string")),
    classifier("y_mixed", TypeError, r"^y\[0\] is '.' but y\[3\] is 7",
               y=put(Y2.astype(object), 3, 7)),
    classifier("y_one_class", ValueError, "^y must have at least 2 classes, got 1 class: a",
               y=np.full(30, "a")),
    classifier("weight_negative", ValueError, r"^sample_weight\[2\] is -1.0",
               sample_weight=put(np.ones(30), 2, -1)),
    classifier("weight_nan", ValueError, r"^sample_weight\[2\] is nan",
               sample_weight=put(np.ones(30), 2, NAN)),
    classifier("weight_zeros", ValueError, "^sample_weight is zero", sample_weight=np.zeros(30)),
    classifier("weight_length", ValueError, r"^sample_weight must be numbers of shape \(30,\)",
               sample_weight=np.ones(5)),
    classifier("weight_strings", ValueError, "^sample_weight must hold numbers",
               sample_weight=["a"] * 30),
    classifier("class_weight_negative", ValueError, r"^class_weight\['a'\] is -1",
               class_weight={"a": -1}),
    classifier("class_weight_inf", ValueError, r"^class_weight\['a'\] is inf",
               class_weight={"a": INF}),
    classifier("fit_intercept", InvalidParameterError, "'fit_intercept' parameter.*'yes'",
               fit_intercept="yes"),
    classifier("bounds_no_intercept", ValueError, "no block 'intercept'.*'coef'",
               bounds={"intercept": (0, 1)}, fit_intercept=False),
]
# fmt: on

NOT_FITTED = [
    make(f"{method}_before_fit", NotFittedError, f"This {cls} instance is not fitted", method)
    for cls, make, methods in [
        (
            "SequenceTagger",
            tagger,
            ["predict", "predict_topk", "decision_function", "score"],
        ),
        ("StructSVMClassifier", classifier, ["predict", "decision_function", "score"]),
    ]
    for method in methods
]

USE = (
    [
        tagger(f"{method}_{name}", error, pattern, method, X=X)
        for method in ("predict", "predict_topk", "decision_function", "score")
        for name, error, pattern, X in [
            ("number", TypeError, "^X must be a list", 3),
            ("no_sequences", ValueError, "X must hold one sample or more", []),
            ("matrix", ValueError, "^X must be a list", XS[0]),
            (
                "nan",
                ValueError,
                r"^X\[2\] contains NaN at row 1",
                put(XS, 2, put(XS[2], (1, 0), NAN)),
            ),
            (
                "width",
                ValueError,
                "^X has 6 features, but SequenceTagger is expecting 3",
                [other_features(x) for x in XS],
            ),
            (
                "one_width",
                ValueError,
                r"^X\[1\] has 6 features but X\[0\] has 3",
                put(XS, 1, other_features(XS[1])),
            ),
            ("strings", ValueError, r"^X\[1\] must hold numbers", put(XS, 1, XS[1].astype(str))),
        ]
    ]
    + [
        tagger("k_zero", ValueError, "^k must be a positive integer, got 0", "predict_topk", k=0),
        tagger("k_float", ValueError, "^k must be.*2.0", "predict_topk", k=2.0),
        tagger("k_string", ValueError, "^k must be.*'2'", "predict_topk", k="2"),
        tagger("k_true", ValueError, "^k must be.*True", "predict_topk", k=True),
        tagger("k_none", ValueError, "^k must be.*None", "predict_topk", k=None),
        tagger("score_y_none", TypeError, "^y_true must be a list", "score", y=None),
        tagger("score_y_short", ValueError, "^y_true has 5 samples", "score", y=YS[:5]),
        tagger(
            "score_y_length",
            ValueError,
            r"^y_true\[4\] has 1 labels but y_pred\[4\] has \d",
            "score",
            y=put(YS, 4, ["O"]),
        ),
        tagger(
            "score_weight",
            ValueError,
            r"^sample_weight\[1\] is nan",
            "score",
            sample_weight=put(np.ones(6), 1, NAN),
        ),
        tagger(
            "score_y_type",
            TypeError,
            "^y_true has labels of dtype int64 but y_pred of <U3",
            "score",
            y=[np.zeros(len(x), int) for x in XS],
        ),
        tagger(
            "score_weight_length",
            ValueError,
            r"^sample_weight must be numbers of shape .* got shape \(5,\)",
            "score",
            sample_weight=np.ones(5),
        ),
    ]
    + [
        classifier(f"{method}_{name}", ValueError, pattern, method, X=X)
        for method in ("predict", "decision_function", "score")
        for name, pattern, X in [
            ("one_dimensional", "Expected 2D array", X2[0]),
            ("nan", "^X contains NaN at row 2, column 1$", put(X2, (2, 1), NAN)),
            (
                "width",
                "X has 8 features, but StructSVMClassifier is expecting 4",
                other_features(X2),
            ),
            ("empty", r"0 sample\(s\)", X2[:0]),
        ]
    ]
    + [
        classifier(
            "score_y_length", ValueError, "inconsistent numbers of samples", "score", y=Y2[:9]
        ),
        classifier(
            "score_y_type", ValueError, "mix of continuous and multiclass", "score", y=X2[:, 0]
        ),
    ]
)

CASES = [
    *(case for cls in DATA for case in parameter_cases(cls)),
    *FIT,
    *USE,
]
METHOD_ARGUMENTS = {
    "fit": ("X", "y", "sample_weight"),
    "predict": ("X",),
    "predict_topk": ("X", "k"),
    "decision_function": ("X",),
    "score": ("X", "y", "sample_weight"),
}


@cache
def fitted(cls):
    """Return a fitted model, to be copied."""
    X, y = DATA[cls]()
    return cls(tol=0.5, random_state=0).fit(X, y)


def call(model, case):
    """Make the call of a case."""
    X, y = DATA[case.cls]()
    good = {"X": X, "y": y, "sample_weight": None, "k": 2}
    names = METHOD_ARGUMENTS[case.method]
    params = {name: case.arguments[name] for name in case.arguments if name not in good}
    arguments = {name: case.arguments.get(name, good[name]) for name in names}
    getattr(model.set_params(**params), case.method)(**arguments)


def check(model, case):
    """Expect the error of a case, and that the model is what it was."""
    params = {name: case.arguments[name] for name in case.arguments if hasattr(model, name)}
    before = joblib.hash(vars(model.set_params(**params)))
    # The exact type: subclasses that say something else would hide here.
    with pytest.raises(case.error, match=case.pattern) as caught:
        call(model, case)
    assert type(caught.value) is case.error
    assert joblib.hash(vars(model)) == before


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.cls.__name__}-{case.name}")
def test_fitted_model(case):
    check(copy.deepcopy(fitted(case.cls)), case)


@pytest.mark.parametrize(
    "case",
    [case for case in CASES if case.method == "fit"] + NOT_FITTED,
    ids=lambda case: f"{case.cls.__name__}-{case.name}",
)
def test_new_model(case):
    check(case.cls(), case)


def test_table_is_long_enough():
    assert len({(case.cls, case.name) for case in CASES + NOT_FITTED}) == len(CASES + NOT_FITTED)
    assert len(CASES) >= 60


def test_other_column_names():
    frame = pd.DataFrame(X2, columns=list("pqrs"))
    model = StructSVMClassifier(tol=0.5).fit(frame, Y2)
    before = joblib.hash(vars(model))
    for method in (model.predict, model.decision_function):
        with pytest.raises(ValueError, match="feature names should match.*\n.*unseen.*\n- t"):
            method(frame.rename(columns={"s": "t"}))
    assert joblib.hash(vars(model)) == before


def test_error_in_the_middle_of_a_fit_leaves_the_model(monkeypatch):
    X, y = DATA[SequenceTagger]()
    model = copy.deepcopy(fitted(SequenceTagger))
    before = joblib.hash(vars(model))

    def fail(*args, **kwargs):
        raise MemoryError("no memory")

    monkeypatch.setattr(BCFW, "start", fail)
    with pytest.raises(MemoryError, match="no memory"):
        model.fit(X, y)
    assert joblib.hash(vars(model)) == before
