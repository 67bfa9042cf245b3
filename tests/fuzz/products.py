"""Random products of features: the certified intervals of one problem must all meet.

A problem is a fit of `helpers.fits` with further options drawn from the tables here, where a new
option joins by an entry; then ways to solve it are drawn. Every certificate says that the optimum
lies between a dual and a primal objective: if the largest of the dual ones is above the smallest
of the primal ones, one of them lies. The data of a problem are stated in several ways, which must
not matter: storage, order, weights or repetitions, units and offsets of columns that are scaled.
"""

import collections
import inspect
import re
import unittest.mock
import warnings
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import pandas as pd
import scipy.sparse as sp
from helpers.fits import FITS, mapped, of_features
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import sskit
from fuzz.mutations import pick
from sskit.models.columns import scaling
from sskit.solvers import BCFW, GDMM, CuttingPlane, FrankWolfe, MultiPlane, SoftBCFW, Subgradient

ROUNDING = 5e-8  # of a loss of about one by sample
STEPS = ["fw", "pairwise", "away"]
SAMPLING = ["permutation", "uniform", "gap", "max_gap"]
TIME = [None, None, None, None, 1e-9]

# Tables map the name of an option to the values to choose from; the first one is the default.
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
SEARCHES = {"search": ["auto", "exact", "angular", "bisecting"], "tol": [0.0, 1e-3]}
SEARCHES |= {"max_queries": [None, 3]}
# How a fit of the same problem goes.
WAYS = {
    "tol": [1e-2, 0.3, 1e-4],
    "max_iter": [300, 1, 7, 50],
    "n_jobs": [None, 2],
    "start": [None, None, "lam", "tol", "samples", "weights"],
}


def listed(matrix):
    """A matrix as lists of numbers; one without rows would lose its columns."""
    return matrix.tolist() if len(matrix) else matrix


STORAGE = {
    "as given": lambda matrix: matrix,
    "CSR": sp.csr_array,
    "CSC": sp.csc_matrix,
    "Fortran": np.asfortranarray,
    "mapped": mapped,
    "frame": lambda matrix: pd.DataFrame(matrix, columns=map("x{}".format, range(matrix.shape[1]))),
    "lists": listed,
}
# How the data of the same problem are stated.
STATEMENTS = {
    "copies": [False, False, True],
    "order": [False, True],
    "storage": ["as given", *STORAGE],
    "units": [False, True],
    "class_weight": [True, False],
    "renumbered": [False, True],
}
# What the problem is: of all estimators, and what some have of their own.
PROBLEMS = {"lam": [0.1, 1e-3, 1e-2, 1.0, 10.0, None], "rescaling": ["margin", "margin", "slack"]}
WEIGHTS = [None, "any", "whole", "zero"]
BOUNDS = {"bounds": [None, None, (-0.2, 0.3), (0.0, None), {"coef": (-0.1, 0.5)}]}
TOKENS = {"loss": ["hamming_sum", "hamming"], "class_weight": [None, None, "balanced"]}
NODES = {"loss": ["hamming_sum", "hamming", "balanced"]}
LABELS = {"loss": ["hamming_sum", "hamming"], "fit_intercept": [True, False],
 "label_weight": [None, np.array([1.0, 2.0, 0.5, 1.0])]}  # fmt: skip
