# SPDX-License-Identifier: Apache-2.0
"""Speech recognition with steno.

    import steno

    model = steno.Model("model.gguf")
    result = model.transcribe(samples)      # a numpy array or another buffer: mono, at model.sample_rate
    print(result.text)

The package is libsteno, the library's C interface, called by ctypes: a call releases the interpreter's lock, and
models may be shared by threads.
"""

from ._errors import Cancelled, Error, Misuse, NoMemory, Status
from ._library import version
from ._models import Model
from ._results import Event, Result, Segment, Word
from ._speech import Aligner, Diarizer, Punctuator, Vad
from ._streams import Stream

__version__ = version()

__all__ = [
    "Aligner",
    "Cancelled",
    "Diarizer",
    "Error",
    "Event",
    "Misuse",
    "Model",
    "NoMemory",
    "Punctuator",
    "Result",
    "Segment",
    "Status",
    "Stream",
    "Vad",
    "Word",
    "__version__",
]
