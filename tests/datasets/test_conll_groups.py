"""Documents, and what comments say, are groups of sentences."""

import io

import pytest

from sskit.datasets import load_conll

SENTENCES = "a O\n\nb O\n\n"
UNIVERSAL = """\
# newdoc id = n01 = x
# newpar
# sent_id = s1
a\tO

# sent_id = s2
b\tO

# newdoc id = n02
# sent_id = s3
c\tO
"""


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
        UNIVERSAL: [0, 0, 1],
        "#begin document (a); part 000\n" + SENTENCES + "#end document\n"
        "#begin document (b); part 000\n" + SENTENCES: [0, 0, 1, 1],
    }.items():
        assert groups(text, "document") == numbers, text
    assert groups(UNIVERSAL, "sent_id") == ["s1", "s2", "s3"]
    assert groups(UNIVERSAL, "newdoc id") == ["n01 = x", "n01 = x", "n02"]
    blanks = "# id 17\tdomain=en\n" + SENTENCES[:4] + "\n# id x-2\tdomain=de\nb O"
    assert groups(blanks, "id") == ["17", "x-2"]
    assert groups(blanks, "domain", tags=None) == ["en", "de"]
    files = [io.StringIO(UNIVERSAL), io.StringIO(SENTENCES.replace(" ", "\t"))]
    assert load_conll(files, groups="document")[2].tolist() == [0, 0, 1, 2, 2]


def test_sentences_without_a_group_are_named():
    for text, name, message in [
        (UNIVERSAL, "domain", "line 4: the sentence has no comment 'domain'; what it has is sent_"),
        (UNIVERSAL, "newpar", "line 4: the sentence has no comment 'newpar'"),
        (SENTENCES, "id", "line 1: the sentence has no comment 'id'; what it has is none"),
        ("# sent_id = 1\n" + SENTENCES, "sent_id", "line 4: the sentence has no comment"),
        (UNIVERSAL + "\n# newdoc\nd\tO\n", "newdoc id", "line 14: the sentence has no comment"),
    ]:
        with pytest.raises(ValueError, match=f"the file, {message}"):
            groups(text, name)
    with pytest.raises(ValueError, match="the file, line 1: the sentence has no comment 'newdoc "):
        files = [io.StringIO(UNIVERSAL), io.StringIO(SENTENCES.replace(" ", "\t"))]
        load_conll(files, groups="newdoc id")
    for name in (True, "", ["document"]):
        with pytest.raises(TypeError, match="groups must be 'document', the name of a comment"):
            groups(SENTENCES, name)
