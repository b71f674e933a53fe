// SPDX-License-Identifier: Apache-2.0
#include "peer_options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "formats.hpp"
#include "options.hpp"
#include "replaced.hpp"
#include "text_width.hpp"
#include "utf8_path.hpp"

namespace steno::app {
namespace {

using peer_value = peer_option::value;
using peer_meaning = peer_option::meaning;

constexpr std::string_view cpp = "whisper.cpp", openai = "openai-whisper", ct2 = "whisper-ctranslate2",
                           funasr = "FunASR";
constexpr std::string_view no_device = "steno runs on the processor alone";
constexpr std::string_view stored = "weights are used as the file has them; steno-convert --type changes it";

constexpr peer_option peer_table[] = {
    {cpp, "-f, --file", peer_value::text, peer_meaning::same, "AUDIO"},
    {cpp, "-t", peer_value::text, peer_meaning::same, "--threads {}"},
    {cpp, "-p, --processors", peer_value::text, peer_meaning::same, "--parallel-clips {}"},
    {cpp, "-ot, --offset-t", peer_value::text, peer_meaning::same, "--offset {s}"},
    {cpp, "-on, --offset-n", peer_value::text, peer_meaning::refused, "segments are not numbered"},
    {cpp, "-d", peer_value::text, peer_meaning::same, "--duration {s}"},
    {cpp, "-mc, --max-context", peer_value::text, peer_meaning::refused,
     "--no-condition-on-previous-text is -mc 0; other numbers have no counterpart"},
    {cpp, "-ml, --max-len", peer_value::text, peer_meaning::same, "--max-line-width {} --max-line-count 1"},
    {cpp, "-sow, --split-on-word", peer_value::none, peer_meaning::no_effect, "lines always end between words"},
    {cpp, "-bo", peer_value::text, peer_meaning::same, "--best-of {}"},
    {cpp, "-bs", peer_value::text, peer_meaning::same, "--beam {}"},
    {cpp, "-ac, --audio-ctx", peer_value::text, peer_meaning::refused, "leave it out: a window is heard whole"},
    {cpp, "-wt, --word-thold", peer_value::text, peer_meaning::refused,
     "--word-timestamps times words by the model's attention"},
    {cpp, "-et, --entropy-thold", peer_value::text, peer_meaning::refused,
     "--compression-ratio-threshold X is the original's measure of the same"},
    {cpp, "-lpt, --logprob-thold", peer_value::text, peer_meaning::same, "--logprob-threshold {}"},
    {cpp, "-nth, --no-speech-thold", peer_value::text, peer_meaning::same, "--no-speech-threshold {}"},
    {cpp, "-tp", peer_value::text, peer_meaning::same, "--temperature {}"},
    {cpp, "-tpi, --temperature-inc", peer_value::text, peer_meaning::same, "--temperature-increment-on-fallback {}"},
    {cpp, "-debug, --debug-mode", peer_value::none, peer_meaning::refused, "steno-trace writes what layers compute"},
    {cpp, "-tr", peer_value::none, peer_meaning::same, "--translate"},
    {cpp, "-di, --diarize", peer_value::none, peer_meaning::same, "--channels split"},
    {cpp, "-tdrz, --tinydiarize", peer_value::none, peer_meaning::refused, "--speakers MODEL tells who speaks"},
    {cpp, "-nf", peer_value::none, peer_meaning::same, "--no-fallback"},
    {cpp, "-otxt, --output-txt", peer_value::none, peer_meaning::same, "--format text --output-beside"},
    {cpp, "-ovtt, --output-vtt", peer_value::none, peer_meaning::same, "--format vtt --output-beside"},
    {cpp, "-osrt, --output-srt", peer_value::none, peer_meaning::same, "--format srt --output-beside"},
    {cpp, "-olrc, --output-lrc", peer_value::none, peer_meaning::same, "--format lrc --output-beside"},
    {cpp, "-ocsv, --output-csv", peer_value::none, peer_meaning::same, "--format csv --output-beside"},
    {cpp, "-oj, --output-json", peer_value::none, peer_meaning::same, "--format json --output-beside"},
    {cpp, "-ojf, --output-json-full", peer_value::none, peer_meaning::same, "--format json --output-beside"},
    {cpp, "-owts, --output-words", peer_value::none, peer_meaning::refused,
     "--format ass has karaoke, for FFmpeg and players"},
    {cpp, "-fp, --font-path", peer_value::text, peer_meaning::refused, "--format ass names a font that players know"},
    {cpp, "-of, --output-file", peer_value::text, peer_meaning::same, "--output-name {}"},
    {cpp, "-np, --no-prints", peer_value::none, peer_meaning::same, "--quiet"},
    {cpp, "-ps, --print-special", peer_value::none, peer_meaning::refused,
     "--format json has raw_text where tokens are special"},
    {cpp, "-pc", peer_value::none, peer_meaning::same, "--print-colors"},
    {cpp, "--print-confidence", peer_value::none, peer_meaning::same, "--print-colors"},
    {cpp, "-pp, --print-progress", peer_value::none, peer_meaning::no_effect,
     "a terminal has a bar; --progress json writes lines"},
    {cpp, "-nt, --no-timestamps", peer_value::none, peer_meaning::no_effect, "text has times with --timestamps alone"},
    {cpp, "-l", peer_value::text, peer_meaning::same, "--language {}"},
    {cpp, "-dl, --detect-language", peer_value::none, peer_meaning::refused, "--format json says the language"},
    {cpp, "--detect-langs", peer_value::text, peer_meaning::refused, "--language CODE, where it is known"},
    {cpp, "-oved, --ov-e-device", peer_value::text, peer_meaning::no_effect, no_device},
    {cpp, "-dtw, --dtw", peer_value::text, peer_meaning::same, "--word-timestamps"},
    {cpp, "-ls, --log-score", peer_value::none, peer_meaning::refused, "--format json has each word's confidence"},
    {cpp, "-ng, --no-gpu", peer_value::none, peer_meaning::no_effect, no_device},
    {cpp, "-dev", peer_value::text, peer_meaning::no_effect, no_device},
    {cpp, "-fa, --flash-attn", peer_value::none, peer_meaning::no_effect, "attention is always computed in blocks"},
    {cpp, "-nfa, --no-flash-attn", peer_value::none, peer_meaning::no_effect, "attention is always computed in blocks"},
    {cpp, "-sns, --suppress-nst", peer_value::none, peer_meaning::same, "--suppress-tokens=-1"},
    {cpp, "--suppress-regex", peer_value::text, peer_meaning::refused,
     "--suppress-tokens N,N,... takes numbers of tokens"},
    {cpp, "--grammar", peer_value::text, peer_meaning::refused, "--hotwords FILE favours phrases"},
    {cpp, "--grammar-rule", peer_value::text, peer_meaning::refused, "--hotwords FILE favours phrases"},
    {cpp, "--grammar-penalty", peer_value::text, peer_meaning::refused, "--hotword-score X weighs them"},
    {cpp, "-vm, --vad-model", peer_value::text, peer_meaning::same, "--vad {}"},
    {cpp, "-vt", peer_value::text, peer_meaning::same, "--vad-threshold {}"},
    {cpp, "-vspd, --vad-min-speech-duration-ms", peer_value::text, peer_meaning::same, "--vad-min-speech {}"},
    {cpp, "-vsd, --vad-min-silence-duration-ms", peer_value::text, peer_meaning::same, "--vad-min-silence {}"},
    {cpp, "-vmsd, --vad-max-speech-duration-s", peer_value::text, peer_meaning::same, "--max-clip-seconds {}"},
    {cpp, "-vp, --vad-speech-pad-ms", peer_value::text, peer_meaning::same, "--vad-pad {}"},
    {cpp, "-vo, --vad-samples-overlap", peer_value::text, peer_meaning::refused,
     "--vad-pad MS adds to segments, which do not overlap"},

    {openai, "-f, --output-format", peer_value::text, peer_meaning::same, "--format {}"},
    {openai, "--output-dir", peer_value::text, peer_meaning::same, "-o {}/"},
    {openai, "--model-dir", peer_value::text, peer_meaning::same, "--models {}"},
    {openai, "--device", peer_value::text, peer_meaning::no_effect, no_device},
    {openai, "--fp16", peer_value::truth, peer_meaning::no_effect, stored},
    {openai, "--verbose", peer_value::truth, peer_meaning::no_effect, "-q leaves out messages"},

    {ct2, "--model-directory", peer_value::text, peer_meaning::same, "-m {}"},
    {ct2, "--cache-directory", peer_value::text, peer_meaning::same, "--models {}"},
    {ct2, "--local-files-only", peer_value::truth, peer_meaning::no_effect, "steno never uses a network"},
    {ct2, "--device-index", peer_value::text, peer_meaning::no_effect, no_device},
    {ct2, "--compute-type", peer_value::text, peer_meaning::no_effect, stored},
    {ct2, "--pretty-json", peer_value::truth, peer_meaning::refused,
     "an object is one line; python3 -m json.tool indents it"},
    {ct2, "--vad-filter", peer_value::truth, peer_meaning::same, "--vad energy"},
    {ct2, "--vad-onset", peer_value::text, peer_meaning::same, "--vad-threshold {}"},
    {ct2, "--vad-offset", peer_value::text, peer_meaning::same, "--vad-neg-threshold {}"},
    {ct2, "--vad-max-speech-duration-s", peer_value::text, peer_meaning::same, "--max-clip-seconds {}"},
    {ct2, "--batched", peer_value::truth, peer_meaning::refused, "--parallel-clips N hears N clips at once"},
    {ct2, "--batch-size", peer_value::text, peer_meaning::same, "--parallel-clips {}"},
    {ct2, "--hf-token", peer_value::text, peer_meaning::refused, "--speakers MODEL tells who speaks, without a token"},
    {ct2, "--speaker-name", peer_value::text, peer_meaning::refused, "--speaker-names FILE holds names, one a line"},
    {ct2, "--speaker-num", peer_value::text, peer_meaning::refused, "--speakers MODEL finds how many speak"},
    {ct2, "--live-transcribe", peer_value::truth, peer_meaning::refused,
     "steno stream - transcribes what a pipe brings"},
    {ct2, "--live-volume-threshold", peer_value::text, peer_meaning::refused,
     "steno stream - transcribes what a pipe brings"},
    {ct2, "--live-input-device", peer_value::text, peer_meaning::refused,
     "steno stream - transcribes what a pipe brings"},

    {funasr, "++model", peer_value::text, peer_meaning::same, "-m {}"},
    {funasr, "++input", peer_value::text, peer_meaning::same, "AUDIO"},
    {funasr, "++vad_model", peer_value::text, peer_meaning::same, "--vad {}"},
    {funasr, "++punc_model", peer_value::text, peer_meaning::same, "--punctuate {}"},
    {funasr, "++spk_model", peer_value::text, peer_meaning::refused, "--speakers MODEL takes a Sortformer"},
    {funasr, "++output_dir", peer_value::text, peer_meaning::same, "-o {}/"},
    {funasr, "++language", peer_value::text, peer_meaning::same, "--language {}"},
    {funasr, "++use_itn", peer_value::truth, peer_meaning::same, "--itn"},
    {funasr, "++ncpu", peer_value::text, peer_meaning::same, "--threads {}"},
    {funasr, "++device", peer_value::text, peer_meaning::no_effect, no_device},
    {funasr, "++hub", peer_value::text, peer_meaning::no_effect, "steno never uses a network"},
    {funasr, "++model_revision", peer_value::text, peer_meaning::no_effect, "steno never uses a network"},
    {funasr, "++hotword", peer_value::text, peer_meaning::refused, "--hotwords FILE holds phrases, one a line"},
    {funasr, "++batch_size", peer_value::text, peer_meaning::same, "--parallel-clips {}"},
    {funasr, "++batch_size_s", peer_value::text, peer_meaning::no_effect, "--parallel-clips N hears N clips at once"},
    {funasr, "++merge_vad", peer_value::truth, peer_meaning::refused,
     "--merge-seconds N joins segments up to N seconds"},
    {funasr, "++merge_length_s", peer_value::text, peer_meaning::same, "--merge-seconds {}"},
};

// "a" of "a, b".
std::vector<std::string_view> names_of(const peer_option& o) {
  std::vector<std::string_view> all;
  for (std::size_t at = 0; at < o.names.size();) {
    const std::size_t end = std::min(o.names.find(", ", at), o.names.size());
    all.push_back(o.names.substr(at, end - at));
    at = end + 2;
  }
  return all;
}

const peer_option* find_peer(std::string_view name) {
  for (const peer_option& o : peer_table)
    for (const std::string_view n : names_of(o))
      if (n == name) return &o;
  return nullptr;
}

// "1500" milliseconds are "1.5".
std::string seconds_of(const std::string& option, const std::string& text) {
  double ms = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), ms);
  if (failed != std::errc() || end != text.data() + text.size() || !(ms >= 0))
    wrong_usage(option + " " + text + ": expected milliseconds");
  char written[32];
  std::snprintf(written, sizeof written, "%.10g", ms / 1000);
  return written;
}

