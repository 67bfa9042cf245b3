"""The estimator for data in parts (CoCoA+, Ma et al. 2015)."""

from __future__ import annotations

import copy
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sskit._parameters import AT_LEAST_ONE, POSITIVE, parameter, parameters
from sskit._types import History, Self, StrPath
from sskit.core.stop import Stop
from sskit.dask._checkpoint import Checkpoint
from sskit.dask._cluster import Cluster, find_client
from sskit.dask._collections import lazily, lazy_score
from sskit.dask._parts import collect
from sskit.dask._places import InProcess
from sskit.dask._rounds import solve_in_rounds
from sskit.estimators.base.estimator import QUIET, replace_fitted
from sskit.estimators.base.meta import DelegatingEstimator, common_attributes
from sskit.estimators.base.outcome import (
    PassReporter,
    WarmStart,
    fitted_attributes,
    report_choices,
    warn_of_end,
)
from sskit.estimators.combinations import check_combinations
from sskit.estimators.reading.summary import merge_summaries
from sskit.solvers.common.fit import Fit
from sskit.solvers.common.progress import Progress
from sskit.solvers.distributed.likelihood import LikelihoodRun
from sskit.solvers.distributed.run import DistributedRun, Record

if TYPE_CHECKING:
    from distributed import Client

    from sskit.estimators.base.estimator import StructuredEstimator


class FittedOnCluster:
    """Types of the attributes that a fitted `Distributed` has."""

    estimator_: Any
    history_: History
    n_workers_: int
    classes_: np.ndarray
    n_features_in_: int
    feature_names_in_: np.ndarray


