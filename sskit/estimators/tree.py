"""Tagging of the nodes of trees."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sskit._parameters import parameters
from sskit._types import ArrayLike, MaybeNone, Samples, Self, with_callbacks
from sskit.estimators.base.estimator import replace_fitted
from sskit.estimators.base.fitted_state import check_count, check_labels, check_weights
from sskit.estimators.completion.hidden import HiddenNodes
from sskit.estimators.explanation.explain import Terms
from sskit.estimators.online import check_kinds_as_before
from sskit.estimators.reading.summary import RowSummary, same
from sskit.estimators.tagging import Tagger
from sskit.inputs.labels.counted import Labels
from sskit.inputs.trees import check_trees
from sskit.models.tree import TreeModel, feature_scale


@dataclass(frozen=True, kw_only=True)
class TreeSummary(RowSummary):
    """The summary of trees."""

    has_kinds: str = same("edges of X have {}, but those of part {} have {}")
    kinds: Labels | None


class FittedTrees:
    """Types of the attributes that a fitted `TreeTagger` has."""

    edge_kinds_: np.ndarray | MaybeNone
    root_: np.ndarray
    leaf_: np.ndarray


@parameters
class TreeTagger(FittedTrees, Tagger):
    r"""Labels for all nodes of a tree, learned with the structured hinge loss.

    The score of a labelling is

    .. math:: F(x, y) = \sum_v \langle c_{y_v}, x_v \rangle + \sum_{(u, v)} A_{y_u y_v}
              + \sum_{\text{roots}} r_{y_v} + \sum_{\text{leaves}} f_{y_v} ,

    where (u, v) are a parent and its child; the best labelling is found exactly (max-sum). All
    edges have the same table A or, if edges have kinds, each kind has one. A tree may have several
    roots, and a tree without branches is a sequence: the model is then that of `SequenceTagger`.
    Training minimises

    .. math:: P(w) = \tfrac{\lambda}{2} \|w\|^2
              + \sum_i c_i \max_y \bigl[ L_i(y) + F(x_i, y) - F(x_i, y_i) \bigr]

    over all weights together and proves how close it came. The weights c_i are proportional to
    the sample weights and sum to one.

    Parameters
    ----------
    lam : float, default=None
        Regularisation strength, positive. None means R^2 / (4 n), where R^2 is the mean squared
        norm of the features of a node and n the number of trees (the sum of the sample
        weights), as for `SequenceTagger`.
    rescaling : {"margin", "slack"} or SlackRescaling, default="margin"
        Surrogate of the loss: margin rescaling, the objective above, or slack rescaling; see
        :class:`SlackRescaling`. For trees there is only a search that may miss the maximum.
    surrogate : {"hinge", "log"}, default="hinge"
        What stands for the loss: the hinge, or the negative logarithm of the probability of the
        true labelling, :math:`\log \sum_y \exp F(x_i, y) - F(x_i, y_i)`, which makes the model a
        conditional random field: its probabilities need no calibration, see "likelihood" of
        :class:`CalibratedTagger`. There are no losses of labels then: `loss`, `class_weight`,
        `steps`, `sampling` and `cache` stay at their defaults; and None for `lam` means
        R^2 / (20 n). The log-sum over all labellings that agree with what is known takes the
        place of :math:`F(x_i, y_i)`: with unknown labels that is not convex, and no gap is a
        certificate. Hidden states are summed over, too. Not with a kernel.
    solver : str or solver object, default="auto"
        One of "auto", "bcfw", "multi_plane", "frank_wolfe", "subgradient" and "cutting_plane":
        block-coordinate Frank-Wolfe ("auto", except for few pairs), its multi-plane variant, batch
        Frank-Wolfe, stochastic subgradient, cutting planes, or an object of `sskit.solvers`, which
        has further options. With ``surrogate="log"`` as of :class:`SequenceTagger`: "lbfgs" or
        "exponentiated_gradient".
    steps : {"auto", "fw", "pairwise", "away"}, default="auto"
        Kind of step of the solver "bcfw"; see `sskit.solvers.BCFW`.
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the training pairs for the solver "bcfw"; the first three also for "subgradient".
    cache : {"auto", True, False}, default="auto"
        Whether "bcfw" takes steps between stored planes if they promise enough, instead of calling
        the oracle.
    loss : str, array-like of shape (n_classes, n_classes) or dict, default="hamming_sum"
        Task loss of a tree: "hamming", the fraction of wrong nodes, or "hamming_sum", their
        number, or the sum of their costs. An array has costs by true label (row) and predicted one
        (column), in the order of ``classes_``, a dict of dicts by label, ``{true: {predicted:
        cost}}``, in which missing costs are 1. Costs are non-negative, and zero between a label
        and itself.
    class_weight : dict or "balanced", default=None
        Factors of the loss of a node by its true label, 1 for labels that a dict omits; a dict may
        name other labels too. "balanced" gives all labels equal weight.
    ignore_label : object, default=None
        A label in y for nodes without one: it does not count in the loss and in `score`. Training
        completes such labels, and those known as a set, by the best ones under the current
        weights, so transitions to these nodes are trained too. It may be of another type than the
        labels; None means that there is no such label.
    n_states_per_label : int or dict, default=1
        Number of hidden states of each label; labels that a dict omits have one. Training
        completes the unknown state of each node by the best one, or sums over them with
        ``surrogate="log"``, and prediction returns the label of the best state. States have weights
        instead of labels. See the page of the guide on labels that are partly unknown.
    n_init : int, default=1
        Number of clusterings of the nodes of each label from which hidden states start. The model
        with the lowest objective is kept.
    bounds : tuple (lower, upper) or dict of such tuples, default=None
        Box on the weights. A bound is a number, None, or an array over the flat weight vector
        (``coef_`` by columns, ``root_``, ``leaf_``, ``transitions_`` by rows); in a dict by the
        blocks "coef", "root", "leaf" and "transitions" a bound has the shape of the block.
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
        `tol`, at another `lam`, with other bounds or sample weights, or with further samples after
        the same ones. It keeps the dual variables of the last fit, and a fit that cannot use them
        raises an error that says what changed. If labels are completed it begins at the last
        completion. Not for solvers without dual variables: "subgradient", "cutting_plane", "gdmm",
        "soft_bcfw".
    n_jobs : int, default=None
        Number of threads. Training visits so many trees at the same time and merges the updates;
        the result depends on the number, but not on the speed of the threads. Exact passes,
        batches of oracle calls and prediction do not depend on it.
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
        Weights of the features of a node. With hidden states these and the other weights have a
        row and a column for each state, those of the first label first.
    transitions_ : ndarray of shape (n_classes, n_classes) or (n_kinds, n_classes, n_classes)
        Weights of the labels of a parent (row) and its child (column), for each kind of edge if
        there are kinds.
    edge_kinds_ : ndarray of shape (n_kinds,) or None
        The kinds of edges, sorted; None if the edges in fit had none.
    root_, leaf_ : ndarray of shape (n_classes,)
        Weights of the labels of roots, and of nodes without children.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_states_ : ndarray of shape (n_classes,)
        Only with hidden states: their number for each label.
    state_labels_ : ndarray of shape (n_states,)
        The label of each hidden state; without hidden states the same as ``classes_``.
    lam_ : float
        The regularisation strength that was used.
    dual_gap_ : float
        Duality gap P(w) - D, absolute: P(w) is at most this far above the optimum.
    primal_objective_, dual_objective_ : float
        P(w) and D.
    certified_ : bool
        Whether the gap is a certificate, from an exact pass with an oracle that is exact or bounds
        what it misses. With unknown labels or hidden states it is that of the last round, for
        those completed in it.
    n_rounds_ : int
        Only by the hinge, with hidden states or unknown labels: number of rounds, in which they
        are completed and the model is trained, of the best start.
    round_objectives_ : ndarray of shape (`n_rounds_`,)
        In the same cases, P(w) at the end of each round, with the best completion under w as the
        truth. It never rises.
    stationary_ : bool
        In the same cases, whether the last round converged and its w completes the labels, or
        states, as they were in it. If not, it lowered P(w) by less than the tolerance, or passes,
        rounds or time ran out.
    n_iter_ : int
        Passes over the data, including an interrupted one.
    n_oracle_calls_ : int
        Calls of the oracle, including those of the exact passes.
    history_ : dict of ndarray
        Arrays of equal length, an entry for each exact pass: n_passes, n_oracle_calls, time
        (seconds), primal, dual, gap (absolute); and start and round with unknown labels.
    solver_ : solver object
        The solver that was used, with the value of every "auto".
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if the features were data frames whose columns have strings as names, or
        nodes of which `vectorizer_` has made features.
    vectorizer_ : TokenVectorizer
        The vectoriser of nodes, if these were dicts of attributes or lists of strings.
    n_samples_seen_ : int or float
        Number of samples of the fit, or of all steps of `partial_fit` so far; the sum of their
        weights if they have some.

    Raises
    ------
    ValueError
        In fit and predict, for wrong parameters or data, with the name of the item.

    See Also
    --------
    SequenceTagger : The faster choice for trees without branches.
    SegmentationModel : Graphs with cycles.

    References
    ----------
    Taskar, Guestrin, Koller (2003). Max-margin Markov networks. NIPS.

    Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien (2016). Minding the gaps for block
    Frank-Wolfe optimization of structured SVMs. ICML.

    Examples
    --------
    Stars whose middle tells what all of its neighbours are:

    >>> import numpy as np
    >>> from sskit import TreeTagger
    >>> rng = np.random.default_rng(0)
    >>> y = [np.repeat(rng.choice(["cat", "dog"]), 5) for _ in range(40)]
    >>> X = [((t == "dog")[:, None] + rng.normal(size=(5, 1)), [-1, 0, 0, 0, 0]) for t in y]
    >>> tagger = TreeTagger(random_state=0).fit(X[:30], y[:30])
    >>> tagger.score(X[30:], y[30:]) > 0.8
    True
    >>> tagger.certified_, tagger.transitions_.shape
    (True, (2, 2))

    With a kind for each edge, here a table for each arm of the star:

    >>> X = [(x, parents, ["", "n", "e", "s", "w"]) for x, parents in X]
    >>> tagger = TreeTagger(random_state=0).fit(X[:30], y[:30])
    >>> tagger.edge_kinds_.tolist(), tagger.transitions_.shape
    (['e', 'n', 's', 'w'], (4, 2, 2))
    """

    _tokens = "nodes"
    _trees = True
    _summary_class = TreeSummary
    _latent = HiddenNodes
    _type_of_estimator = "tree_tagger"

    @with_callbacks
    def fit(
        self,
        X: Samples,
        y: Samples,
        sample_weight: ArrayLike | None = None,
        token_weight: Samples | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : sequence of n_samples trees
            Tuples (features, parents) or (features, parents, kinds), or objects with these
            attributes: features (V_i, n_features) of the nodes, dense or sparse, the parent (V_i,)
            of each node, -1 for a root, and, in all trees or in none, the kind (V_i,) of each
            node's edge to its parent: integers or strings. Those of roots are ignored. Nodes may
            be in any order. If all samples have the same tree, ``np.arange(V)`` as kinds gives
            each edge its own table. Features of dtype float64, float32 or, if dense, float16,
            memory-mapped ones too, are not copied. Nodes may be dicts of attributes or lists of
            strings, as :class:`~sskit.preprocessing.TokenVectorizer` takes tokens.
        y : list of n_samples sequences (V_i,)
            Labels of the nodes, of any sortable type. An unknown label is `ignore_label`, and a
            partly known one a set or frozenset of labels, one of which is right.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the trees.
        token_weight : sequence of n_samples sequences (V_i,) of float, default=None
            Non-negative weights of the nodes: factors of their losses, besides those of the trees
            and of classes.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are wrong; the estimator is then unchanged.
        """
        return replace_fitted(self, self._fit(X, y, sample_weight, token_weight=token_weight))

    def _read(self, X, fitted=False):
        """Return checked trees, and None."""
        expected = {}
        if fitted:
            expected = {"n_features": self.n_features_in_, "estimator_name": type(self).__name__}
        return check_trees(X, **expected), None

    def _statistics(self, X, trees, edges, weight):
        """Return further fields of the summary: the scale of features, and kinds of edges."""
        kinds = trees.kinds
        return {
            "scale": feature_scale(trees, weight),
            "has_kinds": "no kinds" if kinds is None else "kinds",
            "kinds": None if kinds is None else Labels(*np.unique(kinds, return_counts=True)),
        }

    def _running(self, summary, last):
        """Return the summary of a further step, whose kinds of edges are those of all steps."""
        kinds = last["edge_kinds_"]
        check_kinds_as_before(summary.kinds, kinds, "edges")
        return summary if kinds is None else replace(summary, kinds=summary.kinds.among(kinds))

    def _model(self, summary, X):
        """Return the model of data with this summary, and fitted attributes beside its weights."""
        kinds = None if summary.kinds is None else summary.kinds.values
        model = TreeModel(summary.n_features, len(summary.options.states.labels), kinds)
        return model, {"edge_kinds_": kinds}

    def _request(self, trees, edges, n_states, states, possible):
        """Return the request of checked trees."""
        if self.edge_kinds_ is not None:
            check_labels(self, "edge_kinds_", least=0)
        model = TreeModel(check_count(self, "n_features_in_"), n_states, self.edge_kinds_)
        coef, *others = check_weights(self, model.layout).values()
        return model.decoder(trees, coef, others, allowed=possible).request

    def _terms(self, sample):
        """Return the `Terms` of a tree."""
        trees, _ = self._fitted_data(sample)
        marks, codes = trees.marks[0], trees.codes(self.edge_kinds_)
        tables = self.transitions_[None] if codes is None else self.transitions_
        codes = np.zeros(len(trees.ends), dtype=np.intp) if codes is None else codes
        nodes, bias, sides = np.arange(len(marks))[:, None], ("bias",), ("children", "parent")
        return [
            Terms("feature", ("features",), nodes, self.coef_, trees.features[0]),
            Terms("root", bias, nodes[marks % 2 == 1], self.root_),
            Terms("leaf", bias, nodes[marks >= 2], self.leaf_),
            *(Terms("transition", sides, trees.ends[codes == k], w) for k, w in enumerate(tables)),
        ]
