"""How a fitted SequenceTagger labels: what its weights and parameters say of new sequences."""

import numpy as np

from sskit.estimators.base.combinations import check_combinations
from sskit.estimators.base.estimator import check_constraints
from sskit.estimators.base.fitted_state import check_count, check_fitted, check_numbers
from sskit.estimators.base.kernels import function_values
from sskit.estimators.base.tagging import check_chain, check_modest
from sskit.estimators.completion.states import StateDecoder, fitted_states, known_states
from sskit.estimators.reasons.columns import as_fitted, check_columns, edge_column_names
from sskit.estimators.reasons.explain import Terms
from sskit.inputs.chains.gate import stack_pairs
from sskit.inputs.ragged_array import RaggedArray, SoundArray
from sskit.models.chain.model import check_lengths, make_request
from sskit.models.chain.transitions import check_possible, resolve_transitions
from sskit.models.request import Decoder, row_scores

# Parameters that may be set after the fit
USED_BY_PREDICT = ("beam_size", "allowed_transitions")


def fitted_decoder(tagger, X, known=None):
    """Check sequences that a fitted tagger is to label.

    Parameters
    ----------
    tagger : SequenceTagger
        The estimator.
    X : object
        As `predict` takes it.
    known : object, default=None
        As `predict` takes it.

    Returns
    -------
    decoder : object
        Gives labellings, max-marginals and the like of the sequences that are not empty.
    offsets : ndarray of shape (n + 1,)
        Where all sequences begin.

    Raises
    ------
    ValueError
        Naming the parameter, attribute or sequence that is wrong.
    """
    check_fitted(tagger)
    # set since the fit, perhaps; None, that of most, is always right
    given = [name for name in USED_BY_PREDICT if getattr(tagger, name) is not None]
    if given:
        check_constraints(tagger, *given)
    X = as_fitted(tagger, X)
    stacked, edges = fitted_pairs(tagger, X)
    n_classes, modest = check_chain(tagger)
    offsets = stacked.offsets
    lengths = None if known is None else stacked.lengths
    states, possible = known_states(tagger, known, lengths, "token")
    if len(offsets) > 2 or not offsets[-1]:
        stacked = RaggedArray(stacked.values, np.unique(offsets))
    rules = _rules(tagger, states, modest)
    if rules[0] is not None:
        check_lengths(stacked.lengths, *rules)
        if possible is not None:
            check_possible(possible, offsets, *rules)
    stacked, coef = _linear(tagger, stacked, n_classes)
    weights = {"transitions": tagger.transitions_, "start": tagger.start_, "end": tagger.end_}
    names, n_states = ["coef_"], len(coef)
    if edges is not None:
        shape = tagger.n_edge_features_in_, n_states, n_states
        check_numbers(tagger, {"edge_coef_": shape}, finite=False)
        weights |= {"edges": edges, "tables": tagger.edge_coef_}
        names.append("edge_coef_")
    if "triples_" in vars(tagger):
        check_combinations(tagger, order="order=2")
        check_numbers(tagger, {"triples_": (n_states,) * 3})
        weights["triples"] = tagger.triples_
    request = make_request(
        stacked, coef, **weights, rules=rules, possible=possible, beam_size=tagger.beam_size
    )
    check_modest(tagger, request, names)
    decoder = Decoder(request, tagger.n_jobs)
    if states is not None:
        decoder = StateDecoder(decoder, states)
    return decoder, offsets


def fitted_pairs(estimator, X):
    """Return sequences to predict, checked, and the features of their edges.

    Parameters
    ----------
    estimator : SequenceTagger
        Fitted.
    X : object
        As users give it.

    Returns
    -------
    stacked : RaggedArray
        Features of the tokens.
    edges : matrix of shape (n_edges, q) or None
        Features of the edges; None if the estimator was fitted without.

    Raises
    ------
    ValueError
        If X is wrong, or has features of edges where the training data had none, or the other way.
    """
    n_edge_features, name = vars(estimator).get("n_edge_features_in_"), type(estimator).__name__
    if n_edge_features is None and type(X) is SoundArray:
        return X, None  # what is served most
    if n_edge_features is not None:
        check_count(estimator, "n_edge_features_in_")
    stacked, edges = stack_pairs(
        X,
        n_features=estimator.n_features_in_,
        n_edge_features=n_edge_features,
        estimator_name=name,
        allow_empty=True,
    )
    names = vars(estimator).get("edge_feature_names_in_")
    if names is not None:
        check_columns(edge_column_names(X), names, name, "the edge features of X")
    if (edges is None) != (n_edge_features is None):
        has, fitted = ("no", "with") if edges is None else ("", "without")
        raise ValueError(
            f"X has {has + ' ' if has else ''}features of edges, but this {name} was fitted "
            f"{fitted} them"
        )
    return stacked, edges


