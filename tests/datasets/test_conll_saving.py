"""Files are written as they were, with other tags."""

import gzip
import io
import re
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from helpers.conllu import UNIVERSAL
from hypothesis import given
from hypothesis import strategies as st

from sskit.datasets import load_conll, save_conll

BLANKS = "-DOCSTART- -X-  O\n\n#  id 1\tdomain=x\nThe   DT O \n cat NN \tO\n\n\n# # O"


def saved(tmp_path, text, y, encoding="utf-8", **options):
    """What is written of a text, as bytes."""
    source, path = tmp_path / "source", tmp_path / "path"
    source.write_bytes(text.encode(encoding) if isinstance(text, str) else text)
    save_conll(path, y, source=source, encoding=encoding, **options)
    return path.read_bytes()


def test_only_one_column_changes(tmp_path):
    y = [["A", "B"], np.array(["C"]), ["D"]]
    expected = UNIVERSAL
    for old, new in zip(["VERB", "PRON", "SYM", "X"], "ABCD", strict=True):
        expected = expected.replace(f"\t{old}\t", f"\t{new}\t")
    assert saved(tmp_path, UNIVERSAL, y).decode() == expected
    found = saved(tmp_path, BLANKS, [["B", "I"], ["O"]]).decode()
    assert found == BLANKS.replace("DT O", "DT B").replace("\tO", "\tI")
    found = saved(tmp_path, BLANKS, [["B", "I"], ["O"]], tags=0).decode()
    assert found == BLANKS.replace("The", "B").replace("cat", "I").replace("# #", "O #")
    for name in ("a.gz", "source"):  # compressed, and where the file was
        save_conll(tmp_path / name, [["B", "I"], ["O"]], source=tmp_path / "source", tags=0)
        data = (tmp_path / name).read_bytes()
        assert (gzip.decompress(data) if name == "a.gz" else data).decode() == found


def test_a_column_is_added(tmp_path):
    found = saved(tmp_path, BLANKS, [["B", "I"], ["O"]], tags=None).decode()
    sentences = "#  id 1\tdomain=x\nThe   DT O B \n cat NN \tO \tI\n\n\n# # O O"
    assert found == f"-DOCSTART- -X-  O  O\n\n{sentences}"
    y = [["A", "B"], ["C"], ["D"]]
    names = ["ID", *map(str, range(1, 10))]
    found = saved(tmp_path, UNIVERSAL, y, tags=None, columns=names)
    assert load_conll(io.BytesIO(found), columns=[*names, "new"])[1] == y
    with pytest.raises(ValueError, match="names its columns, so that none can be added; .* FORM"):
        saved(tmp_path, UNIVERSAL, y, tags=None)
    assert saved(tmp_path, "-DOCSTART-\na", [["B"]], tags=None) == b"-DOCSTART-\na B"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16", "utf-16-be"])
def test_saving_what_was_read_changes_no_byte(encoding, tmp_path):
    for text in (UNIVERSAL, BLANKS):
        for end in ("\n", "\r\n", "\r"):
            for begin in ("", "\ufeff") if encoding in ("utf-8", "utf-16-be") else ("",):
                data = (begin + text.replace("\n", end)).encode(encoding)
                X, y = load_conll(io.BytesIO(data), encoding=encoding)
                assert saved(tmp_path, data, y, encoding) == data
    big = "\ufeffa O\n".encode("utf-16-be")
    assert saved(tmp_path, big, [["B"]], "utf-16") == "\ufeffa B\n".encode("utf-16-be")


# Strings that only seem to have a meaning in the format.
VALUES = st.sampled_from(["x", "B-X", "=", "a=b", "1-x", "-", "#", "é", "\xa0", "\x85", "\u2028"])
ROWS = st.lists(st.lists(st.tuples(*[VALUES] * 4), min_size=1, max_size=3), min_size=1, max_size=3)


@given(ROWS, st.sampled_from(["\t", " ", ",", " | "]), st.sampled_from([0, 1, -1, None]))
def test_what_is_saved_is_what_is_read(rows, separator, tags):
    """The first three strings of a row are the columns of the source, the fourth is the tag."""
    options = {"separator": separator, "comments": False}
    with TemporaryDirectory() as folder:
        source, path = Path(folder, "a.txt"), Path(folder, "b.txt")
        lines = [[separator.join(row[:3]) for row in sentence] for sentence in rows]
        source.write_text("\n\n".join(map("\n".join, lines)) + "\n", encoding="utf-8")
        y = [[row[3] for row in sentence] for sentence in rows]
        save_conll(path, y, source=source, tags=tags, **options)
        X, found = load_conll(path, tags=-1 if tags is None else tags, **options)
        assert found == y
        kept = [k for k in range(3) if tags is None or k != tags % 3]
        expected = [[[row[k] for k in kept] for row in sentence] for sentence in rows]
        assert [[[*token.values()] for token in tokens] for tokens in X] == expected


def test_wrong_tags_are_named(tmp_path):
    text = "a O\nb O\n\nc O\n"
    source, path = tmp_path / "source", tmp_path / "path"
    for y, options, error, message in [
        ([["O", "O"]], {}, ValueError, f"{source} has 2 sentences, but y has 1"),
        ([["O", "O"], ["O", "O"]], {}, ValueError,
         f"{source}, line 4: the sentence has 1 tokens, but y[1] has 2 tags"),
        (["OO", ["O"]], {}, TypeError, "y[0] must be a sequence of tags, got 'OO'"),
        ([["O", "O"], [None]], {}, TypeError, "y[1][0] is None, but tags must be strings"),
        ([["O", ["O"]], ["O"]], {}, TypeError, "y[0][1] is ['O'], but"),
        ([["O", ""], ["O"]], {}, ValueError, "y[0][1] is '', which is no column"),
        ([["O", "a\n"], ["O"]], {}, ValueError, "y[0][1] is 'a\\n', which is no column"),
        ([["O", "é"], ["O"]], {"encoding": "ascii"}, ValueError,
         "y[0][1] is 'é', which the encoding ascii lacks"),
        ([["O", "O"], ["O"]], {"tags": 2}, ValueError, f"{source}: no column is tags=2"),
        ([["O", "O"], ["O"]], {"separator": ""}, ValueError, "separator must be"),
    ]:  # fmt: skip
        with pytest.raises(error, match=re.escape(message)):
            saved(tmp_path, text, y, **options)
        assert not path.exists()
    for name, wrong in [("path", [path]), ("source", [source]), ("source", io.StringIO(text))]:
        with pytest.raises(TypeError, match=f"{name} must be the name of one file, got"):
            save_conll(**{"path": path, "y": [], "source": source, name: wrong})
