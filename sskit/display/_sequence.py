"""A tagged sequence as coloured text."""

from __future__ import annotations

import colorsys
import html

import numpy as np

from sskit._tag_schemes import SCHEMES
from sskit._types import ArrayLike, Samples

OUTSIDE = "O"
PREFIXES = {*"".join(SCHEMES.values())} - {OUTSIDE}
# Steps of the golden ratio around the circle of hues keep any number of colours apart.
GOLDEN = 0.618034


class SequenceText:
    """A tagged sequence: coloured text in a notebook, plain text elsewhere.

    Parameters
    ----------
    words, tags : list of str
        The tokens and their labels.
    y_true : list of str, or None
        The right labels.
    confidence : list of float, or None
        From 0 to 1.

    See Also
    --------
    show_sequence : Checks its arguments and returns one.

    Examples
    --------
    >>> from sskit.display import SequenceText
    >>> SequenceText(["New", "York"], ["B-LOC", "I-LOC"], None, [0.9, 0.8])
    New/B-LOC(0.90) York/I-LOC(0.80)
    """

    def __init__(
        self,
        words: list[str],
        tags: list[str],
        y_true: list[str] | None,
        confidence: list[float] | None,
    ) -> None:
        self.words, self.tags, self.y_true = words, tags, y_true
        self.confidence = confidence

    def __repr__(self):
        parts = []
        for t, (word, tag) in enumerate(zip(self.words, self.tags, strict=True)):
            wrong = self.y_true is not None and self.y_true[t] != tag
            text = f"{word}/{tag}" + (f"!{self.y_true[t]}" if wrong else "")
            parts.append(text + ("" if self.confidence is None else f"({self.confidence[t]:.2f})"))
        return " ".join(parts)

    def _repr_html_(self):
        """Return a block for each token: the word, below it the label, in the label's colour."""
        types = sorted({*map(_type_of, self.tags)} - {OUTSIDE})
        colors = {kind: _color(n) for n, kind in enumerate(types)}
        blocks = []
        for t, (word, tag) in enumerate(zip(self.words, self.tags, strict=True)):
            color = colors.get(_type_of(tag), "#ffffff")
            sure = 1.0 if self.confidence is None else self.confidence[t]
            label, border = html.escape(tag), "#ffffff"
            if self.y_true is not None and self.y_true[t] != tag:
                label = f"<s>{label}</s> <b>{html.escape(self.y_true[t])}</b>"
                border = "#c00000"
            if tag == OUTSIDE and border == "#ffffff":
                label = "&nbsp;"
            elif self.confidence is not None:
                label += f" {sure:.0%}"
            blocks.append(
                f'<span title="{html.escape(tag)}" style="display:inline-block;margin:1px;'
                f"padding:2px 5px;border-radius:4px;text-align:center;border:2px solid {border};"
                f'background:{color};color:#202020">{html.escape(word)}'
                f'<br><span style="font-size:70%">{label}</span></span>'
            )
        return (
            '<div style="background:#ffffff;color:#202020;padding:4px;line-height:1.2">'
            + "".join(blocks)
            + "</div>"
        )


def show_sequence(
    words: Samples,
    tags: Samples,
    *,
    y_true: Samples | None = None,
    confidence: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> SequenceText:
    """Return a tagged sequence as coloured text.

    A notebook draws it: a colour for each type of label, the true label beside a wrong one, in a
    red frame, and the confidence of each label. Elsewhere it prints as text.

    Parameters
    ----------
    words : sequence of T objects
        The tokens; others than strings are drawn as their `str`.
    tags : sequence of T labels
        Predicted labels, say. The prefix of a tag scheme, such as "B-", has no colour of its own;
        "O" has none.
    y_true : sequence of T labels, default=None
        The true labels.
    confidence : array-like of shape (T,) or (T, n_classes), default=None
        Of the labels, from 0 to 1; or the probabilities of all labels, an item of what
        ``predict_proba`` of `CalibratedTagger` returns, of which those of `tags` are taken.
    classes : array-like of shape (n_classes,), default=None
        What the columns of such probabilities are: ``classes_`` of the estimator. Only with them.

    Returns
    -------
    text : SequenceText
        With ``_repr_html_`` for notebooks; its `repr` is "word/tag" for each token, with "!" and
        the true label where that is another one, and the confidence in brackets.

    Raises
    ------
    ValueError
        If the lengths differ, these are several sequences, or a confidence is not from 0 to 1 or
        has no column for a label.

    Examples
    --------
    >>> from sskit.display import show_sequence
    >>> show_sequence(["in", "New", "York"], ["O", "B-LOC", "O"], y_true=["O", "B-LOC", "I-LOC"])
    in/O New/B-LOC York/O!I-LOC
    """
    arguments = {"words": words, "tags": tags, "y_true": y_true, "confidence": confidence}
    for name, value in arguments.items():
        if value is not None and len(value) != len(words):
            raise ValueError(f"{name} holds {len(value)} entries for {len(words)} words")
        for t, one in enumerate(() if value is None or name in ("words", "confidence") else value):
            if isinstance(one, (list, tuple, np.ndarray)) and np.ndim(one) > 0:
                raise ValueError(
                    f"{name}[{t}] is a {type(one).__name__}, expected a label: show_sequence draws "
                    "one sequence; of several, give it one item of words and of tags"
                )
    if confidence is not None:
        confidence = _of_labels(confidence, tags, classes).tolist()
        for t, sure in enumerate(confidence):
            if not 0.0 <= sure <= 1.0:
                raise ValueError(f"confidence[{t}] must be from 0 to 1, got {sure}")
    words, tags, y_true = (
        None if some is None else [str(one) for one in some] for some in (words, tags, y_true)
    )
    return SequenceText(words, tags, y_true, confidence)


def _of_labels(confidence, tags, classes):
    """Return the confidence of the labels, (T,), of which those of all may be given."""
    confidence = np.asarray(confidence, dtype=np.float64)
    if confidence.ndim < 2:
        if classes is not None:
            raise ValueError("classes name the columns of confidence, which has none")
        return confidence
    if confidence.ndim > 2:
        raise ValueError(f"confidence has {confidence.ndim} dimensions, expected one or two")
    if classes is None or len(classes) != confidence.shape[1]:
        raise ValueError(
            f"confidence has {confidence.shape[1]} columns, one for each label: classes must say "
            "which; give it classes_ of the estimator"
        )
    columns = {str(label): k for k, label in enumerate(classes)}
    for t, tag in enumerate(tags):
        if str(tag) not in columns:
            raise ValueError(f"tags[{t}] is {tag!r}, which is none of the classes")
    return confidence[np.arange(len(tags)), [columns[str(tag)] for tag in tags]]


def _type_of(tag):
    """Return the part of a tag that determines its colour: without the prefix of a scheme."""
    prefix, _, kind = tag.partition("-")
    return kind if kind and prefix in PREFIXES else tag


def _color(n):
    """Return the n-th light colour, on which black text is easy to read."""
    rgb = colorsys.hls_to_rgb(GOLDEN * n % 1.0, 0.84, 0.75)
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)
