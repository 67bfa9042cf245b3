"""Groups of the sentences of a file: documents, or values of comments."""

import re

import numpy as np

from sskit._labels import string_array
from sskit.datasets._conll_file import Kind

_BEGIN = re.compile(r"# *(newdoc|begin document)\b")
# What holds until the next comment that begins so; all others are of one sentence.
_LASTING = ("newdoc", "newpar")


class SentenceGroups:
    """The group of each sentence.

    Parameters
    ----------
    groups : str
        That of `load_conll`.
    """

    def __init__(self, groups):
        if not isinstance(groups, str) or not groups:
            raise TypeError(
                f"groups must be 'document', the name of a comment or None, got {groups!r:.100}"
            )
        self._name, self._groups, self._document = groups, [], -1
        self.begin_file()

    def begin_file(self):
        """Forget the comments of another file; a document begins."""
        self._begins, self._comments, self._lasting = True, {}, {}

    def add_line(self, kind, file, number):
        """Read a line."""
        if kind is Kind.FIRST:
            self._groups.append(self._group(file, number))
            self._begins, self._comments = False, {}
        elif kind is Kind.DOCUMENT:
            self._begins = True
        elif kind is Kind.COMMENT:
            line = file.lines[number - 1]
            self._begins |= bool(_BEGIN.match(line))
            for name, value in comment_pairs(line):
                word = name.partition(" ")[0]
                if word in _LASTING:
                    self._lasting[word] = {name: value}
                else:
                    self._comments.setdefault(name, value)

    def values(self):
        """Return the groups of all sentences, an ndarray of int or str."""
        documents = self._name == "document"
        return np.array(self._groups, dtype=int) if documents else string_array(self._groups)

    def _group(self, file, number):
        """Return the group of a sentence that begins."""
        if self._name == "document":
            self._document += self._begins
            return self._document
        comments = self._comments.copy()
        for lasting in self._lasting.values():
            comments |= lasting
        if not comments.get(self._name):
            named = ", ".join(comments) or "none"
            raise ValueError(
                f"{file.place(number)}: the sentence has no comment {self._name!r}; what it has "
                f"is {named}"
            )
        return comments[self._name]


def comment_pairs(line):
    """Return the pairs (name, value) of a comment, which are separated by tabs.

    They are written "name = value", or "name value" where there is no "=".
    """
    pairs = []
    for field in line.lstrip("#").split("\t"):
        name, _, value = field.strip().partition("=" if "=" in field else " ")
        pairs.append((name.strip(), value.strip()))
    return pairs
