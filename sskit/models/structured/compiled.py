"""Structures compiled by users, bound to samples."""

from __future__ import annotations

from functools import partial
from itertools import chain, count, pairwise
from typing import Any

import numpy as np

from sskit._public import PublicMixin
from sskit._types import ArrayLike, BaseEstimator, MaybeNone, Samples
from sskit.core.problem import block_weights
from sskit.inputs.weights import cost_table
from sskit.models.feature_map import FeatureMap
from sskit.models.features import with_spare
from sskit.models.layout import WeightLayout
from sskit.models.request import Decoder, Request
from sskit.models.structure import NodeLoss, Structure, StructuredProblem


class CompiledModel(PublicMixin, BaseEstimator):
    """Base class of models whose structure you write in compiled code.

    A labelling is a state, 0 to K - 1, for each *node* of an input. A subclass defines how inputs
    become rows of features, and which structure labels them; :class:`sskit.StructuredSVM` learns
    the weights. The developers' guide, "Writing a model", explains two.

    Attributes
    ----------
    pair_costs : ndarray of shape (K, K) or None
        Factors of the costs of wrong states, by true and predicted state, with a zero diagonal;
        None, unless you set it: 1 for all wrong ones.

    Notes
    -----
    States below zero in `states` are unknown. Training completes them, each with the best one
    under the current weights, as for unknown labels; they cost nothing.

    A subclass with parameters follows scikit-learn: ``__init__`` stores each argument under its
    own name and does nothing else.

    Examples
    --------
    Rows in three classes, by a structure of the package. An input is a row, and its one node:

    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from sskit import StructSVMClassifier, StructuredSVM
    >>> from sskit.models import CompiledModel, FeatureMap, FeatureRows, StateStructure
    >>> class ThreeClasses(CompiledModel):
    ...     def feature_map(self, X):
    ...         return FeatureMap(FeatureRows(np.array(X)), np.arange(len(X) + 1), 3)
    ...
    ...     def structure(self, map):
    ...         return StateStructure(3)
    ...
    ...     def states(self, y):
    ...         return [y]
    ...
    ...     def labelling(self, states):
    ...         return int(states[0])
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = StructuredSVM(ThreeClasses(), lam=0.01, random_state=0).fit(X, y)
    >>> classifier.predict(X[::50])
    array([0, 1, 2])
    >>> classifier.certified_
    True
    """

    pair_costs: np.ndarray | MaybeNone = None

    def feature_map(self, X: Samples) -> FeatureMap:
        """Return the map from weights to the potentials of inputs.

        Parameters
        ----------
        X : list of length n
            Inputs.

        Returns
        -------
        map : FeatureMap
            A map with a block for each input. In fit and predict it must have the same number of
            weights.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement feature_map")

    def structure(self, map: FeatureMap) -> Structure:
        """Return the structure that labels the blocks of a map.

        Parameters
        ----------
        map : FeatureMap
            From `feature_map`.

        Returns
        -------
        structure : Structure
            A compiled object.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement structure")

    def n_states(self, map: FeatureMap) -> int:
        """Return the number of states K that a node of these blocks can have.

        Parameters
        ----------
        map : FeatureMap
            From `feature_map`.

        Returns
        -------
        n_states : int
            By default the number of columns of the map's nodes.
        """
        return map.n_columns

    def states(self, y: Any) -> Any:
        """Return the states of a true labelling.

        Parameters
        ----------
        y : object
            Labelling.

        Returns
        -------
        states : array-like of shape (n_nodes,), int
            By default y itself.
        """
        return y

    def labelling(self, states: np.ndarray) -> Any:
        """Return the labelling of predicted states.

        Parameters
        ----------
        states : ndarray of shape (n_nodes,), int32
            A state for each node.

        Returns
        -------
        y : object
            By default the states themselves.
        """
        return states

    def costs(self, states: np.ndarray) -> ArrayLike:
        """Return the cost of a wrong state at each node of a true labelling.

        Parameters
        ----------
        states : ndarray of shape (n_nodes,), int32
            True states; unknown ones are below zero.

        Returns
        -------
        costs : ndarray of shape (n_nodes,)
            Non-negative; by default one divided by the number of nodes: the loss is the fraction
            of wrong states.
        """
        return np.full(len(states), 1.0 / max(len(states), 1))

    def problem(
        self, X: Samples, y: Samples, sample_weight: ArrayLike | None = None
    ) -> StructuredProblem:
        """Return the training problem of samples, for solvers.

        Parameters
        ----------
        X : list of length n
            Inputs.
        y : list of length n
            True labellings.
        sample_weight : ndarray of shape (n,), default=None
            Weights of the samples.

        Returns
        -------
        problem : StructuredProblem
            For :func:`sskit.testing.check_problem`, for example.
        """
        weights = block_weights(len(X), sample_weight)
        return CompiledBinding(self).bind(list(X), list(y), weights)[0]


