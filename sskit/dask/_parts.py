"""Parts of data: how collections are cut into them, and their summary, problem and dual point."""

import numpy as np
import scipy.sparse as sp
from sklearn.utils.validation import _num_samples

from sskit.core.stop import CutShort
from sskit.estimators.reading.summary import matrices
from sskit.solvers.convex_concave import CompletionRounds

# The items of a part, by the names of arguments of fit.
ARGUMENTS = "X", "y", "sample_weight", "token_weight"


class Part:
    """One part of training data, as an estimator checks it.

    Parameters
    ----------
    number : int
        Of the part.
    estimator : StructuredEstimator
        Reads it.
    load : callable
        Returns (X, y, sample_weight, token_weight), as the estimator takes them.
    keeps : bool, default=True
        Whether the part stays in memory once it is read; else it is loaded for each use.
    remembers : bool, default=False
        Whether a later fit may continue from here: the fingerprint of the problem is then kept.
    start : WarmStart, default=None
        Where the last fit of the part ended; checked when the part is bound.

    Attributes
    ----------
    fingerprint : Fingerprint or None
        Of the problem, once it was bound.
    """

    def __init__(self, number, estimator, load, keeps=True, remembers=False, start=None):
        self.number = number
        self.estimator = estimator
        self.load = load
        self.keeps = keeps
        self.remembers = remembers
        self.start = start
        self.point = start and start.point
        self.checked = self.fingerprint = None
        # the completed labels of the part, and the number of the round
        self.task = self.truth = self.round = self.answer = None

    def check(self):
        """Return the part as the estimator reads it; None if it has no samples."""
        X, y, sample_weight, token_weight = self.call(self.load)
        if self.call(_num_samples, X) == 0 and self.call(_num_samples, y) == 0:
            return None
        further = {} if token_weight is None else {"token_weight": token_weight}
        checked = self.call(self.estimator._read_data, X, y, sample_weight, part=True, **further)
        if checked is not None and "vectorizer_" in (checked.columns or {}):
            raise ValueError(
                f"part {self.number}: X has tokens that are dicts or strings, of which each part "
                "would make other features: fit a sskit.preprocessing.TokenVectorizer to all "
                "names, and give what it makes of the parts"
            )
        return checked

    def summarize(self):
        """Return the `Summary` of the part; None if it has no samples."""
        checked = self.check()
        if self.keeps:
            # reading may have made a copy; the original is not needed any more
            self.checked, self.load = checked, None
        return None if checked is None else checked.summary

    def count(self, summary):
        """Return the counts of a second pass over the part, given the summary of all parts."""
        checked = self.checked
        if checked is None:
            checked = self.check()
        return self.call(self.estimator._count, checked, summary)

    def bind(self, summary):
        """Return the `TrainingTask` of the part, given the summary of all parts."""
        if self.task is not None:
            return self.task
        checked, self.checked = self.checked, None
        if checked is None:
            checked = self.check()
        task = self.call(self.estimator._bind_scaled, checked, summary)
        if self.keeps and task.completion is not None:
            self.task = task
        return task

    def problem(self, summary, stage=None):
        """Return the problem of the part at a stage, given the summary of all parts.

        The warm start of the part is checked.
        """
        task = self.bind(summary)
        if self.fingerprint is None and (self.remembers or self.start is not None):
            self.fingerprint = task.fingerprint()
            if self.start is not None:
                self.call(self.start.check, self.fingerprint)
        if stage is None:
            return task.problem
        if not stage.number:
            return task.completion.known_part(of_part=True)
        self.complete(task, stage)
        return task.problem.with_truth(self.truth)

    def complete(self, task, stage):
        """Make the truths those of a stage."""
        hidden, w = task.completion, stage.w
        if self.round == stage.number:
            return
        if w is None:
            self.truth = hidden.drawn(self.number)
        else:
            self.truth = hidden.complete(hidden.adapted(w) if stage.number == 1 else w)
        self.round = stage.number

    def advance(self, summary, stage, later, point):
        """Go on to a later stage, with the dual point changed to the new truths.

        Parameters
        ----------
        summary : Summary
            Of all data.
        stage, later : Stage
            The present one, and that whose weights complete the labels now.
        point : DualPoint or None
            Of the present one, unless it was lost.

        Returns
        -------
        same : bool
            Whether the truths stay.
        gain : float
            Weighted mean of the gain in score of the later truths.
        """
        if self.round == later.number:  # called a second time
            return self.answer
        task = self.bind(summary)
        self.complete(task, stage)
        rounds = CompletionRounds(task.completion, task.problem, self.truth)
        self.answer = rounds.gain(later.w)
        self.point = point and rounds.take(point)
        self.truth, self.round = rounds.truth, later.number
        return self.answer

    def call(self, function, *args, **kwargs):
        """Return the result of a function, whose errors name the number of the part."""
        try:
            return function(*args, **kwargs)
        except (CutShort, MemoryError):
            raise
        except Exception as error:
            raise error_of(self.number, error) from error


