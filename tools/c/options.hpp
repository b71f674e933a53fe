// Settings by name and text, and what the library's structs make of them.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/any_session.hpp>
#include <steno/pipelines/any_vad.hpp>
#include <steno/pipelines/transcribe_options.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>

struct steno_diarizer;
struct steno_aligner;
struct steno_punctuator;
struct steno_vad;

namespace steno::c {

/// What steno_options holds. Every value was read once when it was set, so that what is wrong is told there. An option
/// that a call has no use for is refused by it, by name.
class named_options {
 public:
  /// Throws steno::error for a name that no option has, and a value that is none of its kind.
  void set(const std::string& name, const std::string& value);
  const std::string& vad() const { return vad_; }  ///< name or path; empty: none

  // What stands beside the model; null: nothing.
  const steno_diarizer* diarizer = nullptr;
  const steno_aligner* aligner = nullptr;
  const steno_punctuator* punctuator = nullptr;
  const steno_vad* detector = nullptr;

  // What they are for each kind of call. `v` and `d` stand beside the model; null: none, and then their options are
  // refused. All throw steno::error.
  struct recording_settings {
    transcribe_options transcribing = {};
    diarize_options diarizing = {};
    pipelines::speaker_attribution_options attributing = {};
  };
  recording_settings of_recording(const any_vad* v, const steno::diarizer* d) const;
  struct stream_settings {
    session_options session = {};
    steno::vad_settings detecting = {};
    pipelines::speaker_session_options speakers = {};
  };
  stream_settings of_stream(const any_vad* v, const steno::diarizer* d) const;
  diarize_options of_diarizer(const steno::diarizer& d) const;
  vad_settings of_vad() const;

 private:
  template <class... Groups>
  void assign_all(const char* use, Groups&&... groups) const;
  bool cache_is_set() const;
  void refuse_helpers(const char* use) const;

  std::map<std::string, std::string> values_;
  std::string vad_;
};

}  // namespace steno::c
