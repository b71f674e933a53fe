#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_wheel.py LIBRARY VERSION OUT - puts the package steno and libsteno into a wheel, in the folder OUT.

Nothing but Python is needed: a wheel is a ZIP file with a list of its files. The same inputs give the same bytes. With
binutils' objdump the wheel's name says for which systems it is: manylinux, as PyPI wants it.
"""

import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
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


# Libraries that every system of a manylinux tag has, and from which version of glibc on systems have the standard
# library of C++ with those symbols (PEP 600; the figures are auditwheel's policies).
COMMON = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libgcc_s.so.1", "libstdc++.so.6", "libz.so.1"}
LIBSTDCXX = ((19, 17), (22, 24), (24, 27), (28, 31), (29, 34), (30, 35), (32, 38), (33, 39))


def platform_of(library: str) -> str:
    """manylinux_2_N where glibc 2.N is the oldest that has all the library needs; else as this system is called."""
    own = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    objdump = shutil.which("objdump")
    if objdump is None or not own.startswith("linux_"):
        return own
    facts = subprocess.run([objdump, "-p", library], check=True, capture_output=True, text=True).stdout
    needed = set(re.findall(r"NEEDED\s+(\S+)", facts))
    glibc = [int(n) for n in re.findall(r" GLIBC_2\.(\d+)", facts)]
    cxx = max((int(n) for n in re.findall(r" GLIBCXX_3\.4\.(\d+)", facts)), default=0)
    of_cxx = next((n for last, n in LIBSTDCXX if cxx <= last), None)
    if not glibc or of_cxx is None or any(n not in COMMON and not n.startswith("ld-linux") for n in needed):
        return own
    return f"manylinux_2_{max(17, of_cxx, *glibc)}{own[len('linux'):]}"


def digest(data: bytes) -> str:
    """As RECORD has it."""
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def main(library: str, version: str, out: str) -> None:
    tag = "py3-none-" + platform_of(library)
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
