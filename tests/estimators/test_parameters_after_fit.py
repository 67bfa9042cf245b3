"""Parameters set on a fitted estimator: they count at once, at the next fit, or are refused."""

import copy
import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from helpers.fits import FITS
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from sskit import (
    GraphTagger,
    HierarchicalMultilabel,
    MultilabelPairwise,
    PartsModel,
    RankingSVM,
    SegmentationModel,
    SegmentTagger,
    SequenceTagger,
    StructSVMClassifier,
    TreeTagger,
)
from sskit.estimators.base.fitted_state import is_same

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# For training alone: they may have any value until the next fit.
TRAINING = {
    "lam": 3.0, "rescaling": "slack", "solver": "frank_wolfe", "steps": "fw", "sampling": "gap",
    "cache": True, "loss": "other", "bounds": (-1e-9, 1e-9), "tol": 0.5, "max_iter": 1,
    "warm_start": True, "random_state": 7, "verbose": 3, "class_weight": "balanced",
    "label_weight": [9.0] * 9, "node_weights": "areas", "cutoff": 0.1, "min_square": 9.0,
    "on_violation": "ignore", "kernel_cache": 1e-3, "prior": [1.0], "n_components": 2,
    "n_states_per_label": 2, "n_init": 3, "latent_types": True, "max_length": 1,
    "first_last": False, "lengths": False, "beta": 2.0, "balance": 0.7, "k": 3,
    "segment_features": max, "standardize": False,
}  # fmt: skip
# What predictions or scores take by themselves; tested where they are at home.
AT_ONCE = {
    "n_jobs", "beam_size", "allowed_transitions", "allowed_pairs", "inference", "radius", "torso",
    "ignore_label", "scheme", "outside",
}  # fmt: skip
# What makes a model what it is.
MODEL = {
    StructSVMClassifier: {"model": "other", "kernel": "rbf", "fit_intercept": False},
    SequenceTagger: {"order": 2, "kernel": "rbf"},
    TreeTagger: {},
    SegmentTagger: {},
    GraphTagger: {"pairwise_form": "potts"},
    SegmentationModel: {"pairwise_form": "full", "inference": "elimination"},
    MultilabelPairwise: {"edges": None, "inference": "exhaustive", "fit_intercept": False},
    HierarchicalMultilabel: {"hierarchy": [-1, 0, 0], "fit_intercept": False},
    RankingSVM: {},
    PartsModel: {
        "parents": [-1],
        "n_types": 9,
        "means": 0.0,
        "part_names": ["a"],
        "scores": "odds",
    },
}
OF_KERNELS = {"gamma": 9.0, "degree": 5, "coef0": 2.0}
FIRST = {}  # a fit of each kind of estimator
for name in FITS:
    FIRST.setdefault(type(FITS[name].estimator), name)


def fitted(name, **parameters):
    estimator = clone(FITS[name].estimator).set_params(random_state=0, max_iter=5, **parameters)
    X, y = FITS[name].data()
    return estimator.fit(X, y), X, y


def same(one, other):
    return pickle.dumps([np.asarray(a) for a in one]) == pickle.dumps(
        [np.asarray(a) for a in other]
    )


@pytest.mark.parametrize("kind", FIRST, ids=lambda kind: kind.__name__)
def test_every_parameter_is_of_one_kind(kind):
    names = set(inspect.signature(kind.__init__).parameters) - {"self"}
    assert names <= {*TRAINING, *AT_ONCE, *MODEL[kind], *OF_KERNELS}
    assert set(MODEL[kind]) <= names


@pytest.mark.parametrize("kind", FIRST, ids=lambda kind: kind.__name__)
def test_parameters_of_training_are_for_the_next_fit(kind):
    model, X, _ = fitted(FIRST[kind])
    before = model.predict(X)
    for name in TRAINING.keys() & model.get_params(deep=False).keys():
        changed = copy.deepcopy(model).set_params(**{name: TRAINING[name]})
        assert same(changed.predict(X), before), name


