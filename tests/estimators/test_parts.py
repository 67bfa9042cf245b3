"""Predictions of PartsModel are those of its oracle, its objective that of enumeration.

Scores of maps become log odds by curves that count; what is wrong is named by its part.
"""

import copy

import numpy as np
import pytest
from helpers.refusals import refused
from helpers.trees import enumerate_parts
from sklearn.base import clone

from sskit import PartsModel, SlackRescaling
from sskit.datasets import make_score_maps
from sskit.estimators.combinations import refusal
from sskit.models.parts.log_odds import N_BINS, TrueScores, as_log_odds
from sskit.oracles import parts_max_marginals, parts_max_sum

PARENTS = [1, -1, 1]
OPTIONS = {"tol": 0.05, "n_types": 2, "random_state": 0}


def figures(n, seed=0, shape=(12, 14)):
    """A body with an arm on its right and a leg below, on maps with clutter."""
    rng = np.random.default_rng(seed)
    body = rng.integers([2, 2], [9, 7], size=(n, 2))
    arm = body + [3, 0] + rng.integers(-1, 2, size=(n, 2))
    leg = body + np.where(rng.random((n, 1)) < 0.5, [-1, 4], [1, 4])
    y = list(np.stack([arm, body, leg], axis=1))
    X = make_score_maps(y, shape, blur=1.0, jitter=0.3, clutter=2.0, random_state=seed)
    return X, y


X, Y = figures(40)
X_TEST, Y_TEST = figures(40, seed=1)


@pytest.fixture(scope="module")
def fitted():
    return PartsModel(PARENTS, **OPTIONS).fit(X, Y)


def springs_of(model):
    """The fitted springs in cells, as the oracle takes them."""
    numbers = np.zeros((3, 2, 2, 3))
    numbers[..., 0] = model.springs_[..., 0] / model.unit_
    numbers[..., 1] = model.springs_[..., 1] / model.unit_**2
    numbers[..., 2] = np.nan_to_num(model.means_)
    numbers[1, :, :, 1] = 1.0
    return numbers[:, :, ::-1]


def test_slack_rescaling_has_no_exact_search_and_a_wide_certificate():
    slack = PartsModel(PARENTS, rescaling="slack", tol=0.1, random_state=0).fit(X, Y)
    assert slack.certified_ and slack.dual_gap_ > slack.history_["inexactness"][-1] > 0


def test_predictions_are_those_of_the_oracle(fitted):
    assert fitted.coef_.shape == (3,) and fitted.types_.shape == (3, 2)
    assert (fitted.coef_ > 0).all() and fitted.springs_.shape == (3, 2, 2, 2)
    assert (fitted.springs_[[0, 2], ..., 1] >= 0.01).all() and not fitted.springs_[1].any()
    assert np.isnan(fitted.means_[1]).all() and np.isfinite(fitted.means_[[0, 2]]).all()
    np.testing.assert_allclose(sorted(fitted.means_[2, :, 0]), [-1, 1], atol=1e-9)
    assert fitted.certified_ and fitted.n_features_in_ == 3 and fitted.lam_ == 10 / 40
    predicted, marginals = fitted.predict(X_TEST[:5]), fitted.decision_function(X_TEST[:5])
    assert predicted.dtype == marginals.dtype == object
    springs, log_odds = springs_of(fitted), as_log_odds(X_TEST[:5], fitted.score_curves_)
    for x, places, best in zip(log_odds, predicted, marginals, strict=True):
        scores = fitted.coef_[:, None, None] * x
        expected, _, score = parts_max_sum(scores, PARENTS, springs, bias=fitted.types_)
        assert places.dtype == np.int64
        np.testing.assert_array_equal(places, expected[:, ::-1])
        np.testing.assert_allclose(best.max(axis=(1, 2)), score)
        expected = parts_max_marginals(scores, PARENTS, springs, bias=fitted.types_)
        np.testing.assert_allclose(best, expected, atol=1e-10)


def test_score_is_the_share_of_detected_parts(fitted):
    truth, predicted = np.array(Y_TEST), np.stack(fitted.predict(X_TEST))
    distance = np.linalg.norm(predicted - truth, axis=2)
    torso = np.linalg.norm(truth[:, 0] - truth[:, 1], axis=1)
    size, model = np.ptp(truth, axis=1).max(axis=1), copy.copy(fitted)
    for given, unit in (({}, 0.2 * size), ({"torso": (0, 1), "radius": 0.5}, 0.5 * torso)):
        expected = (distance <= unit[:, None]).mean()
        assert model.set_params(**given).score(X_TEST, Y_TEST) == pytest.approx(expected)


