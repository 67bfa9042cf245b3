"""Fast validation of arrays takes what is sound, and nothing else."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from sskit._ready import (
    all_finite,
    all_within,
    is_canonical,
    ready_ends,
    ready_graph,
    ready_tree,
)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 40])
def test_all_within(n):
    values = np.linspace(-3.0, 3.0, n)
    assert all_within(values)
    assert all_within(values, 3.0)
    assert all_within(np.full(n, np.finfo(float).max))
    for place in range(n):
        for wrong in (np.nan, np.inf, -np.inf):
            spoilt = values.copy()
            spoilt[place] = wrong
            assert not all_within(spoilt)
            assert not all_within(spoilt, 3.0)
        spoilt[place] = 3.5
        assert all_within(spoilt)
        assert not all_within(spoilt, 3.0)


def test_arrays_of_another_kind_are_not_looked_at(tmp_path):
    values = np.ones((4, 6))
    assert all_within(values)
    assert all_within(values.T)
    assert not all_within(values[:, ::2])
    for other in (values.astype(np.float32), values.astype(">f8"), [1.0], None, np.ma.array([1.0])):
        assert not all_within(other)
    # of those from files the dtype may be another object
    for values in (pickle.loads(pickle.dumps(np.ones((3, 2)))), saved(np.ones((3, 2)), tmp_path)):
        assert all_within(values)
        assert ready_graph([(values, np.array([[0, 1]]), np.ones((1, 2)))], 2, 2) is not None


def saved(array, folder):
    """Return an array that is mapped from a file, and cannot be written to."""
    np.save(folder / "array.npy", array)
    return np.load(folder / "array.npy", mmap_mode="r").view(np.ndarray)


GRAPH = np.ones((3, 2)), np.array([[0, 1], [1, 2]]), np.ones((2, 4))


def test_graph():
    features, ends, edge_features = ready_graph([GRAPH], 2, 4)
    assert features is GRAPH[0]
    assert edge_features is GRAPH[2]
    assert ends.dtype == np.int32
    np.testing.assert_array_equal(ends, GRAPH[1])


def test_other_graphs_are_not_ready():
    for place, value in [
        (0, np.ones((3, 3))),
        (0, np.ones((3, 2), np.float32)),
        (0, np.asfortranarray(np.ones((3, 2)))),
        (0, np.array([[1.0, 2.0], [np.nan, 1.0], [0.0, 0.0]])),
        (0, sp.csr_array(np.ones((3, 2)))),
        (0, np.ones(6)),
        (0, np.ones((2, 2))),  # edge 1 has the node 2
        (1, [[0, 1], [1, 2]]),
        (1, np.array([[0, 1], [1, 3]])),
        (1, np.array([[0, 1]])),
        (1, np.zeros((0, 2), dtype=int)),
        (2, None),
        (2, np.ones((2, 3))),
        (2, np.full((2, 4), np.inf)),
    ]:
        graph = (*GRAPH[:place], value, *GRAPH[place + 1 :])
        assert ready_graph([graph], 2, 4) is None, (place, value)


def test_a_list_of_one_tuple_is_ready():
    for X in ([GRAPH, GRAPH], (GRAPH,), [GRAPH[:2]], [list(GRAPH)], [], None, GRAPH):
        assert ready_graph(X, 2, 4) is None
    assert ready_graph([GRAPH], None, "4") is None


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 40])
def test_all_finite(n, dtype):
    values = np.full(n, np.finfo(dtype).max, dtype=dtype)
    assert all_finite(values) and all_finite(np.asfortranarray(np.stack([values, -values])))
    for place in range(n):
        for wrong in (np.nan, np.inf, -np.inf):
            spoilt = values.copy()
            spoilt[place] = wrong
            assert not all_finite(spoilt)
    others = values.astype(f">{dtype}"), np.ones((4, 4), dtype)[:, ::2], np.ones(3, int), [1.0]
    assert not any(map(all_finite, others))


CSR = sp.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0]]))


def test_canonical():
    assert is_canonical(CSR)
    assert is_canonical(sp.csr_matrix(CSR))
    assert is_canonical(sp.csr_array((2, 0)))


def test_broken_matrices_are_not_canonical():
    for name, values in [
        ("indices", [2, 0, 1]), ("indices", [0, 0, 1]), ("indices", [0, 3, 1]),
        ("indices", [-1, 2, 1]), ("indices", [0, 2]), ("indptr", [0, 2, 2, 4]),
        ("indptr", [0, 2, 1, 3]), ("indptr", [1, 2, 2, 3]), ("indptr", [0, 2, 3]),
        ("indptr", [0, -1, 2, 3]), ("indptr", [0, 5, 2, 3]),
    ]:  # fmt: skip
        broken = CSR.copy()
        setattr(broken, name, np.array(values, dtype=np.int32))
        assert not is_canonical(broken), (name, values)


def test_other_dtypes_are_not_canonical():
    assert is_canonical(CSR.astype(np.float32))
    assert not is_canonical(CSR.astype(int))
    wide = CSR.copy()
    wide.indices = wide.indices.astype(np.int64)
    assert not is_canonical(wide)
    wide.indptr = wide.indptr.astype(np.int64)
    assert is_canonical(wide)
    wide.indices = wide.indices.astype(np.int16)
    assert not is_canonical(wide)
    short = CSR.copy()
    short.data = short.data[:2]
    assert not is_canonical(short)


def test_ends():
    for dtype in (np.int32, np.int64):
        edges = np.array([[0, 1], [2, 1]], dtype=dtype)
        ends = ready_ends(edges, 3)
        assert ends.dtype == np.int32 and ends.tolist() == edges.tolist()
        for wrong in ([[0, 3]], [[-1, 0]], [[1, 1]]):
            assert ready_ends(np.array(wrong, dtype=dtype), 3) is None
    # what is unusual is left to others
    none = np.zeros((0, 2), int)
    for other in (edges.tolist(), edges.astype(float), edges.T.copy().T, edges[:, :1], none, None):
        assert ready_ends(other, 3) is None


def test_tree():
    ends, marks = ready_tree(np.array([1, -1, 1, 2, -1]), 5)
    assert ends.tolist() == [[1, 0], [1, 2], [2, 3]]
    assert marks.tolist() == [2, 1, 0, 2, 3] and marks.dtype == np.uint8
    for parents in ([0], [1, 0], [-1, 2, 1], [-1, 3, 1, 2], [-1, 5], [-2, 0]):
        assert ready_tree(np.array(parents), len(parents)) == (None, None)
    for other in ([-1, 0], np.array([-1.0, 0.0]), np.array([-1]), np.array([[-1, 0]]), None):
        assert ready_tree(other, 2) == (None, None)
