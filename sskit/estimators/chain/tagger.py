"""SequenceTagger: linear chains, features of edges, three labels in a row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Literal

import numpy as np
from sklearn.utils._param_validation import Options, StrOptions

from sskit._parameters import AT_LEAST_ONE, parameter, parameters
from sskit._tag_schemes import SCHEMES, find_violations, violation_error
from sskit._types import ArrayLike, MaybeNone, Samples, Scheme, Self, with_callbacks
from sskit._warnings import warn
from sskit.estimators.base.estimator import replace_fitted
from sskit.estimators.base.kernels import KernelMixin, kernel_bytes, make_kernel
from sskit.estimators.base.objective import decided_costs
from sskit.estimators.chain.completion import HiddenChains
from sskit.estimators.chain.decoding import (
    answer_of_one,
    answer_of_tokens,
    fitted_pairs,
    fitted_request,
    terms_of,
)
from sskit.estimators.combinations import check_combinations, has_kernel
from sskit.estimators.reading.summary import RowSummary, same
from sskit.estimators.tagging import Tagger
from sskit.inputs.chains.pairs import stack_pairs
from sskit.inputs.frames import edge_column_names
from sskit.inputs.labels.counted import Labels
from sskit.inputs.ragged import check_filled
from sskit.inputs.ragged_array import SoundArray, locate, row_namer
from sskit.inputs.weights import counted_weight
from sskit.models.chain.model import ChainModel, KernelChainModel, edge_scale, token_scale
from sskit.models.chain.one_sentence import best_labels
from sskit.models.chain.transitions import check_possible, kinds_of, repair, resolve_transitions

# What predictions may have: transitions, first and last labels.
RULES = "allowed_transitions_", "allowed_start_", "allowed_end_"
RULES_HINT = (
    "allowed_transitions {}. on_violation='repair' changes such labels, 'ignore' keeps to "
    "allowed_transitions in prediction only"
)


@dataclass(frozen=True, kw_only=True)
class ChainSummary(RowSummary):
    """The summary of sequences."""

    n_edge_features: int | None = same(
        "the number of edge features of X is {}, but that of part {} is {}"
    )
    edge_feature_names: tuple | None = same(
        "the edge features of X are {}, but those of part {} are {}"
    )


class FittedChains:
    """Types of the attributes that a fitted `SequenceTagger` has."""

    triples_: np.ndarray
    edge_coef_: np.ndarray
    allowed_transitions_: np.ndarray | MaybeNone
    allowed_start_: np.ndarray | MaybeNone
    allowed_end_: np.ndarray | MaybeNone
    start_: np.ndarray
    end_: np.ndarray
    n_edge_features_in_: int
    edge_feature_names_in_: np.ndarray


@parameters
class SequenceTagger(FittedChains, KernelMixin, Tagger):
    r"""Labels for all tokens of a sequence, learned with the structured hinge loss.

    The score F(x, y) of a labelling is

    .. math:: \sum_t \langle c_{y_t}, x_t \rangle + \sum_t A_{y_{t-1} y_t} + s_{y_1} + e_{y_T} ,

    with a kernel that of functions :math:`f_{y_t}(x_t)` instead of the first sum. If edges, from
    each token to the next one, have features :math:`z_t`, the score also has :math:`\sum_t \langle
    B_{y_{t-1} y_t}, z_t \rangle`. With ``order=2`` three labels in a row have a weight too, and
    the score also has :math:`\sum_{t > 2} C_{y_{t-2} y_{t-1} y_t}`. The best labelling is found
    exactly (Viterbi). Training minimises

    .. math:: P(w) = \tfrac{\lambda}{2} \|w\|^2
              + \sum_i c_i \max_y \bigl[ L_i(y) + F(x_i, y) - F(x_i, y_i) \bigr]

    over all weights together and proves how close it came. The weights c_i are proportional to
    the sample weights and sum to one.

    Parameters
    ----------
    lam : float, default=None
        Regularisation strength, positive. None means R^2 / (4 n), where R^2 is the mean squared
        norm of the features of a token (and of its edge) and n the number of sequences (the sum of
        the sample weights), so that a good value depends neither on the scale of the features nor
        on the amount of data; see the benchmarks for how it was chosen.
    order : {1, 2}, default=1
        Number of labels before a label with which it has weights. With 2 there are, besides
        transitions, weights of three labels in a row, a table (n_classes, n_classes, n_classes);
        the first two labels have only the weights of start and transition. Not with a kernel or a
        beam.
    rescaling : {"margin", "slack"} or SlackRescaling, default="margin"
        Surrogate of the loss: margin rescaling, the objective above, or slack rescaling, whose
        hinge is max_y L_i(y) [1 + F(x_i, y) - F(x_i, y_i)]; see :class:`SlackRescaling`, whose
        objects have the options of the search.
    surrogate : {"hinge", "log"}, default="hinge"
        What stands for the loss: the hinge, or the negative logarithm of the probability of the
        true labelling, :math:`\log \sum_y \exp F(x_i, y) - F(x_i, y_i)`, which makes the model a
        conditional random field: its probabilities need no calibration, see "likelihood" of
        :class:`CalibratedTagger`. There are no losses of labels then: `loss`, `class_weight`,
        `steps`, `sampling` and `cache` stay at their defaults; and None for `lam` means R^2 / (20
        n), or R^2 / (100 n) with a kernel. The log-sum over all labellings that agree with what is
        known takes the place of :math:`F(x_i, y_i)`: with unknown labels that is not convex, and no
        gap is a certificate. Hidden states are summed over, too. With a kernel labels must be
        known.
    solver : str or solver object, default="auto"
        Block-coordinate Frank-Wolfe ("bcfw"; "auto", except for few pairs), that with stored
        planes ("multi_plane"), batch Frank-Wolfe ("frank_wolfe"), stochastic subgradient
        ("subgradient"), cutting planes ("cutting_plane"), dual-decomposed training for very many
        labels ("gdmm"), its baseline with soft constraints ("soft_bcfw"), or an object of
        `sskit.solvers`, which has further options. With ``surrogate="log"`` limited-memory BFGS
        ("lbfgs"), or steps on the dual ("exponentiated_gradient"); "auto" takes these where they
        can be and are faster: see the page of the guide on likelihoods.
    steps : {"auto", "fw", "pairwise", "away"}, default="auto"
        Kind of step of the solver "bcfw"; see `sskit.solvers.BCFW`.
    sampling : {"auto", "permutation", "uniform", "gap", "max_gap"}, default="auto"
        Order of the training pairs for the solver "bcfw"; the first three also for "subgradient".
    cache : {"auto", True, False}, default="auto"
        Whether "bcfw" takes steps between stored planes if they promise enough, instead of calling
        the oracle.
    loss : str, array-like of shape (n_classes, n_classes) or dict, default="hamming_sum"
        Task loss of a sequence: "hamming", the fraction of wrong tokens, "hamming_sum", their
        number, or the sum of their costs. An array has costs by true label (row) and predicted one
        (column), in the order of ``classes_``, a dict of dicts by label, ``{true: {predicted:
        cost}}``, in which missing costs are 1. Costs are non-negative, and zero between a label
        and itself.
    class_weight : dict or "balanced", default=None
        Factors of the loss of a token by its true label, 1 for labels that a dict omits; a dict
        may name other labels too. "balanced" gives all labels equal weight.
    ignore_label : object, default=None
        A label in y for tokens without one: it does not count in the loss and in `score`. Training
        completes such labels, and those known as a set, by the best ones under the current
        weights, so transitions to these tokens are trained too. It may be of another type than the
        labels; None means that there is no such label.
    allowed_transitions : str or array-like of shape (n_classes, n_classes), default=None
        Which transitions, from row to column of the sorted labels, may occur, as booleans; None
        allows all. Or a scheme of tags, with its rules for transitions, the first and the last
        label: "bio" (also called "iob2"), "iob1", "bioes" ("iobes"), or "bilou", which is BIOES
        with the letters L and U. Can be set on a fitted estimator, for predictions.
    on_violation : {"raise", "repair", "ignore"}, default="raise"
        How to treat training labels that `allowed_transitions` does not allow: "raise" an error
        that names them; "repair" warns, and trains on allowed labels that differ from the given
        ones at as few tokens as possible; "ignore" trains as if all transitions were allowed, so
        that the rules apply to prediction only.
    n_states_per_label : int or dict, default=1
        Number of hidden states of each label; labels that a dict omits have one. Training
        completes the unknown state of each token by the best one, or sums over them with
        ``surrogate="log"``, and prediction returns the label of the best state. States have weights
        instead of labels. See the page of the guide on labels that are partly unknown.
    n_init : int, default=1
        Number of clusterings of the tokens of each label from which hidden states start. The model
        with the lowest objective is kept.
    kernel : {"linear", "rbf", "poly", "sigmoid", "precomputed"} or callable, default="linear"
        Kernel of two tokens, as in :class:`sklearn.svm.SVC`; a callable takes two matrices of
        rows. With "precomputed" the features of a token are its kernels with all training tokens.
        Parameters that a kernel does not have are ignored.
    gamma : {"scale", "auto"} or float, default="scale"
        Coefficient of the kernels "rbf", "poly" and "sigmoid", as in SVC.
    degree : int, default=3
        Degree of the kernel "poly".
    coef0 : float, default=0.0
        Constant of the kernels "poly" and "sigmoid".
    kernel_cache : float, default=500
        Memory for rows of the kernel matrix during a fit, in megabytes (2**20 bytes). Rows are
        kept in double precision if all fit, else in single precision.
    bounds : tuple (lower, upper) or dict of such tuples, default=None
        Box on the weights. A bound is a number, None, or an array over the flat weight vector
        (``coef_`` by columns, ``transitions_`` by rows, ``start_``, ``end_``, then ``triples_``
        or the table of each feature of edges, by rows); in a dict by the blocks "coef",
        "transitions", "start", "end", "triples" and "edge_coef" a bound has the shape of the block.
    prior : array-like of shape (n_weights,), dict or fitted estimator, default=None
        Weights w0 towards which the fit is regularised, by lam / 2 ||w - w0||^2; None is zero. A
        flat vector as for `bounds`, a dict of arrays by the names of fitted attributes, or a
        fitted estimator of this kind, or a pipeline that ends with one. Labels and features are
        aligned by ``classes_`` and ``feature_names_in_`` if data and prior have them: new ones
        start at zero, others are left out. See "Continue training" of the guide.
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
        raises an error that says what changed. If labels, or their states, are completed, it
        begins at the last completion. Not for solvers without dual variables: "subgradient",
        "cutting_plane", "gdmm", "soft_bcfw".
    beam_size : int, default=None
        Number of labels that `predict` and `score` keep at each token: those in which the best
        labellings of the tokens so far end. None keeps all, which gives the best labelling. With a
        beam the time for a token falls from n_classes^2 to beam_size * n_classes, and the result
        may score less; see :func:`sskit.oracles.beam_search`. `fit`, `predict_topk` and
        `decision_function` do not use it, so it can be set on a fitted estimator.
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
        Weights of the features of a token. With hidden states these and all other weights have
        rows for states: n_states instead of n_classes.
    support_ : ndarray of shape (n_support,)
        With a kernel, instead of ``coef_``: training tokens that have a coefficient.
    support_vectors_ : {ndarray, CSR matrix} of shape (n_support, n_features)
        Features of these tokens; without rows if the kernel is precomputed.
    n_support_ : ndarray of shape (n_classes,)
        Their numbers by true label.
    dual_coef_ : ndarray of shape (n_classes, n_support)
        Coefficients of their kernels.
    kernel_ : object
        The kernel, a callable of two matrices of rows.
    transitions_ : ndarray of shape (n_classes, n_classes)
        Weights of the transitions, from row to column.
    triples_ : ndarray of shape (n_classes, n_classes, n_classes)
        Weights of three labels in a row, in this order; only with ``order=2``.
    edge_coef_ : ndarray of shape (n_edge_features, n_classes, n_classes)
        Weights of the features of an edge, by the labels of its two tokens; only if X had pairs.
    allowed_transitions_ : ndarray of shape (n_classes, n_classes), bool, or None
        Which transitions predictions may have, by the parameter at the time of the fit; None if
        they may have all.
    allowed_start_, allowed_end_ : ndarray of shape (n_classes,), bool, or None
        Which labels a sequence may begin and end with; None if it may with any.
    start_, end_ : ndarray of shape (n_classes,)
        Weights of the first and of the last label.
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.
    n_states_ : ndarray of shape (n_classes,)
        Number of hidden states of each label; only if some label has several.
    state_labels_ : ndarray of shape (n_states,)
        The label of each state; without hidden states the same as ``classes_``.
    lam_ : float
        The regularisation strength that was used.
    dual_gap_ : float
        Duality gap P(w) - D, absolute: P(w) is at most this far above the optimum.
    primal_objective_, dual_objective_ : float
        P(w) and D.
    certified_ : bool
        Whether the gap is a certificate, from an exact pass with an oracle that is exact or bounds
        what it misses. With unknown labels it is that of the last round, for the labels completed
        in it.
    n_rounds_ : int
        Only by the hinge, with hidden states or unknown labels: number of rounds, in which they
        are completed and the model is trained, of the best start.
    round_objectives_ : ndarray of shape (`n_rounds_`,)
        In the same cases, P(w) at the end of each round, with the best completion under w as the
        truth. It never rises.
    stationary_ : bool
        In the same cases, whether the last round converged and its w completes the labels as they
        were in it. If not, it lowered P(w) by less than the tolerance, or passes, rounds or time
        ran out.
    n_iter_ : int
        Passes over the data, including an interrupted one.
    n_oracle_calls_ : int
        Calls of the oracle, including those of the exact passes.
    history_ : dict of ndarray
        Arrays of equal length, an entry for each exact pass: n_passes, n_oracle_calls, time
        (seconds), primal, dual, gap (absolute); and start and round with unknown labels.
    solver_ : solver object
        The solver that was used, with the value of every "auto".
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, if the sequences were data frames whose columns have strings as names, or
        tokens of which `vectorizer_` has made features.
    vectorizer_ : TokenVectorizer
        The vectoriser of tokens, if these were dicts of attributes or lists of strings.
    n_samples_seen_ : int or float
        Number of samples of the fit, or of all steps of `partial_fit` so far; the sum of their
        weights if they have some.
    n_edge_features_in_ : int
        Number of features of an edge seen in fit; only if X had pairs.
    edge_feature_names_in_ : ndarray of shape (`n_edge_features_in_`,)
        Their names, if the features of edges were data frames whose columns have strings as names.

    Raises
    ------
    ValueError
        In fit and predict, for wrong parameters or data, with the name of the item.

    References
    ----------
    Taskar, Guestrin, Koller (2003). Max-margin Markov networks. NIPS.

    Tsochantaridis, Joachims, Hofmann, Altun (2005). Large margin methods for structured and
    interdependent output variables. JMLR 6.

    Morency, Quattoni, Darrell (2007). Latent-dynamic discriminative models for continuous gesture
    recognition. CVPR (hidden states of labels).

    Examples
    --------
    >>> from sskit import SequenceTagger
    >>> from sskit.datasets import make_digit_strings
    >>> X, y = make_digit_strings(60, random_state=0)
    >>> tagger = SequenceTagger(random_state=0).fit(X[:50], y[:50])
    >>> tagger.predict(X[50:])[0].shape == y[50].shape
    True
    >>> tagger.certified_
    True
    """

    _summary_class = ChainSummary
    _latent = HiddenChains
    order: Literal[1, 2] = parameter(Options(Integral, {1, 2}), default=1)
    allowed_transitions: Scheme | ArrayLike | None = parameter(
        StrOptions(set(SCHEMES)), "array-like", None, default=None
    )
    on_violation: Literal["raise", "repair", "ignore"] = parameter(default="raise")
    beam_size: int | None = parameter(AT_LEAST_ONE, None, default=None)

    @with_callbacks
    def fit(
        self,
        X: Samples,
        y: Samples,
        sample_weight: ArrayLike | None = None,
        token_weight: Samples | None = None,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : list of n_samples matrices (T_i, n_features), or array (n_samples, T, n_features)
            Features of the tokens, dense or sparse; also a RaggedArray. Sequences without tokens
            are left out. float64, float32 or, if
            dense, float16 are read as they are, in a RaggedArray or an array without a copy, also
            memory-mapped; other numbers become float64. Tokens may be
            dicts of attributes or lists of strings, as
            :class:`~sskit.preprocessing.TokenVectorizer` takes them. All sequences may be pairs
            (features, edge_features) instead, with features (T_i - 1, n_edge_features) of the
            edges from each token to the next one.
        y : list of n_samples sequences (T_i,)
            Labels of the tokens, of any sortable type. An unknown label is `ignore_label`, and a
            partly known one a set or frozenset of labels, one of which is right.
        sample_weight : array-like of shape (n_samples,), default=None
            Non-negative weights of the sequences.
        token_weight : sequence of n_samples sequences (T_i,) of float, default=None
            Non-negative weights of the tokens: factors of their losses, besides those of the
            sequences and of classes.

        Returns
        -------
        self : object
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter or the data are wrong; the estimator is then unchanged.
        """
        return replace_fitted(self, self._fit(X, y, sample_weight, token_weight=token_weight))

    def _read(self, X, fitted=False):
        """Return checked sequences, and the features of their edges."""
        if fitted:
            return fitted_pairs(self, X)
        # rows that the vectoriser has just made are sound
        stacked, edges = (X, None) if type(X) is SoundArray else stack_pairs(X, allow_empty=True)
        if not stacked.offsets[-1]:
            check_filled(stacked.offsets, "X")
        if edges is not None:
            check_combinations(self, edges="features of edges")
        return stacked, edges

    def _answer_of_one(self, X):
        """Return what `predict` does of a sentence of dicts, or None."""
        return answer_of_tokens(self, X)

    def _best(self, X, known):
        """Return the best labels, or states, of all tokens by number, and where sequences begin."""
        data, edges = self._fitted_data(X)
        labels = None if known is not None else answer_of_one(best_labels, self, data, edges)
        if labels is not None:
            return labels, data.offsets
        decoder, offsets = self._decoder_of(data, edges, known)
        return decoder.best(), offsets

    def _rules(self, labels, checked):
        """Return allowed transitions, first and last labels; None each if all are."""
        if self.allowed_transitions is None:
            return None, None, None
        place = checked and checked.target.place_in(checked.offsets)
        return resolve_transitions(self.allowed_transitions, labels.values, place)

    def _settled(self, checked, summary):
        """Return data with labels that the rules allow, as `on_violation` says.

        Parameters
        ----------
        checked : TokenData
            Not changed.
        summary : ChainSummary
            Of all data.

        Returns
        -------
        checked : TokenData
            The same, or with other labels that are allowed, with a warning.
        summary : ChainSummary
            With balanced weights of classes by these.

        Raises
        ------
        ValueError
            Naming the first token whose label is not allowed.
        """
        checked, summary = super()._settled(checked, summary)
        target, offsets, rules = checked.target, checked.offsets, summary.options.rules
        if rules[0] is None or self.on_violation == "ignore":
            return checked, summary
        if target.possible is not None:
            check_possible(target.possible, offsets, *rules, "y", every=True)
            return checked, summary
        classes, labels = target.classes, target.labels
        tokens = find_violations(labels, offsets, *rules)
        if not len(tokens):
            return checked, summary
        if self.on_violation == "raise":
            name_of = row_namer("y", offsets)
            raise violation_error(tokens, labels, offsets, classes, rules, name_of, RULES_HINT)
        kinds = kinds_of(classes) if isinstance(self.allowed_transitions, str) else None
        repaired = repair(tokens, labels, offsets, *rules, kinds)
        changed = np.flatnonzero(repaired != labels)
        i, t = locate(offsets, changed[0])
        old, new = classes[labels[changed[0]]], classes[repaired[changed[0]]]
        warn(
            f"{len(changed)} labels that allowed_transitions does not allow were changed for "
            f"training, the first of them y[{i}][{t}] from {old} to {new}"
        )
        checked = replace(checked, target=replace(target, labels=repaired))
        if self.class_weight == "balanced":  # the data are in one piece
            counted = counted_weight(checked.weight, checked.data.lengths)
            costs = decided_costs(self, Labels.of(classes, repaired, counted))
            summary = replace(summary, options=replace(summary.options, **costs))
        return checked, summary

    def _statistics(self, X, stacked, edges, weight):
        """Return further fields of the summary: the scale of features, and what edges have."""
        scale = None if has_kernel(self) else token_scale(stacked, weight)
        if edges is None:
            return {"scale": scale, "n_edge_features": None, "edge_feature_names": None}
        names = edge_column_names(X)
        return {
            "scale": edge_scale(stacked, edges, weight, scale),
            "n_edge_features": edges.shape[1],
            "edge_feature_names": None if names is None else tuple(names),
        }

    def _model(self, summary, X):
        """Return the model of data with this summary, and fitted attributes beside its weights."""
        states, rules, of_states = summary.options.states, summary.options.rules, ()
        fitted, n_states = dict(zip(RULES, rules, strict=True)), len(states.labels)
        if rules[0] is not None and self.on_violation != "ignore":
            of_states = states.lifted(rules)
        if has_kernel(self):
            sizes = X.shape[0], n_states, kernel_bytes(self)
            return KernelChainModel(make_kernel(self, X), *sizes, *of_states), fitted
        n_edge_features, names = summary.n_edge_features, summary.edge_feature_names
        if n_edge_features is not None:
            fitted["n_edge_features_in_"] = n_edge_features
        if names is not None:
            fitted["edge_feature_names_in_"] = np.array(names, dtype=object)
        sizes = {"order": self.order, "n_edge_features": n_edge_features}
        return ChainModel(summary.n_features, n_states, *of_states, **sizes), fitted

    _request = fitted_request
    _terms = terms_of
