"""Structured losses as functions of PyTorch's tensors, where it is installed; no extra has it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from sskit._public import export_from
from sskit.losses.hinge import StructuredHinge
from sskit.losses.log_loss import StructuredLogLoss

__all__ = ["loss_function"]


def loss_function(layer: StructuredHinge | StructuredLogLoss) -> Callable[..., Any]:
    """Return the losses of a layer as a function of tensors that autograd differentiates.

    Parameters
    ----------
    layer : StructuredHinge or StructuredLogLoss
        The loss.

    Returns
    -------
    losses : callable
        ``losses(unary, pairwise, labels, *, edges=None, mask=None, token_weight=None)`` with the
        arguments of ``layer.evaluate``, of which each may be a tensor, or a list of tensors where
        `evaluate` takes a list of arrays. It returns the loss of each sample, a tensor on the
        device of `unary`; its gradient has the device and the type of the potentials. Losses are
        computed on the processor, of float16 and bfloat16 in single precision.

    Raises
    ------
    ModuleNotFoundError
        If PyTorch is not installed.
    TypeError
        If `layer` is no such loss.

    See Also
    --------
    StructuredHinge : The hinge, whose ``decode`` finds the best labels of potentials.
    StructuredLogLoss : The negative log-likelihood, whose ``marginals`` are probabilities.

    Examples
    --------
    The gradient of a loss by the potentials of two tokens with two labels:

    >>> import torch  # doctest: +SKIP
    >>> from sskit.losses import StructuredHinge
    >>> from sskit.losses.torch import loss_function
    >>> losses = loss_function(StructuredHinge("chain"))  # doctest: +SKIP
    >>> unary = torch.zeros(1, 2, 2, requires_grad=True)  # doctest: +SKIP
    >>> losses(unary, torch.zeros(2, 2), torch.tensor([[0, 1]])).mean().backward()  # doctest: +SKIP
    >>> unary.grad  # doctest: +SKIP
    tensor([[[-1.,  1.],
             [ 1., -1.]]])
    """
    torch = import_module("torch")
    if not isinstance(layer, (StructuredHinge, StructuredLogLoss)):
        raise TypeError(f"layer must be a StructuredHinge or StructuredLogLoss, got {layer!r}")

    def as_arrays(values):
        if isinstance(values, (list, tuple)):
            return [as_arrays(item) for item in values]
        if not isinstance(values, torch.Tensor):
            return values
        half = values.dtype in (torch.float16, torch.bfloat16)
        return (values.float() if half else values).detach().cpu().numpy()

    class Losses(torch.autograd.Function):
        """The losses of flat tensors: autograd knows no lists."""

        @staticmethod
        def forward(ctx, evaluate, *potentials):
            ctx.evaluation = evaluate(*map(as_arrays, potentials))
            ctx.kinds = [{"device": tensor.device, "dtype": tensor.dtype} for tensor in potentials]
            return torch.tensor(ctx.evaluation.losses, device=potentials[0].device)

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, weights):
            gradients = ctx.evaluation.gradients(as_arrays(weights))
            flat = [g for by in gradients for g in (by if isinstance(by, list) else [by])]
            flat = [g for g in flat if g is not None]
            return None, *(torch.tensor(g, **k) for g, k in zip(flat, ctx.kinds, strict=True))

    def losses(unary, pairwise, labels, *, edges=None, mask=None, token_weight=None):
        options = {"edges": edges, "mask": mask, "token_weight": token_weight}
        options = {name: as_arrays(x) for name, x in options.items() if x is not None}
        labels, flat, places = as_arrays(labels), [], []
        for potentials in (unary, pairwise):
            several = isinstance(potentials, (list, tuple))
            items = potentials if several else [potentials]
            items = [torch.as_tensor(x) for x in items if x is not None]
            places.append((several, len(flat), len(flat) + len(items)))
            flat += items

        def evaluate(*arrays):
            both = (
                list(arrays[start:stop]) if several else arrays[start] if start < stop else None
                for several, start, stop in places
            )
            return layer.evaluate(*both, labels, **options)

        return Losses.apply(evaluate, *flat)

    return losses


export_from(__name__)
