"""The parts model: contract, oracle and losses against enumeration, types, fingerprints."""

import itertools

import numpy as np
import pytest
from helpers.pairwise import every_pair
from helpers.paper import Enumerated
from helpers.qp import solve_primal
from helpers.trees import cells_of, random_parents

from sskit.core.problem import block_weights
from sskit.core.regularizer import BoxRegularizer
from sskit.inputs.poses import pose_scales
from sskit.models.parts.data import spring_means, spring_square, spring_unit
from sskit.models.parts.model import PoseModel
from sskit.solvers import BCFW, FrankWolfe, MultiPlane
from sskit.testing.probe import ProblemProbe
from sskit.testing.problem_checks import check_problem


def random_data(rng, n=4, n_parts=3, n_types=2, largest=4, dtype=np.float64):
    """Maps, places, parents and means."""
    parents = random_parents(rng, n_parts, int(rng.integers(1, max(2, n_parts - 1))))
    sizes = rng.integers(1, largest + 1, size=(n, 2))
    maps = [rng.normal(size=(n_parts, *size)).astype(dtype) for size in sizes]
    places = np.stack([rng.integers(size[::-1], size=(n_parts, 2)) for size in sizes])
    means = rng.normal(size=(n_parts, n_types, 2))
    if n_types > 1:
        means[-1, -1] = np.nan
    return maps, places, parents, means


def feature(scores, places, types, model):
    """phi(x, y), weights block by block."""
    blocks = {name: np.zeros(shape) for name, shape in model.layout.shapes.items()}
    for k, parent in enumerate(model.parents):
        blocks["coef"][k] = scores[k, places[k][1], places[k][0]]
        if parent >= 0:
            t = (np.subtract(places[k], places[parent]) - model.means[k, types[k]]) / model.unit
            blocks["types"][k, types[k]] = 1
            blocks["springs"][k, types[k]] = -np.stack([t, t**2], axis=1)
    return np.concatenate([block.ravel() for block in blocks.values()])


def loss_of(places, truth, scale, loss, cutoff):
    distance = np.linalg.norm(np.subtract(places, truth), axis=1) / scale
    return np.mean(distance if loss == "distance" else np.minimum(1, (distance / cutoff) ** 2))


def enumerate_poses(maps, places, scale, model, c, loss="squared", cutoff=0.4):
    """All places and types."""
    psi, losses, labels = [], [], []
    types = model.types(places)
    for i, scores in enumerate(maps):
        right = feature(scores, places[i], types[i], model)
        kinds = [
            range(n) if parent >= 0 else [0]
            for n, parent in zip(model.types_of, model.parents, strict=True)
        ]
        found = [
            (np.array(cells)[:, ::-1], kind)
            for cells in cells_of(scores.shape[1:], len(scores))
            for kind in itertools.product(*kinds)
        ]
        psi.append(np.array([right - feature(scores, *y, model) for y in found]))
        losses.append(np.array([loss_of(y[0], places[i], scale[i], loss, cutoff) for y in found]))
        labels.append([np.concatenate([y[0].ravel(), y[1]]) for y in found])
    return Enumerated(psi, losses, labels, c)


def bound(maps, places, parents, means, loss="squared", cutoff=0.4, unit=1.5, weights=None):
    model = PoseModel(parents.astype(np.int32), means, unit)
    scale = pose_scales(places, None)
    c = block_weights(len(maps), weights)
    return model, model.bind(maps, places, scale, loss, cutoff, c), scale, c


@every_pair(seed=range(4), loss=["squared", "distance"], dtype=[np.float64, np.float32])
def test_contract(seed, loss, dtype):
    rng = np.random.default_rng(seed)
    data = random_data(rng, n_parts=1 + seed, n_types=1 + seed % 2, largest=6, dtype=dtype)
    problem = bound(*data, loss=loss)[1]
    assert problem.exact and problem.costly
    check_problem(problem, 0)


