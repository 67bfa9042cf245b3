"""What speaks for a label of a token against another one, term by term."""

from html import escape

import numpy as np

from sskit.estimators.reasons.column_names import as_frame, check_top, object_column

_TEXTS = ("group", "kind", "feature")
COLUMNS = (*_TEXTS, "node", "value", "weight", "rival_weight", "contribution")


class Explanation:
    """What speaks for the label of a token, or node, against a rival.

    Made by ``explain`` of :class:`~sskit.SequenceTagger` and :class:`~sskit.TreeTagger`. The
    max-marginal of a label is the score of the best labelling that has it at the token; `margin`
    is that of the label less that of the rival. The two labellings differ in what they score at
    the token, at the edges to its neighbours, and beyond these, and these differences, the
    contributions, add up to the margin but for rounding.

    Parameters
    ----------
    sample, token : int
        Which token of which sample.
    label, rival : label
        The two labels.
    score, rival_score : float
        Their max-marginals.
    labelling, rival_labelling : ndarray of shape (T,)
        The best labellings with the one and with the other; of several equally good ones, any.
    columns : dict of str to list
        The terms; see `to_frame`.
    top : int, default=10
        How many features of the token, and of an edge, texts show; None means all.

    Attributes
    ----------
    margin : float
        ``score - rival_score``; 0 or more if the label is the predicted one.
    groups : dict of str to float
        Sums of the contributions: of the "features" of the token, of the "bias" (a weight of the
        first, last, root or leaf label), and of the neighbours: "before" and "after" in a
        sequence, "parent" and "children" in a tree. Groups without terms are not there.

    Examples
    --------
    >>> import numpy as np
    >>> from sskit import SequenceTagger
    >>> from sskit.datasets import make_digit_strings
    >>> X, y = make_digit_strings(60, random_state=0)
    >>> explanation = SequenceTagger(random_state=0).fit(X, y).explain(X, 3, 1)
    >>> bool(explanation.label == y[3][1])
    True
    >>> bool(np.isclose(sum(explanation.groups.values()), explanation.margin))
    True
    """

    def __init__(
        self,
        *,
        sample,
        token,
        label,
        rival,
        score,
        rival_score,
        labelling,
        rival_labelling,
        columns,
        top=10,
    ):
        self.sample = sample
        self.token = token
        self.label = label
        self.rival = rival
        self.score = score
        self.rival_score = rival_score
        self.labelling = labelling
        self.rival_labelling = rival_labelling
        self.top = top
        self._columns = {
            name: object_column(columns[name]) if name in _TEXTS else np.asarray(columns[name])
            for name in COLUMNS
        }

    @property
    def margin(self):
        """Max-marginal of the label less that of the rival."""
        return self.score - self.rival_score

    @property
    def groups(self):
        """Sums of the contributions of each group."""
        sums = {}
        for group, value in zip(
            self._columns["group"], self._columns["contribution"].tolist(), strict=True
        ):
            sums[group] = sums.get(group, 0.0) + value
        return sums

    def to_frame(self, top=None):
        """Return the terms as a table.

        Parameters
        ----------
        top : int, default=None
            How many features of the token, and of each edge, to list: those that contribute most,
            by absolute value; the others are added up in a row. None lists all.

        Returns
        -------
        frame : DataFrame, or dict of ndarray where pandas is not installed
            A row for each term, with the columns

            - group: "features", "bias", "before", "after", "parent" or "children";
            - kind: "feature" of the token; "start", "end", "root", "leaf"; "transition" to a
              neighbour; "edge", a feature of that edge; or "beyond": what the labels of the
              neighbour, and of all beyond it, score in the one labelling less what they score in
              the other, 0 if they are the same;
            - feature: its name, or the labels of the transition in both labellings;
            - node: the token or node itself, or the neighbour;
            - value: of the feature, else 1;
            - weight, rival_weight: that of the label and of the rival; NaN for sums;
            - contribution: value times the difference of the weights, or the sum.

            The contributions of all rows add up to `margin`.
        """
        check_top(top)
        return as_frame(self._listed(top))

    def _listed(self, top):
        """Return the columns, features in the order of what they contribute."""
        columns = self._columns
        size = np.abs(columns["contribution"])
        pieces = []
        blocks = list(zip(columns["group"], columns["kind"], columns["node"], strict=True))
        start = 0
        for stop in range(1, len(blocks) + 1):
            if stop < len(blocks) and blocks[stop] == blocks[start]:
                continue
            order = start + np.argsort(-size[start:stop], kind="stable")
            kept = order if top is None else order[:top]
            pieces.append({name: column[kept] for name, column in columns.items()})
            others = order[len(kept) :]
            if len(others):
                pieces.append(_sum_of(columns, others))
            start = stop
        if not pieces:
            return columns
        return {name: np.concatenate([piece[name] for piece in pieces]) for name in COLUMNS}

    def __repr__(self):
        """Return who the rivals are, and the margin."""
        return (
            f"<Explanation of token {self.token} of sample {self.sample}: {_plain(self.label)!r} "
            f"against {_plain(self.rival)!r}, margin {self.margin:+.4g}>"
        )

    def _heading(self):
        return (
            f"Token {self.token} of sample {self.sample}: {self.label} ({self.score:.4g}) against "
            f"{self.rival} ({self.rival_score:.4g}), margin {self.margin:+.4g}"
        )

    def _rows(self):
        """Yield the group, or None below its sum, the number, and what it is of."""
        listed, sums, last = self._listed(self.top), self.groups, None
        names = "group", "kind", "feature", "value", "contribution"
        for group, kind, feature, value, number in zip(
            *(listed[name].tolist() for name in names), strict=True
        ):
            if group != last:
                yield group, sums[group], group
                last = group
            if kind == "beyond" and number == 0:
                continue
            text = feature or kind
            if kind in ("feature", "edge") and value != 1 and not np.isnan(value):
                text += f" = {value:.4g}"
            yield None, number, text

    def __str__(self):
        """Return the terms as text."""
        lines = [self._heading()]
        for group, number, text in self._rows():
            lines.append(f"{'  ' if group else '    '}{number:+.4f}  {text}")
        return "\n".join(lines)

    def _repr_html_(self):
        """Return the terms as a table of HTML."""
        rows = []
        for group, number, text in self._rows():
            cell = f"<b>{escape(text)}</b>" if group else f"&emsp;{escape(text)}"
            color = "#b2182b" if number < 0 else "#2166ac"
            rows.append(
                f'<tr><td style="text-align:left">{cell}</td>'
                f'<td style="text-align:right;color:{color}">{number:+.4f}</td></tr>'
            )
        heading = escape(self._heading())
        return f"<table><caption>{heading}</caption><tbody>{''.join(rows)}</tbody></table>"


def _plain(label):
    """Return a label as Python has it."""
    return label.item() if isinstance(label, np.generic) else label


def _sum_of(columns, places):
    """Return a row that is the sum of others of one kind."""
    n = len(places)
    row = {name: columns[name][places[:1]] for name in COLUMNS}
    row["feature"] = object_column([f"({n} further feature{'s' if n > 1 else ''})"])
    for name in ("value", "weight", "rival_weight"):
        row[name] = np.array([np.nan])
    row["contribution"] = np.array([columns["contribution"][places].sum()])
    return row
