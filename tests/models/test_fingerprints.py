"""Problems are known again by their data and by what they do, and by nothing else."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.models import TREE, bind_poses, pose_data
from helpers.structures import Chains, Classes, Signs, bind
from helpers.toys import bind_chains, bind_rows
from hypothesis import given
from hypothesis import strategies as st

from sskit.core.problem import block_weights
from sskit.models.features import FeatureRows, row_digests, value_digests
from sskit.models.label_sets.model import HierarchyModel, PairwiseModel
from sskit.models.object_hashes import model_digest, sample_digests
from sskit.models.structured.pystruct import PystructAdapter


def offsets(*values):
    return np.array(values, dtype=np.int64)


def test_dense_and_sparse_rows_have_one_digest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 5)) * (rng.random((6, 5)) < 0.7)
    stored = sp.csr_array(X)
    stored.data[:3] = 0.0  # zeros may be stored
    X = stored.toarray()
    at = offsets(0, 1, 1, 4, 6)
    dense = row_digests(FeatureRows(X), at)
    np.testing.assert_array_equal(dense, row_digests(FeatureRows(stored), at))
    np.testing.assert_array_equal(dense, row_digests(FeatureRows(-1.0 * -X), at))
    assert len(set(dense.tolist())) == 4


@given(
    st.lists(st.floats(-2, 2, width=16), min_size=6, max_size=6),
    st.integers(0, 5),
    st.floats(-2, 2, width=16),
)
def test_a_digest_sees_every_value(values, place, value):
    X = np.array(values).reshape(3, 2)
    other = X.copy()
    other.flat[place] = value
    for changed in (other, X[::-1], X[:, ::-1]):  # the order too
        both = X, np.ascontiguousarray(changed)
        one, two = (row_digests(FeatureRows(x), offsets(0, 3))[0] for x in both)
        assert (one == two) == (changed == X).all()
        one, two = (value_digests(x.ravel() + 0.0, offsets(0, 6))[0] for x in both)
        assert (one == two) == (changed == X).all()
    # and where rows end
    split, whole = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[1.0, 2.0], [0.0, 0.0]])
    one, two = (row_digests(FeatureRows(x), offsets(0, 2))[0] for x in (split, whole))
    assert one != two
    assert value_digests(np.zeros(2), offsets(0, 2)) != value_digests(np.zeros(1), offsets(0, 1))


def test_what_is_written_otherwise_is_the_same():
    """What changes is told apart by estimators, in their test of warm starts."""
    chains = [np.arange(6.0).reshape(3, 2), np.ones((2, 2))], [np.array([0, 1, 2]), np.ones(2, int)]
    rows = np.arange(8.0).reshape(4, 2), [0, 1, 2, 0]
    known = [
        bind(*data, 3).problem.fingerprint()
        for bind, data in ((bind_chains, chains), (bind_rows, rows))
    ]
    everything = np.ones((3, 3), dtype=bool)
    for options in ({"form": "csr"}, {"weights": [1.0, 7.0]}, {"allowed": everything}):
        same = bind_chains(*chains, 3, **options).problem.fingerprint()
        assert same.difference(known[0]) is None
    assert bind_rows(*rows, 3, "csr").problem.fingerprint().difference(known[1]) is None
    assert known[0].difference(known[1]) == "the model changed from multiclass to chain"


def changes_of(bind, *cases):
    """Compare a problem with others, each by what is changed and what is said of it."""
    first = bind().fingerprint()
    for changes, sentence in cases:
        assert bind(**changes).fingerprint().difference(first) == sentence


def test_structures():
    X, Y = [np.ones(2), np.zeros(2), np.ones(2)], [0, 1, 2]
    changes_of(
        lambda model=None, data=(X, Y): bind(model or Classes(), *data),
        ({"data": ([x.copy() for x in X], Y)}, None),  # an equal object is the same
        ({"model": Classes(sparse=True)}, "the model object changed"),
        ({"model": Chains(3), "data": ([np.ones((1, 2))], [np.zeros(1, dtype=int)])},
         "the model object changed"),
    )  # fmt: skip


class Plain:
    """An object without get_params."""

    def __init__(self, cost):
        self.cost = cost
        self._n_calls = 0


def test_objects_without_parameters_are_known_by_their_public_attributes():
    one, two = Plain(1.0), Plain(1.0)
    two._n_calls = 5
    assert model_digest(one) == model_digest(two) != model_digest(Plain(2.0))
    assert model_digest(PystructAdapter(one)) != model_digest(PystructAdapter(one, exact=True))
    with pytest.raises(TypeError, match=r"^X\[1\] cannot be pickled"):
        sample_digests([0, lambda x: x], "X")
    with pytest.raises(TypeError, match="^the model cannot be pickled"):
        model_digest(Signs({"loss": lambda y_true, y: 0.0}))


def test_sets_of_labels():
    rng = np.random.default_rng(0)
    X, truths = rng.normal(size=(5, 3)), rng.integers(2, size=(5, 4)).astype(np.uint8)

    def bind_pairs(intercept=True, inference="auto", x=X, weight=None):
        model = PairwiseModel(3, 4, TREE, intercept, inference)
        return model.bind(x, truths, np.ones(4), block_weights(5, weight))

    changes_of(
        bind_pairs,
        ({}, None),
        ({"x": sp.csr_array(X)}, None),
        ({"weight": [1, 2, 3, 4, 5]}, None),
        ({"inference": "exhaustive"}, None),
        ({"intercept": False}, "fit_intercept changed from True to False"),
    )
    one, two = (
        HierarchyModel(3, 4, hierarchy, True)
        .bind(X, np.ones_like(truths), np.ones(4), block_weights(5))
        .fingerprint()
        for hierarchy in ([-1, 0, 0, 1], [[1, 0], [2, 0], [3, 1]])
    )
    assert two.difference(one) is None


def test_poses():
    maps, places, parents, means = pose_data(np.random.default_rng(8), n=3, largest=4)
    given = {"maps": maps, "places": places, "parents": parents, "means": means}
    first = bind_poses(**given)[1].fingerprint()
    for changes, told in [
        ({}, "None"),
        ({"maps": [*maps[:2], maps[2] + 1]}, "X[2] changed"),
        ({"places": np.stack([places[0], places[1] * 0, places[2]])}, "y[1] changed"),
        ({"means": means + 1}, "means"),
        ({"loss": "distance"}, "loss"),
        ({"cutoff": 0.3}, "loss"),
        ({"unit": 2.5}, "unit"),
    ]:
        other = bind_poses(**given | changes)[1].fingerprint()
        assert told in str(other.difference(first))
