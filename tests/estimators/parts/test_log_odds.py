"""PartsModel: scores as log odds."""

import numpy as np
import pytest

from sskit import PartsModel
from sskit.datasets import make_score_maps
from sskit.models.parts.log_odds import N_BINS, TrueScores, as_log_odds

PARENTS = [1, -1, 1]


def figures(n, seed=0, shape=(12, 14)):
    """A body with an arm on its right and a leg below, on maps with clutter."""
    rng = np.random.default_rng(seed)
    body = rng.integers([2, 2], [9, 7], size=(n, 2))
    arm = body + [3, 0] + rng.integers(-1, 2, size=(n, 2))
    leg = body + np.where(rng.random((n, 1)) < 0.5, [-1, 4], [1, 4])
    places = np.stack([arm, body, leg], axis=1)
    return make_score_maps(places, shape, clutter=2.0, random_state=seed), places


X, Y = figures(24)


def fit(X=X, Y=Y, weight=None, **parameters):
    options = {"n_types": 1, "tol": 0.1, "random_state": 0} | parameters
    return PartsModel(PARENTS, **options).fit(X, Y, sample_weight=weight)


def log_odds_curves(maps, places, weight):
    true = TrueScores.of(maps, places, weight)
    return true.curves(true.count(maps, weight))


def test_curves_count_scores():
    rng = np.random.default_rng(0)
    maps = [rng.integers(0, 4, size=(1, 5, n)).astype(float) for n in (4, 6, 9)]
    places = rng.integers(0, 4, size=(3, 1, 2))
    curve = log_odds_curves(maps, places, None)[0]
    true = np.array([x[0, y[0, 1], y[0, 0]] for x, y in zip(maps, places, strict=True)])
    starts = np.unique(true)
    bins = [x[0][..., None] >= starts for x in maps]
    anywhere = np.mean([[(b.sum(-1) == j).mean() for j in range(len(starts) + 1)] for b in bins], 0)
    unseen = 1 / 4  # of three samples and the next one
    at_truth = np.array([unseen, *[(true == start).mean() for start in starts]]) / (1 + unseen)
    first = 0 if anywhere[0] else 1
    expected = np.log(at_truth / np.where(anywhere, anywhere, 1))[first:]
    got = np.interp(starts, *curve.T)
    assert (np.diff(curve, axis=0) >= 0).all()
    if (np.diff(expected) >= 0).all():
        np.testing.assert_allclose(got, expected[1 - first :])
    else:  # pooled values lie between those they are pooled from
        assert expected.min() <= got.min() and got.max() <= expected.max()


def test_bins_hold_equal_shares_of_the_truth():
    scores = np.random.default_rng(1).permutation(240).astype(float)
    for n, n_bins in ((240, N_BINS), (1, 1), (9, 3), (28, 4), (90, N_BINS)):
        maps, places = [np.array([[[s, -1.0]]]) for s in scores[:n]], np.zeros((n, 1, 2), dtype=int)
        for weight in (None, np.full(n, 1e-300)):
            curve, unseen = log_odds_curves(maps, places, weight)[0], max(0.01, 1 / (1 + n))
            assert len(np.unique(curve[:, 0])) == 1 + n_bins
            np.testing.assert_allclose(curve[0, 1], np.log(2 * unseen / (1 + unseen)))
            if n == 240:
                np.testing.assert_allclose(curve[:, 0], [-1.0, *np.arange(9.5, 240.0, 20.0)])
                # half of all cells are true
                np.testing.assert_allclose(curve[1:, 1], np.log(2 / 1.01))


def test_maps_that_say_nothing_or_all():
    for value in (0.0, 1.0, -1e150):
        flat = [np.full((3, 4, 4), value) for _ in range(6)]
        model = fit(flat, np.ones((6, 3, 2), dtype=int), scores="log_odds")
        assert np.isfinite(model.score_curves_).all() and np.isfinite(model.coef_).all()
        assert not np.ptp(model.score_curves_[..., 1])
    maps = np.zeros((8, 3, 12, 14), dtype=np.float32)
    for x, pose in zip(maps, Y[:8], strict=True):
        x[range(3), pose[:, 1], pose[:, 0]] = 1.0
    model = fit(list(maps), Y[:8], scores="log_odds")
    assert model.score(maps, Y[:8]) == 1.0
    assert (model.score_curves_[:, 0, 0] == 0).all() and (model.score_curves_[:, 1:, 0] == 1).all()


def test_parts_of_the_data_count_what_all_of_them_do():
    weight = np.arange(24.0) % 3
    for n_parts in (1, 2, 5):
        cuts = np.array_split(np.arange(24), n_parts)
        parts = [([X[i] for i in cut], Y[cut], weight[cut]) for cut in cuts]
        true = sum((TrueScores.of(*part) for part in parts[1:]), TrueScores.of(*parts[0]))
        curves = true.curves(sum(true.count(maps, weight) for maps, _, weight in parts))
        np.testing.assert_allclose(curves, log_odds_curves(X, Y, weight), rtol=1e-12)


def test_it_is_the_model_of_maps_of_log_odds():
    model = fit(scores="log_odds")
    made = as_log_odds(X, model.score_curves_)
    assert made[0].dtype == X[0].dtype
    same = fit(made, scores="raw", lam=model.lam_)
    assert same.score_curves_ is None
    np.testing.assert_array_equal(model.coef_, same.coef_)
    np.testing.assert_array_equal(model.springs_, same.springs_)
    for x, y in zip(model.decision_function(X[:3]), same.decision_function(made[:3]), strict=True):
        np.testing.assert_array_equal(x, y)


def test_damaged_curves():
    model = fit(scores="log_odds", n_types=2)
    curves = model.score_curves_
    for damage in (curves[:2], curves[..., :1], curves * np.nan, list(curves)):
        model.score_curves_ = damage
        with pytest.raises(ValueError, match="score_curves_"):
            model.predict(X[:1])


@pytest.mark.parametrize(("theirs", "ours"), [("raw", "log_odds"), ("log_odds", "raw")])
def test_a_prior_has_scores_of_the_same_kind(theirs, ours):
    source = fit(scores=theirs)
    with pytest.raises(ValueError, match=f"prior is a PartsModel with scores='{theirs}', whose"):
        fit(scores=ours, prior=source)
    assert fit(scores=theirs, prior=source).certified_
