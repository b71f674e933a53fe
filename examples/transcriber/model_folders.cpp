// SPDX-License-Identifier: Apache-2.0
#include "model_folders.hpp"

#include <steno/error.hpp>
#include <steno/weights/gguf.hpp>

#include <algorithm>
#include <map>

#include "downloads.hpp"
#include "families.hpp"
#include "folder_entries.hpp"
#include "options.hpp"
#include "system.hpp"
#include "text_width.hpp"
#include "utf8_path.hpp"

namespace steno::app {
namespace fs = std::filesystem;
namespace {

fs::path home_path(const char* variable_name, const char* below_home) {
  if (const std::string set = system::variable(variable_name); !set.empty()) return utf8_path(set);
  const std::string home = system::home_folder();
  return home.empty() ? fs::path() : utf8_path(home) / below_home;
}

bool is_folder(const fs::path& path) {
  std::error_code none;
  return fs::is_directory(path, none);
}

std::string small_letters(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

// A file that may be a model by its ending, or a folder that holds one.
bool may_be_model(const fs::path& path) {
  if (!is_folder(path)) {
    const std::string ending = small_letters(path.extension().string());
    return ending == ".gguf" || ending == ".bin" || ending == ".pt" || ending == ".nemo" || ending == ".safetensors";
  }
  return std::any_of(checkpoint_kinds().begin(), checkpoint_kinds().end(), [&](const checkpoint_kind& kind) {
    try {
      return kind.recognises(path);
    } catch (const std::exception&) {  // no model that can be read
      return false;
    }
  });
}

std::string stem_of(const fs::path& path) { return is_folder(path) ? path.filename().string() : path.stem().string(); }

class gathering {
 public:
  // A folder of models.
  void plain(const std::string& place, const fs::path& folder) {
    if (folder.empty()) return;
    for (const fs::path& entry : folder_entries(folder))
      if (may_be_model(entry)) add(stem_of(entry), place, entry);
  }
  // models--ORG--NAME/snapshots/REVISION, of which refs/main is the usual one.
  void hugging_face(const fs::path& folder) {
    const std::string place = "Hugging Face's cache", front = "models--";
    for (const fs::path& repository : entries_of(folder)) {
      const std::string name = repository.filename().string();
      if (name.rfind(front, 0) != 0) continue;
      std::string spoken = name.substr(front.size());
      if (const std::size_t at = spoken.find("--"); at != std::string::npos) spoken.replace(at, 2, "/");
      const std::vector<fs::path> revisions = entries_of(repository / "snapshots");
      if (revisions.empty()) continue;
      fs::path revision = revisions.back();
      if (const auto main = read_line(repository / "refs" / "main"); !main.empty())
        for (const fs::path& r : revisions)
          if (r.filename().string() == main) revision = r;
      published(spoken, place, revision);
    }
  }
  // ORG/NAME, below hub/ or hub/models/.
  void model_scope(const fs::path& folder) {
    for (const fs::path& root : {folder, folder / "hub", folder / "models", folder / "hub" / "models"})
      for (const fs::path& maker : entries_of(root)) {
        const std::string name = maker.filename().string();
        if (!is_folder(maker) || name == "hub" || name == "models" || name[0] == '.' || name[0] == '_') continue;
        for (const fs::path& model : entries_of(maker))
          if (is_folder(model) && model.filename().string()[0] != '.')
            published(name + "/" + model.filename().string(), "ModelScope's cache", model);
      }
  }
  std::vector<model_here> all() && { return std::move(all_); }

 private:
  static std::vector<fs::path> entries_of(const fs::path& folder) {
    try {
      return folder.empty() ? std::vector<fs::path>() : folder_entries(folder);
    } catch (const error&) {  // another user's
      return {};
    }
  }
  static std::string read_line(const fs::path& path) {
    std::string line;
    if (std::FILE* const f = system::open_stream(path.string(), "rb")) {
      char text[256];
      if (std::fgets(text, sizeof text, f) != nullptr) line = text;
      std::fclose(f);
    }
    line.erase(std::min(line.find_first_of("\r\n"), line.size()));
    return line;
  }
  // A repository is a model, or holds files each of which is one.
  void published(const std::string& name, const std::string& place, const fs::path& folder) {
    if (may_be_model(folder)) {
      add(name, place, folder);
      return;
    }
    std::vector<fs::path> files;
    for (const fs::path& entry : entries_of(folder))
      if (!is_folder(entry) && may_be_model(entry)) files.push_back(entry);
    for (const fs::path& file : files)
      add(files.size() == 1 ? name : name + "/" + file.filename().string(), place, file);
  }
  void add(std::string name, const std::string& place, const fs::path& path) {
    all_.push_back({std::move(name), place, path});
  }

  std::vector<model_here> all_;
};

// What FunASR calls published models, and where they are.
constexpr std::pair<std::string_view, std::string_view> short_names[] = {
    {"paraformer", "iic/speech_paraformer-large-vad-punc_asr_nat-zh-cn-16k-common-vocab8404-pytorch"},
    {"paraformer-zh", "iic/speech_seaco_paraformer_large_asr_nat-zh-cn-16k-common-vocab8404-pytorch"},
    {"paraformer-en", "iic/speech_paraformer-large-vad-punc_asr_nat-en-16k-common-vocab10020"},
    {"paraformer-zh-streaming", "iic/speech_paraformer-large_asr_nat-zh-cn-16k-common-vocab8404-online"},
    {"fsmn-vad", "iic/speech_fsmn_vad_zh-cn-16k-common-pytorch"},
    {"ct-punc", "iic/punc_ct-transformer_cn-en-common-vocab471067-large"},
};

// Every name that somebody may mean by `name`, in small letters.
std::vector<std::string> spellings(const std::string& name) {
  const std::string n = small_letters(name);
  std::vector<std::string> all = {n, "whisper-" + n, "ggml-" + n, "openai/whisper-" + n};
  for (const auto& [called, published] : short_names)
    if (n == called) all.push_back(small_letters(std::string(published)));
  if (n == "turbo") all.insert(all.end(), {"whisper-large-v3-turbo", "large-v3-turbo", "ggml-large-v3-turbo"});
  if (n == "large") all.insert(all.end(), {"whisper-large-v3", "large-v3", "ggml-large-v3"});
  return all;
}

bool is_called(const std::string& its, const std::vector<std::string>& names) {
  const std::string whole = small_letters(its), last = whole.substr(whole.rfind('/') + 1);
  return std::any_of(names.begin(), names.end(), [&](const std::string& n) { return n == whole || n == last; });
}

// "openai/whisper-base" of "Hugging Face openai/whisper-base".
std::string repository_of(std::string_view from) { return std::string(from.substr(from.rfind(' ') + 1)); }

std::vector<const download*> published_as(const std::string& name) {
  const std::vector<std::string> names = spellings(name);
  std::vector<const download*> all;
  for (const download& d : downloads())
    if (is_called(repository_of(d.from), names) || (!d.also.empty() && is_called(repository_of(d.also), names)) ||
        is_called(std::string(d.name), names))
      all.push_back(&d);
  return all;
}

// The command that fetches what is there, by the tool of those who keep it.
std::string fetch_command(const download& d) {
  const std::string repository = repository_of(d.from);
  const bool folder = !d.input.empty() && d.input.back() == '/';
  std::string target(d.input);
  while (!target.empty() && target.back() == '/') target.pop_back();
  if (d.from.starts_with("Hugging Face"))
    return folder ? "hf download " + repository + " --local-dir " + target
                  : "hf download " + repository + " " + target + " --local-dir .";
  if (d.from.starts_with("ModelScope"))
    return folder ? "modelscope download " + repository + " --local_dir " + target
                  : "modelscope download " + repository + " " + target + " --local_dir .";
  return d.from.starts_with("GitHub") ? "git clone https://github.com/" + repository : "";
}

std::uint64_t size_of(const fs::path& path) {
  std::error_code none;
  if (!is_folder(path)) {
    const std::uintmax_t bytes = fs::file_size(path, none);
    return none ? 0 : bytes;
  }
  std::uint64_t all = 0;
  for (const fs::path& entry : folder_entries(path))
    if (!is_folder(entry)) all += size_of(entry);
  return all;
}

std::vector<std::string> listed_folders() {
  const std::string folders = system::variable("STENO_MODELS");
  std::vector<std::string> all;
  for (std::size_t at = 0; at < folders.size();) {
    const std::size_t end = std::min(folders.find(system::between_paths, at), folders.size());
    if (end > at) all.push_back(folders.substr(at, end - at));
    at = end + 1;
  }
  return all;
}

}  // namespace

std::vector<std::string> missing_folders() {
  std::vector<std::string> all = listed_folders();
  std::erase_if(all, [](const std::string& folder) { return is_folder(utf8_path(folder)); });
  return all;
}

std::vector<model_here> models_here(const std::string& more) {
  gathering g;
  if (!more.empty()) g.plain("--models", utf8_path(more));
  for (const std::string& folder : listed_folders()) g.plain("STENO_MODELS", utf8_path(folder));
  if (const fs::path data = home_path("XDG_DATA_HOME", ".local/share"); !data.empty())
    g.plain("the data directory", data / "steno" / "models");
  fs::path hub = utf8_path(system::variable("HF_HUB_CACHE"));
  if (hub.empty()) hub = home_path("HF_HOME", ".cache/huggingface") / "hub";
  g.hugging_face(hub);
  g.model_scope(home_path("MODELSCOPE_CACHE", ".cache/modelscope"));
  if (const fs::path cache = home_path("XDG_CACHE_HOME", ".cache"); !cache.empty())
    g.plain("openai-whisper's cache", cache / "whisper");
  return std::move(g).all();
}

model_kind kind_of(const fs::path& path) {
  model_kind kind;
  try {
    kind.bytes = size_of(path);
    for (const checkpoint_kind& each : checkpoint_kinds())
      if (each.recognises(path)) {
        kind.family = each.name;
        return kind;
      }
    const gguf_file file(path.string());
    kind.family = file.text("general.architecture").value_or("");
    std::map<std::string, std::uint64_t> bytes;
    for (std::size_t i = 0; i < file.size(); ++i)
      bytes[std::string(core::info(file.tensor(i).format).name)] += file.tensor(i).bytes.size();
    const auto most =
        std::max_element(bytes.begin(), bytes.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
    if (most != bytes.end()) kind.format = most->first;
  } catch (const std::exception&) {  // it is listed without a family, and -m says what is wrong
  }
  return kind;
}

std::string path_of_model(const std::string& named, const std::string& more, std::vector<std::string>& notes) {
  std::error_code none;
  if (named.empty() || fs::exists(utf8_path(named), none)) return named;
  const std::vector<std::string> names = spellings(named);
  const std::vector<model_here> all = models_here(more);
  // The name itself goes before what somebody may mean by it.
  for (const bool exact : {true, false}) {
    std::vector<const model_here*> found;
    for (const model_here& m : all) {
      if (!found.empty() && found.front()->place != m.place) break;
      if (exact ? small_letters(m.name) == names.front() : is_called(m.name, names)) found.push_back(&m);
    }
    if (found.empty()) continue;
    if (found.size() > 1) {
      std::string list;
      for (const model_here* m : found) list.append(list.empty() ? "" : ", ").append(m->path.string());
      wrong_usage("the model " + named + " may be one of several: " + list);
    }
    notes.push_back("the model " + named + " is " + found.front()->path.string());
    return found.front()->path.string();
  }
  return named;
}

std::string publication_hint(const std::string& name) {
  return published_as(name).empty() ? "" : "steno models --how " + name + " says where it is published";
}

std::string how_to_get(const std::string& name) {
  const std::vector<const download*> all = published_as(name);
  if (all.empty()) wrong_usage("models --how " + name + ": not known (steno-convert --list shows all models that are)");
  std::string out;
  for (const download* d : all) {
    out.append(out.empty() ? "" : "\n").append(d->name).append(" (").append(d->family).append(")\n");
    out.append("  published  ").append(d->from).append("\n");
    if (!d->also.empty()) out.append("  also       ").append(d->also).append("\n");
    out.append("  languages  ").append(d->languages).append("\n");
    out.append("  licence    ").append(d->licence.empty() ? "not known here: read it there" : d->licence).append("\n");
    if (d->input.empty()) {
      out += "  steno does not read it\n";
    } else {
      const std::string fetch = fetch_command(*d);
      if (!fetch.empty()) out.append("  fetch      ").append(fetch).append("\n");
      out.append("  convert    steno-convert ").append(d->input).append(" -o ").append(d->output);
      if (!d->options.empty()) out.append(" ").append(d->options);
      out += "\n";
    }
    if (!d->note.empty()) out.append("  note       ").append(d->note).append("\n");
  }
  return out;
}

}  // namespace steno::app
