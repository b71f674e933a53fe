// SPDX-License-Identifier: Apache-2.0
#include "options.hpp"

#include <steno/core/decimal.hpp>
#include <steno/core/dtype.hpp>
#include <steno/core/hotword.hpp>
#include <steno/error.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace steno::c {

namespace {

[[noreturn]] void refuse(const std::string& name, const std::string& value, const char* expected) {
  fail({.what = "option " + name, .expected = expected, .found = "\"" + value + "\""});
}

// Each reads `text` into a member of its type, or says what is expected.
const char* read_value(std::string_view text, bool& to) {
  if (text == "true" || text == "1") return to = true, nullptr;
  if (text == "false" || text == "0") return to = false, nullptr;
  return "true or false";
}
template <class T>
requires std::is_arithmetic_v<T>
const char* read_value(std::string_view text, T& to) {
  if constexpr (std::is_floating_point_v<T>) {
    const std::optional<double> found = core::parse_decimal(text);
    if (!found || !(std::fabs(*found) <= double{std::numeric_limits<T>::max()})) return "a number";
    to = static_cast<T>(*found);
  } else {
    T found{};
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), found);
    if (failed != std::errc() || end != text.data() + text.size()) return "a whole number";
    to = found;
  }
  return nullptr;
}
const char* read_value(std::string_view text, std::string& to) { return to = text, nullptr; }
const char* read_value(std::string_view text, dtype& to) {
  const auto found = core::find_dtype(text);
  if (!found) return "f32, f16 or q8_0";
  to = found->type;
  return nullptr;
}
template <class T>
const char* read_value(std::string_view text, std::vector<T>& to);
template <class T>
const char* read_value(std::string_view text, std::optional<T>& to) {
  T found{};
  const char* const wrong = read_value(text, found);
  if (wrong == nullptr) to = std::move(found);
  return wrong;
}
// Numbers with commas between them, or phrases or names, one a line.
template <class T>
const char* read_value(std::string_view text, std::vector<T>& to) {
  constexpr char between = std::is_arithmetic_v<T> ? ',' : '\n';
  std::vector<T> all;
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(between));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    if constexpr (std::is_arithmetic_v<T>) {
      T found{};
      if (read_value(one, found) != nullptr) return "numbers with commas between them";
      all.push_back(found);
    } else if constexpr (std::is_same_v<T, std::string>) {
      all.emplace_back(one);
    } else if (std::optional<core::hotword> phrase = core::parse_hotword(one)) {
      all.push_back(*std::move(phrase));
    }
  }
  to = std::move(all);
  return nullptr;
}

// f(name, member) for what each of the library's structs of options has but for its pointers.
struct of_recordings {
  static constexpr std::string_view name = "recordings";
  template <class F>
  void each(F&& f) {
    f("language", o.language);
    f("target_language", o.target_language);
    f("punctuation", o.punctuation);
    f("itn", o.itn);
    f("max_clip_seconds", o.max_clip_seconds);
    f("limit_seconds", o.limit_seconds);
    f("merge_seconds", o.merge_seconds);
    f("parallel_clips", o.parallel_clips);
    f("look_ahead", o.look_ahead);
    f("beam", o.beam);
    f("hotwords", o.hotwords);
    f("hotword_score", o.hotword_score);
    decoding_options::each(o.decoding, f);
  }
  transcribe_options& o;
};
struct of_streams {
  static constexpr std::string_view name = "streams";
  template <class F>
  void each(F&& f) {
    f("chunk_size", o.chunk_size);
    f("left_chunks", o.left_chunks);
    f("left_context", o.left_context);
    f("look_ahead", o.look_ahead);
    f("language", o.language);
    f("rescore", o.rescore);
    f("endpoints", o.endpoints);
    f("continuous", o.continuous);
    f("forget_turns", o.forget_turns);
    f("partial_seconds", o.partial_seconds);
    f("max_utterance_seconds", o.max_utterance_seconds);
    f("limit_seconds", o.limit_seconds);
    f("beam", o.beam);
    f("hotwords", o.hotwords);
    f("hotword_score", o.hotword_score);
  }
  session_options& o;
};
struct of_detectors {
  static constexpr std::string_view name = "detectors of speech";
  template <class F>
  void each(F&& f) {
    f("vad_threshold", o.threshold);
    f("vad_neg_threshold", o.neg_threshold);
    f("vad_min_speech", o.min_speech);
    f("vad_min_silence", o.min_silence);
    f("vad_max_segment", o.max_segment);
    f("vad_pad", o.pad);
  }
  vad_settings& o;
};
// Settings that list themselves.
template <class Settings>
struct of_listed {
  template <class F>
  void each(F&& f) {
    Settings::each(o, f);
  }
  Settings& o;
};
// What makes turns of a diarizer's probabilities.
struct of_turns : of_listed<segmentation::speaker_segment_options> {
  static constexpr std::string_view name = "a diarizer's turns";
};
// What a diarizing stream remembers.
struct of_caches : of_listed<nn::speaker_cache_options> {
  static constexpr std::string_view name = "diarizers";
};
// Who says what.
struct of_attribution {
  static constexpr std::string_view name = "texts with speakers";
  template <class F>
  void each(F&& f) {
    f("speaker_onset", o.onset);
    f("speaker_offset", o.offset);
    f("speaker_reach", o.reach);
    f("speaker_names", o.names);
    f("split_on_speaker", o.split);
  }
  pipelines::speaker_attribution_options& o;
};

