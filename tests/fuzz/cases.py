"""One random case: a valid call, something changed in it, and the laws of what comes of it.

``python -m fuzz.cases SEED SECONDS NUMBER...`` in ``tests`` answers each with a line of JSON.
"""

import contextlib
import faulthandler
import inspect
import json
import os
import re
import subprocess
import sys
import traceback
import warnings
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, clone

from fuzz import laws
from fuzz.functions import FUNCTIONS
from fuzz.mutations import junk, mutated, pick
from fuzz.products import REFUSALS
from fuzz.subjects import ESTIMATORS, KERNEL_ANSWERS, KernelFunction

SUBJECTS = ESTIMATORS | FUNCTIONS
NAMES = [*ESTIMATORS, *FUNCTIONS]
QUERIES = [
    "predict", "predict_topk", "predict_segments", "decision_function", "node_scores", "score",
    "coef_at", "gap_at", "dual_objective_at", "estimator_at", "transform", "weights_frame",
    "explain", "partial_fit", "predict_component", "predict_full",
]  # fmt: skip
HARMLESS = (
    r".*(stopped after|path ends|end early|column-vector y|feature names|found no labelling"
    r"|least populated class|training graphs score more than|converting a masked element"
    r"|none of which is in y|keys that are no labels|of the squared norm|stopped before"
    r"|has learned next to nothing|samples add up to|the best lam is the"
    r"|of the squared differences of rows)"
)
# scikit-learn casts targets and multiplies weights before it checks them
THEIRS = r"sklearn\.(utils\.(multiclass|sparsefuncs|extmath)|preprocessing|externals)"
# What is refused on purpose: combinations that make no sense.
UNABLE = re.compile("|".join([*REFUSALS, "no two rows of different grades"]))
# numbers that say how much work to do: the largest would do it
EFFORT = {"max_iter", "n_init", "stored_passes", "cut_size"}
LARGEST_EFFORT = 1000
MEMORY = 6 * 2**30  # bytes of address space of a process: sizes that make no sense end there
PATIENCE = 60.0  # seconds for one case
# Numbers of cases that tests plant.
CRASH, HANG = -1, -2
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")


@dataclass
class Report:
    """What came of one case.

    Refusals are errors that are allowed: method, type, and whether the message names the item. A
    finding is the law that was broken.
    """

    seed: int
    number: int
    subject: str = ""
    story: list = field(default_factory=list)
    calls: int = 0
    refusals: list = field(default_factory=list)
    finding: str | None = None
    detail: str = ""


def run_case(seed, number):
    """Run one case; everything follows from the seed and the number."""
    rng = np.random.default_rng([seed, number])
    name = pick(rng, NAMES)
    case = Case(rng, Report(seed, number, name))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", message=HARMLESS)
            warnings.filterwarnings("ignore", module=THEIRS)
            np.random.seed(number % 2**32)
            case.run(name)
    except laws.Broken as broken:
        cause = broken.__cause__
        detail = str(broken) if cause is None else "".join(traceback.format_exception(cause))
        case.report.finding, case.report.detail = broken.args[0], detail
    return case.report


