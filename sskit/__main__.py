"""Learn, tag and evaluate files of sequences; without a command, print what a bug report needs."""

import argparse
import platform
import re
import sys
from functools import partial
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path
from zipfile import BadZipFile

import joblib
import numpy as np

from sskit._optional import optional
from sskit._tag_schemes import SCHEMES
from sskit.crfsuite import describe_columns, load_attributes, load_crfsuite, save_crfsuite
from sskit.datasets import load_conll, save_conll
from sskit.estimators import SequenceTagger
from sskit.metrics import sequence_accuracy_score, span_report, token_accuracy_score

EXAMPLE = """example:
  python -m sskit learn train.conll -m model.skops
  python -m sskit tag new.conll -m model.skops -o found.conll
  python -m sskit evaluate test.conll -m model.skops

A CoNLL file has a token on each line, with the tag in the last column; the first column is the
word. An empty line ends a sentence. With --attributes files are those of CRFsuite: the label, and
attributes separated by tabs. A model whose name ends with .crfsuite is written and read in the
format of CRFsuite's own program, any other one by skops. In Python, skops.io.load reads the second,
and sskit.crfsuite.describe_columns makes the attributes of the columns of a CoNLL file."""
# Files of CRFsuite have no weights of first and last labels.
NO_ENDS = {"start": (0, 0), "end": (0, 0)}


def installed(distribution):
    """Return the version of a distribution, or that there is none."""
    try:
        return version(distribution)
    except PackageNotFoundError:
        return "not installed"


def report():
    """Print a line each; NumPy adds the features of the processor and the linear algebra."""
    tools = re.compile("extra == .(docs|test|dev|bench)|^sskit")
    ours = [line for line in requires("sskit-learn") if not tools.search(line)]
    for name in ["sskit-learn", *(re.match(r"[\w-]+", line)[0] for line in ours)]:
        print(f"{name:<22}{installed(name)}")
    print(f"{'Python':<22}{platform.python_version()}")
    print(f"{'system':<22}{platform.platform()}")
    print(f"{'processors':<22}{joblib.cpu_count()}")
    np.show_runtime()


def read(options, tags="auto"):
    """Return the attributes of the tokens of a file, and their labels."""
    if options.attributes:
        return load_attributes(options.file)
    X, y = load_conll(options.file, tags=tags)
    # the same names whatever the file calls its columns
    rows = [[dict(enumerate(token.values())) for token in sentence] for sentence in X]
    return describe_columns(rows), y


def load(path):
    """Return the tagger of a file. Types of this package alone are trusted."""
    if path.suffix == ".crfsuite":
        return load_crfsuite(path)
    with optional():
        from skops import io as files
    try:
        types = files.get_untrusted_types(file=path)
    except (BadZipFile, KeyError):
        raise ValueError(f"{path} is no model that skops has written") from None
    foreign = [name for name in types if not name.startswith("sskit.")]
    if foreign:
        raise ValueError(f"{path} has types that are not of sskit: {', '.join(foreign)}")
    tagger = files.load(path, trusted=types)
    if not isinstance(tagger, SequenceTagger):
        raise TypeError(f"{path} has a {type(tagger).__name__}, not a SequenceTagger")
    return tagger


def writer_of(path, separator):
    """Return a function that writes a tagger to a file; raise before a fit what it would after."""
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {path.parent} for the model")
    if path.suffix == ".crfsuite":
        return partial(save_crfsuite, path=path, separator=separator)
    with optional():
        from skops import io as files
    return partial(files.dump, file=path, compression=8)


def learn(options):
    """Train a tagger."""
    write_model = writer_of(options.model, None if options.attributes else ":")
    X, y = read(options)
    bounds = NO_ENDS if options.model.suffix == ".crfsuite" else None
    tagger = SequenceTagger(
        lam=options.lam, allowed_transitions=options.scheme, bounds=bounds, random_state=0,
        verbose=0 if options.quiet else 1, n_jobs=options.jobs,
    ).fit(X, y)  # fmt: skip
    write_model(tagger)
    gap = tagger.dual_gap_ / (tagger.primal_objective_ or 1.0)
    print(
        f"{options.model}: {len(X):,} sequences, {len(tagger.classes_)} labels, "
        f"{tagger.n_features_in_:,} attributes, lam {tagger.lam_:.3g}, objective at most "
        f"{gap:.1%} above the optimum"
    )


def n_columns(tagger):
    """Return how many columns of tokens a tagger was trained on."""
    matches = (re.match(r"(\d+)\[0\]", name) for name in tagger.vectorizer_.feature_names_)
    return 1 + max((int(match[1]) for match in matches if match), default=0)


def tag(options):
    """Write a file with the tags of a model."""
    tagger = load(options.model)
    if options.attributes:
        y_pred = tagger.predict(load_attributes(options.file)[0])
        text = "\n".join("".join(f"{label}\n" for label in labels) for labels in y_pred)
        write(text + "\n", options.output)
        return
    # with the columns of training and no further one, there are no tags to replace
    (first, *_), *_ = load_conll(options.file, tags=None)[0]
    tags = None if len(first) == n_columns(tagger) else "auto"
    if options.output is None:
        raise ValueError("name a file for the tags of a CoNLL file: -o FILE")
    y_pred = tagger.predict(read(options, tags)[0])
    save_conll(options.output, y_pred, source=options.file, tags=tags)


def write(text, path):
    """Write a text to a file or to the standard output."""
    if path is None:
        sys.stdout.write(text)
    else:
        path.write_text(text, encoding="utf-8")


def evaluate(options):
    """Print how well a model finds the tags of a file."""
    tagger = load(options.model)
    X, y = read(options)
    y_pred = tagger.predict(X)
    print(f"tokens right     {token_accuracy_score(y, y_pred):.4f}")
    print(f"sequences right  {sequence_accuracy_score(y, y_pred):.4f}")
    if all(re.match("[BIOESLU]-.|O$", label) for labels in y for label in labels):
        print(span_report(y, y_pred, scheme=options.scheme or "bio"))


def make_parser():
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m sskit", description=__doc__, epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    commands = parser.add_subparsers(dest="command", metavar="{learn,tag,evaluate}")
    for function, summary in (
        (learn, "train a model on a file with tags"),
        (tag, "write a file with the tags of a model"),
        (evaluate, "print scores of a model on a file with tags"),
    ):
        command = commands.add_parser(
            function.__name__, help=summary, description=summary[0].upper() + summary[1:] + ".",
            epilog=EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip
        command.set_defaults(run=function)
        command.add_argument("file", type=Path, help="a CoNLL file, maybe compressed (.gz)")
        command.add_argument(
            "-m", "--model", type=Path, required=True, help="the file of the model"
        )
        command.add_argument(
            "-a", "--attributes", action="store_true", help="files have CRFsuite's attributes"
        )
        if function is tag:
            command.add_argument("-o", "--output", type=Path, help="the file to write")
        else:
            command.add_argument(
                "-s", "--scheme", choices=sorted(SCHEMES), help="the scheme of the tags"
            )
        if function is learn:
            command.add_argument("--lam", type=float, help="strength of regularisation")
            command.add_argument("-j", "--jobs", type=int, help="number of threads")
            command.add_argument("-q", "--quiet", action="store_true", help="without progress")
    return parser


def main(arguments=None):
    """Run a command and return the exit status."""
    parser = make_parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        report()
        return 0
    try:
        options.run(options)
    except (OSError, TypeError, ValueError, ImportError) as error:
        print(f"{parser.prog} {options.command}: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
