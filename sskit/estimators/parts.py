"""Pose estimation: places for the parts of a body, by score maps and springs."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from sklearn.utils import check_random_state

from sskit._labels import object_array
from sskit._parameters import AT_LEAST_ONE, POSITIVE, Number, parameter, parameters
from sskit._types import ArrayLike, MaybeNone, Samples, Self, with_callbacks
from sskit.estimators.base.estimator import StructuredEstimator, replace_fitted
from sskit.estimators.base.fitted_state import (
    check_fitted,
    check_numbers,
    check_weights,
    raise_damaged,
)
from sskit.estimators.base.objective import default_lam
from sskit.estimators.base.outcome import FittedRounds
from sskit.estimators.base.task import BlockAttributes, TrainingTask
from sskit.estimators.reading.summary import Summary, TrainingData, averaged
from sskit.inputs.edges import check_parents
from sskit.inputs.poses import (
    check_part_names,
    check_positions,
    check_score_maps,
    check_torso,
    pose_scales,
)
from sskit.inputs.weights import check_sample_weight
from sskit.metrics import pdj_score
from sskit.models.parts.data import (
    LARGEST_MEAN,
    check_means,
    pooled_square,
    spring_means,
    spring_square,
    spring_unit,
)
from sskit.models.parts.log_odds import TrueScores, as_log_odds
from sskit.models.parts.model import PoseModel
from sskit.solvers.convex_concave import Completion

# Regularisation strength where the user names none, times the number of samples.
LAMS = {"log_odds": 10.0, "raw": 1.0}


@dataclass(frozen=True, kw_only=True)
class PoseSummary(Summary):
    """The summary of poses: where springs rest, how far parts are from there, log odds.

    Until scores are counted there is a number for every part of every sample: the score where it
    is. It goes with the count.
    """

    means: np.ndarray | None = averaged()
    square: float | None = averaged()
    true: TrueScores | None
    curves: np.ndarray | None = averaged()

    def joined(self, parts, portions):
        """Return this summary with the mean square about the means of all, not of each part."""
        some = [k for k, portion in enumerate(portions) if portion]
        if not some:
            return self
        means, squares = [parts[k].means for k in some], [parts[k].square for k in some]
        square = pooled_square(means, squares, [portions[k] for k in some], self.means)
        return replace(self, square=square)


@dataclass(frozen=True, kw_only=True)
class PoseData(TrainingData):
    """Score maps with the places of all parts.

    Attributes
    ----------
    parents : ndarray of shape (n_parts,)
        The part that each part hangs on; -1 for the root.
    sizes : ndarray of shape (n,)
        How large the poses are, by which distances are divided.
    """

    parents: np.ndarray
    sizes: np.ndarray


class FittedParts(FittedRounds):
    """Types of the attributes that a fitted `PartsModel` has."""

    types_: np.ndarray
    springs_: np.ndarray
    means_: np.ndarray
    unit_: float
    parents_: np.ndarray
    part_names_: np.ndarray | MaybeNone
    score_curves_: np.ndarray | MaybeNone


@parameters
class PartsModel(FittedParts, StructuredEstimator):
    r"""Places of parts that are connected by springs in a tree, with the structured hinge loss.

    A pictorial structure: every part k has a map :math:`x_k` of scores, and is connected to its
    parent by a spring. The score F of the places p and types t is

    .. math:: \sum_k c_k x_k(p_k) + \sum_k [b_{k t_k} - \sum_d s_{k t_k d} \cdot (u_d, u_d^2)] ,

    where :math:`u = (p_k - p_{parent} - m_{k t_k}) / \text{unit}` is the displacement of the part
    from the rest position of its spring. The best places are found exactly, by max-sum with
    distance transforms, in time linear in the number of cells. Training minimises

    .. math:: \tfrac{\lambda}{2} \|w\|^2 + \sum_i c_i \max_y [L_i(y) + F(x_i, y) - F(x_i, y_i)]

    over c, b and s, within bounds that keep the costs of squared displacements positive, and
    proves how close it came. In training a part has the type whose spring is displaced least, or,
    with latent types, the type with the highest score.

    Parameters
    ----------
    parents : array-like of int of shape (n_parts,)
        The parent of each part, -1 for a root. There may be several trees.
    lam : float, default=None
        Regularisation strength, positive. None means 10 / n, with n the number of samples (the sum
        of the sample weights), or 1 / n with raw scores, which is suitable for scores of the size
        of one.
    rescaling : {"margin", "slack"} or SlackRescaling, default="margin"
        Surrogate of the loss: margin rescaling, the objective above, or slack rescaling; see
        :class:`SlackRescaling`. For parts there is only a search that may miss the maximum.
    solver : str or solver object, default="auto"
        One of "auto", "bcfw", "multi_plane", "frank_wolfe", "subgradient" and "cutting_plane":
        block-coordinate Frank-Wolfe ("auto", except for few pairs), its multi-plane variant, batch
        Frank-Wolfe, stochastic subgradient, cutting planes, or an object of `sskit.solvers`, which
        has further options.
    steps : {"auto", "fw", "pairwise", "away"}, default="auto"
        Kind of step of the solver "bcfw"; see `sskit.solvers.BCFW`.
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the training pairs for the solver "bcfw".
    cache : {"auto", True, False}, default="auto"
        Whether "bcfw" takes steps between stored planes if they promise enough, instead of calling
        the oracle. As the oracle is costly "auto" does.
    loss : {"squared", "distance"}, default="squared"
        Task loss of a sample, the mean over its parts of: the squared distance from the true
        position in units of `cutoff` torsos, at most one; or the distance in torsos.
    cutoff : float, default=1.0
        Distance in torsos from which on the loss "squared" is one. It should be much larger than
        the errors of the maps; otherwise no weights avoid most of the loss, and little is learned.
    radius : float, default=0.2
        Distance in torsos up to which a part counts as detected in `score`.
    torso : tuple of two int or str, default=None
        The two parts, by number or by name, whose true distance is the unit "torso" of a sample.
        None takes the longer side of the box around all parts. The unit is at least one cell.
    n_types : int, default=4
        Number of types of the spring of each part: clusters of the true displacements, at most
        as many as there are samples.
    latent_types : bool, default=False
        Whether training chooses the types of the springs, which y does not contain, by the weights
        in each round, beginning with the types that displace springs least.
    means : array-like of shape (n_parts, n_types, 2), default=None
        Rest positions of the springs: x and y of the part from its parent, in cells; those of
        roots are ignored. None takes the centres of clusters, and then `n_types` is their number.
    scores : {"log_odds", "raw"}, default="log_odds"
        What :math:`x_k` is: the logarithm of how much more frequent a score is at true places in
        training than elsewhere, or the score itself. The highest scores of most detectors mean
        little more than high ones, so log odds find more parts, in less time. Log odds make a copy
        of the maps; raw scores are used without a copy.
    min_square : float, default=0.01
        Least weight of a squared displacement, positive.
    part_names : sequence of n_parts str, default=None
        Names of the parts, in the order of `parents`. With them score maps and positions may be
        dicts by part; None means arrays only.
    bounds : tuple (lower, upper) or dict of such tuples, default=None
        Box on the weights, within those that the model needs. A bound is a number, None, or an
        array over the flat weight vector (``coef_``, ``types_``, ``springs_``, each by rows); in
        a dict by the blocks "coef", "types" and "springs" a bound has the shape of the block.
    prior : array-like of shape (n_weights,), dict or fitted estimator, default=None
        Weights w0 towards which the fit is regularised, by lam / 2 ||w - w0||^2; None is zero. A
        flat vector as for `bounds`, a dict of arrays by the names of fitted attributes, or a
        fitted estimator of this kind, or a pipeline that ends with one: see "Continue
        training" of the guide.
    tol : float, default=0.02
        Relative tolerance: the fit stops when the duality gap is at most tol * (P(w) + P(0) /
        1000), so that the objective P(w) exceeds the optimum by at most that. P(0), the mean of
        the largest losses, only matters if almost no loss is left.
    max_iter : int, default=1000
        Largest number of passes over the data.
    warm_start : bool, default=False
        Whether a fit continues from the end of the last one with warm_start=True. It needs the
        same springs: give their `means`, or the same `random_state` and samples.
    n_jobs : int, default=None
        Number of threads. Training visits so many training pairs at the same time and merges the
        updates; the result depends on the number, but not on the speed of the threads. Exact
        passes, batches of oracle calls and prediction do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the clusters and of the order of the training pairs.
    verbose : int, default=0
        From 1 on a line says what the fit chose where parameters leave it the choice, and why. 1
        shows a bar with the gap and the time left, if rich is installed and there is a terminal
        or a notebook; else, and from 2 on, a line for every exact pass, with the gap, and one a
        second in between: printed, or logged by "sskit" at level INFO if that is shown.

    Attributes
    ----------
    coef_ : ndarray of shape (n_parts,)
        Weights of the score maps.
    types_ : ndarray of shape (n_parts, n_types)
        Scores of the types of springs.
    springs_ : ndarray of shape (n_parts, n_types, 2, 2)
        Costs along x and along y of the displacement and of its square, in units of `unit_`.
    means_ : ndarray of shape (n_parts, n_types, 2)
        Rest positions of the springs, x and y, in cells; NaN for roots and for types that do not
        exist.
    unit_ : float
        Unit of the displacements in cells: three times their root mean square in training, at
        least one.
    parents_ : ndarray of shape (n_parts,), int32
        The parent of each part.
    part_names_ : ndarray of shape (n_parts,), object, or None
        The names of the parts.
    score_curves_ : ndarray of shape (n_parts, n_knots, 2) or None
        Scores and their log odds, between which the log odds of a map are interpolated; they are
        constant beyond the first and the last. None with raw scores.
    lam_ : float
        The regularisation strength that was used.
    dual_gap_ : float
        Duality gap P(w) - D, absolute: P(w) is at most this far above the optimum.
    primal_objective_, dual_objective_ : float
        P(w) and D.
    certified_ : bool
        Whether the gap is a certificate, from an exact pass with an oracle that is exact, as with
        margin rescaling, or bounds what it misses, as the searches for slack rescaling do. With
        latent types it is for the completed types of the last round.
    n_rounds_ : int
        Only with latent types: number of rounds, in which they are completed and the model is
        trained.
    round_objectives_ : ndarray of shape (`n_rounds_`,)
        Only with latent types: P(w) at the end of each round, with the best types under w. It
        never rises.
    stationary_ : bool
        Only with latent types: whether the last round converged and its w completes the types as
        they were.
    n_iter_ : int
        Passes over the data, including an interrupted one.
    n_oracle_calls_ : int
        Calls of the oracle, including those of the exact passes.
    history_ : dict of ndarray
        Arrays of equal length, an entry for each exact pass: n_passes, n_oracle_calls, time
        (seconds), primal, dual, gap (absolute); and start and round with latent types.
    solver_ : solver object
        The solver that was used, with the value of every "auto".
    n_features_in_ : int
        Number of parts.

    Raises
    ------
    ValueError
        In fit and predict, for wrong parameters or data, with the name of the item.

    See Also
    --------
    sskit.datasets.make_score_maps : Makes score maps of given positions.
    sskit.display.PoseDisplay : Draws poses.

    References
    ----------
    Felzenszwalb and Huttenlocher (2005). Pictorial structures for object recognition.
    International Journal of Computer Vision 61(1).

    Yang and Ramanan (2011). Articulated pose estimation with flexible mixtures-of-parts. CVPR.

    Yu, Joachims (2009). Learning structural SVMs with latent variables. ICML.

    Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien (2016). Minding the gaps for block
    Frank-Wolfe optimization of structured SVMs. ICML. Appendix I.4.

    Examples
    --------
    >>> from sskit import PartsModel
    >>> from sskit.datasets import make_poses
    >>> poses = make_poses(20, random_state=0)
    >>> X, y = poses.data, poses.target
    >>> model = PartsModel(poses.parents, tol=0.1, random_state=0).fit(X[:15], y[:15])
    >>> model.score(X[15:], y[15:]) > 0.8
    True
    >>> model.certified_, model.predict(X[15:])[0].shape == y[15].shape
    (True, True)

    Score maps by the names of the parts:

    >>> model.set_params(part_names=poses.joint_names).fit(X[:15], y[:15]).part_names_[12]
    'neck'
    >>> named = [dict(zip(poses.joint_names, x)) for x in X[15:]]
    >>> bool((model.predict(named)[0] == model.predict(X[15:])[0]).all())
    True
    """

    _weighs_by_label = False
    _rule_of_lam = "10 / n, or 1 / n of raw scores"
    _type_of_estimator = "pose_estimator"
    parents: ArrayLike = parameter("array-like", kw_only=False)
    lam: float | None = parameter(POSITIVE, None, default=None)
    loss: Literal["squared", "distance"] = parameter(default="squared")
    cutoff: float = parameter(POSITIVE, default=1.0)
    radius: float = parameter(POSITIVE, default=0.2)
    torso: tuple[int, int] | tuple[str, str] | list[int] | list[str] | None = parameter(
        tuple, list, None, default=None
    )
    n_types: int = parameter(AT_LEAST_ONE, default=4)
    latent_types: bool = parameter("boolean", default=False)
    means: ArrayLike | None = parameter("array-like", None, default=None)
    scores: Literal["log_odds", "raw"] = parameter(default="log_odds")
    min_square: float = parameter(Number(numbers.Real, 0, 1e100, closed="neither"), default=0.01)
    part_names: Sequence[str] | np.ndarray | None = parameter("array-like", None, default=None)

    @with_callbacks
    def fit(self, X: Samples, y: Samples, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : sequence of n_samples arrays (n_parts, H_i, W_i) or dicts, or array of four dimensions
            Score maps of the parts; grids may be of different sizes. Arrays of dtype float32 and
            float64, memory-mapped ones too, are not copied. Dicts, for which `part_names` must be
            set, have an array (H_i, W_i) for each part by its name.
        y : sequence of n_samples arrays (n_parts, 2) or dicts, or array of three dimensions
            x and y of the parts, in cells of the maps: the middle of the first one is (0, 0). They
            are rounded to whole cells. Dicts have a pair for each part by its name.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the samples.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are wrong; the estimator is then unchanged.
        """
        return replace_fitted(self, self._fit(X, y, sample_weight))

    def _read_data(self, X, y, sample_weight, part=False):
        """Return training data, or a part of them, checked."""
        parents = check_parents(self.parents, "parents")
        names = check_part_names(self.part_names, len(parents))
        torso = check_torso(self.torso, len(parents), names)
        maps = check_score_maps(X, len(parents), names)
        places = check_positions(y, maps, names)
        weight = check_sample_weight(sample_weight, len(maps), part=part)
        means = None if self.means is None else check_means(self.means, parents)
        statistics = dict.fromkeys(("means", "square", "true", "curves"))
        if weight is None or weight.any():
            if means is None:
                rng = check_random_state(self.random_state)
                means = spring_means(places, parents, self.n_types, weight, rng)
            statistics["means"] = means
            statistics["square"] = spring_square(places, parents, means, weight)
        if self.scores == "log_odds":
            statistics["true"] = TrueScores.of(maps, places, weight)
        summary = PoseSummary.of(len(maps), weight, **statistics)
        of_poses = {"parents": parents, "sizes": pose_scales(places, torso)}
        return PoseData(data=maps, target=places, weight=weight, summary=summary, **of_poses)

    def _count(self, checked, summary):
        """Return how often scores of checked data lie where those of all true places do."""
        return summary.true.count(checked.data, checked.weight)

    def _summarize_again(self, summary, count):
        """Return the summary of all parts with log odds, for which each is read once more."""
        if summary.true is None:
            return summary
        return replace(summary, curves=summary.true.curves(sum(count(summary))), true=None)

    def _bind(self, checked, summary):
        """Bind the model to checked data, given the summary of all; return a `TrainingTask`."""
        maps, places, parents = checked.data, checked.target, checked.parents
        model = PoseModel(parents, summary.means, spring_unit(summary.square), self.min_square)
        block_weight = summary.block_weights(len(maps), checked.weight)
        summary = self._summarize_again(summary, lambda summary: [self._count(checked, summary)])
        maps = as_log_odds(maps, summary.curves)
        problem = model.bind(maps, places, checked.sizes, self.loss, self.cutoff, block_weight)
        completion = LatentTypes(model, maps, places) if self.latent_types else None
        shared = {
            "means_": summary.means,
            "unit_": model.unit,
            "parents_": parents,
            "part_names_": check_part_names(self.part_names, len(parents)),
            "score_curves_": summary.curves,
            "n_features_in_": len(parents),
        }
        lam = LAMS[self.scores] * default_lam(summary)
        to_attributes = BlockAttributes(model.layout, shared)
        return TrainingTask(problem, lam, to_attributes, completion=completion)

    def _check_source(self, source):
        """Raise ValueError if a fitted PartsModel weighs scores of another kind."""
        theirs = "raw" if source.score_curves_ is None else "log_odds"
        if theirs != self.scores:
            raise ValueError(
                f"prior is a PartsModel with scores={theirs!r}, whose weights mean something else "
                f"with scores={self.scores!r}; fit it with the same"
            )

    def _decoder(self, X):
        """Return the decoder of checked score maps, and the maps."""
        check_fitted(self)
        (model, w), curves = self._fitted_model(), self.score_curves_
        maps = check_score_maps(X, len(model.parents), self.part_names_)
        if curves is not None:
            shape = len(model.parents), *np.shape(curves)[1:2], 2
            check_numbers(self, {"score_curves_": shape})
        maps = as_log_odds(maps, curves)
        return model.decoder(maps, w, self.n_jobs), maps

    def _fitted_model(self):
        """Return the model of the fitted attributes and their flat weights, which are checked."""
        parents, unit = check_parents(self.parents_, "parents_"), self.unit_
        shape = len(parents), max([1, *np.shape(self.means_)[1:2]]), 2
        check_numbers(self, {"means_": shape}, finite=False)
        model, means = PoseModel(parents, self.means_, unit), self.means_
        w = model.layout.join(check_weights(self, model.layout))
        hung = np.isfinite(means).all(axis=2) & (parents >= 0)[:, None]
        sound = {
            "means_": np.isnan(means) | (np.abs(means) <= LARGEST_MEAN),
            "unit_": isinstance(unit, numbers.Real) and 1.0 <= unit <= LARGEST_MEAN,
            "springs_": self.springs_[hung][..., 1] > 0,
        }
        for name, good in sound.items():
            if not np.all(good):
                raise_damaged(self, f"{name} has numbers that none of a fit are")
        return model, w

    def predict(self, X: Samples) -> np.ndarray:
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

    def decision_function(self, X: Samples) -> np.ndarray:
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

    def score(self, X: Samples, y: Samples, sample_weight: ArrayLike | None = None) -> float:
        """Return the fraction of detected parts, found within `radius` torsos of the truth.

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
        options = {"radius": self.radius, "sample_weight": sample_weight}
        torso = check_torso(self.torso, len(self.parents_), self.part_names_)
        return pdj_score(truth, decoder.best(), torso=torso, **options)


@dataclass(frozen=True)
class LatentTypes(Completion):
    """Completes the types of springs.

    Given the places, a type has to do with no other: each part takes the best one by itself. The
    first ones are those whose springs are displaced least.

    Attributes
    ----------
    model : PoseModel
        Of the data.
    maps, places : list of ndarray
        The data.
    """

    model: PoseModel
    maps: list
    places: list

    def complete(self, w):
        """Return the codes of the places with the best types under flat weights."""
        return self.model.truths(self.maps, self.places, self.model.best_types(self.places, w))

    def starts(self, solved):
        """Return the codes to begin with."""
        return [self.model.truths(self.maps, self.places, self.model.types(self.places))]
