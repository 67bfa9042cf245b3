"""What the guide makes of a layer for PyTorch and for JAX, where these are installed."""

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest

from sskit.losses import StructuredHinge, StructuredLogLoss

PAGE = Path(__file__).resolve().parents[2] / "doc" / "how_to" / "networks.rst"


def of_guide(name):
    """A function that stands in the guide."""
    (block,) = re.findall(
        rf"python\n\n((?:   [^\n]*\n|\n)*   def {name}\(.*?\n)(?=\S)", PAGE.read_text(), re.DOTALL
    )
    namespace = {"np": np, "StructuredHinge": StructuredHinge}
    if name == "train_network":
        namespace["torch_hinge"] = of_guide("torch_hinge")
    exec(textwrap.dedent(re.split(r"\n(?=[^\s])", block)[0]), namespace)
    return namespace[name]


def batch():
    """Potentials and labels, with padding and with labels that are not known."""
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=(4, 6))
    labels[1, 4:] = labels[2, 2] = -100
    return rng.standard_normal((4, 6, 3)), rng.standard_normal((3, 3)), labels


def test_the_guide_has_them():
    assert all(map(callable, map(of_guide, ("torch_hinge", "train_network", "jax_hinge"))))


LAYERS = [StructuredHinge("chain", loss="hamming"), StructuredLogLoss("chain")]


@pytest.mark.parametrize("layer", LAYERS)
def test_pytorch(layer):
    torch = pytest.importorskip("torch")
    unary, transitions, labels = (torch.tensor(x) for x in batch())
    unary.requires_grad_()
    transitions.requires_grad_()
    hinge = of_guide("torch_hinge")(layer)
    mask = torch.arange(6) < torch.tensor([6, 5, 6, 4])[:, None]
    for given in ((labels,), (labels, mask)):
        assert torch.autograd.gradcheck(
            lambda u, a, given=given: hinge(u, a, *given), (unary, transitions)
        )
    hinge(unary, transitions, labels).mean().backward()
    assert (unary.grad[1, 4:] == 0).all()
    assert hinge(unary.float(), transitions.float(), labels).dtype == torch.float32


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
