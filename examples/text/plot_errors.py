"""
Address parsing: read the errors of a tagger
============================================

A score says how many labels are wrong. What is wrong with a model, or with the data, one sees from
the errors themselves: in their sentences, by type, and the most confident ones first.
"""

# %%
# Addresses are tagged with the kinds of their parts. Streets are called by names that towns have
# too, of one word or two, so some addresses can be read in two ways; and one training label is
# wrong.

import numpy as np
from sklearn.pipeline import make_pipeline

from sskit import CalibratedTagger, SequenceTagger
from sskit.display import ConfusionDisplay, show_sequence
from sskit.inspection import errors_frame
from sskit.preprocessing import TokenVectorizer

rng = np.random.default_rng(0)
NAMES = ["Paris", "Troy", "Athens", "Salem", "Dover", "Milan", "Hill", "Grove"]
KINDS = ["Street", "Avenue", "Road"]


def address():
    """Return the words of an address and their labels."""
    parts = {"number": [str(rng.integers(1, 400))]}
    parts["street"] = [*rng.choice(NAMES, size=rng.integers(1, 3))]
    if rng.random() < 0.6:  # some people leave the kind of the street out
        parts["street"].append(rng.choice(KINDS))
    parts["town"] = [*rng.choice(NAMES[:6], size=rng.integers(1, 3))]
    parts["code"] = [str(rng.integers(10000, 99999))]
    words = [str(word) for some in parts.values() for word in some]
    return words, [kind for kind, some in parts.items() for _ in some]


def features(words):
    """Return what is known of each word."""
    return [{"word": word.lower(), "digits": len(word) * word.isdigit()} for word in words]


addresses, y = map(list, zip(*(address() for _ in range(300)), strict=True))
y[7][1] = "town"
X = [features(words) for words in addresses]
train, test = slice(200), slice(200, None)

# %%
# The tagger with probabilities.

tagger = CalibratedTagger(make_pipeline(TokenVectorizer(), SequenceTagger(random_state=0)))
tagger.fit(X[train], y[train])
print(f"{tagger.score(X[test], y[test]):.3f} of the labels are right")

# %%
# One address. A notebook draws the tokens as blocks; a true label that was missed stands in bold.

proba, y_pred = tagger.predict_proba(X[test]), tagger.predict(X[test])
i = next(i for i, labels in enumerate(y[test]) if labels != y_pred[i].tolist())
confidence = proba[i].max(axis=1)
show_sequence(addresses[test][i], y_pred[i], y_true=y[test][i], confidence=confidence)

# %%
# Which labels are taken for which:

display = ConfusionDisplay.from_predictions(y[test], y_pred, normalize="true", colorbar=False)

# %%
# Where the model is surest of what is called wrong, the label may be wrong instead: the first row
# is the label that was changed above.

errors_frame(tagger, X[train], y[train], top=3)
