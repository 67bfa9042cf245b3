"""Fast validation of arrays takes what is sound, and nothing else."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp

from sskit._ready import all_finite, all_within, is_canonical, ready_ends, ready_graph, ready_tree


def with_wrong(values, *wrong):
    """Yield copies with a wrong number at each place."""
    for place in range(len(values)):
        for number in wrong:
            spoilt = values.copy()
            spoilt[place] = number
            yield spoilt


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 40])
def test_numbers(n, dtype):
    values = np.linspace(-3.0, 3.0, n)
    assert all_within(values) and all_within(values, 3.0)
    for spoilt in with_wrong(values, np.nan, np.inf, -np.inf):
        assert not all_within(spoilt) and not all_within(spoilt, 3.0)
    for spoilt in with_wrong(values, 3.5):
        assert all_within(spoilt) and not all_within(spoilt, 3.0)
    most = np.full(n, np.finfo(dtype).max, dtype=dtype)
    assert all_within(most) == (dtype == "f8")
    assert all_finite(most) and all_finite(np.asfortranarray(np.stack([most, -most])))
    assert not any(map(all_finite, with_wrong(most, np.nan, np.inf, -np.inf)))
    others = most.astype(f">{dtype}"), np.ones((4, 4), dtype)[:, ::2], np.ones(3, int), [1.0]
    assert not any(map(all_finite, others))


def test_arrays_of_another_kind_are_not_looked_at(tmp_path):
    values = np.ones((4, 6))
    assert all_within(values) and all_within(values.T)
    others = values[:, ::2], values.astype(np.float32), values.astype(">f8"), [1.0], None
    assert not any(map(all_within, (*others, np.ma.array([1.0]))))
    # of those from files the dtype may be another object, and they cannot be written to
    np.save(tmp_path / "array.npy", np.ones((3, 2)))
    mapped = np.load(tmp_path / "array.npy", mmap_mode="r").view(np.ndarray)
    for values in (pickle.loads(pickle.dumps(np.ones((3, 2)))), mapped):
        assert all_within(values)
        assert ready_graph([(values, np.array([[0, 1]]), np.ones((1, 2)))], 2, 2) is not None


GRAPH = np.ones((3, 2)), np.array([[0, 1], [1, 2]]), np.ones((2, 4))


def test_graphs():
    features, ends, edge_features = ready_graph([GRAPH], 2, 4)
    assert features is GRAPH[0] and edge_features is GRAPH[2]
    assert ends.dtype == np.int32 and np.array_equal(ends, GRAPH[1])
    for place, value in [
        (0, np.ones((3, 3))), (0, np.ones((3, 2), np.float32)),
        (0, np.asfortranarray(np.ones((3, 2)))),
        (0, np.array([[1.0, 2.0], [np.nan, 1.0], [0.0, 0.0]])), (0, sp.csr_array(np.ones((3, 2)))),
        (0, np.ones(6)), (0, np.ones((2, 2))),  # edge 1 has the node 2
        (1, [[0, 1], [1, 2]]), (1, np.array([[0, 1], [1, 3]])), (1, np.array([[0, 1]])),
        (1, np.zeros((0, 2), dtype=int)), (2, None), (2, np.ones((2, 3))),
        (2, np.full((2, 4), np.inf)),
    ]:  # fmt: skip
        graph = (*GRAPH[:place], value, *GRAPH[place + 1 :])
        assert ready_graph([graph], 2, 4) is None, (place, value)
    # a list of one tuple is ready
    for X in ([GRAPH, GRAPH], (GRAPH,), [GRAPH[:2]], [list(GRAPH)], [], None, GRAPH):
        assert ready_graph(X, 2, 4) is None
    assert ready_graph([GRAPH], None, "4") is None


def test_sparse_matrices():
    good = sp.csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 0.0, 0.0], [0.0, 3.0, 0.0]]))
    fine = good, good.astype(np.float32), sp.csr_matrix(good), sp.csr_array((2, 0))
    assert all(map(is_canonical, fine)) and not is_canonical(good.astype(int))
    for name, values in [
        ("indices", [2, 0, 1]), ("indices", [0, 0, 1]), ("indices", [0, 3, 1]),
        ("indices", [-1, 2, 1]), ("indices", [0, 2]), ("indptr", [0, 2, 2, 4]),
        ("indptr", [0, 2, 1, 3]), ("indptr", [1, 2, 2, 3]), ("indptr", [0, 2, 3]),
        ("indptr", [0, -1, 2, 3]), ("indptr", [0, 5, 2, 3]), ("data", [1, 2]),
    ]:  # fmt: skip
        broken = good.copy()
        dtype = getattr(good, name).dtype
        setattr(broken, name, np.array(values, dtype=dtype))
        assert not is_canonical(broken), (name, values)
    wide = good.copy()
    wide.indices = wide.indices.astype(np.int64)
    assert not is_canonical(wide)
    wide.indptr = wide.indptr.astype(np.int64)
    assert is_canonical(wide)


def test_ends_and_trees():
    for dtype in (np.int32, np.int64):
        edges = np.array([[0, 1], [2, 1]], dtype=dtype)
        ends = ready_ends(edges, 3)
        assert ends.dtype == np.int32 and ends.tolist() == edges.tolist()
        wrong = [np.array(some, dtype=dtype) for some in ([[0, 3]], [[-1, 0]], [[1, 1]])]
        # what is unusual is left to others
        wrong += [edges.tolist(), edges.astype(float), edges.T.copy().T, edges[:, :1], edges[:0]]
        for other in (*wrong, None):
            assert ready_ends(other, 3) is None
    ends, marks = ready_tree(np.array([1, -1, 1, 2, -1]), 5)
    assert ends.tolist() == [[1, 0], [1, 2], [2, 3]]
    assert marks.tolist() == [2, 1, 0, 2, 3] and marks.dtype == np.uint8
    for parents in ([0], [1, 0], [-1, 2, 1], [-1, 3, 1, 2], [-1, 5], [-2, 0]):
        assert ready_tree(np.array(parents), len(parents)) == (None, None)
    for other in ([-1, 0], np.array([-1.0, 0.0]), np.array([-1]), np.array([[-1, 0]]), None):
        assert ready_tree(other, 2) == (None, None)
