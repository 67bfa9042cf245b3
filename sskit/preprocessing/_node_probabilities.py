"""NodeProbabilities: probabilities by a classifier of single nodes as features of the nodes."""

from __future__ import annotations

import warnings
from copy import copy
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import check_is_fitted

from sskit._meta_estimators import make_folds
from sskit._numbers import n_workers
from sskit._parameters import parameter, parameters
from sskit._public import PublicMixin
from sskit._types import ArrayLike, BaseEstimator, Estimator, Folds, Samples, Self, TransformerMixin
from sskit.inputs.graphs import check_graphs
from sskit.inputs.masks import node_targets
from sskit.inputs.stacking import stack_rows
from sskit.inputs.weights import check_sample_weight


# No set_output: a graph is not a data frame.
class FittedNodes:
    """Types of the attributes that a fitted `NodeProbabilities` has."""

    estimator_: Any
    classes_: np.ndarray
    n_features_in_: int


@parameters
class NodeProbabilities(
    FittedNodes, PublicMixin, TransformerMixin, BaseEstimator, auto_wrap_output_keys=None
):
    """Turn the class probabilities of a classifier of single nodes into features of graphs.

    A classifier learns to label nodes from their features alone; its probabilities become features
    of the nodes, from which a graph model learns how reliable they are. A classifier is more
    certain of the nodes that it was trained on than of others. So `fit_transform` describes the
    training graphs by classifiers that were not trained on them: those of cross-validation over
    whole graphs, because the nodes of one graph are similar. `transform` uses the classifier that
    was trained on all graphs.

    Parameters
    ----------
    estimator : classifier with ``predict_proba``
        Any classifier of rows, or a pipeline that ends with one. Cloned before fit.
    cv : int, cross-validation splitter or iterable of (train, test), default=5
        Which graphs are held out together; an int is the number of folds of `KFold`. Each graph
        has to be held out once.
    ignore_label : object, default=None
        A label in y for nodes or pixels without one: the classifiers are not trained on these
        nodes. None means that there is no such label.
    n_jobs : int or None, default=None
        Number of folds that are fitted in parallel.

    Attributes
    ----------
    estimator_ : classifier
        The classifier that was trained on all graphs.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_features_in_ : int
        Number of features of a node seen in fit.

    See Also
    --------
    sklearn.ensemble.StackingClassifier : The same for rows that have no neighbours.

    Notes
    -----
    ``fit(X, y).transform(X)`` is not ``fit_transform(X, y)``: the former has the probabilities of
    nodes that the classifier was trained on. In a pipeline the next step is fitted to the latter.
    A class that is missing in the training graphs of a classifier has the probability 0.

    References
    ----------
    Wolpert (1992). Stacked generalization. Neural Networks 5(2).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sskit.preprocessing import NodeProbabilities
    >>> rng = np.random.default_rng(0)
    >>> y = [rng.integers(2, size=4) for _ in range(10)]
    >>> X = [(labels[:, None] + rng.normal(size=(4, 3)), [[0, 1], [1, 2]], None) for labels in y]
    >>> probabilities = NodeProbabilities(LogisticRegression())
    >>> features, edges, edge_features = probabilities.fit_transform(X, y)[0]
    >>> features.shape, bool(np.allclose(features.sum(axis=1), 1))
    ((4, 2), True)
    >>> probabilities.get_feature_names_out()
    array(['probability_0', 'probability_1'], dtype=object)
    """

    estimator: Estimator = parameter(HasMethods(["fit", "predict_proba"]), kw_only=False)
    cv: Folds = parameter(default=5)
    ignore_label: object = parameter(default=None)
    n_jobs: int | None = parameter(default=None)

    def fit(self, X: Samples, y: Samples, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier to the nodes of all graphs.

        Parameters
        ----------
        X : sequence of n graphs
            As `SegmentationModel` takes them.
        y : sequence of n arrays (V_i,) or (H_i, W_i)
            Labels of the nodes, or of the pixels of graphs that have segments.
        sample_weight : array-like of shape (n,), default=None
            Weights of the graphs, which their nodes have too; only for classifiers that take
            such.

        Returns
        -------
        self : NodeProbabilities

        Raises
        ------
        TypeError, ValueError
            If `estimator` is not a classifier with probabilities, or a graph or label is wrong.
        """
        self._learn(*self._read_data(X, y, sample_weight))
        return self

    def fit_transform(
        self, X: Samples, y: Samples, sample_weight: ArrayLike | None = None
    ) -> np.ndarray:
        """Fit the classifier, and describe each graph by classifiers that were not trained on it.

        Parameters
        ----------
        X, y, sample_weight : object
            As of `fit`.

        Returns
        -------
        graphs : ndarray of object of shape (n,)
            With probabilities as features, and with the other arrays of `X`, which are not copied.

        Raises
        ------
        TypeError, ValueError
            As `fit`; also if `cv` does not hold out each graph once.
        """
        graphs, *nodes = self._read_data(X, y, sample_weight)
        rows, labels, labelled, weights = nodes
        graph_of_node = np.repeat(np.arange(len(graphs)), graphs.n_nodes)
        folds = []
        for train, test in make_folds(self.cv, np.arange(len(graphs))):
            in_train, in_test = (np.isin(graph_of_node, graphs_in) for graphs_in in (train, test))
            folds.append((np.flatnonzero(labelled & in_train), np.flatnonzero(in_test)))
        with warnings.catch_warnings():
            # a class that a fold lacks
            warnings.filterwarnings("ignore", "Number of classes in", RuntimeWarning)
            options = {"cv": folds, "n_jobs": n_workers(self.n_jobs, len(folds))}
            options |= {"params": weights, "method": "predict_proba"}
            proba = cross_val_predict(self.estimator, rows, labels, **options)
        self._learn(graphs, *nodes)
        return self._described(X, graphs, proba)

    def transform(self, X: Samples) -> np.ndarray:
        """Describe graphs by the classifier that was trained on all graphs of the fit.

        Parameters
        ----------
        X : sequence of n graphs
            As of `fit`.

        Returns
        -------
        graphs : ndarray of object of shape (n,)
            As of `fit_transform`.

        Raises
        ------
        NotFittedError, TypeError, ValueError
            If called before `fit`, or a graph is wrong.
        """
        check_is_fitted(self)
        graphs = check_graphs(X, n_features=self.n_features_in_, estimator_name=type(self).__name__)
        proba = self.estimator_.predict_proba(stack_rows(graphs.features))
        return self._described(X, graphs, proba)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> np.ndarray:
        """Return the names of the features.

        Parameters
        ----------
        input_features : object, default=None
            Ignored.

        Returns
        -------
        names : ndarray of object of shape (p,)
            ``probability_cow`` for the class "cow".
        """
        check_is_fitted(self)
        return np.array([f"probability_{label}" for label in self.classes_], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        return tags

    def _read_data(self, X, y, sample_weight):
        """Return checked graphs, and for all nodes rows, labels, which are known, and weights."""
        self._validate_params()
        graphs = check_graphs(X)
        labels, labelled, _ = node_targets(y, graphs, self.ignore_label)
        if not labelled.any():
            raise ValueError(f"y has no labels but ignore_label={self.ignore_label!r}")
        # the placeholder of missing labels is no class
        labels = np.where(labelled, labels, labels[labelled.argmax()])
        weight, weights = check_sample_weight(sample_weight, len(graphs)), {}
        if weight is not None:
            weights = {"sample_weight": np.repeat(weight, graphs.n_nodes)}
        return graphs, stack_rows(graphs.features), labels, labelled, weights

    def _learn(self, graphs, rows, labels, labelled, weights):
        """Fit the classifier of all graphs."""
        weights = {name: weight[labelled] for name, weight in weights.items()}
        self.estimator_ = clone(self.estimator).fit(rows[labelled], labels[labelled], **weights)
        self.classes_ = self.estimator_.classes_
        self.n_features_in_ = graphs.n_features

    def _described(self, X, graphs, proba):
        """Return graphs with probabilities for features."""
        out = np.empty(len(graphs), dtype=object)
        for i, graph in enumerate(X):
            old, new = graphs.features[i], proba[slice(*graphs.node_offsets[i : i + 2])]
            if not sp.issparse(old):
                new = new.astype(old.dtype, copy=False)
            out[i] = _with_features(graph, new)
        return out


def _with_features(graph, features):
    """Return a graph like another one with other features."""
    if isinstance(graph, (tuple, list)):
        return (features, *graph[1:])
    graph = copy(graph)
    graph.features = features
    return graph
