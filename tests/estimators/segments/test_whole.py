"""SegmentTagger with features of whole segments."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from sskit import SegmentTagger


def spread(x, start, end):
    """Return how far the values of a segment lie apart."""
    values = x[start:end, 0]
    between = values.max() - values.min()
    return np.array([between, between > 1])


def data(n=40):
    """Return sequences whose segments are constant or not, at any level: only the whole tells."""
    rng, X, y = np.random.default_rng(0), [], []
    for _ in range(n):
        values, segments, t = [], [], 0
        for _ in range(3):
            size, label = int(rng.integers(2, 5)), int(rng.integers(2))
            apart = rng.permutation(np.linspace(0, 2, size)) if label else np.zeros(size)
            values.append(rng.normal(0, 3) + apart)
            segments.append((t, t + size, "ab"[label]))
            t += size
        X.append(np.concatenate(values)[:, None])
        y.append(segments)
    return X, y


X, Y = data()


def fit(**parameters):
    given = {"lam": 0.01, "segment_features": spread, "random_state": 0} | parameters
    return SegmentTagger(**given).fit(X[:30], Y[:30])


def test_what_only_the_whole_segment_tells_is_learnt():
    with_features, without = fit(), fit(segment_features=None)
    assert with_features.certified_
    assert with_features.segment_coef_.shape == (2, 2)
    assert with_features.score(X[30:], Y[30:]) > 0.85 > 0.5 > without.score(X[30:], Y[30:])
    assert not {"segment_coef_", "segment_features_"} & set(vars(without))


def test_sparse_and_empty_sequences_and_one_at_a_time():
    model = fit()
    expected = list(model.predict(X[:4]))
    assert list(model.predict([X[0], np.empty((0, 1)), *X[1:4]])) == [
        expected[0], [], *expected[1:]
    ]  # fmt: skip
    assert [model.predict([x])[0] for x in X[:4]] == expected

    def dense(x, start, end):
        return spread(x.toarray(), start, end)

    other = fit(segment_features=lambda x, a, b: [1.0], tol=0.5).segment_features_
    assert other([], 0, 1) == [1.0]
    rows = [sp.csr_matrix(x) for x in X]
    model = SegmentTagger(lam=0.01, segment_features=dense, random_state=0)
    assert model.fit(rows[:30], Y[:30]).score(rows[30:], Y[30:]) > 0.85


def test_data_in_parts():
    dask = pytest.importorskip("dask")
    from sskit.dask import Distributed

    cuts = [slice(0, 13), slice(13, 30)]
    given = [[dask.delayed(items[cut]) for cut in cuts] for items in (X, Y)]
    whole = fit(lam=0.1, tol=1e-2)
    parts = Distributed(clone(whole), client=False).fit(*given).estimator_
    assert parts.primal_objective_ == pytest.approx(whole.primal_objective_, rel=2e-2)
    assert parts.segment_features_ is spread

    def of_parts(x, start, end):
        return np.ones(1 + (x[0] == X[13][0]).all())

    with pytest.raises(ValueError, match="part 1: segment_features gives 2 .* 1 for one of part 0"):
        Distributed(clone(whole).set_params(segment_features=of_parts), client=False).fit(*given)


def test_wrong_answers_are_named():
    numbers = r"^segment_features\(X\[0\], 0, 1\) must "
    for answer, message in (
        (lambda x, a, b: [], numbers + "be numbers"),
        (lambda x, a, b: 3.0, numbers + "be numbers of"),
        (lambda x, a, b: ["a"], numbers + "hold num"),
        (lambda x, a, b: [[1], [1, 2]], r"X\[0\], 0, 1\) is no array"),
        (lambda x, a, b: np.ones(1 + (b - a > 1)),
         r"^segment_features\(X\[0\], 0, 2\) has the shape \(2,\)"),
        (lambda x, a, b: [np.nan], r"^segment_features\(X\[0\], 0, 1\)\[0\] is nan"),
        (lambda x, a, b: [1e120], r"\[0\] is 1e\+120, expected finite numbers"),
        (lambda x, a, b: [0.0 if x[0] == X[0][0] else np.inf],
         r"^segment_features\(X\[1\], 0, 1\)\[0\] is inf"),
        (lambda x, a, b: x.sort(), "read-only"),
        (3, "segment_features"),
    ):  # fmt: skip
        model, before = SegmentTagger(segment_features=answer), [x.copy() for x in X]
        with pytest.raises(ValueError, match=message):
            model.fit(X, Y)
        assert not [name for name in vars(model) if name.endswith("_")]
        assert all(map(np.array_equal, X, before))
    # those in predict by the sequences that are given
    model = fit(lam=1.0, tol=0.5)
    for value in (np.ones((3, 2)), None, np.full((2, 2), np.nan), np.ones((2, 0))):
        with pytest.raises(ValueError, match="segment_coef"):
            changed = pickle.loads(pickle.dumps(model))
            changed.segment_coef_ = value
            changed.predict(X)
    model.segment_features_ = lambda x, a, b: [0.0, np.nan]
    with pytest.raises(ValueError, match=r"^segment_features\(X\[1\], 0, 1\)\[1\] is nan"):
        model.predict([np.empty((0, 1)), X[0], X[1]])


def test_copies_and_saved_models():
    model = pickle.loads(pickle.dumps(fit()))
    model.set_params(segment_features=None)  # what was fitted stays
    assert list(model.predict(X)) == list(fit().predict(X))
    io, model = pytest.importorskip("skops.io"), fit(lam=1.0, tol=0.5)
    saved, own = io.dumps(model), f"{spread.__module__}.spread"
    unknown = io.get_untrusted_types(data=saved)
    assert own in unknown
    with pytest.raises(io.exceptions.UntrustedTypesFoundException):
        io.loads(saved, trusted=[name for name in unknown if name != own])
    assert list(io.loads(saved, trusted=unknown).predict(X)) == list(model.predict(X))


def test_bounds_prior_and_warm_starts():
    model = fit(bounds={"segment_coef": (-0.1, 0.1)})
    assert np.abs(model.segment_coef_).max() <= 0.1
    model = fit(lam=1e6, prior={"segment_coef_": np.eye(2)})
    for near in (model, fit(lam=1e6, prior=model)):
        np.testing.assert_allclose(near.segment_coef_, np.eye(2), atol=1e-4)
    model = fit(warm_start=True, tol=0.5)
    for function, told in ((None, "the weights"), (lambda x, a, b: [1.0, b - a], "segment_feat")):
        with pytest.raises(ValueError, match=f"{told}.* changed"):
            clone(model).fit(X[:30], Y[:30]).set_params(segment_features=function).fit(
                X[:30], Y[:30]
            )
    model.set_params(tol=0.01).fit(X[:30], Y[:30])
    assert model.dual_gap_ <= 0.01 * (model.primal_objective_ + 10)
