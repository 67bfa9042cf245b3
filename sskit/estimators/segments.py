"""Segment tagging of sequences (semi-Markov models)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import or_
from typing import Any, Literal

import numpy as np
from sklearn.utils._param_validation import StrOptions

from sskit._parameters import AT_LEAST_ONE, parameter, parameters
from sskit._tag_schemes import SCHEMES
from sskit._types import ArrayLike, Dictionary, Samples, Scheme, Self, with_callbacks
from sskit.estimators.base.estimator import replace_fitted
from sskit.estimators.base.fitted_state import (
    check_count,
    check_fitted,
    check_numbers,
    check_weights,
    raise_damaged,
)
from sskit.estimators.base.objective import CostOptions, decided_costs, surrogate_lam
from sskit.estimators.base.predictions import TaggerMixin, check_modest
from sskit.estimators.base.task import BlockAttributes, TrainingTask
from sskit.estimators.combinations import check_combinations, is_likelihood
from sskit.estimators.completion.hidden import settings_of
from sskit.estimators.completion.segments import HiddenSegments, SegmentStateDecoder
from sskit.estimators.completion.states import (
    HiddenStatesMixin,
    fitted_states,
    known_states,
    resolve_states,
)
from sskit.estimators.online import OnlineEstimator, check_as_before
from sskit.estimators.reading.columns import as_fitted, read_columns
from sskit.estimators.reading.summary import RowSummary, TrainingData, same
from sskit.inputs.chains.segments import (
    agreeing_codes,
    check_segmentations,
    contradicted,
    lengths_by_label,
    limits_of,
    place_of,
    segments_of,
    tags_of,
)
from sskit.inputs.labels.counted import Labels
from sskit.inputs.labels.partial import PartialLabels
from sskit.inputs.ragged import check_filled, stack_sequences
from sskit.inputs.ragged_array import locate, make_offsets, split
from sskit.inputs.weights import check_sample_weight, counted_weight, without_empty
from sskit.models.chain.model import token_scale
from sskit.models.segments.features import count_features, whole_features
from sskit.models.segments.model import SegmentModel


@dataclass(frozen=True, kw_only=True)
class SegmentSummary(RowSummary):
    """The summary of segmented sequences.

    Attributes
    ----------
    form : {"tags", "segments"}
        Form of y.
    max_lengths : dict of label to int
        Length of the longest segment of each label.
    longest : int
        Length of the longest sequence.
    n_segment_features : int
        Number of features of a whole segment.
    """

    form: str = same("y has {}, but that of part {} has {}")
    max_lengths: Counter = field(metadata={"rule": lambda values, *_: reduce(or_, values)})
    longest: int = field(metadata={"rule": lambda values, *_: max(values)})
    n_segment_features: int = same(
        "segment_features gives {0} numbers for a segment, but {2} for one of part {1}"
    )


@dataclass(frozen=True, kw_only=True)
class SegmentOptions(CostOptions):
    """The options of a fit to segments.

    Attributes
    ----------
    limits : ndarray of shape (K,)
        How long the segments of each label may be.
    """

    limits: np.ndarray


@dataclass(frozen=True, kw_only=True)
class SegmentData(TrainingData):
    """Training data in segments.

    Attributes
    ----------
    numbers : ndarray of shape (n,)
        What error messages call the sequences: their numbers among all, empty ones included.
    """

    numbers: np.ndarray


class FittedSegments:
    """Types of the attributes that a fitted `SegmentTagger` has."""

    first_coef_: np.ndarray
    last_coef_: np.ndarray
    lengths_: np.ndarray
    segment_coef_: np.ndarray
    segment_features_: Callable[..., Any]
    start_: np.ndarray
    end_: np.ndarray
    max_length_: np.ndarray
    outside_: int
    form_: Literal["tags", "segments"]


@parameters
class SegmentTagger(FittedSegments, HiddenStatesMixin, TaggerMixin, OnlineEstimator):
    r"""Labels for segments of a sequence, such as chunks, names or activities: semi-Markov models.

    A labelling y of a sequence is a list of segments (s, e, k): the tokens s to e - 1, at most
    ``max_length`` of them, have the label k together. Its score F(x, y) is the sum over its
    segments

    .. math:: \sum_{(s, e, k) \in y} \Bigl[ \sum_{t=s}^{e-1} \langle c_k, x_t \rangle
              + \langle f_k, x_s \rangle + \langle l_k, x_{e-1} \rangle + d_{k, e-s} \Bigr]

    of weights of the features of all of its tokens, of the first and of the last one, and of its
    length, with `segment_features` also of features of the segment itself. The score also has
    transitions :math:`A_{jk}` between neighbouring segments, and weights of the first and of the
    last label as in :class:`SequenceTagger`. A token outside of all segments is a segment of one
    token with a separate label, "O"; its transitions have weights like others, also between two
    such tokens. Labels whose segments all have one token have no f, l and d, which would be
    redundant: with ``max_length=1`` the model is that of SequenceTagger, and with
    ``loss="hamming_sum"`` the objective too. The best labelling is found exactly, in O(T K (K +
    M)) for T tokens, K labels and segments of M tokens. Training minimises

    .. math:: P(w) = \tfrac{\lambda}{2} \|w\|^2
              + \sum_i c_i \max_y \bigl[ L_i(y) + F(x_i, y) - F(x_i, y_i) \bigr]

    over all weights together and proves how close it came. The weights c_i are proportional to
    the sample weights and sum to one.

    Parameters
    ----------
    lam : float, default=None
        Regularisation strength, positive. None means R^2 / (4 n), where R^2 is the mean squared
        norm of the features of a token and n the number of sequences (the sum of the sample
        weights), so that a good value depends neither on the scale of the features nor on the
        amount of data; see the benchmarks for how it was chosen.
    max_length : int or dict of label to int, default=None
        Largest number of tokens of a segment, for all labels or by label; for None and for labels
        that a dict omits it is the longest in training, of all steps of `partial_fit`. At most the
        length of the longest sequence. Longer segments in y raise an error.
    scheme : {"bio", "iob1", "iob2", "bioes", "iobes", "bilou"}, default="bio"
        Scheme of tags in y, see :func:`sskit.metrics.spans`, and of `predict`. Can be set on a
        fitted estimator.
    outside : object, default="O"
        The label, in ``classes_``, of tokens that are in no segment. It must sort with the labels
        in y if there are such tokens; tags always have "O".
    first_last : bool, default=True
        Whether the features of the first and of the last token of a segment have further weights.
        Without them a fit takes a third of the memory.
    lengths : bool, default=True
        Whether the lengths of segments have weights.
    segment_features : callable, default=None
        Features of whole segments: ``segment_features(x, start, end)`` gets the features x of one
        sequence, of shape (T, n_features), which it must not change, and returns a vector of q
        numbers about its tokens start to end - 1; q is the same for all segments. All labels, that
        of tokens outside too, have weights of these features. It is called for every segment of up
        to ``max_length`` tokens, once in `fit` and again in each prediction: less than T M calls
        for a sequence, whose T M q results stay in memory as float64 until the fit ends. To pickle
        or save a model the function must be that of a module, not a lambda.
    ignore_label : object, default=None
        The tag in y of tokens without one, or the label of stretches of tokens whose segments are
        not known. They do not count in the loss and in `score`: a predicted segment costs
        something only where it contradicts what is known, and one that is missed only if it is
        known from its first token to its last. Training completes what is not known by the best
        segments under the current weights. It may be of another type than the labels; None means
        that there is no such label. Not with ``surrogate="log"``.
    rescaling : {"margin", "slack"} or SlackRescaling, default="margin"
        Surrogate of the loss: margin rescaling, the objective above, or slack rescaling, whose
        hinge is max_y L_i(y) [1 + F(x_i, y) - F(x_i, y_i)]; see :class:`SlackRescaling`, whose
        objects have the options of the search. Here searches bisect.
    surrogate : {"hinge", "log"}, default="hinge"
        What stands for the loss: the hinge, or the negative logarithm of the probability of the
        true segments, :math:`\log \sum_y \exp F(x_i, y) - F(x_i, y_i)`, which makes the model a
        semi-Markov conditional random field: its probabilities need no calibration, see
        "likelihood" of :class:`CalibratedTagger`. There are no losses of labels then: `loss`,
        `class_weight`, `steps`, `sampling` and `cache` stay at their defaults; and None for `lam`
        means R^2 / (20 n).
    solver : str or solver object, default="auto"
        Block-coordinate Frank-Wolfe ("bcfw"; "auto", except for few pairs), that with stored
        planes ("multi_plane"), batch Frank-Wolfe ("frank_wolfe"), stochastic subgradient
        ("subgradient"), cutting planes ("cutting_plane"), or an object of `sskit.solvers`, which
        has further options. "gdmm" and "soft_bcfw" do not work. With ``surrogate="log"``
        limited-memory BFGS ("lbfgs").
    steps : {"auto", "fw", "pairwise", "away"}, default="auto"
        Kind of step of the solver "bcfw"; see `sskit.solvers.BCFW`.
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the training pairs for the solver "bcfw"; the first three also for "subgradient".
    cache : {"auto", True, False}, default="auto"
        Whether "bcfw" takes steps between stored planes if they promise enough, instead of calling
        the oracle.
    loss : str, array-like of shape (n_classes, n_classes) or dict, default="segments"
        Task loss of a sequence. "segments" is the number of predicted segments that are not true
        and of true ones that are missed. "hamming_sum" is the number of wrong tokens, and
        "hamming" their fraction; a token is right if its label is and it begins a segment exactly
        if it should, as in tags of the scheme "bio". An array gives the cost of a token by its
        true label (row) and the predicted one (column), in the order of ``classes_``, a dict of
        dicts the same by label, ``{true: {predicted: cost}}``, in which missing costs are 1. Costs
        are non-negative, and zero between a label and itself; the loss is their sum, and a token
        of the right label that begins a segment where it should not, or does not where it should,
        costs 1. See the benchmarks for how the default was chosen.
    class_weight : dict or "balanced", default=None
        Factors of the loss by label: that of the true label for a token, or for a missed true
        segment, and that of its own label for a segment that is not true; "balanced" gives the
        tokens of all labels equal weight.
    n_states_per_label : int or dict, default=1
        Number of hidden states of each label; labels that a dict omits have one. Training
        completes the unknown state of each true segment by the best one, and prediction returns
        the label of the best state. States have weights instead of labels. See the page of the
        guide on labels that are partly unknown.
    n_init : int, default=1
        Number of clusterings of the segments of each label from which hidden states start. The
        model with the lowest objective is kept.
    bounds : tuple (lower, upper) or dict of such tuples, default=None
        Box on the weights. A bound is a number, None, or an array over the flat weight vector
        (feature after feature the columns of ``coef_``, ``first_coef_`` and ``last_coef_``, then
        ``transitions_``, ``lengths_`` and ``segment_coef_`` by rows, ``start_``, ``end_``); in a
        dict by the blocks "coef", "first_coef", "last_coef", "transitions", "lengths",
        "segment_coef", "start" and "end" a bound has the shape of the block.
    prior : array-like of shape (n_weights,), dict or fitted estimator, default=None
        Weights w0 towards which the fit is regularised, by lam / 2 ||w - w0||^2; None is zero. A
        flat vector as for `bounds`, a dict of arrays by the names of fitted attributes, or a
        fitted estimator of this kind, or a pipeline that ends with one. Labels and features are
        aligned by ``classes_`` and ``feature_names_in_`` if data and prior have them: new ones
        start at zero, others are left out; the longest segments must have the same length.
    tol : float, default=0.02
        Relative tolerance: the fit stops when the duality gap is at most tol * (P(w) + P(0) /
        1000), so that the objective P(w) exceeds the optimum by at most that. P(0), the mean of
        the largest losses, only matters if almost no loss is left.
    max_iter : int, default=1000
        Largest number of passes over the data.
    warm_start : bool, default=False
        Whether a fit continues from the end of the last one with warm_start=True: to a smaller
        `tol`, at another `lam`, with other bounds or sample weights, or with further samples after
        the same ones. It keeps the dual variables of the last fit, and a fit that cannot use them
        raises an error that says what changed. Not for solvers without dual variables:
        "subgradient" and "cutting_plane".
    n_jobs : int, default=None
        Number of threads. Training visits so many sequences at the same time and merges the
        updates; the result depends on the number, but not on the speed of the threads. Exact
        passes, batches of oracle calls and prediction do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the order of the training pairs.
    verbose : int, default=0
        From 1 on a line says what the fit chose where parameters leave it the choice, and why. 1
        shows a bar with the gap and the time left, if rich is installed and there is a terminal
        or a notebook; else, and from 2 on, a line for every exact pass, with the gap, and one a
        second in between: printed, or logged by "sskit" at level INFO if that is shown.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        Weights of the features of all tokens of a segment.
    first_coef_, last_coef_ : ndarray of shape (n_classes, n_features)
        Further weights of the features of its first and of its last token; zero for labels whose
        segments all have one token. Only with `first_last`.
    lengths_ : ndarray of shape (n_classes, max_length)
        Weights of the lengths 1 to the largest of ``max_length_``; zero for lengths that a label
        cannot have. Only with `lengths`.
    segment_coef_ : ndarray of shape (n_classes, q)
        Weights of the features of whole segments. Only with `segment_features`.
    segment_features_ : callable
        The function for these features, which prediction calls again. Only with
        `segment_features`.
    transitions_ : ndarray of shape (n_classes, n_classes)
        Weights of the labels of neighbouring segments, from row to column.
    start_, end_ : ndarray of shape (n_classes,)
        Weights of the labels of the first and of the last segment.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted; with `outside` if there were such tokens.
    max_length_ : ndarray of shape (n_classes,)
        Longest segment of each label.
    outside_ : int
        Position of `outside` among the labels; -1 if every token is in a segment.
    form_ : {"tags", "segments"}
        The form of y, which `predict` returns.
    lam_ : float
        The regularisation strength that was used.
    dual_gap_ : float
        Duality gap P(w) - D, absolute: P(w) is at most this far above the optimum.
    primal_objective_, dual_objective_ : float
        P(w) and D.
    certified_ : bool
        Whether the gap is a certificate, from an exact pass with an oracle that is exact or bounds
        what it misses.
    n_iter_ : int
        Passes over the data, including an interrupted one.
    n_oracle_calls_ : int
        Calls of the oracle, including those of the exact passes.
    history_ : dict of ndarray
        Arrays of equal length, an entry for each exact pass: n_passes, n_oracle_calls, time
        (seconds), primal, dual, gap (absolute).
    solver_ : solver object
        The solver that was used, with the value of every "auto".
    n_states_ : ndarray of shape (n_classes,), int
        How many hidden states each label has; only if some label has several. The rows of all
        weights are then those of states, whose labels are in ``state_labels_``.
    n_rounds_ : int
        Only with hidden states, or if segments are not known: number of convex problems that were
        solved.
    round_objectives_ : ndarray of shape (`n_rounds_`,)
        Likewise, the objective P(w) after each round, with the best states of the true segments,
        or the best segments that agree with what is known. It never rises. ``primal_objective_``
        is that of the last convex problem.
    stationary_ : bool
        Likewise, whether the last round converged and its w completes the states as they were in
        it. If not, it lowered P(w) by less than the tolerance, or passes, rounds or time ran out.
    n_features_in_ : int
        Number of features seen in fit.
    n_samples_seen_ : int or float
        Number of samples of the fit, or of all steps of `partial_fit` so far; the sum of their
        weights if they have some.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if the sequences were data frames whose columns have strings as names, or
        tokens of which `vectorizer_` has made features.
    vectorizer_ : TokenVectorizer
        The vectoriser of tokens, if these were dicts of attributes or lists of strings.

    Raises
    ------
    ValueError
        In fit and predict, for wrong parameters or data, with the name of the item.

    See Also
    --------
    SequenceTagger : A label for each token, which takes less time.
    sskit.metrics.span_f1_score : The F1 score of spans in tags.

    References
    ----------
    Sarawagi, Cohen (2004). Semi-Markov conditional random fields for information extraction. NIPS.

    Tsochantaridis, Joachims, Hofmann, Altun (2005). Large margin methods for structured and
    interdependent output variables. JMLR 6.

    Examples
    --------
    Bursts of three to five tokens, whose features say little by themselves:

    >>> import numpy as np
    >>> from sskit import SegmentTagger
    >>> rng = np.random.default_rng(0)
    >>> X, y = [], []
    >>> for _ in range(60):
    ...     x, start = rng.normal(size=(15, 1)), int(rng.integers(10))
    ...     length = int(rng.integers(3, 6))
    ...     x[start : start + length] += 3
    ...     X.append(x)
    ...     y.append([(start, start + length, "burst")])
    >>> tagger = SegmentTagger(random_state=0).fit(X[:40], y[:40])
    >>> tagger.classes_.tolist(), tagger.max_length_.tolist()
    (['O', 'burst'], [1, 5])
    >>> tagger.score(X[40:], y[40:]) > 0.6
    True
    """

    _type_of_estimator = "segment_tagger"
    max_length: int | Dictionary | None = parameter(AT_LEAST_ONE, dict, None, default=None)
    scheme: Scheme = parameter(StrOptions(set(SCHEMES)), default="bio")
    outside: object = parameter(default="O")
    first_last: bool = parameter("boolean", default=True)
    lengths: bool = parameter("boolean", default=True)
    segment_features: Callable[..., Any] | None = parameter(callable, None, default=None)
    ignore_label: object = parameter(default=None)
    loss: Literal["hamming", "hamming_sum", "segments"] | ArrayLike | Dictionary = parameter(
        "array-like", dict, default="segments"
    )

    @property
    def _asks(self):
        """Return what segments require, as `refusal` takes it."""
        of_likelihood = {"of segments": "surrogate='log'"} if is_likelihood(self) else {}
        return {"segments": "a segmentation"} | of_likelihood

    @with_callbacks
    def fit(self, X: Samples, y: Samples, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : list of n_samples matrices (T_i, n_features), or array (n_samples, T, n_features)
            Features of the tokens, dense or sparse; also a RaggedArray. float64, float32 or, if
            dense, float16 are read as they are, in a RaggedArray or an array without a copy, also
            memory-mapped; other numbers become float64. Tokens may be dicts of attributes or lists
            of strings, as :class:`~sskit.preprocessing.TokenVectorizer` takes them. Sequences may
            be empty: they are left out.
        y : list of n_samples items
            For each sequence its tags (T_i,), strings of `scheme`, or its segments: a list of
            tuples (start, end, label) of the first token, the one after the last, and a label of
            any sortable type, in any order; they must not overlap. Where nothing is known the tag,
            or the label, is `ignore_label`. A segment with the tag before such a token may go on
            there, unless its tag ends it; a segment that was given does not.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the sequences.

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
        X, columns = read_columns(self, X, part)
        stacked = stack_sequences(X, allow_empty=True)
        check_filled(stacked.offsets, "X", allow_empty=stacked.offsets[-1] > 0)
        form = self.scheme, self.outside, self.max_length, self.ignore_label
        target = check_segmentations(y, stacked.lengths, *form)
        known = target.labelled
        if target.unknown is not None:
            i, t = locate(stacked.offsets, np.argmin(known))
            check_combinations(self, unknown=f"token {t} of y[{i}], which has no known label,")
        weight = check_sample_weight(sample_weight, len(stacked), part=part)
        numbers = np.flatnonzero(stacked.lengths)
        stacked, weight = without_empty(stacked, weight, part)
        # refuses features that are too large, whatever lam
        scale = token_scale(stacked, weight)
        counted = counted_weight(weight, stacked.lengths)
        read = {"data": stacked, "weight": weight, "columns": columns}
        summary = SegmentSummary.of_rows(
            **read,
            labels=Labels(target.classes, target.label_counts(counted)),
            scale=scale,
            form=target.form,
            n_certain=int(known.sum()),
            n_hidden=int((~known).sum()),
            max_lengths=lengths_by_label(target.classes, target.codes),
            longest=int(stacked.lengths.max()),
            n_segment_features=count_features(self.segment_features, stacked, numbers[0]),
        )
        return SegmentData(**read, target=target, numbers=numbers, summary=summary)

    def _decide(self, summary, options, checked):
        """Return the summary of all data with all options of the fit; arguments as of `_agree`."""
        labels, lengths = summary.labels.values, (summary.max_lengths, summary.longest)
        options = SegmentOptions(
            **vars(options),
            **decided_costs(self, summary.labels),
            limits=limits_of(self.max_length, self.outside, labels, *lengths),
            states=resolve_states(self.n_states_per_label, labels, summary.n_certain),
        )
        return replace(summary, options=options)

    def _running(self, summary, last):
        """Return the summary of a further step: segments may be as long as before."""
        sentence = "y has {}, but that of the steps before had {}"
        check_as_before(sentence, summary.form, last["form_"])
        sentence = (
            "segment_features gives {} numbers for a segment, but gave {} in the steps before"
        )
        before = last["segment_coef_"].shape[1] if "segment_coef_" in last else 0
        check_as_before(sentence, summary.n_segment_features, before)
        limits = last["max_length_"].tolist()
        seen = Counter(dict(zip(last["classes_"].tolist(), limits, strict=True)))
        longest = max(summary.longest, *limits)
        return replace(summary, max_lengths=summary.max_lengths | seen, longest=longest)

    def _bind(self, checked, summary):
        """Bind the model to checked data, given the summary of all; return a `TrainingTask`."""
        stacked, target, labels = checked.data, checked.target, summary.labels
        limits, states = summary.options.limits, summary.options.states
        n_whole, whole = summary.n_segment_features, None
        kinds = labels.renumber(target.classes, target.codes >> 1)
        codes = 2 * kinds + (target.codes & 1)
        parts = bool(self.first_last), bool(self.lengths), n_whole, states.labels
        model = SegmentModel(summary.n_features, limits[states.labels], *parts)
        if n_whole:
            segments = self.segment_features, stacked, int(limits.max())
            whole = whole_features(*segments, n_whole, checked.numbers)
        losses = self._losses(target, codes, stacked, summary)
        losses["block_weight"] = summary.block_weights(len(stacked), checked.weight)
        truth = (2 * states.first[kinds] + (codes & 1)).astype(np.int32)
        possible, partly = None, summary.n_hidden > 0  # perhaps in other parts
        if partly or states.hidden:
            possible = agreeing_codes(codes, target.unknown, states.labels)
        right = possible if partly else None
        problem = model.bind(stacked, truth, whole=whole, right=right, **losses)
        shared = {
            "max_length_": limits,
            "outside_": place_of(self.outside, labels.values.tolist()),
            "form_": summary.form,
        }
        if n_whole:
            shared["segment_features_"] = self.segment_features
        if states.hidden:
            shared["n_states_"] = states.counts
        completion = None
        if possible is not None:
            numbers = np.arange(possible.shape[1])
            known = {"cost": losses.pop("costs"), "table": None, "false_cost": None} | losses
            known["partial"] = PartialLabels(classes=numbers, labels=truth, possible=possible)
            known |= {"data": stacked, "states": states, "whole": whole, **settings_of(self)}
            completion = HiddenSegments(model=model, **known)
        to_attributes, (lam, rule) = BlockAttributes(model.layout, shared), surrogate_lam(summary)
        return TrainingTask(problem, lam, to_attributes, completion=completion, rule=rule)

    def _losses(self, target, codes, stacked, summary):
        """Return what tokens cost, or segments that are missed or wrong, for `SegmentModel.bind`.

        Parameters
        ----------
        target : Segmentations
            True segments; what is not known of them costs nothing.
        codes : ndarray of shape (n_tokens,)
            Those of labels by their numbers in all data.
        stacked : RaggedArray
            The sequences.
        summary : SegmentSummary
            Of all data.

        Returns
        -------
        losses : dict
            Its arguments costs, false_cost and table.
        """
        options, values = summary.options, summary.labels.values.tolist()
        factors = np.ones(len(values)) if options.factors is None else options.factors
        if isinstance(self.loss, str) and self.loss == "segments":
            factors = np.where([label == self.outside for label in values], 0.0, factors)
            costs = factors[codes >> 1] * target.wholly_known(stacked.offsets)
            return {"costs": costs, "false_cost": factors[options.states.labels]}
        costs, lengths = factors[codes >> 1] * target.labelled, stacked.lengths
        if isinstance(self.loss, str) and self.loss == "hamming":
            costs = costs / np.repeat(lengths, lengths)
        return {"costs": costs, "table": options.states.of_pairs(options.table)}

    def predict(self, X: Samples, known: Samples | None = None) -> np.ndarray:
        """Return the best segments of each sequence, in the form of y in `fit`.

        Parameters
        ----------
        X : list of n_samples sequences
            As in `fit`; sequences may be empty.
        known : sequence of n_samples items, default=None
            Known labels of tokens: for each sequence None, a boolean array (T_i, n_classes) of
            possible labels, or a sequence (T_i,) of labels, sets of labels one of which is right,
            and None for unknown ones. A token with a known label is in a segment of that label,
            which may begin earlier; one with the label `outside` is in no segment. This takes T M
            n_classes numbers for a sequence of T tokens, with segments of up to M.

        Returns
        -------
        y : ndarray of shape (n_samples,), object
            Each item is an ndarray of shape (T_i,) of tags, or a list of tuples (start, end,
            label) in order: the best segments that agree with the known labels.

        Raises
        ------
        ValueError
            If X or known is wrong; the error names the sequence and the token.
        """
        return super().predict(X, known)

    def predict_segments(self, X: Samples, known: Samples | None = None) -> np.ndarray:
        """Return the best segments of each sequence as tuples, whatever the form of y in `fit`.

        Parameters
        ----------
        X : list of n_samples sequences
            As in `fit`; sequences may be empty.
        known : sequence of n_samples items, default=None
            As in `predict`.

        Returns
        -------
        segments : ndarray of shape (n_samples,), object
            Each item is a list of tuples (start, end, label) of the first token, the one after the
            last and the label, in order; tokens outside are not included.
        """
        decoder, offsets = self._decoder(X, known)
        return self._segments(decoder.best(), offsets)

    def score(self, X: Samples, y: Samples, sample_weight: ArrayLike | None = None) -> float:
        """Return the F1 score of segments that match exactly.

        Parameters
        ----------
        X : list of n_samples sequences
            As in `fit`.
        y : list of n_samples items
            True tags or segments.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the sequences; each counts for all segments of its sequence.

        Returns
        -------
        score : float
            Between 0 and 1; 0 where there are no segments at all.
        """
        decoder, offsets = self._decoder(X)
        return self._f1(y, decoder.best(), offsets, sample_weight)

    def _f1(self, y, codes, offsets, sample_weight):
        """Return the F1 score of segments, given labellings of all sequences.

        A predicted segment that agrees with what is known, but may be another one, does not count.
        """
        true = self._read_true(y, offsets)
        known, wrong = true.known_segments(offsets, self.outside), None
        if true.unknown is not None:
            wrong = contradicted(codes, true.agreeing(self.classes_.tolist()), offsets)
        predicted, wrong = self._segments(codes, offsets), self._segments(codes, offsets, wrong)
        weight, counts = check_sample_weight(sample_weight, len(known)), []
        for ours, all_theirs, theirs in zip(known, predicted, wrong, strict=True):
            hits = {*ours} & {*all_theirs}
            counts.append((len(hits), len(ours) + len(hits.union(theirs))))
        hits, total = np.array(counts).T @ (np.ones(len(known)) if weight is None else weight)
        return float(2 * hits / total) if total else 0.0

    def _read_true(self, y, offsets):
        """Return what users give as y as `Segmentations`."""
        options = {"ignore_label": self.ignore_label}
        return check_segmentations(y, np.diff(offsets), self.scheme, self.outside, **options)

    def _segments(self, codes, offsets, chosen=None):
        """Return labellings as lists of tuples, perhaps of segments at some first tokens alone."""
        return segments_of(codes, offsets, self.classes_.tolist(), self.outside_, chosen)

    def _answers(self, codes, offsets):
        """Return labellings in the form of y in fit."""
        if self.form_ == "segments":
            return self._segments(codes, offsets)
        # the scheme may have been set since the fit
        tags = tags_of(codes, offsets, self.classes_.tolist(), self.outside_, self.scheme)
        return split(tags, offsets)

    def _several(self, codes):
        """Return labellings (m, T) of one sequence as `predict_topk` does."""
        offsets = np.arange(len(codes) + 1) * codes.shape[1]
        answers = self._answers(codes.ravel(), offsets)
        return np.stack(answers) if self.form_ == "tags" else answers

    def _decoder(self, X, known=None):
        """Return the decoder of checked sequences that are not empty, and where all begin."""
        stacked, lengths, *bound = self._fitted_data(X)
        _, states = fitted_states(self)
        possible = known_states(self, states, known, lengths)
        model, blocks, limits, whole = bound
        decoder = model.decoder(stacked, blocks, limits, whole, possible, self.n_jobs)
        check_modest(self, decoder.request, [f"{name}_" for name in model.layout.coefs])
        decoder = decoder if states is None else SegmentStateDecoder(decoder, states)
        return decoder, make_offsets(lengths)

    def _find_states(self, X, known):
        """Return the states of all tokens, and where sequences begin."""
        codes, offsets = super()._find_states(X, known)
        return codes >> 1, offsets

    def _fitted_data(self, X):
        """Return checked sequences, and what the fitted model binds to them.

        Returns
        -------
        stacked : RaggedArray
            Those that are not empty.
        lengths : ndarray of shape (n,)
            Numbers of tokens of all.
        model : SegmentModel
        blocks : dict of ndarray
            Weights by the names of its layout.
        limits : ndarray of shape (n_states,)
            Length of the longest segment of each label, or state, here.
        whole : ndarray or None
            Features of whole segments.
        """
        check_fitted(self)
        n_features, name = check_count(self, "n_features_in_"), type(self).__name__
        X = as_fitted(self, X)
        stacked = stack_sequences(X, n_features=n_features, estimator_name=name, allow_empty=True)
        (model, blocks), whole = self._fitted_model(n_features), None
        sizes, filled = stacked.lengths, np.flatnonzero(stacked.lengths)
        stacked, _ = without_empty(stacked, None)
        # none is longer than the sequences, but labels of more than one token stay such labels
        limits = np.minimum(model.limits, max(2, int(stacked.lengths.max(initial=0))))
        if "segment_coef" in blocks:
            segments = self.segment_features_, stacked, int(limits.max())
            whole = whole_features(*segments, blocks["segment_coef"].shape[1], filled)
        return stacked, sizes, model, blocks, limits, whole

    def _fitted_model(self, n_features):
        """Return the model of the fitted attributes and their blocks of weights, checked."""
        (n_states, states), fitted = fitted_states(self), vars(self)
        check_numbers(self, {"max_length_": (len(self.classes_),)}, integer=True)
        if self.max_length_.min() < 1:
            raise_damaged(self, "max_length_ must be positive")
        n_whole = max(1, np.size(fitted.get("segment_coef_")) // n_states)
        parts = "first_coef_" in fitted, "lengths_" in fitted, n_whole * ("segment_coef_" in fitted)
        limits = self.max_length_ if states is None else self.max_length_[states.labels]
        model = SegmentModel(n_features, limits, *parts)
        return model, check_weights(self, model.layout)
