"""Structured losses of potentials that come from elsewhere, such as a network.

- :class:`StructuredHinge`: losses of a batch and their subgradients by all potentials; the best
  labellings, max-marginals and marginal probabilities.
- :class:`StructuredLogLoss`: likewise with the negative log-likelihood, as in a neural CRF.
- :class:`HingeEvaluation`, :class:`LogLossEvaluation`: their evaluations of a batch.
- :func:`sskit.losses.torch.loss_function`: either as a function of PyTorch's tensors.
"""

from sskit._public import export_from
from sskit.losses.evaluation import HingeEvaluation, LogLossEvaluation
from sskit.losses.hinge import StructuredHinge
from sskit.losses.log_loss import StructuredLogLoss

__all__ = ["HingeEvaluation", "LogLossEvaluation", "StructuredHinge", "StructuredLogLoss"]

export_from(__name__)
