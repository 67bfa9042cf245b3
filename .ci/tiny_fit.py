"""Load every compiled module, train on next to nothing: is an installation whole?"""

import importlib.util
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import numpy as np

import sskit
from sskit import SequenceTagger, StructSVMClassifier
from sskit.testing import check_problem

assert importlib.util.find_spec("pytest") is None, "the environment is not bare"
package = Path(sskit.__file__).parent
compiled = sorted(path for path in package.rglob("*") if path.name.endswith(EXTENSION_SUFFIXES[0]))
for path in compiled:
    parts = path.relative_to(package.parent).with_name(path.name.partition(".")[0]).parts
    importlib.import_module(".".join(parts))
assert compiled
X = np.array([[0.0, 1.0], [1.0, 0.0], [0.1, 0.9], [0.8, 0.2]])
y = np.array(["a", "b", "a", "b"])
classifier = StructSVMClassifier(lam=0.01, random_state=0).fit(X, y)
assert list(classifier.predict(X)) == list(y)
tagger = SequenceTagger(lam=0.01, random_state=0).fit([X, X[:3]], [y, y[:3]])
assert [list(labels) for labels in tagger.predict([X, X[:3]])] == [list(y), list(y[:3])]
assert classifier.certified_ and tagger.certified_
check_problem(classifier._make_task(X, y, None).problem, random_state=0)
print(f"sskit {sskit.__version__}: {len(compiled)} compiled modules load, two estimators train")
