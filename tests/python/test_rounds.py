# SPDX-License-Identifier: Apache-2.0
"""A thousand times a model is loaded, used and closed: memory comes back."""

import gc
import resource
import unittest

import steno
from material import MODELS, floats


def resident() -> int:
    """Bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


class Rounds(unittest.TestCase):
    def test_memory(self):
        samples = floats()
        first = 0
        for number in range(1000):
            model = steno.Model(MODELS / "demo.gguf", threads=1)
            if number % 20 == 0:
                model.transcribe(samples)
                list(model.stream().run([samples]))
            if number % 2 == 0:
                model.close()
            del model  # closed or not
            with self.assertRaises(steno.Error):
                steno.Model("nowhere.gguf")
            if number == 100:
                gc.collect()
                first = resident()
        gc.collect()
        grown = resident() - first
        print(f"{grown // 1024} kB more after 900 rounds")
        self.assertLess(grown, 2 << 20)  # a leak of 2.4 kB a round would show


if __name__ == "__main__":
    unittest.main()