bool is_file(const std::string& name) {
  std::error_code none;
  return std::filesystem::exists(utf8_path(name), none);
}

class translator {
 public:
  explicit translator(const std::vector<std::string>& arguments) : in_(arguments) {}

  translated all() {
    for (; at_ < in_.size(); ++at_) {
      if (in_[at_] == "--") {
        out_.arguments.insert(out_.arguments.end(), in_.begin() + static_cast<std::ptrdiff_t>(at_), in_.end());
        break;
      }
      one(in_[at_]);
    }
    finish();
    return std::move(out_);
  }

 private:
  void one(const std::string& argument) {
    std::string name = argument;
    std::optional<std::string> given;
    if (name.starts_with('+') && is_file(argument)) {  // a recording of this name
      out_.arguments.push_back(argument);
      return;
    }
    // FunASR's command line is hydra's, where one plus does what two do.
    if (name.size() > 1 && name[0] == '+' && name[1] != '+' && name.find('=') != std::string::npos) name = '+' + name;
    if (name.starts_with("--") || name.starts_with("++"))
      if (const std::size_t equal = name.find('='); equal != std::string::npos) {
        given = name.substr(equal + 1);
        name.erase(equal);
      }
    if (name == "--vad" && !given && flag_follows()) {  // whisper.cpp's, beside a --vad-model
      bare_vad_ = true;
      return;
    }
    if (name == "--vad") named_vad_ = true;
    if (name == "--format" || name == "-o" || name == "--output") placed_ = placed_ || name != "--format";
    const peer_option* o = find_peer(name);
    if (o == nullptr) {
      if (name.starts_with("++") && given) wrong_usage(name + ": not known (steno help peers lists what is)");
      out_.arguments.push_back(argument);
      return;
    }
    std::string text = given.value_or("");
    if (o->takes == peer_value::text && !given) {
      if (at_ + 1 >= in_.size()) wrong_usage(name + " of " + std::string(o->program) + " needs a value");
      text = in_[++at_];
    }
    if (o->takes == peer_value::truth && (text == "false" || text == "False")) {
      if (name == "++use_itn") out_.arguments.emplace_back("--no-itn");
      return;
    }
    apply(*o, name, text);
  }

