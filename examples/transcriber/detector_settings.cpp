// SPDX-License-Identifier: Apache-2.0
#include "detector_settings.hpp"

#include <CLI/CLI.hpp>
#include <charconv>
#include <string_view>

#include "options.hpp"
#include "text_width.hpp"

namespace steno::app {
namespace {

double number_of_setting(const std::string& name, const std::string& text) {
  double x = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), x);
  if (failed != std::errc() || end != text.data() + text.size()) wrong_usage(name + " " + text + ": expected a number");
  return x;
}

// What a detector's thresholds may be.
struct threshold_range {
  std::string_view detector;
  double low, high;
  const char* about;
};
constexpr threshold_range threshold_ranges[] = {
    {"energy_vad", 1, 100, "1 to 100 dB above the background"},
    {"fsmn_vad", -1, 1, "-1 to 1, by which speech must be likelier than silence"},
    {"silero_vad", 0, 1, "0 to 1, a probability of speech"},
};

}  // namespace

void add_detector_settings(CLI::App& app, vad_settings& s, const std::string& front) {
  const auto number = [&](const char* name, std::optional<double>& value, const char* about) {
    const std::string full = front + name;
    app.add_option_function<std::string>(
           full, [full, &value](const std::string& text) { value = number_of_setting(full, text); }, about)
        ->type_name("X");
  };
  const auto ms = [&](const char* name, std::optional<int>& value, int low, const char* about) {
    app.add_option(front + name, value, about)->type_name("MS")->check(CLI::Range(low, 600000));
  };
  number("threshold", s.threshold,
         "energy: decibels above the background [10]; FSMN-VAD: -1 to 1, by which speech must be likelier than "
         "silence [0.5; 0.6 with a pause given]; Silero VAD: a probability [0.5]");
  number("neg-threshold", s.neg_threshold,
         "What began goes on down to here; energy: decibels [6]; Silero VAD: a probability [0.15 less than the "
         "other, at least 0.01]");
  ms("min-speech", s.min_speech, 0, "What is shorter is no speech [energy: 80; Silero VAD: 250]");
  ms("min-silence", s.min_silence, 10,
     "A pause that ends a segment [energy: 500; FSMN-VAD: 2000, less the longer the segment is; Silero VAD: 100]");
  ms("pad", s.pad, 0, "Added before and behind a segment [energy: 100; Silero VAD: 30]");
  app.add_option_function<double>(
         front + "max-segment", [&s](double seconds) { s.max_segment = static_cast<int>(seconds * 1000); },
         "A longer segment is cut [60; Silero VAD: 3600]")
      ->type_name("SECONDS")
      ->check(CLI::Range(0.1, 86400.0));
}

std::string first_setting(const vad_settings& s, const std::string& front) {
  if (s.threshold) return front + "threshold";
  if (s.neg_threshold) return front + "neg-threshold";
  if (s.min_speech) return front + "min-speech";
  if (s.min_silence) return front + "min-silence";
  if (s.pad) return front + "pad";
  return s.max_segment ? front + "max-segment" : "";
}

void check_detector_settings(const any_vad& v, const vad_settings& s, const std::string& front) {
  if (v.name() == "fsmn_vad") {
    vad_settings foreign{.neg_threshold = s.neg_threshold, .min_speech = s.min_speech, .pad = s.pad};
    if (const std::string name = first_setting(foreign, front); !name.empty())
      wrong_usage(name + ": FSMN-VAD has no such setting");
  }
  for (const threshold_range& r : threshold_ranges) {
    if (r.detector != v.name()) continue;
    const auto check = [&](const char* name, const std::optional<double>& x) {
      if (x && !(*x >= r.low && *x <= r.high)) wrong_usage(front + name + ": expected " + r.about);
    };
    check("threshold", s.threshold);
    check("neg-threshold", s.neg_threshold);
  }
}

}  // namespace steno::app
