"""Products of what tests cross, thinned where all of them say little more than some."""


def in_turn(names, options, n=1):
    """Return pairs (name, option): every name with n of the options, which take turns."""
    options = list(options)
    step = len(options) // n
    turns = [(name, i + k * step) for i, name in enumerate(names) for k in range(n)]
    return [(name, options[turn % len(options)]) for name, turn in turns]
