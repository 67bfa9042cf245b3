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

from sskit import SequenceTagger, StructSVMClassifier
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


def other_features(x):
    return np.hstack([x, x])


# Of values that scikit-learn's parameter constraints refuse, one of each parameter.
INVALID = {
    "rescaling": "both", "solver": BCFW, "steps": "big", "sampling": 1, "cache": "yes",
    "loss": "square", "kernel": "cubic", "gamma": -1.0, "degree": 2.5, "coef0": NAN,
    "kernel_cache": 0, "bounds": 1.0, "tol": -0.1, "max_iter": 10.0, "warm_start": "no",
    "n_jobs": 0, "random_state": -1, "verbose": "loud", "class_weight": "even", "lam": INF,
}  # fmt: skip
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
    (ValueError, "cache=False.*solver=Subgradient", {"solver": Subgradient(), "cache": False}),
    (InvalidParameterError, "'cache_size' parameter.*0.0", {"solver": BCFW(cache_size=0.0)}),
    (ValueError, "cache=True.*solver='ssg'", {"solver": "ssg", "cache": np.True_}),
    *(
        (ValueError, f"^{what}.*{solver}", {key: value, "solver": solver})
        for what, key, value in (
            ("warm_start=True", "warm_start", np.True_),
            ("bounds cannot", "bounds", (0, None)),
            ("steps='fw'|.*steps='fw'", "steps", "fw"),
        )
        for solver in ("gdmm", "soft_bcfw", "ssg")
        if (key, solver) != ("steps", "soft_bcfw")
    ),
]


def parameter_cases(cls):
    """Yield the bad parameters that the estimators have in common."""
    for name, value in INVALID.items():
        if hasattr(cls(), name):
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
    tagger("X_no_sequences", ValueError, "X must hold one sample or more", X=[], y=[]),
    tagger("X_matrix", ValueError, r"^X must be a list.*shape \(\d+, 3\)", X=np.concatenate(XS)),
    tagger("X_nan", ValueError, r"^X\[2\] contains NaN at row 1, column 0",
           X=put(XS, 2, put(XS[2], (1, 0), NAN))),
    tagger("X_empty_sequence", ValueError, r"^X\[3\] is empty", X=put(XS, 3, XS[3][:0])),
    tagger("X_other_width", ValueError, r"^X\[1\] has 2 features but X\[0\] has 3",
           X=put(XS, 1, XS[1][:, :2])),
    tagger("X_strings", ValueError, r"^X\[1\] must hold numbers",
           X=put(XS, 1, XS[1].astype(str))),
    tagger("X_dicts", ValueError, r"^X\[2\] must be .*TokenVectorizer",
           X=put(XS, 2, [{"word": "a"}] * 3)),
    tagger("X_huge", ValueError, r"^the features in X are too large.*X\[2\]$",
           X=put(XS, 2, 1e200 * XS[2])),
    # labels
    tagger("y_wrong_length", ValueError, r"^X\[4\] has \d rows but y\[4\] has 2 labels",
           y=put(YS, 4, ["O", "O"])),
    tagger("y_missing", ValueError, r"^y\[3\]\[1\] is None",
           y=put(YS, 3, put(YS[3].astype(object), 1, None))),
    tagger("y_mixed", TypeError, r"y\[0\]\[0\] is 'B-x' but y\[3\]\[1\] is 7",
           y=put(YS, 3, put(YS[3].astype(object), 1, 7))),
    # sample weights
    tagger("weight_tiny", ValueError, "^sample_weight has the sum 6e-320",
           sample_weight=np.full(6, 1e-320)),
    tagger("weight_huge", ValueError, "^sample_weight has the sum inf",
           sample_weight=np.full(6, 1e308)),
    *(
        tagger(f"weight_{name}", ValueError, f"^sample_weight{told}", sample_weight=weight)
        for name, told, weight in (
            ("negative", r"\[2\] is -1.0", put(np.ones(6), 2, -1)),
            ("nan", r"\[5\] is nan", put(np.ones(6), 5, NAN)),
            ("inf", r"\[0\] is inf", put(np.ones(6), 0, INF)),
            ("zeros", " is zero", np.zeros(6)),
            ("length", r" must be numbers of shape \(6,\)", np.ones(5)),
            ("2d", r" .* \(6, 2\)", np.ones((6, 2))),
            ("strings", " must hold numbers", ["a"] * 6),
            ("digits", " must hold numbers", ["1"] * 6),
            ("complex", " must hold numbers", np.full(6, 1 + 1j)),
            ("per_token", " is no array: its items have", [np.ones(len(x)) for x in XS]),
        )
    ),
    tagger("X_huge_whatever_lam", ValueError, r"^the features in X are too large.*X\[2\]$",
           X=put(XS, 2, 1e200 * XS[2]), lam=0.1),
    classifier("X_huge_csr", ValueError, r"^the features in X are too large.*X\[2\]$", lam=0.1,
               X=sp.csr_array(put(X2, (2, 1), 1e200))),
    tagger("class_weight_nan", ValueError, r"^class_weight\['O'\] is nan", class_weight={"O": NAN}),
    # what depends on the labels
    tagger("class_weight_negative", ValueError, r"^class_weight\['O'\] is -1",
           class_weight={"O": -1}),
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
    classifier("X_nan", ValueError, "^X contains NaN at row 2, column 1$",
               X=put(X2, (2, 1), NAN)),
    classifier("X_strings", ValueError, "could not convert string to float|dtype='numeric'",
               X=np.full((30, 2), "a")),
    classifier("y_2d", ValueError, r"y should be a 1d array.*\(30, 2\)",
               y=np.stack([Y2, Y2], axis=1)),
    classifier("X_huge", ValueError, r"^the features in X are too large.*X\[2\]$",
               X=put(X2, (2, 1), 1e200)),
    classifier("y_none_in_objects", ValueError, r"^y\[3\] is None: labels must not",
               y=put(Y2.astype(object), 3, None)),
    classifier("y_mixed", TypeError, r"^y\[0\] is '.' but y\[3\] is 7",
               y=put(Y2.astype(object), 3, 7)),
    classifier("y_one_class", ValueError, "^y must have at least 2 classes, got 1 class: a",
               y=np.full(30, "a")),
    classifier("class_weight_negative", ValueError, r"^class_weight\['a'\] is -1",
               class_weight={"a": -1}),
    classifier("fit_intercept", InvalidParameterError, "'fit_intercept' parameter.*'yes'",
               fit_intercept="yes"),
    classifier("bounds_no_intercept", ValueError, "no block 'intercept'.*'coef'",
               bounds={"intercept": (0, 1)}, fit_intercept=False),
]
# fmt: on