@parameters
class Distributed(FittedOnCluster, DelegatingEstimator):
    """Fits an estimator to data in parts, which need not fit in memory together.

    Parts are checked, bound and visited on the workers that have them; labels, number of features
    and the default lam are computed from all parts before. The result is an ordinary fitted
    estimator with its certificate: the duality gap is a sum over the parts.

    Without a cluster, parts that are Delayed objects, or of a Dask collection, are computed for
    each pass and dropped again, one after the other: data larger than memory can be fitted on one
    machine. Only the weights and the dual variables stay in memory.

    On a cluster parts are computed once, where the scheduler puts them, put together on as few
    workers as have room for them, see `n_workers`, and stay there. Every worker with parts makes
    passes over them, and their updates are added. If a worker is lost, its parts are computed
    again, and begin at the last checkpoint, else at the truth; the certificate remains valid.

    Parameters
    ----------
    estimator : estimator
        An estimator of this package, with a solver that has a dual point, and without a kernel;
        with ``surrogate="log"`` "auto" is the solver that it is for data in one piece, but see
        `n_workers`, and :class:`~sskit.solvers.LBFGS` takes the same steps. With
        ``warm_start=True`` a fit continues from the end of the last one, part by part; its dual
        variables are then stored in this object. Unknown labels are summed over with
        ``surrogate="log"``; else they are completed on the workers, round after round, and then
        without ``warm_start``, checkpoints and ``class_weight="balanced"``.
    client : distributed.Client, False or None, default=None
        Client of the cluster. None is the default client if there is one, outside of tasks; else,
        as for False, there is no cluster. It is not pickled.
    checkpoint : str or path, default=None
        Folder in which the dual variables are saved every `checkpoint_every` passes and at the end,
        or the address of one on a file system that fsspec knows, as "s3://bucket/fit". A fit of the
        same model to the same data continues from it, also in another process; a checkpoint of
        other data, of another model or by another version raises an error. Files are pickles: do
        not load them unless you trust them. None saves nothing.
    checkpoint_every : int, default=10
        Passes between two checkpoints.
    timeout : float, default=300.0
        Seconds to wait on a cluster for a worker while there is none, and for the scheduler.
    n_workers : int, default=None
        Workers of a cluster that have parts, at most. None: as few as have room, for all parts
        together take at most a quarter of their memory: with most data several workers need more
        than their number times the passes of one, whose cores ``n_jobs`` of the estimator uses.
        For rows of hundreds of dense features more workers gain time too. If a solver calls many
        oracles at the same weights (``BCFW(batch_size=64)``), None also lets all others that have
        room for the data answer for them: that gains time if an oracle takes milliseconds, and
        weights are those of one worker if oracles are exact. With ``solver="lbfgs"``,
        whose gradients are sums, None is all workers, and so for a likelihood of dense rows, where
        "auto" is then that solver.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone, with all its attributes.
    history_ : dict of ndarray
        Arrays of equal length, an entry for each pass and each exact pass: n_passes, exact, time
        (seconds since the start), visit_time (seconds of this one in which workers ran) and
        merge_time (all others), n_bytes (sent so far, not among workers), dual (objective), n_lost
        (parts that were lost and loaded again).
    n_workers_ : int
        Workers that had parts at the end, those that answered for oracles counted; 1 without a
        cluster.
    classes_, n_features_in_, feature_names_in_ : object
        As of the estimator, if it has them.

    Raises
    ------
    TypeError
        In fit, if the estimator is not one of this package, or X is not a collection of parts.
    ValueError
        In fit, for wrong parameters or data; the error names the part. Also if a part was lost
        whose data cannot be computed again.
    TimeoutError
        In fit, if the cluster has had no worker for `timeout` seconds.
    RuntimeError
        In fit, if workers are lost repeatedly.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` of the estimator ends the fit, ``max_time`` of its solver, or Ctrl-C.
    UserWarning
        If a worker was lost.

    Notes
    -----
    Parts that are loaded for each pass are visited four at a time, while the next four are loaded:
    all blocks of these four before those of the next. That can take more passes than a fit to all
    data in memory, mainly if the contents of the parts differ: shuffle the data first. Weights are
    not averaged.

    References
    ----------
    Lacoste-Julien, Jaggi, Schmidt, Pletscher (2013). Block-coordinate Frank-Wolfe optimization
    for structural SVMs. ICML.

    Wang, Sadhanala, Dai, Neiswanger, Sra, Xing (2016). Parallel and distributed block-coordinate
    Frank-Wolfe algorithms. ICML. Batches of oracle calls (minibatches, tau).

    Ma, Smith, Jaggi, Jordan, Richtarik, Takac (2015). Adding vs. averaging in distributed
    primal-dual optimization. ICML. Algorithm 1 with sigma' = S.

    Examples
    --------
    >>> import dask
    >>> from sskit import SequenceTagger
    >>> from sskit.dask import Distributed
    >>> from sskit.datasets import make_digit_strings
    >>> @dask.delayed(nout=2)
    ... def load(k):
    ...     return make_digit_strings(20, random_state=k)
    >>> X, y = zip(*(load(k) for k in range(5)))
    >>> model = Distributed(SequenceTagger(random_state=0)).fit(X, y)
    >>> model.estimator_.certified_
    True
    >>> len(model.predict(X)[0].compute())
    20
    """

    _fits_parts = True
    estimator: StructuredEstimator = parameter(kw_only=False)
    client: Client | Literal[False] | None = parameter(default=None)
    checkpoint: StrPath | None = parameter(str, PathLike, None, default=None)
    checkpoint_every: int = parameter(AT_LEAST_ONE, default=10)
    timeout: float = parameter(POSITIVE, default=300.0)
    n_workers: int | None = parameter(AT_LEAST_ONE, None, default=None)

    if TYPE_CHECKING:  # of collections, whose types are dask's

        def predict(self, X: Any, known: Any = None) -> Any: ...

        def decision_function(self, X: Any, known: Any = None) -> Any: ...

        def predict_topk(
            self, X: Any, k: int, *, return_scores: bool = False, known: Any = None
        ) -> Any: ...

    def __getstate__(self):
        """Return the state for pickle, without the client, which belongs to its process."""
        state = super().__getstate__()
        return state if state["client"] is False else state | {"client": None}

    def __sklearn_clone__(self):
        """Return an estimator that is not fitted, with the same client."""
        bare = copy.copy(self)
        bare.client = None  # it cannot be copied
        cloned = super(Distributed, bare).__sklearn_clone__()
        cloned.client = self.client
        return cloned

    def fit(self, X: Any, y: Any, sample_weight: Any = None, token_weight: Any = None) -> Self:
        """Fit the estimator.

        Parameters
        ----------
        X, y : dask bag, array, dataframe or series, or list of parts
            The data. Parts of a list are Delayed objects, futures, or data: each is input of the
            estimator. Arrays are divided along their first axis only.
        sample_weight : dask array or series, or list of parts, default=None
            Non-negative weights of the samples.
        token_weight : dask bag or series, or list of parts, default=None
            Non-negative weights of the tokens or nodes of each sample, for an estimator whose fit
            takes them.

        Returns
        -------
        self : object
            The fitted meta-estimator.

        Raises
        ------
        ValueError
            If a parameter or a part is wrong; the estimator is then unchanged.
        """
        self._check_parameters()
        parts = collect(X, y, sample_weight, token_weight)
        model = clone(self.estimator)
        self._further(token_weight)
        options = model._options()
        check_combinations(model, parts="data in parts")
        starts, store = vars(self).get("_warm_start", {}) if model.warm_start else {}, None
        if self.checkpoint is not None:
            store = Checkpoint(self.checkpoint)
            starts = store.load() or starts
        arguments = model, parts, starts, model.warm_start or store is not None
        client = find_client(self.client)
        if client is None:
            places = InProcess(*arguments)
        else:
            most = self.n_workers or self._workers_of(model, options.solver, len(parts))
            with_helpers = self.n_workers is None and options.solver.asks_many
            places = Cluster(client, self.timeout, most, with_helpers, store, *arguments)
        try:
            fitted = self._fit_by(places, model, options, store, (X, y, sample_weight))
        finally:
            places.close()
        return replace_fitted(self, fitted)

    def _fit_by(self, places, model, options, store, data):
        """Fit to the parts, wherever they are; return the fitted attributes."""
        solver = options.solver
        if "averaging" in solver.get_params():
            solver.set_params(averaging=False)
        with Stop(solver.max_time) as stop, np.errstate(**QUIET):
            places.stop = stop
            summary = model._agree(merge_summaries(places.summarize()), options)
            summary = model._summarize_again(summary, places.count)
            seed = check_random_state(model.random_state).randint(2**31 - 1)
            given = summary, solver, seed, len(places.places)
            ((plan, task),) = places.surely("make_plan", *given, n_asked=1)
            reporter = PassReporter(model, *data, task.attributes)
            if model.verbose:
                report_choices(model, task, plan.solver, plan.lam)
            progress = Progress(
                f"{type(self).__name__} {type(plan.solver).__name__}", model.verbose
            )
            by_gradients = plan.solver.by_gradients
            # a likelihood is summed over unknown labels, which are not completed
            hidden = not options.likelihood and getattr(summary, "n_hidden", 0)
            if hidden:
                self._check_hidden(model, store)
            run, record = None, Record(places)

            def solve(plan, on_pass, stop, max_iter, tol):
                nonlocal run
                places.plan = plan
                arguments = places, plan.regularizer(), record
                if by_gradients:
                    run = LikelihoodRun(*arguments, plan.solver.memory)
                else:
                    run = DistributedRun(*arguments)
                unit, proof = run.begin()
                fit = Fit(run, unit, plan.solver.gap_every, proof, stop, progress)
                if places.starts:
                    if by_gradients:
                        next(iter(places.starts.values())).point.restore(run)
                    fit.certify()
                status = fit.reach(tol, max_iter=max_iter, on_pass=on_pass)
                return fit.solution(status)

            def ends():
                columns = task.options.columns and task.options.columns.alone()
                return {
                    number: WarmStart(fingerprint, point, columns)
                    for number, (fingerprint, point) in run.save().items()
                }

            def on_pass(n_iter, weights):
                if store is not None and n_iter % self.checkpoint_every == 0:
                    store.save(ends())
                return reporter.on_pass(n_iter, weights)

            limits = {"stop": stop, "max_iter": model.max_iter, "tol": model.tol}
            if hidden:
                solution, rounds = solve_in_rounds(places, plan, solve, on_pass, **limits)
            else:
                solution, rounds = solve(plan, on_pass, **limits), None
            outcome = fitted_attributes(solution, plan.solver, task, plan.lam, rounds)
            total_weight = None if data[2] is None else summary.weights.total
            outcome |= model._seen(summary.n_samples, total_weight)
            fitted = {"history_": record.history(), "n_workers_": places.count_workers()}
            if store is not None:
                store.save(ends())
            if model.warm_start:
                fitted["_warm_start"] = ends()
            reporter.end(outcome)
        warn_of_end(type(model).__name__, solution, model.tol)
        replace_fitted(model, outcome)
        return fitted | {"estimator_": model, **common_attributes(vars(model))}

    def _workers_of(self, model, solver, n_parts):
        """Return on how many workers parts are by default, as of `Cluster`.

        Gradients add up: all workers that have parts keep them.
        """
        if not solver.by_gradients:
            return None
        if not model._may_take_dual_steps():
            return n_parts
        return "dense" if model.bounds is None else None

    def _check_hidden(self, model, store):
        """Raise ValueError for options that do not work with unknown labels."""
        if model.warm_start or store is not None:
            raise ValueError(
                "y has labels that are not known, and in parts no completion of them is kept: set "
                "warm_start=False and checkpoint=None"
            )
        if isinstance(model.class_weight, str):
            raise ValueError(
                "y has labels that are not known, which class_weight='balanced' counts as fractions"
                " of all labels, and parts have only some; give a dict"
            )

    def _answer(self, name, X, *arguments, **options):
        """Return the result of a method of the fitted estimator, lazily for collections."""
        options = {name: value for name, value in options.items() if value is not None}
        return lazily(self._fitted_estimator(), name, X, *arguments, **options)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Return the score of the fitted estimator, lazily for collections.

        Parameters
        ----------
        X, y : dask bag, array or dataframe, list of parts
            As in `fit`.
        sample_weight : dask array or series, or list of parts, default=None
            Non-negative weights.

        Returns
        -------
        score : Delayed
            Its ``compute()`` is the score of all parts together.
        """
        check_is_fitted(self)
        return lazy_score(self.estimator_, X, y, sample_weight)
