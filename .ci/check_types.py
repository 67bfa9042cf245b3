"""Let mypy and basedpyright read the code of the documentation, and a page of wrong calls.

The Python code of README.md, the tutorials, the how-to pages and the gallery must have no error.
Of tests/wrong_calls.py each line that ends in ``# rejected``, and no other, must have one. Each
checker runs once, over a folder that is made of these pages, and finds the package as an installed
one: what counts is what the package says of itself, not what could be inferred from its code.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from helpers.pages import is_missing, python_blocks  # noqa: E402

PAGES = "README.md", "doc/tutorials/*.rst", "doc/how_to/*.rst", "examples/*/plot_*.py"
WRONG = "tests/wrong_calls.py"
MARK = re.compile(r"# rejected$", re.M)
# Code of pages has no annotations, and a name may stand for one thing after another.
MYPY = """[mypy]
mypy_path = {site}
cache_dir = {folder}/mypy_cache
follow_imports = silent
ignore_missing_imports = True
allow_redefinition = True
check_untyped_defs = True
disable_error_code = no-redef, var-annotated
"""
# Of packages without types nothing is inferred.
PYRIGHT = {
    "typeCheckingMode": "standard",
    "useLibraryCodeForTypes": False,
    "reportMissingModuleSource": False,
    "reportPossiblyUnboundVariable": False,
    "reportPrivateImportUsage": False,
}
# What is no fault of the package: a regular expression of messages, and whose it is.
OTHERS = {
    r'[Ii]mport "(?!sskit)[\w.]+" could not be resolved': "packages that are not installed",
    r'"(plot|scatter)" of "Axes"|parameter "(scale[xy]|data)" of': "values in a dict of options",
    r'"set_xticklabels"': "Matplotlib also takes numbers",
    r'"SubFigure"': "Matplotlib's subfigures(1, 2) returns an array",
    r'"stack"': "NumPy also takes an array of arrays",
    r'parameter "(obj|dashboard_address)"': "dask.delayed is a decorator too, and None is no port",
    r'"log_message"|"strip"': "of the standard library",
    r'"__setitem__"|tuple\[float, tuple\[\(\)\]\]': "items of another type than the first ones",
    r'type "(object|Collection\[Any\])"|"StructuredEstimator" has no': "mypy joins types of a dict",
    r'"tuple\[float, floating\[Any\], Any\]"': "mypy takes the first overload of numpy.round",
}


def code_of(page):
    """Return the Python code of a page, and the line of the page that each of its lines is.

    Parameters
    ----------
    page : Path
        A .py, .md or .rst file.

    Returns
    -------
    code : str
        All blocks, one after the other; of a session of the interpreter its input.
    lines : list of int
        Line numbers, from 1.
    """
    if page.suffix == ".py":
        code = page.read_text()
        return code, [*range(1, code.count("\n") + 2)]
    found = []
    for first, block in python_blocks(page):
        session = block.lstrip().startswith(">>>")
        if not session and is_missing(block):
            continue
        for number, line in enumerate(block.splitlines(), first):
            if not session:
                found.append((line, number))
            elif line.lstrip().startswith((">>>", "...")):
                found.append((line.lstrip()[4:], number))
    return "".join(f"{line}\n" for line, _ in found), [number for _, number in found]


def copy_code(pages, folder):
    """Write the code of pages to a folder; return {name of file: (page, line numbers)}."""
    folder.mkdir(parents=True)
    copied = {}
    for page in pages:
        code, lines = code_of(page)
        if code.strip():
            name = re.sub(r"\W", "_", os.path.relpath(page, ROOT)) + ".py"
            (folder / name).write_text(code)
            copied[name] = page, lines
    return copied


def run_mypy(folder, site):
    """Yield (name of file, line, message) of the errors that mypy finds."""
    config = folder.parent / "mypy.ini"
    config.write_text(MYPY.format(site=site, folder=folder.parent))
    command = [sys.executable, "-m", "mypy", "--config-file", str(config), "--no-pretty"]
    done = subprocess.run(
        [*command, "--hide-error-context", *sorted(path.name for path in folder.glob("*.py"))],
        cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        raise SystemExit(f"mypy: {done.stdout}{done.stderr}")
    for name, line, message in re.findall(r"^(.+?):(\d+): error: (.*)$", done.stdout, re.M):
        yield name, int(line), message


def run_pyright(folder, site):
    """Yield (name of file, line, message) of the errors that basedpyright finds."""
    (folder / "pyrightconfig.json").write_text(json.dumps(PYRIGHT))
    command = [sys.executable, "-m", "basedpyright", "--outputjson", "-p", str(folder)]
    done = subprocess.run(
        [*command, "--pythonpath", sys.executable],
        env={**os.environ, "PYTHONPATH": str(site)}, capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode not in (0, 1):
        raise SystemExit(f"basedpyright: {done.stdout}{done.stderr}")
    for found in json.loads(done.stdout)["generalDiagnostics"]:
        if found["severity"] == "error":
            line = found["range"]["start"]["line"] + 1
            message = f"{found['message']} ({found.get('rule', 'syntax')})"
            yield Path(found["file"]).name, line, " ".join(message.split())


CHECKERS = {"mypy": run_mypy, "basedpyright": run_pyright}


def find_faults(pages, wrong, folder, others=OTHERS):
    """Return a sentence for each error in pages, and for each wrong call that has none.

    Parameters
    ----------
    pages : list of Path
        Must have no errors.
    wrong : Path
        Must have errors where it says so.
    folder : Path
        Where checkers work; what they know of packages stays there.
    others : dict of str to str, default=OTHERS
        Messages that do not count.

    Returns
    -------
    faults : list of str
        Where, which checker, and its message.
    """
    code, site = folder / "code", folder / "site"
    for made in (code, site):
        shutil.rmtree(made, ignore_errors=True)
    copied = copy_code([*pages, wrong], code)
    site.mkdir()
    (site / "sskit").symlink_to(ROOT / "sskit", target_is_directory=True)
    text = wrong.read_text()
    marked = {text.count("\n", 0, match.start()) + 1 for match in MARK.finditer(text)}
    faults = []
    for checker, run in CHECKERS.items():
        rejected = set()
        for name, line, message in run(code, site):
            if name not in copied:  # a stub of the package
                faults.append(f"{name}:{line}: {checker}: {message}")
                continue
            page, lines = copied[name]
            place = f"{os.path.relpath(page, ROOT)}:{lines[min(line, len(lines)) - 1]}"
            if page == wrong:
                rejected.add(line)
            if page == wrong and line in marked:
                continue
            if page == wrong or not any(re.search(other, message) for other in others):
                faults.append(f"{place}: {checker}: {message}")
        missed = sorted(marked - rejected)
        faults += [f"{os.path.relpath(wrong, ROOT)}:{n}: {checker}: no error" for n in missed]
    return faults


def main():
    """Check the pages; return the exit status."""
    pages = [page for pattern in PAGES for page in sorted(ROOT.glob(pattern))]
    faults = find_faults(pages, ROOT / WRONG, ROOT / "build" / "types")
    print(*faults, sep="\n")
    n_marked = len(MARK.findall((ROOT / WRONG).read_text()))
    print(f"{len(faults)} faults in {len(pages)} pages and {n_marked} wrong calls")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
