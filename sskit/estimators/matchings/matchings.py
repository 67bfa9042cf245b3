"""Matchings of left and right items, learnt from examples of matchings."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from sklearn.utils._param_validation import StrOptions

from sskit.estimators.base.attributes import BlockAttributes, flat_weights
from sskit.estimators.base.callbacks import with_callbacks
from sskit.estimators.base.estimator import StructuredEstimator, TrainingTask
from sskit.estimators.base.facts import Facts, WeightSums, same
from sskit.estimators.base.fitted_state import check_fitted, check_numbers
from sskit.estimators.base.weights import default_lam
from sskit.inputs.matchings.gate import check_pair_features, check_partners, feature_counts
from sskit.inputs.ragged_array import object_array
from sskit.inputs.weights import check_sample_weight
from sskit.models.matchings.model import PairingModel

# of weights that go with features: of pairs, of left and of right items
BLOCKS = ("coef", "left_coef", "right_coef")


class Matchings(NamedTuple):
    """Checked features and partners.

    Attributes
    ----------
    tables : list of n tuples of three ndarrays
        Features of pairs, left and right items.
    partners : list of n ndarrays of shape (n_left,)
        True partners.
    weight : ndarray of shape (n,) or None
        Weights of the samples.
    """

    tables: list
    partners: list
    weight: np.ndarray | None


@dataclass(frozen=True, kw_only=True)
class MatchingFacts(Facts):
    """What matchings say of all data."""

    widths: tuple = same("X has {} features of pairs, left and right items, but part {} has {}")


class MatchingModel(StructuredEstimator):
    r"""Matchings of left and right items by features of pairs, with the structured hinge loss.

    Which point of one picture is which point of the other, which word of a sentence is which of its
    translation, which detection of a frame is which of the frame before? Each left item has at most
    one right partner and the other way round, and items may stay alone. The score F of a
    matching y is

    .. math:: \sum_{(k, j) \in y} (w \cdot x_{kj} + b) + \sum_{k \text{ alone}} u \cdot l_k
              + \sum_{j \text{ alone}} v \cdot r_j ,

    with features :math:`x_{kj}` of pairs and, where they are given, :math:`l_k` and :math:`r_j` of
    the items, which say who rather stays alone. Minus the intercept b is the cost at which both
    items of a pair stay alone. The best matching is an assignment problem, which
    `scipy.optimize.linear_sum_assignment` solves exactly. Training minimises

    .. math:: \tfrac{\lambda}{2} \|(w, b, u, v)\|^2
              + \sum_i c_i \max_y [L_i(y) + F(x_i, y) - F(x_i, y_i)]

    and proves how close it came.

    Parameters
    ----------
    lam : float, default=None
        Regularisation strength, positive. None means 1 / n, with n the number of samples (the
        sum of the sample weights), which suits scores of the size of one.
    rescaling : {"margin", "slack"} or SlackRescaling, default="margin"
        Surrogate of the loss: margin rescaling, the objective above, or slack rescaling; see
        :class:`SlackRescaling`. For matchings it has searches only that may miss the maximum.
    solver : str or solver object, default="auto"
        One of "auto", "bcfw", "multi_plane", "frank_wolfe", "subgradient" and "cutting_plane":
        block-coordinate Frank-Wolfe ("auto" but for few pairs), its multi-plane variant, batch
        Frank-Wolfe, stochastic subgradient, cutting planes, or an object of `sskit.solvers`,
        which has further options.
    steps : {"auto", "fw", "pairwise", "away"}, default="auto"
        Kind of step of the solver "bcfw"; see `sskit.solvers.BCFW`.
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the training pairs for the solver "bcfw".
    cache : {"auto", True, False}, default="auto"
        Whether "bcfw" steps between stored planes where they promise enough, instead of asking
        the oracle. As the oracle is costly "auto" does.
    loss : {"hamming", "hamming_sum"}, default="hamming"
        Task loss of a sample: the share of left items whose partner is wrong, or their number. A
        left item that has no partner, but ought to have one, is wrong, and the other way round;
        so wrong right items need not be counted.
    complete : bool, default=False
        Whether every left item must have a partner, in training and in predictions; then there
        must be as many right items at least. The intercept and features of left items do not
        matter then, and their weights are zero.
    bounds : tuple (lower, upper) or dict of such tuples, default=None
        Box on the weights. A bound is a number, None, or an array over the flat weight vector
        (``coef_``, ``intercept_``, ``left_coef_``, ``right_coef_``); in a dict by the blocks
        "coef", "intercept", "left_coef" and "right_coef" a bound has the shape of the block. Where
        features are distances, the upper bound 0 for "coef" says that they can only speak against a
        pair.
    prior : array-like of shape (n_weights,), dict or fitted estimator, default=None
        Weights w0 in whose direction the fit is regularised, by lam / 2 ||w - w0||^2; None is zero.
        A flat vector as for `bounds`, a dict of arrays by the names of fitted attributes, or a
        fitted estimator of this kind, or a pipeline that ends with one. See the user guide on
        going on.
    tol : float, default=0.02
        Relative tolerance: the fit stops when the duality gap is at most
        tol * (P(w) + P(0) / 1000), so that the objective P(w) exceeds the optimum by at most that.
        P(0), the mean of the largest losses, only matters where next to nothing is left to gain.
    max_iter : int, default=1000
        Largest number of passes over the data.
    warm_start : bool, default=False
        Whether a fit goes on from where the last one with warm_start=True ended; further samples
        may have come after the same ones.
    n_jobs : int, default=None
        Number of threads for exact passes, batches of oracle calls and prediction, which give the
        same with any: assignments of many items are solved without Python's lock.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the training pairs.
    verbose : int, default=0
        Above 0, a line for every exact pass, with the gap, and one a second in between: printed,
        or logged at level INFO by the logger "sskit" where logging is configured to show that.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features of pairs.
    intercept_ : ndarray of shape (1,)
        Score of a pair as such: minus the cost at which both of its items stay alone.
    left_coef_ : ndarray of shape (n_left_features,)
        Weights of the features of left items, for staying alone.
    right_coef_ : ndarray of shape (n_right_features,)
        Weights of the features of right items, for staying alone.
    lam_ : float
        The regularisation strength that was used.
    dual_gap_ : float
        Duality gap P(w) - D, absolute: P(w) is at most this far above the optimum.
    primal_objective_, dual_objective_ : float
        P(w) and D.
    certified_ : bool
        Whether the gap is a certificate, from an exact pass with an oracle that is exact, as with
        margin rescaling, or bounds what it misses, as the searches for slack rescaling do.
    n_iter_ : int
        Passes over the data, one that was cut short included.
    n_oracle_calls_ : int
        Calls of the oracle, those of the exact passes included.
    history_ : dict of ndarray
        Arrays of equal length, an entry for each exact pass: n_passes, n_oracle_calls, time
        (seconds), primal, dual, gap (absolute).
    solver_ : solver object
        The solver that was used, with every "auto" replaced.
    n_features_in_ : int
        Number of features of a pair.

    Raises
    ------
    ValueError
        In fit and predict, for wrong parameters or data, with the name of the item.

    See Also
    --------
    sskit.oracles.best_matching : The best matching under given scores.
    sskit.datasets.make_point_sets : Makes point sets of which points are to be matched.
    StructuredModel : Other structures, written in Python.

    References
    ----------
    Taskar, Lacoste-Julien and Klein (2005). A discriminative matching approach to word alignment.
    HLT/EMNLP.

    Caetano, McAuley, Cheng, Le and Smola (2009). Learning graph matching. IEEE Transactions on
    Pattern Analysis and Machine Intelligence 31(6).

    Kim, Kwak, Feyereisl and Han (2012). Online multi-target tracking by large margin structured
    learning. ACCV.

    Examples
    --------
    >>> from sskit import MatchingModel
    >>> from sskit.datasets import make_point_sets
    >>> sets = make_point_sets(40, n_outliers=2, random_state=0)
    >>> X, y = sets.data, sets.target
    >>> X[0].shape, y[0].shape
    ((14, 14, 5), (14,))
    >>> model = MatchingModel(random_state=0).fit(X[:30], y[:30])
    >>> model.score(X[30:], y[30:]) > 0.5, model.certified_
    (True, True)
    >>> model.predict(X[30:])[0].shape
    (14,)
    """

    _parameter_constraints = {
        **StructuredEstimator._parameter_constraints,
        "loss": [StrOptions({"hamming", "hamming_sum"})],
        "complete": ["boolean"],
    }

    def __init__(
        self,
        lam=None,
        *,
        rescaling="margin",
        solver="auto",
        steps="auto",
        sampling="auto",
        cache="auto",
        loss="hamming",
        complete=False,
        bounds=None,
        prior=None,
        tol=0.02,
        max_iter=1000,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.lam = lam
        self.rescaling = rescaling
        self.solver = solver
        self.steps = steps
        self.sampling = sampling
        self.cache = cache
        self.loss = loss
        self.complete = complete
        self.bounds = bounds
        self.prior = prior
        self.tol = tol
        self.max_iter = max_iter
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model.

        Parameters
        ----------
        X : sequence of n_samples arrays (n_left, n_right, n_features) or tuples
            Dense features of the pairs of left and right items of each sample. The numbers of
            items may differ, and be 0. Tuples (pairs, left, right) hold features of the items too,
            arrays of shape (n_left, n_left_features) and (n_right, n_right_features), or None for
            a side that has none. Arrays of dtype float64 in C order are not copied.
        y : sequence of n_samples arrays of int of shape (n_left,)
            The right item that is the partner of each left item, -1 for none.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the samples.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are wrong; then the estimator stays as it was.
        """
        self._set_fitted(self._fit(X, y, sample_weight))
        return self

    def predict(self, X):
        """Return the best matching of each sample.

        Parameters
        ----------
        X : sequence of n_samples arrays (n_left, n_right, n_features) or tuples
            Features, as in `fit`.

        Returns
        -------
        y : ndarray of shape (n_samples,), object
            Each item is an ndarray of int64 of shape (n_left,): the partner of each left item,
            -1 for none.
        """
        return object_array(self._decoder(X)[0].best())

    def decision_function(self, X):
        """Return the scores of pairs.

        Parameters
        ----------
        X : sequence of n_samples arrays (n_left, n_right, n_features) or tuples
            Features, as in `fit`.

        Returns
        -------
        scores : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (n_left, n_right): by how much the score of a matching
            grows if both items of the pair become partners instead of staying alone. `predict`
            finds the matching with the largest sum; no pair of it is negative, unless `complete`.
        """
        return object_array(self._decoder(X)[0].gains())

    def score(self, X, y, sample_weight=None):
        """Return the share of left items whose partner is right, or that are rightly alone.

        Parameters
        ----------
        X : sequence of n_samples arrays (n_left, n_right, n_features) or tuples
            Features, as in `fit`.
        y : sequence of n_samples arrays of int of shape (n_left,)
            True partners.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the samples, each of which counts as often as it has left items.

        Returns
        -------
        score : float
            Between 0 and 1; 1 if there are no left items.
        """
        decoder, tables = self._decoder(X)
        truth = check_partners(y, tables, self.complete)
        weight = check_sample_weight(sample_weight, len(truth))
        weight = np.ones(len(truth)) if weight is None else weight
        right = [np.sum(a == b) for a, b in zip(truth, decoder.best(), strict=True)]
        total = weight @ [len(partners) for partners in truth]
        return float(weight @ right / total) if total else 1.0

    def _gate(self, X, y, sample_weight, part=False):
        """Return training data, or a part of them, checked."""
        tables = check_pair_features(X, complete=self.complete)
        partners = check_partners(y, tables, self.complete)
        weight = check_sample_weight(sample_weight, len(tables), part=part)
        return Matchings(tables, partners, weight)

    def _survey(self, checked):
        """Return the `MatchingFacts` of checked data."""
        tables, _, weight = checked
        weights, widths = WeightSums.of(len(tables), weight), feature_counts(tables[0])
        return MatchingFacts(n_samples=len(tables), weights=weights, widths=widths)

    def _bind(self, checked, facts):
        """Bind the model to checked data, given the facts of all; return a `TrainingTask`."""
        tables, partners, weight = checked
        model = PairingModel(facts.widths, self.complete)
        share = facts.weights.block_weights(len(tables), weight)
        problem = model.bind(tables, partners, self.loss, share)
        to_attributes = BlockAttributes(model.layout, {"n_features_in_": facts.widths[0]})
        return TrainingTask(problem, model.layout, default_lam(facts), to_attributes)

    def _model_parameters(self):
        """Return the names of parameters that make a model what it is."""
        return ("complete",)

    def _decoder(self, X):
        """Return the decoder of checked features, and the features."""
        check_fitted(self)
        shapes = {f"{name}_": np.shape(getattr(self, f"{name}_", ())) for name in BLOCKS}
        shapes = {name: shape if len(shape) == 1 else (0,) for name, shape in shapes.items()}
        check_numbers(self, shapes | {"intercept_": (1,)})
        widths = tuple(shapes[f"{name}_"][0] for name in BLOCKS)
        tables = check_pair_features(X, widths, self.complete)
        model = PairingModel(widths, self.complete)
        return model.decoder(tables, flat_weights(self, model.layout), self.n_jobs), tables

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.estimator_type = "matcher"
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        return tags
