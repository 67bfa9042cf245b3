"""Structured losses of potentials that come from elsewhere, such as a network.

- :class:`StructuredHinge`: losses of a batch and their subgradients by all potentials; the best
  labellings, max-marginals and marginal probabilities.
- :class:`HingeEvaluation`: its evaluation of a batch.
"""

from sskit._public import export_from
from sskit.losses.evaluation import HingeEvaluation
from sskit.losses.hinge import StructuredHinge

__all__ = ["HingeEvaluation", "StructuredHinge"]

export_from(__name__)
