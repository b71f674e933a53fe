// tools/convert/yaml_settings.hpp - a YAML config as scalars and lists by path ("encoder_conf.output_size").
//
// Nulls count as not set; a value "${path}" stands for another setting. Every look-up says what it expects, and what
// steno computes differently is refused, not silently accepted. Tested in tests/convert/wenet_test.cpp and
// nemo_test.cpp.
#pragma once
#include <steno/config.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

struct yaml_settings {
  std::string source;  ///< for error messages
  std::map<std::string, std::string> settings;
  std::map<std::string, std::vector<std::string>> lists;  ///< of scalars; of a list of lists the first one

  bool has(const std::string& key) const;
  /// A natural number between `min` and `max`, or `otherwise` when it is not set. Throws steno::error.
  std::uint32_t number(const std::string& key, std::uint32_t otherwise, std::uint32_t min, std::uint32_t max) const;
  std::string text(const std::string& key, const std::string& otherwise) const;
  bool flag(const std::string& key, bool otherwise) const;
  double real(const std::string& key, double otherwise, double min, double max) const;
  /// A list of whole numbers between `min` and `max`, or `otherwise`.
  std::vector<int> numbers(const std::string& key, std::vector<int> otherwise, int min, int max) const;
  /// Throws unless the setting is absent or has this value.
  void require(const std::string& key, const std::string& value) const;
};

/// Throws steno::error when `text` is not a YAML map; `what` names the kind of config.
yaml_settings read_yaml(const std::string& source, const std::string& text, std::string_view what);

}  // namespace STENO_ABI
}  // namespace steno
