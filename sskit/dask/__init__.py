"""Fits to data in parts, on many machines or one after the other on one.

Needs Dask, the extra ``dask``: ``pip install sskit-learn[dask]``.
"""

# Design
#
# What. `Distributed` fits an estimator to data in parts. Parts are summarised, the summaries are
# merged once, each part is bound by the merged summary, and every place makes passes over its
# parts. The mathematics is in solvers/distributed; here are collections, the places of parts (this
# process, or the workers of a cluster), checkpoints and lost parts.
#
# Why so.
# - A part keeps its dual variables, and sends changes of one vector of weights: traffic does not
#   grow with the data. Any dual variables are feasible, so that a lost part begins at its last
#   checkpoint, or at the truth, and the certificate stays valid.
# - Updates of all places are added, each computed against a curvature that is larger by their
#   number (CoCoA+, Ma et al. 2015), and rounds are extrapolated; with one place it is an ordinary
#   fit.
# - Of a likelihood visits are dual steps, or places return loss and gradient at weights, and L-BFGS
#   takes its steps in the process of the fit: nothing at a place has then to be restored.
# - On a cluster a place is an actor beside its data; without one, lazy parts are loaded for each
#   pass, four at a time, so that data need not fit in memory.
# - Where oracles of many blocks are called at the same weights, and all parts are at one place, the
#   other workers have copies and answer for a share of the questions (`RemotePool`). Dual variables
#   stay at the place, so that a lost helper costs nothing, and weights are those of one worker.
# - The fitted estimator is an ordinary one: nothing of Dask is left in it.
#
# Tried or considered, and left. Averaging the updates instead of adding them: it needs
# more rounds with each place (the paper's comparison). One loaded part at a time: the weights fit
# that part alone, so that four are visited in turns. Workers that all have the data and exchange
# steps in short rounds: on text a step of another costs half of a visit (benchmarks, "Several
# machines that all have the data").

from sskit._optional import optional
from sskit._public import export_from

with optional():
    from sskit.dask._distributed import Distributed

__all__ = ["Distributed"]

export_from(__name__)
