"""What must hold of any call: which errors are allowed, what stays as it was, what a fit proves."""

import datetime
import functools
import re
import traceback
import types

import numpy as np
import scipy.sparse as sp

from fuzz.mutations import PANDAS

ALLOWED = (ValueError, TypeError, NotImplementedError)
# Classes derived from those that tell of an accident, not of a check.
ACCIDENTS = (np.linalg.LinAlgError, UnicodeError)
# What messages of scikit-learn's checks say in place of a name.
IDIOMS = re.compile(
    r"Found (array|input)|Expected \dD|Complex data|[Ss]ample weights|parameter of|not fitted yet|"
    r"np.matrix is not supported|features, but|Unknown label type|Classification metrics|"
    r"of sample \d|Support for labels represented as bytes|container but got|own ancestor"
)
INDEX = re.compile(r"\[\s*\d+\s*[\],]")
PLACES = re.compile(r".*/(sskit|sklearn|numpy|scipy|pandas|joblib|fuzz|helpers)/(.*)$")
RELATIVE = 1e-9
# What calls functions of users: those in C leave no place of their own.
CALLERS = {
    ("sskit/models/kernel/functions.py", "__call__"),
    ("sskit/stopping.py", "evaluate"),
    ("sskit/estimators/base/meta.py", "score"),
    ("sskit/estimators/path/choosing.py", "score_fold"),
}


class Broken(AssertionError):
    """A law is broken; the first argument is a short name of the law."""

    def __str__(self):
        return ": ".join(map(str, self.args))


def require(condition, law, sentence=""):
    """Raise `Broken` unless a condition holds."""
    if not condition:
        raise Broken(law, sentence)


# ---- errors ------------------------------------------------------------------------------


def places(error):
    """The places (package, file, function) of the traceback of an error, innermost last."""
    found = []
    for frame in traceback.extract_tb(error.__traceback__):
        match = PLACES.match(frame.filename.replace("\\", "/"))
        name = frame.filename if match is None else f"{match[1]}/{match[2]}"
        if frame.filename.startswith("sskit/"):  # compiled
            name = frame.filename
        found.append((name, frame.name))
    return found


def is_user_code(error):
    """Whether an error comes from a method or kernel that a user wrote, called by the package."""
    # Python 3.10 knows no notes: what they say is the message of another exception
    told = getattr(error, "__notes__", [str(error)] if type(error) is RuntimeError else [])
    if any(note.startswith("raised by") for note in told):
        return True
    ours = [k for k, (name, _) in enumerate(places(error)) if name.startswith("sskit/")]
    if places(error)[-1] in CALLERS:
        return True
    # the estimator that learns probabilities is one of the user
    if any(name.startswith("sklearn/naive_bayes") for name, _ in beyond_ours(error)):
        return True
    return any(
        name.startswith(("helpers/structures", "fuzz/subjects", "fuzz/problems"))
        for name, _ in places(error)[ours[0] if ours else 0 :]
    )


def is_theirs(error):
    """Whether an error comes from checks of scikit-learn, joblib or copies: their own words."""
    names = [name for name, _ in beyond_ours(error)]
    return any(name.startswith(("sklearn/", "joblib/")) or "/copy.py" in name for name in names)


def is_their_arithmetic(warning):
    """Whether a warning is of sums that scikit-learn makes to check numbers, or to scale them."""
    sums = ("sklearn/utils/extmath", "sklearn/preprocessing/")
    places = beyond_ours(warning)
    return any(f.startswith("_assert_all_finite") or name.startswith(sums) for name, f in places)


def beyond_ours(error):
    """The places of a traceback that were called by the package, further in than its own."""
    found = places(error)
    last = max((k for k, (name, _) in enumerate(found) if name.startswith("sskit/")), default=-1)
    return found[last + 1 :]


def names_item(error, names):
    """Whether the message says which argument, parameter or item is wrong."""
    message = " ".join([str(error), *getattr(error, "__notes__", ())])
    if INDEX.search(message) or IDIOMS.search(message):
        return True
    # as in scikit-learn, `score` hands its y to a metric, which calls it y_true
    names = {*names, *("y_true" for name in names if name in ("y", "y_val"))}
    return any(re.search(rf"\b{re.escape(name)}\b", message) for name in names)


# ---- state -------------------------------------------------------------------------------


