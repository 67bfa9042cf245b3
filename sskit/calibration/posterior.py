"""Probabilities of labellings of sequences or trees under a calibrated tagger."""

import numpy as np

from sskit._labels import object_array
from sskit._meta_estimators import unwrap
from sskit._ready import all_within
from sskit._tag_schemes import find_spans, parse_tags
from sskit.estimators.chain.decoding import answer_of_one, fitted_rules, fitted_weights
from sskit.estimators.chain.tagger import SequenceTagger
from sskit.estimators.combinations import check_combinations
from sskit.estimators.completion.states import fitted_states
from sskit.estimators.segments import SegmentTagger
from sskit.estimators.tree import TreeTagger
from sskit.inputs.chains.segments import spans_of
from sskit.inputs.labels.known import check_known
from sskit.inputs.ragged import stack_labels
from sskit.inputs.ragged_array import locate, make_offsets, split
from sskit.metrics import token_accuracy_score
from sskit.models.calibration.likelihood import Target
from sskit.models.calibration.scores import Calibration, Scores, find_steps
from sskit.models.calibration.segments import SegmentScores, SegmentTarget
from sskit.models.chain.one_sentence import label_marginals
from sskit.models.request import row_scores


class Posterior:
    """Base: scores of the labellings of sequences or trees, and once inferred their probabilities.

    Parameters
    ----------
    tagger : estimator
        The fitted tagger.
    scores : Scores or SegmentScores
        Of the tagger, for all sequences or trees.
    classes : ndarray of shape (K,)
        All labels, sorted.

    Attributes
    ----------
    offsets : ndarray of shape (n + 1,)
        Where sequences or trees begin.
    calibration : Calibration
        The transformation of the scores.
    possible : ndarray of shape (N, K), bool, or None
        Labels that are possible at each token; None means all.
    log_z : ndarray of shape (n,)
        Logarithms of the sums over all labellings.
    marginals : ndarray of shape (N, S) or None
        Probabilities of the states of tokens, if they were requested.
    """

    def __init__(self, tagger, scores, classes):
        self.tagger, self.scores, self.classes = tagger, scores, classes
        self.offsets = scores.offsets

    @classmethod
    def check_risk(cls, tagger, risk):
        """Raise ValueError if a risk is not defined for such labellings."""
        if risk == cls.foreign_risk:
            raise ValueError(f"risk={risk!r} is not for a {type(tagger).__name__}: {cls.advice}")

    def infer(self, calibration, known, n_jobs, marginals):
        """Compute log Z, and the marginals on request; `known` is as users give it, or None."""
        scores, self.calibration, self.n_jobs = self.scores, calibration, n_jobs
        self.possible = None
        if known is not None:
            self.possible = check_known(known, np.diff(self.offsets), self.classes)
        inferred = scores.infer(calibration, self.possible, marginals=marginals, n_jobs=n_jobs)
        self.log_z, self.marginals, _ = inferred
        impossible = np.flatnonzero(~(self.log_z > -np.inf))
        if len(impossible):
            if self.possible is None:
                raise ValueError(f"X[{impossible[0]}] has no labelling that the model allows")
            raise ValueError(f"known[{impossible[0]}] leaves no labelling that the model allows")

    def decoder(self, calibration=None):
        """Return the request for labellings, calibrated as inferred or otherwise."""
        calibration = self.calibration if calibration is None else calibration
        return self.scores.decoder(calibration, self.possible, self.n_jobs)

    def by_label(self):
        """Return the probabilities of the labels of tokens, (N, K)."""
        return self.scores.by_label(self.marginals)


