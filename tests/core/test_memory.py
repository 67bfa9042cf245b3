"""Copies of weights."""

import numpy as np

from sskit.core.capabilities import FeatureSpace
from sskit.core.regularizer import Regularizer


def test_weights_of_regularizers_are_copies():
    regularizer = Regularizer(0.1, 5)
    regularizer.set_v(np.arange(5.0))
    coef = regularizer.coef()
    regularizer.set_v(np.zeros(5))
    assert coef.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0]
    assert regularizer.padded(coef)[:5].tolist() == coef.tolist()
    assert not FeatureSpace().is_kernel_space
