// Settings by name and text, and what the library's structs make of them.
#pragma once
#include <steno/pipelines/any_session.hpp>
#include <steno/pipelines/any_vad.hpp>
#include <steno/pipelines/transcribe_options.hpp>

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace steno::c {

/// What steno_options holds. Every value was read once when it was set, so that what is wrong is told there.
class named_options {
 public:
  /// Throws steno::error for a name that no option has, and a value that is none of its kind.
  void set(const std::string& name, const std::string& value);
  const std::string& vad() const { return vad_; }  ///< empty: none

  /// For a recording. Throws steno::error for an option of streams. `vad` is null where none is set.
  transcribe_options of_recording(const any_vad* vad) const;
  /// For a stream. Throws steno::error for an option of recordings.
  session_options of_stream() const;

 private:
  std::map<std::string, std::string> values_;
  std::string vad_;
};

}  // namespace steno::c
