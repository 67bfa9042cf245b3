"""Files with a token a line are read as what they are."""

import bz2
import gzip
import io
import lzma
import re

import numpy as np
import pytest
from helpers.conllu import UNIVERSAL

from sskit.datasets import load_conll
from sskit.datasets._conll_file import CONLLU

NAMES = ["word", "pos", "tag"]
PLAIN = "The DT B-NP\ncat NN I-NP\n\nStop VB B-VP\n"
X = [[{"word": "The", "pos": "DT"}, {"word": "cat", "pos": "NN"}], [{"word": "Stop", "pos": "VB"}]]
Y = [["B-NP", "I-NP"], ["B-VP"]]


def read(text, **options):
    return load_conll(io.StringIO(text), **options)


def test_what_is_not_a_token_is_passed_over():
    for text in [
        PLAIN.rstrip("\n"),
        "\n \n" + PLAIN.replace("\n\n", "\n\n  \t\n\n") + "\n\n",
        PLAIN.replace("\n", "\r\n"),
        PLAIN.replace("\n", "\r"),
        PLAIN.replace(" ", " \t").replace("The \t", "The "),
        PLAIN.replace(" ", "   ").replace("\n", " \n"),
        PLAIN.replace(" ", "\t").replace("\n", "  \n"),
        "\ufeff" + PLAIN,
        "-DOCSTART- -X- O\n\n" + PLAIN,
        "-DOCSTART- -X- -X- O\n" + PLAIN.replace("\n\n", "\n-DOCSTART-\n"),
        "# one more comment\n" + PLAIN.replace("\n\n", "\n\n# sent_id = 17\n#\n"),
        "#the end\n" + PLAIN + "\n# of a file",
        "# x = 1\n#newdoc id = 2\n# pos = tag\n" + PLAIN,
    ]:
        options = {"separator": " "} if " \t" in text else {}
        assert read(text, columns=NAMES, **options) == (X, Y), text


def test_columns():
    assert read(PLAIN)[0][0][0] == {"0": "The", "1": "DT"}
    assert read("#global.columns=word pos tag\n" + PLAIN) == (X, Y)
    assert read("# id\n# global.columns = word  pos tag \n# ?\n" + PLAIN) == (X, Y)
    assert read("# global.columns = a b c\n" + PLAIN, columns=NAMES) == (X, Y)
    for tags in (2, -1, "tag", np.int64(2)):
        assert read(PLAIN, columns=np.array(NAMES), tags=tags) == (X, Y)
    tokens, tags = read(PLAIN, columns=NAMES, tags="word")
    assert tags == [["The", "cat"], ["Stop"]] == read(PLAIN, tags="0")[1]
    assert tokens[1] == [{"pos": "VB", "tag": "B-VP"}]


def test_a_sentence_may_begin_with_the_mark_of_comments():
    found = read("#,#\n\n#,#\n", columns=["tag", "ID"], tags="tag", separator=",")
    assert found == ([[{"ID": "#"}], [{"ID": "#"}]], [["#"], ["#"]])
    text = "# # O\nmoney NN O\n# # O\n\n# comment\n# # B-NP\n"
    assert read(text, columns=NAMES)[1] == [["O", "O", "O"], ["B-NP"]]
    tokens, tags = read(text.replace("# comment\n", ""), columns=NAMES, comments=False)
    assert tags == [["O", "O", "O"], ["B-NP"]]
    assert tokens[0][2] == {"word": "#", "pos": "#"} == tokens[1][0]
    assert read(text, comments=True)[1] == [["O", "O"]]
    # in one column
    assert read("a\n#tag\n#\n", tags=None)[0] == [[{"0": "a"}, {"0": "#tag"}, {"0": "#"}]]
    assert read("#a\n# b\nc\n", tags=None, comments=True)[0] == [[{"0": "c"}]]
    assert read("#a\nc\n", tags=None, comments=False)[0] == [[{"0": "#a"}, {"0": "c"}]]
    assert read("# b\n#a\nc\n", tags=None)[0] == [[{"0": "#a"}, {"0": "c"}]]


def test_tabs_tell_tokens_from_comments():
    tabs = "# x\n#hash\tO\n\n# # O\n#\tO\n"
    assert read(tabs)[1] == [["O"], ["O"]]
    assert read("# x\ty z\n#\tO\n\nA\tB\n")[1] == [["y z", "O"], ["B"]]
    assert read(tabs, columns=["word", "tag"])[0][0] == [{"word": "#hash"}]
    assert read("#\tO\n")[1] == [["O"]]
    assert read("#\tO\n", comments=False)[1] == [["O"]]
    with pytest.raises(ValueError, match="holds no tokens"):
        read("#\tO\n", comments=True)
    # of SemEval's MultiCoNER: comments with tabs, tokens with blanks
    blanks = "# id 17\tdomain=en\nthe _ _ O\n# _ _ O\n\n# id 18\tdomain=en\n# _ _ B-PER\n"
    for text in (blanks, blanks.replace(" _ ", "  _ "), "\n\n#x\ty z\tO\n" + blanks):
        assert read(text)[1] == [["O", "O"], ["B-PER"]], text
    assert read(blanks, comments=False, separator=" ")[1][0] == ["domain=en", "O", "O"]
    # comments stand between sentences only, but for the one that names columns
    with pytest.raises(ValueError, match="line 2: 2 columns, expected 3: 0, 1, 2: '# comment'"):
        read("The DT O\n# comment\n")
    for comments in (None, True, False):
        assert read("The O\n# O\n", comments=comments)[1] == [["O", "O"]]
        tokens, _ = read("#global.columns=word tag\nThe O\n", comments=comments)
        assert tokens == [[{"word": "The"}]]


