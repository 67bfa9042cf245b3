"""The command line: learn, tag and evaluate on CoNLL files and CRFsuite's files of attributes."""

import re
import shutil
import sys
from pathlib import Path

import pytest
from helpers.pages import compare

from sskit import SequenceTagger, StructSVMClassifier
from sskit.__main__ import main
from sskit.crfsuite import describe_columns, load_attributes, load_crfsuite
from sskit.datasets import load_conll
from sskit.metrics import token_accuracy_score

FILES = Path(__file__).resolve().parents[2] / "doc" / "files"
SENTENCES = "the\tDT\tB-NP\ncat\tNN\tI-NP\nsat\tVB\tO\n\na\tDT\tB-NP\ndog\tNN\tI-NP\n"
ATTRIBUTES = "A\tw=a\\:b\tn:2.5\nB\tw=c\\\\\tn\n\nB\tw=c\\\\\n"


@pytest.mark.parametrize("suffix", [".skops", ".crfsuite"])
def test_from_a_file_to_tags(suffix, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("train").write_text(SENTENCES * 1)
    model = f"m{suffix}"
    assert main(["learn", "train", "-m", model, "--quiet", "--lam", "0.1"]) == 0
    assert "2 sequences, 3 labels" in capsys.readouterr().out
    assert main(["evaluate", "train", "-m", model]) == 0
    said = capsys.readouterr().out
    assert "tokens right     1.0000\nsequences right  1.0000" in said and "f1-score" in said
    assert main(["tag", "train", "-m", model, "-o", "found"]) == 0
    assert Path("found").read_text() == SENTENCES
    # without tags there is one column less
    Path("new").write_text("a\tDT\ncat\tNN\n")
    assert main(["tag", "new", "-m", model, "-o", "found"]) == 0
    assert Path("found").read_text() == "a\tDT\tB-NP\ncat\tNN\tI-NP\n"
    assert main(["tag", "new", "-m", model]) == 1
    assert "name a file" in capsys.readouterr().err


@pytest.mark.parametrize("suffix", [".skops", ".crfsuite"])
def test_files_of_attributes(suffix, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("train").write_text(ATTRIBUTES)
    X, y = load_attributes("train")
    assert X == [[{"w=a:b": 1.0, "n": 2.5}, {"w=c\\": 1.0, "n": 1.0}], [{"w=c\\": 1.0}]]
    assert y == [["A", "B"], ["B"]]
    model = f"m{suffix}"
    assert main(["learn", "train", "-a", "-m", model, "-q"]) == 0
    capsys.readouterr()
    assert main(["tag", "train", "-a", "-m", model]) == 0
    assert capsys.readouterr().out == "A\nB\n\nB\n\n"
    assert main(["evaluate", "train", "-a", "-m", model]) == 0
    assert "sequences right  1.0000" in capsys.readouterr().out
    if suffix == ".crfsuite":
        crf = pytest.importorskip("pycrfsuite").Tagger()
        crf.open(model)
        assert [crf.tag(tokens) for tokens in X] == y
        assert load_crfsuite(model).predict(X)[0].tolist() == ["A", "B"]
    Path("wrong").write_text("A\tx:y\n")
    assert main(["learn", "wrong", "-a", "-m", model]) == 1
    assert "wrong, line 1: the value of an attribute is no number" in capsys.readouterr().err
    Path("empty").write_text("\n")
    assert main(["learn", "empty", "-a", "-m", model]) == 1
    assert "empty holds no tokens" in capsys.readouterr().err


def test_addresses_are_learned_by_the_columns_alone(tmp_path, monkeypatch, capsys):
    """And the guide shows what the commands print."""
    for name in ("train", "test"):
        shutil.copy(FILES / f"addresses_{name}.txt", tmp_path)
    monkeypatch.chdir(tmp_path)
    columns = {"columns": ["word", "part"]}
    X, _ = load_conll(FILES / "addresses_train.txt", **columns)
    y_test = load_conll(FILES / "addresses_test.txt", **columns)[1]
    page = (FILES.parent / "how_to" / "crfsuite.rst").read_text()
    shown = re.findall(r"^   \$ python -m sskit (.*)\n((?:   (?!\$).*\n)*)", page, re.MULTILINE)
    assert len(shown) == 3
    shutil.copy("addresses_test.txt", "new.txt")
    for command, printed in shown:
        assert main(command.split()) == 0
        compare(capsys.readouterr().out, printed)
    found = "found.txt"
    assert token_accuracy_score(y_test, load_conll(found, **columns)[1]) > 0.95
    assert describe_columns([[], X[0][:1]])[0] == []


def test_help_and_files_that_are_not_trusted(run_python, tmp_path, capsys):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer
    from skops import io

    said = run_python("-m", "sskit", "tag", "--help").stdout
    assert "python -m sskit learn train.conll -m model.skops" in said
    path = tmp_path / "m.skops"
    io.dump(make_pipeline(FunctionTransformer(describe_columns), LogisticRegression()), path)
    assert main(["evaluate", "no_file", "-m", str(path)]) == 1
    assert main(["evaluate", "no_file", "-m", str(tmp_path / "none.skops")]) == 1
    assert "none.skops" in capsys.readouterr().err
    (tmp_path / "no_model.txt").write_text("a\tX\n")
    io.dump(StructSVMClassifier(), tmp_path / "rows.skops")
    for model, message in {
        "no_model.txt": "no_model.txt is no model that skops has written",
        "rows.skops": "rows.skops has a StructSVMClassifier, not a SequenceTagger",
    }.items():
        assert main(["tag", "no_file", "-m", str(tmp_path / model)]) == 1
        assert message in capsys.readouterr().err


def test_what_a_model_is_written_with_is_there_before_the_fit(tmp_path, monkeypatch, capsys):
    train = str(FILES / "addresses_train.txt")
    monkeypatch.setattr(SequenceTagger, "fit", lambda *_: pytest.fail("it was trained"))
    assert main(["learn", train, "-m", str(tmp_path / "none" / "m.skops")]) == 1
    assert "there is no folder" in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "skops", None)
    assert main(["learn", train, "-m", str(tmp_path / "m.skops")]) == 1
    assert 'pip install "sskit-learn[text]"' in capsys.readouterr().err
