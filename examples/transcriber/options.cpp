#include "options.hpp"

#include <steno/config.hpp>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <filesystem>
#include <numeric>
#include <thread>

#include "decoding.hpp"
#include "help.hpp"
#include "model_path.hpp"
#include "text_width.hpp"

namespace steno::app {
namespace {

const std::vector<std::string> verbs = {"transcribe", "stream", "diarize", "vad", "align", "serve", "bench", "info"};

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string all;
  for (const std::string& w : words) all += (all.empty() ? "" : separator) + w;
  return all;
}

// What CLI11 fills in; checked and converted afterwards.
struct raw_options {
  std::string format = "text", part, pcm_format;
  int pcm_rate = 0, pcm_channels = 0;
  bool no_progress = false;
  int min_silence = 0;
  double max_segment = 0;
  std::optional<std::string> threshold;
  std::string style = "usual";
  std::string demo;
  raw_decoding decoding;
};

// Of the verbs that can do with a bundled model: -m or --demo.
void add_model(CLI::App& app, options& o, raw_options& raw, const char* names, const char* about) {
  CLI::Option* model = app.add_option(names, o.model, about)->type_name("MODEL");
  app.add_option("--demo", raw.demo, "The bundled model of a family, e.g. parakeet-tdt; a wrong name lists them")
      ->type_name("FAMILY")
      ->excludes(model);
}

void add_threads(CLI::App& app, options& o, const char* about = "Threads, at most one per processor [all]") {
  app.add_option("--threads", o.threads, about)->type_name("N")->check(CLI::Range(1, 1024));
}

// Of all verbs that open models.
void add_model_files(CLI::App& app, options& o) {
  app.add_flag("--check-weights", o.check_weights, "Look at every weight for infinities and NaN before the start");
  if (o.verb == "serve") {
    o.copy_models = true;
    app.add_flag_callback(
        "--mmap", [&o] { o.copy_models = false; },
        "Map model files instead of reading a copy: do not overwrite them in place while they are in use");
  } else {
    app.add_flag("--no-mmap", o.copy_models,
                 "Read a copy of model files, which may then be overwritten in place while they are in use");
  }
}

// Of the verbs that read standard input.
void add_pcm(CLI::App& app, raw_options& raw) {
  app.add_option("--pcm-format", raw.pcm_format, "Raw samples on standard input: s16le or f32le [s16le]")
      ->type_name("FORMAT");
  app.add_option("--pcm-rate", raw.pcm_rate, "Their rate [16000]")->type_name("HZ")->check(CLI::Range(1000, 1000000));
  app.add_option("--pcm-channels", raw.pcm_channels, "Their channels, interleaved, which are averaged [1]")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
}

// Of the verbs that go through a list of recordings.
void add_inputs(CLI::App& app, options& o, raw_options& raw) {
  app.add_option("--manifest", o.manifest, "JSON lines with {\"audio\": PATH}, relative to the manifest")
      ->type_name("FILE");
  app.add_option("--shard", raw.part, "Take every N-th input, beginning at I (0 to N)")->type_name("I/N");
  add_pcm(app, raw);
  app.add_flag("--no-progress", raw.no_progress, "No progress bar (there is none either unless stderr is a terminal)");
  app.add_flag("-q,--quiet", o.quiet, "Only errors on stderr");
}

void add_longest(CLI::App& app, options& o, const char* about) {
  app.add_option("--longest", o.longest, about)->type_name("SECONDS")->check(CLI::Range(1.0, 3600.0));
}

void add_transcribe(CLI::App& app, options& o, raw_options& raw) {
  app.add_option("AUDIO", o.audio,
                 "Sound files, directories of sound files, or - for standard input (a sound file or raw PCM)");
  add_model(app, o, raw, "-m,--model", "Packaged GGUF, or a checkpoint that steno-convert reads [bundled demo model]");
  app.add_option("--format", raw.format, "text, json, jsonl, srt, vtt or tsv [text]")->type_name("FORMAT");
  app.add_option("-o,--output", o.output, "Write to this file; DIR/ writes one file per input into DIR")
      ->type_name("FILE");
  app.add_option("--language", o.language, "Language spoken, e.g. en [auto]")->type_name("CODE");
  app.add_flag("--itn", o.inverse_text_normalisation, "Punctuation and numbers as figures, where the model can do so");
  add_threads(app, o);
  app.add_option("--beam,--beam-size", o.beam, "Beam width, where the model searches; 1 is greedy [the model's own]")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  app.add_option("--vad", o.vad, "Find speech first: none, energy or a VAD model [none]")->type_name("MODEL");
  app.add_option("--merge", o.merge, "With --vad: join neighbouring segments up to so many seconds [0]")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.0, 3600.0));
  add_longest(app, o, "Cut what is longer at quiet places into clips [what the model hears at once]");
  app.add_option("--clips", o.at_once,
                 "Transcribe so many clips at once, also of several recordings where these are short: each on one "
                 "thread, Qwen3-ASR together on all [1]")
      ->type_name("N")
      ->check(CLI::Range(1, 1024));
  app.add_option("--punctuate", o.punctuation, "Put punctuation into the text: a punctuation model")
      ->type_name("MODEL");
  app.add_option("--align", o.aligner, "Times of words by a forced aligner, where the model has none")
      ->type_name("MODEL");
  app.add_option("--hotwords", o.hotwords, "Words to favour, one per line, where the model searches or reads a prompt")
      ->type_name("FILE");
  app.add_option("--hotword-score", o.live.phrase_score,
                 "Bonus for each unit of a phrase [of CTC 3, of Whisper 2, of transducers 1]")
      ->type_name("X");
  add_inputs(app, o, raw);
  add_writing(app, o.output_layout.lines, raw.style);
  add_decoding(app, o.decoding, raw.decoding);
}

