"""Reports of a fit while it runs: a progress bar, or lines."""

import logging
import math
import time
from contextlib import contextmanager

from sskit.solvers.common.solution import relative

logger = logging.getLogger("sskit")

# Seconds between two lines about passes that are not exact, and before a bar appears.
EVERY = 1.0


def logged(line, verbose):
    """Log a line, at level INFO if the fit is verbose; return whether it need not be printed."""
    logger.log(logging.INFO if verbose else logging.DEBUG, "%s", line)
    return not verbose or (logger.hasHandlers() and logger.isEnabledFor(logging.INFO))


def report(line, verbose):
    """Log a line, or print it if the fit is verbose and the log does not show it."""
    if not logged(line, verbose):
        print(line, flush=True)


class Progress:
    """Reports of a fit: of each exact pass, and one a second of the passes in between.

    The logger "sskit" gets them as lines: all exact passes at level DEBUG, or, if the fit is
    verbose, all lines at level INFO. Where it does not show these, because logging is not
    configured, a verbose fit draws a bar if rich is installed and there is a terminal or a
    notebook, and prints the lines if not, or if ``verbose`` is above 1.

    Parameters
    ----------
    name : str
        Of the solver; lines begin with it.
    verbose : int
        Above 0, reports are shown to the user.
    """

    def __init__(self, name, verbose):
        self.name = name
        self.verbose = verbose
        # whether reports of exact passes are printed or logged at all
        self.shows = bool(verbose) or logger.isEnabledFor(logging.DEBUG)
        self.began = self.last = time.perf_counter()
        self.tol = self.bar = None

    @property
    def seconds(self):
        """Seconds since the start."""
        return time.perf_counter() - self.began

    @contextmanager
    def until(self, tol):
        """Report passes that end at a relative gap; a bar stays on the screen as it then is."""
        self.tol = tol
        try:
            yield
        finally:
            if self.bar is not None:
                self.bar.close()
                self.bar = None

    def exact_pass(self, n_iter, numbers, unit):
        """Report the numbers of an exact pass.

        Parameters
        ----------
        n_iter : int
            Passes so far.
        numbers : dict of str to float
            By what they are called.
        unit : float
            P(0).
        """
        # without an exact pass, or where none can bound the objective, some are not known
        words = {name: f"{name} {value:.6g}" for name, value in numbers.items() if value == value}
        fraction = math.inf
        if "gap" in words:
            fraction = relative(numbers["gap"], numbers["primal"], unit)
            words["gap"] = f"gap {numbers['gap']:.3g} ({fraction:.3g} of the objective)"
        self.log_line(n_iter, fraction, ", ".join(words.values()))

    def report_estimate(self, n_iter, estimate, lower_bound, unit):
        """Report the estimated gap after a pass, if the last report is a second old.

        Parameters
        ----------
        n_iter : int
            Passes so far.
        estimate : float
            Of the gap; inf if there is none.
        lower_bound : callable
            Returns a lower bound of the optimum; called if there is an estimate to report.
        unit : float
            P(0).
        """
        if time.perf_counter() - self.last >= EVERY:
            fraction, about = math.inf, ""
            if estimate < math.inf:
                fraction = relative(estimate, lower_bound() + estimate, unit)
                about = f"gap about {fraction:.3g} of the objective"
            self.log_line(n_iter, fraction, about)

    def log_line(self, n_iter, fraction, numbers):
        """Log, draw or print how far the fit is."""
        self.last = time.perf_counter()
        numbers = f"{numbers}, " if numbers else ""
        line = f"{self.name}: pass {n_iter}, {numbers}{self.seconds:.1f} s"
        shown = logged(line, self.verbose)
        if not shown and (self.verbose > 1 or not self.draws(n_iter, fraction)):
            print(line, flush=True)

    def draws(self, n_iter, fraction):
        """Bring the bar up to date, if there can be one; return whether there can."""
        if self.bar is None:
            self.bar = Bar.start(self.name)
        if self.bar is not None:
            self.bar.update(n_iter, fraction, self.tol)
        return self.bar is not None


class Bar:
    """A bar with the gap and the time that is left, drawn by rich.

    A fit closes the gap at a rate: the bar shows how many of the powers of ten between the
    first gap that was reported and the tolerance are done.

    Parameters
    ----------
    display : rich.progress.Progress
        Started.
    name : str
        Of the solver.
    """

    def __init__(self, display, name):
        self.display = display
        self.task = display.add_task(name, total=1.0, n_iter=0, gap="")
        self.first = None

    @classmethod
    def start(cls, name):
        """Return a bar, or None where rich is missing, shows another one, or has no screen."""
        try:
            from rich import get_console, progress
            from rich.errors import LiveError
        except ImportError:
            return None
        if not (get_console().is_terminal or get_console().is_jupyter):
            return None
        columns = ["{task.description}: pass {task.fields[n_iter]}", progress.BarColumn()]
        columns += ["{task.fields[gap]}", progress.TimeElapsedColumn()]
        columns += ["left", progress.TimeRemainingColumn()]
        display = progress.Progress(*columns, auto_refresh=False)
        try:
            display.start()
        except LiveError:
            return None
        return cls(display, name)

    def update(self, n_iter, fraction, tol):
        """Draw a number of passes and the relative gap, which is to become ``tol``."""
        if self.first is None and 0.0 < fraction < math.inf:
            self.first = fraction
        done = 0.0
        if self.first is not None and 0.0 < tol < self.first and fraction < math.inf:
            powers = math.log(self.first / max(fraction, tol)) / math.log(self.first / tol)
            done = max(powers, 0.0)
        gap = f"gap {100.0 * fraction:.3g} % (to reach: {100.0 * tol:.3g} %)"
        self.display.update(
            self.task, completed=done, n_iter=n_iter, gap=gap if fraction < math.inf else ""
        )
        self.display.refresh()

    def close(self):
        """Leave the bar as it is."""
        self.display.stop()
