// tools/convert/silero/ggml.cpp - Silero VAD as whisper.cpp has it, in the container ggml had before GGUF; see
// silero.hpp.
//
//   u32 magic "lmgg"; i32 length, bytes "silero-16k"; i32 major, minor, patch; i32 window, context
//   i32 layers, then for each of them i32 channels in, channels out, taps
//   i32 LSTM inputs, outputs; i32 inputs and outputs of the last convolution
//   the tensors, as in ggml_file.hpp
//
// whisper.cpp reads `context` and does without it: it mirrors the beginning of each window where the original has the
// samples before. And ggml's convolutions round what they read to halves. A model of such a file computes the same.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>
#include <steno/weights/mapped_file.hpp>

#include "content.hpp"
#include "ggml_file.hpp"
#include "limits.hpp"
#include "silero/silero.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace silero_files {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view type_start = "silero-";

settings read_header(weights::byte_cursor& at, checkpoint_tensors& from) {
  const auto size = [&](const char* what, std::int32_t max) { return ggml_size(at, what, 1, max); };
  const auto equal = [&](const char* what, std::uint32_t wanted) {
    const std::uint32_t found = size(what, limits::width);
    if (found != wanted) at.stop(what, std::to_string(wanted), std::to_string(found));
    return found;
  };
  at.take(4, "the magic number");
  const auto type = at.take(size("length of the model's type", 64), "the model's type");
  const std::string name(reinterpret_cast<const char*>(type.data()), type.size());
  settings s;
  if (name == "silero-8k")
    s.sample_rate = 8000;
  else if (name != "silero-16k")
    at.stop("the model's type", "silero-16k or silero-8k", weights::quoted(name));
  for (const char* part : {"major version", "minor version", "patch of the version"}) {
    if (!s.version.empty()) s.version += '.';
    s.version += std::to_string(ggml_size(at, part, 0, 1000));
  }
  const std::uint32_t window = equal("samples of a window", s.sample_rate * 32 / 1000);
  equal("samples before a window", window / 8);
  s.left_padding = window / 8;
  s.round_to_half = 1;
  equal("number of layers", 4);
  std::uint32_t width = window / 4 + 1;
  for (const char* layer : {"0", "1", "2", "3"}) {
    equal("channels that a layer reads", width);
    const std::uint32_t out = size("channels that a layer writes", limits::width);
    equal("taps of a layer", 3);
    from.sizes.push_back({std::string("_model.encoder.") + layer + ".reparam_conv.weight", static_cast<extent>(out),
                          static_cast<extent>(width) * 3});
    width = out;
  }
  equal("inputs of the LSTM", width);
  equal("outputs of the LSTM", width);
  equal("inputs of the last convolution", width);
  equal("outputs of the last convolution", 1);
  from.sizes.push_back({"_model.decoder.rnn.weight_*", static_cast<extent>(width) * 4, static_cast<extent>(width)});
  return s;
}

}  // namespace

bool is_ggml(const fs::path& path) {
  if (!file_starts_with(path, ggml_magic)) return false;
  const weights::mapped_file file(path.string());
  return file.bytes().size() > 8 && starts_with(file.bytes().subspan(8), type_start);
}

imported_model read_ggml(const std::string& where, std::span<const std::byte> bytes, const import_options& options,
                         std::shared_ptr<weights::mapped_file> file) {
  weights::byte_cursor at(where, bytes);
  checkpoint_tensors from{.where = where};
  const settings s = read_header(at, from);
  if (options.sample_rate && *options.sample_rate != s.sample_rate)
    fail({.where = where,
          .what = "sample rate of the model in Hz",
          .expected = std::to_string(*options.sample_rate),
          .found = std::to_string(s.sample_rate)});
  from.all = ggml_tensors(at, 0, 3, file.get());
  if (from.all.empty())
    fail({.where = where, .what = "holds no tensors", .hint = "it is one of whisper.cpp's files for its own tests"});
  for (stored_tensor& t : from.all)
    if (t.name.starts_with("_model.")) t.name.erase(0, 7);
  imported_model model = package(std::move(from), s, std::move(file));
  model.notes.emplace_back(
      "it computes what whisper.cpp computes: the beginning of each window is mirrored, where the original (its ONNX "
      "and safetensors files) has the samples before");
  return model;
}

imported_model import_ggml(const fs::path& path, const import_options& options) {
  if (options.cmvn) fail({.where = path.string(), .what = "--cmvn is for FunASR models"});
  const auto file = std::make_shared<weights::mapped_file>(path.string());
  return read_ggml(path.string(), file->bytes(), options, file);
}

}  // namespace silero_files
}  // namespace STENO_ABI
}  // namespace steno
