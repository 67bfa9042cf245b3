"""Find indices of Python objects in compiled code that nothing checks.

``boundscheck=False`` and ``wraparound=False`` are meant for typed memory, yet Cython applies them
to every index: a list is then read before its beginning or behind its end, and NumPy gets a
negative index as it is (which NumPy 2.5 refuses). A Python object may be indexed by a literal that
is not negative, unless it is a list; else where both directives are on.
"""

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from Cython.Compiler import Errors, Main, Pipeline
from Cython.Compiler.PyrexTypes import PyrexType
from Cython.Compiler.Scanning import FileSourceDescriptor
from Cython.Compiler.Visitor import CythonTransform

FOLDERS = ("sskit", "tests/compiled", "examples/compiled")
DIRECTIVES = {"language_level": 3, "boundscheck": False, "wraparound": False}
CURE = "decorate the function with @cython.boundscheck(True) and @cython.wraparound(True)"


class IndexCheck(CythonTransform):
    """Notes the unchecked indices of one file, once all types are known."""

    def __init__(self, context, path):
        super().__init__(context)
        self.path, self.faults = path, set()

    def visit_Node(self, node):
        """Go on with what is inside."""
        self.visitchildren(node)
        return node

    def visit_IndexNode(self, node):
        """Note an index that is not checked."""
        self.visitchildren(node)
        checked = self.current_directives["boundscheck"] and self.current_directives["wraparound"]
        # what Cython itself adds to a module is in other files
        if checked or node.pos[0].get_filenametable_entry() != str(self.path):
            return node
        base, index = node.base.type, node.index
        if not isinstance(base, PyrexType) or not base.is_pyobject or not index.type.is_int:
            return node
        literal = index.constant_result if index.has_constant_result() else None
        if not isinstance(literal, int) or literal < 0 or base.name == "list":
            self.faults.add(node.pos[1])
        return node


def find_faults(path):
    """Return the numbers of the lines of a .pyx file in which an index is not checked."""
    options = Main.CompilationOptions(
        Main.default_options, cplus=True, include_path=["."], compiler_directives=dict(DIRECTIVES)
    )
    context = Main.Context.from_options(options)
    name = ".".join(path.with_suffix("").parts)
    source = Main.CompilationSource(FileSourceDescriptor(str(path), str(path)), name, ".")
    result = Main.create_default_resultobj(source, options)
    check = IndexCheck(context, path)
    # all but the last step, which writes the module
    steps = [*Pipeline.create_pyx_pipeline(context, options, result)[:-1], check]
    Errors.init_thread()
    Errors.LEVEL = 10  # warnings are for the build
    context.setup_errors(options, result)
    error, _ = Pipeline.run_pipeline(steps, source)
    if error is not None:
        raise error
    return sorted(check.faults)


def main():
    """Print the faults of all compiled files and return the exit status."""
    os.chdir(Path(__file__).parents[1])
    paths = sorted(path for folder in FOLDERS for path in Path(folder).rglob("*.pyx"))
    with ProcessPoolExecutor() as pool:
        found = zip(paths, pool.map(find_faults, paths), strict=True)
        faults = [
            f"{path}:{line}: index of a Python object, not checked"
            for path, lines in found
            for line in lines
        ]
    print("\n".join([*faults, CURE]) if faults else "every index of a Python object is checked")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
