"""By what sequences are known again."""

from sskit.core.fingerprint import Fingerprint
from sskit.models.row_hashes import row_digests, value_digests


def chain_fingerprint(features, offsets, n_states, labels, cost, transitions):
    """Return the fingerprint of a problem of sequences.

    Parameters
    ----------
    features : FeatureRows
        Of all tokens.
    offsets : ndarray of shape (n_sequences + 1,)
        Where the sequences begin and end.
    n_states : int
        Number of labels.
    labels, cost : ndarray of shape (n_tokens,)
        True labels, and what another one costs.
    transitions : object
        What says which transitions are allowed.

    Returns
    -------
    fingerprint : Fingerprint
        Equal for the same sequences, labels, losses and transitions.
    """
    return Fingerprint(
        {
            "the model": "chain",
            "the number of features": features.n_features,
            "the number of labels": n_states,
            "transitions": transitions,
        },
        {
            "X": row_digests(features, offsets),
            "y": value_digests(labels, offsets),
            "the loss of y": value_digests(cost, offsets),
        },
    )