void add_info(CLI::App& app, options& o, raw_options& raw) {
  add_model(app, o, raw, "MODEL,-m,--model", "The model [bundled demo model]");
  app.add_option("--format", raw.format, "text or json [text]")->type_name("FORMAT");
}

void add_bench(CLI::App& app, options& o, raw_options& raw) {
  app.add_option("AUDIO", o.audio, "The sound file to transcribe");
  add_model(app, o, raw, "-m,--model", "The model [bundled demo model]");
  app.add_option("--runs", o.runs, "How many times [3]")->type_name("N")->check(CLI::Range(1, 100000));
  add_threads(app, o);
  app.add_option("--language", o.language, "Language spoken [auto]")->type_name("CODE");
  app.add_flag("--itn", o.inverse_text_normalisation, "As in transcribe");
}

void add_live(CLI::App& app, options& o, raw_options& raw) {
  add_model(app, o, raw, "-m,--model", "A streaming model: packaged GGUF, or a checkpoint that steno-convert reads");
  app.add_option("--chunk-size", o.live.chunk_size,
                 "Encoder frames decoded at once; -1: everything at the end [the model's]")
      ->type_name("N")
      ->check(CLI::Range(-1, 4096));
  app.add_option("--left-chunks", o.live.left_chunks, "Chunks looked back at; -1: all of the utterance [the model's]")
      ->type_name("N")
      ->check(CLI::Range(-1, 4096));
  add_longest(app, o, "End utterances after so many seconds in any case [the model's own limit]");
  app.add_option("--beam", o.beam, "Beam width, where the model searches; 1 is greedy [the model's own]")
      ->type_name("N")
      ->check(CLI::Range(1, 100));
  app.add_option("--hotwords", o.hotwords, "Phrases to favour, one per line")->type_name("FILE");
  app.add_option("--hotword-score", o.live.phrase_score, "Bonus for each unit of a phrase [3]")->type_name("X");
  app.add_flag("!--no-rescoring", o.live.rescore, "Final results of the first pass alone");
  app.add_flag("!--no-endpoints", o.live.endpoints, "One utterance, however long its pauses are");
  app.add_flag("--forget-turns", o.live.forget_turns, "What was said is forgotten at the end of a turn (Parakeet EOU)");
}

void add_stream(CLI::App& app, options& o, raw_options& raw) {
  app.add_option("AUDIO", o.audio, "A sound file, or - for standard input (a sound file or raw PCM)");
  add_live(app, o, raw);
  app.add_option("--vad", o.vad, "jsonl: tell where speech begins and ends, too: none, energy or a VAD model [none]")
      ->type_name("MODEL");
  app.add_option("--format", raw.format, "text or jsonl (an event per line) [text]")->type_name("FORMAT");
  app.add_flag("--real-time", o.live.real_time, "Read the file no faster than it sounds");
  add_threads(app, o, "Threads, at most one per processor [1]");
  app.add_flag("--no-progress", raw.no_progress, "No progress bar (there is none either unless stderr is a terminal)");
  add_pcm(app, raw);
  app.add_flag("-q,--quiet", o.quiet, "Only errors on stderr");
}

