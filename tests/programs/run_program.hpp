// Runs a program by the shell and keeps what it says.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "support/golden.hpp"

namespace steno::test {

struct outcome {
  int code = -1;
  std::string out, err;
};

/// `command` is shell text; its streams go to files in `dir`.
inline outcome shell(const temporary_directory& dir, const std::string& command) {
  const auto read = [&](const char* name) {
    std::ostringstream text;
    text << std::ifstream(dir.path() / name, std::ios::binary).rdbuf();
    return text.str();
  };
  const std::string whole = "cd '" + dir.path().string() + "' && { " + command + "; } >.out 2>.err";
  const int status = std::system(whole.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read(".out"), read(".err")};
}

}  // namespace steno::test
