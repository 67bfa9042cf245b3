"""Fitted taggers as models of CRFsuite, and the other way round."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sskit.crfsuite._format import FEATURE, STATE, TRANSITION, read_model, write_model
from sskit.estimators import SequenceTagger
from sskit.estimators.chain.decoding import fitted_rules
from sskit.preprocessing import TokenVectorizer

FORBIDDEN = -1e6  # the weight of a forbidden transition: its exponential is zero


def save_crfsuite(
    tagger: SequenceTagger,
    path: str | PathLike[str],
    *,
    start: str | None = "sskit:start",
    end: str | None = "sskit:end",
    separator: str = ":",
) -> None:
    """Write a fitted tagger as a model of CRFsuite, for all programs that read its models.

    CRFsuite has weights of attributes and of transitions, but none of first and last labels. Those
    of the tagger become weights of two further attributes, `start` and `end`: tokens must have
    them, the first and the last one of each sequence, for the same predictions. Where tokens have
    such attributes already (the parsers usaddress and probablepeople have "address.start" and the
    like), name these. A fit with ``bounds={"start": (0, 0), "end": (0, 0)}`` has no such weights.

    Labels that `allowed_transitions` forbids get the weight -1e6. Probabilities that CRFsuite
    computes from the file are not calibrated: the tagger was not trained for them.

    Parameters
    ----------
    tagger : SequenceTagger or Pipeline
        Fitted to dicts of attributes or lists of strings, or a pipeline of a `TokenVectorizer` and
        a tagger. Its labels are strings.
    path : str or path-like
        The name of the file to write.
    start, end : str
        The attributes of first and last tokens. If tokens have attributes of this name, the
        weights are added to theirs.
    separator : str or None, default=":"
        What stands in the file in the place of the first "=" of a name: {"word": "the"} is
        "word=the" for the tagger and "word:the" for python-crfsuite. None leaves names as they
        are, for tokens that are lists of strings, and for files of CRFsuite's program. Where
        attributes have "=" in their names, fit to ``TokenVectorizer(separator=":")`` instead,
        whose names are left as they are.

    Raises
    ------
    NotFittedError
        If the tagger is not fitted.
    TypeError, ValueError
        If it is no such tagger, or CRFsuite has nothing that corresponds: kernels, features of
        edges, ``order=2``, hidden states of labels, names with a null character.

    See Also
    --------
    load_crfsuite : Read such a file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> from sskit import SequenceTagger
    >>> from sskit.crfsuite import load_crfsuite, save_crfsuite
    >>> X, y = [[{"word": "the"}, {"word": "cat"}]] * 3, [["DET", "NOUN"]] * 3
    >>> no_ends = {"start": (0, 0), "end": (0, 0)}
    >>> tagger = SequenceTagger(bounds=no_ends, random_state=0).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     save_crfsuite(tagger, Path(folder, "model.crfsuite"))
    ...     load_crfsuite(Path(folder, "model.crfsuite")).predict(X[:1])[0]
    array(['DET', 'NOUN'], dtype='<U4')
    """
    tagger, vectorizer = _tagger_and_vectorizer(tagger)
    names = vectorizer.feature_names_
    if separator is not None and vectorizer.separator == "=":
        names = [name.replace("=", separator, 1) for name in names]
        if len(set(names)) < len(names):
            raise ValueError(f"two attributes would have one name with separator={separator!r}")
    labels = tagger.classes_.tolist()
    if not all(isinstance(label, str) for label in labels):
        raise TypeError(f"labels in files of CRFsuite are strings, but classes_ has {labels[0]!r}")
    coef, transitions = np.array(tagger.coef_.T), np.array(tagger.transitions_)
    ends = [np.array(tagger.start_), np.array(tagger.end_)]
    rules = fitted_rules(tagger)
    if rules[0] is not None:
        transitions[~rules[0]] = FORBIDDEN
        for weights, allowed in zip(ends, rules[1:], strict=True):
            weights[~allowed] = FORBIDDEN
    names = [*names]
    for name, weights in zip((start, end), ends, strict=True):
        if not weights.any():
            continue
        if name in names:
            coef[names.index(name)] += weights
        else:
            names, coef = [*names, name], np.vstack([coef, weights])
    for name in (*labels, *names):
        if "\0" in name:
            raise ValueError(f"{name!r} has a null character, which files of CRFsuite cannot have")
    used = coef.any(axis=1)
    names, coef = [n for n, u in zip(names, used, strict=True) if u], coef[used]
    features = np.concatenate([_features(coef, STATE), _features(transitions, TRANSITION)])
    Path(path).write_bytes(write_model(labels, names, features))


def load_crfsuite(path: str | PathLike[str]) -> SequenceTagger:
    """Read a model of CRFsuite as a fitted tagger.

    It predicts the same labels. `weights_frame` and `explain` show what the model has learned,
    :class:`~sskit.CalibratedTagger` with ``cv="prefit"`` gives it calibrated probabilities, and as
    `prior` of another tagger it is where training begins. It has no duality gap.

    Parameters
    ----------
    path : str or path-like
        The name of the file.

    Returns
    -------
    tagger : SequenceTagger
        Fitted; for tokens as CRFsuite takes them, dicts of attributes or lists of strings.

    Raises
    ------
    ValueError
        If the file is no model of CRFsuite, or damaged, or has fewer than two labels or no
        attributes.

    See Also
    --------
    save_crfsuite : Write such a file.

    Examples
    --------
    >>> from sskit.crfsuite import load_crfsuite
    >>> load_crfsuite("no_such_file.crfsuite")
    Traceback (most recent call last):
        ...
    FileNotFoundError: [Errno 2] No such file or directory: 'no_such_file.crfsuite'
    """
    try:
        labels, attributes, features = read_model(Path(path).read_bytes())
        if len(labels) < 2 or not attributes:
            raise ValueError(f"it has {len(labels)} labels and {len(attributes)} attributes")
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    places, columns = (_sorted_places(strings) for strings in (labels, attributes))
    coef, transitions = np.zeros((len(labels), len(attributes))), np.zeros((len(labels),) * 2)
    kinds = features["kind"] == STATE
    of, to = features["source"][kinds], features["target"][kinds]
    np.add.at(coef, (places[to], columns[of]), features["weight"][kinds])
    of, to = features["source"][~kinds], features["target"][~kinds]
    np.add.at(transitions, (places[of], places[to]), features["weight"][~kinds])
    vectorizer, names = TokenVectorizer(separator=":"), sorted(attributes)
    vectorizer.feature_names_ = names
    tagger = SequenceTagger()
    tagger.coef_, tagger.transitions_ = np.asfortranarray(coef), transitions
    tagger.start_, tagger.end_ = np.zeros(len(labels)), np.zeros(len(labels))
    tagger.classes_ = np.array(sorted(labels))
    tagger.allowed_transitions_ = tagger.allowed_start_ = tagger.allowed_end_ = None
    tagger.n_features_in_ = len(names)
    tagger.feature_names_in_ = np.array(names, dtype=object)
    tagger.vectorizer_, tagger.certified_ = vectorizer, False
    vectorizer._make_ready()
    tagger._make_ready()
    return tagger


def _tagger_and_vectorizer(model):
    """Return a fitted tagger that a file can represent, and its vectoriser."""
    steps, tagger = [], model
    if hasattr(model, "named_steps"):
        *steps, (_, tagger) = model.steps
        steps = [step for _, step in steps if step is not None and step != "passthrough"]
    if type(tagger) is not SequenceTagger:
        raise TypeError(
            f"a file of CRFsuite can hold a SequenceTagger, not a {type(tagger).__name__}"
        )
    check_is_fitted(tagger)
    attributes = vars(tagger)
    for name, what in (
        ("support_", "a kernel"), ("triples_", "order=2"), ("edge_coef_", "features of edges"),
        ("n_states_", "hidden states of labels"),
    ):  # fmt: skip
        if name in attributes:
            raise ValueError(f"this tagger has {what}, and CRFsuite has not")
    if not steps and "vectorizer_" in attributes:
        return tagger, tagger.vectorizer_
    if len(steps) == 1 and isinstance(steps[0], TokenVectorizer):
        return tagger, steps[0]
    raise ValueError(
        "this tagger has no names of attributes: fit it to dicts of attributes or lists of "
        "strings, or in a pipeline after a TokenVectorizer"
    )


def _features(table, kind):
    """Return features of the weights of a table that are not zero, by rows."""
    sources, targets = np.nonzero(table)
    features = np.empty(len(sources), dtype=FEATURE)
    features["kind"], features["source"], features["target"] = kind, sources, targets
    features["weight"] = table[sources, targets]
    return features


def _sorted_places(strings):
    """Return where each string is once they are sorted."""
    places = np.empty(len(strings), dtype=np.intp)
    places[sorted(range(len(strings)), key=strings.__getitem__)] = np.arange(len(strings))
    return places
