// SPDX-License-Identifier: Apache-2.0
#include "model_path.hpp"

#include <steno/error.hpp>
#include <steno/weights/gguf.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "folder_entries.hpp"
#include "options.hpp"
#include "system.hpp"
#include "utf8_path.hpp"

namespace steno::app {
namespace fs = std::filesystem;

namespace {

constexpr const char* first_family = "sense-voice";

std::vector<demo_model> models_in(const fs::path& folder) {
  std::vector<demo_model> all;
  for (const fs::path& at : folder_entries(folder)) {
    if (at.extension() != ".gguf") continue;
    const std::string stem = at.stem().string();
    all.push_back({stem == "demo" ? first_family : stem, at.string()});
  }
  std::sort(all.begin(), all.end(), [](const demo_model& a, const demo_model& b) { return a.family < b.family; });
  return all;
}

model_task task_of(const std::string& path) {
  const std::string family = gguf_file(path).text("general.architecture").value_or("");
  if (family == "fsmn_vad") return model_task::finds_speech;
  if (family.starts_with("ct_transformer")) return model_task::punctuates;
  if (family == "qwen3_forced_aligner") return model_task::aligns;
  return family == "sortformer" ? model_task::tells_speakers : model_task::recognises;
}

}  // namespace

std::vector<demo_model> demo_models() {
  const fs::path program = utf8_path(system::own_program());
  std::vector<demo_model> all;
  if (!program.empty()) all = models_in(program.parent_path().parent_path() / "share" / "steno" / "models");
  return all.empty() ? models_in(utf8_path(STENO_DEMO_MODELS)) : all;
}

bool is_demo_model(const std::string& path) {
  const std::vector<demo_model> all = demo_models();
  const fs::path file = utf8_path(path);
  std::error_code none;
  return std::any_of(all.begin(), all.end(),
                     [&](const demo_model& m) { return fs::equivalent(utf8_path(m.path), file, none); });
}

bool is_demo_recording(const std::string& path) {
  std::error_code none;
  const fs::path file = utf8_path(path);
  return path != "-" && fs::equivalent(utf8_path(STENO_DEMO_AUDIO) / file.filename(), file, none);
}

std::string find_demo(const std::string& family, std::optional<model_task> task) {
  std::vector<demo_model> all = demo_models();
  std::erase_if(all, [&](const demo_model& m) { return task && task_of(m.path) != *task; });
  std::string found, names;
  int fitting = 0;
  for (const demo_model& m : all) {
    if (m.family == family) return m.path;
    if (m.family.size() > family.size() && m.family.ends_with(family) &&
        m.family[m.family.size() - family.size() - 1] == '-') {
      found = m.path;
      ++fitting;
    }
    names += names.empty() ? "" : ", ";
    names += m.family;
  }
  if (fitting == 1) return found;
  if (all.empty()) wrong_usage("--demo: no demonstration models are installed");
  std::string line = "no demonstration model ";
  line += family;
  line += " (there are ";
  line += names;
  wrong_usage(line + ")");
}

std::string find_demo(model_task task, const std::string& option) {
  for (const demo_model& m : demo_models())
    if (task_of(m.path) == task) return m.path;
  const char* const does = task == model_task::finds_speech ? "finds speech"
                           : task == model_task::punctuates ? "punctuates"
                           : task == model_task::aligns     ? "aligns"
                                                            : "tells speakers";
  wrong_usage(option + ": no bundled model " + does + "; name one (steno-convert --list shows published ones)");
}

std::string find_model(const std::string& named) {
  if (!named.empty()) return named;
  if (std::string set = system::variable("STENO_DEMO_MODEL"); !set.empty()) return set;
  for (const demo_model& m : demo_models())
    if (m.family == first_family) return m.path;
  fail({.what = "no model named and the demo model is not installed", .hint = "pass -m MODEL"});
}

}  // namespace steno::app
