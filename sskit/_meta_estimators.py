"""Access to the steps inside pipelines, searches and other meta-estimators."""

from sklearn.utils.validation import check_is_fitted


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
    while estimator is not None:
        yield estimator, X
        if hasattr(estimator, "named_steps"):
            if X is not None and len(estimator.steps) > 1:
                X = estimator[:-1].transform(X)
            estimator = estimator.steps[-1][1]
        else:
            names = ("best_estimator_", "estimator_", "estimator")
            names = () if hasattr(estimator, "lams_") else names
            estimator = next((getattr(estimator, n) for n in names if hasattr(estimator, n)), None)


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
