"""What a fit says while it runs."""

import logging
import time

from sskit.solvers.common.tolerance import relative

logger = logging.getLogger("sskit")

# Seconds between two lines about passes that are not exact.
EVERY = 1.0


class Progress:
    """Lines about a fit: one for each exact pass, and one a second for the passes in between.

    The logger "sskit" gets them: all exact passes at level DEBUG, or, if the fit is verbose, all
    lines at level INFO. Where it does not show these, because nobody has configured logging, lines
    of a verbose fit are printed.

    Parameters
    ----------
    name : str
        Of the solver; lines begin with it.
    verbose : int
        Whether the user wants to see them.
    """

    def __init__(self, name, verbose):
        self.name = name
        self.verbose = verbose
        self.began = self.last = time.perf_counter()

    @property
    def seconds(self):
        """Seconds since the start."""
        return time.perf_counter() - self.began

    def exact_pass(self, n_iter, numbers, unit):
        """Tell the numbers of an exact pass.

        Parameters
        ----------
        n_iter : int
            Passes so far.
        numbers : dict of str to float
            By what they are called.
        unit : float
            P(0).
        """
        told = [f"{name} {number:.6g}" for name, number in numbers.items()]
        share = relative(numbers["gap"], numbers["primal"], unit)
        place = [*numbers].index("gap")
        told[place] = f"gap {numbers['gap']:.3g} ({share:.3g} of the objective)"
        self.say(f"{self.name}: pass {n_iter}, {', '.join(told)}, {self.seconds:.1f} s")

    def between(self, n_iter, estimate, lower_bound, unit):
        """Tell the estimated gap after a pass, if the last line is a second old.

        Parameters
        ----------
        n_iter : int
            Passes so far.
        estimate : float
            Of the gap; inf if there is none.
        lower_bound : callable
            Returns a lower bound of the optimum; called if there is an estimate to be told.
        unit : float
            P(0).
        """
        if self.verbose and time.perf_counter() - self.last >= EVERY:
            about = ""
            if estimate < float("inf"):
                share = relative(estimate, lower_bound() + estimate, unit)
                about = f"gap about {share:.3g} of the objective, "
            self.say(f"{self.name}: pass {n_iter}, {about}{self.seconds:.1f} s")

    def say(self, line):
        """Log a line, or print it."""
        self.last = time.perf_counter()
        heard = logger.hasHandlers() and logger.isEnabledFor(logging.INFO)
        if self.verbose and not heard:
            print(line, flush=True)
        else:
            logger.log(logging.INFO if self.verbose else logging.DEBUG, "%s", line)