def has_dense_rows(checked):
    """Return whether no matrix of features of a part is sparse; None has no samples."""
    return checked is not None and not any(map(sp.issparse, matrices(checked.data)))


def error_of(number, error):
    """Return an error that names the part in which another one arose."""
    if isinstance(error, (ValueError, TypeError)):
        kind = TypeError if isinstance(error, TypeError) else ValueError
        return kind(f"part {number}: {error}")
    return RuntimeError(f"part {number}: {type(error).__name__}: {error}")


def collect(X, y, sample_weight=None, token_weight=None):
    """Return the parts of collections.

    Parameters
    ----------
    X, y : dask bag, array, dataframe or series, or list of parts
        Parts of a list are Delayed objects, futures, or data.
    sample_weight : dask array or series, or list of parts, default=None
        Non-negative weights.
    token_weight : dask bag or series, or list of parts, default=None
        Non-negative weights of the tokens.

    Returns
    -------
    parts : list of tuple (X, y, sample_weight, token_weight)
        Each of them data, a Delayed object or a future; weights may be None.

    Raises
    ------
    TypeError
        If these are no collections of parts.
    ValueError
        If they have different numbers of parts, or parts of different lengths.
    """
    columns = dict(zip(ARGUMENTS, (X, y, sample_weight, token_weight), strict=True))
    lists = {
        name: parts_of(data, name)
        for name, data in columns.items()
        if data is not None or name == "y"
    }
    n_parts = len(lists["X"])
    if not n_parts:
        raise ValueError("X has no parts, expected at least one")
    for name, parts in lists.items():
        if len(parts) != n_parts:
            raise ValueError(f"X has {n_parts} parts but {name} has {len(parts)}")
        counts = zip(lengths(columns[name]) or (), lengths(X) or (), strict=False)
        for number, (n, expected) in enumerate(counts):
            if n != expected and not np.isnan(n + expected):
                raise ValueError(f"part {number}: X has {expected} samples but {name} has {n}")
    return list(zip(*(lists.get(name, [None] * n_parts) for name in ARGUMENTS), strict=True))


def parts_of(data, name):
    """Return the parts of one collection, as a list."""
    if isinstance(data, (list, tuple)):
        return list(data)
    if not hasattr(data, "to_delayed"):
        raise TypeError(
            f"{name} must be a Dask collection or a list of parts, got {type(data).__name__}; data "
            "in one piece are for the estimator itself"
        )
    if any(n > 1 for n in getattr(data, "numblocks", ())[1:]):
        raise ValueError(
            f"{name} must be cut along its first axis only, got chunks {data.chunks}; see its "
            "rechunk"
        )
    return np.asarray(data.to_delayed(), dtype=object).ravel().tolist()


def lengths(data):
    """Return the numbers of samples of the parts of a collection, nan or None if not known."""
    chunks = getattr(data, "chunks", None)
    return chunks[0] if chunks else None


def is_lazy(value):
    """Return whether a value has yet to be computed, or is elsewhere."""
    return hasattr(value, "__dask_graph__") or hasattr(value, "add_done_callback")
