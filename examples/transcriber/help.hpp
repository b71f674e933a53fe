// The words of --help, and how they are put on a screen.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
}

namespace steno::app {

inline constexpr std::string_view short_usage =
    "usage: steno [transcribe] [-m MODEL] [options] AUDIO...\n"
    "       steno stream -m MODEL [options] AUDIO|-\n"
    "       steno serve -m MODEL [options]\n"
    "       steno vad [--vad MODEL|energy] [options] AUDIO...\n"
    "       steno diarize -m MODEL [options] AUDIO...\n"
    "       steno align -m MODEL --text FILE [options] AUDIO\n"
    "       steno info [-m MODEL]\n"
    "       steno models [--how NAME]\n"
    "       steno bench [-m MODEL] [--runs N] AUDIO\n"
    "       steno help [VERB] [TOPIC] | peers | completion SHELL | man [VERB]\n"
    "Transcribes speech. steno --help explains all options.\n";

#define STENO_EXIT_CODES                                                                                        \
  "Exit codes: 0 done, 1 an input or the model is bad, 2 wrong usage, 3 done, but an input was damaged (cut "   \
  "off, or no numbers), 130 and 143 interrupted: Ctrl-C and SIGTERM end the input, and what was recognised is " \
  "written; a second one ends the program at once."

constexpr std::string_view description(std::string_view verb) {
  if (verb == "models")
    return "Lists the models on this machine, by their names, which -m takes; says where others are published.\n"
           "Folders: those of STENO_MODELS, steno/models in the data directory, and the caches of Hugging Face, "
           "ModelScope and openai-whisper. Nothing is fetched.";
  if (verb == "info") return "Shows what a model is: sizes, number formats, languages, settings.";
  if (verb == "bench") return "Measures how long a model takes to load and to transcribe a file, and its memory.";
  if (verb == "stream")
    return "Transcribes while it listens, with any model: partial results on one line, or as events.\n"
           "Events (jsonl): partial {heard, text, stable, latency_ms}, final {start, end, text, words, nbest}, "
           "endpoint.";
  if (verb == "serve")
    return "Serves a model over WebSocket with the messages of WeNet's clients:\n"
           "{\"signal\": \"start\"}, 16-bit PCM at 16 kHz as binary messages, {\"signal\": \"end\"}.\n"
           "Web pages may connect only where --allow-origin says so. SIGINT and SIGTERM end every session with its\n"
           "result.";
  if (verb == "vad")
    return "Finds where somebody speaks: start and end of each segment, written as soon as it has ended.\n"
           "Formats: text (seconds, with the file's name where there are several), json (one object per file),\n"
           "jsonl (one segment per line), rttm.";
  if (verb == "diarize")
    return "Finds who speaks when: a segment for each time that a speaker speaks, several at once where they do.\n"
           "Formats: text (start, end and speaker, with the file's name where there are several), json (one object\n"
           "per file), jsonl (one segment per line), rttm.";
  if (verb == "align")
    return "Finds when each word of a known text is spoken, with a forced aligner.\n"
           "Formats: text (start, end and word on a line), json, jsonl, srt, vtt, tsv, ctm, stm.";
  return "Transcribes speech to text, JSON, subtitles or tables.\n"
         "Verbs: transcribe (may be left out), stream, serve, vad, diarize, align, info, bench, models; steno help "
         "VERB "
         "explains "
         "one, steno help TOPIC a topic of transcribe.";
}

constexpr std::string_view examples(std::string_view verb) {
  if (verb == "models")
    return "Examples:\n  steno models\n  steno models --how SenseVoiceSmall\n  steno -m whisper-base talk.wav";
  if (verb == "info") return "Examples:\n  steno info\n  steno info -m model.gguf --format json";
  if (verb == "stream")
    return "Examples:\n  steno stream -m model.gguf talk.wav\n"
           "  steno stream --demo parakeet-tdt talk.wav\n"
           "  steno stream -m streaming.gguf --final-model offline.gguf talk.wav\n"
           "  arecord -f S16_LE -r 16000 -t raw | steno stream -m model.gguf --left-chunks 4 -\n" STENO_EXIT_CODES;
  if (verb == "serve")
    return "Examples:\n  steno serve -m model.gguf --left-chunks 4 --port 10086\n"
           "  steno serve --demo u2 --host localhost --allow-origin https://app.example\n"
           "Exit codes: 1 the model or the address is bad, 2 wrong usage, 130 or 143 interrupted.";
  if (verb == "vad")
    return "Examples:\n  steno vad talk.wav\n"
           "  steno vad --vad fsmn-vad.gguf --min-silence 800 --format rttm -r -o out/ recordings/\n"
           "  arecord -f S16_LE -r 16000 -t raw | steno vad --format jsonl -\n" STENO_EXIT_CODES;
  if (verb == "diarize")
    return "Examples:\n  steno diarize --demo talk.wav\n"
           "  steno diarize -m diar_streaming_sortformer_4spk-v2.nemo meeting.wav\n"
           "  steno diarize -m sortformer.gguf --format rttm -o out/ recordings/\n"
           "  steno diarize -m sortformer.gguf --chunk-len 6 --chunk-right-context 7 --fifo-len 188 "
           "meeting.wav\n" STENO_EXIT_CODES;
  if (verb == "align")
    return "Example:\n  steno align -m aligner.gguf --text talk.txt --format srt talk.wav\n" STENO_EXIT_CODES;
  if (verb == "bench") return "Example:\n  steno bench -m model.gguf --runs 5 --threads 4 talk.wav";
  return "Examples:\n"
         "  steno talk.wav                        the transcript, with the demo model\n"
         "  steno --demo parakeet-tdt talk.wav    with the demo model of another family\n"
         "  steno -m model.gguf --format srt -o talk.srt talk.mp3\n"
         "  steno -m model.gguf --format srt,json -r -o out/ recordings/\n"
         "  steno -m model.gguf --format srt -o film.srt film.mkv\n"
         "  steno -m model.gguf --channels split call.wav\n"
         "  steno -m model.gguf --offset 600 --duration 60 lecture.mp4\n"
         "  steno -m model.gguf --speakers sortformer.gguf meeting.wav\n"
         "  steno -m model.gguf --manifest calls.jsonl --shard 0/4 -o out/ --resume\n"
         "\n"
         "A directory stands for the recordings in it, by name; -r takes those in folders below, too.\n"
         "Times in results are those of the recording, also where --offset begins inside of it.\n"
         "-o FILE: the text grows in FILE.part-PID, which becomes FILE when all of it is there.\n"
         "Subtitles hold at most 2 lines of 42 columns and 7 seconds, cut at word times where the model gives "
         "them.\n" STENO_EXIT_CODES;
}

#undef STENO_EXIT_CODES

/// All verbs, in the order of the overview.
const std::vector<std::string>& verb_names();

/// An option as help, completions and manual pages show it.
struct option_words {
  std::string topic;               ///< its group: "Output"
  std::vector<std::string> names;  ///< "-o", "--output"; of a positional "AUDIO..."
  std::string value;               ///< "FILE"; empty: it takes none
  std::string about;
  bool positional = false;
};
/// Those of a verb, in their order.
std::vector<option_words> words_of(const std::string& verb);

/// What `steno VERB --help` prints, in 80 columns, topic by topic; of `topic` alone unless it is empty. `without`:
/// options that `model` does not take, which are left out and named at the end. Throws `stop` for an unknown topic.
std::string help_text(const std::string& verb, const std::string& topic = "", const std::set<std::string>& without = {},
                      const std::string& model = "");

/// `steno help ...`: of a verb and a topic, `peers`, `completion SHELL`, `man [VERB]`. Throws `stop`, always.
[[noreturn]] void help_command(const std::vector<std::string>& words);

/// What bash, zsh or fish read to complete a command line. Throws `stop` for another shell.
std::string completion_script(const std::string& shell);
/// A manual page (roff) of a verb; of the program where it is empty.
std::string manual_page(const std::string& verb);

}  // namespace steno::app