void add_vad(CLI::App& app, options& o, raw_options& raw) {
  o.vad = "energy";
  app.add_option("AUDIO", o.audio,
                 "Sound files, directories of sound files, or - for standard input (a sound file or raw PCM)");
  app.add_option("-m,--model,--vad", o.vad,
                 "energy, or an FSMN-VAD: packaged GGUF, or a checkpoint that steno-convert reads [energy]")
      ->type_name("MODEL");
  app.add_option("--format", raw.format, "text, json, jsonl or rttm [text]")->type_name("FORMAT");
  app.add_option("-o,--output", o.output, "Write to this file; DIR/ writes one file per input into DIR")
      ->type_name("FILE");
  app.add_option("--min-silence", raw.min_silence,
                 "A pause that ends a segment [energy: 500; FSMN-VAD: 2000, less the longer the segment is]")
      ->type_name("MS")
      ->check(CLI::Range(10, 600000));
  app.add_option("--max-segment", raw.max_segment, "A longer segment is cut [60]")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 86400.0));
  app.add_option("--threshold", raw.threshold,
                 "energy: decibels above the background [10]; FSMN-VAD: -1 to 1, by which speech must be likelier "
                 "than silence [0.5; 0.6 with --min-silence]")
      ->type_name("X");
  add_inputs(app, o, raw);
}

void add_diarize(CLI::App& app, options& o, raw_options& raw) {
  app.add_option("AUDIO", o.audio,
                 "Sound files, directories of sound files, or - for standard input (a sound file or raw PCM)");
  app.add_option("-m,--model", o.model, "A Sortformer: packaged GGUF, or a checkpoint that steno-convert reads")
      ->type_name("MODEL")
      ->required();
  app.add_option("--format", raw.format, "text (start, end and speaker on a line), json, jsonl or rttm [text]")
      ->type_name("FORMAT");
  app.add_option("-o,--output", o.output, "Write to this file; DIR/ writes one file per input into DIR")
      ->type_name("FILE");
  add_threads(app, o);
  app.add_option("--postprocessing", o.speakers.postprocessing,
                 "NeMo's file of these settings for a kind of recordings (YAML)")
      ->type_name("FILE");
  const auto seconds = [&](const char* name, const char* about, double most) {
    std::string option = "--" + std::string(name);
    std::replace(option.begin(), option.end(), '_', '-');
    app.add_option_function<double>(
           option, [&o, name](double x) { o.speakers.segments[name] = x; }, about)
        ->type_name("X")
        ->check(CLI::Range(0.0, most));
  };
  seconds("onset", "Probability above which somebody begins to speak [0.5]", 1);
  seconds("offset", "Probability below which he ends [0.5]", 1);
  seconds("pad_onset", "Seconds put before each segment [0]", 3600);
  seconds("pad_offset", "Seconds put behind each segment [0]", 3600);
  seconds("min_duration_on", "Shorter segments go, in seconds [0]", 3600);
  seconds("min_duration_off", "Shorter gaps of a speaker go, in seconds [0]", 3600);
  const auto rows = [&](const char* name, const char* about) {
    std::string option = "--" + std::string(name);
    std::replace(option.begin(), option.end(), '_', '-');
    app.add_option_function<int>(
           option, [&o, name](int n) { o.speakers.memory[name] = n; }, about)
        ->type_name("N")
        ->check(CLI::Range(0, 65536));
  };
  rows("chunk_len", "Of models for streams: rows of 80 ms heard at once [the model's]");
  rows("chunk_left_context", "Rows before them that are heard again [the model's]");
  rows("chunk_right_context", "Rows behind them that are waited for [the model's]");
  rows("fifo_len", "Rows of the last chunks that are kept whole [the model's]");
  rows("spkcache_update_period", "Rows that leave these at once [the model's]");
  rows("spkcache_len", "Rows that are remembered of all speakers [the model's]");
  add_inputs(app, o, raw);
}

void add_align(CLI::App& app, options& o, raw_options& raw) {
  app.add_option("AUDIO", o.audio, "A sound file, or - for standard input (a sound file or raw PCM)");
  app.add_option("-m,--model", o.model, "A forced aligner: packaged GGUF, or a checkpoint that steno-convert reads")
      ->type_name("MODEL")
      ->required();
  app.add_option("--text", o.text_file, "What is said, in UTF-8")->type_name("FILE")->required();
  app.add_option("--format", raw.format, "text (start, end and word on a line), json, jsonl, srt, vtt or tsv [text]")
      ->type_name("FORMAT");
  app.add_option("-o,--output", o.output, "Write to this file")->type_name("FILE");
  app.add_option("--language", o.language, "Language spoken; ko: words are cut as Korean ones are")->type_name("CODE");
  add_threads(app, o);
  add_pcm(app, raw);
  app.add_flag("-q,--quiet", o.quiet, "Only errors on stderr");
}

