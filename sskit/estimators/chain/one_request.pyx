"""The most frequent request of a fitted SequenceTagger: one sentence of dicts of attributes."""

import numpy as np

from sskit.estimators.base.fitted_state import LARGEST
from sskit.inputs.token_vectorizer import TokenVectorizer
from sskit.models.chain.one_sentence import labels_of_tokens

cdef object EMPTY = np.empty
cdef object OBJECT = np.dtype(object)
cdef object FLOAT64 = np.float64
cdef type NDARRAY = np.ndarray
# Attributes of models that are not the simplest
cdef tuple UNUSUAL = ("n_states_", "triples_", "edge_coef_", "n_edge_features_in_")


def answer_of_tokens(tagger, X):
    """Return what `predict` does of a single sentence of dicts, if all is as it mostly is, or None.

    That is as `answer_of_one` has it. No array is made but those of the answer, and nothing is
    called that is not needed: each step of the general way takes as long as a short sentence.

    Parameters
    ----------
    tagger : SequenceTagger
        Fitted, or not.
    X : object
        As users give it.

    Returns
    -------
    y : ndarray of shape (1,), object, or None
        None too where something is wrong, which the general way finds.

    Raises
    ------
    TypeError, ValueError
        Naming the first attribute of a token that is not as it should be.
    """
    cdef dict fitted, own
    if type(X) is not list or len(<list>X) != 1:
        return None
    sentence = (<list>X)[0]
    if type(sentence) is not list or len(<list>sentence) == 0:
        return None
    if type((<list>sentence)[0]) is not dict:
        return None
    fitted = tagger.__dict__
    vectorizer, classes = fitted.get("vectorizer_"), fitted.get("classes_")
    if type(vectorizer) is not TokenVectorizer or type(classes) is not NDARRAY:
        return None
    if "coef_" not in fitted or "lam_" not in fitted:
        return None
    if fitted.get("beam_size", 0) is not None or fitted.get("allowed_transitions", 0) is not None:
        return None
    for name in UNUSUAL:
        if name in fitted:
            return None
    own = vectorizer.__dict__
    if own.get("dtype") is not FLOAT64:
        return None
    labels = labels_of_tokens(
        vectorizer._known_columns(), X, classes, fitted["coef_"], fitted.get("transitions_"),
        fitted.get("start_"), fitted.get("end_"), LARGEST
    )
    if labels is None:
        return None
    answer = EMPTY(1, OBJECT)
    answer[0] = labels
    return answer