OWN = {
    sskit.StructSVMClassifier: {"fit_intercept": [True, False], "class_weight": [None, "balanced"],
     "surrogate": ["auto", "weston_watkins", "crammer_singer"]},
    sskit.SequenceTagger: TOKENS,
    sskit.SegmentTagger: {"class_weight": [None, "balanced"], "first_last": [True, False]},
    sskit.TreeTagger: TOKENS,
    sskit.SegmentationModel: NODES,
    sskit.GraphTagger: NODES,
    sskit.MultilabelPairwise: LABELS,
    sskit.HierarchicalMultilabel: LABELS,
    # springs are given: clusters depend on a seed
    sskit.PartsModel: {"loss": ["squared", "distance"], "torso": [None, (0, 1)],
     "min_square": [0.01, 0.5]},
}  # fmt: skip
# Combinations that make no sense, by the sentence that says so.
REFUSALS = (
    r"cannot be combined with",
    r"cannot solve problems with (bounds|a prior)",
    r"prior(\[.*)? must be numbers of shape",  # a part of the samples lacks labels
    r"has no meaning with",
    r"needs a model that is a sum over nodes and edges",
    r"method='afw' is for nodes and edges of many states",
    r"^The '(steps|sampling)' parameter of \w+ must be a str among",
    r"warm_start=True cannot continue the last fit",
    r"search='(exact|angular)' needs",
)
# Rankings have weights of whole sets only.
NAMES = [name for name in FITS if not name.startswith("ranking")]


@dataclass
class Problem:
    """Training data with an estimator that has all parameters that the problem depends on."""

    told: str
    estimator: object
    X: object
    y: object
    weight: object = None
    whole: bool = False
    unit: float = 1.0

    def stated(self, copies=False, order=None, storage="as given", units=None, class_weight=True):
        """A new estimator with its data.

        Parameters
        ----------
        copies : bool
            Whether there are copies in place of whole weights.
        order : Generator or None
            Draws the order of the samples.
        storage : str
            How features are stored.
        units : Generator or None
            Draws units and offsets of the columns, if they are scaled.
        class_weight : bool
            Whether classes have weights, or else rows have them.
        """
        estimator, X, y, weight = clone(self.estimator), self.X, self.y, self.weight
        by_rows = isinstance(estimator, sskit.StructSVMClassifier) and not class_weight
        if by_rows and estimator.class_weight:
            estimator.set_params(class_weight=None)
            codes = np.unique(y, return_inverse=True)[1]
            counts = np.bincount(codes, weight)
            factors = counts.sum() / (np.count_nonzero(counts) * np.where(counts, counts, 1.0))
            weight = factors[codes] * (1.0 if weight is None else weight)
        elif copies and self.whole:
            chosen = np.repeat(np.arange(len(weight)), weight.astype(int))
            X, y, weight = take(X, chosen), take(y, chosen), None
        if order is not None:
            chosen = order.permutation(len(y))
            X, y = take(X, chosen), take(y, chosen)
            weight = weight if weight is None else weight[chosen]
        if units is not None and self.scales():
            factors = 10.0 ** units.integers(-3, 4, X.shape[1])
            offsets = units.integers(-9, 9, X.shape[1]) if estimator.fit_intercept else 0.0
            X = (X + offsets) * factors
        return estimator, self.stored(X, storage), y, weight

    def scales(self):
        """Whether units and offsets of columns are without effect."""
        asked = (getattr(self.estimator, name, None) for name in ("prior", "bounds"))
        return (
            getattr(self.estimator, "standardize", False) is not False
            and getattr(self.estimator, "kernel", "linear") == "linear"
            and all(value is None for value in asked)
        )

    def stored(self, X, storage):
        """The same features, stored otherwise, where there are such."""
        if isinstance(self.estimator, (sskit.PartsModel, sskit.StructuredSVM)):
            return X
        return of_features(X, STORAGE[storage])


class Interval(NamedTuple):
    """What one fit, or one path, says of the optimum of a problem."""

    way: str
    dual: float
    primal: float


@dataclass
class Findings:
    """What came of the ways to solve some problems.

    Faults are intervals that do not meet, and refusals and errors that the table does not know.
    """

    n_fits: int = 0
    n_certified: int = 0
    refusals: collections.Counter = field(default_factory=collections.Counter)
    faults: list = field(default_factory=list)


def take(data, order):
    return data[order] if isinstance(data, np.ndarray) else [data[i] for i in order]


