"""
A dependency parser in compiled code: StructuredSVM
===================================================

A dependency parse assigns to every word its head, another word. In a *projective tree* no two arcs
cross, and arcs form no cycle. The package has no such structure; here it is one file of compiled
code, ``examples/compiled/projective_parse.pyx``, which :doc:`/how_to/write_your_own` explains.
The example compares it with the same features trained word by word, where each word takes the head
of the highest score.
"""

# %%
# The file is compiled against the installed package, by a ``setup.py`` of ten lines, here into a
# temporary folder. That needs a C++ compiler, and some twenty seconds.

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array

from sskit import StructuredModel, StructuredSVM

# the sources are beside this script; the gallery runs it in their folder
here = Path(__file__).parents[1] if "__file__" in globals() else Path("..")
folder = shutil.copytree(here / "compiled", Path(tempfile.mkdtemp(), "compiled"))
command = [sys.executable, "setup.py", "build_ext", "--inplace"]
subprocess.run(command, cwd=folder, check=True, capture_output=True)
sys.path.append(str(folder))

from projective_parse import ParseModel

# %%
# A synthetic treebank. Verbs have a subject, objects, adverbs and prepositions; nouns have
# articles, adjectives and prepositions too. Each preposition prefers verbs or nouns. One tag in
# twelve is wrong, as it is with real taggers.

TAGS = ["root", "D", "J", "N", "V", "P", "A"]
WORDS = {"D": ["the", "a"], "J": ["old", "small", "red"], "N": ["cook", "fork", "pizza", "table"],
         "V": ["eats", "sees", "makes"], "P": ["with", "of", "by", "on"],
         "A": ["often", "here", "slowly"]}  # fmt: skip
TO_NOUNS = {"with": 0.4, "of": 0.95, "by": 0.1, "on": 0.6}
PREPOSITIONS = WORDS["P"]


def phrase(rng, tag, depth=0, word=None):
    """Return a phrase as (tag, word, phrases before, phrases behind)."""
    before, behind = [], []
    few = 0.6**depth
    if tag == "V":
        before = [phrase(rng, "N", depth + 1)]
        before += [phrase(rng, "A")] * (rng.random() < 0.3)
        behind = [phrase(rng, "N", depth + 1)] * (rng.random() < 0.8)
        behind += [phrase(rng, "A")] * (rng.random() < 0.3)
    elif tag == "N":
        before = [phrase(rng, "D")] * (rng.random() < 0.8)
        before += [phrase(rng, "J") for _ in range(rng.integers(3))]
    elif tag == "P":
        behind = [phrase(rng, "N", depth + 1)]
    if tag in "NV" and rng.random() < few:
        of_nouns = np.array([TO_NOUNS[p] if tag == "N" else 1 - TO_NOUNS[p] for p in PREPOSITIONS])
        chosen = str(rng.choice(PREPOSITIONS, p=of_nouns / of_nouns.sum()))
        behind.append(phrase(rng, "P", depth + 1, chosen))
    return tag, word or str(rng.choice(WORDS[tag])), before, behind


def flatten(tree):
    """Return the tags, the words and the heads of a phrase, and where its own word stands."""
    tag, word, before, behind = tree
    tags, words, heads, tops = [], [], [], []
    for part in [*before, None, *behind]:
        if part is None:
            own = len(tags)
            tags, words, heads = [*tags, tag], [*words, word], [*heads, None]
            continue
        more_tags, more_words, more_heads, top = flatten(part)
        tops.append(top + len(tags))
        heads += [None if head is None else head + len(tags) for head in more_heads]
        tags, words = tags + more_tags, words + more_words
    for top in tops:
        heads[top] = own + 1
    return tags, words, heads, own


rng = np.random.default_rng(0)
bank = [flatten(phrase(rng, "V")) for _ in range(600)]
y = [np.array([head or 0 for head in heads]) for _, _, heads, _ in bank]
said = [words for _, words, _, _ in bank]
seen = [
    [str(rng.choice(TAGS[1:])) if rng.random() < 1 / 12 else tag for tag in tags]
    for tags, *_ in bank
]
print(" ".join(said[0]), y[0])

# %%
# An arc has three features: the tags of both words with the side, the distance with the tag, and
# the preposition with the tag of its head. Each selects one entry of a table, so a row has three
# ones.

n_tags, n_words = len(TAGS), len(PREPOSITIONS) + 1
SIZES = np.array([n_tags * n_tags * 2, n_tags * 2 * 5, n_tags * n_words * 2])


