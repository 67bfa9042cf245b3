"""Where an optional package is missing, the error has the line that installs it."""

import sys

import numpy as np
import pytest
from helpers.public import PROJECT

from sskit import SequenceTagger
from sskit._optional import EXTRAS, optional
from sskit.display import ConfusionDisplay, TransitionDisplay
from sskit.inspection import errors_frame
from sskit.preprocessing import SuperpixelGraphs

X, Y = [np.eye(2)] * 4, [["a", "b"]] * 4
IMAGE = np.arange(75, dtype=np.uint8).reshape(5, 5, 3)
CALLS = {
    "pandas": [
        lambda tagger: tagger.weights_frame(),
        lambda tagger: tagger.explain(X, 0, 0),
        lambda tagger: errors_frame(tagger, X, Y),
    ],
    "matplotlib": [
        lambda tagger: TransitionDisplay.from_estimator(tagger),
        lambda tagger: ConfusionDisplay.from_estimator(tagger, X, Y),
    ],
    "skimage": [lambda tagger: SuperpixelGraphs(4).fit_transform([IMAGE])],
}


@pytest.mark.parametrize("package", CALLS)
def test_a_missing_package_is_named_with_its_extra(package, monkeypatch):
    tagger = SequenceTagger(tol=0.5, random_state=0).fit(X, Y)
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, package, None)
    for call in CALLS[package]:
        with pytest.raises(ImportError, match=package) as caught:
            call(tagger)
        assert f'pip install "sskit-learn[{EXTRAS[package]}]"' in str(caught.value)


def test_what_else_is_missing_is_not_explained():
    with pytest.raises(ModuleNotFoundError, match="No module named 'no_such'"), optional():
        import no_such  # noqa: F401


def test_the_extras_exist():
    assert {*EXTRAS.values()} <= {*PROJECT["optional-dependencies"]}
