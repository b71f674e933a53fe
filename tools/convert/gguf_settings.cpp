// tools/convert/gguf_settings.cpp - see gguf_settings.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "gguf_settings.hpp"

#include <optional>
#include <string>

#include "number_text.hpp"

namespace steno {
inline namespace STENO_ABI {

namespace {

std::string decimal(const weights::gguf_value& value) {
  const std::optional<float> single = value.get<float>();
  return single ? number_text(*single) : number_text(value.number().value_or(0));
}

}  // namespace

checkpoint_settings gguf_settings(const gguf_file& file) {
  checkpoint_settings s;
  s.source = file.where();
  for (const weights::gguf_value& value : file.values()) {
    const std::string key(value.key);
    if (const auto flag = value.get<bool>())
      s.settings[key] = *flag ? "true" : "false";
    else if (const auto text = value.text())
      s.settings[key] = *text;
    else if (value.is_array())
      s.others.insert(key);
    else
      s.settings[key] = decimal(value);
  }
  return s;
}

}  // namespace STENO_ABI
}  // namespace steno
