"""Save small models of this version, for the tests of this one and of all later ones.

Run it once when a version is about to be released, from any folder:

    .venv/bin/python tests/saved_models/make.py

It writes a folder named for the version, with a file for each model below: a dict of the model,
of data, and of all that the model says of them. The folders of earlier versions are never written
again: what they hold must be read, and say the same, for good (see ``tests/test_saved_models.py``).
"""

import sys
import zipfile
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from helpers.saved import MODELS, PATHS, WARM, answers  # noqa: E402
from sklearn.base import clone  # noqa: E402
from skops import io  # noqa: E402

import sskit  # noqa: E402

# Every estimator, kernel and form of a state once; all files are to stay below 340 kB together.
NAMES = [
    "classifier, names",
    "classifier, two classes",
    "classifier, slack, warm",
    "classifier, rbf",
    "classifier, poly",
    "tagger",
    "tagger, transitions",
    "tagger, rbf",
    "segments",
    "classifier, precomputed",
    "trees, kinds, warm",
    "graphs",
    "graphs, tables",
    "graphs, any pairs",
    "ranking",
    "sets",
    "sets, cut",
    "hierarchy, graph",
    "poses, names",
    "stopping",
    "calibrated",
    "pipeline, nodes",
    "pipeline, tokens",
    "path, box",
    "path, poly",
    "path, tagger",
    "path, tagger, rbf",
    "path, segments",
    "path, trees",
    "path, graphs",
    "path, any graphs",
    "path, sets",
    "path, poses",
]


def main():
    """Write the files."""
    target = FOLDER / sskit.__version__
    target.mkdir(exist_ok=True)
    for name in NAMES:
        estimator, data = (MODELS | WARM | PATHS)[name]
        X, y = data()
        model = clone(estimator).fit(X, y)
        few = X[:2]
        saved = {"model": model, "X": few, "answers": [np.asarray(a) for a in answers(model, few)]}
        file = target / (name.replace(", ", "-").replace(" ", "_") + ".skops")
        io.dump(saved, file, compression=zipfile.ZIP_DEFLATED, compresslevel=9)
        print(f"{file.name:32} {file.stat().st_size:6}")


if __name__ == "__main__":
    main()
