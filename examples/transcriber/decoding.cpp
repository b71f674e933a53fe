// SPDX-License-Identifier: Apache-2.0
#include "decoding.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

#include "options.hpp"

namespace steno::app {
namespace {

constexpr const char* group = "Whisper: models that write token by token";
constexpr const char* failures = "Fallbacks: when a window of Whisper fails";
constexpr const char* language_models = "Language models: Qwen3-ASR, Fun-ASR-Nano";

std::optional<double> number(std::string_view text) {
  double x = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (failed != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return x;
}

std::vector<double> numbers(const char* option, const std::string& list) {
  std::vector<double> all;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(',', at), list.size());
    const auto x = number(std::string_view(list).substr(at, end - at));
    if (!x) wrong_usage(std::string(option) + " " + list + ": expected numbers with commas between");
    all.push_back(*x);
    at = end + 1;
  }
  return all;
}

// A number, or "none".
void threshold(const char* option, const std::string& text, std::optional<double>& to) {
  if (text.empty()) return;
  to = text == "none" || text == "None" ? decoding_options::off : number(text);
  if (!to) wrong_usage(std::string(option) + " " + text + ": expected a number or none");
}

CLI::Option* add(CLI::App& app, const char* names, std::string& to, const char* help, const char* type,
                 const char* of = group) {
  return app.add_option(names, to, help)->type_name(type)->group(of);
}

}  // namespace

void add_writing(CLI::App& app, layout& l, std::string& style, std::string& rows) {
  constexpr const char* writing = "Layout: text and subtitles";
  const auto count = [&](const char* name, int& to, const char* help) {
    app.add_option(name, to, help)->type_name("N")->check(CLI::Range(1, 100000))->group(writing);
  };
  app.add_option("--lines", rows,
                 "Of text: what stands on a line: recording, paragraph (to a pause of 2 s) or segment [usual: "
                 "paragraph; recording where several go to one output; segment with --timestamps]")
      ->type_name("WHAT")
      ->group(writing);
  app.add_flag("--timestamps", l.timestamps, "Of text and md: when each line is said")->group(writing);
  app.add_flag("--print-colors,--print-colours", l.colours,
               "Of text on a terminal: words from red to green by the model's confidence")
      ->group(writing);
  app.add_option("--style", style, "steno, openai (as openai-whisper, json too) or usual: openai for Whisper [usual]")
      ->type_name("STYLE")
      ->group(writing);
  count("--max-line-width", l.lines.max_line_width, "Characters of a subtitle's line");
  count("--max-line-count", l.lines.max_line_count, "Lines of a subtitle");
  count("--max-words-per-line", l.lines.max_words_per_line, "Words of a subtitle (openai)");
  app.add_flag("--highlight-words", l.lines.highlight_words, "Underline each word while it is spoken (openai)")
      ->group(writing);
}

