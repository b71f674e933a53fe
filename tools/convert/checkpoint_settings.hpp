// tools/convert/checkpoint_settings.hpp - the settings that a checkpoint brings, as scalars and lists by path
// ("encoder_conf.output_size"), whatever file they stand in: the one reader for every importer.
//
// yaml_settings.hpp, json_settings.hpp and gguf_settings.hpp make them. Every look-up says what it expects, and what
// steno computes differently is refused, not silently accepted: require() takes a null for another value, and
// check_all_read() refuses what no look-up asked for. Tested in tests/convert/checkpoint_settings_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

/// What no look-up asks for, and why that is right. `key` may hold `*` for any characters, but not at its end: a list
/// that is open at the end would know a key that nobody has seen. Where `parts` is given, `key` is a whole map or a
/// value, and `parts` are the words, parted by spaces, of which the keys below it are made (numbers are always).
struct unused_setting {
  std::string_view key, reason, parts = {};
  bool knows(std::string_view name) const;
};

/// See the file's comment. A look-up of one value throws where the file has a list or a map. Look-ups note what they
/// were asked for, so one thread at a time.
struct checkpoint_settings {
  std::string source;                                     ///< for error messages
  std::map<std::string, std::string> settings;            ///< a null is "null"
  std::map<std::string, std::vector<std::string>> lists;  ///< of scalars; of a list of lists the first one

  std::map<std::string, std::vector<std::vector<std::string>>> tables;  ///< lists of lists of scalars, all of them

  std::set<std::string> others;  ///< keys of what is neither: empty lists and maps, what is too deep

  std::map<std::string, std::vector<std::string>> maps;  ///< of each map its keys, in the file's order

  /// Set, and not to null.
  bool has(const std::string& key) const;
  bool is_null(const std::string& key) const;
  /// A natural number between `min` and `max`, or `otherwise` when it is not set. Throws steno::error.
  std::uint32_t number(const std::string& key, std::uint32_t otherwise, std::uint32_t min, std::uint32_t max) const;
  std::string text(const std::string& key, const std::string& otherwise) const;
  bool flag(const std::string& key, bool otherwise) const;
  double real(const std::string& key, double otherwise, double min, double max) const;
  /// A list of whole numbers between `min` and `max`, or `otherwise`. One number that is no list is not read.
  std::vector<int> numbers(const std::string& key, std::vector<int> otherwise, int min, int max) const;
  /// The same of a list of lists; of a list of numbers that one list. Nothing where the setting is absent or null.
  std::vector<std::vector<int>> number_lists(const std::string& key, int min, int max) const;
  /// Throws unless the setting is absent or has this value; null is a value.
  void require(const std::string& key, const std::string& value) const;
  /// The same of a number, however it is written.
  void require(const std::string& key, double value) const;

  /// Notes that `key` was read elsewhere: what no look-up above returns (a vocabulary, a list of maps).
  void mark_read(const std::string& key) const { read_.insert(key); }

  /// To be called behind the last look-up. A setting that none of them asked for and that `unused` does not name is an
  /// error where its key starts with one of `sections`, for it may change what the model computes; elsewhere a note.
  void check_all_read(std::span<const std::string_view> sections, std::span<const unused_setting> unused,
                      std::vector<std::string>& notes) const;

 private:
  const std::string* scalar(const std::string& key) const;
  std::vector<int> numbers_of(const std::vector<std::string>& list, const std::string& key, int min, int max) const;

  mutable std::set<std::string, std::less<>> read_ = {};  // keys that a look-up asked for
};

}  // namespace STENO_ABI
}  // namespace steno
