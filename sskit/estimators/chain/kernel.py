"""What SequenceTagger fits in a kernel space."""

from sskit.estimators.base.attributes import BlockAttributes
from sskit.estimators.base.estimator import TrainingTask
from sskit.estimators.base.kernels import kernel_bytes, make_kernel
from sskit.models.chain.kernel_model import KernelChainModel
from sskit.models.chain.model import default_lam, token_scale
from sskit.models.kernel.space import diagonal


def bind_in_kernel_space(
    estimator, stacked, labels, cost, block_weight, weight, allowed, shared
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
    allowed : tuple
        Transitions, first labels and last labels that training allows.
    shared : dict
        Fitted attributes that do not depend on the weights.

    Returns
    -------
    task : TrainingTask
        What solvers take, and what their weights mean.

    Raises
    ------
    ValueError
        If a precomputed kernel matrix cannot be one.
    """
    X, kernel, classes = stacked.values, make_kernel(estimator, stacked.values), shared["classes_"]
    model = KernelChainModel(kernel, X.shape[0], len(classes), *allowed)
    problem = model.bind(stacked, labels, cost, block_weight, kernel_bytes(estimator))
    lam = default_lam(token_scale(stacked, weight, diagonal(kernel, X)))
    to_attributes = BlockAttributes(model.layout, shared, False, kernel, X, labels)
    return TrainingTask(problem, model.layout, lam, to_attributes, classes, kernel.definite)
