"""Small corpora and vocabularies in every format, from which the cases are made.

A sample is files by name; the first is the one that is read, and a sample of a folder has none
outside of it.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import numpy as np

Sample = dict[str, bytes]

TEXTS = ("a red, round ball", "Rosen; und Gärten", "机器学习", "a square | box", "")
LABELS: tuple[tuple[str, ...], ...] = (("red", "round"), ("roses",), ("学习",), ("square",), ())
ROWS = "0,2 1:0.5 4:1\n1 0:0.25 3:1e-3\n 2:2\n2,1,0 4:1\n\n"


def xc() -> Sample:
    return {"a.txt": f"5 5 3\n{ROWS}".encode(), "labels.txt": b"k1\tred\nk2\tgreen\nk3\tround\n"}


def svmlight() -> Sample:
    return {"a.svm": ROWS.encode(), "features.txt": b"a\nb\nc\nd\ne\n"}


def tsv() -> Sample:
    rows = zip(TEXTS, LABELS, strict=True)
    lines = "".join(f"{text}\t{','.join(labels)}\n" for text, labels in rows)
    return {"a.tsv": lines.encode(), "labels.txt": b"red\nround\nroses\n"}


def csv() -> Sample:
    rows = zip(TEXTS, LABELS, strict=True)
    lines = "".join(
        f'{at},"{text}","{";".join(labels)}",x\n' for at, (text, labels) in enumerate(rows)
    )
    return {"a.csv": f"id,title,subjects,other\n{lines}".encode()}


def annif() -> Sample:
    rows = zip(TEXTS, LABELS, strict=True)
    lines = (f"{text}\t{' '.join(f'<u:{label}>' for label in labels)}\n" for text, labels in rows)
    return {"a.tsv": "".join(lines).encode()}


def jsonl() -> Sample:
    rows: list[dict[str, Any]] = [
        {"text": text, "features": {"1": 0.5, "3": at}, "labels": list(labels)}
        for at, (text, labels) in enumerate(zip(TEXTS, LABELS, strict=True))
    ]
    return {"a.jsonl": _lines(rows), "labels.txt": b"red\nround\n"}


def records() -> Sample:
    """JSON lines with names of columns that are not ours."""
    return {"a.jsonl": _lines(_records())}


def json_array() -> Sample:
    return {"a.json": json.dumps(_records(), indent=1).encode()}


def fasttext() -> Sample:
    rows = zip(TEXTS, LABELS, strict=True)
    lines = (
        f"{' '.join(f'__label__{label}' for label in labels)} {text}\n" for text, labels in rows
    )
    return {"a.txt": "".join(lines).encode()}


def npz() -> Sample:
    file = io.BytesIO()
    np.savez(file, **npz_arrays())
    return {"a.npz": file.getvalue()}


def npz_arrays() -> dict[str, Any]:
    """Return the arrays of a corpus with features, texts and names."""
    pieces = [text.encode() for text in TEXTS[:3]]
    return {
        "X_data": np.array([0.5, 1, 2], np.float32),
        "X_indices": np.array([0, 3, 1], np.int32),
        "X_indptr": np.array([0, 2, 3, 3], np.int32),
        "X_shape": np.array([3, 4]),
        "Y_indices": np.array([0, 1, 1], np.int32),
        "Y_indptr": np.array([0, 1, 2, 3], np.int32),
        "Y_shape": np.array([3, 2]),
        "texts": np.frombuffer(b"".join(pieces), np.uint8),
        "texts_indptr": np.cumsum([0, *map(len, pieces)]),
        "label_names": np.array(["red", "round"]),
    }


def parquet() -> Sample:
    from pyarrow import parquet as pq

    file = io.BytesIO()
    pq.write_table(_table(), file)
    return {"a.parquet": file.getvalue()}


def feather() -> Sample:
    from pyarrow import feather as pf

    file = io.BytesIO()
    pf.write_feather(_table(), file, compression="lz4")
    return {"a.feather": file.getvalue()}


def xlsx() -> Sample:
    import openpyxl

    book = openpyxl.Workbook()
    assert book.active is not None
    book.active.append(["id", "title", "tags", "day"])
    for at, (text, labels) in enumerate(zip(TEXTS, LABELS, strict=True)):
        book.active.append([at, text, ";".join(labels), None])
    file = io.BytesIO()
    book.save(file)
    return {"a.xlsx": file.getvalue()}


def xc_json() -> Sample:
    rows = [
        {"uid": f"a{at}", "title": text, "content": "", "target_ind": [at % 3], "target_rel": [1.0]}
        for at, text in enumerate(TEXTS)
    ]
    labels = [{"uid": name, "title": name} for name in ("red", "round", "roses")]
    return {"trn.json": _lines(rows), "lbl.json": _lines(labels)}


def folder() -> Sample:
    return {
        "docs/1.txt": b"a red ball",
        "docs/1.tsv": b"<u:red>\tred\n<u:round>\tround\n",
        "docs/2.txt": "Rosen und Gärten".encode(),
        "docs/2.key": "roses\nGärten\n".encode(),
        "docs/3.txt": b"",
    }


def vocabulary_tsv() -> Sample:
    rows = "g1\trose\tdog rose|tea rose\tg2\ng2\tplant\t\t\ng3\ttulip\t\tg2|g1\n"
    return {"vocabulary.tsv": f"key\tname\tother_names\tbroader\n{rows}".encode()}


def vocabulary_csv() -> Sample:
    rows = 'http://a.org/1,Rose,"rose",1.1\nhttp://a.org/2,"Garten, groß",garden,\n'
    return {"vocabulary.csv": f"uri,label_de,label_en,notation\n{rows}".encode()}


def turtle() -> Sample:
    return {
        "vocabulary.ttl": b"""@prefix skos: <http://www.w3.org/2004/02/skos/core#> .