class TokenPosterior(Posterior):
    """Probabilities of labels of tokens, or of nodes of trees."""

    foreign_risk = "segments"
    advice = "its labels are those of tokens; use 'tokens', or a SegmentTagger"
    has_matrix = True

    def target(self, y, weight):
        """Return the `Target` of true labels."""
        scores = self.scores
        possible = possible_labels(y, scores, self.classes, self.tagger.ignore_label)
        # labels that this model cannot predict do not count
        possible[~possible[:, scores.owner].any(axis=1)] = True
        return Target(scores, possible, weight)

    def best(self, risk):
        """Return the labels of the least risk, (N,), by their places among the classes."""
        scores = self.scores
        if risk == "tokens":
            return self.by_label().argmax(axis=1)
        plain = None
        if risk is None:
            plain = Calibration.scaled(1.0, len(self.classes), len(scores.tables))
        return scores.owner[self.decoder(plain).best()]

    def labels(self, labelling):
        """Return labellings in the form of y."""
        return split(self.classes[labelling], self.offsets)

    def log_probability(self, y):
        """Return the logarithms of the probabilities of labels, or of those that are known."""
        possible = check_known(y, np.diff(self.offsets), self.classes, "y")
        agreeing, *_ = self.scores.infer(
            self.calibration, possible, marginals=False, n_jobs=self.n_jobs
        )
        return agreeing - self.log_z

    def sample(self, uniform):
        """Return labellings drawn by numbers of [0, 1), (n_samples, N), for each sequence."""
        states = self.decoder().sample(uniform)
        labels = self.classes[self.scores.owner[states]]
        columns = np.split(labels, self.offsets[1:-1], axis=1)
        return object_array([np.ascontiguousarray(some) for some in columns])

    def score(self, y, labelling, sample_weight):
        """Return the token accuracy of labellings."""
        ignored, predicted = self.tagger.ignore_label, self.labels(labelling)
        return token_accuracy_score(y, predicted, ignore_label=ignored, sample_weight=sample_weight)

    def spans(self, y, scheme):
        """Return the spans that labels describe, each with its probability."""
        scores, offsets = self.scores, self.offsets
        if scores.forest is not None:
            raise ValueError("spans are those of sequences: trees have none")
        if scheme is None:
            rules = getattr(self.tagger, "allowed_transitions", None)
            scheme = rules if isinstance(rules, str) else "bio"

        def name_of(t):
            return "y[{}][{}]".format(*locate(offsets, t))

        owner = scores.owner
        prefix, kind, own = parse_tags(self.classes, scheme, lambda k: f"classes_[{k}]")
        # the rules of conlleval, as `sskit.metrics.spans` has them
        opens, goes_on = np.isin(prefix, (1, 2))[owner], np.isin(prefix, (2, 3))[owner]
        states = {name: np.flatnonzero(kind[owner] == k) for k, name in enumerate(own)}
        prefix, kind, names = parse_tags(stack_labels(y, np.diff(offsets)), scheme, name_of)
        start, stop, kind = find_spans(prefix, kind, offsets)
        first = np.searchsorted(start, offsets)
        potentials = scores.arrays(self.calibration, self.possible)
        out = [[] for _ in offsets[1:]]
        for i in np.flatnonzero(np.diff(first)).tolist():
            inferred, steps = scores.neighbours(self.calibration, potentials, i), {}
            for j in range(first[i], first[i + 1]):
                name, a, b = names[kind[j]], int(start[j] - offsets[i]), int(stop[j] - offsets[i])
                if name not in steps:
                    own = states.get(name, np.empty(0, dtype=np.intp))  # other kinds have none
                    inside = opens[own][:, None] & goes_on[own]
                    steps[name] = find_steps(*inferred, own, inside)
                out[i].append((name, a, b, min(steps[name].probability(a, b), 1.0)))
        return object_array(out)


