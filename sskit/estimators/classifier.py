"""Multiclass classification."""

import copy

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import compute_class_weight
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from sskit.estimators._base import (
    StructuredEstimator,
    block_weights,
    check_sample_weight,
    default_lam,
)
from sskit.estimators._callbacks import with_callbacks
from sskit.models.multiclass import MulticlassModel


class StructSVMClassifier(ClassifierMixin, StructuredEstimator):
    r"""Linear classification with the multiclass hinge loss of Crammer and Singer.

    Minimises :math:`P(w) = \tfrac{\lambda}{2} \|w\|^2 + \sum_i c_i \max_k \{[k \ne y_i] +
    \langle w_k - w_{y_i}, x_i \rangle\}` and proves how close it came. The weights c_i are
    proportional to the sample weights and sum to one.

    Parameters
    ----------
    model : {"multiclass"}, default="multiclass"
        The structure that is learnt.
    lam : float, default=None
        Regularisation strength, positive. It is 1 / (C n) in terms of the C of
        :class:`sklearn.svm.LinearSVC`. None means 1 / n, or 1 / sum of the sample weights.
    rescaling : {"margin"}, default="margin"
        Surrogate of the loss: margin rescaling.
    solver : {"auto", "bcfw", "fw", "ssg"} or solver object, default="auto"
        Block-coordinate Frank-Wolfe (which "auto" chooses), batch Frank-Wolfe, stochastic
        subgradient, or an object of `sskit.solvers`, which has further options.
    steps : {"auto", "fw", "pairwise", "away"}, default="auto"
        Kind of step of the solver "bcfw"; see `sskit.solvers.BCFW`.
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the training pairs for the solver "bcfw"; the first three also for "ssg".
    cache : {"auto", True, False}, default="auto"
        Whether "bcfw" steps between stored planes where they promise enough, instead of asking
        the oracle.
    loss : {"zero_one"}, default="zero_one"
        Task loss of a row: 1 if its class is wrong.
    fit_intercept : bool, default=True
        Whether to add a constant feature 1. Its weights are regularised as the others are.
    class_weight : dict or "balanced", default=None
        Factors of the sample weights by class; "balanced" makes all classes weigh the same.
    kernel : {"linear"}, default="linear"
        Kernel.
    gamma : {"scale", "auto"} or float, default="scale"
        Kernel coefficient, as in :class:`sklearn.svm.SVC`; the linear kernel has none.
    degree : int, default=3
        Degree of the polynomial kernel; the linear kernel has none.
    coef0 : float, default=0.0
        Constant of the polynomial and sigmoid kernels; the linear kernel has none.
    bounds : tuple (lower, upper) or dict of such tuples, default=None
        Box on the weights. A bound is a number, None, or an array over the flat weight vector
        (``coef_`` by columns, then ``intercept_``); in a dict by the blocks "coef" and
        "intercept" a bound has the shape of the block.
    tol : float, default=1e-2
        Relative tolerance: the fit stops when the duality gap is at most tol * P(0), where
        P(0), the objective at w = 0, is the mean of the largest losses.
    max_iter : int, default=1000
        Largest number of passes over the data.
    warm_start : bool, default=False
        Only False is available.
    n_jobs : int, default=None
        Number of threads for exact passes. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the training pairs.
    verbose : int, default=0
        Above 0, exact passes are logged at level INFO by the logger "sskit".

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
        Weights; with two classes those of the second less those of the first.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Weights of the constant feature, 0 without one.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    lam_ : float
        The regularisation strength that was used.
    dual_gap_ : float
        Duality gap P(w) - D, absolute: P(w) is at most this far above the optimum.
    primal_objective_, dual_objective_ : float
        P(w) and D.
    certified_ : bool
        Whether the gap is a certificate, from an exact pass with an exact oracle.
    n_iter_ : int
        Passes over the data.
    n_oracle_calls_ : int
        Calls of the oracle, those of the exact passes included.
    history_ : dict of ndarray
        Arrays of equal length, an entry for each exact pass: n_passes, n_oracle_calls, time
        (seconds), primal, dual, gap (absolute).
    solver_ : solver object
        The solver that was used, with every "auto" replaced.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X has string column names in fit.

    Raises
    ------
    ValueError
        In fit and predict, for wrong parameters or data, with the name of the item.
    NotImplementedError
        In fit, for values that have a place in the interface but are not available yet.

    References
    ----------
    Crammer, Singer (2001). On the algorithmic implementation of multiclass kernel-based vector
    machines. JMLR 2.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sskit import StructSVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = StructSVMClassifier(lam=0.01, random_state=0).fit(X, y)
    >>> model.predict(X[::50])
    array([0, 1, 2])
    >>> model.certified_, bool(model.dual_gap_ < 0.01)
    (True, True)
    """

    _parameter_constraints = {
        **StructuredEstimator._parameter_constraints,
        "model": [StrOptions({"multiclass"}), HasMethods(["joint_feature"])],
        "loss": [StrOptions({"zero_one"})],
        "fit_intercept": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    def __init__(
        self,
        model="multiclass",
        *,
        lam=None,
        rescaling="margin",
        solver="auto",
        steps="auto",
        sampling="auto",
        cache="auto",
        loss="zero_one",
        fit_intercept=True,
        class_weight=None,
        kernel="linear",
        gamma="scale",
        degree=3,
        coef0=0.0,
        bounds=None,
        tol=1e-2,
        max_iter=1000,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.model = model
        self.lam = lam
        self.rescaling = rescaling
        self.solver = solver
        self.steps = steps
        self.sampling = sampling
        self.cache = cache
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.bounds = bounds
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Classes, of any sortable type.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are wrong; then the estimator stays as it was.
        """
        solver = self._check_parameters()
        if not isinstance(self.model, str):
            raise NotImplementedError("model objects are not available in this version")
        probe = copy.copy(self)
        data, target = validate_data(probe, X, y, accept_sparse="csr", dtype=np.float64, order="C")
        check_classification_targets(target)
        weight = check_sample_weight(sample_weight, data.shape[0])
        classes, labels = np.unique(target, return_inverse=True)
        if len(classes) < 2:
            raise ValueError(f"y must have at least 2 classes, got 1 class: {classes[0]}")
        if self.class_weight is not None:
            factors = compute_class_weight(self.class_weight, classes=classes, y=target)
            weight = factors[labels] * (1.0 if weight is None else weight)
            weight = check_sample_weight(weight, data.shape[0])
        model = MulticlassModel(data.shape[1], len(classes), self.fit_intercept)
        problem = model.bind(data, labels, block_weights(data.shape[0], weight))
        shared = {"classes_": classes, "n_features_in_": data.shape[1]}
        if hasattr(probe, "feature_names_in_"):
            shared["feature_names_in_"] = probe.feature_names_in_

        def name_weights(w):
            blocks = model.layout.split(w)
            coef = blocks["coef"]
            intercept = blocks.get("intercept", np.zeros(len(classes)))
            if len(classes) == 2:
                coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
            return {"coef_": np.ascontiguousarray(coef), "intercept_": intercept.copy()} | shared

        fitted = self._solve(
            solver,
            problem,
            model.layout,
            default_lam(data.shape[0], weight) if self.lam is None else float(self.lam),
            name_weights,
            X=X,
            y=y,
            metadata={"sample_weight": sample_weight},
        )
        self._set_fitted(fitted)
        return self

    def decision_function(self, X):
        """Return the scores of the classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
            <w_k, x> for each class; with two classes the score of the second less that of the
            first.
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        scores = safe_sparse_dot(X, self.coef_.T, dense_output=True) + self.intercept_
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X):
        """Return the class with the highest score for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.
        """
        scores = self.decision_function(X)
        best = (scores > 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[best]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