  bool flag_follows() const { return at_ + 1 >= in_.size() || in_[at_ + 1].starts_with('-'); }

  void apply(const peer_option& o, const std::string& name, const std::string& text) {
    const std::string whose = name + " (" + std::string(o.program) + ")";
    if (name == "-mc" || name == "--max-context") {
      if (text != "0") wrong_usage(whose + ": write instead: " + std::string(o.here));
      out_.arguments.emplace_back("--no-condition-on-previous-text");
      return;
    }
    if (name == "--device" || name == "++device") {
      if (text != "cpu") wrong_usage(whose + " " + text + ": steno runs on the processor alone; leave it out");
      return;  // what is so anyway
    }
    if (o.means == peer_meaning::refused) wrong_usage(whose + ": write instead: " + std::string(o.here));
    if (o.means == peer_meaning::no_effect) {
      out_.notes.push_back(whose + " has no effect: " + std::string(o.here));
      return;
    }
    // One name of two programs: a format, unless there is such a file.
    if (name == "-f" && !is_file(text) && (text == "all" || find_format(text))) {
      formats_ += (formats_.empty() ? "" : ",") + text;
      return;
    }
    const std::string here(o.here);
    if (here == "AUDIO") {
      out_.arguments.push_back(text);
      return;
    }
    for (std::size_t from = 0; from < here.size();) {
      const std::size_t end = std::min(here.find(' ', from), here.size());
      std::string word = here.substr(from, end - from);
      from = end + 1;
      if (word == "--format") {
        const std::size_t value_end = std::min(here.find(' ', from), here.size());
        const std::string f = replaced(here.substr(from, value_end - from), "{}", text);
        formats_ += (formats_.empty() ? "" : ",") + f;
        from = value_end + 1;
        continue;
      }
      if (word == "--output-beside") {
        beside_ = true;
        continue;
      }
      if (word == "--vad") named_vad_ = true;
      if (word == "-o" || word == "--output-name") placed_ = true;
      if (name == "--output-dir") in_folder_ = true;
      if (word.starts_with('-')) out_.origins.emplace_back(word.substr(0, word.find('=')), whose);
      if (word.find("{s}") != std::string::npos) word = replaced(word, "{s}", seconds_of(name, text));
      out_.arguments.push_back(replaced(std::move(word), "{}", text));
    }
  }

