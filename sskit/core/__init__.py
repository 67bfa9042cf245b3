"""Core: problems, planes and the dual point, regularizers, samplers.

Compiled contracts between models and solvers; nothing here depends on a structure. Import from the
modules themselves: their ``.pxd`` files are the contracts.
"""

from sskit._public import export_from
from sskit.core.fingerprint import Fingerprint

export_from(__name__, Fingerprint)
