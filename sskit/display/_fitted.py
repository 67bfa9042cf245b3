"""The estimator that a display is about."""


def chosen_estimator(estimator):
    """Return what a search chose, or the estimator itself if it is no search.

    Parameters
    ----------
    estimator : estimator
        Any.

    Returns
    -------
    estimator : estimator
        With what ``best_estimator_`` holds, if there is any. A path is itself.
    """
    if hasattr(estimator, "lams_"):
        return estimator
    return getattr(estimator, "best_estimator_", estimator)


def is_pipeline(estimator):
    """Return whether an estimator has further ones as steps; ``steps`` alone is a parameter."""
    return hasattr(estimator, "named_steps")


def last_step(estimator):
    """Return the estimator at the end of a pipeline, or of the one that a search chose.

    Parameters
    ----------
    estimator : estimator
        Any.

    Returns
    -------
    estimator : estimator
        That is neither a pipeline nor a search.
    """
    while True:
        inner = chosen_estimator(estimator)
        inner = inner[-1] if is_pipeline(inner) else inner
        if inner is estimator:
            return inner
        estimator = inner


def predict_and_input(estimator, X):
    """Predict, and return also what the last step of the estimator predicted from.

    Parameters
    ----------
    estimator : estimator
        Fitted. A search predicts with what it chose.
    X : object
        Samples, as the estimator takes them.

    Returns
    -------
    predictions : object
        What the estimator predicts.
    seen : object
        The samples as the last step of a pipeline sees them; of other estimators X itself.
    """
    estimator = chosen_estimator(estimator)
    if not is_pipeline(estimator) or len(estimator.steps) < 2:
        return estimator.predict(X), X
    # Not the pipeline's own predict: it would keep what the last step sees to itself.
    seen = estimator[:-1].transform(X)
    return estimator[-1].predict(seen), seen