def test_grids_of_different_sizes_and_both_types(fitted):
    wide = [np.pad(x, ((0, 0), (0, i % 3), (0, i % 4)), constant_values=-1)
            for i, x in enumerate(X)]  # fmt: skip
    assert clone(fitted).fit(wide, Y).score(wide, Y) > 0.65
    # log odds are of the type of the maps, and rounded to it
    raw = clone(fitted).set_params(scores="raw", tol=0.3)
    single, double = raw.fit(X, Y), clone(raw).fit([x.astype(np.float64) for x in X], np.array(Y))
    np.testing.assert_array_equal(double.coef_, single.coef_)
    assert all(map(np.array_equal, double.predict(np.array(X_TEST)), single.predict(X_TEST)))


def test_means_and_least_squares_that_are_given(fitted):
    means = np.zeros((3, 1, 2))
    means[[0, 2], 0] = [3, 0], [0, 4]
    model = PartsModel(PARENTS, means=means, **OPTIONS).fit(X, Y)
    np.testing.assert_array_equal(model.means_[[0, 2]], means[[0, 2]])
    assert model.springs_.shape == (3, 1, 2, 2)
    model = clone(fitted).set_params(min_square=0.5).fit(X, Y)
    assert (model.springs_[[0, 2], ..., 1] >= 0.5).all()
    same = clone(fitted).set_params(min_square=np.float32(0.5)).fit(X, Y)
    np.testing.assert_array_equal(same.springs_, model.springs_)


@pytest.mark.parametrize("loss", ["squared", "distance"])
def test_the_unit_of_the_objective(loss):
    given = {"lam": 1e6, "loss": loss, "cutoff": 0.2, "min_square": 1e-6}
    model = PartsModel(PARENTS, **given, **OPTIONS).fit(X, Y)
    # with all weights nearly zero the objective is the mean of the largest losses
    truth, corners = np.array(Y), np.array([[0, 0], [13, 0], [0, 11], [13, 11]])
    scale = np.ptp(truth, axis=1).max(axis=1)
    distance = np.linalg.norm(truth[:, :, None] - corners, axis=3).max(axis=2) / scale[:, None]
    expected = np.minimum(1, (distance / 0.2) ** 2) if loss == "squared" else distance
    assert model.primal_objective_ == pytest.approx(expected.mean(), rel=0.01)
    # the truth has none, however small the cutoff
    model = PartsModel([-1], loss=loss, cutoff=1e-170).fit([np.ones((1, 1, 1))], [[[0, 0]]])
    assert model.primal_objective_ == 0.0


def test_bad_parameters(fitted):
    for parameters, pattern in (
        ({"parents": [1, 0, 1]}, "parents has a cycle"),
        ({"parents": [1, -1, 3]}, r"parents\[2\] is 3"),
        ({"parents": []}, "parents must be integers"),
        ({"parents": [1, -1]}, r"X\[0\] must be numbers of shape \(2, height"),
        ({"torso": (0, 3)}, "torso must be two different parts from 0 to 2"),
        *(({"torso": wrong}, "torso must be two different parts") for wrong in
          ((1, 1), (0, 1, 2), (0, 1.5))),
        ({"means": np.zeros((2, 1, 2))}, r"means must have shape \(3, n_types, 2\)"),
        ({"means": np.full((3, 1, 2), np.nan)}, r"means\[0, 0, 0\] is nan"),
        ({"means": np.full((3, 1, 2), 1e200)}, r"means\[0, 0, 0\] is 1e.200, expected a number of"),
        ({"means": [[1], [2, 3]]}, "^means is no array: its items have different shapes"),
        ({"bounds": {"springs": (None, 0.001)}}, "bounds leave nothing of the model's own"),
        ({"rescaling": SlackRescaling("exact")}, "search='exact' needs"),
        ({"bounds": {"coef": (1e200, None)}}, "leaves no weight at .* nearer to zero than 1e.200"),
    ):  # fmt: skip
        model = PartsModel(**{"parents": PARENTS} | parameters)
        with pytest.raises(ValueError, match=pattern):
            model.fit(X[:5], Y[:5])
    other = clone(fitted).set_params(tol=0.5).fit(X[:5], Y[:5]).set_params(torso=(0, 7))
    with pytest.raises(ValueError, match=r"^torso must be two different parts.*\(0, 7\)"):
        other.score(X[:5], Y[:5])
    for maps, message in (
        (np.zeros((2, 4, 4)), r"X\[0\] must be numbers of shape \(3, height"),
        (np.full((3, 4, 5), 1e200), r"^X\[0\]\[0, 0, 0\] is 1e\+200"),
    ):
        with pytest.raises(ValueError, match=message):
            fitted.predict([maps])
    # one type by another name
    one, true = (PartsModel(PARENTS, n_types=n, tol=0.5).fit(X[:5], Y[:5]) for n in (1, True))
    np.testing.assert_array_equal(one.means_, true.means_)


