// tools/convert/convert.cpp - see convert.hpp.
// SPDX-License-Identifier: Apache-2.0
#include "convert.hpp"

#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>

#include <algorithm>
#include <string_view>
#include <utility>

#include "content.hpp"
#include "families.hpp"
#include "foreign_files.hpp"
#include "gguf_import.hpp"
#include "huggingface.hpp"
#include "model_tensors.hpp"
#include "package.hpp"
#include "qwen/qwen3_asr.hpp"
#include "utf8_path.hpp"

namespace steno {
inline namespace STENO_ABI {

namespace fs = std::filesystem;

namespace {

// What a file of no known kind seems to be; empty when there is no telling.
std::string what_it_is(const fs::path& path) {
  if (is_torch_file(path)) return "a torch checkpoint without the files that describe it";
  if (path.extension() == ".safetensors") return "a safetensors file without the config.json that describes it";
  return "not a checkpoint steno knows";
}

std::string kinds() {
  std::string names = "a GGUF file";
  for (const checkpoint_kind& k : checkpoint_kinds()) names.append(", ").append(k.name);
  return names;
}

imported_model import_any(const fs::path& path, const import_options& options) {
  if (file_starts_with(path, weights::gguf_magic)) return import_gguf(gguf_file(path.string()), options);
  for (const checkpoint_kind& k : checkpoint_kinds())
    if (k.among_foreign && k.recognises(path)) return k.import(path, options);
  if (auto foreign = foreign_file(path)) fail(std::move(*foreign));
  for (const checkpoint_kind& k : checkpoint_kinds())
    if (k.recognises(path)) return k.import(path, options);
  if (const auto type = huggingface::model_type(path))
    fail({.where = path.string(),
          .what = "a Hugging Face folder of " + steno::weights::quoted(*type) + ", which is not supported",
          .expected = kinds()});
  if (fs::is_directory(path)) fail(foreign_folder(path, kinds()));
  const weights::mapped_file readable(path.string());  // says what the system has against the file
  fail({.where = path.string(), .what = what_it_is(path), .expected = kinds()});
}

// Errors of the system while looking at files are errors of the input, too; and what is said names the file.
template <class F>
auto guarded(const fs::path& path, F&& f) {
  try {
    return f();
  } catch (const tensors_differ&) {  // names its file, and has more to say than a message
    throw;
  } catch (const error& e) {
    core::fault named = e.parts();
    if (named.where.empty()) named.where = path.string();
    if (auto foreign = foreign_in_place_of(utf8_path(named.where))) fail(std::move(*foreign));
    fail(std::move(named));
  } catch (const fs::filesystem_error& e) {
    fail({.where = path.string(), .what = e.code().message()});
  } catch (const std::bad_alloc&) {
    fail({.where = path.string(), .what = "there is not enough memory"});
  }
}

void note_unused_tokenizer(const std::optional<fs::path>& tokenizer, bool taken, std::vector<std::string>& notes) {
  if (tokenizer && !taken) notes.push_back("--tokenizer is not used: the model has its own");
}
void note_unused_dictionary(const std::optional<fs::path>& words, bool taken, std::vector<std::string>& notes) {
  if (words && !taken) notes.push_back("--jieba-dict is not used: the model cuts no texts by it, or has it");
}

}  // namespace

imported_model import_checkpoint(const fs::path& input, const convert_options& options) {
  return guarded(input, [&] {
    if (options.longest_clip && !(*options.longest_clip >= 1 && *options.longest_clip <= 1200))
      fail({.where = input.string(), .what = "longest clip", .expected = "1 to 1200 seconds"});
    imported_model model = import_any(input, {.cmvn = options.cmvn,
                                              .tokenizer = options.tokenizer,
                                              .longest_clip = options.longest_clip,
                                              .jieba_dict = options.jieba_dict,
                                              .sample_rate = options.sample_rate});
    if (options.sample_rate && !model.file.has("silero_vad.frontend.sample_rate"))
      fail({.where = input.string(), .what = "--sample-rate is for Silero VAD"});
    if (options.longest_clip && !model.file.has(qwen_files::longest_clip_key))
      fail({.where = input.string(), .what = "--longest-clip is for Qwen3-ASR models"});
    note_unused_tokenizer(options.tokenizer, model.takes_tokenizer, model.notes);
    note_unused_dictionary(options.jieba_dict, model.takes_jieba_dict, model.notes);
    return model;
  });
}

std::vector<std::string> convert(const fs::path& input, const fs::path& output, const convert_options& options) {
  return guarded(input, [&] {
    imported_model model = import_checkpoint(input, options);
    add_tensors(model, {.type = options.type, .mix = options.mix, .exceptions = options.exceptions});
    model.file.write(output.string(), [&](std::uint64_t done, std::uint64_t total) {
      if (options.progress) options.progress(done, total);
    });
    return model.notes;
  });
}

opened_checkpoint open_checkpoint(const fs::path& input, weights::file_reading how,
                                  const std::optional<fs::path>& tokenizer, const std::optional<fs::path>& jieba_dict) {
  return guarded(input, [&]() -> opened_checkpoint {
    if (file_starts_with(input, weights::gguf_magic)) {
      gguf_file file(input.string(), how);
      std::vector<std::string> notes;
      note_unused_tokenizer(tokenizer, false, notes);
      note_unused_dictionary(jieba_dict, false, notes);
      if (is_packaged(file)) return {std::move(file), std::move(notes)};
    }
    imported_model model = import_any(input, {.tokenizer = tokenizer, .jieba_dict = jieba_dict});
    note_unused_tokenizer(tokenizer, model.takes_tokenizer, model.notes);
    note_unused_dictionary(jieba_dict, model.takes_jieba_dict, model.notes);
    std::vector<lent_tensors> lent;
    if (how == weights::file_reading::mapped)
      lent = add_changed_tensors(model);
    else  // a file that may be overwritten meanwhile lends nothing
      add_tensors(model, {});
    gguf_file file(weights::mapped_file(input.string(), static_cast<std::size_t>(model.file.size()),
                                        [&](std::span<std::byte> zeros) { model.file.fill(zeros); }));
    for (lent_tensors& l : lent) file.borrow(std::move(*l.file), l.tensors);
    return {std::move(file), std::move(model.notes)};
  });
}

}  // namespace STENO_ABI
}  // namespace steno
