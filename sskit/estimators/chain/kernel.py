"""What SequenceTagger fits in a kernel space."""

from dataclasses import dataclass

import numpy as np

from sskit.estimators.base.estimator import TrainingTask
from sskit.estimators.base.kernels import kernel_bytes, make_kernel, support_of
from sskit.models.chain.kernel_model import KernelChainModel
from sskit.models.chain.model import default_lam
from sskit.models.kernel.functions import Kernel
from sskit.models.kernel.space import diagonal
from sskit.models.layout import WeightLayout


def bind_in_kernel_space(
    estimator, stacked, labels, cost, block_weight, weight, classes, allowed
):  # fmt: skip
    """Bind a chain model in a kernel space to checked training data.

    Parameters
    ----------
    estimator : SequenceTagger
        Has the parameters; not changed.
    stacked : RaggedArray
        Features of the sequences, float64, or kernels with all training tokens.
    labels : ndarray of shape (n_tokens,)
        True labels, 0 to K - 1.
    cost : ndarray of shape (n_tokens,)
        Loss of a wrong label at each token.
    block_weight : ndarray of shape (n,)
        Weights of the sequences, summing to one.
    weight : ndarray of shape (n,) or None
        The sample weights that they were made of.
    classes : ndarray of shape (K,)
        The labels.
    allowed : tuple
        Allowed transitions and first labels.

    Returns
    -------
    task : TrainingTask
        What solvers take, and what their weights mean.

    Raises
    ------
    ValueError
        If a precomputed kernel matrix cannot be one.
    """
    X, kernel = stacked.values, make_kernel(estimator, stacked.values)
    model = KernelChainModel(kernel, X.shape[0], len(classes), *allowed)
    problem = model.bind(stacked, labels, cost, block_weight, kernel_bytes(estimator))
    lam = default_lam(stacked, weight, diagonal(kernel, X))
    to_attributes = ChainFunctions(model.layout, kernel, classes, allowed, X, labels)
    return TrainingTask(problem, model.layout, lam, to_attributes, classes, kernel.definite)


@dataclass(frozen=True)
class ChainFunctions:
    """Names the weights of a chain in a kernel space; see `TrainingTask`.

    Attributes
    ----------
    layout : WeightLayout
        Places of the weights.
    kernel : Kernel
        The kernel.
    classes : ndarray of shape (n_classes,)
        The labels.
    allowed : tuple
        Allowed transitions and first labels.
    X : {ndarray, CSR matrix} of shape (n_tokens, n_features)
        Training tokens.
    labels : ndarray of shape (n_tokens,)
        Their labels, 0 to K - 1.
    """

    layout: WeightLayout
    kernel: Kernel
    classes: np.ndarray
    allowed: tuple
    X: object
    labels: np.ndarray

    def __call__(self, w):
        """Return fitted attributes by name, of flat weights; their arrays are their own."""
        blocks = self.layout.split(w)
        return support_of(blocks["dual_coef"], self.labels, self.kernel, self.X) | {
            "transitions_": blocks["transitions"].copy(),
            "start_": blocks["start"].copy(),
            "end_": blocks["end"].copy(),
            "classes_": self.classes,
            "n_features_in_": self.X.shape[1],
            "allowed_transitions_": self.allowed[0],
            "allowed_start_": self.allowed[1],
        }
