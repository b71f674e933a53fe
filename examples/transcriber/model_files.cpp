// SPDX-License-Identifier: Apache-2.0
#include "model_files.hpp"

#include <steno/error.hpp>
#include <steno/models/load.hpp>

#include <filesystem>
#include <optional>

#include "model_cache.hpp"
#include "model_folders.hpp"
#include "utf8_path.hpp"

namespace steno::app {
namespace {

model_file_use chosen;  // by the command line, before anything is opened
std::string opened_so_far;

}  // namespace

void use_model_files(const model_file_use& how) { chosen = how; }

opened_checkpoint open_model_file(const std::string& path) {
  std::error_code none;
  const std::filesystem::path file = utf8_path(path);
  const bool name = !file.has_parent_path() && file.extension().empty();
  if (const std::string hint = publication_hint(path); (name || !hint.empty()) && !std::filesystem::exists(file, none))
    fail({.where = path,
          .what = "no such file, and no model of this name is here",
          .hint = "steno models lists those that are" + (hint.empty() ? "" : "; " + hint)});
  std::optional<std::filesystem::path> tokenizer;
  if (!chosen.tokenizer.empty() && path == chosen.model) tokenizer = utf8_path(chosen.tokenizer);
  const auto how = chosen.copied ? weights::file_reading::copied : weights::file_reading::mapped;
  std::optional<cached_model> copy;
  if (chosen.cached) copy = cached_copy(file, tokenizer);
  opened_checkpoint opened = copy ? open_checkpoint(copy->path, how) : open_checkpoint(file, how, tokenizer);
  if (copy) opened.notes.insert(opened.notes.begin(), copy->notes.begin(), copy->notes.end());
  if (chosen.checked) models::check_weights(opened.file);
  if (!opened_so_far.empty()) opened_so_far += ", ";
  opened_so_far += path;
  return opened;
}

std::string opened_model_files() { return opened_so_far; }

}  // namespace steno::app
