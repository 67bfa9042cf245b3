"""Problems are known again by their data and by what they do, and by nothing else."""

import numpy as np
import pytest
import scipy.sparse as sp
from helpers.models import TREE, bind_poses, pose_data
from helpers.structures import Classes, Signs, bind
from helpers.toys import bind_chains, bind_rows
from hypothesis import given
from hypothesis import strategies as st

from sskit.core.problem import block_weights
from sskit.models.features import FeatureRows, row_digests, value_digests
from sskit.models.label_sets.model import HierarchyModel, PairwiseModel
from sskit.models.object_hashes import model_digest, sample_digests
from sskit.models.rankings.model import RankingModel
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


X, SETS = np.random.default_rng(0).normal(size=(5, 3)), np.eye(5, 4, dtype=np.uint8)


def chains(**options):
    X, y = [np.arange(6.0).reshape(3, 2), np.ones((2, 2))], [np.array([0, 1, 2]), np.ones(2, int)]
    return bind_chains(X, y, 3, **options).problem


def rows(form="dense"):
    return bind_rows(np.arange(8.0).reshape(4, 2), [0, 1, 2, 0], 3, form).problem


def pairs(intercept=True, inference="auto", x=X, weight=None):
    model = PairwiseModel(3, 4, TREE, intercept, inference)
    return model.bind(x, SETS, np.ones(4), block_weights(5, weight))


def hierarchy(given=(-1, 0, 0, 1)):
    model = HierarchyModel(3, 4, given, True)
    return model.bind(X, np.ones_like(SETS), np.ones(4), block_weights(5))


STRUCTURE = Classes()
OTHER = type("Other", (Classes,), {"__module__": Classes.__module__})()


def structure(model=STRUCTURE, x=X):
    return bind(model, list(x), [0, 1, 2, 0, 1])


MAPS, PLACES, PARENTS, MEANS = pose_data(np.random.default_rng(8), n=3, largest=4)


def poses(maps=MAPS, places=PLACES, means=MEANS, **options):
    return bind_poses(maps, places, PARENTS, means, **options)[1]


def rankings(grades=(1.0, 7.5, -3.0, 2.0, 7.5)):
    """Grades are compared within a set."""
    return RankingModel(5).bind(np.eye(5), [0, 2, 5], np.array(grades), np.array([0.5, 0.5]))


@pytest.mark.parametrize(
    ("bind", "changes", "told"),
    [
        (chains, {"form": "csr"}, None),
        (chains, {"weights": [1.0, 7.0]}, None),
        (chains, {"allowed": np.ones((3, 3), dtype=bool)}, None),
        (rows, {"form": "csr"}, None),
        (lambda kind=rows: kind(), {"kind": chains}, "model changed from multiclass to chain"),
        (pairs, {"x": sp.csr_array(X)}, None),
        (pairs, {"weight": [1, 2, 3, 4, 5]}, None),
        (pairs, {"inference": "exhaustive"}, None),
        (pairs, {"intercept": False}, "fit_intercept changed from True to False"),
        (hierarchy, {"given": [[1, 0], [2, 0], [3, 1]]}, None),
        (rankings, {"grades": [0, 1, 0, 1, 2]}, None),
        (structure, {"x": X.copy(), "model": Classes()}, None),  # an equal object is the same
        (structure, {"model": Classes(sparse=True)}, "the model object changed"),
        (structure, {"model": OTHER}, "the model object changed"),
        (poses, {}, None),
        (poses, {"maps": [*MAPS[:2], MAPS[2] + 1]}, "X[2] changed"),
        (poses, {"places": PLACES * [[[1]], [[0]], [[1]]]}, "y[1] changed"),
        (poses, {"means": MEANS + 1}, "means"),
        (poses, {"loss": "distance"}, "loss"),
        (poses, {"cutoff": 0.3}, "loss"),
        (poses, {"unit": 2.5}, "unit"),
    ],
)
def test_what_changes_is_told(bind, changes, told):
    """Other changes are those of estimators, in their test of warm starts."""
    found = bind(**changes).fingerprint().difference(bind().fingerprint())
    assert found is None if told is None else told in found


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