void add_serve(CLI::App& app, options& o, raw_options& raw) {
  add_live(app, o, raw);
  app.add_option("--host", o.live.host, "Address or name to listen on [127.0.0.1]")->type_name("ADDRESS");
  app.add_option("--port", o.live.port, "Port; 0: any [10086]")->type_name("N")->check(CLI::Range(0, 65535));
  add_threads(app, o);
  app.add_option("--max-connections", o.live.connections, "At once [64]")->type_name("N")->check(CLI::Range(1, 10000));
  app.add_option("--max-message", o.live.message_bytes, "Bytes of a message [1048576]")
      ->type_name("N")
      ->check(CLI::Range(1024, 1 << 28));
  app.add_option("--max-per-peer", o.live.per_peer,
                 "At once from one address [a quarter of all; from this machine all]")
      ->type_name("N")
      ->check(CLI::Range(1, 10000));
  app.add_option("--idle-timeout", o.live.idle_seconds, "Seconds until a connection without audio is closed [30]")
      ->type_name("N")
      ->check(CLI::Range(1, 86400));
  app.add_option("--drain-timeout", o.live.drain_seconds,
                 "Seconds for sessions to end after SIGINT or SIGTERM; a second signal ends at once [10]")
      ->type_name("N")
      ->check(CLI::Range(0, 86400));
  app.add_option("--allow-origin", o.live.allow_origins,
                 "Let web pages of this origin connect, too, e.g. https://example.org; may be given again; *: all")
      ->type_name("ORIGIN")
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
  app.add_flag("-q,--quiet", o.quiet, "Only errors on stderr");
}

void refuse_unknown(const CLI::App& app) {
  std::vector<std::string> left = app.remaining();
  std::erase(left, "--");  // CLI11 counts it as left over
  if (left.empty()) return;
  const std::string name = left[0].substr(0, left[0].find('='));
  if (name.size() < 2 || name[0] != '-') wrong_usage("too many arguments: " + left[0]);
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& n : option->get_lnames()) known.push_back("--" + n);
  const std::string near = nearest(name, known);
  wrong_usage("unknown option " + name + (near.empty() ? "" : " (did you mean " + near + "?)"));
}

void check_speech(options& o, const raw_options& raw) {
  const auto f = find_speech_format(raw.format);
  if (!f) wrong_usage("unknown format " + raw.format + " (" + o.verb + " writes text, json, jsonl and rttm)");
  o.speech.output_format = *f;
  if (raw.min_silence != 0) o.speech.min_silence = raw.min_silence;
  if (raw.max_segment > 0) o.speech.max_segment = static_cast<int>(raw.max_segment * 1000);
  if (!raw.threshold) return;
  double x = 0;
  const std::string& text = *raw.threshold;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (failed != std::errc() || end != text.data() + text.size())
    wrong_usage("--threshold " + text + ": expected a number");
  o.speech.threshold = x;
}

// Options that would do nothing without another one.
void refuse_idle(const options& o) {
  if (o.merge > 0 && o.vad == "none") wrong_usage("--merge joins what --vad finds: give --vad, too");
  if (o.live.phrase_score && o.hotwords.empty()) wrong_usage("--hotword-score is about --hotwords: give them, too");
  if (o.verb == "stream" && o.vad != "none" && o.output_format != format::jsonl)
    wrong_usage("stream: --vad tells of speech in --format jsonl alone");
  const line_options& l = o.output_layout.lines;
  const bool cues = o.output_format == format::srt || o.output_format == format::vtt;
  const bool of_lines = l.max_line_width > 0 || l.max_line_count > 0 || l.max_words_per_line > 0 || l.highlight_words;
  if (of_lines && !cues)
    wrong_usage("--max-line-width, --max-line-count, --max-words-per-line and --highlight-words are about srt and vtt");
}

