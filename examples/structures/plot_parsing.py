"""
Constituency parsing: a structure in Python
===========================================

This parser is a structure of 25 lines: a labelling is a tree of rules, and the CKY algorithm finds
the best one. It learns where phrases attach: one eats pizza *with* a fork by eating with it, and
pizza *with* olives by ordering that. Rules alone cannot distinguish the two, but rules with the
word between their two parts can. See :doc:`/how_to/write_your_own` for the three methods.
"""

# %%
# The grammar, and a synthetic treebank: each preposition mostly joins the verb, or mostly the noun
# before it.

import matplotlib.pyplot as plt
import numpy as np

from sskit import StructuredModel, StructuredSVM
from sskit.testing import check_structure

RULES = [
    ("S", "NP", "VP"), ("VP", "V", "NP"), ("VP", "VP", "PP"), ("NP", "NP", "PP"), ("NP", "D", "N"),
    ("PP", "P", "NP"),
]  # fmt: skip
LEXICON = {"D": ["the", "a"], "N": ["cook", "pizza", "fork", "olives", "knife", "cheese"],
           "V": ["eats", "orders"], "P": ["with", "of", "from", "by", "on"]}  # fmt: skip
WORDS = sum(LEXICON.values(), [])
TO_THE_VERB = {"with": 0.6, "of": 0.02, "from": 0.3, "by": 0.95, "on": 0.8}


def grow(rng, symbol, preposition=None, depth=0):
    """Return a random phrase as a nested list: (symbol, parts) or (tag, word)."""
    if symbol in LEXICON:
        return symbol, preposition or str(rng.choice(LEXICON[symbol]))
    if symbol in ("NP", "VP") and rng.random() < 0.5 / (1 + depth):
        word = str(rng.choice(LEXICON["P"]))
        joins_verb = rng.random() < TO_THE_VERB[word]
        if joins_verb == (symbol == "VP"):
            phrase = "PP", [grow(rng, "P", word), grow(rng, "NP", depth=depth + 1)]
            return symbol, [grow(rng, symbol, depth=depth + 1), phrase]
    parts = {"S": "NP VP", "VP": "V NP", "NP": "D N"}[symbol].split()
    return symbol, [grow(rng, part, depth=depth) for part in parts]


def flatten(tree, start=0):
    """Return the (tag, word) of a phrase and its rules, as (start, split, stop, rule)."""
    symbol, parts = tree
    if symbol in LEXICON:
        return [tree], []
    (one, rules), split = flatten(parts[0], start), 0
    split = start + len(one)
    two, more = flatten(parts[1], split)
    rule = RULES.index((symbol, parts[0][0], parts[1][0]))
    return one + two, rules + more + [(start, split, split + len(two), rule)]


rng = np.random.default_rng(0)
X, y = zip(*(map(tuple, flatten(grow(rng, "S"))) for _ in range(400)), strict=True)
train, test = slice(0, 150), slice(150, None)
print(" ".join(word for _, word in X[5]))

# %%
# The features of a rule are the rule, and the rule with the first word of its right part. The loss
# is the fraction of wrong brackets, phrases with their symbols that are not in the truth. All
# trees of a sentence have equally many, so each wrong one adds the same.


def brackets(y):
    return {(start, stop, RULES[rule][0]) for start, _, stop, rule in y}


