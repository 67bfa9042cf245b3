"""Toys of tests/helpers/toys.py bound to models in a kernel space."""

import numpy as np

from helpers.toys import FORMS
from sskit.core.regularizer import Regularizer
from sskit.models.chain.model import KernelChainModel
from sskit.models.multiclass import KernelMulticlassModel
from sskit.utils import RaggedArray


def in_kernel_space(name, toy, kernel, *, form="dense", intercept=True, n_bytes=1e9):
    """The problem and the layout of a toy whose scores are functions of a kernel space."""
    labels = np.concatenate([np.atleast_1d(truth) for truth in toy.truths()])
    X = np.concatenate([np.atleast_2d(x) for x in toy.X])
    values = FORMS[form](X)
    if name == "multiclass":
        model = KernelMulticlassModel(kernel, len(X), toy.n_states, intercept)
        return model.bind(values, labels, toy.pairs.c, n_bytes), model.layout
    lengths = np.array([len(x) for x in toy.X])
    stacked = RaggedArray(values, np.concatenate([[0], lengths.cumsum()]))
    model = KernelChainModel(kernel, len(X), toy.n_states, n_bytes)
    cost = np.repeat(1.0 / lengths, lengths)
    return model.bind(stacked, labels, cost, toy.pairs.c), model.layout


def linear_weights(layout, problem, w, toy):
    """The weights of the linear model that functions of the linear kernel stand for."""
    blocks = layout.split(w)
    X = np.concatenate([np.atleast_2d(x) for x in toy.X])
    names = [name for name in ("intercept", "transitions", "start", "end") if name in blocks]
    coef = blocks["dual_coef"] @ X
    return np.concatenate([coef.ravel(), *(blocks[name].ravel() for name in names)])


class KernelToy:
    """A toy whose scores are functions of a kernel space, for `start_run` and `solve_toy`."""

    def __init__(self, name, toy, kernel, **options):
        self.toy, self.pairs = toy, toy.pairs
        self.problem, self.layout = in_kernel_space(name, toy, kernel, **options)
        X = np.concatenate([np.atleast_2d(x) for x in toy.X])
        self.K = kernel(X, X)

    def regularizer(self, lam, box=None):
        assert box is None
        return Regularizer(lam, self.problem.n_weights, self.problem.space.covector)

    def blocks(self, w):
        """Weights by name, as views."""
        return self.layout.split(np.asarray(w)[: self.problem.n_weights])

    def completed(self, w):
        """The same weights, with the values that their coefficients say."""
        self.blocks(w)["values"][:] = self.blocks(w)["dual_coef"] @ self.K
        return w

    def check_values(self, w, precision=1e-12):
        blocks = self.blocks(w)
        values = blocks["dual_coef"] @ self.K
        atol = precision * np.abs(values).max()
        np.testing.assert_allclose(blocks["values"], values, rtol=1e-7, atol=atol)
