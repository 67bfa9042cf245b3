"""The table of all options of fits: what a new option is added to, to join the random products.

An entry maps the name of an option to the values to choose from; the first one is the default.
"""

from dataclasses import dataclass

import numpy as np

from sskit.solvers import BCFW, GDMM, CuttingPlane, FrankWolfe, MultiPlane, SoftBCFW, Subgradient

STEPS = ["fw", "pairwise", "away"]
SAMPLING = ["permutation", "uniform", "gap", "max_gap"]
TIME = [None, None, None, None, 1e-9]

# Solver objects: how a problem is solved.
SOLVERS = {
    BCFW: {"steps": ["auto", *STEPS], "sampling": ["auto", *SAMPLING],
     "cache": ["auto", True, False], "block_steps": ["auto", 1, 3, 10],
     "stored_passes": ["auto", "slope", 0, 2], "cache_size": [1000.0, 1e-4],
     "averaging": ["auto", True, False], "batch_size": ["auto", 1, 3, 100], "gap_every": [10, 1, 3],
     "max_time": TIME},
    MultiPlane: {"steps": STEPS, "sampling": SAMPLING, "block_steps": [10, 1, 3],
     "max_stored_passes": [1000, 0, 2], "max_planes": [1000, 1, 2], "plane_life": [10, 1],
     "clock": [False, True], "cache_size": [1000.0, 1e-4], "averaging": [True, False],
     "batch_size": ["auto", 1, 3, 100], "gap_every": [10, 1, 3], "max_time": TIME},
    FrankWolfe: {"gap_every": [10, 1, 3], "max_time": TIME},
    Subgradient: {"sampling": ["permutation", "uniform"], "averaging": [True, False],
     "gap_every": [10, 1, 3], "max_time": TIME},
    CuttingPlane: {"cuts": ["exact", "linear", "constant"], "cut_size": ["auto", 3, 50],
     "patience": ["auto", 1, 5], "damping": ["auto", 0.0, 0.5], "cut_life": [50, 1, 5],
     "max_time": TIME},
    GDMM: {"rho": [1.0, 0.1, 10.0], "step": [1.0, 0.3], "method": ["bgcd", "afw"],
     "gap_every": [10, 1, 3, None], "max_time": TIME},
    SoftBCFW: {"rho": [1.0, 0.1, 10.0], "steps": ["fw", "away"], "gap_every": [10, 1, 3, None],
     "max_time": TIME},
}  # fmt: skip

# Parameters of all estimators that name a solver instead.
NAMED = {
    "solver": ["auto", "bcfw", "mpbcfw", "fw", "ssg", "one_slack", "gdmm", "soft_bcfw"],
    "steps": ["auto", *STEPS],
    "sampling": ["auto", *SAMPLING],
    "cache": ["auto", True, False],
}

# Searches under slack rescaling: they find the same maximum, or say that they may not.
SEARCHES = {
    "search": ["auto", "exact", "angular", "bisecting"],
    "tol": [0.0, 1e-3],
    "max_queries": [None, 3],
}

# How a fit of the same problem goes.
FITS = {
    "tol": [1e-2, 0.3, 1e-4],
    "max_iter": [300, 1, 7, 50],
    "n_jobs": [None, 2],
    "start": [None, None, "lam", "tol", "samples", "weights"],
    "copies": [False, False, True],
    "twin": [None, None, 0, 1, 2],
}

# What the problem is.
PROBLEMS = {
    "lam": [0.1, 1e-3, 1e-2, 1.0, 10.0],
    "rescaling": ["margin", "margin", "slack"],
    "weights": [None, "any", "whole", "zero"],
    "bounds": [None, None, (-0.2, 0.3), (0.0, None), "blocks"],
}

# Of pairs of labels: all else costs one.
COSTS = {0: {1: 3.0}, 1: {0: 0.5, 2: 0.0}, 2: {0: 2.0}}

# What the estimators have of their own.
ESTIMATORS = {
    "classifier": {"loss": ["zero_one", "zero_one", COSTS], "fit_intercept": [True, False],
     "class_weight": [None, "balanced"], "kernel": ["linear", "linear", "rbf", "poly"],
     "gamma": [0.5]},
    "tagger": {"order": [1, 1, 2], "loss": ["hamming_sum", "hamming", COSTS],
     "class_weight": [None, "balanced"], "allowed_transitions": [None, None, "array"],
     "kernel": ["linear", "linear", "rbf", "poly"], "gamma": [0.5]},
    "edged": {"loss": ["hamming_sum", "hamming", COSTS], "class_weight": [None, None, "balanced"]},
    "trees": {"loss": ["hamming_sum", "hamming", COSTS], "class_weight": [None, "balanced"],
     "kinds": [False, True]},
    "segmentation": {"loss": ["hamming_sum", "hamming", "balanced", COSTS],
     "pairwise_form": ["potts", "full"], "inference": ["auto", "elimination"], "n_labels": [2, 3]},
    "multilabel": {"loss": ["hamming_sum", "hamming"],
     "label_weight": [None, np.array([1.0, 2.0, 0.5])],
     "edges": ["full", "tree", None, np.array([[0, 1], [1, 2]])],
     "inference": ["auto", "exhaustive", "graphcut", "lp"], "fit_intercept": [True, False]},
    "hierarchical": {"loss": ["hamming_sum", "hamming"],
     "label_weight": [None, np.array([1.0, 2.0, 0.5])],
     "hierarchy": [None, np.array([-1, 0, 0]), np.array([[1, 0], [2, 0], [2, 1]])],
     "fit_intercept": [True, False]},
    "parts": {"loss": ["squared", "distance"], "cutoff": [1.0, 0.5], "torso": [None, (0, 1)],
     "min_square": [0.01, 0.5]},
    "matching": {},
}  # fmt: skip

# How a path is traced.
PATHS = {
    "eps": [0.1, 0.03, 0.5],
    "kappa": [0.9, 0.5],
}


@dataclass(frozen=True)
class Refusal:
    """A combination that makes no sense, and the sentence that says so."""

    sentence: str


REFUSALS = [
    Refusal(sentence)
    for sentence in (
        r"cannot be combined with",
        r"cannot solve problems with (bounds|a prior)",
        r"prior\[.* must be numbers of shape",  # a part of the samples lacks labels
        r"has no meaning with",
        r"needs a model that is a sum over nodes and edges",
        r"method='afw' is for nodes and edges of many states",
        r"^The '(steps|sampling)' parameter of \w+ must be a str among",
        r"warm_start=True cannot continue the last fit",
        r"search='(exact|angular)' needs",
    )
]
