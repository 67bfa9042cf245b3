"""The training problem that an estimator makes of its data."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sskit.estimators.base.options import Options


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
        The sum of the weights of samples where some samples are left out.
    """

    problem: object
    default_lam: float
    to_attributes: object
    certifiable: bool = True
    completion: object = None
    options: Options | None = None
    box: tuple | None = None
    unscaled: object = None
    chosen: tuple = ()
    rule: str = ""
    heavy: object = None
    total_weight: float | None = None

    @property
    def scalable(self):
        """Whether columns may be scaled: not in the space of a kernel."""
        return "feature_scale_" in self.to_attributes.shared

    @property
    def layout(self):
        """Places of the weights."""
        return self.to_attributes.layout

    @property
    def columns(self):
        """How the columns of the features were scaled; None if they were not."""
        return None if self.options is None else self.options.columns

    def to_user(self, w, overwrite=False):
        """Return flat weights of features as the user gave them, from those of scaled ones."""
        if self.columns is None:
            return w
        w = self.columns.to_user(self.layout, w, overwrite)
        return w if self.box is None else np.clip(w, *self.box, out=w)

    def from_user(self, w):
        """Return flat weights of scaled features, a copy; the inverse of `to_user`."""
        return np.array(w) if self.columns is None else self.columns.from_user(self.layout, w)

    def attributes(self, w, overwrite=False):
        """Return the fitted attributes by name, of a copy of flat weights of the problem.

        Where these may be overwritten, the attributes are parts of them.
        """
        w = w if overwrite or self.columns is not None else np.array(w)
        return self.to_attributes(self.to_user(w, overwrite))

    def fingerprint(self):
        """Return the fingerprint of the training data, which does not depend on scaled columns."""
        of_data = (self.problem if self.unscaled is None else self.unscaled()).fingerprint()
        of_data = of_data if self.completion is None else self.completion.fingerprint(of_data)
        # the labels behind the numbers in the problem
        classes = np.asarray(self.to_attributes.shared.get("classes_", ())).tolist()
        return replace(of_data, whole={"the classes": classes} | of_data.whole)
