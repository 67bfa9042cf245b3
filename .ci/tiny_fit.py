"""Train both estimators on next to nothing, and check a problem: does an installation work?"""

import importlib.util

import numpy as np

import sskit
from sskit import SequenceTagger, StructSVMClassifier
from sskit.testing import check_problem

assert importlib.util.find_spec("pytest") is None, "the environment is not bare"
X = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.8, 0.2]])
y = np.array(["a", "b", "a", "b"])
classifier = StructSVMClassifier(lam=0.01, random_state=0).fit(X, y)
assert list(classifier.predict(X)) == list(y)
tagger = SequenceTagger(lam=0.01, random_state=0).fit([X, X[:3]], [y, y[:3]])
assert [list(labels) for labels in tagger.predict([X, X[:3]])] == [list(y), list(y[:3])]
assert classifier.certified_ and tagger.certified_
check_problem(classifier._make_task(X, y, None).problem, random_state=0)
print(f"sskit {sskit.__version__}: both estimators train and predict")
