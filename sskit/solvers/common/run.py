"""What the driver asks of the state of one run, whatever the solver."""

from sskit.core.stop import Stop
from sskit.solvers.common.tolerance import Tolerance


class Run:
    """State of one run: makes passes, and says what is known of the weights.

    A subclass implements `run_pass` and `certify`. If it has columns of its own in the history,
    the history has a row for every pass.

    Attributes
    ----------
    stop : Stop
        Says when a pass is to end early: it is asked after every visit, and wherever a pass
        ends weights and certificate mean what they always do.
    tolerance : Tolerance
        Says which gap ends the fit; its share is the tolerance of other measures too.
    n_oracle_calls : int
        Calls of the oracle by the passes so far.
    columns : dict
        Types of its columns of the history, by name.
    """

    tolerance = Tolerance(0.0)
    n_oracle_calls = 0
    columns = {}

    def __init__(self):
        self.stop = Stop()

    def run_pass(self):
        """Visit n_blocks blocks; return an estimate of the gap, inf if there is none."""
        raise NotImplementedError(f"{type(self).__name__} must implement run_pass")

    def certify(self, evaluator):
        """Return a `Certificate` from an exact pass by a `Pool`.

        Raises
        ------
        CutShort
            If a stop was due before its end.
        """
        raise NotImplementedError(f"{type(self).__name__} must implement certify")

    def converged(self, certificate):
        """Return whether an exact pass, the last one, says that the fit may end."""
        return self.tolerance.holds(certificate)

    def lower_bound(self):
        """Return one of the optimum that needs no exact pass; asked after passes with estimates."""
        raise NotImplementedError(f"{type(self).__name__} must implement lower_bound")

    def row(self):
        """Return the values of `columns` after a pass."""
        return ()

    def weights(self):
        """Return a copy of the current weights."""
        return self.regularizer.coef()

    def last_weights(self):
        """Return those of a solution, if its certificate has none."""
        return self.weights()
