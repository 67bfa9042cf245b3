"""Time of a pass with a user's own compiled chain and with that of the package, on OCR letters.

The structure is ``examples/compiled/linear_chain.pyx``, which is compiled first, into a temporary
folder. Passes of both alternate in one run, from the same start in the same order, and medians are
compared. Needs the OCR data set, see sskit.datasets.

    python examples/benchmarks/compiled_chain.py
"""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from _common import alternate, ocr
from passes_ocr import Bench

from sskit.inputs.ragged import stack_sequences

SOURCES = Path(__file__).resolve().parents[1] / "compiled"


class OwnBench(Bench):
    """The same with a structure of one's own."""

    def bind(self, labels, cost, block_weight):
        """Return the problem of the same words and the structure that was compiled."""
        from linear_chain import LinearChain

        from sskit.models.structure import StructuredProblem

        problem = super().bind(labels, cost, block_weight)
        return StructuredProblem(problem.map, LinearChain(problem.map), problem.loss, block_weight)


def compile_structures(folder):
    """Compile the structures by their setup.py, and let them be imported from a folder."""
    sources = shutil.copytree(SOURCES, Path(folder, "sources"))
    command = [sys.executable, "setup.py", "-q", "build_ext", "--build-lib", folder]
    subprocess.run(command, cwd=sources, check=True)
    sys.path.append(folder)


def report(size, lam):
    """Print the passes of both."""
    X, y, _, _ = ocr(size)
    stacked = stack_sequences(X)
    ours, own = Bench(stacked, y, lam), OwnBench(stacked, y, lam)
    assert np.allclose(ours.regularizer.w, own.regularizer.w)
    passes = [ours.steps, own.steps, ours.exact, own.exact]
    times = alternate(passes, 60, clock=time.process_time)
    steps, own_steps, exact, own_exact = (1e6 * seconds / ours.n for seconds in times)
    print(
        f"OCR-{size}, lam {lam:g}, microseconds a word: BCFW pass {steps:.2f}, own "
        f"{own_steps:.2f}, ratio {own_steps / steps:.3f}; exact pass {exact:.2f}, own "
        f"{own_exact:.2f}, ratio {own_exact / exact:.3f}"
    )


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        compile_structures(folder)
        report("small", 0.01)
        report("large", 0.01)
