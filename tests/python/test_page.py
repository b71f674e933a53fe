# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/python.md run as they stand, and print what the page says."""

import importlib.util
import re
import subprocess
import sys
import unittest

from material import SOURCE


class Page(unittest.TestCase):
    @unittest.skipUnless(importlib.util.find_spec("numpy"), "numpy is not there")
    def test_examples(self):
        page = (SOURCE / "docs" / "python.md").read_text(encoding="utf-8")
        blocks = re.findall(r"```python\n(.*?)```\n(?:```text\n(.*?)```)?", page, re.DOTALL)
        self.assertEqual(len(blocks), 3)
        for code, wanted in blocks:
            done = subprocess.run(
                [sys.executable, "-W", "error", "-c", code], cwd=SOURCE, capture_output=True, text=True, check=False
            )
            self.assertEqual((done.returncode, done.stderr), (0, ""), code)
            if wanted:
                self.assertEqual(done.stdout, wanted, code)


if __name__ == "__main__":
    unittest.main()