def choose(rng, table, default=0.0):
    """One value for each option; the first one with a probability of its own."""
    usual = {name: values[:1] for name, values in table.items()}
    return {name: pick(rng, (usual if rng.random() < default else table)[name]) for name in table}


def is_usual(estimator, parameter):
    return getattr(estimator, parameter.name) is parameter.default or parameter.name == "lam"


def draw(rng, name):
    """A problem: what the fit of this name leaves as it is by default is drawn."""
    fit = FITS[name]
    X, y = fit.data()
    estimator, kind = clone(fit.estimator), type(fit.estimator)
    table = {"lam": PROBLEMS["lam"]}
    if estimator.prior is None:
        table = PROBLEMS | OWN.get(kind, {})
    if not fit.bounded and getattr(estimator, "kernel", "linear") == "linear":
        table = table | BOUNDS
    usual = inspect.signature(kind).parameters
    if "standardize" in usual and not fit.bounded and estimator.prior is None:
        table = table | {"standardize": ["auto", True, False]}
    table = {key: values for key, values in table.items() if is_usual(estimator, usual[key])}
    given = choose(rng, table)
    if kind is sskit.PartsModel:
        given["means"] = np.random.default_rng(0).normal(size=(3, 2, 2))
    estimator.set_params(**given)
    weights, n = pick(rng, WEIGHTS), len(y)
    weight = {
        None: None,
        "any": rng.uniform(0.1, 3.0, size=n),
        "whole": rng.integers(1, 4, size=n).astype(float),
        "zero": np.where(np.arange(n) == n - 1, 0.0, 1.0),
    }[weights]
    told = f"{name}: {given}, weights: {weights}"
    return Problem(told, estimator, X, y, weight, weights == "whole")


# ---- fits --------------------------------------------------------------------------------


