"""Break compiled code in one place at a time: do the tests see it? ``mutants.py -n 50 --seed 0``.

Lines are drawn with equal probability, and one change on each: a sign, a bound, an index by one, a
dropped term. Each mutant is compiled in a clone of HEAD. First the tests of its module, its family
and its layer are run on all mutants, then all other tests on the survivors. A mutant dies by a test
that passes without it, by a crash, or by a long silence. Mutants that are not compiled, or to the
same machine code, do not count. The results are written to a file: an interrupted run continues
there, and ``--again FILE`` runs the mutants of another one. With ``--debug`` survivors meet the
tests of compiled code in the debug build, where what reads beyond an array dies. If a survivor
cannot change any result, replace its status by "equivalent" and add the reason.
"""

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COUNTED = ("died", "hung", "crashed", "survived")
KEYS = ("file", "line", "kind", "before", "after")
OPTIONS = {"-n": 50, "--seed": 0, "--out": ROOT / "build/mutants.json", "--level": "-O1"}
OPTIONS |= {"--folder": ROOT / "build/mutants", "--patience": 600.0, "--again": Path()}
# The debug build, and what a Python without its sanitizers needs at run time, as in the Makefile.
DEBUG = {"SSKIT_BUILD": "debug", "PYTHONMALLOC": "malloc"}
DEBUG |= {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1"}
ROOMS = [
    f"tests/{name}" for name in ("core", "oracles", "models", "solvers", "inputs", "preprocessing")
]
LIBRARIES = ("libasan.so", "libubsan.so", "libstdc++.so")
INSIDE = r"(?:[^()\[\]]|\([^()]*\)|\[[^\[\]]*\])*"
TERM = rf"(?:[-&*!]|<[\w *]+>)*(?:[\w.]+(?:(?<=p)-\d+)?|\({INSIDE}\))"
TERM += rf"(?:\.\w+|->\w+|\[{INSIDE}\]|\({INSIDE}\))*"
SWAPS = {"+": "-", "-": "+", "+=": "-=", "-=": "+=", "<": "<=", "<=": "<", ">": ">=", ">=": ">"}
CHANGES = [  # the first group is replaced by a text, or else by its opposite
    ("sign", r"(?<=\s)([+-]=?)(?= )", None),
    ("bound", r"(?<= )([<>]=?)(?= )", None),
    ("off by one", r"(?<=[\w\])])( [+-] 1)(?![\w.])", ""),
    ("off by one", rf"range\({INSIDE}()\):", " + 1"),
    ("off by one", r"(?<=[\w\])])\[[a-z_]\w*()\]", " + 1"),
    ("dropped term", rf"(?<=[\w\])])( [+-] {TERM}(?: [*/] {TERM})*)", ""),
    ("dropped term", rf"(?<=[\w\])])( [*/] {TERM})", ""),
]
QUOTED = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
SILENT = {True: rf"/\*(?:.|\n)*?\*/|//.*|{QUOTED}", False: rf'"""(?:.|\n)*?"""|{QUOTED}|#.*'}
# Hints, checks that a release leaves out, imports, declarations.
SKIPPED = re.compile(r"assert|(?i:prefetch)|reserve|likely|import|^\s*(#|template|using)|\\$")


def draw(root, seed):
    """Return mutants of a checkout, shuffled, one for each line that can be changed."""
    chance, mutants = random.Random(seed), []
    for path in sorted(
        path for end in ("yx", "xd", "pp") for path in root.glob(f"sskit/**/*{end}")
    ):
        text, name = path.read_text(), path.relative_to(root).as_posix()
        bare = re.sub(SILENT[name[-2:] == "pp"], lambda m: re.sub(".", "\0", m[0]), text)
        head = ""
        for number, (line, code) in enumerate(zip(text.split("\n"), bare.split("\n"), strict=True)):
            head = code if re.match(r" {0,4}\w[^;]*\(", code) else head
            found = [] if SKIPPED.search(code) or "prefetch" in head else CHANGES
            found = [(m, *change) for change in found for m in re.finditer(change[1], code)]
            if found:
                m, kind, _, new = chance.choice(found)
                after = (
                    line[: m.start(1)] + (SWAPS[m[1]] if new is None else new) + line[m.end(1) :]
                )
                mutants.append(dict(zip(KEYS, (name, number + 1, kind, line, after), strict=True)))
    chance.shuffle(mutants)
    return mutants


def identify(mutant):
    """Return what a mutant is, without what became of it."""
    return {key: mutant[key] for key in KEYS}


def find_library(name):
    """Return the path of a library of the compiler."""
    command = [os.environ.get("CXX", "c++"), f"-print-file-name={name}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


class Checkout:
    """A clone of the checkout that mutants are compiled in, beside one that stays clean."""

    def __init__(self, folder, level, patience, debug=False):
        self.folder, self.clean, self.patience = folder, Path(f"{folder}-clean"), patience
        self.log, self.innocent = Path(f"{folder}.log"), []
        paths = f"{folder}{os.pathsep}{folder / 'build/probes'}"
        alone = {"OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
        self.environ = {**os.environ, **alone, "PYTHONPATH": paths, **(DEBUG if debug else {})}
        self.preloaded = {"LD_PRELOAD": " ".join(map(find_library, LIBRARIES))} if debug else {}
        if not self.clean.exists():
            subprocess.run(["git", "clone", "-q", ROOT, folder], check=True)
            setup = folder / "setup.py"
            setup.write_text(re.sub('"-O[23]"', f'"{level}"', setup.read_text()))
            assert self.compile(), f"{folder} does not compile: see {self.log}"
            shutil.copytree(folder, self.clean)

    def run(self, *command):
        """Run Python; return its exit status, or None if nothing was heard of it for long."""
        with open(self.log, "w") as out:
            environ = self.environ | (self.preloaded if "pytest" in command else {})
            places = {"cwd": self.folder, "env": environ, "stdout": out, "stderr": out}
            running, said, heard = subprocess.Popen([sys.executable, *command], **places), 0, 0
            while running.poll() is None and (not heard or time.time() < heard + self.patience):
                time.sleep(0.1)
                if not heard or self.log.stat().st_size > said:
                    said, heard = self.log.stat().st_size, time.time()
            silent = running.poll() is None
            running.kill()
        return None if silent else running.wait()

    def compile(self, probes=True):
        """Compile what is stale and return whether that went well."""
        made = self.run("setup.py", "build_ext", "--inplace") == 0
        command = ["tests/compiled/setup.py", "build_ext", "--build-lib", "build/probes"]
        return made and not (probes and self.run(*command))

    def restore(self):
        """Put back what differs from the clean clone."""
        for path in (path for top in ("sskit", "build") for path in (self.clean / top).rglob("*")):
            to = self.folder / path.relative_to(self.clean)
            states = [
                (s.st_mtime_ns, s.st_size) for s in (p.stat() for p in (path, to) if p.exists())
            ]
            if path.is_file() and states[0] != states[-1:][0] or not to.exists():
                shutil.copy2(path, to)

    def apply(self, mutant):
        """Compile a mutant and return "", or why it is none."""
        path = self.folder / mutant["file"]
        lines = path.read_text().split("\n") if path.exists() else []
        places = [k for k, line in enumerate(lines) if line == mutant["before"]]
        if not places:
            return "gone"
        lines[min(places, key=lambda k: abs(k + 1 - mutant["line"]))] = mutant["after"]
        path.write_text("\n".join(lines))
        if not self.compile(probes=path.suffix != ".pyx"):
            return "not compiled"
        made = [path.relative_to(self.clean) for path in self.clean.glob("sskit/**/*.so")]
        same = all((self.clean / so).read_bytes() == (self.folder / so).read_bytes() for so in made)
        return "same code" if same else ""

    def run_tests(self, *where, but=()):
        """Run tests; return the exit status and which have failed, were being run, or are these."""
        options = [f"--ignore={path}" for path in but] + [f"--deselect={t}" for t in self.innocent]
        status = self.run("-m", "pytest", "-v", "--tb=line", "-pno:cacheprovider", *options, *where)
        said = self.log.read_text(errors="replace")
        names = re.findall(r"^(?:FAILED|ERROR) (tests/.*?)(?: - .*)?$", said, re.MULTILINE)
        return status, names or re.findall(r"^(tests/\S+::\S+)", said, re.MULTILINE)[-1:] or where

    def try_mutant(self, mutant, deep):
        """Compile a mutant, let it meet the tests near it or all others, and note what came."""
        start, path = time.time(), Path("tests", *Path(mutant["file"]).parts[1:])
        floor, room = (*path.parts[1:-1], "", "")[:2]
        stages = [str(path.with_name(f"test_{path.stem.strip('_')}.py"))]
        stages += [f"tests/{floor}/{room}"] * bool(room) + [f"tests/{floor}"] * bool(floor)
        further = [f"tests/estimators/{room}"] * bool(room) + ["tests"]
        stages += ROOMS if self.preloaded else further
        stages = [where for where in stages if (self.folder / where).exists()]
        mutant["status"], mutant["deep"] = self.apply(mutant) or "survived", deep
        for k, where in enumerate(stages if mutant["status"] == "survived" else []):
            if deep == (where == "tests" or "estimators" in where) and "test" not in mutant:
                status, names = self.run_tests("-x", where, but=stages[:k])
                if status not in (0, 5):
                    how = "hung" if status is None else "crashed" if status < 0 else "died"
                    mutant.update(status=how, test=names[0])
        self.restore()
        mutant["seconds"] = round(mutant.get("seconds", 0) + time.time() - start)

    def acquit(self, known):
        """Try again the mutants that have died by tests that fail without them too."""
        status, failed = self.run_tests(*{m["test"] for m in known if "test" in m} or ["--version"])
        self.innocent += failed if status else []
        wronged = [m for m in known if m.get("test") in self.innocent]
        for mutant in wronged:
            del mutant["test"]
            self.try_mutant(mutant, mutant["deep"])
        if wronged:
            self.acquit(known)


def try_in_debug(survivors, checkout):
    """Let mutants meet the tests of compiled code in the debug build; note which of them die."""
    found = [identify(mutant) for mutant in survivors]
    for mutant in found:
        checkout.try_mutant(mutant, deep=False)
        print("{status:12} {file}:{line}, {kind}, {seconds} s, debug".format(**mutant), flush=True)
    checkout.acquit(found)
    for mutant, other in zip(survivors, found, strict=True):
        mutant["debug"] = other["status"]
        if "test" in other:
            mutant.update(status=other["status"], test=other["test"])


def main():
    """Try mutants near by, and those that survive everywhere; show what became of each."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name, value in OPTIONS.items():
        parser.add_argument(name, type=type(value), default=value)
    parser.add_argument("--debug", action="store_true")
    options = parser.parse_args()
    known = json.loads(options.out.read_text()) if options.out.exists() else []
    checkout = Checkout(options.folder.resolve(), options.level, options.patience)
    mutants = draw(checkout.clean, options.seed)
    if options.again.name:
        mutants = [m for m in json.loads(options.again.read_text()) if m["status"] in COUNTED]
    for deep in (False, True):
        for mutant in [m for m in known if m["status"] == "survived"] if deep else mutants:
            new = deep or identify(mutant) not in map(identify, known)
            enough = sum(m["status"] in COUNTED for m in known) >= options.n
            if mutant["deep"] if deep else enough or not new:
                continue
            mutant = mutant if deep else identify(mutant)
            checkout.try_mutant(mutant, deep)
            known += [] if deep else [mutant]
            options.out.write_text(json.dumps(known, indent=1))
            print("{status:12} {file}:{line}, {kind}, {seconds} s".format(**mutant), flush=True)
        checkout.acquit(known)
        survivors = [m for m in known if m["status"] == "survived" and "debug" not in m]
        if options.debug and survivors and not deep:
            folder = options.folder.resolve().with_name(f"{options.folder.name}-debug")
            clone = Checkout(folder, options.level, options.patience, debug=True)
            try_in_debug(survivors, clone)
        options.out.write_text(json.dumps(known, indent=1))
    counted = dict.fromkeys(COUNTED, 0)
    for mutant in known:
        counted[mutant["status"]] = counted.get(mutant["status"], 0) + 1
        print("\n{status:12} {file}:{line}, {kind}".format(**mutant), mutant.get("test", ""))
        print(f"{'':12} {mutant['before'].strip()}\n{'':12} {mutant['after'].strip()}")
    print("\n" + ", ".join(f"{count} {status}" for status, count in counted.items()))


if __name__ == "__main__":
    main()