class SegmentPosterior(Posterior):
    """Probabilities of segments; labellings are codes, as those of `SegmentModel`."""

    foreign_risk = "tokens"
    advice = "labels of tokens are no segments; use 'segments'"
    has_matrix = False

    def target(self, y, weight):
        """Return the `SegmentTarget` of true segments."""
        codes, able = true_codes(self.tagger, y, self.offsets)
        return SegmentTarget(self.scores, codes, np.where(able, weight, 0.0))

    def best(self, risk):
        """Return the segments of the least risk."""
        if risk == "segments":
            outside = self.tagger.outside_
            return self.scores.least_risk(self.calibration, self.possible, outside)
        return self.decoder().best()  # one factor of all scores changes no best one

    def labels(self, labelling):
        """Return labellings in the form of y."""
        return self.tagger._answers(labelling, self.offsets)

    def log_probability(self, y):
        """Return the logarithms of the probabilities of segments; -inf if the model has none."""
        codes, able = true_codes(self.tagger, y, self.offsets)
        scores = self.scores.code_scores(self.calibration, codes)
        return np.where(able, scores - self.log_z, -np.inf)

    def sample(self, uniform):
        """Return labellings drawn by numbers of [0, 1), (n_samples, N), for each sequence."""
        drawn = np.split(self.decoder().sample(uniform), self.offsets[1:-1], axis=1)
        return object_array([self.tagger._several(codes) for codes in drawn])

    def score(self, y, labelling, sample_weight):
        """Return the F1 score of labellings."""
        return self.tagger._f1(y, labelling, self.offsets, sample_weight)

    def spans(self, y, scheme):
        """Return the segments of y, each with its probability; the scheme is that of the tagger."""
        true, out = self.tagger._read_true(y, self.offsets), []
        place = {label: k for k, label in enumerate(self.tagger.classes_.tolist())}
        fractions = self.scores.fractions(self.calibration, self.possible)
        spans = true.known_segments(self.offsets, self.tagger.outside)
        for some, table in zip(spans, fractions, strict=True):
            spans_of = []
            for start, stop, label in some:
                k, d = place.get(label, -1), stop - start - 1
                can = k >= 0 and d < table.shape[1]
                p = min(float(table[start, d, k]), 1.0) if can else 0.0
                spans_of.append((label, start, stop, p))
            out.append(spans_of)
        return object_array(out)


def posterior_class(tagger):
    """Return the class for the labellings of a tagger."""
    return SegmentPosterior if isinstance(tagger, SegmentTagger) else TokenPosterior


def posterior_of(estimator, X, classes):
    """Return the probabilities of labellings of data under the tagger that an estimator ends in."""
    tagger = inner_tagger(estimator)
    return posterior_class(tagger)(tagger, scores_of(estimator, X, classes), classes)


def inner_tagger(estimator):
    """Return the tagger that an estimator is, or ends in."""
    *_, (tagger, _) = unwrap(estimator)
    return tagger


def scores_of(estimator, X, classes):
    """Return the scores of a fitted estimator among labels, of which it may lack some.

    Parameters
    ----------
    estimator : estimator
        Fitted; a tagger, or an estimator that ends in one.
    X : object
        What it takes.
    classes : ndarray of shape (K,)
        Labels, sorted.

    Returns
    -------
    scores : Scores
    """
    *_, (tagger, X) = unwrap(estimator, X)
    if isinstance(tagger, SegmentTagger):
        stacked, lengths, *bound = tagger._fitted_data(X)
        owner = np.searchsorted(classes, tagger.classes_)
        return SegmentScores(
            bound[0], stacked, make_offsets(lengths), *bound[1:], owner, len(classes)
        )
    data, edges = tagger._fitted_data(X)
    decoder, offsets = tagger._decoder_of(data, edges, None)
    offsets = np.asarray(offsets, dtype=np.int64)
    place = np.searchsorted(classes, tagger.classes_)
    states = vars(tagger).get("n_states_")
    owner = place if states is None else np.repeat(place, states)
    labels = {"owner": owner, "n_labels": len(classes)}
    if isinstance(tagger, TreeTagger):
        trees = data
        codes, tables = trees.codes(tagger.edge_kinds_), np.array(tagger.transitions_)
        if codes is None:
            codes, tables = np.zeros(len(trees.ends), dtype=np.int32), tables[None]
        nodes = getattr(decoder, "inner", decoder).node_scores()
        ends = np.ascontiguousarray(trees.ends, dtype=np.int32).reshape(-1, 2)
        edges = np.asarray(trees.edge_offsets, dtype=np.int64)
        forest = ends, edges, np.ascontiguousarray(codes, dtype=np.int32)
        zeros = np.zeros((2, len(owner)))
        return Scores(nodes, offsets, tables, *zeros, forest=forest, **labels)
    nodes, transitions, start, end = score_tables(tagger, data, edges)
    if edges is not None:
        edges = edges, np.asarray(tagger.edge_coef_, dtype=np.float64)
    triples = getattr(tagger, "triples_", None)
    further = {"edge_scores": edges, "triples": triples, **labels}
    return Scores(nodes, offsets, transitions[None], start, end, **further)


