// What the user asked for: the command line as values.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <steno/pipelines/any_vad.hpp>
#include <steno/pipelines/decoding_options.hpp>

#include "audio.hpp"
#include "shards.hpp"
#include "speech_writer.hpp"
#include "writers.hpp"

namespace steno::app {

/// What serve calls a model.
struct named_model {
  std::string id, path;
};

/// Of stream and serve.
struct live_options {
  std::optional<int> chunk_size, left_chunks, left_context;  ///< nothing: the model's own
  bool rescore = true, endpoints = true;
  bool forget_turns = false;  ///< of models that end turns
  /// Segments are recognised, or the model streams by itself; nothing: as live_models decides.
  std::optional<bool> by_segments;
  std::optional<double> partial_seconds;  ///< between partial results of segments; nothing: the library's
  std::string final_model;                ///< of the second pass; empty: none
  double max_utterance_seconds = 0;       ///< 0: the model's own
  bool real_time = false;                 ///< a file is read no faster than it sounds
  std::optional<std::string> microphone;  ///< is listened to; empty: the usual one
  bool list_devices = false;              ///< says which there are
  std::string host = "127.0.0.1";
  int port = 10086;
  int connections = 64;         ///< at once
  int message_bytes = 1 << 20;  ///< largest message
  int per_peer = 0;             ///< of these from one address; 0: the server's own rule
  int idle_seconds = 30;        ///< without audio on a connection
  int drain_seconds = 10;       ///< for sessions to end after an interruption
  std::vector<std::string> allow_origins;
  int max_queue = 16;               ///< recordings that wait for a thread
  int max_batch = 8;                ///< of them together
  int body_bytes = 100 << 20;       ///< of a request
  int request_seconds = 0;          ///< until a recording is given up; 0: never
  int per_minute = 0;               ///< requests and sessions of a client; 0: any number
  int sessions = 0;                 ///< at once; 0: as many as connections
  double audio_seconds = 7200;      ///< of a recording
  std::vector<named_model> models;  ///< of serve; options::model is the first one's path
  std::string api_keys;             ///< a file of keys; empty: nobody needs one
  bool log_texts = false;           ///< the log has what was said
};

/// Of vad.
struct speech_options {
  speech_format output_format = speech_format::text;
};

/// Of diarize: what was given, by the original's names; of transcribe and stream: who said it.
struct speaker_options {
  std::string model;           ///< of transcribe and stream; empty: nobody asked
  std::string names;           ///< a file of names; empty: "Speaker 1", ...
  bool beside = false;         ///< on a thread of its own
  bool split = false;          ///< stream: an utterance ends where the speaker changes
  std::string postprocessing;  ///< a file of settings; empty: none
  std::map<std::string, double> segments;
  std::map<std::string, int> memory;  ///< rows
};

struct options {
  std::string verb = "transcribe";
  std::vector<std::string> audio;
  std::string model;      ///< empty: the demo model
  std::string models;     ///< a folder where names of models are looked for, too
  std::string how;        ///< models: whose publication is asked for
  std::string tokenizer;  ///< of the model; empty: it has one, or it is found
  bool copy_models = false, cache_models = false, check_weights = false;  ///< model_files.hpp
  std::vector<format> output_formats = {format::text};                    ///< one unless it is transcribe
  layout output_layout;
  decoding_options decoding;
  std::string output;                 ///< empty: standard output
  bool output_beside = false;         ///< files beside each input
  bool profile = false;               ///< tells where the time of recognition goes
  bool resume = false;                ///< inputs whose files are there are done
  bool list_left = false;             ///< says which are not, and does nothing else
  std::vector<std::string> settings;  ///< options that were given and may change results, as "--beam=8"
  std::string output_name;            ///< of files: what stands before the format's ending; empty: not given
  std::string language = "auto";
  std::string target_language;                          ///< written; empty: as it is spoken
  std::optional<bool> write_punctuation = {};           ///< nothing: the model's own
  std::optional<bool> inverse_text_normalisation = {};  ///< nothing: the model's own
  int threads = 0;                                      ///< 0: all
  int beam = 0;                                         ///< 0: the model's own
  std::optional<int> look_ahead = {};                   ///< encoder frames; nothing: the model's own
  std::string vad = "none";
  vad_settings detector = {};                ///< its settings
  std::optional<double> merge_seconds = {};  ///< 0: nothing is joined
  double max_clip_seconds = 0;               ///< 0: the model's own
  int parallel_clips = 1;
  std::string punctuation;  ///< a punctuation model; empty: none
  std::string itn_rules;    ///< of inverse text normalisation; empty: none
  std::string aligner;      ///< a forced aligner; empty: none
  std::string hotwords;
  std::optional<float> hotword_score;  ///< nothing: what suits the model's search
  std::string lm;                      ///< a language model; empty: none
  std::optional<float> lm_weight;      ///< nothing: what suits the model's search
  std::string manifest;
  std::string text_file;  ///< align: what is said
  shard part;
  audio_options reading;       ///< how recordings are opened, and what of them is listened to
  bool recursive = false;      ///< folders in folders, too
  bool progress = true;        ///< a bar on a terminal
  bool progress_json = false;  ///< lines of JSON instead, anywhere
  bool quiet = false;
  int runs = 3;
  live_options live;
  speech_options speech;
  speaker_options speakers;
  std::vector<std::string> notes = {};  ///< what the user should know about them
};

/// The format of a verb that writes one.
inline format output_format(const options& o) { return o.output_formats.front(); }
/// The formats that transcribe writes.
inline bool writes(const options& o, format f) { return has_format(o.output_formats, f); }

/// Thrown instead of going on: print `text` (to stdout when code is 0, else to stderr) and exit with `code`.
struct stop {
  int code = 2;
  std::string text;
};
/// Wrong usage: one line, exit code 2.
[[noreturn]] void wrong_usage(const std::string& line);

/// Reads the command line; `arguments` without the program's name. Throws stop for --help, --version and wrong usage.
options parse_options(const std::vector<std::string>& arguments);

/// The command line's name of an option of the library: "best_of" is "--best-of".
std::string option_name(std::string_view name);
/// The same of session_options: what holds unless it is switched off has a name that does so, "--no-endpoints".
std::string live_option_name(std::string_view name);

/// Of the options of transcribe and bench that not every model honours, those that were given: the name, and how a
/// message shows it ("--language de").
std::vector<std::pair<std::string, std::string>> given_options(const options& o);

/// The name of `names` that is nearest to `word`, when it is near enough to be a slip; else empty.
std::string nearest(std::string_view word, const std::vector<std::string>& names);

}  // namespace steno::app
