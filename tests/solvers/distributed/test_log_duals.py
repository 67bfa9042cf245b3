"""Places with dual points of likelihoods: the same optimum, and the sums of the parts."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from helpers.pairwise import every_pair
from helpers.places import ManyPlaces, make_fit, tasks_of

from sskit.core.regularizer import BoxRegularizer, Regularizer
from sskit.solvers import LBFGS, ExponentiatedGradient
from sskit.solvers.common.solution import Status
from sskit.solvers.quasi_newton.lbfgs import PrimalPoint

LAM = 0.05
NAMES = "sequences", "trees", "rows with weights"
OWNERS = {"one": (0,) * 5, "two": (0, 1, 1, 0, 1), "each": (0, 1, 2, 3, 4)}


def problems_of(name):
    """The problem of all data, and those of the parts."""
    tasks, whole = tasks_of(name, 5, surrogate="log")
    return whole.problem, [task.problem for task in tasks]


def regularizer_of(problem, half_width=None, prior=None):
    """A regularizer, perhaps with a box around zero or a prior."""
    d = problem.n_weights
    if half_width is None:
        made = Regularizer(LAM, d)
    else:
        made = BoxRegularizer(LAM, np.full(d, -half_width), np.full(d, half_width))
    if prior is not None:
        made.set_prior(np.random.default_rng(0).normal(size=d))
    return made


@every_pair(
    name=NAMES, owners=OWNERS, half_width=[None, 0.3], prior=[None, True], keeps=[True, False]
)
def test_the_optimum_is_that_of_the_whole(name, owners, half_width, prior, keeps):
    whole, parts = problems_of(name)
    make = partial(regularizer_of, whole, half_width, prior)
    places = ManyPlaces(parts, OWNERS[owners], ExponentiatedGradient(), make, keeps)
    driver = make_fit(places, gap_every=3)
    one = LBFGS().solve(whole, make(), tol=1e-8, max_iter=3000)
    assert driver.unit == pytest.approx(one.unit, rel=1e-9)
    for _ in range(4):
        driver.run.run_pass()
        # the dual sum of the rounds is that of the dual variables
        by_rounds, value = driver.run.weights(), driver.run.dual_value
        certificate = driver.run.certify(None)
        np.testing.assert_allclose(driver.run.weights(), by_rounds, rtol=1e-9, atol=1e-9)
        assert certificate.dual == pytest.approx(value, rel=1e-9, abs=1e-9)
        assert certificate.dual <= one.primal * (1 + 1e-9)
        assert certificate.known_gap == pytest.approx(
            certificate.primal - certificate.dual, rel=1e-6, abs=1e-9
        )
    status = driver.reach(1e-3, max_iter=2000)
    assert status is Status.CONVERGED
    solution = driver.solution(status)
    assert solution.certified
    assert one.dual <= solution.primal * (1 + 1e-9)
    assert solution.gap <= 1e-3 * solution.primal * (1 + 1e-9)
    log_loss = whole.log_loss(1, places.stop)
    w = make().padded(solution.w)
    loss = log_loss.evaluate(w, np.zeros(len(w)))
    assert solution.primal == pytest.approx(make().primal(solution.w, loss), rel=1e-9)


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_parts_go_on_from_points_of_either_kind(name, keeps):
    whole, parts = problems_of(name)
    make = partial(regularizer_of, whole, None, True)
    solver = ExponentiatedGradient()
    driver = make_fit(ManyPlaces(parts, OWNERS["one"], solver, make, keeps), gap_every=3)
    driver.reach(1e-3, max_iter=2000)
    points = {number: point for number, (_, point) in saved(driver.run).items()}
    for point in points.values():  # the weights are those of all parts, in one array
        assert point.w is points[0].w
        np.testing.assert_array_equal(point.w, driver.run.weights())
    near = dict.fromkeys(points, PrimalPoint(points[0].w))
    for begins, precision in ((points, 1e-9), (near, 0.05)):
        again = make_fit(ManyPlaces(parts, OWNERS["two"], solver, make), gap_every=3)
        for place in again.run.places.places:
            for number, part in place.parts.items():
                part.fit, part.point = None, begins[number]
        again.run.begin()
        dual = again.certify().dual
        assert dual == pytest.approx(driver.certificate.dual, rel=precision)
    with pytest.raises(ValueError, match="none of this problem"):
        replace(points[0], first=2 * points[0].first).place(part.fit.run, LAM)


def saved(run):
    """What a fit saves of each part, without a fingerprint."""
    save = run.places.save
    run.places.save = lambda: {number: (None, point) for number, point in save().items()}
    found = run.save()
    run.places.save = save
    return found


def test_a_pass_in_turns_visits_every_block_once():
    whole, parts = problems_of("sequences")
    make = partial(regularizer_of, whole)
    places = ManyPlaces(parts, OWNERS["one"], ExponentiatedGradient(), make)
    driver = make_fit(places)
    pools = [part.fit.run.pool for part in places.places[0].parts.values()]
    before = [pool.n_sums for pool in pools]
    driver.run.run_pass()
    for pool, n in zip(pools, before, strict=True):
        assert np.asarray(pool.visited).all()
        assert pool.n_sums >= n + pool.problem.n_blocks
