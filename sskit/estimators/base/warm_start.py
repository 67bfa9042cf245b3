"""What an estimator keeps of a fit so that the next one can go on from there."""

from dataclasses import dataclass

import numpy as np

from sskit.core.fingerprint import Fingerprint
from sskit.solvers.common.dual_point import DualPoint


@dataclass(frozen=True)
class WarmStart:
    """A dual point, and of which problem it is one.

    Attributes
    ----------
    fingerprint : Fingerprint
        Of the problem.
    classes : ndarray or None
        The labels behind the numbers in the problem, if there are any.
    point : DualPoint
        Where the last fit ended.
    refusal : str
        What is said where it is not of the problem, with a place for the difference.
    """

    fingerprint: Fingerprint
    classes: object
    point: DualPoint
    refusal: str = (
        "warm_start=True cannot continue the last fit, because {}; set warm_start=False to start "
        "anew"
    )

    def check(self, fingerprint, classes):
        """Raise ValueError unless the point is one of a new problem too.

        Parameters
        ----------
        fingerprint : Fingerprint
            Of the new problem: the old one, perhaps with samples appended.
        classes : ndarray or None
            Labels of the new problem.

        Raises
        ------
        ValueError
            Saying what changed.
        """
        if (classes is None) != (self.classes is None) or not np.array_equal(classes, self.classes):
            difference = "the classes changed" + (
                ""
                if classes is None or self.classes is None
                else f" from {self.classes.tolist()} to {classes.tolist()}"
            )
        else:
            difference = fingerprint.difference(self.fingerprint)
        if difference is not None:
            raise ValueError(self.refusal.format(difference))
