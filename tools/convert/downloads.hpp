// tools/convert/downloads.hpp - what people download: one table, which --list prints and docs/downloads.md shows.
//
// A row for each published artefact: where it is from, the command, sizes, languages, licence, what was checked and
// how. Sizes of results are computed from the lists of tensors in shared/manifests; a fact that was not found is said
// not to be known. Tested in tests/convert/downloads_test.cpp: the page is this table, and the sizes are those of the
// lists.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <span>
#include <string>
#include <string_view>

namespace steno {
inline namespace STENO_ABI {

/// How a row was checked; flags.
enum class checked : unsigned {
  nothing = 0,
  golden = 1,   ///< small models of this kind give the original's results, stage by stage
  listed = 2,   ///< names and shapes of the full-size list are accepted, all of them
  schema = 4,   ///< files made up after the description of the published ones are read
  refused = 8,  ///< steno names it and does not read it
  run = 16,     ///< checkpoints of full size with random weights were packaged and run (tools/zoo/full_size.py)
};
constexpr checked operator|(checked a, checked b) {
  return static_cast<checked>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}
constexpr bool has(checked all, checked one) { return (static_cast<unsigned>(all) & static_cast<unsigned>(one)) != 0; }

/// Megabytes of 10^6 bytes; 0: not known.
struct download_sizes {
  unsigned download = 0;                 ///< as published, or else of the list's tensors
  bool published = false;                ///< `download` was found, not computed
  unsigned f16 = 0, q8_0 = 0, q4_k = 0;  ///< of the packaged file's tensors; computed
};

struct download {
  std::string_view family;  ///< heading
  std::string_view name;
  std::string_view from;       ///< hub and name
  std::string_view also = {};  ///< the same on another hub
  std::string_view input;      ///< what steno-convert is given; empty where it is refused
  std::string_view output;
  std::string_view options = {};
  std::string_view languages;
  std::string_view licence;        ///< empty: not found
  std::string_view manifest = {};  ///< list in shared/manifests, without .tsv
  download_sizes megabytes = {};
  checked how = checked::nothing;
  std::string_view note = {};
};

std::span<const download> downloads();

/// For a terminal.
std::string downloads_text();
/// The tables of docs/downloads.md.
std::string downloads_markdown();

}  // namespace STENO_ABI
}  // namespace steno
