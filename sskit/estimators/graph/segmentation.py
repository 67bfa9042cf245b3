"""Segmentation: a label for every node of a graph, or for every pixel of an image."""

from sklearn.utils._param_validation import StrOptions

from sskit._parameters import parameter, parameters
from sskit._ready import ready_graph
from sskit.estimators.base.callbacks import with_callbacks
from sskit.estimators.base.fitted_state import check_fitted, raise_damaged
from sskit.estimators.graph.base import GraphEstimator, check_graph_model
from sskit.models.graph.data import allows_cuts
from sskit.models.graph.model import AttractiveModel
from sskit.models.graph.structure import cut_single


@parameters
class SegmentationModel(GraphEstimator):
    r"""Labels for all nodes of a graph, learnt with the structured hinge loss.

    The score of a labelling is

    .. math:: F(x, y) = \sum_v \langle c_{y_v}, x_v \rangle
              + \sum_{e = (u, v)} \langle b, x_e \rangle [y_u = y_v] ,

    or, with ``pairwise_form="full"``, the second sum is that of :math:`\langle B_{y_u y_v}, x_e
    \rangle` with symmetric tables: nodes say which label suits them, edges how much their ends
    should agree. Training minimises

    .. math:: P(w) = \tfrac{\lambda}{2} \|w\|^2
              + \sum_i c_i \max_y \bigl[ L_i(y) + F(x_i, y) - F(x_i, y_i) \bigr]

    over all weights together, within bounds that keep minimum cuts possible: :math:`b \ge 0`, or
    :math:`B_{aa} \ge 0 \ge B_{ab}`. With two labels the best labelling is found exactly, by a
    minimum cut, and the fit proves how close it came; with more labels it is found approximately,
    for tables with a bound of what was missed, so that the fit proves it too.

    Parameters
    ----------
    lam : float, default=None
        Regularisation strength, positive. None means 4 R^2 / n, where R^2 is the mean squared
        norm of the features of a node and n the number of graphs (the sum of the sample
        weights), so that neither the scale of the features nor the amount of data asks for
        another value; times the mean number of nodes of a graph if the loss is a share.
    rescaling : {"margin", "slack"} or SlackRescaling, default="margin"
        Surrogate of the loss: margin rescaling, the objective above, or slack rescaling, whose
        hinge is max_y L_i(y) [1 + F(x_i, y) - F(x_i, y_i)]; see :class:`SlackRescaling`,
        an object of which has the options of the search.
    solver : str or solver object, default="auto"
        One of "auto", "bcfw", "multi_plane", "frank_wolfe", "subgradient" and "cutting_plane":
        block-coordinate Frank-Wolfe ("auto", but for few pairs), that with stored planes,
        batch Frank-Wolfe, stochastic subgradient, cutting planes, or an object of
        `sskit.solvers`, which has further options.
    steps : {"auto", "fw", "pairwise", "away"}, default="auto"
        Kind of step of the solver "bcfw"; see `sskit.solvers.BCFW`.
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the training pairs for the solver "bcfw".
    cache : {"auto", True, False}, default="auto"
        Whether "bcfw" steps between stored planes where they promise enough, instead of asking
        the oracle.
    loss : str, array-like of shape (n_classes, n_classes) or dict, default="hamming_sum"
        Task loss of a graph: "hamming", the share of wrong nodes, "hamming_sum", their number, or
        "balanced", their share, in which each class counts the same over all graphs; or the sum of
        their costs. An array has these by true label (row) and predicted one (column), in the
        order of ``classes_``, a dict of dicts by label, ``{true: {predicted: cost}}``, where those
        that are not named are 1. Costs are non-negative, and zero where both labels are the same.
    node_weights : {"areas"} or None, default=None
        How much a node counts in the loss: all the same, or by the area of its superpixel. For
        "hamming_sum" the areas are scaled to have the mean one.
    ignore_label : object, default=None
        A label in y that says that a node or pixel has none: it does not count in the loss and
        in `score`, and its node is left out of the graph in training. Where pixels are numbers it
        is one too, such as NaN. None means that there is no such label.
    pairwise_form : {"potts", "full"}, default="potts"
        Whether an edge scores by agreement of its two labels alone, or by a symmetric table of
        all pairs of labels.
    inference : {"auto", "graphcut", "expansion", "elimination", "trws"}, default="auto"
        How the best labelling is found: by one minimum cut, exactly, for two labels; by
        expansion moves, each a cut, for more labels that score by agreement; by message passing
        with a bound ("trws"), for tables of more; or by elimination of one node after the other,
        exactly, for graphs of small treewidth, with weights of any sign. "auto" is the first of
        the first three that serves.
    bounds : tuple (lower, upper) or dict of such tuples, default=None
        Box on the weights, within the bounds that the oracle needs. A bound is a number, None,
        or an array over the flat weight vector (``coef_`` by columns, ``pairwise_``); in a dict
        by the blocks "coef" and "pairwise" a bound has the shape of the block (for tables:
        (n_edge_features, K (K + 1) / 2), their upper triangles by rows). Equal bounds fix a
        weight: ``{"pairwise": (1, 1)}`` gives a pairwise term that is not learnt.
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
        `tol`, at another `lam`, with other bounds or sample weights, or with further graphs
        after the same ones. It keeps the dual variables of the last fit, and a fit that could
        not use them raises an error that says what changed. Not for solvers
        that keep none: "subgradient", "cutting_plane".
    n_jobs : int, default=None
        Number of threads. Exact passes and prediction give the same with any, and so does training
        with expansion moves, which take Python's lock. Other graphs are visited that many at the
        same time (three with cuts, at most): what comes out then depends on the number, not on
        how fast the threads are.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the training pairs.
    verbose : int, default=0
        Above 0, a line for every exact pass, with the gap, and one a second in between: printed,
        or logged at level INFO by the logger "sskit" where logging is configured to show that.

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
        Whether `predict` returns labels of pixels: it does if y had those, else labels of nodes.
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
        Passes over the data, one that was cut short included.
    n_oracle_calls_ : int
        Calls of the oracle, those of the exact passes included.
    history_ : dict of ndarray
        Arrays of equal length, an entry for each exact pass: n_passes, n_oracle_calls, time
        (seconds), primal, dual, gap (absolute).
    solver_ : solver object
        The solver that was used, with every "auto" replaced.
    n_features_in_ : int
        Number of features of a node seen in fit.
    n_edge_features_in_ : int
        Number of features of an edge seen in fit.

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

    pairwise_form: str = parameter("potts", StrOptions({"potts", "full"}))
    inference: str = parameter("auto", StrOptions(set(AttractiveModel.inferences)))

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
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
            the label that most of its pixels have, and `predict` returns labels of pixels.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the graphs.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are wrong; then the estimator stays as it was.
        """
        return self._set_fitted(self._fit(X, y, sample_weight))

    def _model(self, facts):
        """Return the model for training data."""
        sizes = facts.n_features, facts.n_edge_features, len(facts.labels.values)
        return AttractiveModel(*sizes, self.pairwise_form, self.inference)

    def _bind(self, checked, facts):
        """Bind the model to checked data, given the facts of all; return a `TrainingTask`."""
        labels, cost, *others = self._targets(checked, facts)
        cost, table = self._with_pair_costs(cost, labels, facts.labels.values)
        model = self._model(facts)
        problem = model.bind(checked.data, labels, cost, *others, table=table)
        return self._task(problem, model, facts, inference_=model.inference)

    def _fitted_model(self):
        """Return the model of the fitted weights."""
        sizes = check_graph_model(self)
        if self.inference_ != "elimination" and not allows_cuts(self.pairwise_):
            raise_damaged(self, "pairwise_ prefers different labels, so that there is no cut")
        return AttractiveModel(*sizes, self.pairwise_form_, self.inference_)

    def _labels_of_single(self, X):
        """Return the labels of a list of one graph whose arrays can be cut as they are, or None.

        It is what is served most. Everything else, all faults with it, is left to the decoder.
        """
        known = vars(self)
        graph = ready_graph(X, known.get("n_features_in_"), known.get("n_edge_features_in_"))
        if graph is None or known.get("predicts_pixels_") is not False:
            return None
        check_fitted(self)
        model = self._fitted_model()
        if (model.inference, model.form.potts, model.n_states) != ("graphcut", True, 2):
            return None
        labels = cut_single(*graph, self.coef_, self.pairwise_)
        return None if labels is None else self.classes_.take(labels)
