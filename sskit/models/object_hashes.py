"""Hashes of structures and samples of users, for fingerprints."""

import joblib
import numpy as np


def sample_digests(samples, name):
    """Return digests of objects by value.

    Parameters
    ----------
    samples : list of length n
        Objects of any types that can be pickled.
    name : str
        What they are, for the error.

    Returns
    -------
    digests : ndarray of shape (n,), uint64
        Equal for equal objects.

    Raises
    ------
    TypeError
        Naming the first object that cannot be pickled.
    """
    return np.array([digest(sample, f"{name}[{i}]") for i, sample in enumerate(samples)], np.uint64)


def model_digest(model):
    """Return a digest of what a structure is: its class and its parameters.

    Parameters
    ----------
    model : object
        With scikit-learn's ``get_params``; otherwise its public attributes are taken for its
        parameters.

    Returns
    -------
    digest : bytes
        Equal for structures with the same results for the same samples.
    """
    if hasattr(model, "get_params"):
        parameters = model.get_params(deep=False)
    else:
        public = getattr(model, "__dict__", {}).items()
        parameters = {name: value for name, value in public if not name.startswith("_")}
    kind = type(model)
    return digest((kind.__module__, kind.__qualname__, parameters), "the model").to_bytes(8, "big")


def digest(item, name):
    """Return 64 bits of the hash of an object; its name is for the error."""
    try:
        return int(joblib.hash(item)[:16], 16)
    except Exception as error:
        raise TypeError(
            f"{name} cannot be pickled, as warm_start=True needs to recognise it"
        ) from error