<http://a.org/1> a skos:Concept ; skos:prefLabel "rose"@en, "Rose"@de ;
  skos:broader <http://a.org/2> .
<http://a.org/2> a skos:Concept ; skos:prefLabel "plant" ; skos:altLabel "flora"@en ;
  skos:notation "2" .
"""
    }


def rdf_xml() -> Sample:
    return {
        "vocabulary.rdf": b"""<?xml version="1.0"?>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
 xmlns:skos="http://www.w3.org/2004/02/skos/core#">
<skos:Concept rdf:about="http://a.org/1"><skos:prefLabel xml:lang="en">rose</skos:prefLabel>
<skos:broader rdf:resource="http://a.org/2"/></skos:Concept>
<skos:Concept rdf:about="http://a.org/2"><skos:prefLabel>plant</skos:prefLabel></skos:Concept>
</rdf:RDF>
"""
    }


def json_ld() -> Sample:
    skos = "http://www.w3.org/2004/02/skos/core#"
    graph = [
        {
            "@id": f"http://a.org/{at}",
            "@type": f"{skos}Concept",
            f"{skos}prefLabel": [{"@value": name, "@language": "en"}],
            f"{skos}broader": [{"@id": "http://a.org/1"}],
        }
        for at, name in enumerate(("rose", "plant"))
    ]
    return {"vocabulary.jsonld": json.dumps({"@graph": graph}).encode()}


CORPORA: dict[str, Callable[[], Sample]] = {
    "xc": xc,
    "svmlight": svmlight,
    "tsv": tsv,
    "csv": csv,
    "annif": annif,
    "jsonl": jsonl,
    "records": records,
    "json": json_array,
    "fasttext": fasttext,
    "npz": npz,
    "parquet": parquet,
    "feather": feather,
    "xlsx": xlsx,
    "xc-json": xc_json,
    "folder": folder,
}
VOCABULARIES: dict[str, Callable[[], Sample]] = {
    "vocabulary-tsv": vocabulary_tsv,
    "vocabulary-csv": vocabulary_csv,
    "turtle": turtle,
    "rdf-xml": rdf_xml,
    "json-ld": json_ld,
}


def _records() -> list[dict[str, Any]]:
    return [
        {"record": at, "title": text, "abstract": None, "tags": list(labels)}
        for at, (text, labels) in enumerate(zip(TEXTS, LABELS, strict=True))
    ]


def _lines(rows: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows)


def _table() -> Any:
    import pyarrow

    return pyarrow.table(
        {"id": list(range(5)), "title": list(TEXTS), "labels": [list(one) for one in LABELS]}
    )
