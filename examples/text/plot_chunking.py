"""
Chunking: noun phrases of text, by SequenceTagger
=================================================

A tagger of BIO labels takes words as dicts. The score counts whole phrases: a phrase with one
wrong end is wrong.
"""

# %%
# Sentences of a small grammar. "Light", "run" and "fast" may be verbs, nouns or adjectives,
# depending on their neighbours.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.base import clone
from sklearn.feature_extraction import DictVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from sskit import SequenceTagger, StructSVMClassifier
from sskit.metrics import span_f1_score

WORDS = {
    "determiner": ["the", "a", "this", "every"],
    "adjective": ["old", "light", "fast", "green", "calm"],
    "noun": ["dog", "light", "run", "house", "river", "fast"],
    "verb": ["sees", "runs", "light", "run", "finds", "fast"],
    "preposition": ["in", "near", "with"],
}
rng = np.random.default_rng(0)


def phrase(kind):
    """Return the word classes of a phrase."""
    if kind == "VP":
        return ["verb"] * int(rng.integers(1, 3))
    adjectives = ["adjective"] * int(rng.integers(0, 3))
    noun = ["determiner"] * int(rng.random() < 0.6) + adjectives + ["noun"]
    return noun if kind == "NP" else ["preposition", *noun]


def sentence():
    """Return words and their BIO labels."""
    words, labels = [], []
    for kind in ("NP", "VP", "NP", "PP")[: int(rng.integers(2, 5))]:
        for place, word_class in enumerate(phrase(kind)):
            words.append(str(rng.choice(WORDS[word_class])))
            labels.append(("I-" if place else "B-") + kind)
    return words, labels


def describe(words):
    """Return a dict for each word: itself and its neighbours."""
    around = ["(start)", *words, "(end)"]
    return [
        {"word": here, "before": before, "after": after}
        for before, here, after in zip(around, words, around[2:], strict=False)
    ]


sentences = [sentence() for _ in range(500)]
X = [describe(words) for words, _ in sentences]
y = [labels for _, labels in sentences]
X_train, X_test, y_train, y_test = train_test_split(X, y, train_size=0.4, random_state=0)

# %%
# The tagger takes the dicts and converts them to rows of numbers. ``allowed_transitions="bio"``
# forbids labellings that are not phrases.

tagger = SequenceTagger(allowed_transitions="bio", random_state=0).fit(X_train, y_train)

# %%
# Tag a new sentence. Words with several classes are distinguished by their neighbours.

predicted = tagger.predict(X_test)
longest = max(range(len(X_test)), key=lambda i: len(X_test[i]))
for word, label, truth in zip(X_test[longest], predicted[longest], y_test[longest], strict=True):
    print(f"{word['word']:8s} {label:6s}", "" if label == truth else f"(it is {truth})")

# %%
# The scores by kind of phrase show what the neighbours contribute. They are compared with the same
# tagger without the neighbouring words in its dicts, and with a classifier of single words.


def words_only(sentences):
    """Return the dicts of sentences without the neighbours."""
    return [[{"word": token["word"]} for token in sentence] for sentence in sentences]


alone = clone(tagger).fit(words_only(X_train), y_train)
classifier = make_pipeline(DictVectorizer(), StructSVMClassifier(random_state=0))
classifier.fit(sum(words_only(X_train), []), sum(y_train, []))
found = {
    "classifier of words": [classifier.predict(sentence) for sentence in words_only(X_test)],
    "tagger of words": alone.predict(words_only(X_test)),
    "tagger of words and neighbours": predicted,
}
kinds = ["NP", "PP", "VP"]
fig, ax = plt.subplots(figsize=(7, 3.4), layout="constrained")
for k, (name, labels) in enumerate(found.items()):
    by_kind = span_f1_score(y_test, labels, average=None)
    scores = [by_kind[kind] for kind in kinds]
    bars = ax.bar(np.arange(len(kinds)) + 0.27 * (k - 1), scores, width=0.25, label=name)
    ax.bar_label(bars, fmt="%.2f", fontsize=9)
    print(f"{name:31s} F1 of all phrases {span_f1_score(y_test, labels):.3f}")
ax.set(xticks=range(len(kinds)), xticklabels=kinds, ylabel="F1 of phrases", ylim=(0, 1.35))
ax.legend(frameon=False, loc="upper left")
plt.show()