// A group that counts where what it is for is there.
template <class Group>
struct where {
  bool there;
  Group group;
  template <class F>
  void each(F&& f) {
    if (there) group.each(f);
  }
};
template <class Group>
where(bool, Group) -> where<Group>;

// Whether there is an option of this name in the group; sets it.
template <class Group>
bool assign(Group g, const std::string& name, const std::string& value) {
  bool known = false;
  g.each([&](std::string_view its, auto& member) {
    if (its != name) return;
    known = true;
    if (const char* const expected = read_value(value, member)) refuse(name, value, expected);
  });
  return known;
}

// Options of every kind.
struct all_options {
  transcribe_options recording = {};
  session_options stream = {};
  vad_settings detector = {};
  segmentation::speaker_segment_options turns = {};
  nn::speaker_cache_options cache = {};
  pipelines::speaker_attribution_options attribution = {};

  // The kinds that have an option of this name; it is set in each.
  std::string kinds(const std::string& name, const std::string& value) {
    std::string found;
    const auto look = [&]<class Group>(Group g) {
      if (assign(g, name, value)) found.append(found.empty() ? "one of " : " and ").append(Group::name);
    };
    look(of_recordings{recording});
    look(of_streams{stream});
    look(of_detectors{detector});
    look(of_turns{turns});
    look(of_caches{cache});
    look(of_attribution{attribution});
    return found;
  }
};

}  // namespace

void named_options::set(const std::string& name, const std::string& value) {
  if (name == "vad") {
    vad_ = value == "none" ? "" : value;
    return;
  }
  if (all_options().kinds(name, value).empty())
    fail({.what = "option " + name, .expected = "a name of an option", .found = "none has it"});
  values_.insert_or_assign(name, value);
}

template <class... Groups>
void named_options::assign_all(const char* use, Groups&&... groups) const {
  for (const auto& [name, value] : values_)
    if (!(static_cast<int>(assign(groups, name, value)) | ...))
      fail({.what = "option " + name,
            .expected = std::string("one of ") + use,
            .found = all_options().kinds(name, value),
            .hint = "those of detectors and diarizers need one beside the model"});
}

bool named_options::cache_is_set() const {
  bool any = false;
  nn::speaker_cache_options cache;
  of_caches{cache}.each([&](const std::string& name, auto&) { any = any || values_.contains(name); });
  return any;
}

void named_options::refuse_helpers(const char* use) const {
  const auto refuse_one = [&](const char* what) {
    fail({.what = std::string("options for ") + use, .expected = "nothing beside the model", .found = what});
  };
  if (diarizer != nullptr) refuse_one("a diarizer");
  if (aligner != nullptr) refuse_one("an aligner");
  if (punctuator != nullptr) refuse_one("a punctuator");
  if (detector != nullptr || !vad_.empty()) refuse_one("a detector of speech");
}

named_options::recording_settings named_options::of_recording(const any_vad* v, const steno::diarizer* d) const {
  recording_settings s;
  s.transcribing.vad = v;
  nn::speaker_cache_options cache = d != nullptr ? d->default_cache() : nn::speaker_cache_options();
  assign_all("recordings", of_recordings{s.transcribing},
             where{v != nullptr, of_detectors{s.transcribing.vad_settings}}, where{d != nullptr, of_caches{cache}},
             where{d != nullptr, of_attribution{s.attributing}});
  if (d != nullptr && cache_is_set()) s.diarizing.cache = cache;
  return s;
}

named_options::stream_settings named_options::of_stream(const any_vad* v, const steno::diarizer* d) const {
  if (aligner != nullptr)
    fail({.what = "options of a stream", .expected = "no aligner: words of streams have the model's own times"});
  stream_settings s;
  nn::speaker_cache_options cache = d != nullptr ? d->default_cache() : nn::speaker_cache_options();
  s.speakers.attribution.split = false;  // unless it is set
  assign_all("streams", of_streams{s.session}, where{v != nullptr, of_detectors{s.detecting}},
             where{d != nullptr, of_caches{cache}}, where{d != nullptr, of_attribution{s.speakers.attribution}});
  s.speakers.split_on_speaker = s.speakers.attribution.split;
  if (d != nullptr && cache_is_set()) s.speakers.diarization.cache = cache;
  return s;
}

diarize_options named_options::of_diarizer(const steno::diarizer& d) const {
  refuse_helpers("a diarizer");
  diarize_options o;
  nn::speaker_cache_options cache = d.default_cache();
  assign_all("diarizers", of_turns{o.segments}, of_caches{cache});
  if (cache_is_set()) o.cache = cache;
  return o;
}

vad_settings named_options::of_vad() const {
  refuse_helpers("a detector of speech");
  vad_settings s;
  assign_all("detectors of speech", of_detectors{s});
  return s;
}

}  // namespace steno::c
