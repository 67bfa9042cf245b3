"""Online learning: implicit steps over the parts of a stream (partial_fit)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import _check_feature_names

from sskit._labels import label_array
from sskit._numbers import shortened, shown
from sskit._types import ArrayLike, Samples, Self, available_if, with_callbacks
from sskit.estimators.base.estimator import StructuredEstimator, replace_fitted
from sskit.estimators.base.prior import blocks_to_flat, flat_prior
from sskit.estimators.combinations import check_combinations, has_kernel, refusal
from sskit.estimators.reading.summary import matrices
from sskit.models.columns.scaling import Columns

# What must be the same in all steps, by field of the summary.
FEATURES = {
    "n_weights": "joint features",
    "feature_names": "as feature names",
    "edge_feature_names": "as names of features of edges",
    "n_features": "features",
    "n_edge_features": "features of edges",
}


def takes_steps(estimator):
    """Return True, or raise AttributeError: with a kernel there is no partial_fit."""
    if has_kernel(estimator):
        raise AttributeError(refusal(estimator, steps="partial_fit"))
    return True


def step(estimator, X, y, classes, sample_weight, **further):
    r"""Take an implicit online step; called by partial_fit itself, as `_fit` is by fit.

    A step minimises, over the samples of the part alone,

    .. math:: \tfrac{\lambda}{2} \sum_j s_j (w_j - w_j')^2 + \sum_i c_i H_i(w)

    where w' are the last weights and :math:`s_j = \sqrt{1 + n_j}`, with the number n_j of rows
    before that had feature j; of weights that are of no feature, of all rows. It is that of
    AdaGrad (Duchi, Hazan, Singer 2011) in the place of a step size. What is solved is the ordinary
    problem of features times :math:`\sqrt{S / s_j}` at lam S, S = sqrt(1 + number of rows).

    Parameters
    ----------
    estimator : StructuredEstimator
        Whose `_read_data` takes a part of the data.
    X, y, classes, sample_weight, **further : object
        Arguments of partial_fit.

    Returns
    -------
    estimator : object
        The same, after the step.
    """
    options = estimator._options()
    check_combinations(estimator, steps="partial_fit")
    last = vars(estimator) if "lam_" in vars(estimator) else None
    if last is not None and "n_samples_seen_" not in last:
        raise ValueError(
            f"this {type(estimator).__name__} does not know how many samples it has seen, as one "
            "of a version without partial_fit; fit it again"
        )
    checked = estimator._read_data(X, y, sample_weight, part=True, **further)
    summary = checked.summary
    if last is not None:
        check_features(estimator, X, summary)
    always = [estimator.outside] if hasattr(estimator, "outside") else []
    summary = with_all_labels(summary, classes, last, checked, always)
    summary = summary if last is None else estimator._running(summary, last)
    summary = estimator._agree(summary, options)
    # samples of a structure of the user's own have no columns
    features = [] if checked.columns is None else matrices(checked.data)
    seen, before = counts_before(last, features)
    scale = np.sqrt(1.0 + before)
    if last is not None and features:
        factors = np.sqrt(scale[-1] / scale[:-1])
        columns = summary.options.columns or Columns(None, np.ones(len(factors)))
        summary = summary.with_columns(replace(columns, factor=columns.factor * factors))
    task = estimator._bind_scaled(checked, summary)
    lam = float(scale[-1] * (estimator.lam or task.default_lam))
    if last is None:
        prior, begin_at = flat_prior(estimator, task), None
    else:
        prior = begin_at = blocks_to_flat(vars(estimator), task, "the last step", strict=False)
    fitted = estimator._solve(task, lam, prior, X, y, sample_weight, begin_at)
    fitted["n_samples_seen_"] += seen
    fitted["_feature_counts_"] = before + counts_of(features, task.problem.n_blocks)
    for names in ("feature_names_in_", "vectorizer_", "edge_feature_names_in_"):
        if last is not None and names in last:  # this part may have come without
            fitted[names] = last[names]
    return replace_fitted(estimator, fitted)


class OnlineEstimator(StructuredEstimator):
    """Base of estimators that take steps, and no weights of what samples consist of."""

    n_samples_seen_: float

    @available_if(takes_steps)
    @with_callbacks
    def partial_fit(
        self,
        X: ArrayLike | Samples,
        y: ArrayLike | Samples,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Take an implicit online step: solve for new samples, near the last weights.

        The last weights are the prior, in a norm in which a weight is the stiffer the more rows
        have had its feature, as the square root of their number; see "Continue training".
        The step is solved to `tol` and certified as any fit is; what was seen before is not kept.
        The first call is a fit to its samples, with `prior` if there is one.

        Parameters
        ----------
        X, y : object
            New samples, as in `fit`; the features are those of all steps.
        classes : array-like of shape (n_classes,), default=None
            All labels there will be; for the first call. None means those in y. Later calls may
            repeat it. Of segments it need not name `outside`; for sets of labels it is None, unless
            y has two classes.
        sample_weight : array-like of shape (n_samples,), default=None
            As in `fit`.

        Returns
        -------
        self : object
            The estimator after the step.

        Raises
        ------
        ValueError
            If a parameter or the data are wrong, or y has a label that is none of the classes; then
            the estimator stays as it was.

        References
        ----------
        Kulis, Bartlett (2010). Implicit online learning. ICML.

        Duchi, Hazan, Singer (2011). Adaptive subgradient methods for online learning and
        stochastic optimization. Journal of Machine Learning Research 12.
        """
        return step(self, X, y, classes, sample_weight)


def check_as_before(sentence, now, before):
    """Raise ValueError unless something is what it was in the steps before; it names both."""
    if now != before:
        told = (shortened(some) if isinstance(some, tuple) else some for some in (now, before))
        raise ValueError(sentence.format(*told))


def check_kinds_as_before(kinds, before, noun):
    """Raise ValueError unless nodes, or edges, have kinds where they had in the steps before."""
    sentence = f"the {noun} of X have {{}}, but those of the steps before have {{}}"
    check_as_before(
        sentence, *("no kinds" if some is None else "kinds" for some in (kinds, before))
    )


def check_features(estimator, X, summary):
    """Raise ValueError if features are not those of the steps before."""
    last, name = vars(estimator), type(estimator).__name__
    # lists of data frames have names too, and so have tokens of any container
    names_apart = isinstance(X, (list, tuple)) or "vectorizer_" in last
    if hasattr(summary, "feature_names") and not names_apart:
        _check_feature_names(estimator, X, reset=False)
    for field, noun in FEATURES.items():
        now, before = getattr(summary, field, None), last.get(f"{field}_in_")
        if field == "n_weights" and now is not None:
            before = np.size(last["coef_"])
        if field.endswith("names"):
            if now is None or before is None:
                continue
            now, before = tuple(now), tuple(before)
        sentence = f"X has {{}} {noun}, but {name} is expecting {{}} {noun} as input"
        check_as_before(sentence, *("no" if some is None else some for some in (now, before)))


def with_all_labels(summary, classes, last, checked, always):
    """Return the summary of a part with the labels of all steps.

    Parameters
    ----------
    summary : Summary
        Of the part.
    classes : array-like or None
        Argument of partial_fit.
    last : dict or None
        Attributes after the last step; None if this is the first.
    checked : TrainingData
        The part, in which an error finds those labels that are unknown.
    always : list
        Labels that `classes` need not name.

    Returns
    -------
    summary : Summary
        A new one.
    """
    labels = getattr(summary, "labels", None)
    if labels is None:
        if classes is not None:
            whose = "sets of labels" if hasattr(summary, "n_labels") else "a model object"
            raise ValueError(f"classes has no meaning with {whose}; leave it at None")
        return summary
    all_classes = labels.values if last is None else last["classes_"]
    if classes is not None:
        listed = list(classes) if np.iterable(classes) else []
        if not listed or isinstance(listed[0], (list, np.ndarray)):
            raise ValueError(f"classes must be a list of labels, got {classes!r:.80}")
        listed += [label for label in always if last is None or label in all_classes.tolist()]
        listed_labels = np.unique(label_array(listed, lambda k: f"classes[{k}]"))
        if last is not None and listed_labels.tolist() != all_classes.tolist():
            raise ValueError(
                f"classes={listed_labels.tolist()!r:.80} is not the same as in the first call of "
                f"partial_fit, {all_classes.tolist()!r:.80}"
            )
        all_classes = listed_labels
    expected = set(all_classes.tolist())
    for k, label in enumerate(labels.values.tolist()):
        if label not in expected:
            data = checked.data
            offsets = getattr(data, "offsets", getattr(data, "node_offsets", None))
            raise ValueError(
                f"{checked.target.place_in(offsets)(k)} has {shown(label)}, not among the classes "
                f"{all_classes.tolist()!r:.80}: the first call of partial_fit must name all of them"
            )
    return replace(summary, labels=labels.among(all_classes))


def counts_before(last, features):
    """Return the number of samples so far, and of rows by feature.

    Parameters
    ----------
    last : dict or None
        Attributes of the estimator after the last step; None if this is the first.
    features : list of matrices
        Those of the new step.

    Returns
    -------
    seen : float
        Number of samples, or sum of their weights.
    counts : ndarray of shape (n_features + 1,)
        How many rows had each feature, and how many rows there were. After a fit that is not known:
        each feature with a weight counts as often as there were samples.
    """
    size = (features[0].shape[1] if features else 0) + 1
    if last is None:
        return 0, np.zeros(size, dtype=np.int64)
    seen, counts = last["n_samples_seen_"], last.get("_feature_counts_")
    if counts is None:
        used = np.append(np.any(last["coef_"], axis=0), True) if features else np.ones(1, bool)
        return seen, np.where(used, int(seen), 0)
    return seen, counts


def counts_of(features, n_samples):
    """Return how many rows have each feature, and how many rows there are; see `counts_before`."""
    if not features:
        return np.array([n_samples])
    filled = (np.asarray((matrix != 0).sum(axis=0)).ravel() for matrix in features)
    return np.append(sum(filled), sum(matrix.shape[0] for matrix in features))
