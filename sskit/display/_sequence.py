"""A tagged sequence as coloured text."""

import colorsys
import html

import numpy as np

OUTSIDE = "O"
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

    def __init__(self, words, tags, y_true, confidence):
        self.words, self.tags, self.y_true = words, tags, y_true
        self.confidence = confidence

    def __repr__(self):
        parts = []
        for t, (word, tag) in enumerate(zip(self.words, self.tags, strict=True)):
            wrong = self.y_true is not None and self.y_true[t] != tag
            told = f"{word}/{tag}" + (f"!{self.y_true[t]}" if wrong else "")
            parts.append(told + ("" if self.confidence is None else f"({self.confidence[t]:.2f})"))
        return " ".join(parts)

    def _repr_html_(self):
        """Return a block for each token: the word, below it the label, in the label's colour."""
        types = sorted({tag.partition("-")[2] or tag for tag in self.tags} - {OUTSIDE})
        colors = {kind: _color(n) for n, kind in enumerate(types)}
        blocks = []
        for t, (word, tag) in enumerate(zip(self.words, self.tags, strict=True)):
            color = colors.get(tag.partition("-")[2] or tag, "#ffffff")
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


def show_sequence(words, tags, *, y_true=None, confidence=None):
    """Return a tagged sequence as coloured text.

    A notebook draws it: a colour for each type of label, the true label beside a wrong one, in a
    red frame, and the confidence of each label. Elsewhere it prints as text.

    Parameters
    ----------
    words : sequence of T objects
        The tokens; what is no string is drawn as its `str`.
    tags : sequence of T labels
        Predicted labels, say. A prefix such as "B-" has no colour of its own; "O" has none.
    y_true : sequence of T labels, default=None
        The true labels.
    confidence : array-like of shape (T,), default=None
        Of the labels, from 0 to 1, such as the probabilities of `CalibratedTagger`.

    Returns
    -------
    text : SequenceText
        With ``_repr_html_`` for notebooks; its `repr` is "word/tag" for each token, with "!" and
        the true label where that is another one, and the confidence in brackets.

    Raises
    ------
    ValueError
        If the lengths differ, or a confidence is not from 0 to 1.

    Examples
    --------
    >>> from sskit.display import show_sequence
    >>> show_sequence(["in", "New", "York"], ["O", "B-LOC", "O"], y_true=["O", "B-LOC", "I-LOC"])
    in/O New/B-LOC York/O!I-LOC
    """
    given = {"words": words, "tags": tags, "y_true": y_true, "confidence": confidence}
    for name, value in given.items():
        if value is not None and len(value) != len(words):
            raise ValueError(f"{name} holds {len(value)} entries for {len(words)} words")
    if confidence is not None:
        confidence = np.asarray(confidence, dtype=np.float64).tolist()
        for t, sure in enumerate(confidence):
            if not 0.0 <= sure <= 1.0:
                raise ValueError(f"confidence[{t}] must be from 0 to 1, got {sure}")
    words, tags, y_true = (
        None if some is None else [str(one) for one in some] for some in (words, tags, y_true)
    )
    return SequenceText(words, tags, y_true, confidence)


def _color(n):
    """Return the n-th light colour, on which black text is easy to read."""
    rgb = colorsys.hls_to_rgb(GOLDEN * n % 1.0, 0.84, 0.75)
    return "#" + "".join(f"{round(255 * part):02x}" for part in rgb)
