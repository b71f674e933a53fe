#include "model_path.hpp"

#include <steno/error.hpp>

#include <cstdlib>
#include <filesystem>

namespace steno::app {
namespace fs = std::filesystem;

std::string find_model(const std::string& named) {
  if (!named.empty()) return named;
  if (const char* variable = std::getenv("STENO_DEMO_MODEL"); variable != nullptr && *variable != '\0') return variable;
  std::error_code failed;
  const fs::path program = fs::read_symlink("/proc/self/exe", failed);
  const fs::path installed = program.parent_path().parent_path() / "share" / "steno" / "models" / "demo.gguf";
  if (!failed && fs::is_regular_file(installed, failed)) return installed.string();
  if (fs::is_regular_file(STENO_DEMO_MODEL, failed)) return STENO_DEMO_MODEL;
  fail({.what = "no model named and the demo model is not installed", .hint = "pass -m MODEL"});
}

}  // namespace steno::app
