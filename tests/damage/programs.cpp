// damage-programs LIST RESULTS: runs the commands of a list, each in a copy of this process, and writes how they ended.
//
// steno and steno-convert are linked in (their main() under other names): a sanitizer's start takes longer than most
// commands, and here it happens once for many.
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "damage/child.hpp"
#include "damage/wire.hpp"

int steno_main(int argc, char** argv);
int steno_convert_main(int argc, char** argv);

namespace {

int run(std::vector<std::string> command) {
  std::vector<char*> words;
  for (std::string& w : command) words.push_back(w.data());
  words.push_back(nullptr);
  const bool convert = command.at(0).ends_with("steno-convert");
  return (convert ? steno_convert_main : steno_main)(static_cast<int>(command.size()), words.data());
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: damage-programs LIST RESULTS");
  std::ifstream list(argv[1], std::ios::binary);
  std::ofstream results(argv[2], std::ios::binary);
  steno::damage::limits limit;
  list >> limit.seconds;
  for (;;) {
    const std::vector<std::string> command = steno::damage::read_command(list);
    if (command.empty()) break;
    steno::damage::write_ending(results, steno::damage::run_copy([&] { return run(command); }, limit));
  }
  return results.flush() ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "damage-programs: %s\n", e.what());
  return 1;
}
