"""The training problem that an estimator makes of its data, and the attributes that it fits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sskit.estimators.base.kernels import support_of
from sskit.models.kernel.functions import Kernel
from sskit.models.layout import WeightLayout
from sskit.solvers.common.fit import solve
from sskit.solvers.convex_concave import solve_in_rounds
from sskit.solvers.quasi_newton.first_point import first_point

if TYPE_CHECKING:
    from sskit.models.columns.scaling import Columns
    from sskit.models.slack.model import SlackRescaling
    from sskit.solvers.common.solver import Solver


@dataclass(frozen=True, kw_only=True)
class Options:
    """What a fit has decided; nothing behind its start reads these parameters again.

    What follows from parameters alone is decided before the data are read, the rest once the
    summary of all data is known, see `StructuredEstimator._decide`. A family may have further
    fields in a subclass.

    Attributes
    ----------
    solver : Solver
        That of the parameters; until the problem is known, some of its values may be "auto".
    rescaling : SlackRescaling or None
        What wraps problems of another rescaling than margin.
    likelihood : bool
        Whether the negative log-likelihood stands for the loss.
    solving : dict
        Arguments of the solver beside the problem, by name.
    columns : Columns or None
        How the columns of the features are scaled and renumbered; None if they are not.
    """

    solver: Solver
    rescaling: SlackRescaling | None = None
    likelihood: bool = False
    solving: dict
    columns: Columns | None = None


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


class TrainingTask(NamedTuple):
    """The training problem that an estimator makes of its data.

    Attributes
    ----------
    problem : Problem
        The model bound to the data.
    default_lam : float
        Regularisation strength where the user names none.
    to_attributes : BlockAttributes or GraphWeights
        Maps a flat weight vector of features as the user gave them to fitted attributes; of a
        class, so that it can be saved.
    certifiable : bool
        Whether the kernel is positive semi-definite and the likelihood convex; else no gap is a
        certificate.
    completion : Completion
        Of labels that are not known; None if all are known.
    summed : Hidden
        Hidden states that the likelihood sums over; None if there are none.
    options : Options
        What the fit has decided.
    box : tuple of ndarray
        Bounds on the weights in the user's units, which rounding must not exceed, or None.
    unscaled : callable
        Then it returns the problem of the features as they are.
    chosen : tuple of str
        What parameters left to the fit, and why, beside lam, columns and solver.
    rule : str
        How the default lam is made, if not by the rule of the class.
    heavy : HeavyColumns
        The few columns of features that leave the others little effect, if there are such.
    total_weight : float or None
        The sum of the sample weights; None if there are none.
    """

    problem: object
    default_lam: float
    to_attributes: object
    certifiable: bool = True
    completion: object = None
    summed: object = None
    options: Options | None = None
    box: tuple | None = None
    unscaled: object = None
    chosen: tuple = ()
    rule: str = ""
    heavy: object = None
    total_weight: float | None = None

    @property
    def layout(self):
        """Places of the weights."""
        return self.to_attributes.layout

    def to_user(self, w, overwrite=False):
        """Return flat weights of features as the user gave them, from those of scaled ones."""
        columns = self.options.columns
        if columns is None:
            return w
        w = columns.to_user(self.layout, w, overwrite)
        return w if self.box is None else np.clip(w, *self.box, out=w)

    def from_user(self, w):
        """Return flat weights of scaled features, a copy; the inverse of `to_user`."""
        columns = self.options.columns
        return np.array(w) if columns is None else columns.from_user(self.layout, w)

    def attributes(self, w, overwrite=False):
        """Return the fitted attributes by name, of a copy of flat weights of the problem.

        Where these may be overwritten, the attributes are parts of them.
        """
        w = w if overwrite or self.options.columns is not None else np.array(w)
        return self.to_attributes(self.to_user(w, overwrite))

    def solve(self, solver, make_regularizer, *, start=None, begin_at=None, goes_on=True, **limits):
        """Solve the problem, round after round if labels are not known.

        Parameters
        ----------
        solver : Solver
            Resolved.
        make_regularizer : callable
            Returns a new `Regularizer`, which has lam and the weights of one run.
        start : DualPoint, Completed or None
            Where an earlier fit ended.
        begin_at : ndarray of shape (n_weights,), default=None
            Weights by which labels that are not known are completed first.
        goes_on : bool, default=True
            Whether there may be further passes, see `Fit.solution`.
        **limits : object
            Further arguments of `sskit.solvers.common.fit.solve`.

        Returns
        -------
        solution : Solution
            The weights with their certificate.
        rounds : Descent or None
            In which labels were completed, if there were such.
        """
        training = solver, self.problem, make_regularizer
        if self.completion is not None:
            begun = {"start": start, "begin_at": begin_at}
            return solve_in_rounds(self.completion, *training, **begun, **limits)
        if self.summed is not None and start is None and begin_at is None:
            start = first_point(self.summed, *training, **limits)
        options = {"start": start, "goes_on": goes_on, **limits}
        return solve(solver, self.problem, make_regularizer(), **options), None

    def fingerprint(self):
        """Return the fingerprint of the training data, which does not depend on scaled columns."""
        of_data = (self.problem if self.unscaled is None else self.unscaled()).fingerprint()
        of_data = of_data if self.completion is None else self.completion.fingerprint(of_data)
        # the labels behind the numbers in the problem
        classes = np.asarray(self.to_attributes.shared.get("classes_", ())).tolist()
        return replace(of_data, whole={"the classes": classes} | of_data.whole)
