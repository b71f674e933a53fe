// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <numeric>
#include <thread>

#include "abilities.hpp"
#include "command_line.hpp"
#include "detector_settings.hpp"
#include "help.hpp"
#include "model_folders.hpp"
#include "model_path.hpp"
#include "peer_options.hpp"
#include "renamed_options.hpp"
#include "system.hpp"
#include "text_width.hpp"
#include "utf8_path.hpp"
#include "verb_options.hpp"

namespace steno::app {
namespace {

// What the options of other programs are, in messages about their names of today.
using origins = std::vector<std::pair<std::string, std::string>>;

std::string joined(const std::vector<std::string>& words, const char* separator) {
  std::string all;
  for (const std::string& w : words) all += (all.empty() ? "" : separator) + w;
  return all;
}

void refuse_unknown(const CLI::App& app, const origins& from) {
  std::vector<std::string> left = app.remaining();
  std::erase(left, "--");  // CLI11 counts it as left over
  if (left.empty()) return;
  const std::string name = left[0].substr(0, left[0].find('='));
  if (name.size() < 2 || name[0] != '-') wrong_usage("too many arguments: " + left[0]);
  for (const auto& [here, there] : from)
    if (here == name) wrong_usage(there + " is " + name + " here, which this verb has not");
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
}

void check_reading(options& o, const raw_options& raw) {
  o.reading.ffmpeg = raw.ffmpeg ? *raw.ffmpeg : environment("STENO_FFMPEG").value_or("ffmpeg");
  if (o.reading.ffmpeg.empty()) o.reading.ffmpeg = "none";
  const auto channels = find_channels(raw.channels);
  const bool splits = o.verb == "transcribe";
  if (!channels)
    wrong_usage("--channels " + raw.channels + ": expected mix" + (splits ? ", split" : "") +
                " or the number of a channel, from 1 on");
  o.reading.channels = *channels;
  const bool split = channels->what == channel_choice::how::split;
  if (split && !splits)
    wrong_usage("--channels split: " + o.verb + " listens to one voice; give it a channel, e.g. --channels 1");
  if (split && !o.speakers.model.empty())
    wrong_usage("--channels split and --speakers both tell who said it: leave one of them out");
  if ((o.reading.part.offset > 0 || o.reading.part.duration) && o.decoding.clip_timestamps)
    wrong_usage("--clip-timestamps says what is listened to: leave --offset and --duration out");
}

// Options that would do nothing without another one.
void refuse_idle(const options& o) {
  if (o.merge_seconds && o.vad == "none") wrong_usage("--merge-seconds joins what --vad finds: give --vad, too");
  if (const std::string set = first_setting(o.detector, "--vad-");
      o.verb == "transcribe" && o.vad == "none" && !set.empty())
    wrong_usage(set + " is about what --vad finds: give --vad, too");
  if (o.hotword_score && o.hotwords.empty()) wrong_usage("--hotword-score is about --hotwords: give them, too");
  if (o.lm_weight && o.lm.empty()) wrong_usage("--lm-weight is about --lm: give it, too");
  const bool split = o.reading.channels.what == channel_choice::how::split;
  if (o.speakers.model.empty() && !split && !o.speakers.names.empty())
    wrong_usage(std::string("--speaker-names is about --speakers") +
                (o.verb == "transcribe" ? " or --channels split" : "") + ": give it, too");
  if (o.speakers.model.empty() && o.speakers.beside)
    wrong_usage("--parallel-speakers is about --speakers: give a model for them, too");
  if (o.speakers.model.empty() && o.speakers.split)
    wrong_usage("--split-on-speaker is about --speakers: give a model for them, too");
  if (o.verb != "diarize" && o.speakers.model.empty() && !o.speakers.memory.empty())
    wrong_usage("--speaker-" + option_name(o.speakers.memory.begin()->first).substr(2) +
                " is about --speakers: give a model for them, too");
  if (o.speakers.model.empty() && !split && writes(o, format::rttm))
    wrong_usage("--format rttm tells who speaks: " + std::string(o.verb == "transcribe"
                                                                     ? "give --speakers MODEL or --channels split, too"
                                                                     : "steno diarize writes it"));
  const line_options& l = o.output_layout.lines;
  const bool cues = writes(o, format::srt) || writes(o, format::vtt);
  const bool other_cues = writes(o, format::ass) || writes(o, format::lrc);
  const bool of_lines = l.max_line_width > 0 || l.max_line_count > 0 || l.max_words_per_line > 0 || l.highlight_words;
  if (of_lines && !cues && !(other_cues && l.max_words_per_line == 0 && !l.highlight_words))
    wrong_usage("--max-line-width, --max-line-count, --max-words-per-line and --highlight-words are about srt and vtt");
  const layout& y = o.output_layout;
  const bool text = writes(o, format::text), by_lines = y.rows != text_rows::usual || y.timestamps;
  if (by_lines && !text && !writes(o, format::md))
    wrong_usage(std::string(y.timestamps ? "--timestamps" : "--lines") + " is about the formats text and md");
  if (y.colours && !text) wrong_usage("--print-colors is about the format text");
}

std::string demo_of(const options& o, const raw_options& raw) {
  return o.verb == "info" ? find_demo(raw.demo, std::nullopt) : find_demo(raw.demo);
}

// --demo of the verbs that a bundled model has one task in.
void use_bundled(options& o) {
  if (o.verb == "vad")
    o.vad = find_demo(model_task::finds_speech, "vad --demo");
  else
    o.model = o.verb == "align" ? find_demo(model_task::aligns, "align --demo")
                                : find_demo(model_task::tells_speakers, "diarize --demo");
}

// What requests call a model that has no name of its own: its file's without folder and ending.
std::string id_of_model(const std::string& path) {
  std::filesystem::path file = utf8_path(path);
  if (file.filename().empty()) file = file.parent_path();  // a folder
  return core::printable((file.extension() == ".gguf" ? file.stem() : file.filename()).string());
}

// Of serve: NAME=MODEL or MODEL, as often as there are models.
void name_served_models(options& o) {
  if (o.live.models.empty() && !o.model.empty()) o.live.models.push_back({"", o.model});
  for (named_model& one : o.live.models) {
    const std::string said = one.path;
    std::error_code none;
    const std::size_t equal = said.find('=');
    if (equal != std::string::npos && !std::filesystem::exists(utf8_path(said), none)) {
      one.id = said.substr(0, equal);
      one.path = said.substr(equal + 1);
      const auto plain = [](char c) { return c > ' ' && c < 0x7f; };
      if (one.id.empty() || one.id.size() > 64 || one.path.empty() || !std::all_of(one.id.begin(), one.id.end(), plain))
        wrong_usage("--model " + said + ": expected a name of 1 to 64 characters of ASCII without spaces, and a model");
    }
    one.path = path_of_model(one.path, o.models, o.notes);
    if (one.id.empty()) one.id = id_of_model(one.path);
    for (const named_model* other = o.live.models.data(); other != &one; ++other)
      if (other->id == one.id)
        wrong_usage("--model " + said + ": another one is called " + one.id + ", too; NAME=MODEL gives it a name");
  }
  if (!o.live.models.empty()) o.model = o.live.models.front().path;
  if (o.live.models.size() > 1 && !o.live.final_model.empty())
    wrong_usage("--final-model stands beside one --model, and there are several");
}

// Names of models become paths; the model of STENO_MODEL is as if it was named.
void find_named_models(options& o) {
  if (!o.models.empty() && !std::filesystem::is_directory(utf8_path(o.models)))
    wrong_usage("--models " + o.models + ": is no folder");
  const bool usual =
      o.verb == "transcribe" || o.verb == "stream" || o.verb == "serve" || o.verb == "info" || o.verb == "bench";
  if (usual && o.model.empty()) o.model = system::variable("STENO_MODEL");
  if (o.verb == "serve") name_served_models(o);
  for (std::string* named : {&o.model, &o.live.final_model, &o.punctuation, &o.aligner, &o.speakers.model})
    *named = path_of_model(*named, o.models, o.notes);
  if (o.vad != "none" && o.vad != "energy") o.vad = path_of_model(o.vad, o.models, o.notes);
  // The bundled model, unless something else is called so.
  const auto bundled = [](std::string& named, model_task task, const char* option) {
    std::error_code none;
    if (named == "demo" && !std::filesystem::exists(utf8_path(named), none))
      named = find_demo(task, std::string(option) + " demo");
  };
  bundled(o.vad, model_task::finds_speech, "--vad");
  bundled(o.punctuation, model_task::punctuates, "--punctuate");
  bundled(o.aligner, model_task::aligns, "--align");
  bundled(o.speakers.model, model_task::tells_speakers, "--speakers");
}

// Where transcribe's results go.
void check_places(options& o, const raw_options& raw) {
  const int places = (o.output.empty() ? 0 : 1) + (o.output_name.empty() ? 0 : 1) + (o.output_beside ? 1 : 0);
  if (places > 1) wrong_usage("-o, --output-name and --output-beside are places for the same results: give one");
  if (o.output_formats.size() > 1 && places == 0)
    wrong_usage("--format " + raw.format +
                " makes a file of each: give -o DIR/, --output-name NAME or --output-beside");
  if (o.output_beside && std::find(o.audio.begin(), o.audio.end(), "-") != o.audio.end())
    wrong_usage("--output-beside: there is nothing beside standard input; give -o or --output-name");
  if (o.resume && o.output.empty()) wrong_usage("--resume goes on with the files in a directory: give -o DIR/, too");
  if (o.profile && o.quiet) wrong_usage("--profile writes to stderr, where -q wants nothing: leave one of them out");
  if (o.profile && o.parallel_clips > 1)
    wrong_usage("--profile follows one clip at a time: leave --parallel-clips out");
  if (o.list_left && !o.resume) wrong_usage("--list-left is about --resume: give it, too");
  const auto rows = find_rows(raw.lines);
  if (!rows) wrong_usage("--lines " + raw.lines + ": there are recording, paragraph, segment and usual");
  o.output_layout.rows = *rows;
  if (o.output_layout.colours && (places > 0 || !system::is_terminal(1))) {
    o.output_layout.colours = false;
    o.notes.push_back("--print-colors: the results do not go to a terminal, so they have no colours");
  }
}

void check_microphone(options& o) {
  if (!o.audio.empty()) wrong_usage("--microphone listens instead of AUDIO " + o.audio[0] + ": give one of them");
  if (o.live.real_time) wrong_usage("--real-time is about recordings; a microphone has no other time");
  if (*o.live.microphone == "default") o.live.microphone->clear();
}

void check(options& o, raw_options& raw) {
  if (o.verb == "vad" || o.verb == "diarize") {
    check_speech(o, raw);
    raw.format = "text";  // of transcripts, which there are none of
  }
  if (!raw.demo.empty()) o.model = demo_of(o, raw);
  if (raw.bundled) use_bundled(o);
  for (const std::string& one : raw.models) o.live.models.push_back({"", one});
  find_named_models(o);
  if (o.live.list_devices) {
    o.output_formats = find_formats(raw.format);
    if (output_format(o) != format::text && output_format(o) != format::jsonl)
      wrong_usage("stream --list-devices: --format is text or jsonl");
    return;
  }
  if (o.live.microphone) check_microphone(o);
  if ((o.verb == "stream" || o.verb == "serve" || o.verb == "align" || o.verb == "diarize") && o.model.empty())
    wrong_usage("--model is required, or --demo");
  if (o.verb == "align" && o.text_file.empty()) wrong_usage("--text is required");
  o.output_formats = find_formats(raw.format);
  const format f = output_format(o);
  if (o.output_formats.size() > 1 && o.verb != "transcribe")
    wrong_usage(o.verb + ": --format takes one of them, and " + raw.format + " is several");
  check_places(o, raw);
  const auto written = find_style(raw.style);
  if (!written) wrong_usage("unknown style " + raw.style + " (there are usual, steno and openai)");
  o.output_layout.style = *written;
  finish_decoding(o.decoding, raw.decoding);
  const line_options& l = o.output_layout.lines;
  const bool by_words = l.max_line_width > 0 || l.max_line_count > 0 || l.max_words_per_line > 0 || l.highlight_words;
  o.output_layout.words = o.decoding.word_timestamps.value_or(by_words || writes(o, format::ctm));
  if (raw.progress != "bar" && raw.progress != "json" && raw.progress != "none")
    wrong_usage("--progress " + raw.progress + ": there are bar, json and none");
  o.progress = !raw.no_progress && raw.progress == "bar";
  o.progress_json = raw.progress == "json";
  if (!raw.part.empty()) {
    const auto part = parse_shard(raw.part);
    if (!part) wrong_usage("--shard " + raw.part + ": expected I/N with I from 0 to N, for example 1/4");
    o.part = *part;
  }
  if (!raw.pcm_format.empty()) {
    const auto encoding = find_pcm_encoding(raw.pcm_format);
    if (!encoding) wrong_usage("unknown PCM format " + raw.pcm_format + " (there are s16le and f32le)");
    o.reading.pcm.encoding = *encoding;
  }
  if (raw.pcm_rate != 0) o.reading.pcm.rate = raw.pcm_rate;
  if (raw.pcm_channels != 0) o.reading.pcm.channels = raw.pcm_channels;
  check_reading(o, raw);
  o.output_layout.speakers = !o.speakers.model.empty() || o.reading.channels.what == channel_choice::how::split;
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
  if (o.verb == "stream" && f != format::text && f != format::jsonl) wrong_usage("stream: --format is text or jsonl");
  if (o.verb == "stream" && o.audio.size() > 1) wrong_usage("stream takes one AUDIO");
  if (o.verb == "align" && o.audio.size() > 1) wrong_usage("align takes one AUDIO");
  refuse_idle(o);
  if (o.verb == "models") {
    if (f != format::text && f != format::jsonl) wrong_usage("models: --format is text or jsonl");
    if (!o.audio.empty()) wrong_usage("models takes no AUDIO");
    return;
  }
  if (o.verb == "serve") return;
  if (o.verb == "info") {
    if (f != format::text && f != format::json) wrong_usage("info: --format is text or json");
  } else if (o.audio.empty() && o.manifest.empty() && !o.live.microphone) {
    wrong_usage("no AUDIO given");
  }
}

// The place of the first argument that is neither an option nor an option's value: options may stand before the verb,
// and there it is not known yet, so those of all verbs are.
std::size_t first_word(const std::vector<std::string>& arguments) {
  std::map<std::string, bool> takes_value;
  for (const std::string& verb : verb_names()) {
    CLI::App app;
    app.allow_windows_style_options(false);
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
  for (const renamed_option& r : renamed_options)
    if (const auto now = takes_value.find(std::string(r.now)); now != takes_value.end())
      takes_value.emplace(r.before, now->second);
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
    constexpr std::string_view texts[] = {"--ffmpeg", "--initial-prompt", "--prepend-punctuations",
                                          "--append-punctuations", "--suppress-tokens"};
    if (std::find(std::begin(texts), std::end(texts), name) == std::end(texts))
      wrong_usage(name + ": is empty (a variable that is not set?)");
  }
}

// Options that were given, but for those that say what is heard, where results go and how fast: what these do not name
// may change results.
std::vector<std::string> settings_of(const CLI::App& app) {
  constexpr std::string_view changes_nothing[] = {"AUDIO",           "--manifest",       "--recursive",
                                                  "--shard",         "--offset",         "--duration",
                                                  "--model",         "--demo",           "--cache",
                                                  "--check-weights", "--mmap",           "--no-mmap",
                                                  "--format",        "--output",         "--output-name",
                                                  "--output-beside", "--resume",         "--list-left",
                                                  "--threads",       "--parallel-clips", "--parallel-speakers",
                                                  "--config",        "--ffmpeg",         "--progress",
                                                  "--no-progress",   "--profile",        "--quiet",
                                                  "--verbose"};
  std::vector<std::string> all;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const auto* const end = std::end(changes_nothing);
    if (option->count() > 0 && std::find(std::begin(changes_nothing), end, name) == end)
      all.push_back(name + "=" + joined(option->reduced_results(), " "));
  }
  std::sort(all.begin(), all.end());
  return all;
}

// A first argument that is no file and looks like a verb.
void refuse_unknown_verb(const std::string& word) {
  if (word.empty() || word[0] == '-' || word.find_first_of("./\\") != std::string::npos ||
      std::filesystem::exists(utf8_path(word)))
    return;
  const std::string near = nearest(word, verb_names());
  wrong_usage(word + " is neither a verb nor a file (" +
              (near.empty() ? "verbs: " + joined(verb_names(), ", ") : "did you mean " + near + "?") + ")");
}

}  // namespace

