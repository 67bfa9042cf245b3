"""Sets of labels from a hierarchy."""

from sskit._parameters import POSITIVE, parameter, parameters
from sskit.estimators.label_sets.base import LabelSetClassifier
from sskit.models.label_sets.model import HierarchyModel


@parameters
class HierarchicalMultilabel(LabelSetClassifier):
    r"""Multilabel classification with a hierarchy of labels.

    Whoever has a label has its ancestors too. The score of a set of labels is the sum over the
    union of their ancestors, themselves included,

    .. math:: F(x, y) = \sum_{l \in A(y)} \langle w_l, x \rangle + b_l ,

    so that what labels have in common is learnt from the examples of all of them, and the set
    with the highest score is predicted. The weights minimise

    .. math:: \tfrac{\lambda}{2} \|w\|^2
              + \sum_i c_i \max_y \bigl[ L(y_i, y) + F(x_i, y) - F(x_i, y_i) \bigr]

    over sets that hold their ancestors, with a weighted Hamming loss :math:`L` over all labels;
    c_i are proportional to the sample weights and sum to one. Inference is exact.

    Parameters
    ----------
    hierarchy : array-like of shape (n_labels,) or (n_edges, 2), default=None
        The parent of each label, -1 for those that have none; or edges (child, parent), with
        which a label may have more than one parent. No label may be its own ancestor. None
        means that no label has a parent.
    lam : float, default=None
        Regularisation strength, positive. None means R^2 / (10 n) over the mean cost of a wrong
        label, with R^2 the mean squared norm of a row, scaled columns included, and n the sum of
        the sample weights: then the scales of the features and of the loss cancel.
    rescaling : {"margin", "slack"} or SlackRescaling, default="margin"
        Surrogate of the loss: margin rescaling, the objective above, or slack rescaling, whose
        hinge is max_y L(y_i, y) [1 + F(x_i, y) - F(x_i, y_i)]; see :class:`SlackRescaling`,
        an object of which has the options of the search.
    solver : str or solver object, default="auto"
        One of "auto", "bcfw", "multi_plane", "frank_wolfe", "subgradient" and "cutting_plane":
        block-coordinate Frank-Wolfe ("auto", but for few pairs), that with stored planes,
        batch Frank-Wolfe, stochastic subgradient, cutting planes, or an object of
        `sskit.solvers`, which has further options.
    steps : {"auto", "fw", "pairwise", "away"}, default="auto"
        Kind of step of the solver "bcfw"; see `sskit.solvers.BCFW`.
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the training pairs for the solver "bcfw"; the first three also for "subgradient".
    cache : {"auto", True, False}, default="auto"
        Whether "bcfw" steps between stored planes where they promise enough, instead of asking
        the oracle.
    loss : {"hamming_sum", "hamming"}, default="hamming_sum"
        Task loss of a row: the number of wrong labels, or their share (number / n_labels).
    label_weight : array-like of shape (n_labels,), default=None
        Non-negative factors of the loss by label. None means 1 for each.
    fit_intercept : bool, default=True
        Whether to add a constant feature 1. Its weights are regularised as the others are.
    standardize : {"auto", True, False}, default="auto"
        Whether columns are centred and scaled to variance one for the fit, so that neither their
        units nor their offsets matter: "auto" does so to dense rows, and leaves sparse ones as they
        are. ``coef_`` and ``intercept_`` stay in the units of X; what is regularised are those of
        the scaled columns. True scales sparse columns too, but centres none of them; nor are
        columns centred without an intercept, or if `bounds` has one for it. The fit works on a
        scaled copy, which for a memory-mapped array is a temporary file.
    bounds : tuple (lower, upper) or dict of such tuples, default=None
        Box on the weights. A bound is a number, None, or an array over the flat weight vector
        (``coef_`` by columns, then ``intercept_``); in a dict by the blocks "coef" and
        "intercept" a bound has the shape of the block.
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
        after the same ones. It keeps the dual variables of the last fit, and a fit that could
        not use them raises an error that says what changed. Not for solvers
        that keep none: "subgradient", "cutting_plane", "gdmm", "soft_bcfw".
    n_jobs : int, default=None
        Number of threads. Training visits as many rows at the same time and merges what was found,
        if the hierarchy is a forest; what comes out depends on the number, not on how fast they
        are. Exact passes and batches of oracle calls give the same with any.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the training pairs.
    verbose : int, default=0
        Above 0, a line for every exact pass, with the gap, and one a second in between: printed,
        or logged at level INFO by the logger "sskit" where logging is configured to show that.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        Weights of the labels.
    intercept_ : ndarray of shape (n_labels,)
        Weights of the constant feature, 0 without one.
    hierarchy_ : ndarray of shape (n_edges, 2), int32
        The hierarchy as edges (child, parent).
    classes_ : ndarray of shape (n_labels,)
        The labels: names of the columns if y was a data frame, else 0 to n_labels - 1; the two
        classes if `fit` was given such.
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

    References
    ----------
    Cai, Hofmann (2004). Hierarchical document categorization with support vector machines. CIKM.

    Examples
    --------
    Label 0 stands above the labels 1 and 2. Rows need only name the lowest ones.

    >>> import numpy as np
    >>> from sskit import HierarchicalMultilabel
    >>> X = [[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.2, 1.0], [-1.0, -1.0], [-1.0, -0.9]]
    >>> Y = [[0, 1, 0], [0, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 0, 0]]
    >>> model = HierarchicalMultilabel([-1, 0, 0], lam=0.01, random_state=0).fit(X, Y)
    >>> model.predict([[0.8, 0.1], [-0.9, -1.0]])
    array([[1, 1, 0],
           [0, 0, 0]])
    """

    hierarchy: object = parameter(None, "array-like", None, positional=True)
    lam: float | None = parameter(None, POSITIVE, None)

    def _make_model(self, facts):
        """Return the model for training data."""
        sizes = facts.n_features, facts.n_labels
        return HierarchyModel(*sizes, self.hierarchy, self.fit_intercept)

    def _structure(self, model):
        """Return fitted attributes that say how labels depend on each other."""
        return {"hierarchy_": model.hierarchy.edges}

    def _kind(self):
        """Return the kind of model, and the attribute with its edges."""
        return HierarchyModel, "hierarchy_"