void check(options& o, raw_options& raw) {
  if (o.verb == "vad" || o.verb == "diarize") {
    check_speech(o, raw);
    raw.format = "text";  // of transcripts, which there are none of
  }
  if (!raw.demo.empty()) o.model = find_demo(raw.demo);
  if ((o.verb == "stream" || o.verb == "serve") && o.model.empty()) wrong_usage("--model is required, or --demo");
  const auto f = find_format(raw.format);
  if (!f) wrong_usage("unknown format " + raw.format + " (there are text, json, jsonl, srt, vtt and tsv)");
  o.output_format = *f;
  const auto written = find_style(raw.style);
  if (!written) wrong_usage("unknown style " + raw.style + " (there are usual, steno and openai)");
  o.output_layout.style = *written;
  finish_decoding(o.decoding, raw.decoding);
  const line_options& l = o.output_layout.lines;
  const bool by_words = l.max_line_width > 0 || l.max_line_count > 0 || l.max_words_per_line > 0 || l.highlight_words;
  o.output_layout.words = o.decoding.word_timestamps.value_or(by_words);
  o.progress = !raw.no_progress;
  if (!raw.part.empty()) {
    const auto part = parse_shard(raw.part);
    if (!part) wrong_usage("--shard " + raw.part + ": expected I/N with I from 0 to N, for example 1/4");
    o.part = *part;
  }
  if (!raw.pcm_format.empty()) {
    const auto encoding = find_pcm_encoding(raw.pcm_format);
    if (!encoding) wrong_usage("unknown PCM format " + raw.pcm_format + " (there are s16le and f32le)");
    o.pcm.encoding = *encoding;
  }
  if (raw.pcm_rate != 0) o.pcm.rate = raw.pcm_rate;
  if (raw.pcm_channels != 0) o.pcm.channels = raw.pcm_channels;
  const auto pipes = std::count(o.audio.begin(), o.audio.end(), "-");
  if (pipes > 1) wrong_usage("standard input (-) can be read only once");
  if (pipes == 0 && (raw.pcm_rate != 0 || raw.pcm_channels != 0 || !raw.pcm_format.empty()))
    wrong_usage("--pcm-format, --pcm-rate and --pcm-channels are about standard input, but no AUDIO is -");
  if (const int processors = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
      o.threads > processors && o.verb != "serve") {  // which says itself what it can do with
    o.notes.push_back("--threads " + std::to_string(o.threads) + ": there are " + std::to_string(processors) +
                      " processors, and more threads bring nothing; " + std::to_string(processors) + " are used");
    o.threads = processors;
  }
  if (o.verb == "stream" && *f != format::text && *f != format::jsonl) wrong_usage("stream: --format is text or jsonl");
  if (o.verb == "stream" && o.audio.size() > 1) wrong_usage("stream takes one AUDIO");
  if (o.verb == "align" && o.audio.size() > 1) wrong_usage("align takes one AUDIO");
  refuse_idle(o);
  if (o.verb == "serve") return;
  if (o.verb == "info") {
    if (*f != format::text && *f != format::json) wrong_usage("info: --format is text or json");
  } else if (o.audio.empty() && o.manifest.empty()) {
    wrong_usage("no AUDIO given");
  }
}

void add_options(CLI::App& app, options& o, raw_options& raw) {
  if (o.verb == "transcribe") add_transcribe(app, o, raw);
  if (o.verb == "info") add_info(app, o, raw);
  if (o.verb == "bench") add_bench(app, o, raw);
  if (o.verb == "stream") add_stream(app, o, raw);
  if (o.verb == "serve") add_serve(app, o, raw);
  if (o.verb == "vad") add_vad(app, o, raw);
  if (o.verb == "diarize") add_diarize(app, o, raw);
  if (o.verb == "align") add_align(app, o, raw);
  add_model_files(app, o);
}

// The place of the first argument that is neither an option nor an option's value: options may stand before the verb,
// and there it is not known yet, so those of all verbs are.
std::size_t first_word(const std::vector<std::string>& arguments) {
  std::map<std::string, bool> takes_value;
  for (const std::string& verb : verbs) {
    CLI::App app;
    options o;
    o.verb = verb;
    raw_options raw;
    add_options(app, o, raw);
    for (const CLI::Option* option : app.get_options()) {
      const bool value = option->get_items_expected_max() > 0;
      for (const std::string& n : option->get_lnames()) takes_value["--" + n] = value;
      for (const std::string& n : option->get_snames()) takes_value["-" + n] = value;
    }
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    if (a == "--") return arguments.size();
    if (a.size() < 2 || a[0] != '-') return i;
    if (a.find('=') != std::string::npos) continue;
    const auto known = takes_value.find(a);
    if (known == takes_value.end() && a[1] == '-') return arguments.size();  // unknown: told as such
    if (known != takes_value.end() && known->second) ++i;                    // "-mFILE" is no name and holds its value
  }
  return arguments.size();
}

