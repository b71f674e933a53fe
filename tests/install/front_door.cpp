// The user of the compiled front door: a file that is no model is refused by name, and the version stands on stdout.
// SPDX-License-Identifier: Apache-2.0
#include <steno/pipelines/transcriber.hpp>

#include <cstdio>
#include <string_view>

int main(int, char** argv) {
  try {
    const steno::transcriber model(argv[0]);  // a program is no model
  } catch (const steno::error& e) {
    if (std::string_view(e.what()).find(argv[0]) == std::string_view::npos) return 1;
    std::printf("steno %d.%d.%d\n", steno::version.major, steno::version.minor, steno::version.patch);
    return 0;
  }
  return 1;
}
