"""Sets of labels with weights for pairs of labels."""

import numpy as np
from sklearn.utils._param_validation import StrOptions

from sskit._parameters import parameter, parameters
from sskit.estimators.base.estimator import SOLVERS
from sskit.estimators.base.fitted_state import check_numbers
from sskit.estimators.label_sets.base import LabelSetClassifier
from sskit.models.label_sets.label_graph import label_edges, label_shares
from sskit.models.label_sets.model import PairwiseModel

INFERENCES = "auto", "exhaustive", "tree", "graphcut", "lp"


@parameters
class MultilabelPairwise(LabelSetClassifier):
    r"""Multilabel classification in which pairs of labels attract or repel each other.

    A set of labels y, in :math:`\{0, 1\}^L`, has the score

    .. math:: F(x, y) = \sum_l y_l (\langle w_l, x \rangle + b_l)
              + \sum_{(k, l)} w_{kl} \, y_k y_l ,

    and the set with the highest score is predicted. The weights minimise

    .. math:: \tfrac{\lambda}{2} \|w\|^2
              + \sum_i c_i \max_y \bigl[ L(y_i, y) + F(x_i, y) - F(x_i, y_i) \bigr]

    with a weighted Hamming loss :math:`L`; c_i are proportional to the sample weights and sum to
    one. Without pairs these are independent binary SVMs.

    Parameters
    ----------
    lam : float, default=None
        Regularisation strength, positive. None means R^2 / (10 n) over the mean cost of a wrong
        label, with R^2 the mean squared norm of a row, scaled columns included, and n the sum of
        the sample weights: then the scales of the features and of the loss cancel.
    rescaling : {"margin", "slack"} or SlackRescaling, default="margin"
        Surrogate of the loss: margin rescaling, the objective above, or slack rescaling, whose
        hinge is max_y L(y_i, y) [1 + F(x_i, y) - F(x_i, y_i)]; see :class:`SlackRescaling`,
        an object of which has the options of the search. With inference="lp" the search is
        "bisecting", which may miss the maximum, but bounds it: the gap is a certificate.
    solver : str or solver object, default="auto"
        Block-coordinate Frank-Wolfe ("bcfw"; "auto" but for few rows, and where inference is "lp"
        without bounds, prior, warm start or slack rescaling: then it is "gdmm"), that with stored
        planes ("multi_plane"), batch Frank-Wolfe ("frank_wolfe"), stochastic subgradient
        ("subgradient"), cutting planes ("cutting_plane"), dual-decomposed training by labels and
        pairs ("gdmm"), its baseline with soft constraints ("soft_bcfw"), or an object of
        `sskit.solvers`, which has further options. "gdmm" solves the relaxed problem, see
        `inference`, and has a certificate with inference="lp" and with edges without a cycle.
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
    edges : {"full", "tree"}, None or array-like of shape (n_edges, 2), default="full"
        The pairs of labels that have a weight: all; those of the spanning tree with the largest
        mutual information of the labels in fit (Chow and Liu); none; or these.
    inference : {"auto", "exhaustive", "tree", "graphcut", "lp"}, default="auto"
        How the best set is found. "exhaustive" tries all sets of at most 20 labels. "tree" is
        max-sum, for edges without a cycle. "graphcut" is a minimum cut: the weights of pairs are
        bounded from below by 0, so that labels can only attract each other. These are exact.
        "lp" is the linear relaxation over the local polytope, exact as such, for any edges and
        any number of labels; its solutions may hold a label by half. Then the fit is one of the
        relaxed problem, an upper bound of the objective, and so is its certificate; see Notes.
        "auto" is "tree" if the edges have no cycle, else "exhaustive" for up to 14 labels, else
        "lp".
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
        (``coef_`` by columns, ``intercept_``, ``pairwise_``); in a dict by the blocks "coef",
        "intercept" and "pairwise" a bound has the shape of the block. Bounds that
        inference="graphcut" needs hold too.
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
        unless inference is "graphcut" or "lp"; what comes out depends on the number, not on how
        fast they are. Exact passes and batches of oracle calls give the same with any.
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
    edges_ : ndarray of shape (n_edges, 2), int32
        The pairs of labels that have a weight.
    pairwise_ : ndarray of shape (n_edges,)
        Their weights: above 0 if the labels attract each other.
    inference_ : str
        The inference that was used; "independent" if there are no edges.
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

    Notes
    -----
    With inference="lp" the maximum in the objective is over the relaxation: labels and pairs in
    [0, 1], a pair at most each of its labels and at least their sum less one. A training pair
    that the relaxation can only solve in fractions counts as violated by just that much, which
    drives the weights to where the relaxation is tight. Prediction takes labels of which the
    relaxation holds half or more, then adds and drops single labels as long as the score rises:
    the set it returns may not be the best. With every inference a label that gains nothing is
    left out.

    References
    ----------
    Finley, Joachims (2008). Training structural SVMs when exact inference is intractable. ICML.

    Chow, Liu (1968). Approximating discrete probability distributions with dependence trees.
    IEEE Transactions on Information Theory 14.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sskit import MultilabelPairwise
    >>> X, Y = make_multilabel_classification(n_samples=200, n_classes=4, random_state=0)
    >>> model = MultilabelPairwise(random_state=0).fit(X, Y)
    >>> model.predict(X[:2]).shape, model.pairwise_.shape
    ((2, 4), (6,))
    >>> model.inference_, model.certified_
    ('exhaustive', True)
    """

    edges: object = parameter("full", StrOptions({"full", "tree"}), "array-like", None)
    inference: str = parameter("auto", StrOptions(set(INFERENCES)))

    def _shares(self, sets, weight):
        """Return the shares of pairs of labels, if the edges are made of them."""
        tree = isinstance(self.edges, str) and self.edges == "tree"
        return label_shares(sets, weight) if tree else None

    def _make_model(self, facts):
        """Return the model for training data."""
        n_features, n_labels = facts.n_features, facts.n_labels
        ends = label_edges(self.edges, n_labels, facts.shares)
        return PairwiseModel(n_features, n_labels, ends, self.fit_intercept, self.inference)

    def _solver_for(self, problem, solver):
        """Return the solver for a problem: of relaxed ones "auto" is dual-decomposed training.

        The oracle of the relaxation looks at all pairs of a row, of which few matter: "gdmm" takes
        half to a sixth of the time for the same objective, the less the more labels there are.
        What it cannot do is left to block-coordinate steps.
        """
        chosen = super()._solver_for(problem, solver)
        plain = self.bounds is None and self.prior is None and self._rescaling() is None
        if (
            chosen is solver
            and plain
            and self._asks_for_no_solver()
            and problem.structure.digest()["the planes"] == "relaxed"
        ):
            return SOLVERS["gdmm"]()
        return chosen

    def _structure(self, model):
        """Return fitted attributes that say how labels depend on each other."""
        none = {} if len(model.ends) else {"pairwise_": np.empty(0)}
        return {"edges_": model.ends, "inference_": model.inference} | none

    def _kind(self):
        """Return the kind of model, the attribute with its edges, and what else it needs."""
        return PairwiseModel, "edges_", self.inference_

    def _pairs(self):
        """Return the scores of pairs of labels, once they are found to be sound."""
        check_numbers(self, {"pairwise_": (np.size(self.edges_) // 2,)})
        return self.pairwise_
