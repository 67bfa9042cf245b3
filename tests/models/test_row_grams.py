"""Squared norms of rows, and of directions with and without Gram matrices of the rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from sskit.models.chain.model import chain_map
from sskit.models.chain.structure import ChainStructure
from sskit.models.features import NO_GRAMS, FeatureRows, end_marks, squared_norms
from sskit.models.structure import NodeLoss, StructuredProblem
from sskit.testing.probe import ProblemProbe

OFFSETS = np.array([0, 1, 5, 9, 30, 31])


def rows(form):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, size=(31, 6)) * 1.0
    return X + rng.normal(size=X.shape) if form == "dense" else sp.csr_array(X)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("with_edges", [False, True])
def test_norms_of_directions(form, with_edges):
    """They are those of what is scattered, also where nothing is worked out before."""
    rng, X = np.random.default_rng(1), rows(form)
    edges = FeatureRows(X[: 31 - 5]) if with_edges else None
    for prepared in ({}, {"grams": NO_GRAMS}):
        map = chain_map(FeatureRows(X, marks=end_marks(OFFSETS)), OFFSETS, 3, edges=edges)
        map.prepare(**prepared)
        loss = NodeLoss(np.zeros(31, dtype=np.int32), np.ones(31), 3)
        problem = StructuredProblem(map, ChainStructure(map), loss, np.full(5, 0.2))
        probe = ProblemProbe(problem)
        for i in [0, 1, 2, 3, 4, 3]:
            code = rng.integers(3, size=OFFSETS[i + 1] - OFFSETS[i]).astype(np.int32)
            direction = probe.plane(i, code)
            moved = probe.scatter(i, direction)
            np.testing.assert_allclose(probe.sqnorm(i, direction), moved @ moved, rtol=1e-12)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_squared_norms(form):
    X = rows(form)
    squares = (X**2 if form == "dense" else X.power(2)).sum(axis=1)
    np.testing.assert_allclose(squared_norms(X), squares, rtol=1e-13)