@pytest.mark.parametrize("loss", ["squared", "distance"])
def test_oracle_and_planes_equal_enumeration(loss):
    rng = np.random.default_rng(5)
    for _ in range(10):
        maps, places, parents, means = random_data(rng, largest=3)
        model, problem, scale, c = bound(maps, places, parents, means, loss=loss)
        pairs = enumerate_poses(maps, places, scale, model, c, loss)
        probe = ProblemProbe(problem)
        w = rng.normal(size=problem.n_weights)
        w = np.maximum(w, model.layout.bounds(None)[0])
        for i in range(len(maps)):
            theta = probe.scores(i, w)
            np.testing.assert_array_equal(theta[: len(w)], w)
            for weight in (0.0, 0.3, 1.0):
                code, found_loss = probe.argmax(i, theta, weight)
                values = weight * pairs.loss[i] - pairs.psi[i] @ w
                psi = probe.plane(i, code)[: len(w)]
                found = weight * found_loss - psi @ w
                assert found == pytest.approx(values.max(), abs=1e-10)
                width = maps[i].shape[2]
                cells = code[: len(parents)]
                label = np.stack([cells % width, cells // width], axis=1).ravel()
                place = next(
                    j
                    for j, known in enumerate(pairs.labels[i])
                    if np.array_equal(known, [*label, *code[len(parents) :]])
                )
                assert found_loss == pytest.approx(pairs.loss[i][place])
                np.testing.assert_allclose(psi, pairs.psi[i][place], atol=1e-12)


@pytest.mark.parametrize("solver", [BCFW(), BCFW(steps="fw"), MultiPlane(), FrankWolfe()])
def test_certificates_bracket_the_optimum_of_the_quadratic_program(solver):
    rng = np.random.default_rng(6)
    maps, places, parents, means = random_data(rng, n=3, n_parts=2, largest=3)
    weights = [1.0, 2.0, 0.5]
    model, problem, scale, c = bound(maps, places, parents, means, weights=weights)
    box = model.layout.bounds(None)
    pairs = enumerate_poses(maps, places, scale, model, c)
    _, optimum = solve_primal(pairs, 0.2, box)
    solution = solver.solve(
        problem, BoxRegularizer(0.2, *box), tol=1e-3, max_iter=2000, random_state=0
    )
    assert solution.certified
    assert solution.primal == pytest.approx(pairs.primal(solution.w, 0.2), abs=1e-10)
    assert solution.dual - 1e-8 <= optimum <= solution.primal + 1e-8
    assert (solution.w >= box[0]).all()
    assert solution.gap <= 0.02 * solution.unit


def test_decoder_gives_places_and_max_marginals():
    rng = np.random.default_rng(7)
    maps, places, parents, means = random_data(rng, n=5, largest=3)
    model = PoseModel(parents.astype(np.int32), means, 2.0)
    w = np.maximum(rng.normal(size=model.layout.n_weights), model.layout.bounds(None)[0])
    pairs = enumerate_poses(maps, places, np.ones(5), model, block_weights(5))
    for n_jobs in (1, 2):
        decoder = model.decoder(maps, w, n_jobs)
        best, marginals = decoder.best(), decoder.max_marginals()
        for i, scores in enumerate(maps):
            truth = feature(scores, places[i], model.types(places)[i], model)
            values = (truth - pairs.psi[i]) @ w
            label = pairs.labels[i][int(values.argmax())]
            np.testing.assert_array_equal(best[i].ravel(), label[: 2 * len(parents)])
            for k in range(len(parents)):
                at = np.array([label[2 * k : 2 * k + 2] for label in pairs.labels[i]])
                for y, x in np.ndindex(scores.shape[1:]):
                    expected = values[(at == [x, y]).all(axis=1)].max()
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


def test_types_are_the_nearest_means():
    parents = np.array([-1, 0], dtype=np.int32)
    means = np.array([[[np.nan] * 2] * 2, [[5, 0], [0, 5.0]]])
    model = PoseModel(parents, means, 1.0)
    places = np.array([[[1, 1], [5, 2]], [[3, 3], [3, 9]]])
    np.testing.assert_array_equal(model.types(places), [[0, 0], [0, 1]])


def unit_of(places, parents, means):
    return spring_unit(spring_square(places, parents, means, None))


def test_means_are_those_of_clusters():
    rng = np.random.default_rng(0)
    root = rng.integers(10, 20, size=(60, 2))
    moved = np.where(np.arange(60)[:, None] % 3 == 0, [7, -2], [-4, 3]) + rng.integers(
        -1, 2, (60, 2)
    )
    places = np.stack([root + moved, root], axis=1)
    parents = np.array([1, -1], dtype=np.int32)
    means = spring_means(places, parents, 2, None, np.random.RandomState(0))
    assert np.isnan(means[1]).all()
    np.testing.assert_allclose(means[0], [[-4, 3], [7, -2]], atol=0.5)
    deviation = moved - means[0][np.where(np.arange(60) % 3 == 0, 1, 0)]
    expected = max(1.0, 3 * np.sqrt((deviation**2).mean()))
    assert unit_of(places, parents, means) == pytest.approx(expected)
    assert unit_of(places * 10, parents, means * 10) == pytest.approx(
        30 * np.sqrt((deviation**2).mean())
    )
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


def test_fingerprints_tell_data_apart():
    rng = np.random.default_rng(8)
    maps, places, parents, means = random_data(rng, n=3)
    first = bound(maps, places, parents, means)[1].fingerprint()

    def difference(**changes):
        options = {"maps": maps, "places": places, "parents": parents, "means": means}
        return bound(**(options | changes))[1].fingerprint().difference(first)

    assert difference() is None
    assert difference(maps=[*maps[:2], maps[2] + 1]) == "X[2] changed"
    assert "y[1] changed" in difference(places=np.stack([places[0], places[1] * 0, places[2]]))
    assert "means" in difference(means=means + 1)
    assert "loss" in difference(loss="distance")
    assert "loss" in difference(cutoff=0.3)
    assert "unit" in difference(unit=2.5)
