// steno-trace: runs a model on an input and writes its named intermediate tensors as .npy (float32, C order).
//
// Stage names are those of the golden cases; see docs/models for each model's list and its --set keys.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/thread_pool.hpp>
#include <steno/error.hpp>
#include <steno/kernels/cpu.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "convert/command_line.hpp"
#include "convert/convert.hpp"
#include "convert/file_faults.hpp"
#include "convert/utf8_path.hpp"
#include "families.hpp"

namespace {

// By name.
std::vector<const steno::trace::family*> families() {
  std::vector<const steno::trace::family*> all;
  for (const auto* f = steno::trace::family::first; f != nullptr; f = f->next) all.push_back(f);
  std::sort(all.begin(), all.end(), [](const auto* a, const auto* b) { return a->architecture < b->architecture; });
  return all;
}

std::string settings_help() {
  std::string text = "KEY=VALUE: a variant";
  for (const steno::trace::family* f : families())
    text.append("; ").append(f->architecture).append(": ").append(f->settings);
  return text;
}

void limit_isa(const std::string& name) {
  using namespace steno::kernels;
  std::string known;
  for (const isa level : isa_levels) {
    if (!has_isa(level)) continue;
    if (name == name_of(level)) return limit_isa(level);
    known.append(known.empty() ? "" : ", ").append(name_of(level));
  }
  steno::fail({.what = "--isa", .expected = known, .found = steno::weights::quoted(name)});
}

void run(const std::string& model, steno::trace::job& j) {
  const std::string architecture = j.file.text("general.architecture").value_or("");
  std::string known;
  for (const steno::trace::family* f : families()) {
    if (f->architecture == architecture) return f->run(j);
    known.append(known.empty() ? "" : ", ").append(f->architecture);
  }
  steno::fail({.where = model, .what = "general.architecture", .expected = known, .found = architecture});
}

}  // namespace

int main(int argc, char** argv) {
  steno::explain_file_faults("steno-trace");
  const std::vector<std::string> words = steno::arguments_of(argc, argv);
  CLI::App app{"Writes a model's named intermediate tensors as .npy files."};
  app.allow_windows_style_options(false);  // "/" begins a path
  std::string model, input, out, only = "*";
  std::vector<std::string> pairs;
  app.add_option("-m,--model", model, "packaged GGUF or a checkpoint that steno-convert reads")->required();
  app.add_option("INPUT", input, "recording at the model's sample rate, mono (or what the model's page names)")
      ->required();
  app.add_option("-o,--output", out, "directory for the .npy files (made when missing)")->required();
  app.add_option("--set", pairs, settings_help());
  app.add_option("--only", only, "write only stages whose names match this glob");
  std::string tokenizer;
  app.add_option("--tokenizer", tokenizer,
                 "tokenizer of openai's Whisper .pt files, which have none [where it usually is]");
  std::string jieba_dict;
  app.add_option("--jieba-dict", jieba_dict, "jieba's dict.txt, as steno-convert takes it");
  int threads = 1;
  app.add_option("--threads", threads, "threads, at most one per processor; stages are the same with any number [1]")
      ->check(CLI::Range(1, 1024));
  std::string isa;
  app.add_option("--isa", isa, "use no better instruction set than this one [this processor's best]");
  steno::trace::settings set;
  try {
    std::vector<const char*> arguments;
    for (const std::string& word : words) arguments.push_back(word.c_str());
    app.parse(static_cast<int>(arguments.size()), arguments.data());
    for (const std::string& p : pairs) set.add(p);
    if (!isa.empty()) limit_isa(isa);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  } catch (const steno::error& e) {
    std::fprintf(stderr, "steno-trace: %s\n", e.what());
    return 2;
  }
  try {
    const std::filesystem::path folder = steno::utf8_path(out);
    std::filesystem::create_directories(folder);
    threads = std::min(threads, static_cast<int>(std::max(1u, std::thread::hardware_concurrency())));
    std::optional<steno::thread_pool> pool;
    if (threads > 1) pool.emplace(threads);
    const auto named = [](const std::string& path) {
      return path.empty() ? std::nullopt : std::optional(steno::utf8_path(path));
    };
    steno::opened_checkpoint opened = steno::open_checkpoint(
        steno::utf8_path(model), steno::weights::file_reading::mapped, named(tokenizer), named(jieba_dict));
    for (const std::string& note : opened.notes)
      std::fprintf(stderr, "steno-trace: note: %s\n", steno::core::printable(note).c_str());
    steno::trace::job j{.file = std::move(opened.file),
                        .input = input,
                        .set = std::move(set),
                        .out = folder,
                        .only = only,
                        .run = pool ? steno::executor(*pool) : steno::executor()};
    run(model, j);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "steno-trace: %s\n", e.what());
    return 1;
  }
}
