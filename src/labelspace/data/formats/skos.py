"""SKOS vocabularies in Turtle, RDF/XML or JSON-LD, read by rdflib (extra ``vocabulary``).

Of a concept come its URI as the key, ``prefLabel``, ``altLabel`` and ``hiddenLabel`` with their
languages, ``notation`` as one more name, ``broader`` (or ``narrower``, the other way round), and
the collections that it is a member of, also through a collection in another.
Concepts that are marked as deprecated are left out.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Iterator
from io import BufferedReader
from pathlib import Path
from typing import Any
from xml.parsers import expat

from labelspace.errors import DataError, UsageError
from labelspace.label_collections import CollectionName
from labelspace.vocabulary import Entry, LabelName


def read_skos(stream: BufferedReader, path: Path, kind: str) -> Iterator[Entry]:
    """Yield the concepts of a file, sorted by their URIs; ``kind`` is rdflib's name of a format."""
    try:
        from rdflib import Graph
        from rdflib.namespace import OWL, RDF, SKOS
    except ImportError:
        raise UsageError(
            f"{path} is SKOS, which needs rdflib: pip install 'labelspace[vocabulary]', or give "
            "a table with the columns key, name, other_names, broader."
        ) from None
    graph: Any = Graph()
    logging.getLogger("rdflib").setLevel(logging.ERROR)  # its complaints about odd literals
    content = stream.read()
    if kind == "json-ld":
        content = _without_addresses(content, path)
    if kind == "xml":
        _refuse_bombs(content, path)
    try:
        graph.parse(data=content, format=kind)
    except Exception as error:  # each of rdflib's parsers raises its own
        first = str(error).strip().splitlines() or [type(error).__name__]
        raise DataError(f"{path} cannot be read as RDF ({first[0][:120]}): mend it.") from None
    above: dict[Any, set[str]] = defaultdict(set)
    for narrow, broad in graph.subject_objects(SKOS.broader):
        above[narrow].add(str(broad))
    for broad, narrow in graph.subject_objects(SKOS.narrower):
        above[narrow].add(str(broad))
    named = set(graph.subjects(SKOS.prefLabel)) - set(graph.subjects(SKOS.member))
    named -= set(graph.subjects(RDF.type, SKOS.Collection))
    concepts = set(graph.subjects(RDF.type, SKOS.Concept)) | named
    gone = {one for one, value in graph.subject_objects(OWL.deprecated) if str(value) == "true"}
    if not concepts:
        raise DataError(f"{path} has no skos:Concept: give a SKOS vocabulary.")
    for concept in sorted(concepts - gone, key=str):
        names = [
            LabelName(str(literal), _language(literal), said == SKOS.prefLabel)
            for said in (SKOS.prefLabel, SKOS.altLabel, SKOS.hiddenLabel, SKOS.notation)
            for literal in sorted(graph.objects(concept, said), key=_by_language)
        ]
        broader = sorted(above[concept] - {str(one) for one in gone})
        yield Entry(str(concept), names, broader, _collections_of(concept, graph, SKOS))


def _collections_of(concept: Any, graph: Any, skos: Any) -> list[CollectionName]:
    """Return the collections that a concept is in, directly or through others."""
    found: dict[Any, None] = {}
    waiting = [concept]
    while waiting:
        around = [one for inner in waiting for one in graph.subjects(skos.member, inner)]
        waiting = [one for one in dict.fromkeys(around) if one not in found]
        found.update(dict.fromkeys(waiting))
    names = {one: sorted(graph.objects(one, skos.prefLabel), key=_by_language) for one in found}
    return [CollectionName(str(one), str(names[one][0]) if names[one] else "") for one in found]


_MOST_EXPANDED, _EXPANDED_PER_BYTE = 1 << 20, 10


def _refuse_bombs(content: bytes, path: Path) -> None:
    """Raise if entities of a file stand for entities, for another file, or for far more than it.

    Many vocabularies have short ones for their namespaces.
    """
    entities: dict[str, str] = {}

    def declared(name: str, is_parameter: bool, value: str | None, *elsewhere: Any) -> None:
        if value is None or is_parameter or "&" in value:
            raise DataError(
                f"{path} has the entity '{name[:40]}', which stands for other entities or another "
                "file: write what it stands for into the file."
            )
        entities.setdefault(name, value)

    def begun(*element: Any) -> None:
        raise StopIteration

    parser = expat.ParserCreate()
    parser.EntityDeclHandler, parser.StartElementHandler = declared, begun
    try:
        parser.Parse(content, True)
    except DataError:
        raise
    except (StopIteration, expat.ExpatError, LookupError, ValueError):
        pass  # rdflib says what is wrong
    n_bytes = sum(
        content.count(f"&{name};".encode()) * len(value) for name, value in entities.items()
    )
    if n_bytes > max(_MOST_EXPANDED, _EXPANDED_PER_BYTE * len(content)):
        raise DataError(
            f"{path} has entities that stand for {n_bytes:,} characters, far more than are in the "
            "file: write what they stand for into it."
        )


def _language(literal: Any) -> str:
    return getattr(literal, "language", None) or ""  # an address has none


def _by_language(literal: Any) -> tuple[str, str]:
    return _language(literal), str(literal)


def _without_addresses(content: bytes, path: Path) -> bytes:
    """Return JSON-LD as it is, if there is no address in it that rdflib would fetch."""
    try:
        whole = json.loads(content)
    except (ValueError, RecursionError) as error:
        why = " ".join(f"{error}".split())[:120]
        raise DataError(f"{path} cannot be read as RDF ({why}): mend it.") from None
    found = [whole]
    while found:
        one = found.pop()
        if isinstance(one, list):
            found += one
        elif isinstance(one, dict):
            found += one.values()
            context = one.get("@context")
            contexts = context if isinstance(context, list) else [context]
            if "@import" in one or any(isinstance(named, str) for named in contexts):
                raise DataError(
                    f"{path} names an address as its @context, which is not fetched: write what "
                    "is there into the file."
                )
    return json.dumps(whole).encode()
