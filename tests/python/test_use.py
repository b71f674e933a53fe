# SPDX-License-Identifier: Apache-2.0
"""What the package gives and what it refuses."""

import _thread
import array
import ctypes
import dataclasses
import os
import subprocess
import sys
import threading
import unittest

import steno
from material import MODELS, SENTENCE, SORTFORMER, SOURCE, floats, recording

try:
    import numpy
except ImportError:
    numpy = None


class Recordings(unittest.TestCase):
    def test_result(self):
        with steno.Model(MODELS / "demo.gguf", threads=2) as model:
            self.assertEqual((model.name, model.sample_rate, model.streams), ("sense_voice", 16000, False))
            self.assertIn("en", model.languages)
            self.assertTrue(model.supports("language"))
            self.assertFalse(model.supports("patience"))
            result = model.transcribe(recording(), language="en", itn=False)
        self.assertEqual((result.text, result.language), (SENTENCE, "en"))
        self.assertAlmostEqual(result.duration, len(recording()) / 16000)
        (segment,) = result.segments
        self.assertEqual([word.text for word in segment.words], SENTENCE.split())
        self.assertTrue(all(word.start < word.end and 0 < word.confidence <= 1 for word in segment.words))
        self.assertEqual((segment.speaker, segment.words[0].speaker), (None, None))
        with self.assertRaises(dataclasses.FrozenInstanceError):
            segment.text = ""

    @unittest.skipUnless("STENO_PROGRAM" in os.environ, "the program is not built")
    def test_same_text_as_the_program(self):
        for name in sorted(MODELS.glob("*.gguf")):
            if name.stem in ("fsmn-vad", "ct-punc", "qwen3-aligner", "sortformer"):  # these write no texts
                continue
            with steno.Model(name) as model:
                for audio in ("train", "question", "shopping"):
                    path = SOURCE / "examples" / "audio" / f"{audio}.wav"
                    program = [os.environ["STENO_PROGRAM"], "-q", "-m", name, path]
                    done = subprocess.run(program, capture_output=True, check=True, text=True)
                    lines = [segment.text for segment in model.transcribe(recording(audio)).segments]
                    self.assertEqual(" ".join(lines), " ".join(done.stdout.split("\n")).strip(), (name, audio))

    def test_kinds_of_buffers(self):
        whole, real = recording(), floats()
        kinds = {
            "int16": whole,
            "float32": real,
            "float64": array.array("d", real),
            "read-only": memoryview(real).toreadonly(),
            "every second": memoryview(array.array("f", [value for one in real for value in (one, 0.0)]))[::2],
            "ctypes": (ctypes.c_float * len(real))(*real),
        }
        if numpy is not None:
            kinds["numpy int16"] = numpy.array(whole)
            kinds["numpy float32"] = numpy.array(real, numpy.float32)
            kinds["numpy column"] = numpy.stack([numpy.array(real), numpy.zeros(len(real))], axis=1)[:, 0]
        with steno.Model(MODELS / "demo.gguf", threads=1) as model:
            results = {kind: model.transcribe(samples) for kind, samples in kinds.items()}
            self.assertEqual(model.transcribe(array.array("f")).text, "")
            for kind, result in results.items():
                self.assertEqual(result, results["float32"], kind)
            for wrong, error in ((b"\0\0", TypeError), ([0.0], TypeError), (None, TypeError)):
                with self.assertRaisesRegex(error, "samples: expected"):
                    model.transcribe(wrong)
            if numpy is not None:
                with self.assertRaisesRegex(ValueError, "one dimension"):
                    model.transcribe(numpy.zeros((2, 100), numpy.float32))
                with self.assertRaisesRegex(TypeError, "format '>f'"):
                    model.transcribe(numpy.zeros(100, ">f4"))

    def test_without_numpy(self):
        code = (
            "import sys; sys.modules['numpy'] = None\n"
            "import steno; from material import *\n"
            "print(steno.Model(MODELS / 'demo.gguf').transcribe(recording()).text)"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
        self.assertEqual(done.stdout.strip(), SENTENCE)

    def test_progress(self):
        calls = []
        with steno.Model(MODELS / "demo.gguf", threads=1) as model:
            model.transcribe(recording(), progress=lambda done, total: calls.append((done, total)))
            self.assertEqual(calls[-1][0], calls[-1][1])
            with self.assertRaises(steno.Cancelled) as caught:
                model.transcribe(recording(), progress=lambda done, total: False)
            self.assertIs(caught.exception.status, steno.Status.CANCELLED)

            def interrupt(done, total):
                raise KeyboardInterrupt

            with self.assertRaises(KeyboardInterrupt):
                model.transcribe(recording(), progress=interrupt)
            self.assertEqual(model.transcribe(recording()).text, SENTENCE)

    def test_interrupted_without_progress(self):
        with steno.Model(MODELS / "demo.gguf", threads=1) as model:
            timer = threading.Timer(0.05, _thread.interrupt_main)
            timer.start()
            with self.assertRaises(KeyboardInterrupt):
                model.transcribe(recording() * 500)
            timer.join()


class Options(unittest.TestCase):
    def test_values(self):
        with steno.Model(MODELS / "u2.gguf", threads=1) as model:
            for options in (
                {"hotwords": ["paris", "seven minutes"], "beam": 4},
                {"hotwords": {"paris": 2.5}, "beam": 4},
                {"vad": MODELS / "fsmn-vad.gguf"},
                {"vad": "energy", "vad_min_silence": 400, "merge_seconds": 20.0},
                {"language": None},
            ):
                self.assertEqual(model.transcribe(recording(), **options).text, SENTENCE, options)

    def test_refused(self):
        wrong = (
            ({"languages": "en"}, steno.Error, "option languages"),
            ({"beam": "many"}, steno.Error, "whole number"),
            ({"patience": 2.0}, steno.Error, "patience"),
            ({"chunk_size": 16}, steno.Error, "one of streams"),
            ({"vad_pad": 10}, steno.Error, "one of detectors"),
            ({"beam": object()}, TypeError, "option beam"),
            ({"language": "e\0n"}, ValueError, "NUL"),
        )
        with steno.Model(MODELS / "demo.gguf", threads=1) as model, steno.Vad() as vad:
            for options, error, text in wrong:
                with self.assertRaisesRegex(error, text):
                    model.transcribe(recording(), **options)
            with self.assertRaisesRegex(steno.Misuse, "a vad does not stand there"):
                model.transcribe(recording(), diarizer=vad)
            with self.assertRaisesRegex(steno.Error, "one of recordings"):
                model.stream(parallel_clips=2)


class Files(unittest.TestCase):
    def test_wrong_file(self):
        for kind in (steno.Model, steno.Diarizer, steno.Aligner, steno.Punctuator, steno.Vad):
            for path in ("no such file.gguf", SOURCE / "examples" / "audio" / "train.wav", SOURCE):
                with self.assertRaises(steno.Error) as caught:
                    kind(path)
                self.assertIs(caught.exception.status, steno.Status.ERROR)
                self.assertIn(str(path), str(caught.exception))
        with self.assertRaisesRegex(steno.Misuse, "threads from 0"):
            steno.Model(MODELS / "demo.gguf", threads=-1)

    def test_closed(self):
        model = steno.Model(MODELS / "u2.gguf", threads=1)
        stream = model.stream()
        model.close()
        model.close()
        self.assertTrue(model.closed)
        for use in (lambda: model.transcribe(recording()), model.stream, lambda: model.name):
            with self.assertRaisesRegex(steno.Misuse, "model is closed"):
                use()
        stream.push(recording())  # its model lives as long as the stream
        self.assertEqual(stream.finish()[-1].utterance.text, SENTENCE)
        stream.close()
        stream.close()
        self.assertTrue(stream.over)
        with self.assertRaisesRegex(steno.Misuse, "stream is closed"):
            stream.push(recording())


class Streams(unittest.TestCase):
    def test_any_portions(self):
        for name in ("u2", "demo", "parakeet-eou", "paraformer", "paraformer-online"):
            with steno.Model(MODELS / f"{name}.gguf", threads=1) as model:
                events = []
                for size in (len(recording()), 16000, 1600, 7001):
                    samples = recording()
                    with model.stream() as stream:
                        found = []
                        for at in range(0, len(samples), size):
                            found += stream.push(samples[at : at + size])
                        found += stream.finish()
                    events.append(found)
                    self.assertTrue(found[-1].final and any(event.utterance.words for event in found), name)
                    self.assertTrue(all(event.utterance.text.startswith(event.stable) for event in found))
                self.assertTrue(all(found == events[0] for found in events), name)

    def test_iterator(self):
        with steno.Model(MODELS / "u2.gguf", threads=1) as model:
            portions = iter([recording()[:20000], recording()[20000:]])
            stream = model.stream()
            texts = [event.utterance.text for event in stream.run(portions) if event.final]
            self.assertEqual(texts, [SENTENCE])
            self.assertTrue(stream.over)
            stopped = model.stream()
            for _ in stopped.run([recording()] * 3):
                break  # the generator is closed, and with it the stream
            self.assertTrue(stopped.over)

    def test_over(self):
        with steno.Model(MODELS / "u2.gguf", threads=1) as model, model.stream() as stream:
            stream.finish()
            self.assertTrue(stream.over)
            with self.assertRaisesRegex(steno.Misuse, "is over"):
                stream.push(recording())


class Speech(unittest.TestCase):
    def test_speakers(self):
        options = {"onset": 0.45, "offset": 0.45}
        with steno.Diarizer(SORTFORMER, threads=1) as diarizer:
            self.assertEqual((diarizer.speakers, diarizer.sample_rate, diarizer.streams), (4, 16000, True))
            result = diarizer.diarize(floats(), **options)
            self.assertTrue(result.segments and all(s.speaker.startswith("speaker_") for s in result.segments))
            events = list(diarizer.stream(**options).run([floats()[:10000], floats()[10000:]]))
            self.assertEqual([event.utterance for event in events], list(result.segments))
            with steno.Model(MODELS / "demo.gguf", threads=1) as model:
                names = {"speaker_names": ["Ada", "Bea", "Cid", "Dee"], "speaker_onset": 0.4, "speaker_offset": 0.4}
                said = model.transcribe(recording(), diarizer=diarizer, speaker_reach=5, **names)
                self.assertEqual(said.text, SENTENCE)
                self.assertTrue({s.speaker for s in said.segments} <= {"Ada", "Bea", "Cid", "Dee"})

    def test_detectors(self):
        for name in ("energy", MODELS / "fsmn-vad.gguf"):
            with steno.Vad(name) as vad:
                result = vad.detect(recording(), vad_min_silence=300)
                events = list(vad.stream(vad_min_silence=300).run([recording()]))
                self.assertEqual([e.utterance for e in events if e.final], list(result.segments))
                self.assertEqual([e.final for e in events], [False, True] * len(result.segments))
                with steno.Model(MODELS / "demo.gguf", threads=1) as model:
                    self.assertEqual(model.transcribe(recording(), vad=vad).text, SENTENCE)

    def test_words(self):
        with steno.Aligner(MODELS / "qwen3-aligner.gguf", threads=1) as aligner:
            (segment,) = aligner.align(recording(), SENTENCE).segments
            self.assertEqual([word.text for word in segment.words], SENTENCE.split())
            self.assertGreater(aligner.max_seconds, 3)
            with steno.Model(MODELS / "qwen3-asr.gguf", threads=1) as model:
                (segment,) = model.transcribe(recording(), aligner=aligner).segments
                self.assertTrue(segment.words and all(word.start is not None for word in segment.words))

    def test_punctuation(self):
        with steno.Punctuator(MODELS / "ct-punc.gguf", threads=1) as marks:
            written = marks.punctuate(SENTENCE)
            self.assertNotEqual(written, SENTENCE)
            with steno.Model(MODELS / "demo.gguf", threads=1) as model:
                self.assertEqual(model.transcribe(recording(), punctuator=marks).text, written)


if __name__ == "__main__":
    unittest.main()
