"""Binary classification for measures of whole sets of rows."""

import copy
import numbers

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets

from sskit.estimators.base.estimator import StructuredEstimator
from sskit.estimators.base.fitted_state import check_fitted, check_labels, raise_damaged
from sskit.estimators.rankings.base import RowSetEstimator
from sskit.estimators.rankings.groups import check_group_weight, check_groups
from sskit.estimators.rankings.scores import measured, n_places, of_sets
from sskit.estimators.rankings.thresholds import ThresholdAttributes
from sskit.inputs.label_sets import check_two_classes
from sskit.inputs.rows import check_classes, check_rows
from sskit.inputs.weights import check_sample_weight
from sskit.models.rankings.model import RankingModel
from sskit.oracles.rankings.losses import LOSSES, check_loss


class MultivariateClassifier(ClassifierMixin, RowSetEstimator):
    r"""Binary classification trained for a measure of a whole set of rows.

    F1, precision at k, the area under the ROC curve and average precision are no sums over rows.
    Here the labelling, or the ranking, of all rows of a set is the structure: with c_i
    proportional to the weights of the sets, training minimises

    .. math:: \tfrac{\lambda}{2} \|w\|^2 + \sum_i c_i \max_y [L_i(y)
        - \langle w, \phi(x_i, y_i) - \phi(x_i, y) \rangle]

    where :math:`L_i` is one less the measure, and proves how close it came. Without groups there is
    one set, all rows, and cutting planes train as SVM-perf does. What phi is for which loss stands
    in the user guide; scores of the size of one make the margin.

    Parameters
    ----------
    loss : {"f1", "f_beta", "precision_at_k", "roc_area", "average_precision"}, default="f1"
        The measure that is to be high, of the second class. F1 and F_beta are of labels, the
        others of rankings. Precision at k and recall at k differ by a factor, and so have the
        same model.
    lam : float, default=None
        Regularisation strength, positive. None means R^2 / (10 m), with R^2 the mean squared
        norm of a row and m the number of rows of the rarer class of each set, summed.
    beta : float, default=1.0
        For "f_beta": weight of recall against precision.
    balance : float, default=0.5
        For F1 and F_beta, from 0 to 1: the N rows of the first class count (P / N)^balance times
        as much in the joint features as the P of the second. With 0, as published, the optimum is
        w = 0 where the second class is hard to find, so that no row is; where it is easy, as among
        many features, 0 is often better.
    k : int or float, default=None
        For "precision_at_k": number of places at the top of each set, or, below 1, their share of
        its rows. None is the number of positive rows: the precision/recall break-even point.
    rescaling : {"margin", "slack"} or SlackRescaling, default="margin"
        Surrogate of the loss: margin rescaling, the objective above, or slack rescaling; see
        :class:`SlackRescaling`. For sets of rows it has searches only that may miss the maximum.
    solver : str or solver object, default="auto"
        One of "auto", "bcfw", "multi_plane", "frank_wolfe", "subgradient" and "cutting_plane", or
        an object of `sskit.solvers`. "auto" is cutting planes for up to five sets, such as the
        one set without groups, and block-coordinate Frank-Wolfe for more.
    steps : {"auto", "fw", "pairwise", "away"}, default="auto"
        Kind of step of the solver "bcfw"; see `sskit.solvers.BCFW`.
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the sets for the solver "bcfw".
    cache : {"auto", True, False}, default="auto"
        Whether "bcfw" steps between stored planes that promise enough, in place of the oracle.
    fit_intercept : bool, default=True
        For F1 and F_beta: whether to add a constant feature 1, regularised as the others are. To
        rankings it would make no difference.
    bounds : tuple (lower, upper) or dict of such tuples, default=None
        Box on the weights. A bound is a number, None, or an array over the flat weight vector
        (``coef_``, then ``intercept_`` where it is a weight); in a dict by the blocks "coef" and
        "intercept" a bound has the shape of the block.
    prior : array-like of shape (n_weights,), dict or fitted estimator, default=None
        Weights w0 in whose direction the fit is regularised, by lam / 2 ||w - w0||^2; None is zero.
        A flat vector as for `bounds`, a dict of arrays by the names of fitted attributes, or a
        fitted estimator of this kind, or a pipeline that ends with one. See the user guide on
        going on.
    tol : float, default=0.02
        Relative tolerance: the fit stops when the duality gap is at most
        tol * (P(w) + P(0) / 1000), so that the objective P(w) exceeds the optimum by at most that.
    max_iter : int, default=1000
        Largest number of passes over the data.
    warm_start : bool, default=False
        Whether a fit goes on from where the last one with warm_start=True ended: to a smaller
        `tol`, at another `lam`, with other bounds, or with further groups after the same ones.
        Its solver "auto" is "bcfw". Not for solvers that keep no dual point: "subgradient",
        "cutting_plane".
    n_jobs : int, default=None
        Number of threads, which visit sets at the same time.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the sets.
    verbose : int, default=0
        Above 0, a line for every exact pass, with the gap, and one a second in between: printed,
        or logged at level INFO by the logger "sskit" where logging is configured to show that.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features)
        Weights of the features.
    intercept_ : ndarray of shape (1,)
        For F1 and F_beta the weight of the constant feature, 0 without one. For the others it is
        set after training: so many training rows are above 0 as there are positive ones, or
        places at the top for "precision_at_k".
    classes_ : ndarray of shape (2,)
        The classes, sorted; the second one is looked for.
    lam_ : float
        The regularisation strength that was used.
    dual_gap_ : float
        Duality gap P(w) - D, absolute: P(w) is at most this far above the optimum.
    primal_objective_, dual_objective_ : float
        P(w) and D.
    certified_ : bool
        Whether the gap is a certificate.
    n_iter_ : int
        Passes over the data, one that was cut short included.
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

    See Also
    --------
    RankingSVM : Ranks rows of more than two grades.
    sskit.oracles.worst_ranking : The oracle.

    References
    ----------
    Joachims (2005). A support vector method for multivariate performance measures. ICML.

    Joachims (2006). Training linear SVMs in linear time. KDD.

    Yue, Finley, Radlinski, Joachims (2007). A support vector method for optimizing average
    precision. SIGIR.

    Kar, Narasimhan, Jain (2015). Surrogate functions for maximizing precision at the top. ICML.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from sskit import MultivariateClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = MultivariateClassifier(loss="average_precision").fit(scale(X), y)
    >>> bool(model.score(scale(X), y) > 0.99), model.certified_
    (True, True)
    """

    _parameter_constraints = {
        **StructuredEstimator._parameter_constraints,
        "loss": [StrOptions({*LOSSES})],
        "beta": [Interval(numbers.Real, 1e-3, 1e3, closed="both")],
        "balance": [Interval(numbers.Real, 0, 1, closed="both")],
        "k": [
            Interval(numbers.Integral, 1, None, closed="left"),
            Interval(numbers.Real, 0, 1, closed="neither"),
            None,
        ],
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        loss="f1",
        lam=None,
        *,
        beta=1.0,
        balance=0.5,
        k=None,
        rescaling="margin",
        solver="auto",
        steps="auto",
        sampling="auto",
        cache="auto",
        fit_intercept=True,
        bounds=None,
        prior=None,
        tol=0.02,
        max_iter=1000,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.loss = loss
        self.lam = lam
        self.beta = beta
        self.balance = balance
        self.k = k
        self.rescaling = rescaling
        self.solver = solver
        self.steps = steps
        self.sampling = sampling
        self.cache = cache
        self.fit_intercept = fit_intercept
        self.bounds = bounds
        self.prior = prior
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _check_parameters(self):
        """Raise an error for the first parameter that is wrong; return the solver."""
        solver = super()._check_parameters()
        check_loss(self.loss, self.beta, self.balance, self.k)
        return solver

    def _targets(self, probe, X, y):
        """Return checked rows, 0 or 1 for each, and the two classes."""
        check_classes(y)
        data, target = check_rows(probe, X, y)
        check_classification_targets(target)
        classes, grades = np.unique(target, return_inverse=True)
        check_two_classes(classes)
        return data, grades, classes

    def _counts(self, grades, offsets):
        """Return the number of rows of the rarer class of each set."""
        n_high = np.add.reduceat(grades, offsets[:-1])
        return np.minimum(n_high, np.diff(offsets) - n_high)

    def _make_model(self, n_features):
        """Return the model of the loss."""
        options = {"beta": self.beta, "balance": self.balance, "k": self.k}
        return RankingModel(n_features, self.loss, intercept=self.fit_intercept, **options)

    def _attributes(self, to_attributes, model, data, grades, offsets):
        """Return what makes fitted attributes of weights, with a threshold where none is learnt."""
        if model.measure.shifts:
            if not model.intercept:
                to_attributes.shared["intercept_"] = np.zeros(1)
            return to_attributes
        n_high = np.add.reduceat(grades, offsets[:-1])
        if self.loss == "precision_at_k":
            sizes = zip(np.diff(offsets).tolist(), n_high.tolist(), strict=True)
            above = sum(n_places(self.k, *size) for size in sizes)
        else:
            above = n_high.sum()
        return ThresholdAttributes(to_attributes, data, int(above))

    def _model_parameters(self):
        """Return the names of parameters that make a model what it is."""
        return ("fit_intercept",)

    def _check_classes(self):
        """Raise ValueError unless there are two classes."""
        if check_labels(self, least=2) != 2:
            raise_damaged(self, f"classes_ must have 2 classes, got {len(self.classes_)}")

    def decision_function(self, X):
        """Return the scores of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            Above 0 for rows of the second class.

        Raises
        ------
        ValueError
            If X is wrong, or the score of a row overflows; the row is named.
        """
        return self._scores(X)

    def predict(self, X):
        """Return the class of each row, by the sign of its score.

        With losses of rankings as large a share of rows like those of the training data is
        taken for the second class as there was, see ``intercept_``; the ranking itself is that
        of `decision_function`.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Classes.

        Raises
        ------
        ValueError
            As `decision_function`.
        """
        scores = self._scores(X)
        self._check_classes()
        return self.classes_[1 * (scores > 0)]

    def score(self, X, y, groups=None, sample_weight=None):
        """Return the measure that was trained for.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            True classes.
        groups : array-like of shape (n_samples,), default=None
            The set of each row, as in `fit`. The mean is over the sets for which the measure is
            defined: those with rows of the second class, and for rankings of both.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the sets, as in `fit`.

        Returns
        -------
        score : float
            Between 0 and 1; 0 if no set has one. For "precision_at_k" it is the share of the k
            highest rows that are positive.

        Raises
        ------
        ValueError
            If the data are wrong.
        """
        check_fitted(self)
        if y is None:
            raise ValueError("y must have the class of each row, got None")
        probe = copy.copy(self)
        check_classes(y)
        data, target = check_rows(probe, X, y, reset=False)
        self._check_classes()
        check_loss(self.loss, self.beta, self.balance, self.k)
        found = check_groups(groups, data.shape[0])
        weight = check_sample_weight(sample_weight, data.shape[0])
        weight = check_group_weight(weight, found, groups is not None)
        scores = found.sort(self._scores(data))
        relevance = found.sort(1 * (target == self.classes_[1]))

        def measure(rows):
            return measured(self.loss, self.beta, self.k, relevance[rows], scores[rows])

        return of_sets(measure, found.offsets, weight)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags
