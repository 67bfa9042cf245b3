"""GraphTagger and SegmentationModel: a label for every node, with attractive edges or any."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from sskit._parameters import parameter, parameters
from sskit._ready import ready_graph
from sskit._types import ArrayLike, Dictionary, MaybeNone, Samples, Self, with_callbacks
from sskit.estimators.base.estimator import replace_fitted
from sskit.estimators.base.fitted_state import raise_damaged
from sskit.estimators.completion.states import HiddenStatesMixin
from sskit.estimators.graph.base import GraphEstimator
from sskit.models.graph.data import allows_cuts
from sskit.models.graph.model import AttractiveModel, GraphModel
from sskit.models.graph.structure import cut_single


class FittedSegmentation:
    """Types of the attributes that a fitted `SegmentationModel` has."""

    inference_: str
    pairwise_form_: Literal["potts", "full"]


@parameters
class SegmentationModel(FittedSegmentation, GraphEstimator):
    r"""Labels for regions of images, and nodes of other graphs whose neighbours mostly agree.

    The score of a labelling is

    .. math:: F(x, y) = \sum_v \langle c_{y_v}, x_v \rangle
              + \sum_{e = (u, v)} \langle b, x_e \rangle [y_u = y_v] ,

    or, with ``pairwise_form="full"``, the second sum is that of :math:`\langle B_{y_u y_v}, x_e
    \rangle` with symmetric tables. Features of nodes determine which label suits a node, features
    of edges how much the ends should agree. Training minimises

    .. math:: P(w) = \tfrac{\lambda}{2} \|w\|^2
              + \sum_i c_i \max_y \bigl[ L_i(y) + F(x_i, y) - F(x_i, y_i) \bigr]

    over all weights together, within bounds that keep minimum cuts possible: :math:`b \ge 0`, or
    :math:`B_{aa} \ge 0 \ge B_{ab}`. With two labels the best labelling is found exactly, by a
    minimum cut, and the fit proves how close it came. With more labels it is found approximately;
    for tables there is a bound of what was missed, so the fit proves it too.

    Parameters
    ----------
    lam : float, default=None
        Regularisation strength, positive. None means 4 R^2 / n, where R^2 is the mean squared norm
        of the features of a node and n the number of graphs (the sum of the sample weights), so
        that a good value depends neither on the scale of the features nor on the amount of data;
        times the mean number of nodes of a graph if the loss is a fraction.
    rescaling : {"margin", "slack"} or SlackRescaling, default="margin"
        Surrogate of the loss: margin rescaling, the objective above, or slack rescaling, whose
        hinge is max_y L_i(y) [1 + F(x_i, y) - F(x_i, y_i)]; see :class:`SlackRescaling`, whose
        objects have the options of the search.
    solver : str or solver object, default="auto"
        One of "auto", "bcfw", "multi_plane", "frank_wolfe", "subgradient" and "cutting_plane":
        block-coordinate Frank-Wolfe ("auto", except for few pairs), the variant with stored
        planes, batch Frank-Wolfe, stochastic subgradient, cutting planes, or an object of
        `sskit.solvers`, which has further options.
    steps : {"auto", "fw", "pairwise", "away"}, default="auto"
        Kind of step of the solver "bcfw"; see `sskit.solvers.BCFW`.
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the training pairs for the solver "bcfw".
    cache : {"auto", True, False}, default="auto"
        Whether "bcfw" takes steps between stored planes if they promise enough, instead of calling
        the oracle.
    loss : str, array-like of shape (n_classes, n_classes) or dict, default="hamming_sum"
        Task loss of a graph: "hamming", the fraction of wrong nodes; "hamming_sum", their number;
        "balanced", their fraction, with equal weight for each class over all graphs; or the sum of
        their costs. An array has costs by true label (row) and predicted one (column), in the
        order of ``classes_``, a dict of dicts by label, ``{true: {predicted: cost}}``, in which
        missing costs are 1. Costs are non-negative, and zero between a label and itself.
    node_weights : {"areas"} or None, default=None
        Weight of a node in the loss: all the same, or the area of its superpixel. For
        "hamming_sum" the areas are scaled to have the mean one.
    ignore_label : object, default=None
        A label in y for nodes or pixels without one: it does not count in the loss and in `score`,
        and its node is left out of the graph in training. If pixels are numbers it is one too,
        such as NaN. None means that there is no such label.
    pairwise_form : {"potts", "full"}, default="potts"
        Whether the score of an edge is a weight for equal labels only, or a symmetric table of all
        pairs of labels.
    inference : {"auto", "graphcut", "expansion", "elimination", "trws"}, default="auto"
        How the best labelling is found: by one minimum cut, exactly, for two labels; by expansion
        moves, each a cut, for more labels with weights for equal labels; by message passing with a
        bound ("trws"), for tables of more labels; or by elimination of one node after the other,
        exactly, for graphs of small treewidth, with weights of any sign. "auto" is the first of
        the first three that applies.
    bounds : tuple (lower, upper) or dict of such tuples, default=None
        Box on the weights, within the bounds that the oracle needs. A bound is a number, None, or
        an array over the flat weight vector (``coef_`` by columns, ``pairwise_``); in a dict by
        the blocks "coef" and "pairwise" a bound has the shape of the block (for tables:
        (n_edge_features, K (K + 1) / 2), their upper triangles by rows). Equal bounds fix a
        weight: ``{"pairwise": (1, 1)}`` gives a pairwise term that is not learned.
    prior : array-like of shape (n_weights,), dict or fitted estimator, default=None
        Weights w0 towards which the fit is regularised, by lam / 2 ||w - w0||^2; None is zero. A
        flat vector as for `bounds`, a dict of arrays by the names of fitted attributes, or a
        fitted estimator of this kind, or a pipeline that ends with one. Labels and features are
        aligned by ``classes_`` and ``feature_names_in_`` if data and prior have them: new ones
        start at zero, others are left out. See "Continue training" of the guide.
    tol : float, default=0.02
        Relative tolerance: the fit stops when the duality gap is at most tol * (P(w) + P(0) /
        1000), so that the objective P(w) exceeds the optimum by at most that. P(0), the mean of
        the largest losses, only matters if almost no loss is left.
    max_iter : int, default=1000
        Largest number of passes over the data.
    warm_start : bool, default=False
        Whether a fit continues from the end of the last one with warm_start=True: to a smaller
        `tol`, at another `lam`, with other bounds or sample weights, or with further graphs after
        the same ones. It keeps the dual variables of the last fit, and a fit that cannot use them
        raises an error that says what changed. Not for solvers without dual variables:
        "subgradient", "cutting_plane".
    n_jobs : int, default=None
        Number of threads. Exact passes and prediction do not depend on it, nor does training with
        expansion moves, which hold Python's lock. Other graphs are visited so many at the same
        time (three with cuts, at most): the result then depends on the number, but not on the
        speed of the threads.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the training pairs.
    verbose : int, default=0
        From 1 on a line says what the fit chose where parameters leave it the choice, and why. 1
        shows a bar with the gap and the time left, if rich is installed and there is a terminal
        or a notebook; else, and from 2 on, a line for every exact pass, with the gap, and one a
        second in between: printed, or logged by "sskit" at level INFO if that is shown.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the features of a node.
    pairwise_ : ndarray of shape (n_edge_features,) or (n_edge_features, n_classes, n_classes)
        Weights of the features of an edge: of agreement, or symmetric tables.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    inference_ : {"graphcut", "expansion", "elimination", "trws"}
        How the best labelling is found.
    pairwise_form_ : {"potts", "full"}
        The form of `pairwise_`.
    predicts_pixels_ : bool
        Whether `predict` returns labels of pixels: it does if y had labels of pixels.
    lam_ : float
        The regularisation strength that was used.
    dual_gap_ : float
        Duality gap P(w) - D, absolute. P(w) is at most this far above the optimum if the gap is
        certified; else it is an estimate.
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
        (seconds), primal, dual, gap (absolute).
    solver_ : solver object
        The solver that was used, with the value of every "auto".
    n_features_in_ : int
        Number of features of a node seen in fit.
    n_edge_features_in_ : int
        Number of features of an edge seen in fit.
    n_samples_seen_ : int or float
        Number of samples of the fit, or of all steps of `partial_fit` so far; the sum of their
        weights if they have some.

    Raises
    ------
    ValueError
        In fit and predict, for wrong parameters or data, with the name of the item.

    See Also
    --------
    GraphTagger : Neighbours that may repel each other too, and tables of any sign.

    References
    ----------
    Szummer, Kohli, Hoiem (2008). Learning CRFs using graph cuts. ECCV.

    Boykov, Veksler, Zabih (2001). Fast approximate energy minimization via graph cuts. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 23(11).

    Shah, Kolmogorov, Lampert (2015). A multi-plane block-coordinate Frank-Wolfe algorithm for
    training structural SVMs with a costly max-oracle. CVPR.

    Examples
    --------
    Strips of noisy pixels in which neighbours often agree:

    >>> import numpy as np
    >>> from sskit import SegmentationModel
    >>> rng = np.random.default_rng(0)
    >>> edges = np.stack([np.arange(29), np.arange(1, 30)], axis=1)
    >>> y = [np.repeat(rng.permutation(2).repeat(2)[:3], 10) for _ in range(40)]
    >>> noise = [rng.normal(size=30) for _ in range(40)]
    >>> X = [(np.stack([t + e, np.ones(30)], axis=1), edges, None) for t, e in zip(y, noise)]
    >>> model = SegmentationModel(random_state=0).fit(X[:30], y[:30])
    >>> model.score(X[30:], y[30:]) > 0.8
    True
    >>> model.certified_, model.pairwise_.shape
    (True, (1,))
    """

    _kind = AttractiveModel
    pairwise_form: Literal["potts", "full"] = parameter(default="potts")
    inference: Literal["auto", "graphcut", "expansion", "elimination", "trws"] = parameter(
        default="auto"
    )

    @with_callbacks
    def fit(self, X: Samples, y: Samples, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : sequence of n_samples graphs
            Tuples (features, edges, edge_features), or objects with these attributes: features
            (V_i, n_features) of the nodes, the two nodes (E_i, 2) of each edge, and features
            (E_i, n_edge_features) >= 0 of the edges, or None for a constant one. Objects may
            have areas (V_i,) of the nodes, and segments (H_i, W_i), the node of each pixel.
            Dense features of dtype float32 or float64, memory-mapped ones too, are not copied.
        y : sequence of n_samples arrays (V_i,) or (H_i, W_i)
            Labels of the nodes, or of the pixels of graphs that have segments: a node then gets
            the label of most of its pixels, and `predict` returns labels of pixels.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the graphs.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are wrong; the estimator is then unchanged.
        """
        return replace_fitted(self, self._fit(X, y, sample_weight))

    def _fitted_model(self):
        """Return the model of the fitted weights."""
        model = super()._fitted_model()
        if model.inference != "elimination" and not allows_cuts(self.pairwise_):
            raise_damaged(self, "pairwise_ prefers different labels, so that there is no cut")
        return model

    def _labels_of_single(self, X):
        """Return the labels of a list of one graph whose arrays can be cut as they are, or None.

        This is the most frequent request. All others, faulty ones too, are left to the decoder.
        """
        fitted = vars(self)
        graph = ready_graph(X, fitted.get("n_features_in_"), fitted.get("n_edge_features_in_"))
        if graph is None or fitted.get("predicts_pixels_") is not False:
            return None
        model = self._fitted_model()
        if (model.inference, model.form.potts, model.n_states) != ("graphcut", True, 2):
            return None
        labels = cut_single(*graph, self.coef_, self.pairwise_)
        return None if labels is None else self.classes_.take(labels)


