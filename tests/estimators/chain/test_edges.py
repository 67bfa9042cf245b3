"""Features of edges have tables of weights of their own in SequenceTagger."""

import numpy as np
import pandas as pd
import pytest

from sskit import SequenceTagger

rng = np.random.default_rng(0)
LENGTHS = [1, 4, 3, 6, 2, 5, 4, 3, 5, 6]
Y = [rng.integers(3, size=n) for n in LENGTHS]
X = [rng.normal(size=(n, 3)) + 0.3 * np.eye(3)[y] for n, y in zip(LENGTHS, Y, strict=True)]
# whether the next label is the same one
Z = [np.stack([y[1:] == y[:-1], rng.normal(size=len(y) - 1)], axis=1) for y in Y]
PAIRS = list(zip(X, Z, strict=True))
OPTIONS = {"random_state": 0, "tol": 1e-3}


def fit(X=PAIRS, **options):
    return SequenceTagger(**{**OPTIONS, **options}).fit(X, Y)


def test_what_is_learnt():
    tagger = fit()
    assert tagger.edge_coef_.shape == (2, 3, 3) and tagger.n_edge_features_in_ == 2
    assert tagger.score(PAIRS, Y) > fit(X).score(X, Y)
    # staying is what the first feature says
    stays = tagger.edge_coef_[0]
    assert stays.diagonal().min() > stays[~np.eye(3, dtype=bool)].max()
    # one of plain sequences forgets it
    tagger.fit(X, Y)
    assert not hasattr(tagger, "edge_coef_") and not hasattr(tagger, "n_edge_features_in_")
    with pytest.raises(AttributeError, match="has no attribute 'edge_coef_'"):
        tagger.edge_coef_  # noqa: B018


def test_bad_input_and_other_weights():
    tagger = fit()
    for given, message in (
        (X, "X has no features of edges, but this SequenceTagger was fitted with them"),
        ([(X[1], Z[1][:, :1])], "has 1 features, but SequenceTagger is expecting 2"),
        ([(X[1], Z[2])], r"X\[0\] has 4 tokens, so its edge features must have 3 rows"),
        ([PAIRS[0], X[1]], r"X\[1\] is no pair"),
        ([PAIRS[0], (X[1], np.full((3, 2), 1e304))], "the features in X are too large"),
    ):
        for method in (tagger.predict, tagger.decision_function):
            with pytest.raises(ValueError, match=message):
                method(given)
    # weights may be set
    before = np.concatenate(tagger.decision_function(PAIRS))
    tagger.edge_coef_ = np.zeros((2, 3, 3))
    assert not np.array_equal(np.concatenate(tagger.decision_function(PAIRS)), before)
    with pytest.raises(ValueError, match="X has features of edges, but .* fitted without them"):
        fit(X).predict(PAIRS)
    with pytest.raises(ValueError, match=r"edge features in X are too large: .* X\[1\]"):
        fit([PAIRS[0], (X[1], np.full((3, 2), 1e200)), *PAIRS[2:]])


def test_columns_of_data_frames_keep_their_names():
    """Priors are aligned by them: base/test_prior.py."""
    columns = ["same", "noise"]

    def framed(columns):
        # a sequence of one token has no edges to name
        frames = [pd.DataFrame(z, columns=["same", "noise"])[columns] for z in Z]
        return [(x, z if len(z) else []) for x, z in zip(X, frames, strict=True)]

    data, turned, plain = framed(columns), framed(columns[::-1]), fit()
    tagger = fit(data)
    assert tagger.edge_feature_names_in_.tolist() == columns
    assert not hasattr(plain, "edge_feature_names_in_")
    np.testing.assert_array_equal(tagger.edge_coef_, plain.edge_coef_)
    frame = tagger.weights_frame()
    assert set(frame[frame["kind"] == "edge"]["feature"]) == set(columns)
    assert "same" in set(tagger.explain(data, 1, 1)["feature"])
    assert all(map(np.array_equal, tagger.predict(data), tagger.predict(PAIRS)))
    message = "the columns of the edge features of X are 'noise', 'same', but SequenceTagger was"
    for call, told in (
        (lambda: tagger.predict(turned), message),
        (lambda: fit(data[:5] + turned[5:]), r"the columns of the edge features of X\[5\] are"),
        (lambda: tagger.partial_fit(turned, Y), "'noise', 'same'"),
    ):
        with pytest.raises(ValueError, match=told):
            call()
    assert tagger.partial_fit(PAIRS, Y).edge_feature_names_in_.tolist() == columns
