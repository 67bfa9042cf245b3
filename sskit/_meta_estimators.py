"""Of meta-estimators: access to the steps inside, and the folds that some make."""

from collections.abc import Iterable

import numpy as np
from sklearn.utils.validation import _num_samples, check_is_fitted

from sskit._numbers import shown


def unwrap(estimator, X=None):
    """Yield an estimator, then the estimators inside it, each with its input.

    Parameters
    ----------
    estimator : object
        A pipeline leads to its last step, a search or another meta-estimator to what it has
        fitted, or else to what it would fit. A path, which has many models, is an end.
    X : object, default=None
        Input of the first one; the steps of pipelines transform it on the way.

    Yields
    ------
    estimator : object
        From outside in.
    X : object
        Input of this one.
    """
    while True:
        yield estimator, X
        if hasattr(estimator, "named_steps"):
            if X is not None and len(estimator.steps) > 1:
                X = estimator[:-1].transform(X)
            estimator = estimator.steps[-1][1]
        else:
            names = ("best_estimator_", "estimator_", "estimator")
            names = () if hasattr(estimator, "lams_") else names
            estimator = next((getattr(estimator, n) for n in names if hasattr(estimator, n)), None)
        if estimator is None:
            return


def fitted_with(estimator, attribute, noun, X=None):
    """Return the fitted estimator inside another one that has an attribute.

    Parameters
    ----------
    estimator : estimator
        Any.
    attribute : str
        Of a fitted estimator, or a method.
    noun : str
        Name of the missing attribute in error messages.
    X : object, default=None
        Input of the outer estimator.

    Returns
    -------
    inner : estimator
        The outermost one that has it.
    X : object
        Input of this one.

    Raises
    ------
    NotFittedError, TypeError
        If it is not fitted, or none has the attribute.
    """
    for inner, inputs in unwrap(estimator, X):
        if hasattr(inner, attribute):
            check_is_fitted(inner)
            return inner, inputs
    check_is_fitted(inner)
    raise TypeError(f"{type(inner).__name__} has no {noun}")


def make_folds(cv, X, y=None, groups=None, *, classifier=False):
    """Return the folds of cross-validation, from a splitter or as users give them.

    Parameters
    ----------
    cv : int, cross-validation generator or iterable
        As scikit-learn takes it.
    X : sequence
        The samples.
    y, groups : object, default=None
        What the splitter may need beside them.
    classifier : bool, default=False
        Whether a number of folds keeps the frequencies of the classes y.

    Returns
    -------
    folds : list of (ndarray of int, ndarray of int)
        Numbers of the samples of training and test.

    Raises
    ------
    ValueError
        If there are none, or one is no pair of arrays of numbers of samples or of masks.
    """
    from sklearn.model_selection import check_cv  # not at import: megabytes that few need

    if isinstance(cv, Iterable) and not hasattr(cv, "split"):
        given = list(cv)
    else:
        given = list(check_cv(cv, y, classifier=classifier).split(X, y, groups))
    if not given:
        raise ValueError("cv makes no folds, expected one at least")
    folds, n_samples = [], _num_samples(X)
    for k, fold in enumerate(given):
        if not isinstance(fold, (tuple, list, np.ndarray)) or len(fold) != 2:
            raise ValueError(f"fold {k} of cv must be a pair (train, test), got {shown(fold)}")
        train, test = (
            numbers_of(samples, n_samples, f"{name} of fold {k} of cv")
            for name, samples in zip(("train", "test"), fold, strict=True)
        )
        folds.append((train, test))
    return folds


def numbers_of(samples, n_samples, name):
    """Return numbers of samples, which are given as such or as a mask of all."""
    found = np.asarray(samples)
    if found.shape == (0,):
        return np.zeros(0, dtype=np.intp)
    if found.dtype == bool:
        fits = found.shape == (n_samples,)
    else:
        fits = found.dtype.kind in "iu" and found.ndim == 1
        fits = fits and -n_samples <= found.min() and found.max() < n_samples
    if not fits:
        raise ValueError(
            f"{name} must be numbers of samples below {n_samples}, or a mask of {n_samples}, got "
            f"{shown(samples)}"
        )
    return np.arange(n_samples)[found]
