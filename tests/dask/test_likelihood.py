"""Likelihoods of data in parts are those of the data in one piece, by the same solver."""

import numpy as np
import pytest
from helpers.crossing import in_turn
from helpers.objectives import bracket
from helpers.parts import CASES, CLASSES, ROWS, RULES, TAGS, THREES, TOKENS, WEIGHT, columns, lazy
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sskit import SequenceTagger, StructSVMClassifier
from sskit.solvers import LBFGS, ExponentiatedGradient
from sskit.solvers.common.progress import Progress
from sskit.solvers.distributed.run import PartsLost

dask = pytest.importorskip("dask")

from sskit.dask import Distributed  # noqa: E402
from sskit.dask._places import InProcess  # noqa: E402

FIELD = SequenceTagger(surrogate="log", lam=0.05, tol=1e-8, max_iter=5000)
NAMES = (
    "rows with weights", "float32", "balanced with weights", "sparse rows", "sequences",
    "edges", "second order", "segments", "lists of segments", "trees",
)  # fmt: skip
OF_A_LOSS = {"rescaling": "margin", "loss": None, "class_weight": None}


X, Y, OF_WHOLE = *columns((TOKENS, TAGS), 3), (TOKENS, TAGS)


def assert_same_fit(found, one):
    """Two fits have taken the same steps, up to the order of sums."""
    assert found.n_iter_ == one.n_iter_ and found.certified_ == one.certified_
    assert found.lam_ == pytest.approx(one.lam_, rel=1e-12)
    for name in ("primal_objective_", "dual_objective_"):
        assert getattr(found, name) == pytest.approx(getattr(one, name), rel=1e-9)
    np.testing.assert_allclose(found.coef_, one.coef_, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("name", "way"), in_turn(NAMES, [(None, False), (lazy, True), (None, True), (lazy, False)])
)
@pytest.mark.parametrize("bounds", [None, (-0.1, 0.1)])
def test_steps_are_those_of_the_data_in_one_piece(name, way, bounds):
    (wrap, has_prior), (estimator, *data) = way, CASES[name]
    estimator = clone(estimator).set_params(surrogate="log", tol=1e-3, solver="lbfgs")
    estimator.set_params(bounds=bounds)
    if not isinstance(estimator, StructSVMClassifier):
        defaults = type(estimator)().get_params()
        estimator.set_params(**{key: defaults[key] for key in OF_A_LOSS if key in defaults})
    elif estimator.rescaling == "slack":
        estimator.set_params(rescaling="margin")
    if has_prior:
        estimator.set_params(prior=clone(estimator).set_params(tol=0.1).fit(*data))
    model = Distributed(estimator).fit(*columns(data, 5, *filter(None, [wrap])))
    whole = clone(estimator).fit(*data)
    assert_same_fit(model.estimator_, whole)
    if bounds is not None:
        assert model.estimator_.coef_.max() == pytest.approx(0.1, abs=1e-12)
    given = {name for name in vars(whole) if name.endswith("_")}
    assert {name for name in vars(model.estimator_) if name.endswith("_")} == given
    history = model.history_
    assert history["exact"].all() and history["n_passes"][-1] == whole.n_iter_
    assert (history["visit_time"] + history["merge_time"] <= history["time"]).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_auto_is_lbfgs_and_rules_and_threads_are_those_of_the_estimator(n_jobs):
    allowed = RULES & ~np.eye(5, dtype=bool)
    options = {"allowed_transitions": allowed, "on_violation": "ignore", "n_jobs": n_jobs}
    model, tags = clone(FIELD).set_params(**options), [np.roll(tags, 1) for tags in TAGS]
    data = THREES, [labels[[0, -1, 0]] for labels in tags], WEIGHT
    found = Distributed(model).fit(*columns(data, 4)).estimator_
    assert type(found.solver_) is LBFGS
    assert_same_fit(found, clone(model).set_params(solver="lbfgs").fit(*data))


def test_unknown_labels_are_summed_over_whichever_part_has_them():
    hidden = [[*labels] for labels in TAGS]
    hidden[-1][0] = hidden[-2][0] = "?"
    model = clone(FIELD).set_params(ignore_label="?", tol=1e-3)
    for order in (slice(None), slice(None, None, -1)):
        data = TOKENS[order], hidden[order]
        found = Distributed(model).fit(*columns(data, 4)).estimator_
        assert not found.certified_
        assert_same_fit(found, clone(model).set_params(solver="lbfgs").fit(*data))


