"""Calls that type checkers must reject, each where it says so: .ci/check_types.py.

It is read, never run. Each wrong line has a right one of the same kind above it.
"""

import numpy as np

import sskit
from sskit import (
    CalibratedTagger,
    EarlyStopping,
    GraphTagger,
    HierarchicalMultilabel,
    MultilabelPairwise,
    PartsModel,
    RankingSVM,
    RegularizationPath,
    SegmentTagger,
    SequenceTagger,
    SlackRescaling,
    StructSVMClassifier,
    StructuredModel,
    StructuredSVM,
    TreeTagger,
)
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

tagger = SequenceTagger(0.1, rescaling=SlackRescaling("exact"), allowed_transitions="bio")
SequenceTagger(lambda_=1)  # rejected
SequenceTagger(lam="x")  # rejected
SequenceTagger(rescaling="slacks")  # rejected
SequenceTagger(0.1, "slack")  # rejected
SequenceTagger(allowed_transitions="iob")  # rejected
SequenceTagger(loss="zero_one")  # rejected
SequenceTagger(order=3)  # rejected
SequenceTagger(solver="sgd")  # rejected
BCFW(steps="pairwise", cache=True)
BCFW(step="fw")  # rejected
MultiPlane(steps="projection")  # rejected
GDMM(method="cg")  # rejected
Subgradient(0.1)  # rejected
TreeTagger(class_weight="balance")  # rejected
GraphTagger(inference="graphcut")  # rejected
SegmentTagger(max_length="all")  # rejected
StructSVMClassifier(kernel="gauss")  # rejected
MultilabelPairwise(edges="none")  # rejected
HierarchicalMultilabel(0.1, 0.2)  # rejected
PartsModel()  # rejected
StructuredSVM()  # rejected
CalibratedTagger(tagger, method="platt")  # rejected
EarlyStopping(tagger, n_iter_no_change="5")  # rejected
RegularizationPath(tagger, 0.1)  # rejected
Distributed(SequenceTagger)  # rejected
StructuredHinge("forest")  # rejected
SlackRescaling("newton")  # rejected
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
StructSVMClassifier().fit(rows, labels).predict(rows, labels)  # rejected
RankingSVM().fit(rows, labels).classes_  # rejected
RegularizationPath(tagger).fit(X, y).gap_at("1")  # rejected
CalibratedTagger(tagger).fit(X, y).sample(X, n="3")  # rejected
TokenVectorizer().fit([["a"]]).vocabulary_[0]  # rejected
RaggedArray(rows)  # rejected


class Heads(StructuredModel):
    """A structure whose names of parameters are its own."""

    n_weights = 3

    def loss(self, truth, heads):
        return 1.0


class Depths(StructuredModel):
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
