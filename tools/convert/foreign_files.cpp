// tools/convert/foreign_files.cpp - see foreign_files.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "foreign_files.hpp"

#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "folder_entries.hpp"
#include "json_text.hpp"
#include "utf8_path.hpp"

namespace steno {
inline namespace STENO_ABI {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t head_bytes = 4096, tail_bytes = 65536, entries_looked_at = 4096;

// A name in small letters, and the first and last bytes of a file (of an entry of a folder none): a zip archive lists
// what it holds at its end.
struct sight {
  std::string name;
  std::string_view head = {}, tail = {};
  bool holds(std::string_view text) const {
    return head.find(text) != std::string_view::npos || tail.find(text) != std::string_view::npos;
  }
};

bool ends_in(std::string_view name, std::initializer_list<std::string_view> endings) {
  return std::any_of(endings.begin(), endings.end(), [&](std::string_view e) { return name.ends_with(e); });
}
bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
bool begins(std::string_view head, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view b) { return head.starts_with(b); });
}

// --- the kinds -------------------------------------------------------------------------------------------------------

bool is_unfinished(const sight& s) {
  return ends_in(s.name, {".incomplete", ".part", ".partial", ".crdownload", ".download", ".aria2"});
}
bool is_page(const sight& s) {
  const std::size_t at = s.head.find_first_not_of(" \t\r\n\xef\xbb\xbf");
  if (at == std::string_view::npos) return false;
  std::string start(s.head.substr(at, 16));
  std::transform(start.begin(), start.end(), start.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return begins(start, {"<!doctype html", "<html", "<head", "<body"});
}
bool is_answer(const sight& s) {
  return begins(s.head, {"{\"error\"", "{\"message\"", "Entry not found", "Repository not found", "Not Found",
                         "Invalid username or password", "Access to model"}) ||
         (s.head.starts_with("<?xml") && s.head.find("<Error>") != std::string_view::npos);
}
bool is_lfs_pointer(const sight& s) { return s.head.starts_with("version https://git-lfs"); }
bool is_sound(const sight& s) {
  return begins(s.head, {"fLaC", "OggS", "ID3"}) ||
         (s.head.starts_with("RIFF") && s.head.substr(std::min<std::size_t>(8, s.head.size()), 4) == "WAVE");
}
bool is_packed(const sight& s) {
  using namespace std::string_view_literals;
  if (s.name.ends_with(".nemo")) return false;  // read as it is
  return begins(s.head, {"\x1f\x8b"sv, "7z\xbc\xaf\x27\x1c"sv, "Rar!"sv, "BZh"sv,
                         "\xfd"
                         "7zXZ"sv,
                         "\x28\xb5\x2f\xfd"sv}) ||
         ends_in(s.name, {".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".7z", ".rar", ".zst"});
}
bool is_onnx(const sight& s) {
  return ends_in(s.name, {".onnx", ".ort", ".onnx_data", ".onnx.data"}) ||
         s.head.substr(std::min<std::size_t>(4, s.head.size()), 4) == "ORTM";
}
bool is_tensorrt(const sight& s) { return ends_in(s.name, {".engine", ".plan", ".trt"}); }
bool is_openvino(const sight& s) {
  return (s.name.starts_with("openvino_") && ends_in(s.name, {".xml", ".bin"})) ||
         (s.head.starts_with("<?xml") && s.head.find("<net ") != std::string_view::npos);
}
bool is_core_ml(const sight& s) { return ends_in(s.name, {".mlmodel", ".mlmodelc", ".mlpackage"}); }
bool is_tensorflow(const sight& s) {
  return ends_in(s.name, {".h5", ".pb", ".tflite", ".keras"}) || s.head.starts_with("\x89HDF\r\n") ||
         s.head.substr(std::min<std::size_t>(4, s.head.size()), 4) == "TFL3";
}
bool is_kenlm(const sight& s) { return s.head.starts_with("mmap lm http://kheafield.com/code"); }
bool is_flax(const sight& s) { return s.name.ends_with(".msgpack"); }
bool is_ncnn(const sight& s) { return ends_in(s.name, {".param", ".ncnn.bin"}); }
bool is_other_runtime(const sight& s) { return ends_in(s.name, {".mnn", ".rknn", ".pte", ".dlc", ".om", ".axmodel"}); }
bool is_torch_script(const sight& s) {
  return s.head.starts_with("PK") && (s.holds("/code/") || s.holds("/constants.pkl"));
}
bool is_adapter(const sight& s) {
  return is_one_of(s.name, {"adapter_config.json", "adapter_model.safetensors", "adapter_model.bin"});
}
bool is_training_state(const sight& s) {
  return is_one_of(s.name, {"optimizer.pt", "optimizer.bin", "scheduler.pt", "scheduler.bin", "scaler.pt",
                            "training_args.bin", "trainer_state.json"}) ||
         (s.name.starts_with("rng_state") && s.name.ends_with(".pth"));
}
bool is_lightning(const sight& s) {
  return begins(s.head, {"PK", "\x80"}) && s.head.find("pytorch-lightning_version") != std::string_view::npos;
}
// A zip file that is neither torch's nor numpy's.
bool is_zip(const sight& s) {
  return s.head.starts_with("PK") && !s.holds("data.pkl") && !s.holds("/data/") && !s.holds(".npy");
}
bool is_token_list(const sight& s) { return is_one_of(s.name, {"tokens.txt", "units.txt", "vocab.txt"}); }

struct foreign_kind {
  bool (*is)(const sight&);
  const char* what;  // "is ..."
  const char* why;   // empty: that says it
  const char* hint;
  enum class place { anywhere, alone, inside } where = place::inside;
};
// Of a file that is named and by the names of a folder's entries; of a named file alone; and in place of any
// file of a checkpoint, too.
constexpr auto named_alone = foreign_kind::place::alone, anywhere = foreign_kind::place::anywhere;

constexpr const char* take_source =
    "take what it was made of: the PyTorch, safetensors or .nemo files of the same model";

constexpr foreign_kind kinds_of_files[] = {
    {is_lfs_pointer, "a git-LFS pointer, not the file itself", "", "run git lfs pull", anywhere},
    {is_unfinished, "a download that has not ended", "", "let it end, or start it again", anywhere},
    {is_page, "a web page, not a model", "", "the address led to a login or an error: download the file itself",
     anywhere},
    {is_answer, "an error message of the server that it was downloaded from", "",
     "look at it with a text editor; the model may need a login or have another address", anywhere},
    {is_sound, "a recording, not a model", "", "name the model with -m"},
    {is_adapter, "a PEFT adapter: changes to another model", "", ""},  // its hint names that model
    {is_onnx, "an ONNX model", "steno runs no graphs of other runtimes", take_source},
    {is_tensorrt, "a TensorRT engine", "it is for one kind of GPU", take_source},
    {is_openvino, "an OpenVINO model", "steno runs no graphs of other runtimes", take_source},
    {is_core_ml, "a Core ML model", "steno runs no graphs of other runtimes", take_source},
    {is_tensorflow, "a TensorFlow model", "steno does not read its files", take_source},
    {is_kenlm, "a binary file of KenLM", "steno reads no memory images",
     "take the ARPA file that it was made of (build_binary's input)"},
    {is_flax, "a Flax model", "steno does not read its files", take_source},
    {is_ncnn, "an ncnn model", "steno runs no graphs of other runtimes", take_source},
    {is_other_runtime, "a model for another runtime", "steno runs no graphs of other runtimes", take_source},
    {is_torch_script, "a TorchScript archive", "code and weights together, which steno does not run",
     "take the checkpoint that it was exported from (WeNet: final.pt with train.yaml and units.txt; of Silero VAD the "
     "ONNX file beside it)"},
    {is_training_state, "what a trainer leaves to go on from, not a model", "",
     "name the folder or the file with the weights"},
    {is_lightning, "a PyTorch Lightning checkpoint", "with a trainer's state, without the model's settings",
     "export the model (NeMo: model.save_to(\"model.nemo\")) and take that"},
    {is_packed, "an archive that is still packed", "", "unpack it and name the folder or the model in it"},
    {is_zip, "an archive that is still packed", "", "unpack it and name the folder or the model in it", named_alone},
    {is_token_list, "a list of tokens, not a model", "", "name the folder or the file with the weights", named_alone},
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

// --- adapters --------------------------------------------------------------------------------------------------------

std::string merge_command(const fs::path& folder) {
  std::string base = "BASE MODEL";
  try {
    const nlohmann::json j = read_json_object(folder / "adapter_config.json");
    if (const auto name = j.find("base_model_name_or_path"); name != j.end() && name->is_string()) {
      const auto text = name->get<std::string>();
      const bool plain = text.size() < 200 && text.find_first_of("'\"\\\n\r") == std::string::npos;
      if (plain && !text.empty()) base = text;
    }
  } catch (const error&) {
    // The command is the same.
  }
  return "merge them first: python -c \"from peft import PeftModel as P; from transformers import "
         "AutoModelForSpeechSeq2Seq as M; P.from_pretrained(M.from_pretrained('" +
         base + "'), '" + folder.generic_string() + "').merge_and_unload().save_pretrained('merged')\"";
}

core::fault fault_of(const foreign_kind& k, const fs::path& path, const std::string& what) {
  core::fault f{.where = path.string(), .what = what};
  if (*k.why != '\0') f.what.append(": ").append(k.why);
  f.hint = k.is == is_adapter ? merge_command(folder_of(path)) : k.hint;
  return f;
}

// --- folders ---------------------------------------------------------------------------------------------------------

struct folder_entry {
  fs::path path;
  std::string name;
  bool folder = false;
};

std::vector<folder_entry> entries_of(const fs::path& folder) {
  std::vector<folder_entry> all;
  for (const fs::path& path : folder_entries(folder)) {
    if (all.size() == entries_looked_at) break;
    std::error_code none;
    all.push_back({path, lower(path.filename().string()), fs::is_directory(path, none)});
  }
  return all;
}

std::string listed(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < 4; ++i)
    text.append(text.empty() ? "" : ", ").append(steno::weights::quoted(names[i]));
  return names.size() > 4 ? text.append(", ...") : text;
}

// A file that is a model by itself, by its name.
bool is_model_file(const folder_entry& e) {
  return !e.folder && (ends_in(e.name, {".gguf", ".nemo", ".pt", ".pth", ".ckpt", ".safetensors"}) ||
                       (e.name.starts_with("ggml-") && e.name.ends_with(".bin")));
}
bool is_model_folder(const fs::path& folder) {
  std::error_code none;
  for (const char* name : {"config.json", "config.yaml", "configuration.json", "train.yaml", "adapter_config.json"})
    if (fs::exists(folder / name, none)) return true;
  return false;
}

// Models in the folders of `folder`; of a cache of Hugging Face in snapshots/COMMIT.
std::vector<std::string> models_below(const fs::path& folder, const std::vector<folder_entry>& entries) {
  std::vector<std::string> found;
  for (const folder_entry& e : entries) {
    if (!e.folder || e.name.starts_with(".")) continue;
    if (is_model_folder(e.path)) found.push_back(e.path.filename().string());
    for (const folder_entry& inner : entries_of(e.path / "snapshots"))
      if (inner.folder && is_model_folder(inner.path)) found.push_back(inner.path.lexically_relative(folder).string());
    if (e.name == "snapshots")
      for (const folder_entry& inner : entries_of(e.path))
        if (inner.folder && is_model_folder(inner.path))
          found.push_back(inner.path.lexically_relative(folder).string());
    if (found.size() > 8) break;
  }
  return found;
}

// The first kind of which the folder has an entry (graphs lie in folders of their own, too), and the entry.
std::optional<core::fault> kind_within(const fs::path& folder, const std::vector<folder_entry>& entries) {
  for (const foreign_kind& k : kinds_of_files) {
    if (k.where == named_alone) continue;
    const auto look = [&](const std::vector<folder_entry>& all) -> std::optional<core::fault> {
      for (const folder_entry& e : all)
        if (k.is({e.name, {}}))
          return fault_of(k, folder,
                          "holds " + std::string(k.what) + " (" +
                              steno::weights::quoted(e.path.lexically_relative(folder).string()) + ")");
      return std::nullopt;
    };
    if (auto found = look(entries)) return found;
    for (const folder_entry& e : entries)
      if (e.folder && is_one_of(e.name, {"onnx", "openvino", "tensorrt", "encoder", "decoder"}))
        if (auto found = look(entries_of(e.path))) return found;
    if (auto found = look(entries_of(folder / ".cache/huggingface/download"))) return found;
  }
  return std::nullopt;
}

}  // namespace

namespace {

std::optional<core::fault> find_kind(const fs::path& file, bool any) {
  std::error_code none;
  if (!fs::is_regular_file(file, none)) return std::nullopt;
  std::string head(head_bytes, '\0'), tail(tail_bytes, '\0');
  std::ifstream in(file, std::ios::binary);
  const auto read = [&](std::string& into) {
    in.read(into.data(), static_cast<std::streamsize>(into.size()));
    into.resize(static_cast<std::size_t>(in.gcount()));
    in.clear();
  };
  read(head);
  const auto size = fs::file_size(file, none);
  if (!none && size > head_bytes) {
    in.seekg(static_cast<std::streamoff>(size > tail_bytes ? size - tail_bytes : 0));
    read(tail);
  } else {
    tail.clear();
  }
  const sight s{lower(file.filename().string()), head, tail};
  for (const foreign_kind& k : kinds_of_files)
    if ((any || k.where == anywhere) && k.is(s)) return fault_of(k, file, k.what);
  return std::nullopt;
}

}  // namespace

std::optional<core::fault> foreign_file(const fs::path& file) { return find_kind(file, true); }

std::optional<core::fault> foreign_in_place_of(const fs::path& file) { return find_kind(file, false); }

core::fault foreign_folder(const fs::path& folder, const std::string& expected) {
  const std::vector<folder_entry> entries = entries_of(folder);
  core::fault f{.where = folder.string(), .what = "not a checkpoint folder", .expected = expected};
  if (entries.empty()) {
    f.found = "an empty folder";
    return f;
  }
  std::vector<std::string> models, below = models_below(folder, entries);
  for (const folder_entry& e : entries)
    if (is_model_file(e) && !foreign_file(e.path)) models.push_back(e.path.filename().string());
  const std::vector<std::string>& several = models.empty() ? below : models;
  if (several.size() > 1) {
    f.what = "holds several models";
    f.expected.clear();
    f.found = listed(several);
    f.hint = "name one of them";
    return f;
  }
  if (several.size() == 1) {
    const bool whole = models.empty() || ends_in(lower(several[0]), {".gguf", ".nemo", ".bin"});
    f.found = steno::weights::quoted(several[0]);
    if (!whole) f.found += " without the files that describe it";
    f.hint = "name it: " + (folder / utf8_path(several[0])).string();
    return f;
  }
  if (auto known = kind_within(folder, entries)) return *known;
  std::vector<std::string> names;
  for (const folder_entry& e : entries) names.push_back(e.path.filename().string());
  f.found = listed(names);
  return f;
}

core::fault without_weights(const fs::path& folder, const std::string& expected) {
  const std::vector<folder_entry> entries = entries_of(folder);
  core::fault f{.where = folder.string(), .what = "the weights are missing", .expected = expected};
  std::vector<std::string> models;
  for (const folder_entry& e : entries)
    if (is_model_file(e) && !foreign_file(e.path)) models.push_back(e.path.filename().string());
  if (!models.empty()) {
    f.found = listed(models);
    f.hint = "name the file: " + (folder / utf8_path(models[0])).string();
    return f;
  }
  for (const folder_entry& e : entries)
    if (!e.folder && ends_in(e.name, {".zip", ".pt", ".bin", ".safetensors"}))
      if (const auto known = foreign_file(e.path)) {
        f.found = steno::weights::quoted(e.path.filename().string()).append(", ").append(known->what);
        f.hint = known->hint;
        return f;
      }
  if (const auto known = kind_within(folder, entries)) {
    f.what += ": it " + known->what;
    f.hint = known->hint;
  }
  return f;
}

}  // namespace STENO_ABI
}  // namespace steno