def test_conllu(tmp_path):
    tokens, tags = read(UNIVERSAL, columns="conllu", tags="UPOS")
    assert tags == [["VERB", "PRON"], ["SYM"], ["X"]]
    assert [token["FORM"] for token in tokens[0]] == ["vamos", "nos"]
    assert tokens[0][-1]["MISC"] == "Space After" and len(tokens[0][0]) == 9
    for name, opened in [("a.conllu", open), ("a.conllu.gz", gzip.open)]:
        with opened(tmp_path / name, "wb") as file:
            file.write(UNIVERSAL.encode())
        for options in ({"tags": "UPOS"}, {}):
            assert load_conll(tmp_path / name, **options) == (tokens, tags)
    plain = "\n".join(line for line in UNIVERSAL.split("\n") if not line.startswith("#"))
    assert read(plain) == (tokens, tags)  # by what it holds
    assert read("# global.columns = " + " ".join(CONLLU) + "\n" + UNIVERSAL) == (tokens, tags)
    assert read(UNIVERSAL, tags=-1)[1][0] == ["_", "Space After"]
    plus = "# global.columns = ID UPOS\n1-2\t_\n1\tX\n2\tY\n2.1\tZ\n"
    assert read(plus)[1] == [["X", "Y"]]
    # ranges are of CoNLL-U only
    assert len(read(plus, columns=["word", "tag"])[1][0]) == 4


def test_what_is_no_conllu_has_its_tags_in_the_last_column():
    row = "{}\ta\tb\tc\t_\t_\t{}\td\t_\tO"
    others = [("13", "00", ""), ("01", "00", ""), ("12", "0x", ""), ("12", "00", "\tO")]
    for ids, heads, end in others:
        text = "\n".join(row.format(*values) + end for values in zip(ids, heads, strict=True))
        tokens, tags = read(text)
        assert tags == [["O", "O"]] and "1" in tokens[0][0]
    assert read(row.format(1, "_"))[1] == [["c"]]
    blind = row.format(1, 0).replace("c", "_")
    with pytest.raises(ValueError, match="no value in the column UPOS; tags= takes .* XPOS"):
        read(blind)
    assert read(blind, tags=None)[1] is None
    assert read(blind, tags="UPOS")[1] == [["_"]]


def test_only_line_breaks_end_lines_and_only_separators_part_columns():
    values = ["a\x85b", "c\u2028d\x0b", "\xa0\u3000", "\x1cO"]
    (((token,),), tags) = read(" ".join(values) + "\n", columns=["a", "b", "c", "tag"])
    assert [*token.values(), tags[0][0]] == values
    assert read("New York\tB-LOC\n") == ([[{"0": "New York"}]], [["B-LOC"]])
    assert read("a,b ,O\n", separator=",")[0] == [[{"0": "a", "1": "b "}]]
    assert read("a ||| O\n", separator=" ||| ") == ([[{"0": "a"}]], [["O"]])


def test_files_and_encodings(tmp_path):
    data = PLAIN.encode()
    paths = {"a.txt": data, "a.gz": gzip.compress(data), "a.bz2": bz2.compress(data)}
    for name, content in (paths | {"a.xz": lzma.compress(data)}).items():
        (tmp_path / name).write_bytes(content)
        assert load_conll(tmp_path / name, columns=NAMES) == (X, Y)
    with open(tmp_path / "a.txt", "rb") as raw, open(tmp_path / "a.txt", encoding="utf8") as text:
        for file in (raw, text, io.BytesIO(b"\xef\xbb\xbf" + data)):
            assert load_conll(file, columns=NAMES) == (X, Y)
    for encoding in ("utf-16", "latin-1", "utf-8-sig"):
        file = io.BytesIO("Öl\tO\n\n".encode(encoding))
        assert load_conll(file, encoding=encoding) == ([[{"0": "Öl"}]], [["O"]])
    tokens, _ = read("The cat O\ncat The O\n")
    assert tokens[0][0]["0"] is tokens[0][1]["1"]  # equal values are there once


