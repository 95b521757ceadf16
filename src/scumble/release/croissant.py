"""A release for catalogues that read Croissant 1.0 (MLCommons): files with their hashes, columns with their types, and what was done to the rows, in the words of its extension about responsible use."""

import json
from typing import Any
from urllib.parse import quote

from scumble.release.described import description, licence, located, metadata_of, perturbed, title, told_of_persons
from scumble.release.manifest import Manifest
from scumble.release.records import ColumnRecord, FileRecord

OF_CROISSANT = (
    "column", "data", "dataType", "equivalentProperty", "examples", "extract", "field", "fileObject", "fileProperty", "fileSet", "format", "includes", "isLiveDataset", "jsonPath", "key",
    "md5", "parentField", "path", "recordSet", "references", "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform", "citeAs",
)  # fmt: skip
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    **{name: f"cr:{name}" for name in OF_CROISSANT},
    "data": {"@id": "cr:data", "@type": "@json"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
}
TYPES = {"bool": "sc:Boolean", "int": "sc:Integer", "uint": "sc:Integer", "float": "sc:Float", "double": "sc:Float", "halffloat": "sc:Float", "decimal": "sc:Float",
         "date": "sc:Date", "timestamp": "sc:DateTime"}  # fmt: skip
"""By how the name of an Arrow type begins; all others are read as text."""


def croissant(manifest: Manifest) -> str:
    """The file, as JSON-LD with its context in it: nothing is loaded to read it."""
    said = metadata_of(manifest)
    files = {file.path: file for file in manifest.files}
    tables = manifest.form.layout([column.name for column in manifest.columns], manifest.data)
    document = {
        "@context": CONTEXT | {"@language": said.language},
        "@type": "sc:Dataset",
        "conformsTo": ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"],
        "name": title(manifest),
        "description": description(manifest),
        "license": licence(manifest),
        "url": said.address,
        "datePublished": said.issued,
        "creator": {"@type": "sc:Organization", "name": said.publisher} if said.publisher else None,
        "publisher": {"@type": "sc:Organization", "name": said.publisher} if said.publisher else None,
        "inLanguage": said.language,
        "keywords": said.keywords or None,
        "rai:personalSensitiveInformation": told_of_persons(manifest) or None,
        "rai:dataManipulationProtocol": perturbed(manifest),
        "rai:dataLimitations": manifest.not_covered or None,
        "distribution": [_file(manifest, files[path]) for path in manifest.data],
        "recordSet": [
            _records(manifest, path, columns) for columns, paths in tables for path in paths if path in files
        ],
    }
    stated = {name: value for name, value in document.items() if value is not None}
    return json.dumps(stated, ensure_ascii=False, indent=1) + "\n"


def _file(manifest: Manifest, file: FileRecord) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": quote(file.path),
        "name": file.path,
        "contentUrl": located(manifest, file.path),
        "contentSize": f"{file.bytes} B",
        "encodingFormat": "application/x-parquet",
        "sha256": file.sha256,
    }


def _records(manifest: Manifest, path: str, columns: list[str]) -> dict[str, Any]:
    """The rows of a file."""
    identity = f"{quote(path)}#rows"
    records = [column for column in manifest.columns if column.name in columns]
    return {
        "@type": "cr:RecordSet",
        "@id": identity,
        "name": f"rows of {path}",
        "field": [_field(column, identity, path) for column in records],
    }


def _field(column: ColumnRecord, identity: str, path: str) -> dict[str, Any]:
    said = {
        "@type": "cr:Field",
        "@id": f"{identity}/{quote(column.name, safe='')}",
        "name": column.name,
        "description": f"{column.role}{', perturbed: estimate with its channel, never count it as it is' if column.records else ''}",
        "dataType": _type(column.type),
        "source": {"fileObject": {"@id": quote(path)}, "extract": {"column": column.name}},
    }
    return said | ({"repeated": True} if column.type.startswith("list") else {})


def _type(arrow: str) -> str:
    return next((kind for begins, kind in TYPES.items() if arrow.startswith(begins)), "sc:Text")
