"""Documents, and what comments say, are groups of sentences."""

import io

import pytest
from helpers.conllu import ROW, UNIVERSAL

from sskit.datasets import load_conll

SENTENCES = "a O\n\nb O\n\n"


def groups(text, name, **options):
    X, y, found = load_conll(io.StringIO(text), groups=name, **options)
    assert (X, y) == load_conll(io.StringIO(text), **options)
    assert len(found) == len(X)
    return found.tolist()


def test_groups_are_documents_or_what_comments_say():
    mark = "-DOCSTART- O\n\n"
    for text, numbers in {
        SENTENCES: [0, 0],
        mark + SENTENCES + mark + mark + SENTENCES: [0, 0, 1, 1],
        SENTENCES + mark + SENTENCES: [0, 0, 1, 1],
        UNIVERSAL: [0, 1, 1],
        "#begin document (a); part 000\n" + SENTENCES + "#end document\n"
        "#begin document (b); part 000\n" + SENTENCES: [0, 0, 1, 1],
    }.items():
        assert groups(text, "document") == numbers, text
    assert groups(UNIVERSAL, "sent_id") == ["1", "2", "3"]
    assert groups(UNIVERSAL, "newdoc id") == ["a = x", "b", "b"]
    blanks = "# id 17\tdomain=en\n" + SENTENCES[:4] + "\n# id x-2\tdomain=de\nb O"
    assert groups(blanks, "id") == ["17", "x-2"]
    assert groups(blanks, "domain", tags=None) == ["en", "de"]
    files = map(io.StringIO, [UNIVERSAL, f"{ROW}\n{ROW}"])
    assert load_conll(files, groups="document")[2].tolist() == [0, 1, 1, 2, 2]


def test_sentences_without_a_group_are_named():
    for text, name, message in [
        (UNIVERSAL, "domain", "line 5: the sentence has no comment 'domain'; what it has is sent_"),
        (UNIVERSAL, "newpar", "line 5: the sentence has no comment 'newpar'"),
        (SENTENCES, "id", "line 1: the sentence has no comment 'id'; what it has is none"),
        ("# sent_id = 1\n" + SENTENCES, "sent_id", "line 4: the sentence has no comment"),
        (f"{UNIVERSAL}\n# newdoc\n{ROW}", "newdoc id", "line 18: the sentence has no comment"),
    ]:
        with pytest.raises(ValueError, match=f"the file, {message}"):
            groups(text, name)
    with pytest.raises(ValueError, match="the file, line 1: the sentence has no comment 'newdoc "):
        load_conll(map(io.StringIO, [UNIVERSAL, ROW]), groups="newdoc id")
    for name in (True, "", ["document"]):
        with pytest.raises(TypeError, match="groups must be 'document', the name of a comment"):
            groups(SENTENCES, name)
