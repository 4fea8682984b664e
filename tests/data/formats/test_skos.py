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