def terms_of(tagger, sample):
    """Return the `Terms` of the scores of a list of one sequence."""
    stacked, edge_features = fitted_pairs(tagger, as_fitted(tagger, sample))
    nodes, sides = np.arange(stacked.offsets[-1])[:, None], ("after", "before")
    edges = np.hstack([nodes[:-1], nodes[1:]])
    terms = [
        Terms("feature", ("features",), nodes, tagger.coef_, stacked.values),
        Terms("start", ("bias",), nodes[:1], tagger.start_),
        Terms("end", ("bias",), nodes[-1:], tagger.end_),
        Terms("transition", sides, edges, tagger.transitions_),
    ]
    if edge_features is not None:
        tables = np.moveaxis(tagger.edge_coef_, 0, -1)
        terms.append(Terms("edge", sides, edges, tables, edge_features))
    if "triples_" in vars(tagger):
        groups, triples = ("after", "around", "before"), np.hstack([edges[:-1], nodes[2:]])
        terms.append(Terms("triple", groups, triples, tagger.triples_))
    return terms


def score_tables(tagger, X):
    """Return the scores of a fitted tagger by themselves, for sequences that have been checked.

    Parameters
    ----------
    tagger : SequenceTagger
        The estimator.
    X : object
        As `fitted_decoder` takes it.

    Returns
    -------
    nodes : ndarray of shape (n_tokens, n_states)
        Those of the features of the tokens; states are those of labels, or labels themselves.
    transitions : ndarray of shape (n_states, n_states)
        Those of the transitions, -inf where forbidden.
    start, end : ndarray of shape (n_states,)
        Those of the first and of the last state, likewise.
    edges : matrix of shape (n_edges, q) or None
        Features of the edges.
    """
    stacked, edges = fitted_pairs(tagger, X)
    nodes = np.empty((0, len(tagger.start_)))
    if stacked.values.shape[0]:
        stacked, coef = _linear(tagger, stacked, len(tagger.classes_))
        nodes = row_scores(stacked.values, coef)
    others = tagger.transitions_, tagger.start_, tagger.end_
    rules = _rules(tagger, fitted_states(tagger))
    if rules[0] is not None:
        others = map(np.where, rules, others, (-np.inf,) * 3)
    return nodes, *map(np.array, others), edges


def _linear(tagger, stacked, n_classes):
    """Return features and weights whose products are the scores of labels.

    The values of the functions of a kernel space are all that labels need: features of weight one.
    """
    coef = getattr(tagger, "coef_", None)
    if coef is None:
        values = function_values(tagger, stacked.values, n_classes)
        return RaggedArray(values, stacked.offsets), np.eye(n_classes)
    shape = len(tagger.start_), stacked.values.shape[1]
    check_numbers(tagger, {"coef_": shape}, finite=False)
    return stacked, coef


def _rules(tagger, states, modest=False):
    """Return the transitions, first and last labels that prediction keeps to.

    Those of the parameter, which may have been set since the fit, and without those to whom a
    weight of -inf has been given, if weights are not known to be `modest`.
    """
    rules = resolve_transitions(tagger.allowed_transitions, tagger.classes_)
    if states is not None:
        rules = states.lifted(rules)
    if modest:
        return rules
    last = np.ones(len(tagger.start_), dtype=bool)
    finite = tagger.transitions_ > -np.inf, tagger.start_ > -np.inf, last
    if all(some.all() for some in finite):
        return rules
    return finite if rules[0] is None else tuple(map(np.logical_and, rules, finite))
