"""A layer as a function of PyTorch, and what the guide makes of it for JAX, where installed."""

import re
import sys
import textwrap
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from sskit.losses import StructuredHinge, StructuredLogLoss
from sskit.losses.torch import loss_function

PAGE = Path(__file__).resolve().parents[2] / "doc" / "how_to" / "networks.rst"


def of_guide(name):
    """A function that stands in the guide."""
    (block,) = re.findall(
        rf"python\n\n((?:   [^\n]*\n|\n)*   def {name}\(.*?\n)(?=\S)", PAGE.read_text(), re.DOTALL
    )
    namespace = {"np": np}
    exec(textwrap.dedent(re.split(r"\n(?=[^\s])", block)[0]), namespace)
    return namespace[name]


def batch():
    """Potentials and labels, with padding and with labels that are not known."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=(4, 6))
    labels[1, 4:] = labels[2, 2] = -100
    return rng.standard_normal((4, 6, 3)), rng.standard_normal((3, 3)), labels


def test_the_guide_has_it():
    assert callable(of_guide("jax_hinge"))


LAYERS = [StructuredHinge("chain", loss="hamming"), StructuredLogLoss("chain")]


@pytest.mark.parametrize("layer", LAYERS)
def test_pytorch(layer):
    torch = pytest.importorskip("torch")
    unary, transitions, labels = (torch.tensor(x) for x in batch())
    unary.requires_grad_()
    transitions.requires_grad_()
    losses, check = loss_function(layer), torch.autograd.gradcheck
    mask = torch.arange(6) < torch.tensor([6, 5, 6, 4])[:, None]
    for given in ({}, {"mask": mask}):
        assert check(lambda u, a, given=given: losses(u, a, labels, **given), (unary, transitions))
    losses(unary, transitions, labels).mean().backward()
    assert (unary.grad[1, 4:] == 0).all()
    pieces = [unary[i, : 6 - i].detach().requires_grad_() for i in range(4)]
    known = [labels[i, : 6 - i] for i in range(4)]
    tables = [torch.randn(5 - i, 3, 3, dtype=torch.float64, requires_grad=True) for i in range(4)]
    assert check(lambda *x: losses(list(x[:4]), list(x[4:]), known), (*pieces, *tables))
    for kind, expected in ((torch.float32, torch.float32), (torch.bfloat16, torch.float32)):
        rounded = unary.detach().to(kind).requires_grad_()
        found = losses(rounded, transitions.detach().to(kind), labels)
        found.sum().backward()
        assert found.dtype == expected and rounded.grad.dtype == kind


def test_pytorch_of_trees():
    torch = pytest.importorskip("torch")
    unary, transitions, labels = (torch.tensor(x) for x in batch())
    edges = torch.tensor([[0, 1], [0, 2], [1, 3], [1, 4], [2, 5]])
    losses = loss_function(StructuredHinge("tree"))
    given = {"edges": edges, "token_weight": torch.rand(4, 6)}
    for x in (unary, transitions):
        x.requires_grad_()
    assert torch.autograd.gradcheck(lambda *x: losses(*x, labels, **given), (unary, transitions))


def test_only_losses_are_functions_of_tensors(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace())
    with pytest.raises(TypeError, match="layer must be a StructuredHinge or .* got 'chain'"):
        loss_function("chain")
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ModuleNotFoundError, match="torch"):
        loss_function(StructuredHinge("chain"))


@pytest.mark.parametrize("layer", LAYERS)
def test_jax(layer):
    jax = pytest.importorskip("jax")
    check_grads = pytest.importorskip("jax.test_util").check_grads
    unary, transitions, labels = batch()
    losses = of_guide("jax_hinge")(layer)
    with jax.enable_x64(True):
        unary, transitions, labels = map(jax.numpy.asarray, (unary, transitions, labels))

        def mean(u, a):
            return losses(u, a, labels).mean()

        check_grads(mean, (unary, transitions), order=1, modes=["rev"], eps=1e-6, atol=1e-6)
        by_unary, by_transitions = jax.jit(jax.grad(mean, argnums=(0, 1)))(unary, transitions)
        found = layer.evaluate(*map(np.asarray, (unary, transitions, labels)))
        expected = found.gradients(np.full(4, 0.25))
        np.testing.assert_allclose(by_unary, expected[0], atol=1e-12)
        np.testing.assert_allclose(by_transitions, expected[1], atol=1e-12)
