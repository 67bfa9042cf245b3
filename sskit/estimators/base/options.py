"""The options of one fit: what the parameters of an estimator stand for, decided once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

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
