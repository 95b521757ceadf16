"""A release for catalogues that read DCAT-AP 3, the European profile of DCAT, and its health extension where the theme is health."""

import json
from typing import Any

from scumble.release.described import description, licence, located, metadata_of, perturbed, title
from scumble.release.manifest import Manifest
from scumble.release.records import FileRecord
from scumble.spec.metadata import LANGUAGES, is_address

EUROPE = "http://publications.europa.eu/resource/authority"
PARQUET = "https://www.iana.org/assignments/media-types/application/vnd.apache.parquet"
HEALTH = "HEAL"
CONTEXT = {
    "dcat": "http://www.w3.org/ns/dcat#",
    "dct": "http://purl.org/dc/terms/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "vcard": "http://www.w3.org/2006/vcard/ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "spdx": "http://spdx.org/rdf/terms#",
    "xsd": "http://www.w3.org/2001/XMLSchema#",
    "healthdcatap": "http://healthdataportal.eu/ns/health#",
}


def dcat(manifest: Manifest) -> str:
    """The file, as JSON-LD with its context in it."""
    said = metadata_of(manifest)
    document = {
        "@context": CONTEXT,
        "@id": said.address or "./",
        "@type": "dcat:Dataset",
        "dct:title": _words(title(manifest), said.language),
        "dct:description": _words(description(manifest), said.language),
        "dct:publisher": {"@type": "foaf:Agent", "foaf:name": said.publisher} if said.publisher else None,
        "dcat:contactPoint": _contact(said.contact) if said.contact else None,
        "dct:issued": {"@type": "xsd:date", "@value": said.issued} if said.issued else None,
        "dct:language": {"@id": f"{EUROPE}/language/{LANGUAGES[said.language]}"},
        "dcat:keyword": [_words(keyword, said.language) for keyword in said.keywords] or None,
        "dcat:theme": {"@id": f"{EUROPE}/data-theme/{said.theme}"} if said.theme else None,
        "dct:accessRights": {"@id": f"{EUROPE}/access-right/{said.access}"} if said.access else None,
        "dct:provenance": {"@type": "dct:ProvenanceStatement", "rdfs:label": perturbed(manifest)},
        "healthdcatap:numberOfRecords": _count(manifest.rows)
        if said.theme == HEALTH and manifest.view.row_by_row
        else None,
        "dcat:distribution": [_distribution(manifest, file) for file in manifest.files if file.rows is not None],
    }
    stated = {name: value for name, value in document.items() if value is not None}
    return json.dumps(stated, ensure_ascii=False, indent=1) + "\n"


def _distribution(manifest: Manifest, file: FileRecord) -> dict[str, Any]:
    where, terms = {"@id": located(manifest, file.path)}, licence(manifest)
    return {
        "@type": "dcat:Distribution",
        "dct:title": file.path,
        "dcat:accessURL": where,
        "dcat:downloadURL": where,
        "dcat:mediaType": {"@id": PARQUET},
        "dcat:byteSize": _count(file.bytes),
        **({"dct:license": {"@id": terms}} if terms else {}),
        "spdx:checksum": {
            "@type": "spdx:Checksum",
            "spdx:algorithm": {"@id": "spdx:checksumAlgorithm_sha256"},
            "spdx:checksumValue": {"@type": "xsd:hexBinary", "@value": file.sha256},
        },
    }


def _words(text: str, language: str) -> dict[str, str]:
    return {"@value": text, "@language": language}


def _count(number: int) -> dict[str, str]:
    return {"@type": "xsd:nonNegativeInteger", "@value": str(number)}


def _contact(where: str) -> dict[str, Any]:
    kind = "vcard:hasURL" if is_address(where) else "vcard:hasEmail"
    return {"@type": "vcard:Kind", kind: {"@id": where if is_address(where) else f"mailto:{where}"}}
