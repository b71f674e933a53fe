// tools/convert/python_packages.hpp - where Python packages are installed on this machine, for files they bring.
//
// Environments are looked for where Python looks: PYTHONPATH, an active environment, the user's, the system's. Tested
// in tests/convert/whisper_tokenizer_test.cpp and ct_punc_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

/// Folders that hold packages, in the order in which Python would find them; they need not be there.
std::vector<std::filesystem::path> python_packages();

/// Of the environment; empty where it is not set.
std::string environment_variable(const char* name);
/// HOME, or where Windows has the user's folder; empty where neither is set.
std::string home_folder();
/// What lies in `at` and begins so, by name.
std::vector<std::filesystem::path> folders_in(const std::filesystem::path& at, std::string_view beginning);

}  // namespace STENO_ABI
}  // namespace steno