def score_tables(tagger, stacked, edges):
    """Return the scores of a fitted tagger by themselves, for sequences that have been checked.

    Parameters
    ----------
    tagger : SequenceTagger
        The estimator.
    stacked : RaggedArray
        Features of the tokens.
    edges : matrix of shape (n_edges, q) or None
        Features of the edges.

    Returns
    -------
    nodes : ndarray of shape (n_tokens, n_states)
        Those of the features of the tokens; states are those of labels, or labels themselves.
    transitions : ndarray of shape (n_states, n_states)
        Those of the transitions, -inf where forbidden.
    start, end : ndarray of shape (n_states,)
        Those of the first and of the last state, likewise.
    """
    n_states = len(tagger.start_)
    nodes = np.empty((0, n_states))
    if stacked.values.shape[0]:
        stacked, weights = fitted_weights(tagger, stacked, n_states)
        nodes = row_scores(stacked.values, weights["coef"])
    others = tagger.transitions_, tagger.start_, tagger.end_
    rules = fitted_rules(tagger, fitted_states(tagger)[1])
    if rules[0] is not None:
        others = map(np.where, rules, others, (-np.inf,) * 3)
    return nodes, *map(np.array, others)


def proba_of_one(tagger, X, classes, calibration):
    """Return the probabilities of the labels of a single sequence in the most frequent case.

    Parameters
    ----------
    tagger : estimator
        Fitted.
    X : object
        What it takes.
    classes : ndarray of shape (K,)
        All labels, sorted.
    calibration : Calibration
        The transformation of the scores.

    Returns
    -------
    p : ndarray of shape (1,), object, or None
        Of an ndarray of shape (n_tokens, K). None unless all scores have one factor, and there is
        one sequence such as `answer_of_one` takes.
    """
    c = calibration
    if (
        type(tagger) is not SequenceTagger
        or not hasattr(X, "__len__")
        or len(X) != 1
        or c.coef.ndim
        or c.coef != c.pairs
        or any(has_numbers(added) for added in (c.bias, c.transitions, c.start, c.end))
        or not are_same(tagger.classes_, classes)
    ):
        return None
    data, edges = tagger._fitted_data(X)
    marginals = answer_of_one(label_marginals, tagger, data, edges, float(c.pairs))
    return None if marginals is None else object_array([marginals])


def has_numbers(array):
    """Return whether an array has a number other than zero."""
    return not all_within(array, 0.0) and array.any()


def are_same(one, other):
    """Return whether two arrays of labels are equal; of those of a fit the bytes are, too."""
    if type(one) is np.ndarray and one.dtype == other.dtype and one.dtype.kind in "UiSb":
        return one.tobytes() == other.tobytes() and one.shape == other.shape
    return np.array_equal(one, other)


def true_codes(tagger, y, offsets):
    """Return true segmentations as labellings (N,), and which a fitted tagger can have (n,).

    Of the others the labellings have no meaning.
    """
    true = tagger._read_true(y, offsets)
    if true.unknown is not None:
        asked = {"of segments": "probabilities of segments", "unknown": "segments not known in y"}
        check_combinations(tagger, **asked)
    classes, codes = true.classes, true.codes
    place = {label: k for k, label in enumerate(tagger.classes_.tolist())}
    places = np.array([place.get(label, -1) for label in classes.tolist()], dtype=np.int32)
    kinds = places[codes >> 1]
    starts, sizes = spans_of(codes)
    wrong = (kinds[starts] < 0) | (sizes > tagger.max_length_[kinds[starts]])
    sequence = np.searchsorted(offsets, starts, side="right") - 1
    able = np.bincount(sequence[wrong], minlength=len(offsets) - 1) == 0
    return (2 * np.maximum(kinds, 0) + (codes & 1)).astype(np.int32), able


def possible_labels(y, scores, classes, ignored, name="y"):
    """Return which labels true labels may be, where some are not known.

    Parameters
    ----------
    y : sequence of n sequences (T_i,)
        Labels; None, what is ignored and labels that no model knows count as not known, sets of
        labels as one of them.
    scores : Scores
        Of the same sequences.
    classes : ndarray of shape (K,)
        Labels, sorted.
    ignored : object
        The label that stands for one that is not known; None if there is none.
    name : str
        What error messages call y.

    Returns
    -------
    possible : ndarray of shape (N, K), bool
    """
    allowed = check_known(list(y), np.diff(scores.offsets), classes, name, ignored, lenient=True)
    return np.ones((scores.offsets[-1], len(classes)), dtype=bool) if allowed is None else allowed
