// SPDX-License-Identifier: Apache-2.0
#include "output_place.hpp"

#include <steno/error.hpp>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "model_path.hpp"
#include "system.hpp"
#include "utf8_path.hpp"

namespace steno::app {
namespace fs = std::filesystem;

read_files::read_files(const options& o, const std::vector<input>& inputs) {
  if (o.verb == "transcribe" && o.model.empty())
    for (const demo_model& m : demo_models()) add(m.path, "model");
  add(o.model, "model");
  add(o.vad, "detector");
  add(o.punctuation, "punctuation model");
  add(o.itn_rules, "rules");
  add(o.aligner, "aligner");
  add(o.hotwords, "list of hotwords");
  add(o.lm, "language model");
  add(o.speakers.model, "model of speakers");
  add(o.speakers.names, "list of speakers' names");
  add(o.manifest, "manifest");
  add(o.text_file, "text");
  add(o.speakers.postprocessing, "file of settings");
  for (const input& in : inputs) add(in.audio, "input");
}

void read_files::add(const std::string& path, const std::string& what) {
  if (path.empty() || path == "-") return;
  if (const auto file = system::identity_of(path)) files_.emplace(*file, what + " " + path);
}

void read_files::refuse(const std::string& output) const {
  std::error_code none;
  const auto file = system::identity_of(output);
  if (!file || !fs::is_regular_file(utf8_path(output), none)) return;
  const auto would = [&](const std::string& what) {
    wrong_usage("the output " + output + " would overwrite the " + what);
  };
  if (const auto same = files_.find(*file); same != files_.end()) would(same->second);
  const fs::path target = file_behind_links(utf8_path(output));
  if (target.empty()) return;
  const auto folder = system::identity_of(target.has_parent_path() ? target.parent_path().string() : ".");
  if (!folder) return;
  if (const auto in = files_.find(*folder); in != files_.end()) would(in->second);
}

output_place::output_place(const std::string& path, read_files reads, screen& on)
    : reads_(std::move(reads)), screen_(&on) {
  if (path.empty() || path == "-" || path == "/dev/stdout") return;
  std::error_code failed;
  if (system::ends_as_folder(path) || fs::is_directory(utf8_path(path), failed)) {
    folder_ = path;
    fs::create_directories(utf8_path(folder_), failed);
    if (failed) fail({.where = folder_, .what = "cannot make the directory: " + failed.message()});
    return;
  }
  reads_.refuse(path);
  file_ = std::make_unique<output_file>(path);
}

output_place output_place::beside(read_files reads, screen& on) { return {std::move(reads), on}; }

void output_place::begin(const input& from, std::string_view extension) {
  if (!one_file_each()) return;
  finish();
  if (!from.folder.empty() && !beside_) {
    const fs::path folder = utf8_path(folder_, from.folder);
    std::error_code failed;
    fs::create_directories(folder, failed);
    if (failed) fail({.where = folder.string(), .what = "cannot make the directory: " + failed.message()});
  }
  const std::string name = beside_ ? from.audio : utf8_path(folder_, place_of(from)).string();
  const std::string path = name + std::string(extension);
  reads_.refuse(path);
  file_ = std::make_unique<output_file>(path);
}

void output_place::put(std::string_view text) {
  if (file_) {
    file_->put(text, *screen_);
    return;
  }
  if (!screen_->put(stdout, text))
    fail({.where = "standard output",
          .what = errno == EBADF ? "is closed" : std::string("cannot write: ") + std::strerror(errno)});
}

void output_place::drop() {
  if (file_) file_->drop();
}

void output_place::finish() {
  if (file_) file_->commit();
}

}  // namespace steno::app