def test_several_files_are_read_as_if_they_were_one(tmp_path):
    paths = [tmp_path / "a.txt", tmp_path / "b.txt.gz"]
    paths[0].write_text(PLAIN)
    paths[1].write_bytes(gzip.compress(PLAIN.replace(" ", "\t").encode()))
    for path in (paths, tuple(map(str, paths)), iter([paths[0], io.StringIO(PLAIN)])):
        assert load_conll(path, columns=NAMES) == (X + X, Y + Y)
    assert load_conll(paths, tags=None)[1] is None
    other = tmp_path / "c.txt"
    for text, first, options, message in [
        ("The O\n", paths[0], {}, f" has the columns 0, 1 with the tags in 1, but {paths[0]} 0, 1"),
        ("a O\n\n\nc I-X\n", other, {"scheme": "bio"}, ", line 4: the tag is I-X at"),
    ]:
        other.write_text(text)
        with pytest.raises(ValueError, match=re.escape(f"{other}{message}")):
            load_conll([first, other], **options)


def test_errors_of_files_name_the_file_and_the_line(tmp_path):
    path, latin = tmp_path / "a.txt", b"a O\r\xd6l O\r"
    no_gzip = tmp_path / "a.gz"
    for content, options, message in [
        (latin, {}, ", line 2: byte 0xd6 is not of the encoding utf-8; name that of the file"),
        ("a O\n".encode("utf-16-le"), {}, ", line 1: a null character, as where UTF-16"),
        (b"a\tO\nb\t\n", {}, ", line 2: the tag, column '1', is empty: 'b\\\\t'; tags=None"),
        (b"a\t \n", {"columns": ["word", "tag"]}, ", line 1: the tag, column 'tag', is empty"),
    ]:
        path.write_bytes(content)
        for file in (path, [path]):
            with pytest.raises(ValueError, match=re.escape(str(path)) + message):
                load_conll(file, **options)
    path.write_bytes(latin)
    with open(path, encoding="utf8") as text, pytest.raises(ValueError, match="a.txt, line 2: by"):
        load_conll(text)
    for content in (latin, gzip.compress(latin)[:-9]):
        no_gzip.write_bytes(content)
        with pytest.raises(ValueError, match="a.gz cannot be decompressed: "):
            load_conll(no_gzip)
    assert read("b\t\n", tags=None)[0] == [[{"0": "b", "1": ""}]]
    for file, options, error, message in [
        (tmp_path / "missing.txt", {}, FileNotFoundError, "missing.txt"),
        (3, {}, TypeError, "path must be a name, an open file or a list of these, got 3"),
        ([], {}, ValueError, "path is an empty list"),
        (path, {"encoding": "utf-9"}, LookupError, "unknown encoding"),
    ]:
        with pytest.raises(error, match=message):
            load_conll(file, **options)


def test_errors_of_reading():
    no_tokens, names = "the file holds no tokens", "must have different names"
    for text, options, message in [
        ("\n# comment\n\n-DOCSTART- O\n", {}, no_tokens),
        ("a b c\n\na b\n", {}, "the file, line 3: 2 columns, expected 3: 0, 1, 2: 'a b'"),
        ("# c\n\na\tb\n", {"columns": NAMES}, "2 columns, expected 3: word, pos, tag: 'a\\\\tb'"),
        ("a b c\n", {"separator": "\t"}, "one column, that of the tags"),
        ("# global.columns = a b a\n", {}, "the file, line 1: columns " + names),
        ("a b\n", {"tags": "upos"}, "the file: no column is tags='upos'; the columns are 0, 1"),
        *(("a b\n", {"tags": tags}, f"no column is tags={tags}") for tags in (2, -3, True, 1.0)),
        ("a b\n", {"separator": ""}, "separator must be a string"),
        ("a b\n", {"separator": "\n"}, "separator must be a string without line breaks"),
        ("a b\n", {"scheme": "bieo"}, "scheme must be one of .* got 'bieo'"),
        ("a b\n", {"scheme": "bio", "tags": None}, "scheme='bio' .* tags is None"),
    ]:
        with pytest.raises(ValueError, match=message):
            read(text, **options)
    for columns in ("word", 2, ["word", 1], []):
        with pytest.raises(TypeError, match="columns must be a list"):
            read("a b\n", columns=columns)


def test_tags_that_break_a_scheme_are_named_by_line():
    """Which break it is held in tests/test_tag_schemes.py."""
    broken = "# a b\na B-X\nb I-Y\n\n\nc I-X\n"
    with pytest.raises(ValueError, match="the file, line 3: the tag is I-Y after B-X, .* are 2"):
        read(broken, scheme="bio")
    with pytest.raises(ValueError, match="line 2: the tag is 'B_X', but labels are O, B-TYPE, I-T"):
        read("a O\nb B_X\n", scheme="bio")
    assert read(PLAIN, columns=NAMES, scheme="bio") == (X, Y)


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "scheme", "n_sentences", "n_tokens"),
    [
        ("wsj_pos/train", None, 3253, None),
        ("usaddress/train", None, 34610, 179494),
        ("chinese_chars/peoples_daily_test", "bio", 4636, 219197),
    ],
)
def test_real_files(name, scheme, n_sentences, n_tokens):
    from helpers.real_data import HOME

    tokens, tags = load_conll(HOME / f"{name}.txt.gz", scheme=scheme, comments=False)
    assert len(tokens) == n_sentences
    assert n_tokens is None or sum(map(len, tags)) == n_tokens
