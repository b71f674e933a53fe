// Events of clients of /v1/realtime: what is refused changes nothing, and what holds can be written and read again.
// Of the transcriber: flat_json.cpp realtime_settings.cpp json_builder.cpp
// SPDX-License-Identifier: Apache-2.0
#include "realtime_settings.hpp"

#include <cstdint>
#include <string>

#include "fuzz.hpp"

using namespace steno_fuzz;
using namespace steno::app;

namespace {

std::string written(const realtime_settings& s, bool beta) {
  json_builder j;
  put_settings(j, s, "sess_1", beta);
  return std::move(j).str();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const flat_json event = read_flat_json(text_of(data, size));
  require(event.values.size() <= 128);
  if (!event.wrong.empty()) return 0;
  realtime_settings s{.model = "m"};
  const std::string before = written(s, false);
  try {
    update_settings(s, event);
  } catch (const realtime_error& e) {
    require(written(s, false) == before && !e.code().empty());
    for (const char c : std::string_view(e.what())) require(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    return 0;
  }
  require(s.prefix_padding >= 0 && s.silence >= 200 && s.keywords.size() <= 100 && s.language.size() <= 64);
  for (const bool beta : {false, true}) {
    const flat_json again = read_flat_json(written(s, beta));
    require(again.wrong.empty() || s.keywords.size() > 90);  // more values than an event may have
  }
  return 0;
}
