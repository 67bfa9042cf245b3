"""What fitted models of parts say of score maps."""

import numbers

import numpy as np

from sskit.estimators.base.fitted_state import check_numbers, raise_damaged
from sskit.inputs.parents import check_parents
from sskit.inputs.poses import check_torso
from sskit.inputs.ragged_array import object_array
from sskit.inputs.score_maps import check_positions
from sskit.metrics import pdj_score
from sskit.models.parts.data import LARGEST_MEAN


def check_parts(estimator):
    """Raise ValueError if attributes of a model of parts do not fit each other.

    Parameters
    ----------
    estimator : PartsModel
        Fitted.

    Raises
    ------
    ValueError
        Naming the attribute.
    """
    n = np.size(getattr(estimator, "parents_", None))
    check_numbers(estimator, {"parents_": (n,)}, integer=True)
    check_parents(estimator.parents_, "parents_")
    means = getattr(estimator, "means_", None)
    n_types = means.shape[1] if np.ndim(means) == 3 else 1
    springs = (n, n_types, 2, 2)
    check_numbers(estimator, {"coef_": (n,), "types_": (n, n_types), "springs_": springs})
    if not isinstance(means, np.ndarray) or means.dtype != float or means.shape != springs[:3]:
        got = getattr(means, "shape", type(means).__name__)
        raise_damaged(estimator, f"means_ must be numbers of shape {springs[:3]}, got {got}")
    if n_types == 0 or not (np.isnan(means) | (np.abs(means) <= LARGEST_MEAN)).all():
        raise_damaged(estimator, "means_ must be numbers of cells, or NaN")
    unit = getattr(estimator, "unit_", None)
    if not isinstance(unit, numbers.Real) or not 1.0 <= unit <= LARGEST_MEAN:
        raise_damaged(estimator, f"unit_ must be a number of at least 1, got {unit!r}")
    hung = np.isfinite(means).all(axis=2) & (estimator.parents_ >= 0)[:, None]
    if not (estimator.springs_[hung][..., 1] > 0).all():
        raise_damaged(estimator, "springs_ must have positive costs of squares")
    names = estimator.part_names_
    if names is not None and np.shape(names) != (n,):
        raise_damaged(estimator, f"part_names_ must name {n} parts, or be None")
    curves = getattr(estimator, "score_curves_", None)
    if curves is not None:
        n_knots = np.shape(curves)[1] if np.ndim(curves) == 3 else 1
        check_numbers(estimator, {"score_curves_": (n, max(1, n_knots), 2)})
        if not (np.diff(curves[..., 0]) >= 0).all():
            raise_damaged(estimator, "score_curves_ must have knots whose scores do not fall")


class PoserMixin:
    """Prediction and scoring of estimators that find parts.

    The estimator has ``_decoder(X)``, which checks X and returns an object with the methods
    ``best()`` and ``max_marginals()``, and the checked maps; and the parameters `torso` and
    `radius`.
    """

    def predict(self, X):
        """Return the best positions of the parts of each sample.

        Parameters
        ----------
        X : sequence of n_samples arrays (n_parts, H_i, W_i) or dicts, or array of four dimensions
            Score maps of the parts; dicts hold arrays (H_i, W_i) by the names of the parts.

        Returns
        -------
        y : ndarray of shape (n_samples,), object
            Each item is an ndarray of int64 of shape (n_parts, 2): x and y of the cells.
        """
        return object_array(self._decoder(X)[0].best())

    def decision_function(self, X):
        """Return the max-marginals: for each part and cell the best score with the part there.

        Parameters
        ----------
        X : sequence of n_samples arrays (n_parts, H_i, W_i) or dicts, or array of four dimensions
            Score maps of the parts; dicts hold arrays (H_i, W_i) by the names of the parts.

        Returns
        -------
        scores : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (n_parts, H_i, W_i): the highest score of all
            positions and types with this part at this cell. The largest number of each part
            is the score of the predicted positions.
        """
        return object_array(self._decoder(X)[0].max_marginals())

    def score(self, X, y, sample_weight=None):
        """Return the share of parts that are detected: found within `radius` torsos of the truth.

        Parameters
        ----------
        X : sequence of n_samples arrays (n_parts, H_i, W_i) or dicts, or array of four dimensions
            Score maps of the parts; dicts hold arrays (H_i, W_i) by the names of the parts.
        y : sequence of n_samples arrays (n_parts, 2) or dicts, or array of three dimensions
            True x and y of the parts, in cells; rounded. Dicts hold pairs by the names.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples.

        Returns
        -------
        score : float
            Between 0 and 1.
        """
        decoder, maps = self._decoder(X)
        truth = check_positions(y, maps, self.part_names_)
        given = {"radius": self.radius, "sample_weight": sample_weight}
        torso = check_torso(self.torso, len(self.parents_), self.part_names_)
        return pdj_score(truth, decoder.best(), torso=torso, **given)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "pose_estimator"
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        return tags


def shared_attributes(model, names, curves):
    """Return the fitted attributes of parts that do not depend on the weights.

    Parameters
    ----------
    model : PoseModel
        The model.
    names : ndarray of shape (n_parts,) or None
        Names of the parts.
    curves : ndarray of shape (n_parts, n_knots, 2) or None
        Log odds of scores.

    Returns
    -------
    shared : dict
        With arrays that may be those of the model.
    """
    means = model.means.copy()
    means[np.arange(means.shape[1]) >= model.types_of[:, None]] = np.nan
    means[model.parents < 0] = np.nan
    return {
        "means_": means,
        "unit_": model.unit,
        "parents_": model.parents,
        "part_names_": names,
        "score_curves_": curves,
        "n_features_in_": len(model.parents),
    }
