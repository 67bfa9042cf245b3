"""Calls that type checkers must reject, each where it says so: .ci/check_types.py.

It is read, never run. Each wrong line has a right one of the same kind above it.
"""

import numpy as np

import sskit
from sskit.dask import Distributed
from sskit.datasets import load_conll, make_chains, make_digit_strings, save_conll
from sskit.display import ConvergenceDisplay, TransitionDisplay, show_sequence
from sskit.inspection import weights_frame
from sskit.losses import StructuredHinge
from sskit.metrics import pdj_score, span_f1_score, span_f1_scorer, token_accuracy_score
from sskit.models import CompiledModel
from sskit.oracles import chain_marginals, expansion, tree_top_k, viterbi
from sskit.preprocessing import SuperpixelGraphs, TokenTransformer, TokenVectorizer
from sskit.solvers import BCFW, GDMM, MultiPlane, Subgradient
from sskit.testing import check_structure
from sskit.utils import RaggedArray

X, y = make_chains(random_state=0)
rows, labels = np.eye(3), np.arange(3)

# ---- parameters

slack = sskit.SlackRescaling("exact")
tagger = sskit.SequenceTagger(0.1, rescaling=slack, allowed_transitions="bio")
sskit.SequenceTagger(lambda_=1)  # rejected
sskit.SequenceTagger(lam="x")  # rejected
sskit.SequenceTagger(rescaling="slacks")  # rejected
sskit.SequenceTagger(0.1, "slack")  # rejected
sskit.SequenceTagger(allowed_transitions="iob")  # rejected
sskit.SequenceTagger(loss="zero_one")  # rejected
sskit.SequenceTagger(order=3)  # rejected
sskit.SequenceTagger(solver="sgd")  # rejected
BCFW(steps="pairwise", cache=True)
BCFW(step="fw")  # rejected
MultiPlane(steps="projection")  # rejected
GDMM(method="cg")  # rejected
Subgradient(0.1)  # rejected
sskit.TreeTagger(class_weight="balance")  # rejected
sskit.GraphTagger(inference="graphcut")  # rejected
sskit.SegmentTagger(max_length="all")  # rejected
sskit.StructSVMClassifier(kernel="gauss")  # rejected
sskit.MultilabelPairwise(edges="none")  # rejected
sskit.HierarchicalMultilabel(0.1, 0.2)  # rejected
sskit.PartsModel()  # rejected
sskit.StructuredSVM()  # rejected
sskit.CalibratedTagger(tagger, method="platt")  # rejected
sskit.EarlyStopping(tagger, n_iter_no_change="5")  # rejected
sskit.RegularizationPath(tagger, 0.1)  # rejected
Distributed(sskit.SequenceTagger)  # rejected
StructuredHinge("forest")  # rejected
sskit.SlackRescaling("newton")  # rejected
TokenVectorizer(1)  # rejected
TokenTransformer()  # rejected
SuperpixelGraphs(n_segments="100")  # rejected

# ---- methods and fitted attributes

tagger.fit(X, y, token_weight=y).predict(X, known=y)[0].shape
tagger.fit()  # rejected
tagger.fit(X, y, weight=None)  # rejected
tagger.fit(1, y)  # rejected
tagger.dual_gap  # rejected
tagger.dual_gap_ + "1"  # rejected
tagger.fit(X, y).predict_proba(X)  # rejected
tagger.predict_topk(X)  # rejected
answers, scores = tagger.predict_topk(X, 2, return_scores=True)
tagger.predict_topk(X, 2, return_scores=True).shape  # rejected
tagger.history_.gap  # rejected
sskit.StructSVMClassifier().fit(rows, labels).predict(rows, labels)  # rejected
sskit.RankingSVM().fit(rows, labels).classes_  # rejected
sskit.RegularizationPath(tagger).fit(X, y).gap_at("1")  # rejected
sskit.CalibratedTagger(tagger).fit(X, y).sample(X, n="3")  # rejected
TokenVectorizer().fit([["a"]]).vocabulary_[0]  # rejected
RaggedArray(rows)  # rejected


class Heads(sskit.StructuredModel):
    """A structure whose names of parameters are its own."""

    n_weights = 3

    def loss(self, truth, heads):
        return 1.0


class Depths(sskit.StructuredModel):
    """Its loss lacks the labelling."""

    def loss(self, y_true):  # rejected
        return 1.0


class Compiled(CompiledModel):
    """Its problem is none."""

    def n_states(self, map):
        return 3


# ---- functions

make_digit_strings(10, return_transitions=True)[2].shape
make_digit_strings(10)[2]  # rejected
make_chains(100, 5)  # rejected
load_conll()  # rejected
load_conll("a.txt", columns=3)  # rejected
save_conll("a.txt", y)  # rejected
viterbi([[1, 0], [0, 0.5]], rows, cost=0.5)[1].is_integer()
viterbi(1)  # rejected
viterbi(rows, rows)[2]  # rejected
chain_marginals(rows, rows, return_pairs=True)[3]  # rejected
expansion(rows, moves="jump")  # rejected
tree_top_k(rows, [(0, 1)], rows, 3)  # rejected
token_accuracy_score(y)  # rejected
span_f1_score(y, y, scheme="bioe")  # rejected
span_f1_score(y, y)["LOC"]  # rejected
span_f1_scorer(tagger, X, y).shape  # rejected
pdj_score(y, y, per_part="left")  # rejected
weights_frame(tagger, 20, ["a"])  # rejected
ConvergenceDisplay.from_estimator(tagger, x="passed")  # rejected
TransitionDisplay.from_estimator(tagger).axis_  # rejected
show_sequence(["a"])  # rejected
check_structure(Heads())  # rejected
sskit.CalibratedTager  # rejected