void wrong_usage(const std::string& line) { throw stop{2, "steno: " + printable(line) + "; see steno --help\n"}; }

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
  if (arguments[0] == "help") {
    std::error_code none;
    if (!std::filesystem::exists("help", none)) help_command({arguments.begin() + 1, arguments.end()});
  }
  const translated words = in_own_words(usual_spelling(arguments));
  o.notes = words.notes;
  for (const std::string& a : words.arguments) {
    const bool empty = a.starts_with("--") && a.size() > 3 && a.find('=') == a.size() - 1;
    rest.push_back(empty ? a.substr(0, a.size() - 1) : a);
    if (empty) rest.emplace_back();  // CLI11 would take the next argument for "--model="
  }
  if (const std::size_t word = first_word(rest); word < rest.size()) {
    if (std::find(verb_names().begin(), verb_names().end(), rest[word]) != verb_names().end()) {
      o.verb = rest[word];
      rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(word));
    } else {
      refuse_unknown_verb(rest[word]);
    }
  }
  CLI::App app;
  app.allow_windows_style_options(false);  // "/" begins a path
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  add_options(app, o, raw);
  add_common_options(app);
  if (o.verb != "info" && o.verb != "serve" && o.verb != "models")
    app.get_option("AUDIO")->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.allow_extras();
  rename_options(rest, app, o.notes);
  try {
    std::reverse(rest.begin(), rest.end());  // CLI11 takes a vector from its back
    app.parse(rest);
  } catch (const CLI::CallForHelp&) {
    if (!raw.demo.empty()) o.model = demo_of(o, raw);
    if (!raw.models.empty()) o.model = raw.models.front();
    throw stop{0, help_text(o.verb, "", o.model.empty() ? std::set<std::string>() : options_left_out(o), o.model)};
  } catch (const CLI::CallForVersion& v) {
    throw stop{0, std::string(v.what()) + "\n"};
  } catch (const CLI::ParseError& e) {
    wrong_usage(e.what());
  }
  refuse_unknown(app, words.origins);
  refuse_empty(app);
  check(o, raw);
  o.settings = settings_of(app);
  return o;
}

}  // namespace steno::app