def run_problem(seed, number, findings, n_ways=20):
    """Solve one problem in random ways and compare what they prove."""
    rng = np.random.default_rng([seed, number])
    problem = draw(rng, pick(rng, NAMES))
    told = f"problem {number} of seed {seed} ({problem.told})"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", ".*(has learned next to nothing|samples add up to)")
        warnings.filterwarnings("ignore", message=".*training graphs score more than")
        intervals = []
        for _ in range(n_ways):
            intervals += attempt(solve, rng, problem, findings, told)
        compare(intervals, problem, findings, told)
        if rng.random() < 0.3:
            intervals, problem = [], attempt(with_prior, rng, problem, findings, told)
            for _ in range(n_ways // 4 if problem else 0):
                intervals += attempt(solve, rng, problem, findings, told)
            compare(intervals, problem, findings, told)


def attempt(action, rng, problem, findings, told):
    """Do something that the table may know to be refused; return intervals."""
    story = []
    try:
        return action(rng, problem, findings, story)
    except (ValueError, NotImplementedError) as error:
        for sentence in REFUSALS:
            if re.search(sentence, str(error)):
                findings.refusals[sentence] += 1
                return []
        findings.faults.append(f"{told}: {story} refused: {error}")
    except Exception as error:  # noqa: BLE001
        findings.faults.append(f"{told}: {story} fails: {type(error).__name__}: {error}")
    return []


def compare(intervals, problem, findings, told):
    """Note a fault if there are two intervals without a common point."""
    if not intervals:
        return
    highest = max(intervals, key=lambda interval: interval.dual)
    lowest = min(intervals, key=lambda interval: interval.primal)
    if not highest.dual <= lowest.primal + ROUNDING * problem.unit:
        findings.faults.append(
            f"{told}: the optimum is >= {highest.dual!r} by {highest.way} but <= "
            f"{lowest.primal!r} by {lowest.way}"
        )


def make_solver(rng):
    """Parameters that choose a solver: an object with some options, or names."""
    if rng.random() < 0.3:
        return choose(rng, NAMED, default=0.85) | {"solver": pick(rng, NAMED["solver"])}
    kind = pick(rng, list(SOLVERS))
    return {"solver": kind(**choose(rng, SOLVERS[kind], default=0.75))}


def make_rescaling(rng, estimator):
    """The parameter `rescaling`: under slack rescaling any search of the table."""
    if estimator.rescaling == "margin":
        return {"rescaling": "margin"}
    return {"rescaling": sskit.SlackRescaling(**choose(rng, SEARCHES, default=0.5))}


def solve(rng, problem, findings, story):
    """Fit one way; return the interval, and its history's, if they are certified."""
    way, told = choose(rng, WAYS), choose(rng, STATEMENTS)
    drawn = {name: rng if told[name] else None for name in ("order", "units")}
    renumbered = told.pop("renumbered")
    estimator, X, y, weight = problem.stated(**told | drawn)
    given = make_solver(rng) | make_rescaling(rng, estimator)
    given |= {name: way[name] for name in ("tol", "max_iter", "n_jobs")}
    estimator.set_params(**given, random_state=int(rng.integers(100)))
    story += [f"{type(estimator).__name__}({given})", str(way), str(told)]
    if way["start"] is not None:
        begin(rng, estimator, way["start"], X, y, weight)
    # columns are renumbered from so many on, by which weights are found faster
    with unittest.mock.patch.object(scaling, "MANY_COLUMNS", 0 if renumbered else 4096):
        estimator.fit(X, y, sample_weight=weight)
    findings.n_fits += 1
    check_answers(rng, problem, estimator, X, told["storage"])
    if not estimator.certified_:
        return []
    findings.n_certified += 1
    told, history = "; ".join(story), estimator.history_
    known = ~np.isnan(history["gap"])
    intervals = [Interval(told, estimator.dual_objective_, estimator.primal_objective_)]
    for dual, primal in zip(history["dual"][known], history["primal"][known], strict=True):
        intervals.append(Interval(f"history of {told}", dual, primal))
    for interval in intervals:
        if not interval.dual <= interval.primal + ROUNDING * problem.unit:
            raise AssertionError(f"the gap is negative: {interval}")
    return intervals


def check_answers(rng, problem, model, X, storage):
    """However features are stored, and whatever the number of threads, answers are the same."""
    if storage != "as given" or isinstance(problem.estimator, sskit.StructuredSVM):
        return
    answers = model.predict(X)
    again = model.set_params(n_jobs=pick(rng, [None, 2, 50])).predict(
        problem.stored(X, pick(rng, [name for name in STORAGE if name != "frame"]))
    )
    for one, other in zip(answers, again, strict=True):
        np.testing.assert_array_equal(one, other)


def with_prior(rng, problem, findings, story):
    estimator, X, y, weight = problem.stated()
    task = estimator._make_task(X, y, weight)
    prior = rng.normal(size=task.layout.n_weights)
    scaled = task.from_user(prior)
    lam = task.default_lam if estimator.lam is None else estimator.lam
    unit = problem.unit * (1.0 + lam * float(scaled @ scaled))
    return replace(problem, estimator=estimator.set_params(prior=prior), unit=unit)


def begin(rng, estimator, start, X, y, weight):
    """Fit something else first, from which the fit is to go on."""
    estimator.set_params(warm_start=True)
    other = clone(estimator.solver, safe=False)
    lam, tol, n = estimator.lam, estimator.tol, len(y)
    kept = n - 2 if start == "samples" else n
    if start == "lam":
        estimator.set_params(lam=(lam or 0.1) * 10.0 ** rng.uniform(-2, 2))
    elif start == "tol":
        estimator.set_params(tol=0.5)
    changed = weight if weight is None else weight[:kept]
    if start == "weights":
        changed = rng.uniform(0.1, 2.0, size=kept)
    estimator.fit(X[:kept], y[:kept], sample_weight=changed)
    estimator.set_params(lam=lam, tol=tol, solver=other)
