"""Base of the taggers of sequences and trees."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sskit._optional import optional
from sskit._parameters import parameter, parameters
from sskit._types import ArrayLike, Samples, Self, available_if, with_callbacks
from sskit.estimators.base.estimator import StructuredEstimator
from sskit.estimators.base.fitted_state import check_fitted
from sskit.estimators.base.objective import (
    CostOptions,
    decided_costs,
    surrogate_lam,
    training_costs,
)
from sskit.estimators.base.predictions import TaggerMixin, check_modest
from sskit.estimators.base.task import BlockAttributes, TrainingTask
from sskit.estimators.combinations import check_combinations
from sskit.estimators.completion.hidden import settings_of
from sskit.estimators.completion.states import (
    HiddenStatesMixin,
    StateDecoder,
    fitted_states,
    known_states,
    resolve_states,
)
from sskit.estimators.explanation.explain import COLUMNS, explain
from sskit.estimators.online import step, takes_steps
from sskit.estimators.reading.columns import as_fitted, read_columns
from sskit.estimators.reading.summary import TrainingData, matrices
from sskit.inputs.labels.counted import Labels
from sskit.inputs.labels.partial import check_partial_labels, label_counts
from sskit.inputs.ragged_array import locate
from sskit.inputs.weights import (
    check_sample_weight,
    check_token_weight,
    counted_weight,
    without_empty,
)
from sskit.models.request import Decoder

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, kw_only=True)
class TokenData(TrainingData):
    """Training data of which each token, or node, has a label.

    Attributes
    ----------
    token_weight : ndarray of shape (n_tokens,) or None
        Weights of the tokens.
    edges : matrix of shape (n_edges, q) or None
        Features of edges that `data` has not.
    offsets : ndarray of shape (n + 1,)
        Where samples begin, those without tokens among them, which `data` lacks.
    """

    token_weight: np.ndarray | None
    edges: object
    offsets: np.ndarray


@dataclass(frozen=True, kw_only=True)
class TokenOptions(CostOptions):
    """The options of a fit to labels of tokens.

    Attributes
    ----------
    rules : tuple of three ndarray or None
        Allowed transitions, first labels and last labels.
    """

    rules: tuple


@parameters
class Tagger(HiddenStatesMixin, TaggerMixin, StructuredEstimator):
    """Base of taggers without cycles, whose labels may have hidden states.

    A subclass implements:

    - ``_read(X, fitted=False)`` returns checked samples, and the features of their edges if those
      are apart, or None; of a fitted estimator they must be what it was fitted to;
    - ``_statistics(X, data, edges, weight)`` returns the scale of features, None if it depends on
      a kernel, and fields of the `Summary` besides;
    - ``_model(summary, X)`` returns the model of data with features X, and the fitted attributes
      that are no weights, beside the usual ones;
    - ``_latent`` is the class of `Hidden` that binds models;
    - ``_request(data, edges, n_states, states, possible)`` returns the request of checked samples
      under the weights of the fit, which it checks;
    - ``_terms(sample)`` returns all the `Terms` of a list of one sample.
    """

    _explained = explain  # without a frame
    _labels_parts = True
    ignore_label: object = parameter(default=None)

    def _read_data(self, X, y, sample_weight, part=False, token_weight=None):
        """Return training data, or a part of them, checked."""
        X, columns = read_columns(self, X, part, self._trees)
        data, edges = self._read(X)
        target, offsets = check_partial_labels(y, data.lengths, self.ignore_label), data.offsets
        if target.possible is not None:
            check_unknown(self, target, offsets, part)
        weight = check_sample_weight(sample_weight, len(data), part=part)
        if token_weight is not None:
            noun = self._tokens[:-1]
            check_combinations(self, **{"token weights": f"{noun}_weight"})
            token_weight = check_token_weight(token_weight, data.lengths, noun)
        data, weight = without_empty(data, weight, part)
        read = {"data": data, "weight": weight, "columns": columns}
        n_certain, counted = target.n_certain, counted_weight(weight, data.lengths)
        summary = self._summary_class.of_rows(
            **read,
            labels=Labels(target.classes, label_counts(target, counted)),
            n_hidden=len(target.labels) - n_certain,
            n_certain=n_certain,
            # refuses features that are too large, whatever lam
            **self._statistics(X, data, edges, weight),
        )
        of_tokens = {"token_weight": token_weight, "edges": edges, "offsets": offsets}
        return TokenData(**read, target=target, summary=summary, **of_tokens)

    def _decide(self, summary, options, checked):
        """Return the summary of all data with all options of the fit; see `_agree`."""
        labels, n_tokens = summary.labels, summary.n_hidden + summary.n_certain
        asked = self.n_states_per_label, labels.values, n_tokens, self._tokens
        options = TokenOptions(
            **vars(options),
            **decided_costs(self, labels),
            rules=self._rules(labels, checked),
            states=resolve_states(*asked),
        )
        return replace(summary, options=options)

    def _rules(self, labels, checked):
        """Return allowed transitions, first and last labels; None each if all are."""
        return None, None, None

    def _settled(self, checked, summary):
        """Return data with labels by their numbers in all data, which the rules allow."""
        return replace(checked, target=checked.target.among(summary.labels.values)), summary

    def _bind(self, checked, summary):
        """Bind the model to checked data, given the summary of all; return a `TrainingTask`."""
        data, target, options = checked.data, checked.target, summary.options
        partial, labels, states = target.partly(summary.n_hidden), target.labels, options.states
        token_weight = checked.token_weight
        costs, table = training_costs(self, options, labels, data.lengths, partial, token_weight)
        (X, *_) = matrices(data)
        model, shared = self._model(summary, X)
        of_kernel, further = {}, {}
        if states.hidden:
            partial, shared["n_states_"] = states.known(labels, partial), states.counts
        known = target if partial is None else partial
        bound = {"data": data, "cost": costs, "table": states.of_pairs(table)}
        bound["block_weight"] = summary.block_weights(len(data), checked.weight)
        if checked.edges is not None:
            bound["edges"] = checked.edges
        problem = model.bind(labels=known.labels, **bound)
        if partial is not None:
            settings = settings_of(self)
            latent = self._latent(model=model, partial=partial, states=states, **settings, **bound)
            if options.likelihood:
                # the sum over all that may be right is no longer convex
                problem.accept(partial.possible)
                further |= {"certifiable": False, "summed": latent if states.hidden else None}
            else:
                latent.mark_right(problem)
                further["completion"] = latent
        if summary.scale is None:
            summary = replace(summary, scale=model.scale(data, checked.weight))
            of_kernel = {"kernel": model.kernel, "X": X, "labels": labels}
            further["certifiable"] = model.kernel.definite
        to_attributes = BlockAttributes(model.layout, shared, **of_kernel)
        lam, further["rule"] = surrogate_lam(summary, bool(of_kernel))
        return TrainingTask(problem, lam, to_attributes, **further)

    def _fitted_data(self, X):
        """Return what `_read` does of samples that a fitted tagger is to label."""
        check_fitted(self)
        return self._read(as_fitted(self, X, self._trees), fitted=True)

    def _decoder(self, X, known=None):
        """Return the decoder of checked samples that are not empty, and where all begin."""
        return self._decoder_of(*self._fitted_data(X), known)

    def _decoder_of(self, data, edges, known):
        """Return the same of samples that have been read."""
        n_states, states = fitted_states(self)
        possible = known_states(self, states, known, None if known is None else data.lengths)
        request = self._request(data, edges, n_states, states, possible)
        check_modest(self, request, ("coef_", "edge_coef_"))
        decoder = Decoder(request, self.n_jobs)
        return decoder if states is None else StateDecoder(decoder, states), data.offsets

    @available_if(takes_steps)
    @with_callbacks
    def partial_fit(
        self,
        X: Samples,
        y: Samples,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        token_weight: Samples | None = None,
    ) -> Self:
        """Take an implicit online step: solve for new samples, near the last weights.

        The last weights are the prior, in a norm in which a weight is the stiffer the more rows
        have had its feature, as the square root of their number; see "Continue training".
        The step is solved to `tol` and certified as any fit is; what was seen before is not kept.
        The first call is a fit to its samples, with `prior` if there is one. Labels that are not
        known are completed by the last weights first, then round by round as in `fit`.

        Parameters
        ----------
        X, y : object
            New samples, as in `fit`; the features are those of all steps.
        classes : array-like of shape (n_classes,), default=None
            All labels there will be; for the first call. None means those in y. Later calls may
            repeat it.
        sample_weight : array-like of shape (n_samples,), default=None
            As in `fit`.
        token_weight : sequence of n_samples sequences (T_i,) of float, default=None
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
        return step(self, X, y, classes, sample_weight, token_weight=token_weight)

    def explain(
        self,
        X: Samples,
        i: int,
        t: int,
        *,
        label: object = None,
        rival: object = None,
        known: Samples | None = None,
        feature_names: ArrayLike | None = None,
        edge_feature_names: ArrayLike | None = None,
    ) -> DataFrame:
        """Return the contributions to the label of a token against its strongest rival.

        Parameters
        ----------
        X : list of n_samples sequences or trees
            As in `fit`. Only sample i is used.
        i : int
            Which sample, from 0.
        t : int
            Which token, or node, of it, from 0.
        label : label, default=None
            The label to explain; None means that of the best labelling, as `predict` returns it
            (without a beam).
        rival : label, default=None
            The label to compare with; None means the label with the highest max-marginal of the
            others.
        known : sequence of n_samples items, default=None
            As in `predict`.
        feature_names : array-like of str of shape (n_features,), default=None
            Names of the features, as in `weights_frame`.
        edge_feature_names : array-like of str of shape (n_edge_features,), default=None
            Names of the features of edges, if there are any, in the same way.

        Returns
        -------
        frame : DataFrame
            A row for each term, with the columns

            - group: "features" of the token; "bias", a weight of the first, last, root or leaf
              label; or a neighbour: "before" and "after" in a sequence, "parent" and "children"
              in a tree; or, with order=2, "around": both neighbours of a token;
            - kind: "feature" of the token; "start", "end", "root", "leaf"; "transition" to a
              neighbour; "edge", a feature of that edge; "triple", the token and two others in a
              row, which are before it, after it or around it; or "beyond": what the labels of the
              neighbour, and of all beyond it, score in the one labelling less what they score in
              the other, 0 if they are the same;
            - feature: its name, or the labels of the transition, or of the three tokens, in both
              labellings;
            - node: the token or node itself, or the neighbour;
            - value: of the feature, else 1;
            - weight, rival_weight: that of the label and of the rival; NaN for sums;
            - contribution: value times the difference of the weights, or the sum.

            Features that contribute most come first. The contributions add up to the margin, the
            difference of the max-marginals of the two labels (see `decision_function`), up to
            rounding. ``frame.attrs`` has "label" and "rival", their max-marginals "score" and
            "rival_score", the "margin", and "labelling" and "rival_labelling", the best labellings
            with each of the two; any of several equally good ones.

        Raises
        ------
        ImportError
            If pandas is not installed.
        NotFittedError
            If the tagger is not fitted.
        TypeError, ValueError
            If X or another argument is wrong, there is no such token, a label is unknown or the
            same as its rival, or no allowed labelling has one of them at the token; or the tagger
            has a kernel.

        Examples
        --------
        >>> from sskit import SequenceTagger
        >>> X, y = [[[1.0, 0.0], [0.0, 1.0]]] * 3, [["DET", "NOUN"]] * 3
        >>> tagger = SequenceTagger(lam=0.1, tol=1e-6, random_state=0).fit(X, y)
        >>> frame = tagger.explain(X, 0, 1, feature_names=["the", "cat"])
        >>> frame.attrs["label"], frame.attrs["rival"], round(frame.attrs["margin"], 3)
        ('NOUN', 'DET', 1.0)
        >>> frame.groupby("group")["contribution"].sum().round(3).to_dict()
        {'before': 0.2, 'bias': 0.4, 'features': 0.4}
        """
        with optional():
            from pandas import DataFrame

        names = feature_names, edge_feature_names
        rows, attrs = self._explained(X, i, t, label, rival, known, *names)
        frame = DataFrame(rows, columns=COLUMNS)
        frame.attrs = attrs
        return frame


def check_unknown(estimator, partial, offsets, part=False):
    """Raise ValueError for training labels that are not known, if they cannot be completed.

    Parameters
    ----------
    estimator : StructuredEstimator
        With the parameter `ignore_label`.
    partial : PartialLabels
        Some labels of which are not known.
    offsets : ndarray of shape (n + 1,)
        Where samples begin.
    part : bool, default=False
        Whether these are a part of the data only.

    Raises
    ------
    ValueError
        If nothing is known, or if the estimator has a parameter that needs all labels.
    """
    if partial.ignored.all():
        raise ValueError(f"y has no labels but ignore_label={estimator.ignore_label!r}")
    if partial.possible.all() and not part:
        raise ValueError("y determines nothing: every label is possible at every token")
    several = partial.n_possible > 1
    if several.any():
        place = "y[{}][{}]".format(*locate(offsets, several.argmax()))
        asked = {"unknown": f"{place}, which has no known label,"}
        if (several & (partial.n_possible < len(partial.classes))).any():
            asked["sets"] = "a set of labels of which one is right"
        check_combinations(estimator, **asked)
