"""Each kind of vocabulary file, and what is said of spoiled ones."""

from __future__ import annotations

import gzip

import pytest

from labelspace.data.formats.vocabulary_file import read_vocabulary, vocabulary_for
from labelspace.errors import DataError

FILES = {
    "vocabulary.tsv": (
        "key\tname\tother_names\tbroader\nk1\tplant\t\t\nk2\trose\tdog rose|briar\tk1\n"
    ),
    "with-bom.csv": (
        "\ufeffBroader;ID;Name;Other names\r\n;k1;plant;\r\nplant;k2;rose;'dog rose|briar\r\n"
    ).replace("'", ""),
    "quoted.csv": 'id,label,altLabel,parents\nk1,plant,,\nk2,rose,"dog rose|briar",k1\n',
}


@pytest.mark.parametrize("name", FILES)
def test_tables_with_a_header_are_read_by_column(name, tmp_path):
    path = tmp_path / name
    path.write_text(FILES[name], encoding="utf-8")
    vocabulary = read_vocabulary(path)
    assert list(vocabulary.keys) == ["k1", "k2"]
    assert [name.text for name in vocabulary.names_of(1)] == ["rose", "dog rose", "briar"]
    assert [name.preferred for name in vocabulary.names_of(1)] == [True, False, False]
    assert vocabulary.ancestors(1) == [0]


def test_annifs_csv_has_a_name_for_each_language(tmp_path):
    path = tmp_path / "vocabulary.csv"
    path.write_text(
        "uri,label_de,label_en,notation\nhttp://example.org/1,Rose,rose,12.3\n", encoding="utf-8"
    )
    vocabulary = read_vocabulary(path)
    assert vocabulary.key(0) == "http://example.org/1"
    assert (vocabulary.name(0, "de"), vocabulary.name(0, "en")) == ("Rose", "rose")
    assert vocabulary.find("12.3") == [0]


def test_annifs_tsv_has_uris_in_angle_brackets(tmp_path):
    path = tmp_path / "subjects.tsv.gz"
    path.write_bytes(
        gzip.compress(b"<http://example.org/1>\trose\n<http://example.org/2>\tplant\n")
    )
    vocabulary = read_vocabulary(path)
    assert list(vocabulary.keys) == ["http://example.org/1", "http://example.org/2"]
    assert vocabulary.name(1) == "plant"


def test_labels_txt_has_keys_and_names_or_names_alone(tmp_path):
    path = tmp_path / "labels.txt"
    path.write_text('k1\tplant\nk2\t"rose"\nk3\t\n')
    vocabulary = read_vocabulary(path)
    assert [vocabulary.name(entry) for entry in range(3)] == ["plant", '"rose"', "k3"]
    path.write_text("plant\nrose\n")
    assert list(read_vocabulary(path).keys) == ["plant", "rose"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.tsv", "key\tname\n\trose\n", "line 2: there is no key"),
        ("a.tsv", "key\tname\nk1\trose\nk1\tplant\n", "has the key 'k1' twice"),
        ("a.csv", "rose,plant\nk1,rose\n", "says not what its columns are"),
        ("a.tsv", "key\tname\n", "has no labels"),
        ("a.csv", b"key,name\nk1,Stra\xdfe\n", "is not UTF-8"),
    ],
)
def test_spoiled_files_are_refused_in_a_sentence(name, content, message, tmp_path):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(DataError, match=message):
        read_vocabulary(path)


def test_keys_of_labels_txt_are_those_of_the_columns_that_it_names(tmp_path):
    (tmp_path / "labels.txt").write_text("k1\tbank\nk2\tbank\n")
    corpus = tmp_path / "train.txt"
    found = vocabulary_for(corpus, ["bank", "bank", "new"])
    assert found.label_keys == ["k1", "k2", "new"]
    assert list(found.vocabulary.keys) == ["k1", "k2"]
    assert vocabulary_for(corpus, ["other", "bank"]) == (None, None)
    assert vocabulary_for(corpus, None) == (None, None)


def test_a_vocabulary_beside_the_corpus_is_found_and_a_given_one_comes_first(tmp_path):
    (tmp_path / "vocabulary.tsv").write_text("key\tname\nbeside\trose\n")
    given = tmp_path / "given.tsv"
    given.write_text("key\tname\ngiven\trose\n")
    corpus = tmp_path / "train.tsv"
    assert vocabulary_for(corpus, ["rose"]).vocabulary.key(0) == "beside"
    assert vocabulary_for(corpus, ["rose"], given).vocabulary.key(0) == "given"


def test_a_table_has_collections(tmp_path):
    path = tmp_path / "vocabulary.tsv"
    path.write_text("key\tname\tcollections\na\trose\tflowers|red\nb\tbook\t\nc\ttulip\tflowers\n")
    vocabulary = read_vocabulary(path)
    assert vocabulary.collections.find("flowers").tolist() == [0, 2]
    assert vocabulary.collections.find("red").tolist() == [0]
    path.write_text("key\tname\na\trose\n")
    assert read_vocabulary(path).collections is None
