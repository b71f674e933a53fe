// tools/convert/convert.cpp - see convert.hpp.
#include "convert.hpp"

#include <steno/error.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include "funasr/folder.hpp"
#include "funasr/sense_voice.hpp"
#include "gguf_import.hpp"
#include "package.hpp"

namespace steno::inline STENO_ABI {

namespace fs = std::filesystem;

namespace {

imported_model import_folder(const fs::path& root, const std::optional<fs::path>& weights,
                             const std::optional<fs::path>& cmvn) {
  const funasr::folder f = funasr::open_folder(root, weights);
  const std::string model = f.text("model", "");
  if (model == "SenseVoiceSmall") return funasr::import_sense_voice(f, cmvn);
  fail({.where = f.config.string(),
        .what = model.empty() ? "names no model" : "model " + steno::quoted(model) + " is not supported yet",
        .expected = "SenseVoiceSmall"});
}

// What a folder that is not FunASR's seems to be.
std::string looks_like(const fs::path& root) {
  struct sign {
    std::string_view ending, meaning;
  };
  constexpr sign signs[] = {{".gguf", "GGUF files (name one of them)"},
                            {".safetensors", "a safetensors folder, which is not supported yet"},
                            {"train.yaml", "a WeNet folder, which is not supported yet"},
                            {".nemo", "a .nemo archive, which is not supported yet"},
                            {".pt", "weights without config.yaml"}};
  for (const sign& s : signs)
    for (const fs::directory_entry& e : fs::directory_iterator(root))
      if (e.path().filename().string().ends_with(s.ending)) return std::string(s.meaning);
  std::string names;
  int listed = 0;
  for (const fs::directory_entry& e : fs::directory_iterator(root)) {
    if (++listed > 5) return names.append(", ...");
    names.append(names.empty() ? "" : ", ").append(e.path().filename().string());
  }
  return names.empty() ? "an empty folder" : names;
}

bool starts_with(std::span<const std::byte> bytes, std::string_view text) {
  return bytes.size() >= text.size() &&
         std::string_view(reinterpret_cast<const char*>(bytes.data()), text.size()) == text;
}

imported_model import_file(const fs::path& path, const std::optional<fs::path>& cmvn) {
  const fs::path root = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string extension = path.extension().string();
  if (extension == ".yaml" || extension == ".json") return import_folder(root, {}, cmvn);
  std::string_view other;
  {
    const mapped_file file(path.string());
    const auto bytes = file.bytes();
    if (starts_with(bytes, "PK") || starts_with(bytes, "\x80")) {
      if (funasr::is_folder(root)) return import_folder(root, path, cmvn);
      fail({.where = path.string(),
            .what = "a torch checkpoint without the files that describe it",
            .expected = "config.yaml beside it, as FunASR publishes it"});
    }
    if (starts_with(bytes, "lmgg")) other = "a ggml file of whisper.cpp";
    if (extension == ".nemo") other = "a .nemo archive";
    if (extension == ".safetensors") other = "a safetensors file";
  }
  if (!other.empty()) fail({.where = path.string(), .what = std::string(other) + " is not supported yet"});
  fail({.where = path.string(),
        .what = "not a checkpoint steno knows",
        .expected = "a GGUF file, or a FunASR folder or its model.pt"});
}

bool is_gguf(const fs::path& path) {
  if (!fs::is_regular_file(path)) return false;
  return starts_with(mapped_file(path.string()).bytes(), gguf_magic);
}

imported_model import_checkpoint(const fs::path& path, const std::optional<fs::path>& cmvn) {
  if (is_gguf(path)) return import_gguf(gguf_file(path.string()), cmvn);
  if (!fs::is_directory(path)) return import_file(path, cmvn);
  if (funasr::is_folder(path)) return import_folder(path, {}, cmvn);
  fail({.where = path.string(),
        .what = "not a checkpoint folder",
        .expected = "config.yaml or configuration.json, as FunASR publishes it",
        .found = looks_like(path)});
}

// Errors of the system while looking at files are errors of the input, too.
template <class F>
auto guarded(const fs::path& path, F&& f) {
  try {
    return f();
  } catch (const fs::filesystem_error& e) {
    fail({.where = path.string(), .what = e.code().message()});
  } catch (const std::bad_alloc&) {
    fail({.where = path.string(), .what = "there is not enough memory"});
  }
}

}  // namespace

std::vector<std::string> convert(const fs::path& input, const fs::path& output, const convert_options& options) {
  return guarded(input, [&] {
    imported_model model = import_checkpoint(input, options.cmvn);
    add_tensors(model, options.type);
    model.file.write(output.string(), [&](std::uint64_t done, std::uint64_t total) {
      if (options.progress) options.progress(done, total);
    });
    return model.notes;
  });
}

opened_checkpoint open_checkpoint(const fs::path& input) {
  return guarded(input, [&]() -> opened_checkpoint {
    if (is_gguf(input)) {
      gguf_file file(input.string());
      if (is_packaged(file)) return {{}, std::move(file), {}};
    }
    imported_model model = import_checkpoint(input, {});
    add_tensors(model, {});
    std::vector<std::byte> image = model.file.bytes();
    gguf_file file(input.string(), image);
    return {std::move(image), std::move(file), std::move(model.notes)};
  });
}

}  // namespace steno::inline STENO_ABI
