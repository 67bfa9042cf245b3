"""What SequenceTagger fits and predicts with order=2, and what it fits in a kernel space."""

from sskit.estimators.base.attributes import BlockAttributes
from sskit.estimators.base.estimator import TrainingTask
from sskit.estimators.base.kernels import is_kernel, kernel_bytes, make_kernel
from sskit.models.chain.model import KernelChainModel, default_lam, token_scale
from sskit.models.kernel.space import diagonal


class SecondOrderMixin:
    """The order of a fitted tagger belongs to its model."""

    def _model_parameters(self):
        """Return the names of parameters that make a model what it is."""
        return ("order", *super()._model_parameters())


def refuse_second_order(estimator, edges=None):
    """Raise ValueError if order=2 is asked for together with what it does not go with.

    Parameters
    ----------
    estimator : SequenceTagger
        Has the parameters.
    edges : object
        Features of edges, or None if there are none.
    """
    if estimator.order != 2:
        return
    if is_kernel(estimator):
        raise ValueError(
            f"order=2 needs kernel='linear', got {estimator.kernel!r:.80}: in a kernel space there "
            "are weights of two labels in a row only"
        )
    if edges is not None:
        raise ValueError(
            "order=2 cannot be used with features of edges: give matrices, not pairs, or order=1"
        )
    refuse_beam(estimator)


def refuse_beam(estimator):
    """Raise ValueError if a tagger of the second order is to search with a beam."""
    if estimator.beam_size is not None:
        raise ValueError(
            f"beam_size={estimator.beam_size!r} cannot be used with order=2, whose search keeps "
            "all labels; set beam_size=None"
        )


def bind_in_kernel_space(
    estimator, stacked, labels, cost, block_weight, weight, table, allowed, shared
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
    table : ndarray of shape (K, K) or None
        Costs of pairs of labels.
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
    given = stacked, labels, cost, block_weight, kernel_bytes(estimator)
    problem = model.bind(*given, table=table)
    lam = default_lam(token_scale(stacked, weight, diagonal(kernel, X)))
    to_attributes = BlockAttributes(model.layout, shared, False, kernel, X, labels)
    return TrainingTask(problem, model.layout, lam, to_attributes, classes, kernel.definite)