def arcs(tags, words):
    """Return the features of all arcs, (n * (n + 1), p)."""
    n = len(tags)
    tag = np.array([0, *map(TAGS.index, tags)])
    word = np.array([PREPOSITIONS.index(w) + 1 if w in PREPOSITIONS else 0 for w in words])
    m, h = map(np.ravel, np.meshgrid(np.arange(1, n + 1), np.arange(n + 1), indexing="ij"))
    right, far = 1 * (m > h), np.minimum(np.abs(m - h), 5) - 1
    far = np.maximum(far, 0)
    columns = [
        (tag[h] * n_tags + tag[m]) * 2 + right,
        (tag[m] * 5 + far) * 2 + right,
        (tag[h] * n_words + word[m - 1]) * 2 + right,
    ]
    columns = np.stack(columns, axis=1) + np.concatenate([[0], SIZES.cumsum()[:-1]])
    starts = np.arange(len(m) + 1) * 3
    return csr_array((np.ones(columns.size), columns.ravel(), starts), (len(m), SIZES.sum()))


X = [arcs(*pair) for pair in zip(seen, said, strict=True)]
train, test = slice(0, 300), slice(300, None)

# %%
# The baseline has the same features and the same loss, but treats every word separately.


class WordByWord(StructuredModel):
    """y has a head for each word, chosen independently."""

    n_weights = int(SIZES.sum())
    costly = False

    def rows(self, y):
        return np.arange(len(y)) * (len(y) + 1) + y

    def joint_feature(self, x, y):
        return x[self.rows(y)].sum(axis=0)

    def loss(self, y_true, y):
        return np.mean(y != y_true)

    def argmax(self, x, w, y_true=None):
        n = int(x.shape[0] ** 0.5)
        scores = (x @ w).reshape(n, n + 1)
        scores[np.arange(n), np.arange(1, n + 1)] = -np.inf
        if y_true is not None:
            scores += (np.arange(n + 1) != y_true[:, None]) / n
        return scores.argmax(axis=1)


def is_tree(y):
    """Return whether heads are those of a projective tree."""
    for word in range(1, len(y) + 1):
        for _ in y:
            word = y[word - 1] if word else 0
        if word:
            return False
    spans = [sorted((m + 1, h)) for m, h in enumerate(y)]
    return not any(a < c < b < d for a, b in spans for c, d in spans)


fractions, found = {}, {}
for name, model in (("word by word", WordByWord()), ("tree", ParseModel())):
    parser = StructuredSVM(model, lam=0.002, random_state=0).fit(X[train], y[train])
    found[name] = parser.predict(X[test])
    right = np.mean([np.array_equal(*pair) for pair in zip(found[name], y[test], strict=True)])
    trees = np.mean([is_tree(heads) for heads in found[name]])
    fractions[name] = parser.score(X[test], y[test]), right, trees
    print(f"{name}: gap {parser.dual_gap_:.4f}, certified {parser.certified_}")
print({name: np.round(values, 3).tolist() for name, values in fractions.items()})

# %%
# The five best parses of a sentence, and the score that each other head of a word would lose, come
# from the same file without further code.

best, scores = parser.predict_topk(X[test][:1], 5, return_scores=True)
print(*zip(best[0], scores[0].round(3).tolist(), strict=True), sep="\n")

# %%
# Held-out sentences, and one for which the baseline gives no tree.


def draw(ax, words, y, truth, title):
    """Draw the arcs of a parse; wrong ones are red."""
    for m, (head, right) in enumerate(zip(y, truth, strict=True), start=1):
        t = np.linspace(0, np.pi, 40)
        x = (m + head) / 2 + (m - head) / 2 * np.cos(t)
        ax.plot(x, abs(m - head) ** 0.7 * np.sin(t), c="C0" if head == right else "C3", lw=1.5)
    for k, word in enumerate(["(root)", *words]):
        ax.text(k, -0.3, word, ha="center", va="top", rotation=40, rotation_mode="default")
    ax.set(title=title, xlim=(-0.7, len(words) + 0.7), ylim=(-2.2, None))
    ax.axis("off")


gains = [
    (np.mean(a == z) - np.mean(b == z)) * (len(z) < 12) * (not is_tree(b))
    for a, b, z in zip(found["tree"], found["word by word"], y[test], strict=True)
]
k = int(np.argmax(gains))
words, truth = said[test][k], y[test][k]
fig, axes = plt.subplots(1, 3, figsize=(12, 3.4), width_ratios=[4, 4, 3], layout="constrained")
draw(axes[0], words, found["word by word"][k], truth, "word by word")
draw(axes[1], words, found["tree"][k], truth, "tree")
places = np.arange(3)
for shift, (name, values) in zip((-0.2, 0.2), fractions.items(), strict=True):
    bars = axes[2].bar(places + shift, values, 0.4, label=name)
    axes[2].bar_label(bars, fmt="%.2f", fontsize=8)
axes[2].set(xticks=places, xticklabels=["right heads", "right sentences", "trees"], ylim=(0, 1.25))
axes[2].legend(ncols=2, loc="upper center", fontsize=8)
plt.show()
