"""Random products of features: the certified intervals of one problem must all meet.

A problem is drawn from the table of `fuzz.options`, and then ways to solve it. Every certificate
says that the optimum lies between a dual and a primal objective: if the largest of the dual ones
is above the smallest of the primal ones, one of them lies.
"""

import collections
import re
import warnings
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from fuzz import options
from fuzz.mutations import pick
from fuzz.problems import PROBLEMS
from sskit import RegularizationPath, SlackRescaling
from sskit.estimators.base.prior import flat_prior
from sskit.solvers import BCFW, FrankWolfe, MultiPlane
from sskit.solvers.oracle_calls.pool import make_pool

ROUNDING = 1e-8  # of P(0)


@dataclass
class Interval:
    """What one fit, or one path, says of the optimum of a problem."""

    way: str
    dual: float
    primal: float


@dataclass
class Findings:
    """What came of the ways to solve some problems.

    Attributes
    ----------
    n_problems, n_fits, n_certified, n_paths : int
        Counts.
    refusals : Counter
        By the sentence of the table.
    faults : list of str
        Intervals that do not meet, and refusals and errors that the table does not know.
    """

    n_problems: int = 0
    n_fits: int = 0
    n_certified: int = 0
    n_paths: int = 0
    refusals: collections.Counter = field(default_factory=collections.Counter)
    faults: list = field(default_factory=list)

    def add(self, other):
        """Count what came of others too."""
        self.n_problems += other.n_problems
        self.n_fits += other.n_fits
        self.n_certified += other.n_certified
        self.n_paths += other.n_paths
        self.refusals.update(other.refusals)
        self.faults += other.faults


def run_problems(seed, start, end, n_ways):
    """Return the findings of the problems from one number to below another."""
    findings = Findings()
    for number in range(start, end):
        run_problem(seed, number, findings, n_ways)
    return findings


def run_problem(seed, number, findings, n_ways=20):
    """Solve one problem in random ways and compare what they prove."""
    rng = np.random.default_rng([seed, number])
    name = pick(rng, list(options.ESTIMATORS))
    problem = PROBLEMS[name](rng, choose(rng, options.ESTIMATORS[name] | options.PROBLEMS))
    findings.n_problems += 1
    told = f"problem {number} of seed {seed} ({name}: {problem.chosen})"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.filterwarnings("ignore", message=".*training graphs score more than")
        intervals = []
        for _ in range(n_ways):
            intervals += attempt(solve, rng, problem, findings, told)
        compare(intervals, problem, findings, told)
        if rng.random() < 0.5:
            attempt(trace, rng, problem, findings, told)
        if rng.random() < 0.3:
            intervals, problem = [], attempt(with_prior, rng, problem, findings, told)
            for _ in range(n_ways // 4 if problem else 0):
                intervals += attempt(solve, rng, problem, findings, told)
            compare(intervals, problem, findings, told)


def choose(rng, table, default=0.0):
    """One value for each option; the first one with a probability of its own."""
    return {
        name: values[0] if rng.random() < default else pick(rng, values)
        for name, values in table.items()
    }


def attempt(action, rng, problem, findings, told):
    """Do something that the table may know to be refused; return intervals."""
    story = []
    try:
        return action(rng, problem, findings, story)
    except (ValueError, NotImplementedError) as error:
        for refusal in options.REFUSALS:
            if re.search(refusal.sentence, str(error)):
                findings.refusals[refusal.sentence] += 1
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


# ---- fits --------------------------------------------------------------------------------


def make_solver(rng, kinds=tuple(options.SOLVERS)):
    """Parameters that choose a solver: an object with some options, or names."""
    if rng.random() < 0.3:
        given = choose(rng, options.NAMED, default=0.85)
        return {**given, "solver": pick(rng, options.NAMED["solver"])}
    kind = pick(rng, kinds)
    return {"solver": kind(**choose(rng, options.SOLVERS[kind], default=0.75))}


def make_rescaling(rng, problem):
    """The parameter `rescaling`: under slack rescaling any search of the table."""
    if problem.chosen["rescaling"] == "margin":
        return {"rescaling": "margin"}
    return {"rescaling": SlackRescaling(**choose(rng, options.SEARCHES, default=0.5))}


def solve(rng, problem, findings, story):
    """Fit one way; return the interval, and its history's, if they are certified."""
    fit = choose(rng, options.FITS)
    estimator, X, y, weight = problem.stated(fit["twin"], fit["copies"])
    given = make_solver(rng) | make_rescaling(rng, problem)
    given |= {name: fit[name] for name in ("tol", "max_iter", "n_jobs")}
    estimator.set_params(**given, random_state=int(rng.integers(100)))
    story += [f"{type(estimator).__name__}({given})", str(fit)]
    if fit["start"] is not None:
        begin(rng, estimator, fit["start"], X, y, weight)
    estimator.fit(X, y, sample_weight=weight)
    findings.n_fits += 1
    if not estimator.certified_:
        return []
    findings.n_certified += 1
    way, history = "; ".join(story), estimator.history_
    known = ~np.isnan(history["gap"])
    intervals = [Interval(way, estimator.dual_objective_, estimator.primal_objective_)]
    for dual, primal in zip(history["dual"][known], history["primal"][known], strict=True):
        intervals.append(Interval(f"history of {way}", dual, primal))
    for interval in intervals:
        if not interval.dual <= interval.primal + ROUNDING * problem.unit:
            raise AssertionError(f"the gap is negative: {interval}")
    return intervals


def with_prior(rng, problem, findings, story):
    """The same problem with a random prior, and no other statements of it."""
    estimator, X, y, weight = problem.stated(None, False)
    estimator.set_params(rescaling=problem.chosen["rescaling"])
    prior = rng.normal(size=estimator._make_task(X, y, weight).layout.n_weights)
    unit = problem.unit * (1.0 + problem.chosen["lam"] * float(prior @ prior))
    return replace(problem, estimator=estimator.set_params(prior=prior), twins=[], unit=unit)


def begin(rng, estimator, start, X, y, weight):
    """Fit something else first, from which the fit is to go on."""
    estimator.set_params(warm_start=True)
    other = clone(estimator.solver, safe=False)
    lam, tol, n = estimator.lam, estimator.tol, len(y) if hasattr(y, "__len__") else y.shape[0]
    kept = n - 2 if start == "samples" else n
    if start == "lam":
        estimator.set_params(lam=lam * 10.0 ** rng.uniform(-2, 2))
    elif start == "tol":
        estimator.set_params(tol=0.5)
    changed = weight if weight is None else weight[:kept]
    if start == "weights":
        changed = rng.uniform(0.1, 2.0, size=kept)
    first = X[:kept]
    if getattr(estimator, "kernel", None) == "precomputed":
        first = X[:kept, :kept]
    estimator.fit(first, y[:kept], sample_weight=changed)
    estimator.set_params(lam=lam, tol=tol, solver=other)


# ---- paths -------------------------------------------------------------------------------


def trace(rng, problem, findings, story):
    """Trace a path; compare it with tight fits at random lam."""
    given = choose(rng, options.PATHS)
    estimator, X, y, weight = problem.stated(None, False)
    kinds = (BCFW, BCFW, MultiPlane, FrankWolfe)
    estimator.set_params(**make_solver(rng, kinds), **make_rescaling(rng, problem), max_iter=300)
    estimator.set_params(random_state=int(rng.integers(100)))
    story += [f"RegularizationPath({estimator!r}, {given})".replace("\n", "")]
    path = RegularizationPath(estimator, lam_min=1e-3, max_breakpoints=40, **given)
    path.fit(X, y, sample_weight=weight)
    findings.n_paths += 1
    low, high = max(path.lam_end_, 1e-3), 2.0 * path.lams_[0]
    for lam in np.exp(rng.uniform(np.log(low), np.log(max(high, low)), size=3)):
        lam = max(float(lam), low)
        exact = tight(problem, lam)
        if not exact.certified_:
            continue
        slackness = ROUNDING * problem.unit
        dual, gap, model = path.dual_objective_at(lam), path.gap_at(lam), path.estimator_at(lam)
        told = f"lam={lam!r}: dual {dual}, gap {gap}, the optimum is in "
        told += f"[{exact.dual_objective_}, {exact.primal_objective_}]"
        require(model.dual_gap_ == gap, f"the model says another gap, {model.dual_gap_}; {told}")
        require(dual <= exact.primal_objective_ + slackness, f"the dual is too large; {told}")
        if not path.certified_:
            continue
        fraction = path.relative_gap_at(lam)
        require(
            fraction <= path.max_gap_ * (1 + 1e-9), f"{fraction} is above {path.max_gap_}; {told}"
        )
        primal, most = primal_at(exact, X, y, weight, path.coef_at(lam))
        told += f", the objective is {primal}, at most {most}"
        require(most >= exact.dual_objective_ - slackness, f"no objective; {told}")
        require(primal - exact.primal_objective_ <= gap + slackness, f"the gap is wrong; {told}")
        require(primal - dual <= gap + slackness, f"the gap is too small; {told}")
    return []


def tight(problem, lam):
    """A fit that is all but optimal."""
    estimator, X, y, weight = problem.stated(None, False)
    estimator.set_params(lam=lam, solver=BCFW(steps="pairwise"), tol=1e-6, max_iter=5000)
    estimator.set_params(rescaling=problem.chosen["rescaling"], random_state=0)
    return estimator.fit(X, y, sample_weight=weight)


def primal_at(estimator, X, y, weight, w):
    """The objective of flat weights, by the problem of an estimator and no solver's run.

    Where the oracle may miss the maximum, what is known of it, and what it is at most.
    """
    task = estimator._make_task(X, y, weight)
    regularizer = estimator._make_regularizer(task, estimator.lam, flat_prior(estimator, task))
    answers = make_pool(task.problem).evaluate(regularizer.padded(w))
    primal = regularizer.primal(w, float(task.problem.block_weight @ answers.hinges()))
    return primal, primal + float(task.problem.block_weight @ answers.excesses())


def require(condition, sentence):
    """Raise AssertionError with a sentence unless a condition holds."""
    if not condition:
        raise AssertionError(sentence)