WIDE = [other_features(x) for x in XS]
USE = [
    tagger(f"{method}_{name}", error, pattern, method, X=X)
    for method in ("predict", "predict_topk", "decision_function", "score")
    for name, error, pattern, X in [
        ("number", TypeError, "^X must be a list", 3),
        ("nan", ValueError, r"^X\[2\] contains NaN at row 1", put(XS, 2, put(XS[2], (1, 0), NAN))),
        ("width", ValueError, "^X has 6 features, but SequenceTagger is expecting 3", WIDE),
        ("one_width", ValueError, r"^X\[1\] has 6 features but X\[0\] has 3", put(XS, 1, WIDE[1])),
    ]
] + [
    tagger("k_none", ValueError, "^k must be.*None", "predict_topk", k=None),
    tagger("score_y_none", TypeError, "^y_true must be a list", "score", y=None),
    tagger("score_y_short", ValueError, "^y_true has 5 samples", "score", y=YS[:5]),
    tagger("score_y_length", ValueError, r"^y_true\[4\] has 1 labels but y_pred\[4\] has \d",
           "score", y=put(YS, 4, ["O"])),
    tagger("score_weight", ValueError, r"^sample_weight\[1\] is nan",
           "score", sample_weight=put(np.ones(6), 1, NAN)),
    tagger("score_y_type", TypeError, "^y_true has labels of dtype int64 but y_pred of <U3",
           "score", y=[np.zeros(len(x), int) for x in XS]),
] + [
    classifier(f"{method}_{name}", ValueError, pattern, method, X=X)
    for method in ("predict", "decision_function", "score")
    for name, pattern, X in [
        ("one_dimensional", "Expected 2D array", X2[0]),
        ("nan", "^X contains NaN at row 2, column 1$", put(X2, (2, 1), NAN)),
        ("width", "X has 8 features, but StructSVMClassifier is exp", other_features(X2)),
        ("empty", r"0 sample\(s\)", X2[:0]),
    ]
] + [
    classifier("score_y_length", ValueError, "inconsistent numbers of samples", "score", y=Y2[:9]),
    classifier("score_y_type", ValueError, "mix of continuous and multi", "score", y=X2[:, 0]),
]  # fmt: skip

CASES = [*(case for cls in DATA for case in parameter_cases(cls)), *FIT, *USE]
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


@pytest.mark.parametrize("method", METHOD_ARGUMENTS)
@pytest.mark.parametrize("cls", DATA)
def test_what_is_wrong_is_named_and_changes_nothing(cls, method):
    cases = [case for case in CASES if (case.cls, case.method) == (cls, method)]
    for case in cases:
        check(copy.deepcopy(fitted(cls)), case)
        if method == "fit":
            check(cls(), case)
    if hasattr(cls, method):
        assert cases
        if method != "fit":
            told = f"This {cls.__name__} instance is not fitted"
            check(cls(), Case(cls, "before fit", NotFittedError, told, method))


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