// What is empty names nothing: mostly a variable that is not set. Some texts may be empty.
void refuse_empty(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string> given = option->results();
    if (std::find(given.begin(), given.end(), "") == given.end() || option->get_items_expected_max() == 0) continue;
    const std::string name = option->get_name();
    constexpr std::string_view texts[] = {"--initial-prompt", "--prepend-punctuations", "--append-punctuations",
                                          "--suppress-tokens"};
    if (std::find(std::begin(texts), std::end(texts), name) == std::end(texts))
      wrong_usage(name + ": is empty (a variable that is not set?)");
  }
}

// A first argument that is no file and looks like a verb.
void refuse_unknown_verb(const std::string& word) {
  if (word.empty() || word[0] == '-' || word.find_first_of("./\\") != std::string::npos ||
      std::filesystem::exists(word))
    return;
  const std::string near = nearest(word, verbs);
  wrong_usage(word + " is neither a verb nor a file (" +
              (near.empty() ? "verbs: " + joined(verbs, ", ") : "did you mean " + near + "?") + ")");
}

}  // namespace

void wrong_usage(const std::string& line) { throw stop{2, "steno: " + printable(line) + "; see steno --help\n"}; }

std::optional<shard> parse_shard(std::string_view text) {
  shard s;
  const char* const end = text.data() + text.size();
  const auto index = std::from_chars(text.data(), end, s.index);
  if (index.ec != std::errc() || index.ptr == end || *index.ptr != '/') return std::nullopt;
  const auto count = std::from_chars(index.ptr + 1, end, s.count);
  if (count.ec != std::errc() || count.ptr != end || s.count == 0 || s.index > s.count) return std::nullopt;
  return s;
}

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
  std::string best;
  std::size_t fewest = word.size() / 3 + 2;  // slips; more than that is another word
  for (const std::string& name : names) {
    std::vector<std::size_t> row(name.size() + 1);  // Levenshtein's distance, one row at a time
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < word.size(); ++i) {
      std::size_t diagonal = row[0]++;
      for (std::size_t j = 0; j < name.size(); ++j) {
        const std::size_t change = diagonal + (word[i] == name[j] ? 0 : 1);
        diagonal = row[j + 1];
        row[j + 1] = std::min({change, row[j] + 1, diagonal + 1});
      }
    }
    if (row.back() < fewest) {
      fewest = row.back();
      best = name;
    }
  }
  return best;
}

options parse_options(const std::vector<std::string>& arguments) {
  if (arguments.empty()) throw stop{2, std::string(short_usage)};
  options o;
  raw_options raw;
  std::vector<std::string> rest;
  for (const std::string& a : usual_spelling(arguments)) {
    const bool empty = a.starts_with("--") && a.size() > 3 && a.find('=') == a.size() - 1;
    rest.push_back(empty ? a.substr(0, a.size() - 1) : a);
    if (empty) rest.emplace_back();  // CLI11 would take the next argument for "--model="
  }
  if (const std::size_t word = first_word(rest); word < rest.size()) {
    if (std::find(verbs.begin(), verbs.end(), rest[word]) != verbs.end()) {
      o.verb = rest[word];
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(word));
    } else {
      refuse_unknown_verb(rest[word]);
    }
  }
  CLI::App app(std::string(description(o.verb)), o.verb == "transcribe" ? "steno [transcribe]" : "steno " + o.verb);
  app.footer(std::string(examples(o.verb)));
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.set_version_flag("--version", "steno " + std::to_string(version.major) + "." + std::to_string(version.minor) +
                                        "." + std::to_string(version.patch));
  add_options(app, o, raw);
  if (o.verb != "info" && o.verb != "serve")
    app.get_option("AUDIO")->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.allow_extras();
  try {
    std::reverse(rest.begin(), rest.end());  // CLI11 takes a vector from its back
    app.parse(rest);
  } catch (const CLI::CallForHelp&) {
    throw stop{0, app.help()};
  } catch (const CLI::CallForVersion& v) {
    throw stop{0, std::string(v.what()) + "\n"};
  } catch (const CLI::ParseError& e) {
    wrong_usage(e.what());
  }
  refuse_unknown(app);
  refuse_empty(app);
  check(o, raw);
  return o;
}

}  // namespace steno::app
