# SPDX-License-Identifier: Apache-2.0
"""The wheel: the same bytes twice, every file in its list, and the library whole."""

import base64
import csv
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

import steno
from material import SOURCE


class Wheel(unittest.TestCase):
    def test_list_and_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            made = []
            for name in ("a", "b"):
                out = pathlib.Path(folder, name)
                maker = SOURCE / "tools" / "python" / "make_wheel.py"
                subprocess.run(
                    [sys.executable, maker, os.environ["STENO_LIBRARY"], steno.__version__, out], check=True
                )
                (wheel,) = out.glob("*.whl")
                made.append(wheel.read_bytes())
            self.assertEqual(made[0], made[1])
            with zipfile.ZipFile(wheel) as files:
                (name,) = [name for name in files.namelist() if name.endswith("/RECORD")]
                rows = list(csv.reader(files.read(name).decode().splitlines()))
                self.assertEqual(sorted(row[0] for row in rows), sorted(files.namelist()))
                for path, digest, size in rows:
                    if path == name:
                        continue
                    data = files.read(path)
                    found = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                    self.assertEqual((digest, size), (f"sha256={found}", str(len(data))))
                self.assertIn("steno/py.typed", files.namelist())
                (name,) = [name for name in files.namelist() if name.endswith("/WHEEL")]
                tag = re.search(r"^Tag: (.+)$", files.read(name).decode(), re.MULTILINE).group(1)
                self.assertEqual(wheel.name, f"steno-{steno.__version__}-{tag}.whl")

    @unittest.skipUnless(sys.platform == "linux" and shutil.which("objdump"), "needs binutils")
    def test_says_for_which_systems_it_is(self):
        (wheel,) = pathlib.Path(os.environ["STENO_BINARY"], "python").glob("steno-*.whl")
        glibc = re.search(r"-manylinux_2_(\d+)_", wheel.name)
        if glibc is None:  # a compiler whose library no known system has, or a library beside the usual ones
            self.assertIn("linux_", wheel.name)
            return
        # This system has it, and so is not older than it says; the other bound is what the library asks for.
        self.assertLessEqual(int(glibc.group(1)), int(os.confstr("CS_GNU_LIBC_VERSION").split(".")[1]))
        facts = subprocess.run(
            ["objdump", "-p", os.environ["STENO_LIBRARY"]], check=True, capture_output=True, text=True
        ).stdout
        for wanted in re.findall(r" GLIBC_2\.(\d+)", facts):
            self.assertLessEqual(int(wanted), int(glibc.group(1)))

    def test_versions(self):
        (wheel,) = pathlib.Path(os.environ["STENO_BINARY"], "python").glob("steno-*.whl")
        self.assertEqual(wheel.name.split("-")[1], steno.__version__)
        self.assertIn("environment", steno.__file__)  # what is tested is what was installed

    def test_every_function_is_declared(self):
        from steno import _library

        header = (SOURCE / "include" / "steno" / "steno.h").read_text(encoding="utf-8")
        declared = set(re.findall(r"^STENO_API [^;(]*[ *](steno_\w+)\(", header, re.MULTILINE))
        known = set(_library._WITH_STATUS) | set(_library._OTHERS) | {"steno_transcribe"}  # the other one has progress
        self.assertEqual(declared, known)


if __name__ == "__main__":
    unittest.main()
