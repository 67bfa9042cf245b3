"""Rankings of rows of several grades."""

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import StrOptions

from sskit.estimators.base.estimator import StructuredEstimator
from sskit.estimators.base.fitted_state import check_fitted
from sskit.estimators.rankings.base import RowSetEstimator
from sskit.estimators.rankings.groups import check_group_weight, check_groups
from sskit.estimators.rankings.scores import of_sets, ordered_share
from sskit.inputs.rows import check_classes, check_rows
from sskit.inputs.weights import check_sample_weight
from sskit.models.rankings.model import RankingModel


class RankingSVM(RegressorMixin, RowSetEstimator):
    r"""Ranks the rows of each group by grades, such as how relevant documents are to a query.

    The loss of a group is the share of its pairs of rows of different grades that are in the wrong
    order. With c_i proportional to the weights of the groups, and m_i the number of these pairs,
    training minimises

    .. math:: \tfrac{\lambda}{2} \|w\|^2 + \sum_i \tfrac{c_i}{m_i} \sum_{(a, b): y_a > y_b}
        \max(0, 1 - \langle w, x_a - x_b \rangle)

    in time O(n log n) a pass, whatever the number of pairs, and proves how close it came. There is
    no intercept, to which the order is indifferent.

    Parameters
    ----------
    lam : float, default=None
        Regularisation strength, positive. None means R^2 / (10 n), with R^2 the mean squared
        norm of a row and n the number of rows that are in some pair.
    loss : {"roc_area"}, default="roc_area"
        The share of the pairs that are in the wrong order: one less the area under the ROC curve,
        where there are two grades.
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
    bounds : tuple (lower, upper) or dict of such tuples, default=None
        Box on the weights. A bound is a number, None, or an array over the weights; in a dict the
        block is "coef".
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
    MultivariateClassifier : Two grades, for other measures too.

    References
    ----------
    Herbrich, Graepel, Obermayer (2000). Large margin rank boundaries for ordinal regression.
    Advances in Large Margin Classifiers, MIT Press.

    Joachims (2006). Training linear SVMs in linear time. KDD.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit import RankingSVM
    >>> rng = np.random.default_rng(0)
    >>> X, groups = rng.normal(size=(60, 3)), np.repeat(np.arange(6), 10)
    >>> y = np.round(X @ [2.0, 1.0, 0.0] + rng.normal(size=6)[groups])  # a level for each group
    >>> model = RankingSVM().fit(X, y, groups)
    >>> bool(model.score(X, y, groups) > 0.95), model.certified_
    (True, True)
    """

    _parameter_constraints = {
        **StructuredEstimator._parameter_constraints,
        "loss": [StrOptions({"roc_area"})],
    }

    def __init__(
        self,
        lam=None,
        *,
        loss="roc_area",
        rescaling="margin",
        solver="auto",
        steps="auto",
        sampling="auto",
        cache="auto",
        bounds=None,
        prior=None,
        tol=0.02,
        max_iter=1000,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.lam = lam
        self.loss = loss
        self.rescaling = rescaling
        self.solver = solver
        self.steps = steps
        self.sampling = sampling
        self.cache = cache
        self.bounds = bounds
        self.prior = prior
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _targets(self, probe, X, y):
        """Return checked rows, their grades, and no classes."""
        return *check_grades(probe, X, y), None

    def _counts(self, grades, offsets):
        """Return the number of rows of each set that has two grades at least."""
        lowest, highest = (f.reduceat(grades, offsets[:-1]) for f in (np.minimum, np.maximum))
        return np.diff(offsets) * (lowest < highest)

    def _make_model(self, n_features):
        """Return the model of the loss."""
        return RankingModel(n_features, self.loss)

    def predict(self, X):
        """Return the scores of rows: the higher, the further up.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.

        Returns
        -------
        scores : ndarray of shape (n_samples,)
            To be compared within a group.

        Raises
        ------
        ValueError
            If X is wrong, or the score of a row overflows; the row is named.
        """
        return self._scores(X, with_intercept=False)

    def score(self, X, y, groups=None, sample_weight=None):
        """Return the mean share, over the groups, of pairs in order.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            True grades.
        groups : array-like of shape (n_samples,), default=None
            The group of each row, as in `fit`; groups without rows of different grades are left
            out.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the groups, as in `fit`.

        Returns
        -------
        score : float
            Between 0 and 1, 0.5 for scores that are all equal; 0 if there are no pairs.

        Raises
        ------
        ValueError
            If the data are wrong.
        """
        check_fitted(self)
        if y is None:
            raise ValueError("y must have the grade of each row, got None")
        data, grades = check_grades(self, X, y, reset=False)
        found = check_groups(groups, data.shape[0])
        weight = check_sample_weight(sample_weight, data.shape[0])
        weight = check_group_weight(weight, found, groups is not None)
        scores, grades = found.sort(self.predict(data)), found.sort(grades)
        return of_sets(
            lambda rows: ordered_share(grades[rows], scores[rows]), found.offsets, weight
        )


def check_grades(estimator, X, y, **options):
    """Return checked rows and their grades.

    Parameters
    ----------
    estimator : RankingSVM
        Its ``n_features_in_`` and ``feature_names_in_`` are set, or compared.
    X : {array-like, sparse matrix} of shape (n, p)
        Features.
    y : array-like of shape (n,)
        Numbers.
    **options : object
        Of `check_rows`.

    Returns
    -------
    X : ndarray or CSR matrix of shape (n, p)
        Checked.
    y : ndarray of shape (n,)
        Finite numbers.

    Raises
    ------
    ValueError
        If X or y is wrong.
    """
    check_classes(y)
    data, grades = check_rows(estimator, X, y, y_numeric=True, **options)
    if grades.dtype.kind not in "biuf":
        raise ValueError(f"y must hold numbers, got dtype {grades.dtype}")
    wrong = np.flatnonzero(~np.isfinite(grades))
    if len(wrong):
        raise ValueError(f"y[{wrong[0]}] is {grades[wrong[0]]}, expected a finite number")
    return data, grades