class Case:
    def __init__(self, rng, report):
        self.rng = rng
        self.report = report

    def run(self, name):
        self.subject, self.sound = SUBJECTS[name](self.rng), name != "spoiled_structure"
        target, self.valid = self.subject.target, dict(self.subject.arguments)
        if not isinstance(target, BaseEstimator):
            return self.run_function(target)
        parameters = target.get_params(deep=True)
        self.words = [*parameters, *(name.rpartition("__")[2] for name in parameters)]
        methods = [method for method in QUERIES if hasattr(target, method)]
        fitted = False
        if self.rng.random() < 0.4:
            fitted = self.call(target, "fit", self.valid, valid=self.sound)
        kind = pick(self.rng, ["data", "data", "parameters", "query"])
        if kind == "parameters":
            self.with_parameters(target)
        elif kind == "data":
            self.with_data(target)
        else:
            if not fitted and self.rng.random() < 0.95:
                self.call(target, "fit", self.valid, valid=self.sound)
            for _ in range(3):
                method = pick(self.rng, methods)
                arguments = self.changed(self.fitting(target, method))
                self.call(target, method, arguments)
        if self.rng.random() < 0.3 and self.sound:
            self.as_fresh(target)
        return None

    def run_function(self, target):
        self.words = list(self.valid)
        if self.rng.random() < 0.1:
            self.call(target, None, self.valid, valid=True)
        for _ in range(3):
            self.call(target, None, self.changed(self.valid))

    def with_parameters(self, target):
        """Fit with one or two odd parameters, then with the valid ones again."""
        before = target.get_params(deep=True)
        chosen = {}
        for _ in range(1 + (self.rng.random() < 0.2)):
            name = pick(self.rng, sorted(before))
            value, how = self.odd(name, before[name])
            if name.rpartition("__")[2] in EFFORT and isinstance(value, (int, np.integer)):
                value = min(value, LARGEST_EFFORT)
            chosen[name] = value
            self.report.story.append(f"{name} = {value!r:.80} ({how})")
        try:
            target.set_params(**chosen)
        except (AttributeError, ValueError, TypeError):
            restore(target, before)
            return
        if self.call(target, "fit", self.valid):
            self.query(target, self.valid)
        restore(target, before)

    def odd(self, name, value):
        last = name.rpartition("__")[2]
        if last == "kernel" and self.rng.random() < 0.3:
            return KernelFunction(pick(self.rng, KERNEL_ANSWERS)), "kernel"
        if last in ("scoring", "refit", "cv") and self.rng.random() < 0.3:
            answer = junk(self.rng)
            return (lambda *args: answer), "answer"
        if self.rng.random() < 0.5:
            return junk(self.rng), "junk"
        return mutated(self.rng, value)

    def with_data(self, target):
        """Fit with changed data; if that works, predict it."""
        arguments = self.changed(self.valid)
        if self.call(target, "fit", arguments):
            self.query(target, arguments)
        elif self.rng.random() < 0.2:
            self.call(target, "fit", self.valid, valid=self.sound)

    def query(self, target, arguments):
        """Ask a fitted estimator about the data of its fit."""
        for method in QUERIES[:5]:
            if hasattr(target, method) and self.rng.random() < 0.5:
                self.call(target, method, self.fitting(target, method, arguments))

    def fitting(self, target, method, arguments=None):
        arguments = self.valid if arguments is None else arguments
        taken = inspect.signature(getattr(target, method)).parameters
        if method == "weights_frame":
            return {"top": 3, "feature_names": None}
        if method == "explain":
            return {"X": arguments["X"], "i": 0, "t": 0, "rival": None, "known": None}
        return {name: value for name, value in arguments.items() if name in taken}

    def changed(self, arguments):
        arguments = dict(arguments)
        for _ in range(1 + (self.rng.random() < 0.25)):
            name = pick(self.rng, list(arguments))
            value = arguments[name]
            if name == "sample_weight" and value is None and self.rng.random() < 0.8:
                value = np.ones(count(self.valid.get("y", self.valid.get("y_true"))))
            arguments[name], how = mutated(self.rng, value)
            self.report.story.append(f"{name}: {how}")
        return arguments

    def call(self, target, method, arguments, *, valid=False):
        """Call a method, or the target itself; return whether it worked."""
        function = target if method is None else getattr(target, method)
        if method == "fit":
            arguments = self.fitting(target, "fit", arguments)
        kept = laws.without_iterators(arguments)
        before = laws.fingerprint(kept)
        state = laws.fingerprint(target) if method else None
        self.report.story.append(f"{method or target.__name__}()")
        self.report.calls += 1
        try:
            answer = function(**arguments)
        except Exception as error:
            self.judge(error, method, [*self.words, *arguments], valid)
            worked = False
        else:
            worked = True
        laws.require(laws.fingerprint(kept) == before, "arguments are changed")
        if method is None:
            return worked
        if not worked or method not in ("fit", "partial_fit"):
            what = "by a call that failed" if not worked else f"by {method}"
            laws.require(laws.fingerprint(target) == state, f"estimator is changed {what}")
        else:
            laws.require(answer is target, f"{method} does not return the estimator")
            if hasattr(target, "certified_") or hasattr(target, "estimator_"):
                laws.check_fitted(target)
        return worked

    def judge(self, error, method, words, valid):
        """Raise `Broken` unless an error is one that is allowed."""
        if laws.is_user_code(error):
            return
        if isinstance(error, Warning):
            if laws.is_their_arithmetic(error):
                return
            raise laws.Broken(f"warning {type(error).__name__}") from error
        if not isinstance(error, laws.ALLOWED) or isinstance(error, laws.ACCIDENTS):
            raise laws.Broken(f"error {type(error).__name__}") from error
        if valid and not UNABLE.search(str(error)):
            raise laws.Broken("a valid call fails") from error
        if valid:
            return
        if not str(error).strip():
            raise laws.Broken("an error without a message") from error
        named = laws.names_item(error, words)
        if not named and not laws.is_theirs(error):
            raise laws.Broken("an error that names nothing") from error
        self.report.refusals.append((str(method), type(error).__name__, named))

    def as_fresh(self, target):
        """Fit the valid data: the bits must be those of an estimator that saw nothing else."""
        if vars(target).get("warm_start"):
            return
        fresh = clone(target)
        worked = [self.call(model, "fit", self.valid, valid=True) for model in (target, fresh)]
        same = laws.results(target) == laws.results(fresh)
        laws.require(not all(worked) or same, "a fit after failures differs from a fresh one")


