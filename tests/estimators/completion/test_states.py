"""Hidden states of labels, whatever they are labels of."""

import numpy as np
import pytest

from sskit import GraphTagger, SequenceTagger, TreeTagger

ROWS = [np.random.default_rng(i).normal(size=(4, 2)) for i in range(5)]
PATH = np.array([[0, 1], [1, 2], [2, 3]])
INPUTS = {
    SequenceTagger: ROWS,
    TreeTagger: [(rows, [-1, 0, 1, 1]) for rows in ROWS],
    GraphTagger: [(rows, PATH) for rows in ROWS],
}


@pytest.mark.parametrize("family", INPUTS)
def test_states_of_the_only_label_cost_nothing(family):
    model = family(n_states_per_label=2, random_state=0)
    model.fit(INPUTS[family], [np.zeros(4, dtype=int)] * 5)
    assert model.primal_objective_ == 0.0
    assert not model.coef_.any()
