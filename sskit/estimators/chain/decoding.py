"""Decoding: the labels of new sequences by a fitted SequenceTagger."""

from functools import lru_cache

import numpy as np
from scipy.sparse import issparse

from sskit._labels import object_array
from sskit._parameters import check_constraints
from sskit._ready import all_within
from sskit.estimators.base.fitted_state import LARGEST, check_count, check_weights
from sskit.estimators.base.kernels import function_values
from sskit.estimators.combinations import check_combinations
from sskit.estimators.explanation.explain import Terms
from sskit.inputs.chains.pairs import stack_pairs
from sskit.inputs.frames import check_columns, edge_column_names
from sskit.inputs.ragged_array import RaggedArray, SoundArray
from sskit.inputs.token_vectorizer import TokenVectorizer
from sskit.models.chain.model import ChainModel, check_lengths, make_request
from sskit.models.chain.one_sentence import labels_of_tokens
from sskit.models.chain.transitions import check_possible, resolve_transitions

# Parameters that may be set after the fit
USED_BY_PREDICT = ("beam_size", "allowed_transitions")
# Attributes of models that are not the simplest
UNUSUAL = {"n_states_", "triples_", "edge_coef_"}


def fitted_request(tagger, stacked, edges, n_states, states, possible):
    """Return the request of sequences that a fitted tagger is to label.

    Parameters
    ----------
    tagger : SequenceTagger
        The estimator.
    stacked : RaggedArray
        Features of the tokens, checked.
    edges : matrix of shape (n_edges, q) or None
        Features of the edges, checked.
    n_states : int
        Number of labels, or of their states.
    states : LabelStates or None
        Of which labels the states are.
    possible : ndarray of shape (n_tokens, n_states), bool, or None
        Which of them are possible.

    Returns
    -------
    request : Request
        Of the sequences that are not empty.

    Raises
    ------
    ValueError
        Naming the parameter, attribute or sequence that is wrong.
    """
    # set since the fit, perhaps; None, that of most, is always right
    changed = [name for name in USED_BY_PREDICT if getattr(tagger, name) is not None]
    if changed:
        check_constraints(tagger, *changed)
    if "triples_" in vars(tagger):
        check_combinations(tagger, order="order=2")
    rules, offsets = fitted_rules(tagger, states), stacked.offsets
    if len(offsets) > 2 or not offsets[-1]:
        stacked = RaggedArray(stacked.values, np.unique(offsets))
    if rules[0] is not None:
        check_lengths(stacked.lengths, *rules)
        if possible is not None:
            check_possible(possible, offsets, *rules)
    stacked, weights = fitted_weights(tagger, stacked, n_states)
    changed = {"edges": edges, "rules": rules, "possible": possible, "beam_size": tagger.beam_size}
    return make_request(stacked, weights, **changed)


def fitted_weights(tagger, stacked, n_states):
    """Return features of tokens and the weights of a fitted tagger by block, which are checked.

    The values of the functions of a kernel space are all that labels need: features of weight one.
    """
    fitted = vars(tagger)
    sizes = stacked.values.shape[1], n_states, "triples_" in fitted
    layout = fitted_layout(*sizes, fitted.get("n_edge_features_in_"), "coef_" in fitted)
    weights = check_weights(tagger, layout)
    if "coef_" in fitted:
        return stacked, weights
    values = function_values(tagger, stacked.values, n_states)
    return RaggedArray(values, stacked.offsets), weights | {"coef": np.eye(n_states)}


@lru_cache(maxsize=32)  # sentences come one by one
def fitted_layout(n_features, n_states, has_triples, n_edge_features, has_coef):
    """Return the layout of the weights of a fitted tagger, which is not to be changed."""
    model = ChainModel(n_features, n_states, order=1 + has_triples, n_edge_features=n_edge_features)
    if not has_coef:
        del model.layout.shapes["coef"]
    return model.layout


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
        return X, None  # the most frequent request
    if n_edge_features is not None:
        check_count(estimator, "n_edge_features_in_")
    sizes = {"n_features": estimator.n_features_in_, "n_edge_features": n_edge_features}
    stacked, edges = stack_pairs(X, **sizes, estimator_name=name, allow_empty=True)
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


