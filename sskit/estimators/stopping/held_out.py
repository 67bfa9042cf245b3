"""A fit that is watched by scores on held-out data."""

import copy

import numpy as np

from sskit.estimators.base.meta import checked_score
from sskit.estimators.base.weights import weight_argument

# What a fit says of the weights at its end, which need not be those that are kept.
UNKNOWN = {
    "dual_gap_": np.nan,
    "primal_objective_": np.nan,
    "dual_objective_": np.nan,
    "certified_": False,
}


class HeldOutWatch:
    """Scores a model after passes of its fit, says when to stop and keeps the best weights.

    Parameters
    ----------
    model : StructuredEstimator
        To be fitted.
    scorer : callable
        Maps (fitted estimator, X, y) to a number, the higher the better.
    X_val, y_val : object
        Held-out data.
    n_iter_no_change : int
        Passes without a better score after which to stop.
    score_every : int
        Number of passes between two scores.
    gated : bool
        Whether what the model is fitted to is a share of data that have passed its gate, which has
        warned of them: then it is not to warn again.

    Attributes
    ----------
    scores : list of tuple (int, float)
        Passes and score.
    best_score : float
        Of the scores; -inf before the first.
    best_iter : int
        Passes at the best score, the earliest of several.
    best : dict or None
        Fitted attributes that had the best score.
    """

    def __init__(self, model, scorer, X_val, y_val, n_iter_no_change, score_every, gated):
        self.model = model
        self.scorer = scorer
        self.held_out = X_val, y_val
        self.n_iter_no_change = n_iter_no_change
        self.score_every = score_every
        self.gated = gated
        self.scores = []
        self.best_score = -np.inf
        self.best_iter = 0
        self.best = None

    def fit(self, X, y, sample_weight, **further):
        """Fit the model and give it the best weights.

        Parameters
        ----------
        X, y, sample_weight : object
            What the model takes.
        **further : dict
            What else it takes.

        Returns
        -------
        n_iter : int
            Passes that were made.

        Raises
        ------
        ValueError
            If no score is a number.
        """
        self.model._watch = self
        try:
            self.model.fit(X, y, **weight_argument(sample_weight), **further)
        finally:
            del self.model._watch
        n_iter = self.model.n_iter_
        if not self.scores or self.scores[-1][0] < n_iter:
            # the fit ended between two scores; its last weights are in place already
            self.look(n_iter, self.model, {})
        if self.best is None:
            raise ValueError("no score of the held-out data is a number")
        vars(self.model).update(self.best | UNKNOWN)
        self.model.n_iter_ = self.best_iter
        return n_iter

    def on_pass(self, n_iter, attributes):
        """Score the weights of the moment, if it is time.

        Parameters
        ----------
        n_iter : int
            Passes so far.
        attributes : callable
            Returns the fitted attributes that follow from the weights.

        Returns
        -------
        stop : bool
            Whether the best score is old enough.
        """
        if n_iter % self.score_every:
            return False
        model, fitted = copy.copy(self.model), attributes()
        vars(model).update(fitted)
        self.look(n_iter, model, fitted)
        return n_iter - self.best_iter >= self.n_iter_no_change

    def look(self, n_iter, model, fitted):
        """Score a model; keep its fitted attributes if it is the best one so far."""
        score = checked_score(self.scorer(model, *self.held_out))
        self.scores.append((n_iter, score))
        if score > self.best_score:
            self.best_score, self.best_iter, self.best = score, n_iter, fitted
