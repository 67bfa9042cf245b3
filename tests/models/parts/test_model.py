"""The parts model: contract, oracle and losses against enumeration, types, fingerprints."""

import numpy as np
import pytest
from helpers.models import poses

from sskit.inputs.poses import pose_scales
from sskit.models.parts.data import spring_means, spring_square, spring_unit
from sskit.models.parts.model import PoseModel


def test_decoder_gives_places_and_max_marginals():
    toy = poses(seed=7)
    rng = np.random.default_rng(7)
    w = np.maximum(rng.normal(size=toy.problem.n_weights), toy.layout.bounds(None)[0])
    for n_jobs in (1, 2):
        decoder = toy.decode(w, n_jobs)
        best, marginals = decoder.best(), decoder.max_marginals()
        for i, scores in enumerate(toy.X):
            values, (n_parts, _, width) = toy.scores(i, w), scores.shape
            cells = np.array(toy.pairs.labels[i])[:, :n_parts]
            places = np.stack([cells % width, cells // width], axis=2)
            np.testing.assert_array_equal(best[i], places[values.argmax()])
            for k, y, x in np.ndindex(scores.shape):
                expected = values[(places[:, k] == [x, y]).all(axis=1)].max()
                assert marginals[i][k, y, x] == pytest.approx(expected, abs=1e-10)


def test_bounds_keep_squares_positive_and_roots_at_zero():
    parents = np.array([-1, 0, 0], dtype=np.int32)
    means = np.zeros((3, 2, 2))
    means[2, 1] = np.nan
    lower, upper = PoseModel(parents, means, 1.0, min_square=0.5).layout.bounds(None)
    springs = lower[3 + 6 :].reshape(3, 2, 2, 2)
    assert np.isinf(upper).all()
    assert (springs[0] == 0).all() and (springs[2, 1] == 0).all()
    assert (springs[1, :, :, 1] == 0.5).all() and np.isneginf(springs[1, :, :, 0]).all()
    assert np.isneginf(lower[:9]).all()
    # types are the nearest means
    means = np.array([[[np.nan] * 2] * 2, [[5, 0], [0, 5.0]]])
    places = np.array([[[1, 1], [5, 2]], [[3, 3], [3, 9]]])
    model = PoseModel(parents[:2], means, 1.0)
    np.testing.assert_array_equal(model.types(places), [[0, 0], [0, 1]])


def unit_of(places, parents, means):
    return spring_unit(spring_square(places, parents, means, None))


def test_means_are_those_of_clusters():
    rng = np.random.default_rng(0)
    root = rng.integers(10, 20, size=(60, 2))
    moved = np.where(np.arange(60)[:, None] % 3 == 0, [7, -2], [-4, 3])
    moved = moved + rng.integers(-1, 2, (60, 2))
    places = np.stack([root + moved, root], axis=1)
    parents = np.array([1, -1], dtype=np.int32)
    means = spring_means(places, parents, 2, None, np.random.RandomState(0))
    assert np.isnan(means[1]).all()
    np.testing.assert_allclose(means[0], [[-4, 3], [7, -2]], atol=0.5)
    deviation = moved - means[0][np.where(np.arange(60) % 3 == 0, 1, 0)]
    width = 3 * np.sqrt((deviation**2).mean())
    assert unit_of(places, parents, means) == pytest.approx(max(1.0, width))
    assert unit_of(places * 10, parents, means * 10) == pytest.approx(10 * width)
    assert unit_of(places, np.array([-1, -1]), means) == 1.0
    # more types than displacements
    few = spring_means(places[:1], parents, 3, None, np.random.RandomState(0))
    np.testing.assert_array_equal(few[0, 0], moved[0])
    assert np.isnan(few[0, 1:]).all()
    # samples without weight have no say
    weight = (np.arange(60) % 3 == 0).astype(float)
    one = spring_means(places, parents, 1, weight, np.random.RandomState(0))
    np.testing.assert_allclose(one[0, 0], moved[::3].mean(axis=0))


def test_scales():
    places = np.array([[[0, 0], [3, 4], [9, 1]], [[2, 2], [2, 2], [2, 2]]])
    np.testing.assert_array_equal(pose_scales(places, None), [9, 1])
    np.testing.assert_array_equal(pose_scales(places, (0, 1)), [5, 1])