NAMES = ["arm", "body", "leg"]


def named(X, order=NAMES):
    """The items as dicts by part, in another order."""
    return [{name: x[NAMES.index(name)] for name in order} for x in X]


def test_parts_by_name():
    options = OPTIONS | {"part_names": NAMES, "torso": ("arm", "body")}
    model = PartsModel(PARENTS, **options).fit(named(X, NAMES[::-1]), named(Y))
    by_number = PartsModel(PARENTS, torso=(0, 1), **OPTIONS).fit(X, Y)
    np.testing.assert_array_equal(model.springs_, by_number.springs_)
    assert model.part_names_.tolist() == NAMES and by_number.part_names_ is None
    mixed = [*named(X_TEST[:20]), *X_TEST[20:]]
    for method in ("predict", "decision_function"):
        found, expected = getattr(model, method)(mixed), getattr(by_number, method)(X_TEST)
        assert all(map(np.array_equal, found, expected))
    expected = by_number.score(X_TEST, Y_TEST)
    assert model.score(mixed, [*Y_TEST[:5], *named(Y_TEST[5:])]) == expected


def with_part(items, i, name, value):
    items = named(items)
    items[i] = {key: part for key, part in items[i].items() if key != name}
    if value is not None:
        items[i][name] = value
    return items


def test_bad_parts_are_named():
    for change, pattern in (
        ({"X": with_part(X[:5], 3, "leg", None)}, r"^X\[3\] must have a map of each part .*'leg'"),
        ({"X": with_part(X[:5], 3, "head", X[0][0])}, r"^X\[3\] must have a map .*'head'"),
        ({"X": with_part(X[:5], 2, "leg", X[0][0][1:])}, r"^X\[2\] is no array"),
        ({"X": with_part(X[:5], 2, "leg", [["a"]])}, r"^X\[2\]"),
        ({"X": with_part(X[:5], 2, "leg", X[0][0] * np.nan)}, r"^X\[2\]\[2, 0, 0\] is nan"),
        ({"y": with_part(Y[:5], 1, "arm", None)}, r"^y\[1\] must have a position .*'arm'"),
        ({"y": with_part(Y[:5], 1, "arm", (50, 0))}, r"^y\[1\]\[0\] is \(50, 0\), which is not in"),
        ({"y": with_part(Y[:5], 1, "arm", 3)}, r"^y\[1\] is no array"),
        ({"names": None}, r"^X\[0\] must have a map of each part in part_names=None"),
        ({"names": NAMES[:2]}, "^part_names must be 3 different strings, one for each part"),
        ({"names": ["arm", "body", 2]}, "^part_names must be 3 different strings"),
        ({"names": ["arm", "body", "arm"]}, "^part_names must be 3 different strings"),
    ):
        data = {"X": named(X[:5]), "y": named(Y[:5]), "names": NAMES} | change
        model = PartsModel(PARENTS, part_names=data["names"], **OPTIONS)
        with refused(model, ValueError, pattern):
            model.fit(data["X"], data["y"])


FEW, PLACES = X[:24], np.array(Y[:24])


def fit(X=FEW, Y=PLACES, weight=None, **parameters):
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
    for x, pose in zip(maps, PLACES[:8], strict=True):
        x[range(3), pose[:, 1], pose[:, 0]] = 1.0
    model = fit(list(maps), PLACES[:8], scores="log_odds")
    assert model.score(maps, PLACES[:8]) == 1.0
    assert (model.score_curves_[:, 0, 0] == 0).all() and (model.score_curves_[:, 1:, 0] == 1).all()


def test_it_is_the_model_of_maps_of_log_odds():
    model = fit(scores="log_odds")
    made = as_log_odds(FEW, model.score_curves_)
    assert made[0].dtype == FEW[0].dtype
    same = fit(made, scores="raw", lam=model.lam_)
    assert same.score_curves_ is None
    for name in ("coef_", "springs_"):
        np.testing.assert_array_equal(getattr(model, name), getattr(same, name))
    expected = same.decision_function(made[:3])
    assert all(map(np.array_equal, model.decision_function(FEW[:3]), expected))


