"""
Finding phrases: dicts, a pipeline and a grid search by span F1
===============================================================

Words described by dicts go through :class:`~sskit.preprocessing.TokenTransformer` into a tagger of
BIO labels. Scikit-learn's grid search chooses the regularisation by the F1 of whole phrases, which
is what such a tagger is for: a phrase with one wrong end is a wrong phrase.
"""

# %%
# Sentences of a small grammar, made on the spot. "light", "run" and "fast" may be verbs, nouns or
# adjectives: which, only their neighbours tell.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction import DictVectorizer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

from sskit import SequenceTagger
from sskit.display import TransitionDisplay
from sskit.metrics import span_f1_score, span_f1_scorer
from sskit.preprocessing import TokenTransformer

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
# The whole pipeline is what is cross-validated. ``transitions="bio"`` rules out labellings that
# are no phrases.

pipeline = make_pipeline(
    TokenTransformer(DictVectorizer()), SequenceTagger(transitions="bio", random_state=0)
)
lams = 10.0 ** np.arange(-4, 1)
search = GridSearchCV(pipeline, {"sequencetagger__lam": lams}, scoring=span_f1_scorer, cv=4)
search.fit(X_train, y_train)
predicted = search.predict(X_test)
print(f"lam {search.best_params_['sequencetagger__lam']:g}")
print(f"F1 of phrases on the test sentences {span_f1_score(y_test, predicted):.3f}")

# %%
# Left: the choice. Right: what the tagger has learnt about neighbouring labels. Grey transitions
# may not occur.

fig, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
mean, std = (search.cv_results_[f"{name}_test_score"] for name in ("mean", "std"))
left.errorbar(lams, mean, std, marker="o", capsize=3)
left.axvline(search.best_params_["sequencetagger__lam"], color="tab:orange", linestyle="--")
left.set(xscale="log", xlabel="lam", ylabel="F1 of phrases, four folds")
TransitionDisplay.from_estimator(search.best_estimator_[-1], ax=right)
plt.show()