def restore(target, parameters):
    """Set all parameters as they were, those of inner objects last, level by level."""
    depths = {name: name.count("__") for name in parameters}
    for depth in range(max(depths.values()) + 1):
        level = {name: value for name, value in parameters.items() if depths[name] == depth}
        with contextlib.suppress(ValueError, AttributeError):
            target.set_params(**level)


def count(y):
    """Number of samples of a target."""
    if y is None:
        return 4
    return y.shape[0] if hasattr(y, "shape") else len(y)


# ---- processes, which may die or hang ----------------------------------------------------------


def run_cases(seed, numbers, patience=PATIENCE):
    """Run cases in a process, a new one after each that dies or hangs; return the reports."""
    reports, waiting = [], list(map(int, numbers))
    while waiting:
        run = subprocess.run(
            [sys.executable, "-m", "fuzz.cases", str(seed), str(patience), *map(str, waiting)],
            cwd=Path(__file__).resolve().parents[1],
            env=os.environ | ONE_THREAD,
            capture_output=True,
            text=True,
        )
        found = [Report(**json.loads(line)) for line in run.stdout.splitlines()]
        if len(found) < len(waiting):
            last = run.stderr.partition("Extension modules")[0][-3000:]
            finding = f"the process ends with status {run.returncode}"
            found.append(Report(seed, waiting[len(found)], finding=finding, detail=last))
        reports += found
        waiting = waiting[len(found) :]
    return reports


def planted(number):
    """Do what no case should."""
    while number != CRASH:
        pass
    os.abort()


def main(seed, patience, *numbers):
    """Answer cases with lines of JSON, until one dies or takes too long."""
    # what libraries print must not come between the answers
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    faulthandler.enable()
    with contextlib.suppress(ImportError):  # Windows
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    for number in map(int, numbers):
        faulthandler.dump_traceback_later(float(patience), exit=True)
        report = planted(number) if number < 0 else run_case(int(seed), number)
        print(json.dumps(asdict(report)), file=answers, flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
