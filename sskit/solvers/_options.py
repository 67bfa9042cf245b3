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
MEGABYTE = 2.0**20


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


def auto_batching(batch_size, problem):
    """Return what "auto" stands for, of the options that ask oracles together.

    Parameters
    ----------
    batch_size : int or "auto"
        Number of oracles that are asked at the same weights. "auto" is what the problem wants;
        it then costs much to prepare a step, and blocks that promise little take none.
    problem : Problem or None
        What to solve, if it is known.

    Returns
    -------
    auto : dict
        batch_size and selective; nothing that depends on a problem that is not known.
    """
    if not is_auto(batch_size):
        return {"selective": False}
    if problem is None:
        return {}
    wanted = max(problem.batch_size, 1)
    return {"batch_size": wanted, "selective": wanted > 1}


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


def is_auto(value):
    """Return whether a parameter is "auto", not an array that is compared by its entries."""
    return isinstance(value, str) and value == "auto"


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


def check_batching(batch_size, selective):
    """Raise ValueError unless the options that ask oracles together have values that work.

    Parameters
    ----------
    batch_size : object
        "auto" or a positive integer.
    selective : object
        "auto", True or False.

    Raises
    ------
    ValueError
        If they are anything else.
    """
    if not is_auto(batch_size):
        check_positive("batch_size", batch_size, whole=True)
    check_choice("selective", selective, ("auto", True, False))


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
    if number and not whole:
        try:
            float(value)
        except OverflowError:
            raise ValueError(f"{name} is larger than any float") from None
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