def is_simplest(tagger):
    """Return whether a tagger has weights, and no more parts than most have."""
    fitted = vars(tagger)
    return (
        "coef_" in fitted
        and UNUSUAL.isdisjoint(fitted)
        and tagger.beam_size is None
        and tagger.allowed_transitions is None
    )


def answer_of_one(function, tagger, stacked, edges, *further):
    """Return what a function finds for a single sequence if all is as it mostly is, or None.

    Then there is one sequence of sparse rows, and the weights are those of a fit without hidden
    states, kernel, features of edges, rules of transitions, a beam or three labels in a row.

    Parameters
    ----------
    function : callable
        `best_labels`, or another function that takes the same.
    tagger : SequenceTagger
        Fitted; what is wrong with its attributes is for `fitted_request` to find.
    stacked : RaggedArray
        Features of the tokens, checked.
    edges : matrix of shape (n_edges, q) or None
        Features of the edges, checked.
    *further : object
        What the function takes besides.

    Returns
    -------
    answer : ndarray or None
        What the function returns.
    """
    rows = stacked.values
    if (
        type(stacked) is not SoundArray
        or len(stacked.offsets) != 2
        or not issparse(rows)
        or edges is not None
        or not is_simplest(tagger)
    ):
        return None
    matrix = rows.data, rows.indices, rows.indptr.astype(np.int64, copy=False)
    others = tagger.transitions_, tagger.start_, tagger.end_
    try:
        fits = rows.shape[1] == tagger.coef_.shape[1] and tagger.classes_.shape == others[2].shape
        if fits and all(all_within(weights, LARGEST) for weights in others):
            return function(*matrix, tagger.coef_, *others, *further)
    except (AttributeError, TypeError, ValueError):  # of another type than after a fit
        pass
    return None


def answer_of_tokens(tagger, X):
    """Return what `predict` does of one sentence of dicts if all is as in `answer_of_one`, or None.

    No array is made but those of the answer, and nothing is called that is not needed: each step
    of the general way takes as long as a short sentence.

    Parameters
    ----------
    tagger : SequenceTagger
        Fitted, or not; what is wrong with it is for the general way to find.
    X : object
        As users give it.

    Returns
    -------
    y : ndarray of shape (1,), object, or None
        The labels of the sentence.

    Raises
    ------
    TypeError, ValueError
        Naming the first attribute of a token that is not as it should be.
    """
    if type(X) is not list or len(X) != 1 or type(X[0]) is not list or not X[0]:
        return None
    fitted = vars(tagger)
    vectorizer, classes = fitted.get("vectorizer_"), fitted.get("classes_")
    if (
        type(X[0][0]) is not dict
        or type(vectorizer) is not TokenVectorizer
        or vectorizer.dtype is not np.float64
        or type(classes) is not np.ndarray
        or not is_simplest(tagger)
    ):
        return None
    others = fitted.get("transitions_"), fitted.get("start_"), fitted.get("end_")
    columns = vectorizer._known_columns()
    labels = labels_of_tokens(columns, X, classes, tagger.coef_, *others, LARGEST)
    return None if labels is None else object_array([labels])


def terms_of(tagger, sample):
    """Return the `Terms` of the scores of a list of one sequence."""
    stacked, edge_features = tagger._fitted_data(sample)
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


def fitted_rules(tagger, states=None):
    """Return the transitions, first and last labels that prediction keeps to.

    Those of the parameter, which may have been set since the fit.
    """
    rules = resolve_transitions(tagger.allowed_transitions, tagger.classes_)
    return rules if states is None else states.lifted(rules)
