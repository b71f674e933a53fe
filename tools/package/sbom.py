#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom.py ARCHIVE VERSION WHEN - prints the bill of materials of a source archive as SPDX 2.3: what it needs, and under
which licences. WHEN is the time of its commit, so that the same commit gives the same bytes."""

import hashlib
import json
import pathlib
import sys

LIBRARY, PROGRAMS = "the library", "the programs"

# What is needed to build and to run (docs/building.md); nothing of it is in the archive.
NEEDED = (
    ("Eigen", ">= 3.4", "MPL-2.0", LIBRARY),
    ("zlib", "", "Zlib", "Whisper, the transcriber"),
    ("libsndfile", "", "LGPL-2.1-or-later", PROGRAMS),
    ("soxr", "", "LGPL-2.1-or-later", PROGRAMS),
    ("alsa-lib", "", "LGPL-2.1-or-later", PROGRAMS),
    ("xxHash", "", "BSD-2-Clause", PROGRAMS),
    ("OpenFst", ">= 1.7", "Apache-2.0", PROGRAMS),
    ("Boost", ">= 1.74", "BSL-1.0", PROGRAMS),
    ("CLI11", "", "BSD-3-Clause", PROGRAMS),
    ("nlohmann-json", "", "MIT", PROGRAMS),
    ("yaml-cpp", "", "MIT", PROGRAMS),
    ("libzip", ">= 1.5", "BSD-3-Clause", PROGRAMS),
    ("libarchive", ">= 3.4", "BSD-2-Clause", PROGRAMS),
)


def package(name: str, version: str, licence: str, comment: str) -> dict:
    """One without files."""
    found = {
        "SPDXID": f"SPDXRef-{name}",
        "name": name,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": licence,
        "licenseDeclared": licence,
        "copyrightText": "NOASSERTION",
    }
    if version:
        found["versionInfo"] = version
    if comment:
        found["comment"] = comment
    return found


def main(archive: str, version: str, when: str) -> None:
    digest = hashlib.sha256(pathlib.Path(archive).read_bytes()).hexdigest()
    steno = package("steno", version, "Apache-2.0", "")
    steno["packageFileName"] = pathlib.Path(archive).name
    steno["checksums"] = [{"algorithm": "SHA256", "checksumValue": digest}]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "steno")] + [("SPDXRef-steno", "DEPENDS_ON", n[0]) for n in NEEDED]
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"steno-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/steno-{version}-{digest}",
        "creationInfo": {"created": when, "creators": ["Tool: steno-make-archive"]},
        "packages": [steno] + [package(n, v, licence, f"needed by {by}") for n, v, licence, by in NEEDED],
        "relationships": [
            {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": f"SPDXRef-{other}"}
            for one, kind, other in relations
        ],
    }
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
