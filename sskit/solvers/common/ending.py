"""Why a fit ends after a pass."""

from sskit.solvers.common.solution import Status


def asked(stop):
    """Return why a stop ends a fit, if it does.

    Parameters
    ----------
    stop : Stop
        Knows of Ctrl-C and the clock.

    Returns
    -------
    status : Status or None
        None to go on.
    """
    if stop.requested:
        return Status.INTERRUPTED
    return Status.MAX_TIME if stop.timed_out else None


def after_pass(stop, n_iter, max_iter, on_pass, weights):
    """Return why a fit ends after a pass, if it does.

    Parameters
    ----------
    stop : Stop
        Knows of Ctrl-C and the clock.
    n_iter : int
        Passes so far, this one included.
    max_iter : int
        Largest number of passes.
    on_pass : callable or None
        Called with (n_iter, weights) unless the pass was cut short; a true result stops.
    weights : callable
        Returns the present weights.

    Returns
    -------
    status : Status or None
        None to go on, but for the gap.
    """
    if on_pass is not None and not stop.ends and on_pass(n_iter, weights):
        return Status.CALLBACK
    status = asked(stop)
    return Status.MAX_ITER if status is None and n_iter >= max_iter else status