class CompiledBinding:
    """Calls a user's model, checks its answers, and binds it to samples.

    It exists beside `PythonBinding`, with the same methods, since its model's structure is compiled
    already. It is no `Structure` itself: a structure belongs to the blocks of one map, and each
    fit and each prediction makes a map of its own, from which the model makes a structure. So it
    has no labellings that a solver could ask for before there are inputs.

    Parameters
    ----------
    model : CompiledModel
        Defines the structure, and the feature map of inputs.
    """

    def __init__(self, model):
        self.model = model

    def feature_map(self, X):
        """Return the checked map of inputs."""
        map, name = self.model.feature_map(X), type(self.model).__name__
        if not isinstance(map, FeatureMap):
            raise TypeError(f"feature_map of {name} returned {map!r:.80}, expected a FeatureMap")
        if map.n_blocks != len(X):
            raise ValueError(f"feature_map of {name} made {map.n_blocks} blocks of {len(X)} inputs")
        return map

    def structure(self, map):
        """Return the structure of the blocks of a map."""
        structure = self.model.structure(map)
        if not isinstance(structure, Structure):
            raise TypeError(
                f"structure of {type(self.model).__name__} returned {structure!r:.80}, expected a "
                "compiled Structure"
            )
        return structure

    def n_weights(self, X, Y):
        """Return the number of weights."""
        return self.feature_map(X).n_weights

    def states(self, y, i):
        """Return the states of the labelling of sample i, checked but for their number."""
        states = np.asarray(self.model.states(y))
        if states.ndim != 1 or states.dtype.kind not in "iu":
            raise ValueError(
                f"the states of y[{i}] are {states!r:.80}, expected a vector of whole numbers"
            )
        return states.astype(np.int32)

    def costs(self, states, i):
        """Return the costs at the nodes of sample i, 0 where the state is unknown."""
        costs = np.asarray(self.model.costs(states), dtype=np.float64)
        if costs.shape != states.shape or not (np.isfinite(costs) & (costs >= 0)).all():
            raise ValueError(
                f"the costs of y[{i}] are {costs!r:.80}, expected {len(states)} finite numbers "
                "that are not negative"
            )
        return np.where(states < 0, 0.0, costs)

    def bind(self, X, Y, block_weight, random_state=None, n_jobs=None):
        """Bind the structure to training data.

        Parameters
        ----------
        X : list of length n
            Inputs.
        Y : list of length n
            True labellings.
        block_weight : ndarray of shape (n,)
            Weights of the samples, summing to one.
        random_state : RandomState, default=None
            Of further starts, if states are unknown.
        n_jobs : int, default=None
            Number of threads that complete them.

        Returns
        -------
        problem : StructuredProblem
            The problem for the solvers.
        layout : WeightLayout
            Places of the weights.
        complete : callable or None
            Maps weights to truths, if some states are unknown.
        starts : iterable of truths or None
            To begin with.

        Raises
        ------
        ValueError
            Naming the first sample whose labelling is none of its input.
        """
        map = self.feature_map(X)
        map.prepare()
        n_states, sizes = int(self.model.n_states(map)), np.diff(map.offsets)
        parts = [self.states(y, i) for i, y in enumerate(Y)]
        for i, (states, size) in enumerate(zip(parts, sizes, strict=True)):
            if len(states) != size or (states >= n_states).any():
                most = max(states, default=None)
                raise ValueError(
                    f"y[{i}] has {len(states)} states up to {most}, but X[{i}] has {size} nodes "
                    f"of {n_states} states"
                )
        costs = np.concatenate([self.costs(states, i) for i, states in enumerate(parts)])
        truth, structure = np.concatenate(parts), self.structure(map)
        table = self.model.pair_costs
        if table is not None:
            table = cost_table(table, np.arange(n_states), "pair_costs")
        loss = NodeLoss(np.maximum(truth, 0), costs, n_states, table)
        problem = StructuredProblem(map, structure, loss, block_weight)
        layout, complete, starts = WeightLayout(coef=(map.n_weights,)), None, None
        if (truth < 0).any():
            complete = partial(HiddenStates(problem, truth).complete, n_jobs=n_jobs)
            problem = problem.with_truth(complete(np.zeros(map.n_weights)))
            drawn = (complete(random_state.normal(size=map.n_weights)) for _ in count())
            starts = chain([problem.loss.labels], drawn)
        wrong = problem.find_unknown_truth()
        if wrong >= 0:
            raise ValueError(f"y[{wrong}] is no labelling that {problem.name} knows")
        return problem, layout, complete, starts

    def decoder(self, X, w, n_jobs=None):
        """Return a `Decoder` of inputs, and the offsets of their nodes.

        Parameters
        ----------
        X : list of length n
            Inputs.
        w : ndarray of shape (n_weights,)
            Weights.
        n_jobs : int, default=None
            Number of threads.

        Returns
        -------
        decoder : Decoder
            Its states are those of all nodes, one input after the other.
        offsets : ndarray of shape (n + 1,)
            Of the nodes.
        """
        map = self.feature_map(X)
        if map.n_weights != len(w):
            raise ValueError(f"X has {map.n_weights} weights, but the fit had {len(w)}")
        n_nodes = int(map.offsets[-1])
        known = NodeLoss(
            np.zeros(n_nodes, dtype=np.int32), np.zeros(n_nodes), self.model.n_states(map)
        )
        request = Request(map, self.structure(map), with_spare(w), known=known)
        return Decoder(request, n_jobs), map.offsets

    def predict(self, X, w, n_jobs=None):
        """Return the best labelling of each input, as a list; see `decoder`."""
        decoder, offsets = self.decoder(X, w, n_jobs)
        states = decoder.best()
        return [self.model.labelling(states[start:stop]) for start, stop in pairwise(offsets)]

    def losses(self, Y_true, Y):
        """Return the losses of labellings, shape (n,); see `PythonBinding.losses`."""
        return np.array([self.loss(*pair, i) for i, pair in enumerate(zip(Y_true, Y, strict=True))])

    def loss(self, y_true, y, i):
        """Return the loss of a labelling of sample i."""
        truth, states = self.states(y_true, i), self.states(y, i)
        if len(truth) != len(states):
            raise ValueError(f"y[{i}] has {len(truth)} states, but X[{i}] has {len(states)} nodes")
        table = self.model.pair_costs
        wrong = truth != states if table is None else np.asarray(table)[truth, states]
        return float(self.costs(truth, i) @ wrong)


