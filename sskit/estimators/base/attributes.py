"""Fitted attributes for the weights of a model."""

from dataclasses import dataclass

import numpy as np

from sskit.estimators.base.kernels import support_of
from sskit.models.kernel.functions import Kernel
from sskit.models.layout import WeightLayout


@dataclass(frozen=True)
class BlockAttributes:
    """Maps flat weights to fitted attributes, a block to each; see `TrainingTask`.

    Attributes
    ----------
    layout : WeightLayout
        Places of the weights.
    shared : dict
        Fitted attributes that do not depend on the weights.
    one_score : bool, default=False
        Whether two classes have one function: that of the second less that of the first.
    kernel : Kernel, default=None
        That of the space, if it is one of functions.
    X : {ndarray, CSR matrix} of shape (n_rows, n_features), default=None
        Training rows, in a kernel space.
    labels : ndarray of shape (n_rows,), default=None
        Their classes, 0 to K - 1.
    """

    layout: WeightLayout
    shared: dict
    one_score: bool = False
    kernel: Kernel | None = None
    X: object = None
    labels: np.ndarray | None = None

    def __call__(self, w):
        """Return fitted attributes by name, of flat weights, of which they are parts: not copied.

        The weights of one feature stay neighbours, as prediction reads them.
        """
        blocks = self.layout.split(w)
        blocks.pop("values", None)  # of functions at the training rows
        fitted = {f"{name}_": block for name, block in blocks.items()} | self.shared
        for name in ("coef_", "dual_coef_", "intercept_") if self.one_score else ():
            if name in fitted:
                fitted[name] = fitted[name][1:] - fitted[name][:1]
        if "dual_coef_" in fitted:
            fitted |= support_of(fitted["dual_coef_"], self.labels, self.kernel, self.X)
        return fitted

    def weight_shapes(self):
        """Return the shapes of the weights by the names of their attributes, one class each."""
        return {f"{name}_": shape for name, shape in self.layout.shapes.items()}

    def flat(self, weights):
        """Return the flat weights of arrays of these shapes."""
        return self.layout.join({name: weights[f"{name}_"] for name in self.layout.shapes})


def flat_weights(estimator, layout, **blocks):
    """Return the flat weights of a fitted estimator; some blocks may be given."""
    blocks = {name: getattr(estimator, f"{name}_", None) for name in layout.shapes} | blocks
    return layout.join(blocks)
