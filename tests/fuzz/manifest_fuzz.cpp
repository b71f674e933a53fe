// A manifest of each kind, which the first byte chooses: any bytes are refused with steno::error, or give paths, names
// that stay in the directory of results, and parts that make sense.
//
// Of the transcriber: manifest.cpp text_width.cpp
// SPDX-License-Identifier: Apache-2.0
#include "manifest.hpp"

#include <cstdint>
#include <set>

#include "fuzz.hpp"

using namespace steno_fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace app = steno::app;
  static const scratch_folder folder;
  if (size == 0) return 0;
  const char* const names[] = {"list.jsonl", "wav.scp", "list.txt"};
  const char* const name = names[data[0] % 3];
  folder.write(name, text_of(data + 1, size - 1));
  const std::string path = (folder.path() / name).string();
  read_or_refuse([&] {
    const app::manifest read = app::read_manifest(path);
    require(!read.entries.empty() && read.entries.size() <= size);
    std::set<std::string> ids;
    for (const app::manifest_entry& e : read.entries) {
      require(!e.audio.empty() && e.audio != "-");
      require(e.name.find('/') == std::string::npos && e.name != "." && e.name != "..");
      require(name != names[1] || (!e.name.empty() && ids.insert(e.name).second));
      require(e.part.offset >= 0 && e.part.duration.value_or(1) > 0 && e.seconds < 1e10);
    }
    for (const std::string& note : read.notes) require(note.find('\n') == std::string::npos);
  });
  return 0;
}