def test_checkpoints_and_warm_starts_are_weights(tmp_path):
    model = Distributed(FIELD, checkpoint=tmp_path / "points", checkpoint_every=2)
    with pytest.warns(ConvergenceWarning):
        begun = clone(model).set_params(estimator__max_iter=6).fit(X, Y)
    fitted = clone(model).fit([lazy(x) for x in X], Y)
    one = clone(FIELD).set_params(solver="lbfgs").fit(*OF_WHOLE)
    np.testing.assert_allclose(fitted.estimator_.coef_, one.coef_, atol=1e-3)
    assert fitted.estimator_.n_iter_ < one.n_iter_
    assert fitted.history_["n_passes"][0] == 0
    assert begun.estimator_.primal_objective_ >= one.dual_objective_
    # the end of that one is the beginning of the next
    assert clone(model).fit(X, Y).estimator_.n_iter_ == 0
    for changed, message in (
        ({"estimator__surrogate": "hinge"}, "^part 0: the checkpoint in .* the surrogate changed"),
        ({"estimator__order": 2}, "^part 0: the checkpoint in .* changed"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(model).set_params(**changed).fit(X, Y)
    warm = Distributed(clone(FIELD).set_params(warm_start=True, tol=0.01)).fit(X, Y)
    before = warm.estimator_.n_iter_
    # with a part more
    warm.set_params(estimator__tol=1e-8).fit([*X, X[0]], [*Y, Y[0]])
    cold = clone(FIELD).set_params(solver="lbfgs").fit(TOKENS + X[0], TAGS + Y[0])
    np.testing.assert_allclose(warm.estimator_.coef_, cold.coef_, atol=1e-3)
    assert warm.estimator_.n_iter_ < cold.n_iter_ + before


STEPPING = SequenceTagger(surrogate="log", tol=1e-3, random_state=0)
OF_STEPS = "sequences", "edges", "spans", "ignored rules", "trees"


@pytest.mark.parametrize("bounds", [None, (-0.1, 0.1)])
@pytest.mark.parametrize(
    ("name", "way"), in_turn(OF_STEPS, [(None, False), (lazy, True), (None, True), (lazy, False)])
)
def test_auto_is_the_solver_of_data_in_one_piece(name, way, bounds):
    (wrap, has_prior), (estimator, *data) = way, CASES[name]
    estimator = clone(estimator).set_params(surrogate="log", tol=1e-3, bounds=bounds)
    estimator.set_params(random_state=0)
    if has_prior:
        estimator.set_params(prior=clone(estimator).set_params(tol=0.1).fit(*data))
    found = Distributed(estimator).fit(*columns(data, 5, *filter(None, [wrap]))).estimator_
    one = clone(estimator).fit(*data)
    assert type(found.solver_) is type(one.solver_)
    assert found.certified_ and found.lam_ == pytest.approx(one.lam_, rel=1e-12)
    bracket(found, one)
    given = {name for name in vars(one) if name.endswith("_")}
    assert {name for name in vars(found) if name.endswith("_")} == given


def test_auto_takes_dual_steps_where_they_win_and_fit_into_memory(monkeypatch):
    def solver_of(estimator, data=(X, Y)):
        return type(Distributed(clone(estimator)).fit(*data).estimator_.solver_)

    rows = columns((ROWS, CLASSES), 3)
    of_rows = StructSVMClassifier(surrogate="log", tol=0.01)
    lam = clone(STEPPING).fit(*OF_WHOLE).lam_
    for estimator, data, expected in (
        (STEPPING, (X, Y), ExponentiatedGradient),
        (clone(STEPPING).set_params(lam=0.6 * lam), (X, Y), ExponentiatedGradient),
        (clone(STEPPING).set_params(lam=0.4 * lam), (X, Y), LBFGS),
        (clone(STEPPING).set_params(tol=1e-5, max_iter=5000), (X, Y), LBFGS),
        (clone(STEPPING).set_params(solver="lbfgs"), (X, Y), LBFGS),
        (clone(STEPPING).set_params(order=2), (X, Y), LBFGS),
        (of_rows, rows, LBFGS),
        (clone(of_rows).set_params(bounds=(-1, 1)), rows, ExponentiatedGradient),
    ):
        assert solver_of(estimator, data) is expected
    # of all parts, though one alone would fit
    steps = ExponentiatedGradient()
    n_bytes = clone(STEPPING)._make_task(*OF_WHOLE, None).problem.dual_bytes()
    for share, expected in ((0.5, LBFGS), (2.0, ExponentiatedGradient)):
        steps.set_params(max_memory=share * n_bytes / 2**20)
        monkeypatch.setattr("sskit.estimators.base.estimator.ExponentiatedGradient", lambda: steps)
        assert solver_of(STEPPING) is expected


def test_progress_names_the_solver_that_runs(monkeypatch):
    names = []

    def progress(name, verbose):
        names.append(name)
        return Progress(name, verbose)

    monkeypatch.setattr("sskit.dask._distributed.Progress", progress)
    for tol in (1e-3, 1e-5):
        Distributed(clone(STEPPING).set_params(tol=tol, max_iter=5000)).fit(X, Y)
    assert names == ["Distributed ExponentiatedGradient", "Distributed LBFGS"]


def test_dual_points_of_a_likelihood_are_taken_up_again(tmp_path):
    model = Distributed(STEPPING, checkpoint=tmp_path / "points", checkpoint_every=2)
    with pytest.warns(ConvergenceWarning):
        begun = clone(model).set_params(estimator__max_iter=2).fit(X, Y)
    fitted, cold = clone(model).fit([lazy(x) for x in X], Y), Distributed(STEPPING).fit(X, Y)
    assert fitted.history_["n_passes"][0] == 0
    assert fitted.history_["dual"][0] == pytest.approx(begun.estimator_.dual_objective_, rel=1e-6)
    assert fitted.estimator_.n_iter_ <= cold.estimator_.n_iter_
    assert clone(model).fit(X, Y).estimator_.n_iter_ == 0
    # by another solver from the weights, and back
    for solver in ("lbfgs", "auto"):
        again = clone(model).set_params(estimator__solver=solver).fit(X, Y).estimator_
        assert again.n_iter_ < 6 and again.certified_
        bracket(again, cold.estimator_)
    with pytest.raises(ValueError, match="^part 0: the checkpoint in .* the surrogate changed"):
        clone(model).set_params(estimator__surrogate="hinge").fit(X, Y)
    # with a part more, at another lam
    warm = Distributed(clone(STEPPING).set_params(warm_start=True)).fit(X, Y)
    warm.set_params(estimator__lam=2 * warm.estimator_.lam_).fit([*X, X[0]], [*Y, Y[0]])
    expected = clone(STEPPING).set_params(lam=warm.estimator_.lam_)
    bracket(warm.estimator_, expected.fit(TOKENS + X[0], TAGS + Y[0]))


def test_dual_steps_of_segments_are_refused():
    estimator, *data = CASES["segments"]
    model = type(estimator)(surrogate="log", solver="exponentiated_gradient")
    with pytest.raises(ValueError, match="use 'lbfgs'"):
        Distributed(model).fit(*columns(data, 3))


class MortalPlaces(InProcess):
    """Lose everything at some of the calls, from the beginning on."""

    fatal, moment = (), 0

    def ask(self, method, *args, n_asked=None):
        self.moment += 1
        if self.moment in self.fatal:
            self.n_lost += len(self.parts)
            self.places, self.missing = [], [*range(len(self.parts))]
            raise PartsLost(f"at moment {self.moment}")
        return super().ask(method, *args, n_asked=n_asked)


def test_parts_that_are_lost_change_nothing(monkeypatch):
    made = []

    def make(*given):
        made.append(MortalPlaces(*given))
        return made[-1]

    monkeypatch.setattr("sskit.dask._distributed.InProcess", make)
    expected = Distributed(FIELD).fit(X, Y)
    (places,) = made
    last = places.moment
    for fatal in ({2}, {3}, {4}, {5, 6}, {7, 9}, {last // 2, last - 2}, {last}):
        monkeypatch.setattr(MortalPlaces, "fatal", fatal)
        model = Distributed(FIELD).fit(X, Y)
        np.testing.assert_array_equal(model.estimator_.coef_, expected.estimator_.coef_)
        assert made[-1].n_lost >= len(X)
        assert model.history_["n_lost"].sum() in (made[-1].n_lost, made[-1].n_lost - len(X))


def test_dual_steps_of_parts_that_are_lost_begin_anew(monkeypatch):
    monkeypatch.setattr("sskit.dask._distributed.InProcess", MortalPlaces)
    one = clone(STEPPING).fit(*OF_WHOLE)
    for fatal in ({2}, {3}, {4, 5}, {7}):
        monkeypatch.setattr(MortalPlaces, "fatal", fatal)
        model = Distributed(STEPPING).fit(X, Y)
        assert model.history_["n_lost"].sum() > 0 or fatal == {2}
        assert model.estimator_.certified_
        bracket(model.estimator_, one)