void add_decoding(CLI::App& app, decoding_options& o, raw_decoding& raw) {
  const auto flag = [&](const char* names, std::optional<bool>& to, const char* help) {
    app.add_flag_function(
           names, [&to](std::int64_t n) { to = n > 0; }, help)
        ->group(group);
  };
  const auto value = [&](const char* names, auto& to, const char* type, const char* help) {
    return app.add_option(names, to, help)->type_name(type)->group(group);
  };
  add(app, "--task", raw.task, "transcribe, or translate into English [transcribe]", "TASK");
  app.add_flag("--translate", raw.translate, "The same as --task translate")->group(group);
  flag("--word-timestamps", o.word_timestamps, "Times of words, from the model's attention");
  add(app, "--temperature", raw.temperature, "0: the most probable; above: samples. The next ones when a window fails",
      "T,T,...", failures);
  add(app, "--temperature-increment-on-fallback", raw.increment,
      "Steps up to 1 when a window fails; none: no more [0.2]", "X", failures);
  app.add_flag("--no-fallback", raw.no_fallback, "Every window is decoded once")->group(failures);
  value("--best-of", o.best_of, "N", "Samples at a temperature above 0 [1]")->check(CLI::Range(1, 64))->group(failures);
  value("--patience", o.patience, "X", "A beam search ends when N * X hypotheses have [1]")
      ->check(CLI::Range(0.0, 100.0));
  value("--length-penalty", o.length_penalty, "X",
        "Power of the length that divides scores: of Whisper 0 to 1 [its length], of Canary 0 to 64 [the model's own]")
      ->check(CLI::Range(0.0, 64.0));
  value("--initial-prompt,--prompt", o.initial_prompt, "TEXT", "What was said before: names, spelling, style");
  flag("--carry-initial-prompt", o.carry_initial_prompt, "Before every window, not the first alone");
  flag("--condition-on-previous-text,!--no-condition-on-previous-text", o.condition_on_previous_text,
       "A window's prompt is what was written before it [true]");
  add(app, "--compression-ratio-threshold", raw.compression_ratio, "A window fails when zlib shortens it more [2.4]",
      "X", failures);
  add(app, "--logprob-threshold", raw.logprob, "A window fails when it is less probable [-1]", "X", failures);
  add(app, "--no-speech-threshold", raw.no_speech, "An improbable window is silence when this is exceeded [0.6]", "X",
      failures);
  add(app, "--hallucination-silence-threshold", raw.hallucination,
      "Skip silence longer than this around improbable words; needs --word-timestamps", "SECONDS", failures);
  add(app, "--suppress-tokens", raw.suppress_tokens, "Tokens that are never written; -1: symbols [-1]", "N,N,...");
  flag("--without-timestamps", o.without_timestamps, "The model writes no times");
  add(app, "--max-initial-timestamp", raw.max_initial_timestamp, "Latest time of a window's first word [1]", "SECONDS");
  add(app, "--clip-timestamps", raw.clips, "Parts of the recording: start,end,start,... [all]", "SECONDS");
  value("--prepend-punctuations", o.prepend_punctuations, "MARKS", "Marks that join the word behind them");
  value("--append-punctuations", o.append_punctuations, "MARKS", "Marks that join the word before them");
  value("--seed", o.seed, "N", "Of samples; the same seed gives the same text [0]")->group(failures);
  const auto of_language_models = [&](const char* names, auto& to, const char* type, const char* help) {
    return app.add_option(names, to, help)->type_name(type)->group(language_models);
  };
  of_language_models("--top-k", o.top_k, "N", "With --temperature: samples are among the N best tokens; 0: all [0]")
      ->check(CLI::Range(0, 1 << 24));
  of_language_models("--top-p", o.top_p, "X", "With --temperature: among the best that hold this much together [1]")
      ->check(CLI::Range(0.0, 1.0));
  of_language_models("--max-new-tokens", o.max_new_tokens, "N",
                     "Most tokens of a clip [Qwen3-ASR: 4096 and 8 a second, Fun-ASR-Nano: 512]")
      ->check(CLI::Range(1, 1 << 20));
  of_language_models("--max-repeats", o.max_repeats, "N",
                     "Most rounds of a pattern of words in a row, and writing ends when it turns in circles; 0: as it "
                     "comes [3]")
      ->check(CLI::Range(0, 1000));
  of_language_models("--kv-cache", raw.kv_cache, "FORMAT",
                     "How keys and values are kept: f32, f16 or q8_0 [f16 for quantised models, otherwise f32]");
}