@pytest.mark.parametrize("kind", FIRST, ids=lambda kind: kind.__name__)
def test_a_model_of_other_parameters_needs_a_fit(kind):
    model, X, _ = fitted(FIRST[kind])
    before = model.predict(X)
    for name, value in MODEL[kind].items():
        old = getattr(model, name)
        model.set_params(**{name: value})
        message = f"^{name} was .* when this {kind.__name__} was fitted and is .* now: fit it again"
        for method in ("predict", "decision_function"):
            if hasattr(model, method):
                with pytest.raises(ValueError, match=message):
                    getattr(model, method)(X)
        model.set_params(**{name: old})
        assert same(model.predict(X), before)


@pytest.mark.parametrize(
    ("kernel", "own"),
    [("rbf", {"gamma"}), ("poly", {"gamma", "degree", "coef0"}), ("sigmoid", {"gamma", "coef0"})],
)
@pytest.mark.parametrize("kind", [StructSVMClassifier, SequenceTagger])
def test_parameters_of_kernels(kind, kernel, own):
    model, X, _ = fitted(FIRST[kind], kernel=kernel, gamma=0.5)
    before = model.predict(X)
    for name, value in OF_KERNELS.items():
        changed = copy.deepcopy(model).set_params(**{name: value})
        if name in own:
            with pytest.raises(ValueError, match=f"^{name} was"):
                changed.predict(X)
        else:
            assert same(changed.predict(X), before)


def test_parameters_of_kernels_are_nothing_to_linear_models():
    model, X, _ = fitted(FIRST[SequenceTagger])
    before = model.predict(X)
    assert same(model.set_params(**OF_KERNELS).predict(X), before)


def test_another_fit_takes_what_was_set():
    model, X, y = fitted(FIRST[StructSVMClassifier])
    model.set_params(kernel="rbf").fit(X, y)
    assert model.predict(X).shape == y.shape
    with pytest.raises(ValueError, match="^kernel was 'rbf' .* is 'linear' now"):
        model.set_params(kernel="linear").predict(X)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_equal_values_are_the_same(again):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 3)), rng.integers(2, size=(20, 3))
    for edges in ([[0, 1]], np.array([[0, 1]]), "tree"):
        model = again(MultilabelPairwise(edges=edges, random_state=0).fit(X, Y))
        before = model.predict(X)
        np.testing.assert_array_equal(model.set_params(edges=copy.copy(edges)).predict(X), before)
    with pytest.raises(ValueError, match="^edges was"):
        model.set_params(edges=np.array([[1, 2]])).predict(X)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (1.0, np.float64(1.0), True),
        (True, np.True_, True),
        ("rbf", np.str_("rbf"), True),
        (3, 3.0, True),
        ([[0, 1]], np.array([[0, 1]]), True),
        ([(0, 1)], ((0, 1),), True),
        ([np.array([0, 1]), np.array([1, 2])], [np.array([0, 2]), np.array([1, 2])], False),
        ([np.array([0, 1]), [2]], [[0, 1], np.array([2])], True),
        (np.float64(2.0), [2.0], False),
        (np.array(2.0), np.array(2.0), True),
        (np.array(2.0), np.array([2.0]), False),
        ([1, 2], [1, 2, 3], False),
        (None, "tree", False),
        (pd.DataFrame([[1]]), pd.DataFrame([[1]]), False),
        (object(), object(), False),
    ],
)
def test_what_is_the_same(one, other, same):
    assert is_same(one, other) is is_same(other, one) is same
    assert is_same(one, one) or isinstance(one, pd.DataFrame)


def test_what_a_search_chose_may_be_set_again():
    X, y = FITS[FIRST[StructSVMClassifier]].data()
    estimator = StructSVMClassifier(kernel="rbf", random_state=0, max_iter=5)
    search = GridSearchCV(estimator, {"gamma": np.logspace(-1, 1, 3)}, cv=2).fit(X, y)
    best = search.best_estimator_.set_params(gamma=float(search.best_params_["gamma"]))
    assert best.predict(X).shape == y.shape


def test_what_a_failing_fit_leaves_is_as_it_was():
    model, X, y = fitted(FIRST[StructSVMClassifier])
    before = model.predict(X)
    with pytest.raises(ValueError, match="'kernel' parameter"):
        model.set_params(kernel="wrong").fit(X, y)
    assert same(model.set_params(kernel="linear").predict(X), before)
