"""Calls that are refused leave an estimator as it was."""

import pickle
from contextlib import contextmanager, suppress

import pytest


def pickled(model):
    """Return the bytes of a model, or None if it holds what cannot be pickled."""
    with suppress(pickle.PicklingError, AttributeError, TypeError):
        return pickle.dumps(model)
    return None


@contextmanager
def refused(model, error, match):
    """Expect an error, and that the model has the same attributes and contents as before.

    Contents are compared by pickles, where there are some.
    """
    before, content = dict(vars(model)), pickled(model)
    with pytest.raises(error, match=match) as caught:
        yield caught
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
    assert pickled(model) == content
