"""The estimator of data in parts."""


import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sskit.core.stop import Stop
from sskit.dask._collections import lazily
from sskit.dask._local import LocalPlaces
from sskit.dask._parts import collect
from sskit.dask._plan import suited
from sskit.estimators.base.callbacks import PassReporter
from sskit.estimators.base.estimator import QUIET, replace_fitted
from sskit.estimators.base.meta import MetaEstimator, common_attributes
from sskit.estimators.base.outcome import fitted_attributes, warn_of_end
from sskit.estimators.base.warm_start import WarmStart
from sskit.solvers.common.driver import Driver
from sskit.solvers.common.progress import Progress
from sskit.solvers.common.tolerance import Tolerance
from sskit.solvers.distributed.run import DistributedRun


def has(name):
    """Return a decorator of a method that is there if the estimator has it."""
    return available_if(lambda self: hasattr(self.estimator, name))


class Distributed(MetaEstimator):
    """Fits an estimator to data in parts, which need not fit in memory together.

    Parts are checked, bound and visited where they lie; labels, number of features and the default
    lam are agreed on before. What comes out is an ordinary fitted estimator with its certificate:
    the duality gap is a sum over the parts.

    Without a cluster, parts that are Delayed objects, or of a Dask collection, are computed for
    each pass and dropped again, one after the other: data larger than memory can be fitted on one
    machine. What stays in memory are the weights and the dual variables.

    Parameters
    ----------
    estimator : estimator
        Of this package, with a solver that keeps a dual point, and no kernel.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone, with all its attributes.
    history_ : dict of ndarray
        Arrays of equal length, an entry for each pass and each exact pass: n_passes, exact, time
        (seconds since the start), visit_time and merge_time (seconds of this one), n_bytes (sent
        so far), dual (objective), n_lost (parts that were lost and loaded again).
    classes_, n_features_in_, feature_names_in_ : object
        As of the estimator, if it has them.

    Raises
    ------
    TypeError
        In fit, if the estimator is not one of this package, or X is no collection of parts.
    ValueError
        In fit, for wrong parameters or data; the part is named.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` of the estimator ends the fit, ``max_time`` of its solver, or Ctrl-C.

    Notes
    -----
    Where parts pass through memory one after the other, the blocks of a part are all visited
    before those of the next, and passes over stored planes are left out, which takes more passes
    than a fit to all data in memory. Parts should be many, and not sorted by what is in them.

    References
    ----------
    Lacoste-Julien, Jaggi, Schmidt, Pletscher (2013). Block-coordinate Frank-Wolfe optimization
    for structural SVMs. ICML.

    Ma, Smith, Jaggi, Jordan, Richtarik, Takac (2015). Adding vs. averaging in distributed
    primal-dual optimization. ICML. Algorithm 1 with sigma' = S (several sites).

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
    >>> model.predict(X)[0].compute()[0].shape
    (5,)
    """

    _parameter_constraints = {"estimator": [object]}

    def __init__(self, estimator):
        self.estimator = estimator

    def fit(self, X, y, sample_weight=None):
        """Fit the estimator.

        Parameters
        ----------
        X, y : dask bag, array, dataframe or series, or list of parts
            The data. Parts of a list are Delayed objects, futures, or data: each what the
            estimator takes. Arrays are cut along their first axis only.
        sample_weight : dask array or series, or list of parts, default=None
            Non-negative weights of the samples.

        Returns
        -------
        self : object
            The fitted meta-estimator.

        Raises
        ------
        ValueError
            If a parameter or a part is wrong; then the estimator stays as it was.
        """
        self._check_parameters()
        parts = collect(X, y, sample_weight)
        model = clone(self.estimator)
        solver = model._check_parameters()
        reason = model._refuse_parts()
        if reason is not None:
            raise ValueError(reason)
        starts = vars(self).get("_warm_start", {}) if model.warm_start else {}
        places = LocalPlaces(model, parts, starts, model.warm_start)
        try:
            fitted = self._fit_at(places, model, solver, X, y, sample_weight)
        finally:
            places.close()
        vars(self).pop("_warm_start", None)
        replace_fitted(self, fitted)
        return self

    def _fit_at(self, places, model, solver, X, y, sample_weight):
        """Fit to parts at their places; return the fitted attributes."""
        solver = suited(solver, places.passing, places.n_sites)
        with Stop(solver.max_time) as stop, np.errstate(**QUIET):
            facts = model._agree(places.survey())
            n_parts = len(places.parts)
            seeds = check_random_state(model.random_state).randint(2**31 - 1, size=n_parts + 1)
            plan, task = places.make_plan(model, facts, solver, seeds)
            reporter = PassReporter(
                model, model.max_iter, X, y, {"sample_weight": sample_weight}, task.to_attributes
            )
            progress = Progress(f"{type(self).__name__} {type(solver).__name__}", model.verbose)
            sites, unit, exact = places.begin(plan, stop)
            run = DistributedRun(sites, plan.regularizer())
            driver = Driver(
                run,
                unit,
                gap_every=plan.solver.gap_every,
                exact=exact,
                stop=stop,
                progress=progress,
            )
            if any(part.start is not None for part in places.parts):
                driver.certify()
            status = driver.reach(
                Tolerance(model.tol, unit), max_iter=model.max_iter, on_pass=reporter.on_pass
            )
            solution = driver.solution(status)
            outcome = fitted_attributes(solution, plan.solver, task, plan.lam)
            fitted = {"history_": run.rounds.as_dict()}
            if model.warm_start:
                marks = places.fingerprints()
                fitted["_warm_start"] = {
                    number: WarmStart(marks[number], task.classes, point)
                    for number, point in sites.save()
                }
            reporter.end(outcome)
        warn_of_end(type(model).__name__, solution, model.tol, stacklevel=4)
        model._set_fitted(outcome)
        return fitted | {"estimator_": model, **common_attributes(vars(model))}

    def to_local(self):
        """Return the fitted estimator, `estimator_`."""
        check_is_fitted(self)
        return self.estimator_

    @has("predict")
    def predict(self, X):
        """Predict with the fitted estimator, lazily for collections.

        Parameters
        ----------
        X : dask bag, array or dataframe, list with Delayed parts, or data in one piece
            Inputs.

        Returns
        -------
        y : object
            A bag for a bag, a Dask array for an array or dataframe, a list of Delayed for a list
            of these; else what the estimator returns.
        """
        check_is_fitted(self)
        return lazily(self.estimator_, "predict", X)

    @has("decision_function")
    def decision_function(self, X):
        """Return scores by the fitted estimator, lazily for collections.

        Parameters
        ----------
        X : dask bag, array or dataframe, list with Delayed parts, or data in one piece
            Inputs.

        Returns
        -------
        scores : object
            As `predict` returns labels.
        """
        check_is_fitted(self)
        return lazily(self.estimator_, "decision_function", X)