def fingerprint(value, seen=None):
    """Return what tells a value from all others, deep: equal before and after means unchanged."""
    seen = {} if seen is None else seen
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, type)):
        return type(value).__name__, repr(value)
    if id(value) in seen:
        return "seen", seen[id(value)][0]
    seen[id(value)] = len(seen), value  # kept, so that nothing else takes its place in memory
    kind = type(value).__qualname__
    if isinstance(value, np.random.RandomState):
        return (kind,)  # changes with each draw, as in scikit-learn
    if isinstance(value, np.ma.MaskedArray):
        return kind, fingerprint(value.data, seen), fingerprint(np.asarray(value.mask), seen)
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            # a row of a matrix is a matrix, without end
            entries = tuple(fingerprint(entry, seen) for entry in np.asarray(value).ravel())
        else:
            entries = value.tobytes()
        return kind, value.dtype.str, value.shape, value.strides, value.flags.writeable, entries
    if isinstance(value, (np.generic, datetime.date, datetime.timedelta)):
        return kind, repr(value)
    if isinstance(value, PANDAS):
        entries = np.asarray(value, dtype=object)
        return kind, str(getattr(value, "columns", "")), fingerprint(entries, seen)
    if sp.issparse(value):
        parts = ("data", "indices", "indptr", "row", "col", "offsets", "rows")
        held = [getattr(value, part) for part in parts if hasattr(value, part)]
        held = held or [value.toarray()]
        return kind, value.shape, *(fingerprint(part, seen) for part in held)
    if isinstance(value, dict):
        return kind, tuple((fingerprint(k, seen), fingerprint(v, seen)) for k, v in value.items())
    if isinstance(value, (list, tuple)):
        return kind, *(fingerprint(item, seen) for item in value)
    if isinstance(value, (set, frozenset)):
        return kind, tuple(sorted(map(repr, value)))
    if isinstance(value, functools.partial):
        return kind, fingerprint((value.func, value.args, value.keywords), seen)
    if isinstance(value, (types.FunctionType, types.ModuleType)):
        return kind, id(value)
    return kind, id(value), fingerprint(getattr(value, "__dict__", None), seen)


def without_iterators(arguments):
    """The arguments that can be looked at without using them up."""
    return {name: value for name, value in arguments.items() if not hasattr(value, "__next__")}


# ---- fits --------------------------------------------------------------------------------


def check_fitted(model):
    """Raise `Broken` unless the numbers of a fit are such, and its certificate is one."""
    model = vars(model).get("estimator_", model)
    if not hasattr(model, "certified_"):  # a classifier of scikit-learn
        return
    if hasattr(model, "lams_"):
        require((np.diff(model.lams_) <= 0).all(), "lams rise", model.lams_)
        names = ["lams_", "coefs_", "dual_gaps_", "hinges_", "_losses"]
        if model.certified_:
            scale = np.maximum(np.abs(model.hinges_), 1e-300)
            require((model.dual_gaps_ >= -RELATIVE * scale).all(), "gap < 0", model.dual_gaps_)
    else:
        names = ["coef_", "dual_coef_", "intercept_", "transitions_", "pairwise_", "types_"]
        if model.certified_:
            gap, primal, dual = model.dual_gap_, model.primal_objective_, model.dual_objective_
            scale = max(abs(primal), abs(dual))
            if hasattr(model, "_feature_counts_") or getattr(model, "prior", None) is not None:
                # the dual is a difference of numbers as large as this
                scale += model.lam_ * sum(
                    np.square(getattr(model, name, 0.0)).sum() for name in ("coef_", "transitions_")
                )
            told = f"gap {gap!r}, primal {primal!r}, dual {dual!r}"
            require(np.isfinite([gap, primal, dual]).all(), "certificate is no number", told)
            require(gap >= -RELATIVE * scale, "gap < 0", told)
            require(abs(primal - dual - gap) <= RELATIVE * scale, "gap is not P - D", told)
    for name in names:
        numbers = getattr(model, name, None)
        if isinstance(numbers, np.ndarray):
            fine = np.isfinite(numbers) | (numbers == -np.inf if name == "transitions_" else False)
            require(fine.all(), f"{name} is no number")


def results(model):
    """Fitted numbers and arrays, those that no clock has made."""
    model = vars(model).get("estimator_", model)
    return {
        name: fingerprint(value)
        for name, value in vars(model).items()
        if name.endswith("_")
        and name not in ("times_",)
        and isinstance(value, (np.ndarray, np.generic, int, float))
    }
