"""Calls that are refused leave an estimator as it was."""

from contextlib import contextmanager

import pytest


@contextmanager
def refused(model, error, match):
    """Expect an error, and that no attribute of the model is another object afterwards."""
    before = dict(vars(model))
    with pytest.raises(error, match=match) as caught:
        yield caught
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())
