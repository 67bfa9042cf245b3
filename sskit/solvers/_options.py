"""Parameters that solvers share: their checks, and the objects that they name."""

import numbers

from sskit.core._sampler import GapSampler, MaxGapSampler, PermutationSampler, UniformSampler
from sskit.solvers._steps import AwayStep, PairwiseStep, PlainStep, SafeguardedStep

SAMPLERS = {
    "permutation": PermutationSampler,
    "uniform": UniformSampler,
    "gap": GapSampler,
    "max_gap": MaxGapSampler,
}
STEPS = {"fw": PlainStep, "pairwise": PairwiseStep, "away": AwayStep}
MEGABYTE = 2**20


def make_sampler(name, n_blocks, random_state, degree):
    """Return the sampler of this name.

    Parameters
    ----------
    name : {"permutation", "uniform", "gap", "max_gap"}
        Its name.
    n_blocks : int
        Number of blocks.
    random_state : RandomState
        Source of randomness.
    degree : float
        Exponent of the gaps, for "gap".

    Returns
    -------
    sampler : Sampler
        The sampler.
    """
    options = {"degree": degree} if name == "gap" else {}
    return SAMPLERS[name](n_blocks, random_state, **options)


def make_batching(batch_size, problem, team):
    """Return how a run asks oracles together, as its keyword arguments.

    Parameters
    ----------
    batch_size : int or "auto"
        Number of oracles that are asked at the same weights. "auto" is what the problem wants;
        it then costs much to prepare a step, and blocks that promise little take none.
    problem : Problem
        What to solve.
    team : Team or None
        Asks them.

    Returns
    -------
    batching : dict
        batch_size, selective and team.
    """
    if batch_size != "auto":
        return {"batch_size": batch_size, "selective": False, "team": team}
    wanted = problem.batch_size
    return {"batch_size": max(wanted, 1), "selective": wanted > 0, "team": team}


def make_step(name, safeguard):
    """Return the step of this name, safeguarded if asked.

    Parameters
    ----------
    name : {"fw", "pairwise", "away"}
        Its name.
    safeguard : bool
        Whether a plain step that promises more takes its place.

    Returns
    -------
    step : Step
        The step.
    """
    step = STEPS[name]()
    return SafeguardedStep(step) if safeguard else step


def check_choice(name, value, available):
    """Raise an error unless a parameter has one of the available values.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        Its value.
    available : tuple
        Values that work.

    Raises
    ------
    ValueError
        For any other value.
    """
    # identity of type too: 1 == True, but is not a value that we document
    if any(type(value) is type(choice) and value == choice for choice in available):
        return
    raise ValueError(f"{name} must be one of {', '.join(map(repr, available))}, got {value!r}")


def check_batch_size(value):
    """Raise ValueError unless a batch size is "auto" or a positive integer.

    Parameters
    ----------
    value : object
        The parameter.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if not (isinstance(value, str) and value == "auto"):
        check_positive("batch_size", value, whole=True)


def check_count(name, value, *words):
    """Raise ValueError unless a parameter is 0, a positive integer or one of some words.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        Its value.
    *words : str
        What it may be instead.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if isinstance(value, str) and value in words:
        return
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < 0:
        choices = "".join(f"{word!r} or " for word in words)
        raise ValueError(f"{name} must be {choices}an integer >= 0, got {value!r}")


def check_positive(name, value, *, whole=False, optional=False, finite=False):
    """Raise ValueError unless a parameter is a positive number (or None, if optional).

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        Its value.
    whole : bool, default=False
        Whether it must be an integer.
    optional : bool, default=False
        Whether it may be None.
    finite : bool, default=False
        Whether it must not be infinite.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if optional and value is None:
        return
    kind = numbers.Integral if whole else numbers.Real
    number = isinstance(value, kind) and not isinstance(value, bool) and value > 0
    if not number or (finite and value == float("inf")):
        expected = ("a positive integer" if whole else "a positive number") + (
            " or None" if optional else ""
        )
        raise ValueError(f"{name} must be {expected}, got {value!r}")


def check_share(name, value):
    """Raise ValueError unless a parameter is a number that is at least 0 and below 1.

    Parameters
    ----------
    name : str
        Name of the parameter.
    value : object
        Its value.

    Raises
    ------
    ValueError
        If it is anything else.
    """
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not 0 <= value < 1:
        raise ValueError(f"{name} must be a number that is at least 0 and below 1, got {value!r}")