class HiddenStates:
    """Completes unknown states.

    It exists because the known states, which it decodes with, stay the same in all rounds of a fit.

    Parameters
    ----------
    problem : StructuredProblem
        Of all samples.
    truth : ndarray of shape (n_nodes,), int32
        True states, below zero where they are not known.
    """

    def __init__(self, problem, truth):
        self.problem, self.truth = problem, truth
        possible = np.ones((len(truth), problem.loss.n_states), dtype=bool)
        fixed = truth >= 0
        possible[fixed] = np.arange(problem.loss.n_states) == truth[fixed, None]
        self.known = NodeLoss(
            np.maximum(truth, 0), np.zeros(len(truth)), problem.loss.n_states, possible=possible
        )

    def complete(self, w, n_jobs=None):
        """Return the best states under weights among those that agree with the known ones.

        Parameters
        ----------
        w : ndarray of shape (n_weights,)
            Weights.
        n_jobs : int, default=None
            Number of threads.

        Returns
        -------
        states : ndarray of shape (n_nodes,), int32

        Raises
        ------
        ValueError
            Naming the first sample that has no such labelling.
        """
        map, structure = self.problem.map, self.problem.structure.fork()
        states = Decoder(Request(map, structure, with_spare(w), known=self.known), n_jobs).best()
        wrong = np.flatnonzero((self.truth >= 0) & (states != self.truth))
        if len(wrong):
            i = int(np.searchsorted(map.offsets, wrong[0], side="right")) - 1
            raise ValueError(f"{self.problem.name} knows no labelling that agrees with y[{i}]")
        return states