void finish_decoding(decoding_options& o, const raw_decoding& raw) {
  if (raw.task != "transcribe" && raw.task != "translate")
    wrong_usage("--task " + raw.task + ": there are transcribe and translate");
  if (raw.translate || raw.task == "translate") o.translate = true;
  threshold("--compression-ratio-threshold", raw.compression_ratio, o.compression_ratio_threshold);
  threshold("--logprob-threshold", raw.logprob, o.logprob_threshold);
  threshold("--no-speech-threshold", raw.no_speech, o.no_speech_threshold);
  threshold("--hallucination-silence-threshold", raw.hallucination, o.hallucination_silence_threshold);
  threshold("--max-initial-timestamp", raw.max_initial_timestamp, o.max_initial_timestamp);
  if (!raw.kv_cache.empty()) {
    for (const dtype f : {dtype::f32, dtype::f16, dtype::q8_0})
      if (raw.kv_cache == core::info(f).name) o.kv_cache = f;
    if (!o.kv_cache) wrong_usage("--kv-cache " + raw.kv_cache + ": there are f32, f16 and q8_0");
  }
  if (!raw.clips.empty()) o.clip_timestamps = numbers("--clip-timestamps", raw.clips);
  if (!raw.suppress_tokens.empty()) {
    o.suppress_tokens.emplace();
    for (const double id : numbers("--suppress-tokens", raw.suppress_tokens)) {
      if (!(id >= -1 && id < 1e6) || id != static_cast<int>(id))
        wrong_usage("--suppress-tokens: expected numbers of tokens, or -1");
      o.suppress_tokens->push_back(static_cast<int>(id));
    }
  }
  // A temperature alone is the only one; with an increment others follow.
  std::vector<double> all;
  if (!raw.temperature.empty()) all = numbers("--temperature", raw.temperature);
  std::optional<double> step;
  threshold("--temperature-increment-on-fallback", raw.increment, step);
  if (raw.no_fallback || (step && !(*step > 0))) {
    all.resize(1, 0.0);
  } else if (step) {
    const double first = all.empty() ? 0.0 : all[0];
    all = {first};
    for (int i = 1; first + i * *step < 1.0 + 1e-6; ++i) all.push_back(first + i * *step);
  }
  for (const double t : all)
    if (!(t >= 0 && t <= 10)) wrong_usage("--temperature: expected 0 to 10");
  if (!all.empty()) o.temperature = all;
}

std::string option_name(std::string_view name) {
  if (name == "language_model") return "--lm";
  std::string text = "--" + std::string(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::string live_option_name(std::string_view name) {
  const bool holds = name == "endpoints" || name == "rescore";
  return option_name(holds ? "no_" + std::string(name) : std::string(name));
}

std::vector<std::pair<std::string, std::string>> given_options(const options& o) {
  std::vector<std::pair<std::string, std::string>> all;
  const auto add = [&](bool given, const std::string& option, const std::string& value = "") {
    if (given) all.emplace_back(option, option + (value.empty() ? "" : " " + value));
  };
  add(o.language != "auto", "--language", o.language);
  add(!o.target_language.empty(), "--target-language", o.target_language);
  add(o.write_punctuation.has_value(), "--no-punctuation");
  if (o.inverse_text_normalisation) all.emplace_back("--itn", *o.inverse_text_normalisation ? "--itn" : "--no-itn");
  for (const std::string& name : o.decoding.names()) add(true, option_name(name));
  add(o.max_clip_seconds > 0, "--max-clip-seconds");
  add(o.parallel_clips > 1, "--parallel-clips");
  add(o.look_ahead.has_value(), "--look-ahead", o.look_ahead ? std::to_string(*o.look_ahead) : "");
  add(o.beam > 1, "--beam", std::to_string(o.beam));  // greedy is what --beam 1 asks for
  add(!o.hotwords.empty(), "--hotwords");
  add(o.hotword_score.has_value(), "--hotword-score");
  add(!o.lm.empty(), "--lm");
  add(o.lm_weight.has_value(), "--lm-weight");
  return all;
}

std::vector<std::string> usual_spelling(std::vector<std::string> arguments) {
  std::vector<std::string> all;
  bool files = false;  // behind "--" there are no options
  for (std::string& a : arguments) {
    files = files || a == "--";
    if (!files && a.starts_with("--"))
      std::replace(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(std::min(a.find('='), a.size())), '_', '-');
    const bool to_option =
        !files && !all.empty() && all.back().starts_with("--") && all.back().find('=') == std::string::npos;
    if (to_option && (a == "True" || a == "False"))
      all.back() += a == "True" ? "=true" : "=false";
    else
      all.push_back(std::move(a));
  }
  return all;
}

}  // namespace steno::app
