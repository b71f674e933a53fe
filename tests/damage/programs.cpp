// damage-programs LIST RESULTS: runs the commands of a list, each in a copy of this process, and writes how they ended.
//
// steno and steno-convert are linked in (their main() under other names): a sanitizer's start takes longer than most
// commands, and here it happens once for many.
// SPDX-License-Identifier: Apache-2.0
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
  std::size_t in_turn = 0;
  list >> limit.seconds >> in_turn;
  std::vector<std::vector<std::string>> commands;
  do commands.push_back(steno::damage::read_command(list));
  while (!commands.back().empty());
  commands.pop_back();
  const auto one = [&](std::size_t i) { return run(commands[i]); };
  for (const auto& e : steno::damage::run_copies(one, commands.size(), in_turn, limit))
    steno::damage::write_ending(results, e);
  return results.flush() ? 0 : 1;
} catch (const std::exception& e) {
  std::fprintf(stderr, "damage-programs: %s\n", e.what());
  return 1;
}
