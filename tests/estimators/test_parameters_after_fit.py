"""Parameters set on a fitted estimator: they count at once, or at the next fit."""

import copy
import inspect
import pickle

import numpy as np
import pytest
from helpers.fits import FITS, KINDS
from sklearn.base import clone

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
    StructuredSVM,
    TreeTagger,
)

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
    StructSVMClassifier: {"kernel": "rbf", "fit_intercept": False},
    StructuredSVM: {"model": "other"},
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


def fitted(name, **parameters):
    estimator = clone(FITS[name].estimator).set_params(random_state=0, max_iter=5, **parameters)
    X, y = FITS[name].data()
    return estimator.fit(X, y), X, y


def same(one, other):
    return pickle.dumps([np.asarray(a) for a in one]) == pickle.dumps(
        [np.asarray(a) for a in other]
    )


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_parameter_is_of_one_kind(kind):
    """Those of training are for the next fit, as are those that make a model what it is."""
    names = set(inspect.signature(kind.__init__).parameters) - {"self"}
    assert names <= {*TRAINING, *AT_ONCE, *MODEL[kind], *OF_KERNELS}
    assert set(MODEL[kind]) <= names
    model, X, _ = fitted(KINDS[kind])
    methods = [name for name in ("predict", "decision_function") if hasattr(model, name)]
    before = {name: getattr(model, name)(X) for name in methods}
    training = {name: value for name, value in TRAINING.items() if name in names}
    for name, value in (training | MODEL[kind]).items():
        changed = copy.deepcopy(model).set_params(**{name: value})
        for method in methods if name in MODEL[kind] else methods[:1]:
            assert same(getattr(changed, method)(X), before[method]), name


@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
@pytest.mark.parametrize("kind", [StructSVMClassifier, SequenceTagger])
def test_parameters_of_kernels(kind, kernel):
    model, X, _ = fitted(KINDS[kind], kernel=kernel, gamma=0.5)
    before = model.predict(X)
    for name, value in OF_KERNELS.items():
        assert same(copy.deepcopy(model).set_params(**{name: value}).predict(X), before)
    assert same(model.set_params(kernel="linear").predict(X), before)
