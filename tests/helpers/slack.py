"""Slack rescaling by enumeration."""

import numpy as np

from helpers.paper import Enumerated
from sskit.models.feature_map import FeatureMap
from sskit.models.features import no_features
from sskit.models.structure import NodeLoss, StateStructure, StructuredProblem


def slack_pairs(pairs):
    """The same training pairs under slack rescaling: the planes are (L psi, L)."""
    psi = [loss[:, None] * psi for psi, loss in zip(pairs.psi, pairs.loss, strict=True)]
    return Enumerated(psi, pairs.loss, pairs.labels, pairs.c)


def random_points(rng, kind):
    """Losses g and potentials theta of labels; label 0 is the truth, h = 1 + theta.

    Kinds: "any"; "counts", losses that many have; "flat", labels of nearly one product, most
    of which no lambda-oracle can reach.
    """
    m = int(rng.integers(1, 30))
    g = rng.integers(1, 6, size=m).astype(float) if kind == "counts" else rng.exponential(size=m)
    theta = rng.normal(scale=2.0, size=m)
    if kind == "flat":
        theta = rng.uniform(0.5, 1.5, size=m) / np.maximum(g, 0.1) - 1.0
    return np.concatenate([[0.0], g]), np.concatenate([[0.0], theta])


def points(losses):
    """A block whose label k has the loss g[k] and, at theta = h and offset 0, the margin h[k].

    Label 0 is the truth, of the loss 0.
    """
    n = len(losses)
    feature_map = FeatureMap(no_features(1), np.arange(2), n)
    truth, one = np.zeros(1, dtype=np.int32), np.ones(1)
    loss = NodeLoss(truth, one, n, np.asarray(losses)[None], by_node=True)
    return StructuredProblem(feature_map, StateStructure(n), loss, one)
