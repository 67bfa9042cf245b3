"""SequenceTagger with features of edges."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction import DictVectorizer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from sskit import EarlyStopping, RegularizationPath, SequenceTagger, SlackRescaling, TreeTagger
from sskit.inputs.ragged_array import object_array
from sskit.preprocessing import TokenTransformer
from sskit.solvers import BCFW

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


def objective(tagger, lam):
    """P(w), by the potentials of the fitted attributes and all labels one by one."""
    value = 0.5 * lam * sum(
        float(np.sum(getattr(tagger, name) ** 2))
        for name in ("coef_", "transitions_", "start_", "end_", "edge_coef_")
    )  # fmt: skip
    for x, z, y in zip(X, Z, Y, strict=True):
        unary = x @ tagger.coef_.T
        unary[0] += tagger.start_
        unary[-1] += tagger.end_
        pairs = tagger.transitions_ + np.einsum("jab,ej->eab", tagger.edge_coef_, z)
        steps = np.arange(len(y) - 1)
        truth = unary[np.arange(len(y)), y].sum() + pairs[steps, y[:-1], y[1:]].sum()
        best = unary[0] + (y[0] != np.arange(3))
        for t in range(1, len(y)):
            best = (best[:, None] + pairs[t - 1]).max(axis=0) + unary[t] + (y[t] != np.arange(3))
        value += (best.max() - truth) / len(X)
    return value


def test_fit_is_certified_by_the_definition():
    tagger = fit()
    assert tagger.edge_coef_.shape == (2, 3, 3)
    assert tagger.n_edge_features_in_ == 2
    assert tagger.certified_
    assert tagger.primal_objective_ == pytest.approx(objective(tagger, tagger.lam_))
    assert tagger.score(PAIRS, Y) > SequenceTagger(**OPTIONS).fit(X, Y).score(X, Y)
    # staying is what the first feature says
    stays = tagger.edge_coef_[0]
    assert stays.diagonal().min() > stays[~np.eye(3, dtype=bool)].max()


def test_dense_and_sparse_are_one():
    tagger = fit()
    np.testing.assert_array_equal(fit(object_array(PAIRS)).edge_coef_, tagger.edge_coef_)
    sparse = [(sp.csr_array(x), sp.csr_array(z)) for x, z in PAIRS]
    assert fit(sparse).primal_objective_ == pytest.approx(tagger.primal_objective_, rel=2e-3)
    single = fit([(x.astype(np.float32), z.astype(np.float32)) for x, z in PAIRS])
    assert single.primal_objective_ == pytest.approx(tagger.primal_objective_, rel=2e-3)
    halves = [(x.astype(np.float16), z.astype(np.float16)) for x, z in PAIRS]
    as_doubles = [(x.astype(float), z.astype(float)) for x, z in halves]
    assert fit(halves).primal_objective_ == fit(as_doubles).primal_objective_
    for items in (sparse, object_array(PAIRS)):
        np.testing.assert_allclose(
            np.concatenate(tagger.decision_function(items)),
            np.concatenate(tagger.decision_function(PAIRS)),
        )


def test_a_constant_feature_is_one_more_table():
    """Two tables that share the weight of one: that of half the regularisation of transitions."""
    ones = [(x, np.full((len(x) - 1, 1), 1.0)) for x in X]
    lam = 0.05
    edged = SequenceTagger(lam=lam, random_state=0, tol=1e-6).fit(ones, Y)
    np.testing.assert_allclose(edged.edge_coef_[0], edged.transitions_, atol=1e-9)
    # forbidding one of them leaves the plain model
    only = SequenceTagger(
        lam=lam, random_state=0, tol=1e-6, bounds={"transitions": (0.0, 0.0)}
    ).fit(ones, Y)
    plain = SequenceTagger(lam=lam, random_state=0, tol=1e-6).fit(X, Y)
    assert only.primal_objective_ == pytest.approx(plain.primal_objective_, rel=1e-5)
    np.testing.assert_allclose(only.edge_coef_[0], plain.transitions_, atol=0.02)


@pytest.mark.parametrize(
    "options",
    [
        {"solver": "multi_plane"},
        {"solver": "frank_wolfe", "tol": 0.05},
        {"solver": "cutting_plane"},
        {"solver": BCFW(steps="fw"), "tol": 0.02},
        {"solver": "gdmm"},
        {"solver": "soft_bcfw", "tol": 0.5},
        {"solver": "subgradient", "tol": 0.2},
        {"n_jobs": 2},
        {"loss": "hamming_sum", "class_weight": {0: 1.0, 1: 1.0, 2: 1.0}},
    ],
    ids=str,
)
def test_all_solvers_find_the_optimum(options):
    best = fit(lam=0.1).primal_objective_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = fit(lam=0.1, max_iter=500, **options)
    assert best * (1 - 2e-3) <= found.primal_objective_ <= best * (1 + options.get("tol", 4e-3))


def test_bounds_by_block():
    tagger = fit(bounds={"edge_coef": (-0.05, 0.1)})
    assert tagger.edge_coef_.max() == 0.1
    assert tagger.edge_coef_.min() == -0.05
    assert np.abs(tagger.coef_).max() > 0.1
    lower = np.zeros((2, 3, 3))
    lower[1, 0, 1] = 0.25
    assert fit(bounds={"edge_coef": (lower, None)}).edge_coef_[1, 0, 1] >= 0.25
    with pytest.raises(ValueError, match=r"array of shape \(2, 3, 3\)"):
        fit(bounds={"edge_coef": (np.zeros((3, 3, 2)), None)})


@pytest.mark.parametrize("search", ["auto", "bisecting", "angular"])
def test_slack_rescaling(search):
    tagger = fit(rescaling=SlackRescaling(search))
    assert tagger.primal_objective_ >= tagger.dual_objective_
    if search == "auto":
        assert tagger.certified_


def test_rules_hold_at_edges_with_features():
    allowed = np.ones((3, 3), dtype=bool)
    allowed[0, 1] = False
    tagger = fit(allowed_transitions=allowed, on_violation="ignore")
    for found in (tagger.predict(PAIRS), tagger.set_params(beam_size=2).predict(PAIRS)):
        assert all(allowed[y[:-1], y[1:]].all() for y in found)


def test_known_labels_top_k_and_marginals_agree():
    tagger = fit()
    known = [[None] * (len(y) - 1) + [{0, 2}] for y in Y]
    best, top = tagger.predict(PAIRS, known=known), tagger.predict_topk(PAIRS, 3, known=known)
    scores = tagger.decision_function(PAIRS, known=known)
    for y, labels, table in zip(best, top, scores, strict=True):
        assert y[-1] in (0, 2)
        np.testing.assert_array_equal(labels[0], y)
        assert table[-1, 1] == -np.inf
        assert table.max() == pytest.approx(table[0, y[0]])


def test_empty_and_single_sequences():
    tagger = fit()
    whole = tagger.predict(PAIRS)
    for i, pair in enumerate(PAIRS):
        np.testing.assert_array_equal(tagger.predict([pair])[0], whole[i])
    nothing = np.empty((0, 3)), np.empty((0, 2))
    found = tagger.predict([nothing, PAIRS[3], nothing])
    assert [len(y) for y in found] == [0, 6, 0]
    np.testing.assert_array_equal(found[1], whole[3])


@pytest.mark.parametrize("weights", [None, np.arange(10) % 3 / 2])
def test_warm_start_knows_features_of_edges(weights):
    tagger = SequenceTagger(random_state=0, warm_start=True, lam=0.1)
    tagger.fit(PAIRS, Y, weights)
    more = tagger.set_params(tol=1e-4).fit(PAIRS, Y, weights)
    cold = SequenceTagger(random_state=0, lam=0.1, tol=1e-4).fit(PAIRS, Y, weights)
    assert more.primal_objective_ == pytest.approx(cold.primal_objective_, rel=2e-4)
    other = [*PAIRS[:-1], (X[-1], Z[-1] + 1.0)]
    with pytest.raises(ValueError, match=r"the edge features of X\[9\] changed"):
        tagger.fit(other, Y, weights)
    with pytest.raises(ValueError, match="the number of edge features changed from 2 to 0"):
        tagger.fit(X, Y, weights)


def test_weights_of_samples_are_copies():
    weighted = SequenceTagger(random_state=0, lam=0.1, tol=1e-5)
    weighted.fit(PAIRS, Y, np.repeat([2.0, 1.0], 5))
    copies = SequenceTagger(random_state=0, lam=0.1, tol=1e-5).fit(PAIRS[:5] + PAIRS, Y[:5] + Y)
    assert weighted.primal_objective_ == pytest.approx(copies.primal_objective_, rel=1e-4)


def test_tools_take_pairs():
    search = GridSearchCV(SequenceTagger(random_state=0), {"lam": [0.01, 0.1]}, cv=2).fit(PAIRS, Y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    path = RegularizationPath(SequenceTagger(random_state=0)).fit(PAIRS, Y)
    assert path.estimator_at(0.1).edge_coef_.shape == (2, 3, 3)
    assert path.predict(PAIRS)[0].shape == Y[0].shape
    stopped = EarlyStopping(SequenceTagger(random_state=0), random_state=0).fit(PAIRS, Y)
    assert stopped.estimator_.edge_coef_.shape == (2, 3, 3)


def test_pickles_predict_the_same():
    tagger = fit()
    again = pickle.loads(pickle.dumps(tagger))
    np.testing.assert_array_equal(again.edge_coef_, tagger.edge_coef_)
    np.testing.assert_array_equal(
        np.concatenate(again.decision_function(PAIRS)),
        np.concatenate(tagger.decision_function(PAIRS)),
    )


def test_weights_may_be_set():
    tagger = fit()
    before = np.concatenate(tagger.decision_function(PAIRS))
    tagger.edge_coef_ = np.zeros((2, 3, 3))
    assert not np.array_equal(np.concatenate(tagger.decision_function(PAIRS)), before)
    tagger.edge_coef_ = np.zeros((1, 3, 3))
    with pytest.raises(ValueError, match="edge_coef_ must have the shape"):
        tagger.predict(PAIRS)
    tagger.edge_coef_ = np.full((2, 3, 3), np.nan)
    with pytest.raises(ValueError, match=r"edge_coef_\[0, 0, 0\] is nan"):
        tagger.predict(PAIRS)


def test_scores_that_overflow_are_named():
    tagger = fit()
    with pytest.raises(ValueError, match="the features in X are too large"):
        tagger.predict([PAIRS[0], (X[1], np.full((3, 2), 1e304))])
    with pytest.raises(ValueError, match=r"edge features in X are too large: .* X\[1\]"):
        fit([PAIRS[0], (X[1], np.full((3, 2), 1e200)), *PAIRS[2:]])


def test_refit_without_edges_forgets_them():
    tagger = fit().fit(X, Y)
    assert not hasattr(tagger, "edge_coef_")
    assert not hasattr(tagger, "n_edge_features_in_")
    assert tagger.predict(X)[0].shape == Y[0].shape
    with pytest.raises(AttributeError, match="has no attribute 'edge_coef_'"):
        tagger.edge_coef_  # noqa: B018


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (X, "X has no features of edges, but this SequenceTagger was fitted with them"),
        (
            [(X[1], Z[1][:, :1])],
            "has 1 features, but SequenceTagger is expecting 2",
        ),
        ([(X[1], Z[2])], r"X\[0\] has 4 tokens, so its edge features must have 3 rows"),
        ([PAIRS[0], X[1]], r"X\[1\] is no pair"),
    ],
)
def test_bad_input_of_predictions(given, message):
    tagger = fit()
    for method in (tagger.predict, tagger.decision_function):
        with pytest.raises(ValueError, match=message):
            method(given)
    with pytest.raises(ValueError, match="X has features of edges, but .* fitted without them"):
        SequenceTagger(random_state=0).fit(X, Y).predict(PAIRS)


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_kernels_refuse(kernel):
    with pytest.raises(ValueError, match="cannot be combined with features of edges"):
        SequenceTagger(kernel=kernel).fit(PAIRS, Y)


def test_trees_refuse():
    with pytest.raises(ValueError, match=r"parents of X\[0\] must be integers"):
        TreeTagger().fit(PAIRS[1:], Y[1:])


@pytest.mark.slow
def test_many_features_of_edges_fit_into_memory():
    """22 labels and 100,000 features are 48 million weights."""
    rng = np.random.default_rng(0)
    y = [rng.permutation(22) for _ in range(20)]
    X = [np.eye(22)[labels] + 0.3 * rng.normal(size=(22, 22)) for labels in y]
    columns = [rng.integers(100_000, size=21) for _ in y]
    edges = [
        sp.csr_array((np.ones(21), (np.arange(21), at)), shape=(21, 100_000)) for at in columns
    ]
    pairs = list(zip(X, edges, strict=True))
    tagger = SequenceTagger(random_state=0).fit(pairs, y)
    assert tagger.certified_
    assert tagger.edge_coef_.shape == (100_000, 22, 22)
    used = np.unique(np.concatenate(columns))
    assert not np.delete(tagger.edge_coef_, used, axis=0).any()
    assert tagger.score(pairs, y) > 0.9


def test_pipeline_from_words():
    words = ["the dog barks", "stop", "a dog is it", "the end"] * 2
    sentences = [[{"w": w, "n": len(w)} for w in s.split()] for s in words]
    y = [np.array(["D", "N", "V", "P"])[: len(s)] for s in sentences]
    pipe = make_pipeline(
        TokenTransformer(DictVectorizer(), edges=["w[-1]|w[0]", "n[0]"]),
        SequenceTagger(random_state=0),
    )
    pipe.fit(sentences, y)
    assert pipe.score(sentences, y) == 1.0
    n_names = len(pipe[0].get_edge_feature_names_out())
    assert pipe[-1].edge_coef_.shape == (n_names, 4, 4)
    assert pipe.predict([[], sentences[1]])[1].tolist() == ["D"]
    clone(pipe).fit(sentences, y)


def test_columns_of_data_frames_keep_their_names():
    def framed(columns):
        # a sequence of one token has no edges to name
        return [
            (x, pd.DataFrame(z, columns=["same", "noise"])[columns] if len(z) else [])
            for x, z in PAIRS
        ]

    columns = ["same", "noise"]
    tagger = fit(framed(columns))
    assert tagger.edge_feature_names_in_.tolist() == columns
    assert not hasattr(fit(), "edge_feature_names_in_")
    np.testing.assert_array_equal(tagger.edge_coef_, fit().edge_coef_)
    frame = tagger.weights_frame()
    assert set(frame[frame["kind"] == "edge"]["feature"]) == set(columns)
    assert "same" in set(tagger.explain(framed(columns), 1, 1)["feature"])
    frame = fit().explain(PAIRS, 1, 1, edge_feature_names=["mine", "his"])
    assert "mine" in set(frame["feature"])
    with pytest.raises(ValueError, match="edge_feature_names must be 2 names"):
        fit().explain(PAIRS, 1, 1, edge_feature_names=["mine"])
    assert all(map(np.array_equal, tagger.predict(framed(columns)), tagger.predict(PAIRS)))
    prior = fit(framed(columns[::-1]), prior=tagger, lam=1e6).edge_coef_
    np.testing.assert_allclose(prior[::-1], tagger.edge_coef_, atol=1e-4)
    message = "the columns of the edge features of X are 'noise', 'same', but SequenceTagger was"
    with pytest.raises(ValueError, match=message):
        tagger.predict(framed(columns[::-1]))
    with pytest.raises(ValueError, match=r"the columns of the edge features of X\[5\] are"):
        fit(framed(columns)[:5] + framed(columns[::-1])[5:])
    with pytest.raises(ValueError, match="'noise', 'same'"):
        tagger.partial_fit(framed(columns[::-1]), Y)
    assert tagger.partial_fit(PAIRS, Y).edge_feature_names_in_.tolist() == columns