def test_weights_beside_which_others_vanish():
    some = np.where(np.arange(len(FEW)) < 12, 1.0, 1e-310)
    for weight in (some, some[::-1]):
        model = fit(weight=weight, n_types=2)
        assert np.abs(model.means_[model.parents_ >= 0]).max() < max(FEW[0].shape)
        assert np.isfinite(model.score_curves_).all() and model.certified_


@pytest.mark.parametrize(("theirs", "ours"), [("raw", "log_odds"), ("log_odds", "raw")])
def test_a_prior_has_scores_of_the_same_kind(theirs, ours):
    source = fit(scores=theirs)
    with pytest.raises(ValueError, match=f"prior is a PartsModel with scores='{theirs}', whose"):
        fit(scores=ours, prior=source)
    assert fit(scores=theirs, prior=source).certified_


FAST = {"n_types": 2, "latent_types": True, "tol": 0.05, "random_state": 0}


RNG = np.random.default_rng(0)
AT = list(RNG.integers((5, 4), size=(8, 3, 2)))
SMALL = make_score_maps(AT, (4, 5), blur=1.0, clutter=2.0, random_state=0)
LATENT = PartsModel(PARENTS, **FAST, lam=1e-3).fit(SMALL, AT)


def objective(model):
    """P(w), by enumeration of all cells of all parts."""
    total = model.lam_ / 2 * sum((b**2).sum() for b in (model.coef_, model.types_, model.springs_))
    for x, y in zip(as_log_odds(SMALL, model.score_curves_), AT, strict=True):
        scores = model.coef_[:, None, None] * x
        scale, cells = max(1.0, np.ptp(y, axis=0).max()), np.indices(x.shape[1:])[::-1]
        squares = [((cells - place[:, None, None]) ** 2).sum(axis=0) for place in y]
        losses = np.minimum(1.0, np.array(squares) / scale**2) / len(y)
        worst, every = (
            enumerate_parts(table, PARENTS, springs_of(model), model.types_)
            for table in (scores + losses, scores)
        )
        truth = np.ravel_multi_index(y[:, ::-1].T, x.shape[1:])
        total += (worst.max() - every[tuple(truth)]) / len(SMALL)
    return total


def test_objective_is_that_of_enumeration():
    # a seed that takes more than one round
    model = PartsModel(PARENTS, **FAST | {"random_state": 5, "tol": 0.01}, lam=1e-3).fit(SMALL, AT)
    assert model.round_objectives_[-1] == pytest.approx(objective(model), rel=1e-6)
    assert (np.diff(model.round_objectives_) <= 0).all()
    assert model.n_rounds_ == len(model.round_objectives_) > 1
    assert model.certified_


def test_latent_types_of_parts_of_the_data_and_of_one_type():
    model = PartsModel(PARENTS, **FAST)
    assert "latent_types" in refusal(model, parts="data in parts")
    assert refusal(PartsModel(PARENTS, means=LATENT.means_), parts="data in parts") is None
    plain, one = (
        PartsModel(PARENTS, n_types=1, latent_types=latent, random_state=0).fit(SMALL, AT)
        for latent in (False, True)
    )
    np.testing.assert_array_equal(one.coef_, plain.coef_)
    assert one.n_rounds_ == 1 and one.stationary_ and not hasattr(plain, "n_rounds_")


def test_a_fit_goes_on_with_its_types():
    model = PartsModel(PARENTS, **FAST, lam=1e-3, warm_start=True).fit(SMALL, AT)
    reached = model.round_objectives_[-1]
    model.set_params(tol=1e-3).fit(SMALL, AT)
    assert (np.diff(model.round_objectives_) <= 0).all() and model.round_objectives_[-1] <= reached
    assert model.round_objectives_[-1] == pytest.approx(objective(model), rel=1e-6)
    with pytest.raises(ValueError, match="warm_start=True cannot continue"):
        model.fit(SMALL[:-1], AT[:-1])


def test_learns_more_than_the_maps_say(fitted):
    """Also with slack rescaling, for which there is no exact search: a wide certificate."""
    peaks = [[np.unravel_index(part.argmax(), part.shape)[::-1] for part in x] for x in X_TEST]
    slack = PartsModel(PARENTS, rescaling="slack", tol=0.1, random_state=0).fit(X, Y)
    alone, *together = (
        np.mean(np.linalg.norm(np.stack(found) - Y_TEST, axis=2) < 2)
        for found in (peaks, fitted.predict(X_TEST), slack.predict(X_TEST))
    )
    assert together[0] > 0.9 > alone + 0.1 and together[1] > alone + 0.1
    assert slack.certified_ and slack.dual_gap_ > slack.history_["inexactness"][-1] > 0
