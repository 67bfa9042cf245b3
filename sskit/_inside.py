"""What is inside pipelines, searches and other meta-estimators."""


def unwrap(estimator, X=None):
    """Yield an estimator, then what it ends in, each with what it is given of data.

    Parameters
    ----------
    estimator : object
        A pipeline leads to its last step, a search or another meta-estimator to what it has
        fitted, or else to what it would fit. A path, which has many models, is an end.
    X : object, default=None
        What the first one is given; the steps of pipelines transform it on the way.

    Yields
    ------
    estimator : object
        From outside in.
    X : object
        What this one is given.
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
