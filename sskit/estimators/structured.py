"""StructuredSVM: structures of the user's own."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import Any, Literal, overload

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods

from sskit._labels import object_array, plain_labels
from sskit._numbers import check_bool, check_k
from sskit._parameters import AT_LEAST_ONE, POSITIVE, parameter, parameters
from sskit._types import ArrayLike, Samples, Self, available_if, with_callbacks
from sskit._warnings import warn
from sskit.estimators.base.estimator import replace_fitted
from sskit.estimators.base.fitted_state import check_fitted, check_numbers
from sskit.estimators.base.objective import default_lam
from sskit.estimators.base.outcome import FittedRounds
from sskit.estimators.base.task import BlockAttributes, TrainingTask
from sskit.estimators.combinations import check_combinations
from sskit.estimators.online import OnlineEstimator
from sskit.estimators.reading.summary import Summary, TrainingData, same
from sskit.inputs.ragged_array import split
from sskit.inputs.rows import check_pairs, check_samples
from sskit.inputs.weights import check_sample_weight
from sskit.models.structured.binding import binding_of
from sskit.models.structured.compiled import CompiledModel
from sskit.models.structured.pystruct import adapted, is_latent, needs_data
from sskit.solvers.convex_concave import DrawnCompletion


@dataclass(frozen=True, kw_only=True)
class StructureSummary(Summary):
    """The summary of samples of a structure."""

    n_weights: int | None = same("joint features have length {}, but in part {} length {}")
    # of labels, by which predictions are plain arrays: they are all numbers, or all strings
    kinds: frozenset


class FittedStructure(FittedRounds):
    """Types of the attributes that a fitted `StructuredSVM` has."""

    model_: Any


@parameters
class StructuredSVM(FittedStructure, OnlineEstimator):
    r"""Learning with a structure of your own, with the structured hinge loss.

    A model object defines the labellings, their features :math:`\phi(x, y)`, their loss, and which
    is best under given weights. Training minimises, with c_i proportional to the sample weights,

    .. math:: \tfrac{\lambda}{2} \|w\|^2
        + \sum_i c_i \max_y \{L(y_i, y) + \langle w, \phi(x_i, y) - \phi(x_i, y_i) \rangle\}

    and proves how close it came. Labellings may have hidden parts: the score of the observed part
    is then that of the best full labelling, and the convex-concave procedure alternates between
    completing the truth and training.

    Parameters
    ----------
    model : object
        The structure: an object as :class:`sskit.StructuredModel` describes it, one of
        :class:`sskit.models.CompiledModel`, or one written for pystruct. X and y are sequences of
        its inputs and labellings.
    lam : float, default=None
        Regularisation strength, positive; None means 1 / n, with n the sum of the sample weights.
    rescaling : {"margin", "slack"} or SlackRescaling, default="margin"
        Margin rescaling, the objective above, or slack rescaling, which multiplies violations by
        the loss: see :class:`SlackRescaling`, whose objects have options.
    solver : str or solver object, default="auto"
        One of "auto", "bcfw", "multi_plane", "frank_wolfe", "subgradient" and "cutting_plane":
        block-coordinate Frank-Wolfe ("auto" too), with passes over stored planes, batch
        Frank-Wolfe, subgradient, cutting planes, or an object of `sskit.solvers` with options.
    steps : {"auto", "fw", "pairwise", "away"}, default="auto"
        Kind of step of the solver "bcfw"; see `sskit.solvers.BCFW`.
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the training pairs for the solver "bcfw"; the first three also for "subgradient".
    cache : {"auto", True, False}, default="auto"
        Whether "bcfw" takes steps between stored planes that promise enough, instead of calling
        the oracle.
    n_init : int, default=1
        Number of starts from which labellings with hidden parts are completed; the model object
        gives the first. The start that ends with the lowest objective is kept. All starts together
        have `max_iter` passes.
    bounds : tuple (lower, upper), default=None
        Box on the weights; a bound is a number, None, or an array of shape (n_weights,). Bounds of
        the model object apply too.
    prior : array-like of shape (n_weights,), dict or fitted estimator, default=None
        Weights w0 towards which the fit is regularised, by lam / 2 ||w - w0||^2: a flat vector, a
        dict with them as ``coef_``, a fitted estimator of this kind, or a pipeline that ends with
        one. None is zero.
    tol : float, default=0.02
        Relative tolerance: the fit stops when the duality gap is at most tol * (P(w) + P(0) /
        1000), so that the objective P(w) exceeds the optimum by at most that. P(0), the mean of
        the largest losses, only matters if almost no loss is left.
    max_iter : int, default=1000
        Largest number of passes over the data.
    warm_start : bool, default=False
        Whether a fit continues from the end of the last one with warm_start=True: to a smaller
        `tol`, at another `lam`, with other bounds or sample weights, or with further samples after
        the same ones. It keeps the last fit's dual variables; a fit that cannot use them raises an
        error. Not for solvers without dual variables: "subgradient", "cutting_plane", "gdmm",
        "soft_bcfw".
    n_jobs : int, default=None
        Number of threads, or of processes (the attribute ``parallel`` of the model object), for
        exact passes, batches and prediction, whose results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the training pairs.
    verbose : int, default=0
        From 1 on a line says what the fit chose where parameters leave it the choice, and why. 1
        shows a bar with the gap and the time left, if rich is installed and there is a terminal
        or a notebook; else, and from 2 on, a line for every exact pass, with the gap, and one a
        second in between: printed, or logged by "sskit" at level INFO if that is shown.

    Attributes
    ----------
    coef_ : ndarray of shape (n_weights,)
        Weights of the joint features.
    model_ : object
        The model object of the fit.
    lam_ : float
        The regularisation strength that was used.
    dual_gap_ : float
        Duality gap P(w) - D, absolute: P(w) is at most this far above the optimum.
    primal_objective_, dual_objective_ : float
        P(w) and D.
    certified_ : bool
        Whether the gap is a certificate, from an exact pass with an oracle that is exact or bounds
        what it misses.
    n_iter_ : int
        Passes over the data, including an interrupted one.
    n_oracle_calls_ : int
        Calls of the oracle, including those of the exact passes.
    history_ : dict of ndarray
        Arrays of equal length, an entry for each exact pass: n_passes, n_oracle_calls, time
        (seconds), primal, dual, gap (absolute); and start and round if there are several.
    solver_ : solver object
        The solver that was used, with the value of every "auto".
    n_rounds_ : int
        Only with hidden parts: number of rounds, in which the truth is completed and the model is
        trained, of the best start.
    round_objectives_ : ndarray of shape (`n_rounds_`,)
        In the same cases, P(w) at the end of each round, with the best completion under w as the
        truth. It never rises. ``primal_objective_`` is that of the last convex problem.
    stationary_ : bool
        Only then: whether the last round converged and its w completes the truth as it was in it.
        If not, it lowered P(w) by less than the tolerance, or passes, rounds or time ran out.
    n_samples_seen_ : int or float
        Number of samples of the fit, or of all steps of `partial_fit` so far; the sum of their
        weights if they have some.

    Raises
    ------
    ValueError
        In fit and predict, for wrong parameters or data, or answers of the model object, with the
        name of the item.

    See Also
    --------
    StructuredModel : The smallest model object, to derive from.
    sskit.testing.check_structure : Tests of a model object.

    References
    ----------
    Tsochantaridis, Joachims, Hofmann, Altun (2005). Large margin methods for structured and
    interdependent output variables. JMLR 6.

    Yu, Joachims (2009). Learning structural SVMs with latent variables. ICML (algorithm 1).

    Examples
    --------
    >>> import numpy as np
    >>> from sskit import StructuredModel, StructuredSVM
    >>> class Sign(StructuredModel):
    ...     n_weights = 2
    ...
    ...     def joint_feature(self, x, y):
    ...         return y * np.asarray(x)
    ...
    ...     def loss(self, y_true, y):
    ...         return float(y != y_true)
    ...
    ...     def argmax(self, x, w, y_true=None):
    ...         loss = {y: y_true is not None and y != y_true for y in (-1, 1)}
    ...         return max((-1, 1), key=lambda y: loss[y] + w @ self.joint_feature(x, y))
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [2.0, 1.0]], [1, -1, 1]
    >>> model = StructuredSVM(Sign(), lam=0.1, random_state=0).fit(X, y)
    >>> model.predict(X)
    array([ 1, -1,  1])
    """

    _weighs_by_label = False
    _rule_of_lam = "1 / n"
    _type_of_estimator = "structured_classifier"
    model: object = parameter(
        HasMethods(["joint_feature"]), HasMethods(["feature_map", "structure"]), kw_only=False
    )
    lam: float | None = parameter(POSITIVE, None, default=None)
    n_init: int = parameter(AT_LEAST_ONE, default=1)

    @with_callbacks
    def fit(self, X: Samples, y: Samples, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : sequence of length n_samples
            Inputs, as the model object takes them; an array or matrix is one of rows.
        y : sequence of length n_samples
            Labellings.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the samples.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are wrong, or the model object gives a wrong answer; the
            estimator is then unchanged.
        TypeError
            If the model is a class, or X or y is not a sequence.
        """
        fitted = self._fit(X, y, sample_weight)
        if fitted["primal_objective_"] == 0.0 and not fitted["coef_"].any():
            warn(
                f"argmax of {type(self.model).__name__} found no labelling with a loss at w = 0, "
                "so all weights are zero; does it add the loss when y_true is given?",
            )
        return replace_fitted(self, fitted)

    def _read_data(self, X, y, sample_weight, part=False):
        """Return training data, or a part of them, as lists; the model checks their items."""
        if isinstance(self.model, type):
            name = self.model.__name__
            raise TypeError(f"model must be an object, got the class {name}; write {name}(...)")
        inputs, targets = check_pairs(X, y)
        weight = check_sample_weight(sample_weight, len(inputs), part=part)
        kinds, n_weights = frozenset(plain_labels(targets).dtype.kind), None
        if part:  # else binding finds it, without asking the model once more
            model = adapted(self.model, inputs, targets)
            n_weights = binding_of(model).n_weights(inputs, targets)
        summary = StructureSummary.of(len(inputs), weight, n_weights=n_weights, kinds=kinds)
        return TrainingData(data=inputs, target=targets, weight=weight, summary=summary)

    @property
    def _asks(self):
        """Return what the model object requires, as `refusal` takes it."""
        model = self.model
        asked = {"latent model": is_latent(model), "unready model": needs_data(model)}
        return {name: f"model={type(model).__name__}" for name, true in asked.items() if true}

    def _bind(self, checked, summary):
        """Bind the model object to samples, given the summary of all; return a `TrainingTask`."""
        inputs, targets = checked.data, checked.target
        model = adapted(self.model, inputs, targets)
        block_weight = summary.block_weights(len(inputs), checked.weight)
        rng, completion = check_random_state(self.random_state), None
        problem, layout, complete, starts = binding_of(model).bind(
            inputs, targets, block_weight, rng, self.n_jobs
        )
        if starts is not None:
            further = {} if summary.n_weights is None else {"parts": "data in parts"}
            check_combinations(self, hidden="y, which has hidden variables,", **further)
            completion = DrawnCompletion(complete, tuple(islice(starts, self.n_init)))
        plain = "O" not in summary.kinds and ("U" not in summary.kinds or len(summary.kinds) == 1)
        to_attributes = BlockAttributes(layout, {"model_": model, "_plain": plain})
        return TrainingTask(problem, default_lam(summary), to_attributes, completion=completion)

    def _fitted_binding(self, X):
        """Return the binding of the fitted model object, and the checked inputs as a list."""
        check_fitted(self)
        check_numbers(self, {"coef_": (np.size(self.coef_),)})
        return binding_of(self.model_), check_samples(X, "X")

    def _decoder(self, X):
        """Return the decoder of checked inputs, and where their nodes begin."""
        binding, inputs = self._fitted_binding(X)
        return binding.decoder(inputs, self.coef_, self.n_jobs)

    def _labellings(self, X):
        """Return the best labellings with their hidden parts, and the binding."""
        binding, inputs = self._fitted_binding(X)
        return binding.predict(inputs, self.coef_, self.n_jobs), binding

    def predict(self, X: Samples) -> np.ndarray:
        """Return the labelling of each input with the highest score.

        Parameters
        ----------
        X : sequence of length n_samples
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            What the method ``argmax`` of the model object returns, or its observed part by the
            method ``observed``; of dtype object unless the labels in fit were all numbers or all
            strings.
        """
        labels, binding = self._labellings(X)
        latent = is_latent(self.model_)
        seen = binding.observed(labels) if latent else labels
        plain = self._plain and not (latent and seen is labels)
        return plain_labels(seen) if plain else object_array(seen)

    def predict_full(self, X: Samples) -> np.ndarray:
        """Return the best labelling of each input, with its hidden parts.

        Parameters
        ----------
        X : sequence of length n_samples
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,), object
            What the method ``argmax`` of the model object returns.
        """
        return object_array(self._labellings(X)[0])

    @overload
    def predict_topk(
        self, X: Samples, k: int, *, return_scores: Literal[False] = False
    ) -> np.ndarray: ...

    @overload
    def predict_topk(
        self, X: Samples, k: int, *, return_scores: Literal[True]
    ) -> tuple[np.ndarray, np.ndarray]: ...

    @available_if(lambda self: isinstance(self.model, CompiledModel))
    def predict_topk(
        self, X: Samples, k: int, *, return_scores: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Return the k best labellings of each input; for compiled structures alone.

        Parameters
        ----------
        X : sequence of length n_samples
            Inputs.
        k : int
            Number of labellings; fewer are returned if fewer exist.
        return_scores : bool, default=False
            Whether to return their scores too.

        Returns
        -------
        y : ndarray of shape (n_samples,), object
            Lists of labellings, best first.
        scores : ndarray of shape (n_samples,), object
            Each item is an ndarray: their scores less that of the best; only if `return_scores`.
        """
        check_k(k)
        check_bool(return_scores, "return_scores")
        decoder, _ = self._decoder(X)
        best, scores = decoder.top_k(int(k))
        labelling = self.model_.labelling
        labellings = object_array([[*map(labelling, states)] for states in best])
        return (labellings, scores) if return_scores else labellings

    @available_if(lambda self: isinstance(self.model, CompiledModel))
    def decision_function(self, X: Samples) -> np.ndarray:
        """Return the max-marginals; for compiled structures alone.

        Parameters
        ----------
        X : sequence of length n_samples
            Inputs.

        Returns
        -------
        scores : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (n_nodes, K): the highest score of a labelling with
            this state at this node, -inf if there is none. They are less the score of the best
            labelling, unless the structure has `max_marginals`.
        """
        decoder, offsets = self._decoder(X)
        return split(decoder.max_marginals(), offsets)

    def score(self, X: Samples, y: Samples, sample_weight: ArrayLike | None = None) -> float:
        """Return 1 - the mean loss of the predictions.

        Parameters
        ----------
        X : sequence of length n_samples
            Inputs.
        y : sequence of length n_samples
            True labellings.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the samples.

        Returns
        -------
        score : float
            At most 1; negative if the mean loss exceeds 1.
        """
        labels, binding = self._labellings(X)
        predicted, truth = check_pairs(labels, y)
        weight = check_sample_weight(sample_weight, len(truth))
        return 1.0 - float(np.average(binding.losses(truth, predicted), weights=weight))
