"""Regularisation paths."""

import contextlib
import numbers
import warnings

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import get_scorer_names
from sklearn.utils import get_tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import _num_samples

from sskit.estimators.base.estimator import check_constraints, replace_fitted
from sskit.estimators.base.meta import MetaEstimator, common_attributes
from sskit.estimators.base.weights import resolved_lam, weight_argument
from sskit.estimators.path.models import PathModels
from sskit.estimators.path.selection import choose, has_ragged_items, merge_folds, trace_folds
from sskit.estimators.path.tracing import TracedPath
from sskit.inputs.weights import check_sample_weight
from sskit.solvers.path.tracer import largest_share


class RegularizationPath(PathModels, MetaEstimator):
    r"""Models for all values of lam, each within eps of its optimum, and the choice of one.

    Traces the path of an estimator from large lam to small. Between two breakpoints one weight
    vector serves all lam: a duality gap proves that its objective exceeds the optimum by at most
    the share `eps` of itself (and of a thousandth of P(0)). Above the first breakpoint the weights
    are linear in 1 / lam. With `cv` a path is traced for each fold too, and lam is chosen by the
    scores of its models: no grid is needed.

    Parameters
    ----------
    estimator : estimator
        Of this package, with a solver that keeps a dual point (not "subgradient"). Its solver,
        ``max_iter`` (per breakpoint), bounds, loss and so on hold for the path; ``lam``, ``tol``
        and ``warm_start`` do not.
    eps : float, default=0.1
        Largest gap of all models, as a share of the objective like ``tol`` of the estimator, of
        P(w) + P(0) / 1000; below 1.
    kappa : float, default=0.9
        Share of `eps` to which the model of a breakpoint is solved, between 0 and 1: the
        smaller, the fewer breakpoints and the more passes at each.
    lam_min : float, default=None
        Where the path ends. None means a thousandth of the estimator's default lam. A path ends by
        itself only where the data can be fitted without a hinge.
    max_breakpoints : int, default=None
        Largest number of models. None means no limit.
    cv : int, cross-validation generator or iterable, default=None
        Folds for choosing lam, as in scikit-learn. None chooses none.
    scoring : str or callable, default=None
        Score of a model on what a fold left out; None is the score of the estimator.
    patience : float, default=10.0
        By which factor lam falls while the score of a fold stays below its best, and below the
        default lam of the estimator, before the path of the fold ends. None traces all of it. The
        path of all data ends where the first fold did.
    refit : bool, "one_standard_error" or callable, default=True
        How lam is chosen with `cv`, and whether the estimator is then fitted on all data with
        that lam and its own ``tol``. True takes the best mean score, of several the largest lam;
        "one_standard_error" the largest lam whose mean score is within one standard error of
        the best; a function is given ``cv_results_`` and returns an index. False chooses as True
        does, without the fit.
    n_jobs : int, default=None
        Number of folds traced in parallel.
    verbose : int, default=0
        Verbosity of the loop over the folds.

    Attributes
    ----------
    lams_ : ndarray of shape (J,)
        Breakpoints, falling: model j serves lam from ``lams_[j]`` down to the next one.
    lam_end_ : float
        The smallest lam that the last model serves; 0 if it serves all.
    coefs_ : ndarray of shape (J, n_weights)
        Weights of the models, flat.
    dual_gaps_ : ndarray of shape (J,)
        Duality gap of each model at its breakpoint, absolute.
    sqnorms_ : ndarray of shape (J,)
        Squared norm of the weights of each model; with a kernel that of its functions.
    hinges_ : ndarray of shape (J,)
        Mean hinge of each model: with lam / 2 times ``sqnorms_`` it is the primal objective.
    max_gap_ : float
        No `relative_gap_at` any lam is larger: eps, or more if the oracle may miss the maximum and
        bounds it, for what it may have missed is part of the gaps.
    certified_ : bool
        Whether all gaps are proofs: the oracle is exact, or bounds what it misses.
    n_support_planes_ : ndarray of shape (J,)
        Planes with dual weight, those of the truth aside.
    n_iter_, n_oracle_calls_ : ndarray of shape (J,)
        Passes and oracle calls until each model was found, from the beginning.
    times_ : ndarray of shape (J,)
        Seconds until each model was found.
    lam_ : float
        What ``predict`` takes without `lam`: `best_lam_`; without `cv` the lam of the estimator
        or its default, or `lam_end_` if that is larger.
    best_lam_, best_score_, best_index_, best_params_ : float, float, int, dict
        The choice, its mean score, and where it stands in `cv_results_`; only with `cv`.
    best_estimator_ : estimator
        Fitted on all data with `best_lam_`; only with `cv` and unless `refit` is False.
    cv_results_ : dict of ndarray
        Scores at all breakpoints of all folds, lam falling, with the columns of
        :class:`sklearn.model_selection.GridSearchCV`. Times are those of the path until the
        model was found. Only with `cv`.
    cv_n_oracle_calls_ : int
        Oracle calls of the paths of all folds; only with `cv`.
    classes_, n_features_in_, feature_names_in_, vectorizer_ : object
        As of the estimator, if it has them.

    Raises
    ------
    TypeError
        In fit, if the estimator is not one of this package.
    ValueError
        In fit, for wrong parameters or data, and parameters that do not go together.

    Warns
    -----
    ConvergenceWarning
        If ``max_iter`` of the estimator ends the path, or the fit of `best_estimator_`; or if
        Ctrl-C, without `cv`, ends the path, which then has the models that were done.

    References
    ----------
    Osokin, Alayrac, Lukasewitz, Dokania, Lacoste-Julien (2016). Minding the gaps for block
    Frank-Wolfe optimization of structured SVMs. ICML. Section 4, algorithms 6 and 7.

    Ndiaye, Le, Fercoq, Salmon, Takeuchi (2019). Safe grid search with optimal complexity. ICML
    (how far a pair of primal and dual points serves).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sskit import RegularizationPath, StructSVMClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> path = RegularizationPath(StructSVMClassifier(random_state=0), lam_min=1e-3, cv=5)
    >>> path.fit(X, y).certified_
    True
    >>> path.predict(X[::50]), path.predict(X[::50], lam=0.02)
    (array([0, 1, 2]), array([0, 1, 2]))
    >>> model = path.estimator_at(0.02)
    >>> bool(model.dual_gap_ <= 0.1)
    True
    """

    _parameter_constraints = {
        "estimator": [object],
        "eps": [Interval(numbers.Real, 0, 1, closed="neither")],
        "kappa": [Interval(numbers.Real, 0, 1, closed="neither")],
        "lam_min": [Interval(numbers.Real, 0, None, closed="left"), None],
        "max_breakpoints": [Interval(numbers.Integral, 1, None, closed="left"), None],
        "cv": ["cv_object"],
        "patience": [Interval(numbers.Real, 1, None, closed="left"), None],
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "refit": ["boolean", StrOptions({"one_standard_error"}), callable],
        "n_jobs": [numbers.Integral, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator,
        *,
        eps=0.1,
        kappa=0.9,
        lam_min=None,
        max_breakpoints=None,
        cv=None,
        scoring=None,
        patience=10.0,
        refit=True,
        n_jobs=None,
        verbose=0,
    ):
        self.estimator = estimator
        self.eps = eps
        self.kappa = kappa
        self.lam_min = lam_min
        self.max_breakpoints = max_breakpoints
        self.cv = cv
        self.scoring = scoring
        self.patience = patience
        self.refit = refit
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X, y, sample_weight=None):
        """Trace the path, and choose lam if asked.

        Parameters
        ----------
        X, y : object
            What the estimator takes.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the samples in training.

        Returns
        -------
        self : object
            The fitted path.
        """
        self._check_parameters()
        self._check(y)
        names = "eps", "kappa", "lam_min", "max_breakpoints"
        options = {name: getattr(self, name) for name in names}
        path = TracedPath(self.estimator, X, y, sample_weight, options)
        chosen, end = {}, 0.0
        if self.cv is not None:
            chosen, end = self._select(X, y, sample_weight, options)
        path.begin(end)
        # half a path is of use, but a choice between lam takes all folds
        with path.stop if self.cv is None else contextlib.nullcontext():
            pieces = list(path)
        path.warn(pieces[-1].lam_end, stacklevel=2)
        lam = max(resolved_lam(self.estimator, path.default_lam), pieces[-1].lam_end)
        fitted = {
            "lams_": np.array([piece.lam for piece in pieces]),
            "lam_end_": pieces[-1].lam_end,
            "coefs_": np.array([piece.w for piece in pieces]),
            "sqnorms_": np.array([piece.sqnorm for piece in pieces]),
            "dual_gaps_": np.array([piece.gap for piece in pieces]),
            "hinges_": np.array([piece.hinge for piece in pieces]),
            "max_gap_": largest_share(self.eps, pieces, path.origin_gap, path.unit),
            "certified_": path.certified,
            "n_support_planes_": np.array([piece.n_support_planes for piece in pieces]),
            "n_iter_": np.array([piece.n_iter for piece in pieces]),
            "n_oracle_calls_": np.array([piece.n_oracle_calls for piece in pieces]),
            "times_": np.array([piece.time for piece in pieces]),
            "lam_": lam,
            "_unit": path.unit,
            "_origin": path.origin,
            "_origin_gap": path.origin_gap,
            "_bounds": path.bounds,
            "_losses": np.array([piece.loss for piece in pieces]),
            "_dual_sums": np.array([piece.v for piece in pieces]) if path.bounds else None,
            "_template": (path.estimator, path.to_attributes, path.solver),
        }
        fitted |= common_attributes(path.to_attributes(pieces[0].w))
        if chosen and self.refit is not False:
            # last, as a Ctrl-C that ends it ends everything
            model = clone(self.estimator).set_params(**chosen["best_params_"])
            chosen["best_estimator_"] = model.fit(X, y, **weight_argument(sample_weight))
        replace_fitted(self, fitted | chosen)
        return self

    def _check(self, y):
        """Raise an error if parameters do not go together, or not with the target."""
        check_constraints(self.estimator, "lam")  # not that of the path, but what `predict` takes
        if self.cv is None and not isinstance(self.refit, (bool, np.bool_)):
            raise ValueError(f"refit={self.refit!r} chooses lam by the scores of folds; set cv")
        ragged = not get_tags(self.estimator).input_tags.two_d_array and has_ragged_items(y)
        if ragged and isinstance(self.scoring, str):
            raise ValueError(
                f"scoring={self.scoring!r} is a score of scikit-learn, which takes one label for "
                "each sample; leave it at None, or take a scorer of sskit.metrics"
            )

    def _select(self, X, y, sample_weight, options):
        """Return the fitted attributes that tell of the choice of lam, and where to end.

        That is where nobody has scored any further: one fold's score had fallen for long.
        """
        folds = trace_folds(
            self.estimator,
            X,
            y,
            check_sample_weight(sample_weight, _num_samples(X)),
            cv=self.cv,
            scoring=self.scoring,
            options=options,
            patience=np.inf if self.patience is None else self.patience,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        short = [k for k, fold in enumerate(folds) if not fold.complete]
        if short:
            warnings.warn(
                f"the paths of folds {short} end early, because the solver reached its limits "
                "(max_iter of the estimator, max_time of its solver); lam below "
                f"{max(fold.lam_end for fold in folds):.3g} has no score",
                ConvergenceWarning,
                stacklevel=3,
            )
        results = merge_folds(folds)
        index = choose(results, self.refit)
        best = results["params"][index]
        chosen = {
            "cv_results_": results,
            "cv_n_oracle_calls_": sum(fold.n_oracle_calls for fold in folds),
            "best_index_": index,
            "best_params_": best,
            "best_lam_": best["lam"],
            "best_score_": float(results["mean_test_score"][index]),
            "lam_": best["lam"],
        }
        return chosen, max((fold.lam_end for fold in folds if fold.fallen), default=0.0)