class FittedKinds:
    """Types of the attributes that a fitted `GraphTagger` has."""

    node_kinds_: np.ndarray | MaybeNone
    kind_classes_: np.ndarray | MaybeNone
    pairwise_form_: Literal["directed", "symmetric", "potts"]


@parameters
class GraphTagger(FittedKinds, HiddenStatesMixin, GraphEstimator):
    r"""Labels for the nodes of any graph, whose neighbours may follow any rule of pairs of labels.

    The score of a labelling is

    .. math:: F(x, y) = \sum_v \langle c_{y_v}, x_v \rangle
              + \sum_{e = (u, v)} \langle B_{y_u y_v}, x_e \rangle ,

    where :math:`B` has a weight for each pair of labels and each feature of an edge. The tables
    may be directed (an edge goes from its first node to its second), may reward different labels,
    and edge features may have any sign. Training minimises

    .. math:: P(w) = \tfrac{\lambda}{2} \|w\|^2
              + \sum_i c_i \max_y \bigl[ L_i(y) + F(x_i, y) - F(x_i, y_i) \bigr]

    over all weights together. The best labelling is exact for trees, for graphs of small treewidth
    and, mostly, for two labels. For others message passing finds a good labelling and an upper
    bound of the best score, and the certificate uses these bounds.

    Parameters
    ----------
    lam : float, default=None
        Regularisation strength, positive. None means 4 R^2 / n, where R^2 is the mean squared norm
        of the features of a node and n the number of graphs (the sum of the sample weights); times
        the mean number of nodes of a graph if the loss is a fraction.
    rescaling : {"margin", "slack"} or SlackRescaling, default="margin"
        Surrogate of the loss: margin rescaling, the objective above, or slack rescaling, whose
        hinge is max_y L_i(y) [1 + F(x_i, y) - F(x_i, y_i)]; see :class:`SlackRescaling`, whose
        objects have the options of the search.
    solver : str or solver object, default="auto"
        One of "auto", "bcfw", "multi_plane", "frank_wolfe", "subgradient" and "cutting_plane":
        block-coordinate Frank-Wolfe ("auto", except for few pairs), the variant with stored
        planes, batch Frank-Wolfe, stochastic subgradient, cutting planes, or an object of
        `sskit.solvers`, which has further options.
    steps : {"auto", "fw", "pairwise", "away"}, default="auto"
        Kind of step of the solver "bcfw"; see `sskit.solvers.BCFW`.
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the training pairs for the solver "bcfw".
    cache : {"auto", True, False}, default="auto"
        Whether "bcfw" takes steps between stored planes if they promise enough, instead of calling
        the oracle.
    loss : str, array-like of shape (K, K), dict or callable, default="hamming_sum"
        Task loss of a graph: "hamming", the fraction of wrong nodes; "hamming_sum", their number;
        "balanced", their fraction, with equal weight for each class over all graphs; or a table of
        costs, true labels by row and predicted ones by column, both sorted, or as a dict of dicts,
        ``{true: {predicted: cost}}``, in which missing costs are 1. It may also be a function
        ``loss(y, classes)`` of the true labels (V,) of a graph and all labels (K,) that returns an
        array (V, K), 0 at the true labels. Tables and functions are not negative.
    node_weights : {"areas"} or None, default=None
        Weight of a node in the loss: all the same, or the area of its superpixel. For all but
        "hamming" and "balanced" the areas are scaled to have the mean one.
    ignore_label : object, default=None
        A label in y for nodes or pixels without one: it does not count in the loss and in `score`,
        and its node is left out of the graph in training. If pixels are numbers it is one too,
        such as NaN. None means that there is no such label.
    pairwise_form : {"directed", "symmetric", "potts"}, default="directed"
        Whether the score of an edge is a table of all pairs of labels, with rows for its first
        node; a symmetric table; or a weight for equal labels only.
    allowed_pairs : array-like of shape (K, K) of bool, default=None
        Which labels the first (row) and the second node (column) of an edge may have, labels
        sorted. Only for directed tables. None allows all.
    n_states_per_label : int or dict, default=1
        Number of hidden states of each label; labels that a dict omits have one. Training
        completes the unknown state of each node by the best one, and prediction returns the label
        of the best state. States have weights instead of labels. See the page of the
        guide on labels that are partly unknown.
    n_init : int, default=1
        Number of clusterings of the nodes of each label from which hidden states start. The model
        with the lowest objective is kept.
    inference : {"auto", "tree", "elimination", "qpbo", "trws"}, default="auto"
        How the best labelling of a graph is found. "tree" is max-sum, exact, for graphs without
        cycles; "elimination" eliminates one node after the other, exact, for graphs of small
        treewidth; "qpbo" is roof duality for two labels, a minimum cut that is exact if neighbours
        attract each other and often otherwise; "trws" is sequential tree-reweighted message
        passing, for all graphs. "auto" takes for each graph the first of "tree", "elimination" (if
        that takes no longer), "qpbo" and "trws" that applies; `choose_inference` returns it.
    bounds : tuple (lower, upper) or dict of such tuples, default=None
        Box on the weights. A bound is a number, None, or an array over the flat weight vector
        (``coef_`` by columns, ``pairwise_``); in a dict by the blocks "coef" and "pairwise" a
        bound has the shape of the block: (n_edge_features, K * K) for directed tables by rows,
        (n_edge_features, K (K + 1) / 2) for the upper triangles of symmetric ones,
        (n_edge_features,) for "potts". Equal bounds fix a weight.
    prior : array-like of shape (n_weights,), dict or fitted estimator, default=None
        Weights w0 towards which the fit is regularised, by lam / 2 ||w - w0||^2; None is zero. A
        flat vector as for `bounds`, a dict of arrays by the names of fitted attributes, or a
        fitted estimator of this kind, or a pipeline that ends with one. Labels and features are
        aligned by ``classes_`` and ``feature_names_in_`` if data and prior have them: new ones
        start at zero, others are left out. See "Continue training" of the guide.
    tol : float, default=0.02
        Relative tolerance: the fit stops when the part of the duality gap that training can close
        is at most tol * (P(w) + P(0) / 1000). If labellings are found with a bound, the rest is
        what they may have missed, ``history_["inexactness"]``.
    max_iter : int, default=1000
        Largest number of passes over the data.
    warm_start : bool, default=False
        Whether a fit continues from the end of the last one with warm_start=True: to a smaller
        `tol`, at another `lam`, with other bounds or sample weights, or with further graphs after
        the same ones. Not for solvers without dual variables: "subgradient", "cutting_plane".
    n_jobs : int, default=None
        Number of threads. Prediction and exact passes do not depend on it. In training so many
        graphs are visited at the same time (three with cuts, at most), and the result depends on
        the number, but not on the speed of the threads.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the training pairs.
    verbose : int, default=0
        From 1 on a line says what the fit chose where parameters leave it the choice, and why. 1
        shows a bar with the gap and the time left, if rich is installed and there is a terminal
        or a notebook; else, and from 2 on, a line for every exact pass, with the gap, and one a
        second in between: printed, or logged by "sskit" at level INFO if that is shown.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the features of a node. With hidden states, rows here and in `pairwise_` are
        states; those of a label are next to each other.
    n_states_ : ndarray of shape (n_classes,)
        Only if some label has several hidden states: their number for each label.
    state_labels_ : ndarray of shape (n_states,)
        The label of each hidden state; ``classes_`` if there are none.
    pairwise_ : ndarray of shape (n_edge_features, n_classes, n_classes) or (n_edge_features,)
        Weights of the features of an edge: tables, or weights of agreement.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    node_kinds_ : ndarray of shape (n_kinds,) or None
        The kinds of nodes, sorted; None if nodes have none.
    kind_classes_ : ndarray of shape (n_kinds, n_classes), bool, or None
        Which labels nodes of a kind may have: those that occurred in training.
    pairwise_form_ : {"directed", "symmetric", "potts"}
        The form of `pairwise_`.
    predicts_pixels_ : bool
        Whether `predict` returns labels of pixels: it does if y had labels of pixels.
    lam_ : float
        The regularisation strength that was used.
    dual_gap_ : float
        Duality gap P(w) - D, absolute; P(w) is at most this far above the optimum.
    primal_objective_, dual_objective_ : float
        P(w), or an upper bound of it if labellings are found with a bound, and D.
    certified_ : bool
        Whether the gap is a certificate, from an exact pass.
    n_rounds_ : int
        Only with hidden states: number of rounds, in which they are completed and the model is
        trained.
    round_objectives_ : ndarray of shape (`n_rounds_`,)
        Only with hidden states: P(w) at the end of each round, with the best completion found
        under w as the truth. It never rises.
    stationary_ : bool
        Only with hidden states: whether the last round converged and its w completes the states as
        they were in it. If not, it lowered P(w) by less than the tolerance, or passes, rounds or
        time ran out.
    n_iter_ : int
        Passes over the data, including an interrupted one.
    n_oracle_calls_ : int
        Calls of the oracle, including those of the exact passes.
    history_ : dict of ndarray
        Arrays of equal length, an entry for each exact pass: n_passes, n_oracle_calls, time
        (seconds), primal, dual, gap (absolute), and inexactness, the part of the gap that
        labellings may have missed.
    solver_ : solver object
        The solver that was used, with the value of every "auto".
    n_features_in_ : int
        Number of features of a node seen in fit.
    n_edge_features_in_ : int
        Number of features of an edge seen in fit.
    n_samples_seen_ : int or float
        Number of samples of the fit, or of all steps of `partial_fit` so far; the sum of their
        weights if they have some.

    Raises
    ------
    ValueError
        In fit and predict, for wrong parameters or data, with the name of the item.

    See Also
    --------
    SegmentationModel : Neighbours that may only attract each other: faster, by minimum cuts.
    TreeTagger : Trees, whose edges go from parents to children.

    References
    ----------
    Finley, Joachims (2008). Training structural SVMs when exact inference is intractable. ICML.

    Kolmogorov (2006). Convergent tree-reweighted message passing for energy minimization. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 28(10).

    Kolmogorov, Rother (2007). Minimizing nonsubmodular functions with graph cuts: a review. IEEE
    Transactions on Pattern Analysis and Machine Intelligence 29(7).

    Examples
    --------
    Rings whose neighbours take turns; half of the nodes do not show their label:

    >>> import numpy as np
    >>> from sskit import GraphTagger
    >>> rng = np.random.default_rng(0)
    >>> edges = np.stack([np.arange(12), np.arange(1, 13) % 12], axis=1)
    >>> y = [np.roll(np.tile([0, 1, 2], 4), shift) for shift in rng.integers(3, size=60)]
    >>> seen = rng.random((60, 12)) < 0.5
    >>> X = [(np.eye(3)[t] * s[:, None], edges, None) for t, s in zip(y, seen)]
    >>> model = GraphTagger(random_state=0).fit(X[:40], y[:40])
    >>> model.score(X[40:], y[40:]) > 0.95, model.certified_
    (True, True)
    >>> model.choose_inference(X[:1]).tolist(), model.pairwise_.shape
    (['elimination'], (1, 3, 3))
    """

    _kind = GraphModel
    _with_kinds = True
    loss: (
        Literal["hamming", "hamming_sum", "balanced"] | ArrayLike | Dictionary | Callable[..., Any]
    ) = parameter("array-like", dict, callable, default="hamming_sum")
    pairwise_form: Literal["directed", "symmetric", "potts"] = parameter(default="directed")
    allowed_pairs: ArrayLike | None = parameter("array-like", None, default=None)
    inference: Literal["auto", "tree", "elimination", "qpbo", "trws"] = parameter(default="auto")

    @with_callbacks
    def fit(self, X: Samples, y: Samples, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : sequence of n_samples graphs
            Tuples (features, edges, edge_features) or (features, edges, edge_features,
            node_kinds), or objects with these attributes: features (V_i, n_features) of the
            nodes, the two nodes (E_i, 2) of each edge, and features (E_i, n_edge_features) of the
            edges, of any sign, or None for a constant one. Nodes may have kinds (V_i,): a node
            then only gets labels that nodes of its kind have in training. Objects may have areas
            (V_i,) of the nodes, and segments (H_i, W_i), the node of each pixel. Dense features
            of dtype float32 or float64, memory-mapped ones too, are not copied.
        y : sequence of n_samples arrays (V_i,) or (H_i, W_i)
            Labels of the nodes, or of the pixels of graphs that have segments: a node then gets
            the label of most of its pixels, and `predict` returns labels of pixels.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the graphs.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are wrong; the estimator is then unchanged.
        """
        return replace_fitted(self, self._fit(X, y, sample_weight))

    def optimality_gap(self, X: Samples, known: Samples | None = None) -> np.ndarray:
        """Return by how much the best labellings may score more than the predicted ones.

        Parameters
        ----------
        X : sequence of n_samples graphs
            As in `fit`.
        known : sequence of n_samples items, default=None
            As in `predict`.

        Returns
        -------
        gap : ndarray of shape (n_samples,)
            Upper bound of the best score minus the score of the prediction, in the unit of
            `decision_function`; 0 if the prediction is proved to be the best labelling.
        """
        return self._ask("excesses", X, known)[0]

    def choose_inference(self, X: Samples) -> np.ndarray:
        """Return the oracle for each graph; see `inference`.

        Parameters
        ----------
        X : sequence of n_samples graphs
            As in `fit`.

        Returns
        -------
        names : ndarray of shape (n_samples,), str
            "tree", "elimination", "qpbo" or "trws".
        """
        return np.array(self._fitted_model().choose(self._check_inputs(X)))

    def _find_states(self, X, known):
        """Return the states of all nodes, and where graphs begin."""
        states, graphs = self._ask("best", X, known)
        return states, graphs.node_offsets
