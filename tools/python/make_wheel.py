#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_wheel.py LIBRARY VERSION OUT - puts the package steno and libsteno into a wheel, in the folder OUT.

Nothing but Python is needed: a wheel is a ZIP file with a list of its files. The same inputs give the same bytes.
"""

import base64
import hashlib
import pathlib
import sys
import sysconfig
import zipfile

PACKAGE = pathlib.Path(__file__).parent / "steno"
ROOT = PACKAGE.parents[2]

METADATA = """Metadata-Version: 2.1
Name: steno
Version: {version}
Summary: Speech recognition inference on the CPU
License: Apache-2.0
Requires-Python: >=3.10
Provides-Extra: numpy
Requires-Dist: numpy; extra == "numpy"
Classifier: License :: OSI Approved :: Apache Software License
Classifier: Operating System :: POSIX :: Linux
Classifier: Programming Language :: Python :: 3
Classifier: Topic :: Multimedia :: Sound/Audio :: Speech
Classifier: Typing :: Typed
Description-Content-Type: text/markdown

{description}"""

WHEEL = """Wheel-Version: 1.0
Generator: steno
Root-Is-Purelib: false
Tag: {tag}
"""


def digest(data: bytes) -> str:
    """As RECORD has it."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main(library: str, version: str, out: str) -> None:
    tag = "py3-none-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
    about = f"steno-{version}.dist-info"
    files = {f"steno/{path.name}": path.read_bytes() for path in sorted(PACKAGE.iterdir()) if path.is_file()}
    files["steno/libsteno.so.0"] = pathlib.Path(library).read_bytes()
    description = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    files[f"{about}/METADATA"] = METADATA.format(version=version, description=description).encode()
    files[f"{about}/WHEEL"] = WHEEL.format(tag=tag).encode()
    files[f"{about}/LICENSE"] = (ROOT / "LICENSE").read_bytes()
    record = "".join(f"{name},{digest(data)},{len(data)}\n" for name, data in files.items())
    files[f"{about}/RECORD"] = (record + f"{about}/RECORD,,\n").encode()

    folder = pathlib.Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("steno-*.whl"):
        old.unlink()
    with zipfile.ZipFile(folder / f"steno-{version}-{tag}.whl", "w", zipfile.ZIP_DEFLATED) as wheel:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o100644 << 16
            wheel.writestr(entry, data)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
