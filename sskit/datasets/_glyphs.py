"""Sentences of thousands of characters, seen as noisy glyphs."""

import numpy as np
from sklearn.utils import check_random_state

from sskit.datasets._checks import check_counts, check_not_negative
from sskit.inputs.ragged_array import RaggedArray, make_offsets

# A character is followed by one of so many that are its own, with this probability.
_N_FOLLOWERS = 5
_FOLLOWED = 0.7


def make_glyph_sentences(
    n_samples=100,
    *,
    n_characters=1000,
    n_features=85,
    noise=2.0,
    min_length=10,
    max_length=30,
    text=None,
    prototypes=None,
    random_state=None,
):
    """Simulate the recognition of written text with very many characters.

    Every character has a prototype, drawn from a standard normal distribution unless given; a
    glyph is the prototype of its character plus independent Gaussian noise. The text is given,
    or made: a character is followed, with probability 0.7, by one of five that are its own, else
    by any, the k-th most frequent with probability in proportion to 1 / k (Zipf's law).

    Parameters
    ----------
    n_samples : int, default=100
        Number of sentences that are made; not used if there is a `text`.
    n_characters : int, default=1000
        Number of characters of the text that is made; not all need to occur.
    n_features : int, default=85
        Number of features of a glyph, a constant 1 aside; not used if there are `prototypes`.
    noise : float, default=2.0
        Standard deviation of the noise of each feature; prototypes differ by 1.4 on average.
    min_length, max_length : int, default=10, 30
        Smallest and largest number of characters of a sentence that is made.
    text : list of sequences, default=None
        The sentences: strings, or sequences of characters of any sortable type.
    prototypes : ndarray of shape (n_characters, n_features), default=None
        Prototypes of the characters, sorted. To be given for two texts that are to share them.
    random_state : int, RandomState or None, default=None
        Seed or generator.

    Returns
    -------
    X : list of ndarrays of shape (T_i, n_features + 1)
        Glyphs, and a constant 1; float64.
    y : list of ndarrays of shape (T_i,)
        Characters: int64 if made, else as in `text`.

    Raises
    ------
    ValueError
        If a number is out of its range, the text has an empty sentence, or there are fewer
        prototypes than characters.

    Examples
    --------
    >>> from sskit.datasets import make_glyph_sentences
    >>> X, y = make_glyph_sentences(3, n_characters=2000, random_state=0)
    >>> X[0].shape == (len(y[0]), 86)
    True
    >>> X, y = make_glyph_sentences(text=["to be", "or not to be"], random_state=0)
    >>> print("".join(y[1]))
    or not to be
    """
    check_counts(
        n_samples=n_samples,
        n_characters=n_characters,
        n_features=n_features,
        min_length=min_length,
        max_length=max_length,
    )
    check_not_negative(noise=noise)
    if min_length > max_length:
        raise ValueError(f"min_length is {min_length} but max_length is {max_length}")
    rng = check_random_state(random_state)
    if text is None:
        characters = np.arange(n_characters)
        offsets = make_offsets(rng.randint(min_length, max_length + 1, size=n_samples))
        flat = _write(n_characters, offsets, rng)
    else:
        sentences = [np.array(list(sentence)) for sentence in text]
        empty = [i for i, sentence in enumerate(sentences) if not len(sentence)]
        if empty or not sentences:
            raise ValueError(f"text[{empty[0]}] is empty" if empty else "text has no sentences")
        offsets = make_offsets([len(sentence) for sentence in sentences])
        characters, flat = np.unique(np.concatenate(sentences), return_inverse=True)
    if prototypes is None:
        prototypes = rng.normal(size=(len(characters), n_features))
    elif np.ndim(prototypes) != 2 or len(prototypes) < len(characters):
        raise ValueError(
            f"prototypes must have a row for each of {len(characters)} characters, got an array "
            f"of shape {np.shape(prototypes)}"
        )
    glyphs = np.asarray(prototypes, dtype=np.float64)[flat]
    glyphs = glyphs + noise * rng.normal(size=glyphs.shape)
    glyphs = np.column_stack([glyphs, np.ones(len(glyphs))])
    labels = characters[flat]
    return (
        [piece.copy() for piece in RaggedArray(glyphs, offsets)],
        [piece.copy() for piece in RaggedArray(labels, offsets)],
    )


def _write(n_characters, offsets, rng):
    """Return the characters of sentences, one after the other."""
    share = 1.0 / np.arange(1, n_characters + 1)
    n_tokens = offsets[-1]
    flat = rng.choice(n_characters, size=n_tokens, p=share / share.sum())
    followers = rng.randint(n_characters, size=(n_characters, _N_FOLLOWERS))
    follows = rng.uniform(size=n_tokens) < _FOLLOWED
    follows[offsets[:-1]] = False
    choice = rng.randint(_N_FOLLOWERS, size=n_tokens)
    for t in np.flatnonzero(follows):  # each depends on the one before
        flat[t] = followers[flat[t - 1], choice[t]]
    return flat.astype(np.int64)
