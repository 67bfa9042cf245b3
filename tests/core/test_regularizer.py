"""Regularizers: lam, the dual sum v, and its image w."""

import numpy as np
import pytest

from sskit.core.capabilities import FeatureSpace
from sskit.core.regularizer import BoxRegularizer, Regularizer


def random_box(rng, d):
    """Bounds of all kinds: finite, infinite, equal, away from zero."""
    lower, upper = np.sort(rng.normal(scale=0.3, size=(2, d)), axis=0)
    lower[rng.random(d) < 0.3] = -np.inf
    upper[rng.random(d) < 0.3] = np.inf
    fixed = (rng.random(d) < 0.2) & np.isfinite(lower)
    upper[fixed] = lower[fixed]
    return lower, upper


def test_v_and_w_are_the_same_memory_but_in_a_box():
    regularizer = Regularizer(0.5, 3)
    regularizer.set_v([1.0, 2.0, 3.0])
    assert np.shares_memory(regularizer.v, regularizer.w)
    assert not regularizer.bounded
    coef = regularizer.coef()
    assert not np.shares_memory(coef, regularizer.w)
    regularizer.set_v(np.zeros(3))
    assert coef.tolist() == [1.0, 2.0, 3.0]
    assert regularizer.padded(coef)[:3].tolist() == coef.tolist()
    # with a box w starts inside
    regularizer = BoxRegularizer(0.5, np.array([-1.0, 0.5]), np.array([-0.5, np.inf]))
    assert regularizer.bounded
    assert regularizer.coef().tolist() == [-0.5, 0.5]
    assert not np.any(regularizer.v)
    assert not FeatureSpace().is_kernel_space


@pytest.mark.parametrize("with_prior", [False, True])
@pytest.mark.parametrize("bounded", [False, True])
def test_objectives_priors_and_another_lam(bounded, with_prior):
    """Primal and dual of w - prior, whatever lam; a prior can be replaced."""
    rng, lam, loss = np.random.default_rng(1), 0.3, 0.7
    box = random_box(rng, 6) if bounded else (-np.inf, np.inf)
    regularizer = BoxRegularizer(lam, *box) if bounded else Regularizer(lam, 6)
    p, u = with_prior * rng.normal(size=6), rng.normal(size=6)
    if with_prior:
        regularizer.set_prior(rng.normal(size=6))
    regularizer.set_prior(p)
    v, w = p + u, np.clip(p + u, *box)
    np.testing.assert_allclose(np.asarray(regularizer.v)[:6], p, atol=1e-15)
    np.testing.assert_array_equal(regularizer.image(v), w)
    square = lam / 2 * np.sum((w - p) ** 2)
    assert regularizer.primal(w, loss) == pytest.approx(square + loss, abs=1e-14)
    # min over w of lam/2 ||w - p||^2 - lam <w, u>, on the box
    assert regularizer.dual(v, loss) == pytest.approx(loss + square - lam * w @ u, abs=1e-14)
    # lam changes with v or with the dual variables
    regularizer.set_v(v)
    regularizer.change_lam(0.25)
    assert regularizer.lam == 0.25
    np.testing.assert_array_equal(regularizer.coef(), w)
    regularizer.set_v(v)
    regularizer.rescale(1.0)
    assert regularizer.lam == 1.0
    np.testing.assert_allclose(np.asarray(regularizer.v)[:6], p + u / 4, atol=1e-15)
    np.testing.assert_allclose(regularizer.coef(), np.clip(p + u / 4, *box), atol=1e-15)
    regularizer.set_prior(np.zeros(6))
    assert regularizer.prior is None
    np.testing.assert_allclose(np.asarray(regularizer.v)[:6], u / 4, atol=1e-15)


def test_priors_that_are_refused():
    for regularizer, size, message in [
        (Regularizer(0.5, 6), 5, "the number of weights of the prior"),
        (Regularizer(0.5, 6, lambda w: 2.0 * w), 6, "that are functions cannot have a prior"),
    ]:
        with pytest.raises(ValueError, match=message):
            regularizer.set_prior(np.ones(size))
