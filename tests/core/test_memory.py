"""Copies of weights that write what is not zero."""

import numpy as np
import pytest

from sskit.core.capabilities import FeatureSpace
from sskit.core.regularizer import Regularizer, copied

SIZES = [0, 1, 7, 8, 511, 512, 513, 2000]


def vector(n, share, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n) * (rng.random(n) < share)


@pytest.mark.parametrize("share", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("n", SIZES)
def test_copies_are_equal(n, share):
    w = vector(n, share)
    if n > 2:
        w[-1] = -0.0
    np.testing.assert_array_equal(copied(w), w)
    assert copied(w).tobytes() == w.tobytes()
    longer = copied(w, 8)
    np.testing.assert_array_equal(longer, [*w, *np.zeros(8)])
    kept = copied(w)
    before = w.copy()
    w += 1.0
    np.testing.assert_array_equal(kept, before)


def test_weights_of_regularizers_are_copies():
    regularizer = Regularizer(0.1, 5)
    regularizer.set_v(np.arange(5.0))
    coef = regularizer.coef()
    regularizer.set_v(np.zeros(5))
    assert coef.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert not FeatureSpace().is_kernel_space