class Parser(StructuredModel):
    """x has the (tag, word) of a sentence; y the rules of its tree, (start, split, stop, rule)."""

    def __init__(self, words=True):
        self.words = words

    def joint_feature(self, x, y):
        phi = np.zeros((len(RULES), 1 + len(WORDS)))
        for _, split, _, rule in y:
            phi[rule, [0, 1 + WORDS.index(x[split][1])]] += [1.0, self.words]
        return phi.ravel()

    def loss(self, y_true, y):
        return len(brackets(y) - brackets(y_true)) / len(y_true)

    def argmax(self, x, w, y_true=None):
        w, n = w.reshape(len(RULES), -1), len(x)
        chart = {(i, i + 1): {tag: (0.0, ())} for i, (tag, _) in enumerate(x)}
        scores = [w[:, 0] + self.words * w[:, 1 + WORDS.index(word)] for _, word in x]
        cost, right = (0.0, set()) if y_true is None else (1.0 / len(y_true), brackets(y_true))
        for start, stop in (
            (i, i + length) for length in range(2, n + 1) for i in range(n + 1 - length)
        ):
            cell = chart[start, stop] = {}
            for split in range(start + 1, stop):
                left, rest = chart[start, split], chart[split, stop]
                for rule, (top, one, two) in enumerate(RULES):
                    if one in left and two in rest:
                        score = left[one][0] + rest[two][0] + scores[split][rule]
                        score += cost * ((start, stop, top) not in right)
                        if top not in cell or score > cell[top][0]:
                            step = (start, split, stop, rule)
                            cell[top] = score, (*left[one][1], *rest[two][1], step)
        return chart[0, n]["S"][1]


# %%
# Check the structure on short sentences, whose trees can be enumerated.


def trees(x, symbol="S", start=0, stop=None):
    """Yield all trees of a sentence."""
    stop = len(x) if stop is None else stop
    if stop == start + 1:
        yield from [()] if x[start][0] == symbol else []
        return
    for split in range(start + 1, stop):
        for rule, (top, one, two) in enumerate(RULES):
            if top == symbol:
                for left in trees(x, one, start, split):
                    for rest in trees(x, two, split, stop):
                        yield (*left, *rest, (start, split, stop, rule))


short = [i for i in range(100) if len(X[i]) <= 11][:8]
check_structure(Parser(), [X[i] for i in short], [y[i] for i in short], labellings=trees)

# %%
# Right brackets of held-out sentences with more than one tree: with all phrases joining the last
# noun, with rules alone, and with the words between their parts.

open_ones = [i for i in range(150, 400) if sum(tag == "P" for tag, _ in X[i])]
X_test, y_test = [X[i] for i in open_ones], [y[i] for i in open_ones]
to_noun = np.zeros((len(RULES), 1 + len(WORDS)))
to_noun[RULES.index(("NP", "NP", "PP")), 0] = 1.0
found = [Parser().argmax(x, to_noun.ravel()) for x in X_test]
fractions = {
    "to the noun": 1 - np.mean([Parser().loss(*pair) for pair in zip(y_test, found, strict=True)])
}
for name, words in (("rules", False), ("rules and words", True)):
    model = StructuredSVM(Parser(words), lam=0.003, random_state=0).fit(X[train], y[train])
    fractions[name] = model.score(X_test, y_test)
    print(f"{name}: gap {model.dual_gap_:.4f}, certified {model.certified_}")
print({name: round(float(fraction), 3) for name, fraction in fractions.items()})

# %%
# The learned preference of each preposition, and that of the treebank.

w = model.coef_.reshape(len(RULES), -1)[:, 1:]
verb, noun = (w[RULES.index((symbol, symbol, "PP"))] for symbol in ("VP", "NP"))
learned = [(verb - noun)[WORDS.index(word)] for word in LEXICON["P"]]
fig, (ax, other) = plt.subplots(1, 2, figsize=(8, 2.8), layout="constrained")
ax.barh(list(fractions), list(fractions.values()), color=["tab:gray", "tab:gray", "tab:blue"])
ax.invert_yaxis()
ax.set(xlim=(0.5, 1), xlabel="fraction of right brackets")
other.scatter([TO_THE_VERB[word] for word in LEXICON["P"]], learned)
for word, score in zip(LEXICON["P"], learned, strict=True):
    other.annotate(word, (TO_THE_VERB[word], score), xytext=(4, 4), textcoords="offset points")
other.axhline(0, color="black", linewidth=0.8)
other.set(xlabel="joins the verb: fraction in the treebank", ylabel="score learned")
other.margins(0.15)
plt.show()
