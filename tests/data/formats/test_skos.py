"""SKOS in three notations of RDF."""

from __future__ import annotations

import sys

import pytest

from labelspace.data.formats.vocabulary_file import read_vocabulary
from labelspace.errors import DataError, UsageError

TURTLE = """\
@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix ex: <http://example.org/> .
ex:plant a skos:Concept ; skos:prefLabel "Pflanze"@de, "plant"@en ; skos:narrower ex:rose .
ex:rose a skos:Concept ; skos:prefLabel "Rose"@de, "rose"@en ;
    skos:altLabel "Rosen"@de ; skos:notation "12.3" .
ex:tea a skos:Concept ; skos:prefLabel "Teerose"@de ; skos:broader ex:rose, ex:old .
ex:old a skos:Concept ; skos:prefLabel "alt"@de ; owl:deprecated true .
"""


def written(tmp_path, form, name):
    rdflib = pytest.importorskip("rdflib")
    path = tmp_path / name
    path.write_text(rdflib.Graph().parse(data=TURTLE).serialize(format=form), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("form", "name"),
    [("turtle", "garden.ttl"), ("xml", "garden.rdf"), ("json-ld", "garden.jsonld")],
)
def test_skos_gives_keys_names_by_language_and_broader_labels(form, name, tmp_path):
    vocabulary = read_vocabulary(written(tmp_path, form, name))
    plant, rose, tea = (f"http://example.org/{one}" for one in ("plant", "rose", "tea"))
    assert list(vocabulary.keys) == [plant, rose, tea]
    assert [vocabulary.name(entry, "de") for entry in range(3)] == ["Pflanze", "Rose", "Teerose"]
    assert vocabulary.name(1, "en") == "rose"
    assert [vocabulary.find(one) for one in ("Rosen", "12.3", "alt")] == [[1], [1], []]
    assert vocabulary.ancestors(2) == [1, 0]


def test_rdf_that_is_broken_or_has_no_concept_is_refused(tmp_path):
    pytest.importorskip("rdflib")
    path = tmp_path / "a.ttl"
    path.write_text("@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\nskos:a skos:b")
    with pytest.raises(DataError, match="cannot be read as RDF"):
        read_vocabulary(path)
    path.write_text("@prefix ex: <http://example.org/> .\nex:a ex:b ex:c .")
    with pytest.raises(DataError, match=r"no skos:Concept"):
        read_vocabulary(path)


def test_without_rdflib_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "rdflib", None)
    path = tmp_path / "a.ttl"
    path.write_text(TURTLE)
    with pytest.raises(UsageError, match=r"labelspace\[vocabulary\]"):
        read_vocabulary(path)


XML = """<?xml version="1.0"?><!DOCTYPE rdf:RDF [{}]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:skos="http://www.w3.org/2004/02/skos/core#">
<skos:Concept rdf:about="http://a.org/1"><skos:prefLabel>{}</skos:prefLabel></skos:Concept>
</rdf:RDF>"""
LAUGHS = '<!ENTITY a0 "ha">' + "".join(
    f'<!ENTITY a{at} "{f"&a{at - 1};" * 10}">' for at in range(1, 12)
)
BOMBS = {
    "entities of entities": (XML.format(LAUGHS, "&a11;"), "the entity 'a1', which stands"),
    "another file": (
        XML.format('<!ENTITY x SYSTEM "file:///etc/passwd">', "&x;"),
        "the entity 'x', which stands for other entities or another file",
    ),
    "a long one many times": (
        XML.format(f'<!ENTITY x "{"ha" * 5000}">', "&x;" * 5000),
        "entities that stand for 50,000,000 characters",
    ),
}


@pytest.mark.parametrize("what", BOMBS)
def test_entities_of_xml_are_no_way_to_fill_memory_or_to_read_files(tmp_path, what):
    pytest.importorskip("rdflib")
    content, told = BOMBS[what]
    (tmp_path / "a.rdf").write_text(content)
    with pytest.raises(DataError, match=told):
        read_vocabulary(tmp_path / "a.rdf")


def test_entities_for_namespaces_are_read(tmp_path):
    pytest.importorskip("rdflib")
    content = XML.format('<!ENTITY garden "the garden">', "roses of &garden;")
    (tmp_path / "a.rdf").write_text(content)
    assert read_vocabulary(tmp_path / "a.rdf").name(0) == "roses of the garden"


def test_collections_have_members_directly_and_through_others_and_are_no_concepts(tmp_path):
    pytest.importorskip("rdflib")
    path = tmp_path / "garden.ttl"
    path.write_text(
        TURTLE
        + 'ex:shown a skos:Collection ; skos:prefLabel "shown"@en ; skos:member ex:tea, ex:reds .\n'
        + "ex:reds a skos:Collection ; skos:member ex:rose, ex:shown .\n",
        encoding="utf-8",
    )
    vocabulary = read_vocabulary(path)
    assert len(vocabulary) == 3
    rose, tea = (vocabulary.find(f"http://example.org/{one}")[0] for one in ("rose", "tea"))
    assert vocabulary.collections.find("shown").tolist() == [rose, tea]
    assert vocabulary.collections.find("http://example.org/reds").tolist() == [rose, tea]
    assert vocabulary.collections.find("reds") is None
