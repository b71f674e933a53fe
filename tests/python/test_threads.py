# SPDX-License-Identifier: Apache-2.0
"""Several threads: one model, handles that are closed meanwhile, and a stream that belongs to one of them."""

import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

import steno
from material import MODELS, SENTENCE, floats, recording


class Threads(unittest.TestCase):
    def test_one_model(self):
        for threads in (1, 2):
            with steno.Model(MODELS / "u2.gguf", threads=threads) as model, ThreadPoolExecutor(6) as pool:
                texts = [pool.submit(lambda: model.transcribe(recording()).text) for _ in range(6)]
                finals = [pool.submit(lambda: list(model.stream().run([recording()]))[-1]) for _ in range(6)]
                self.assertEqual({text.result() for text in texts}, {SENTENCE})
                self.assertEqual({final.result().utterance.text for final in finals}, {SENTENCE})

    def test_lock_is_free(self):
        """Python goes on while the library works."""
        samples = floats() * 20
        with steno.Model(MODELS / "u2.gguf", threads=1) as model:
            work = threading.Thread(target=model.transcribe, args=(samples,))
            work.start()
            count = 0
            while work.is_alive():
                time.sleep(0.001)
                count += 1
            self.assertGreater(count, 5)

    def test_closed_meanwhile(self):
        for _ in range(10):
            model = steno.Model(MODELS / "demo.gguf", threads=1)
            begun = threading.Event()
            with ThreadPoolExecutor(1) as pool:
                text = pool.submit(lambda: model.transcribe(recording(), progress=lambda *_: begun.set()).text)
                begun.wait()
                model.close()
                self.assertEqual(text.result(), SENTENCE)

    def test_stream_of_another(self):
        with steno.Model(MODELS / "u2.gguf", threads=1) as model, model.stream() as stream:
            samples = floats() * 20
            work = threading.Thread(target=stream.push, args=(samples,))
            refused = False
            work.start()
            while work.is_alive() and not refused:
                try:
                    stream.push(samples[:1])
                    time.sleep(0.001)
                except steno.Misuse as e:
                    refused = "another thread" in str(e)
            work.join()
            self.assertTrue(refused)


if __name__ == "__main__":
    unittest.main()
