"""SequenceTagger with features of edges has tables of weights for them, which a plain fit forgets.

Objectives and predictions are those of enumeration in tests/estimators/test_enumeration.py.
"""

import numpy as np
import pandas as pd
import pytest

from sskit import SequenceTagger
from sskit.datasets import make_chains

X, Y = make_chains(25, n_features=4, n_states=3, max_length=5, min_length=1, random_state=0)


def test_one_label_and_one_token():
    two, one = np.ones((2, 3)), np.ones((1, 3))
    model = SequenceTagger().fit([two, one], [["a", "a"], ["a"]])
    assert model.dual_gap_ == 0 and model.predict([one])[0].tolist() == ["a"]
    assert model.predict_topk([two], 4)[0].tolist() == [["a", "a"]]
    assert model.decision_function([two])[0].shape == (2, 1)


# ---- three labels in a row have a weight -----------------------------------------------------


def test_what_a_fitted_one_takes_and_refuses():
    model = SequenceTagger(order=2, tol=0.1, random_state=0).fit(X, Y)
    with pytest.raises(ValueError, match="order=2 cannot be combined with beam_size=2"):
        model.set_params(beam_size=2).predict(X)
    with pytest.raises(ValueError, match="the features in X are too large"):
        model.set_params(beam_size=None).predict([np.full((3, 4), 1e305)])
    # a fit of the first order forgets the second
    assert not hasattr(model.set_params(order=1).fit(X, Y), "triples_")
    assert model.predict(X)[0].shape == Y[0].shape


# ---- features of edges --------------------------------------------------------------------------


rng = np.random.default_rng(0)
LENGTHS = [1, 4, 3, 6, 2, 5, 4, 3, 5, 6]
LABELS = [rng.integers(3, size=n) for n in LENGTHS]
ROWS = [rng.normal(size=(n, 3)) + 0.3 * np.eye(3)[y] for n, y in zip(LENGTHS, LABELS, strict=True)]
# whether the next label is the same one
Z = [np.stack([y[1:] == y[:-1], rng.normal(size=len(y) - 1)], axis=1) for y in LABELS]
PAIRS = list(zip(ROWS, Z, strict=True))
OPTIONS = {"random_state": 0, "tol": 1e-3}


def fit(X=PAIRS, **options):
    return SequenceTagger(**OPTIONS | options).fit(X, LABELS)


def test_what_is_learnt_of_edges_and_forgotten_by_plain_sequences():
    tagger = fit()
    assert tagger.edge_coef_.shape == (2, 3, 3) and tagger.n_edge_features_in_ == 2
    assert tagger.score(PAIRS, LABELS) > fit(ROWS).score(ROWS, LABELS)
    # staying is what the first feature says
    stays = tagger.edge_coef_[0]
    assert stays.diagonal().min() > stays[~np.eye(3, dtype=bool)].max()
    tagger.fit(ROWS, LABELS)
    assert not hasattr(tagger, "edge_coef_") and not hasattr(tagger, "n_edge_features_in_")
    with pytest.raises(AttributeError, match="has no attribute 'edge_coef_'"):
        tagger.edge_coef_  # noqa: B018


def test_bad_input_and_other_weights():
    tagger = fit()
    for given, message in (
        (ROWS, "X has no features of edges, but this SequenceTagger was fitted with them"),
        ([(ROWS[1], Z[1][:, :1])], "has 1 features, but SequenceTagger is expecting 2"),
        ([(ROWS[1], Z[2])], r"X\[0\] has 4 tokens, so its edge features must have 3 rows"),
        ([PAIRS[0], ROWS[1]], r"X\[1\] is no pair"),
        ([PAIRS[0], (ROWS[1], np.full((3, 2), 1e304))], "the features in X are too large"),
    ):
        for method in (tagger.predict, tagger.decision_function):
            with pytest.raises(ValueError, match=message):
                method(given)
    # weights may be set
    before = np.concatenate(tagger.decision_function(PAIRS))
    tagger.edge_coef_ = np.zeros((2, 3, 3))
    assert not np.array_equal(np.concatenate(tagger.decision_function(PAIRS)), before)
    with pytest.raises(ValueError, match="X has features of edges, but .* fitted without them"):
        fit(ROWS).predict(PAIRS)
    with pytest.raises(ValueError, match=r"edge features in X are too large: .* X\[1\]"):
        fit([PAIRS[0], (ROWS[1], np.full((3, 2), 1e200)), *PAIRS[2:]])


def test_columns_of_data_frames_keep_their_names():
    """Priors are aligned by them: base/test_prior.py."""
    columns = ["same", "noise"]

    def framed(columns):
        # a sequence of one token has no edges to name
        frames = [pd.DataFrame(z, columns=["same", "noise"])[columns] for z in Z]
        return [(x, z if len(z) else []) for x, z in zip(ROWS, frames, strict=True)]

    data, turned, plain = framed(columns), framed(columns[::-1]), fit()
    tagger = fit(data)
    assert tagger.edge_feature_names_in_.tolist() == columns
    np.testing.assert_array_equal(tagger.edge_coef_, plain.edge_coef_)
    frame = tagger.weights_frame()
    assert set(frame[frame["kind"] == "edge"]["feature"]) == set(columns)
    assert "same" in set(tagger.explain(data, 1, 1)["feature"])
    assert all(map(np.array_equal, tagger.predict(data), tagger.predict(PAIRS)))
    message = "the columns of the edge features of X are 'noise', 'same', but SequenceTagger was"
    for call, told in (
        (lambda: tagger.predict(turned), message),
        (
            lambda: fit(data[:5] + turned[5:]),
            r"the columns of the edge features of X\[5\] are",
        ),
        (lambda: tagger.partial_fit(turned, LABELS), "'noise', 'same'"),
    ):
        with pytest.raises(ValueError, match=told):
            call()
    assert tagger.partial_fit(PAIRS, LABELS).edge_feature_names_in_.tolist() == columns