  void finish() {
    if (bare_vad_ && !named_vad_) put("--vad", "energy");
    const bool own_format = std::any_of(
        in_.begin(), in_.end(), [](const std::string& a) { return a == "--format" || a.starts_with("--format="); });
    if (formats_.empty() && in_folder_ && !own_format) formats_ = "all";  // which openai-whisper writes
    if (!formats_.empty()) put("--format", formats_);
    if (beside_ && !placed_) {
      out_.arguments.emplace_back("--output-beside");
      out_.origins.emplace_back("--output-beside", "-otxt, -osrt, ... (whisper.cpp)");
    }
  }
  void put(const char* option, const std::string& text) {
    out_.arguments.emplace_back(option);
    out_.arguments.push_back(text);
  }

  const std::vector<std::string>& in_;
  std::size_t at_ = 0;
  translated out_;
  std::string formats_;
  bool bare_vad_ = false, named_vad_ = false, beside_ = false, placed_ = false, in_folder_ = false;
};

}  // namespace

std::span<const peer_option> peer_options() { return peer_table; }

translated in_own_words(const std::vector<std::string>& arguments) { return translator(arguments).all(); }

std::string peers_text() {
  std::string all =
      "Options of other programs, and what they are here. Command lines of theirs\nwork as they are, or an error says "
      "what to write instead.\n";
  std::string_view program;
  for (const peer_option& o : peer_table) {
    if (o.program != program) all.append("\n").append(o.program).append(":\n");
    program = o.program;
    std::string here(o.here);
    if (o.means == peer_meaning::no_effect) here = "no effect: " + here;
    if (o.means == peer_meaning::refused) here = "instead: " + here;
    here = replaced(replaced(std::move(here), "{s}", "SECONDS"), "{}", "VALUE");
    constexpr int first = 30;
    std::string name = "  " + std::string(o.names);
    const std::vector<std::string> lines = wrap(here, 79 - first);
    if (columns(name) >= first) all.append(name).append("\n");
    const std::size_t used = columns(name) >= first ? 0 : name.size();
    if (used != 0) all += name;
    for (std::size_t i = 0; i < lines.size(); ++i)
      all.append(static_cast<std::size_t>(first) - (i == 0 ? used : 0), ' ').append(lines[i]).append("\n");
  }
  return all;
}

}  // namespace steno::app
