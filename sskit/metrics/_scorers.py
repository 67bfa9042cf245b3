"""Scorers that know which labels an estimator ignores."""

from sklearn.metrics import make_scorer


class RegionScorer:
    """Scorer of estimators that label nodes, pixels or tokens, with their own `ignore_label`.

    It is called as the scorers of scikit-learn are, and asks for metadata as they do. What has no
    label for an estimator in training, and in its own ``score``, does not count here either.

    Parameters
    ----------
    metric : callable
        Takes (y_true, y_pred, ignore_label=, sample_weight=), as `mean_iou_score` and
        `token_accuracy_score` do.

    Examples
    --------
    >>> from functools import partial
    >>> from sskit.metrics import RegionScorer, mean_iou_score
    >>> RegionScorer(partial(mean_iou_score, labels="true"))
    RegionScorer(mean_iou_score)
    """

    def __init__(self, metric):
        self.metric = metric
        self.plain = make_scorer(metric)

    def __repr__(self):
        metric = getattr(self.metric, "func", self.metric)
        return f"{type(self).__name__}({getattr(metric, '__name__', metric)})"

    def __call__(self, estimator, X, y_true, sample_weight=None, **kwargs):
        """Return the score of the predictions of a fitted estimator.

        Parameters
        ----------
        estimator : object
            Fitted.
        X : sequence of n graphs or sequences
            What it predicts for.
        y_true : sequence of n arrays (V_i,), (T_i,) or (H_i, W_i)
            True labels of nodes, tokens or pixels.
        sample_weight : array-like of shape (n,), default=None
            Weights of the graphs or sequences.
        **kwargs : dict
            Further arguments of the metric, where metadata are routed.

        Returns
        -------
        score : float
            The larger the better.
        """
        label = ignored_by(estimator)
        scorer = self.plain if label is None else make_scorer(self.metric, ignore_label=label)
        return scorer(estimator, X, y_true, sample_weight=sample_weight, **kwargs)

    def set_score_request(self, **requests):
        """Return a scorer that asks for metadata.

        Parameters
        ----------
        **requests : dict
            By name, such as ``sample_weight=True``; see the guide of scikit-learn.

        Returns
        -------
        scorer : RegionScorer
            A new one.
        """
        scorer = type(self)(self.metric)
        scorer.plain.set_score_request(**requests)
        return scorer

    def get_metadata_routing(self):
        """Return what metadata is asked for.

        Returns
        -------
        request : MetadataRequest
            Of scikit-learn.
        """
        return self.plain.get_metadata_routing()


def ignored_by(estimator):
    """Return the `ignore_label` of an estimator, a pipeline's last step, or what a search found.

    Parameters
    ----------
    estimator : object
        Fitted.

    Returns
    -------
    label : object
        None if there is none.
    """
    while not hasattr(estimator, "ignore_label"):
        if getattr(estimator, "steps", None):
            estimator = estimator.steps[-1][1]
        elif hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "estimator"):
            estimator = estimator.estimator
        else:
            return None
    return estimator.ignore_label
