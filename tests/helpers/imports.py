"""What files of a package import, cimport and include, read from their text."""

import ast
import functools
import re
from typing import NamedTuple


class Import(NamedTuple):
    """One imported module as found in a file."""

    module: str
    cimported: bool
    in_function: bool


def sources(package, *suffixes):
    """Return the files of the package that end in one of the suffixes, sorted."""
    return sorted(path for path in package.rglob("*") if path.suffix in suffixes)


def absolute(package, path, level, module):
    """Resolve a relative import of `level` dots, as seen from a file, to a dotted name."""
    if level == 0:
        return module
    folder = path.relative_to(package.parent).parts[:-1]
    base = folder[: len(folder) - level + 1]
    return ".".join([*base, module] if module else base)


def with_names(module, names):
    """Return one entry per name, for a folder or a module may hide among the names."""
    return [f"{module}.{name}" for name in names]


@functools.cache
def python_imports(package, path, text):
    """Return the imports of a .py file with this text, with those inside functions marked."""
    found = []

    def visit(node, in_function):
        if isinstance(node, ast.Import):
            found.extend(Import(alias.name, False, in_function) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = absolute(package, path, node.level, node.module or "")
            names = [alias.name for alias in node.names]
            found.extend(Import(name, False, in_function) for name in with_names(module, names))
        inside = in_function or isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(ast.parse(text), False)
    return tuple(found)


def without_strings(text):
    """Blank out triple-quoted strings and comments, keeping the number of lines."""
    text = re.sub(
        r'"""(?:.|\n)*?"""|' + r"'''(?:.|\n)*?'''",
        lambda match: "\n" * match.group().count("\n"),
        text,
    )
    return re.sub(r"#.*", "", text)


@functools.cache
def cython_imports(package, path, text):
    """Return the import and cimport lines of a .pyx or .pxd file with this text."""
    text = without_strings(text)
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"\(([^()]*)\)", lambda match: match.group().replace("\n", " "), text)
    found, enclosing = [], []
    for line in text.splitlines():
        if not line.strip():
            continue
        indent = len(line) - len(line.lstrip())
        enclosing = [block for block in enclosing if block[0] < indent]
        in_function = any(is_function for _, is_function in enclosing)
        line = line.strip()
        if match := re.match(r"from\s+(\.*)\s*([\w.]*)\s+(c?import)\s+(.+)", line):
            dots, module, keyword, names = match.groups()
            module = absolute(package, path, len(dots), module)
            names = [name.split()[0] for name in names.strip("() ").split(",") if name.strip()]
            modules = with_names(module, names)
            found.extend(Import(name, keyword == "cimport", in_function) for name in modules)
        elif match := re.match(r"(c?import)\s+(.+)", line):
            keyword, names = match.groups()
            modules = [name.split()[0] for name in names.split(",") if name.strip()]
            found.extend(Import(name, keyword == "cimport", in_function) for name in modules)
        function = re.match(r"(async\s+def|def|cpdef|cdef)\s+(?!class\b).*\)[^()]*:\s*$", line)
        enclosing.append((indent, bool(function)))
    return tuple(found)


def all_imports(package):
    """Yield every file of the package with its imports."""
    for path in sources(package, ".py", ".pyx", ".pxd"):
        read = python_imports if path.suffix == ".py" else cython_imports
        yield path, read(package, path, path.read_text())


def all_includes(package):
    """Yield every file of the package with the headers of the package that it includes."""
    headers = {path.name: path for path in sources(package, ".hpp")}
    pattern = re.compile(r'^\s*(?:cdef extern from|#include) "([\w/]+\.hpp)"', re.MULTILINE)
    for path in sources(package, ".pyx", ".pxd", ".hpp"):
        names = [name.rpartition("/")[2] for name in pattern.findall(path.read_text())]
        yield path, [headers[name] for name in names if name in headers]
