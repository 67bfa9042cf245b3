"""Fast looks at arrays take what is sound, and nothing else."""

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
@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_all_within(n, wrong):
    values = np.linspace(-3.0, 3.0, n)
    assert all_within(values)
    assert all_within(values, 3.0)
    assert all_within(np.full(n, np.finfo(float).max))
    for place in range(n):
        spoilt = values.copy()
        spoilt[place] = wrong
        assert not all_within(spoilt)
        assert not all_within(spoilt, 3.0)
        spoilt[place] = 3.5
        assert all_within(spoilt)
        assert not all_within(spoilt, 3.0)


def test_arrays_of_another_kind_are_not_looked_at():
    values = np.ones((4, 6))
    assert all_within(values)
    assert all_within(values.T)
    assert not all_within(values[:, ::2])
    for other in (values.astype(np.float32), values.astype(">f8"), [1.0], None, np.ma.array([1.0])):
        assert not all_within(other)


def test_arrays_from_files(tmp_path):
    # their dtype may be another object
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


@pytest.mark.parametrize(
    ("place", "value"),
    [
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
    ],
)
def test_other_graphs_are_not_ready(place, value):
    graph = (*GRAPH[:place], value, *GRAPH[place + 1 :])
    assert ready_graph([graph], 2, 4) is None


@pytest.mark.parametrize(
    "X", [[GRAPH, GRAPH], (GRAPH,), [GRAPH[:2]], [list(GRAPH)], [], None, GRAPH]
)
def test_a_list_of_one_tuple_is_ready(X):
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


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("indices", [2, 0, 1]),
        ("indices", [0, 0, 1]),
        ("indices", [0, 3, 1]),
        ("indices", [-1, 2, 1]),
        ("indices", [0, 2]),
        ("indptr", [0, 2, 2, 4]),
        ("indptr", [0, 2, 1, 3]),
        ("indptr", [1, 2, 2, 3]),
        ("indptr", [0, 2, 3]),
        ("indptr", [0, -1, 2, 3]),
        ("indptr", [0, 5, 2, 3]),
    ],
)
def test_broken_matrices_are_not_canonical(name, values):
    broken = CSR.copy()
    setattr(broken, name, np.array(values, dtype=np.int32))
    assert not is_canonical(broken)


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


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_ends(dtype):
    edges = np.array([[0, 1], [2, 1]], dtype=dtype)
    ends = ready_ends(edges, 3)
    assert ends.dtype == np.int32
    assert ends.tolist() == edges.tolist()
    for wrong in ([[0, 3]], [[-1, 0]], [[1, 1]]):
        assert ready_ends(np.array(wrong, dtype=dtype), 3) is None


def test_unusual_ends_are_left_to_others():
    edges = np.array([[0, 1], [2, 1]])
    none = np.zeros((0, 2), int)
    for other in (edges.tolist(), edges.astype(float), edges.T.copy().T, edges[:, :1], none, None):
        assert ready_ends(other, 3) is None


def test_tree():
    ends, marks = ready_tree(np.array([1, -1, 1, 2, -1]), 5)
    assert ends.tolist() == [[1, 0], [1, 2], [2, 3]]
    assert marks.tolist() == [2, 1, 0, 2, 3] and marks.dtype == np.uint8


@pytest.mark.parametrize("parents", [[0], [1, 0], [-1, 2, 1], [-1, 3, 1, 2], [-1, 5], [-2, 0]])
def test_what_is_no_tree(parents):
    assert ready_tree(np.array(parents), len(parents)) == (None, None)


def test_unusual_parents_are_left_to_others():
    for other in ([-1, 0], np.array([-1.0, 0.0]), np.array([-1]), np.array([[-1, 0]]), None):
        assert ready_tree(other, 2) == (None, None)
