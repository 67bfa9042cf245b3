"""Options that do nothing in a combination: one policy for all solvers.

A solver lists its rules in `idle`. An option for which one of them holds is refused, unless it is
at its default or asks for what holds anyway: what a user sets must make a difference.
"""

from typing import NamedTuple

from sskit._public import parameter_defaults

# Kinds of problems, as messages name them.
SETS = "sets of labels"
NO_PAIRS = "sets of labels without pairs"


class Idle(NamedTuple):
    """Where an option does nothing.

    Attributes
    ----------
    option : str
        Its name.
    where : dict or str
        Values of other options, by name, with all of which it does nothing; or a kind of problem
        for which it does.
    holds : tuple
        Values of the option that ask for what holds there anyway.
    """

    option: str
    where: dict | str
    holds: tuple = ()

    def applies(self, solver, kinds):
        """Return whether the option does nothing.

        Parameters
        ----------
        solver : Solver
            With what every "auto" stands for, as far as that is known.
        kinds : callable
            Returns what the problem is, a set of str.

        Returns
        -------
        applies : bool
            Also False where it is not known yet.
        """
        if isinstance(self.where, str):
            return self.where in kinds()
        return all(getattr(solver, name) in values for name, values in self.where.items())


def refuse_idle(asked, solver, kinds):
    """Raise ValueError for the first option that was set and does nothing.

    Parameters
    ----------
    asked : Solver
        As the user made it.
    solver : Solver
        The same with what every "auto" stands for, as far as that is known.
    kinds : callable
        Returns what the problem is, a set of str. Not called unless it matters.

    Raises
    ------
    ValueError
        With the option, what makes it idle, and the value at which it should be left.
    """
    defaults = parameter_defaults(type(asked))
    for rule in asked.idle:
        value, default = getattr(asked, rule.option), defaults[rule.option]
        if value == default or value in rule.holds or not rule.applies(solver, kinds):
            continue
        if isinstance(rule.where, str):
            reasons = [rule.where]
        else:
            reasons = [_setting(asked, solver, name) for name in rule.where]
        raise ValueError(
            f"{rule.option}={value!r} has no meaning with {' and '.join(reasons)}; leave it at "
            f"{default!r}"
        )


def _setting(asked, solver, name):
    """Return an option and its value in code, with whether "auto" stands for it."""
    setting = f"{name}={getattr(solver, name)!r}"
    return setting if getattr(asked, name) == getattr(solver, name) else f"{setting} (by 'auto')"
