// tools/convert/silero/named.cpp - Silero VAD from files of named tensors: safetensors and ONNX; see silero.hpp.
//
//   silero_vad_16k.safetensors     the names of tinygrad_model.py: stft_conv.weight, conv1.weight, lstm_cell.weight_ih
//   silero_vad*.onnx               those of the TorchScript archive with something in front: model., model_8k.,
//                                  If_0_then_branch__Inline_0__
//
// Such a file may hold the models for both sample rates; the samples of a frame of the transform tell them apart.
// SPDX-License-Identifier: Apache-2.0
#include <steno/error.hpp>
#include <steno/weights/byte_cursor.hpp>
#include <steno/weights/mapped_file.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "content.hpp"
#include "limits.hpp"
#include "onnx_file.hpp"
#include "safetensors.hpp"
#include "silero/silero.hpp"

namespace steno {
inline namespace STENO_ABI {
namespace silero_files {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view basis = "stft.forward_basis_buffer";
constexpr std::size_t max_bytes = std::size_t{64} << 20;  // published files have up to 3 MB; larger ones are no Silero

// The archive's names; beside each that of tinygrad_model.py.
constexpr std::array<std::pair<std::string_view, std::string_view>, 15> names{{
    {basis, "stft_conv.weight"},
    {"encoder.0.reparam_conv.weight", "conv1.weight"},
    {"encoder.0.reparam_conv.bias", "conv1.bias"},
    {"encoder.1.reparam_conv.weight", "conv2.weight"},
    {"encoder.1.reparam_conv.bias", "conv2.bias"},
    {"encoder.2.reparam_conv.weight", "conv3.weight"},
    {"encoder.2.reparam_conv.bias", "conv3.bias"},
    {"encoder.3.reparam_conv.weight", "conv4.weight"},
    {"encoder.3.reparam_conv.bias", "conv4.bias"},
    {"decoder.rnn.weight_ih", "lstm_cell.weight_ih"},
    {"decoder.rnn.weight_hh", "lstm_cell.weight_hh"},
    {"decoder.rnn.bias_ih", "lstm_cell.bias_ih"},
    {"decoder.rnn.bias_hh", "lstm_cell.bias_hh"},
    {"decoder.decoder.2.weight", "final_conv.weight"},
    {"decoder.decoder.2.bias", "final_conv.bias"},
}};

bool is_known(std::string_view name) {
  return std::any_of(names.begin(), names.end(), [&](const auto& n) { return n.first == name; });
}

// A model of the file: what stands in front of its tensors' names.
struct model_within {
  std::string front;
  std::uint32_t sample_rate = 0;
};

std::vector<model_within> models_of(const checkpoint_tensors& from) {
  std::vector<model_within> found;
  for (const stored_tensor& t : from.all) {
    if (!t.name.ends_with(basis)) continue;
    const extent frame = t.shape.back();
    if (frame != 256 && frame != 128)
      fail({.where = from.where,
            .what = "samples of a frame in " + weights::quoted(t.name),
            .expected = "256 (16 kHz) or 128 (8 kHz)",
            .found = std::to_string(frame)});
    found.push_back({t.name.substr(0, t.name.size() - basis.size()), frame == 256 ? 16000u : 8000u});
  }
  if (found.empty())
    fail({.where = from.where,
          .what = "tensor " + weights::quoted(basis) + " is missing",
          .expected = "the tensors of Silero VAD v5 or v6"});
  return found;
}

const model_within& choose(const std::vector<model_within>& all, const std::string& where,
                           const import_options& options, std::vector<std::string>& notes) {
  const std::uint32_t usual =
      std::any_of(all.begin(), all.end(), [](const model_within& m) { return m.sample_rate == 16000; }) ? 16000 : 8000;
  const std::uint32_t rate = options.sample_rate.value_or(usual);
  const model_within* chosen = nullptr;
  std::string rates;
  for (const model_within& m : all) {
    rates.append(rates.empty() ? "" : " and ").append(std::to_string(m.sample_rate));
    if (m.sample_rate != rate) continue;
    if (chosen != nullptr) fail({.where = where, .what = "holds several models for " + std::to_string(rate) + " Hz"});
    chosen = &m;
  }
  if (chosen == nullptr)
    fail({.where = where, .what = "sample rate of the model in Hz", .expected = std::to_string(rate), .found = rates});
  if (all.size() > 1 && !options.sample_rate)
    notes.push_back("it holds models for " + rates + " Hz: the one for " + std::to_string(rate) +
                    " is taken (steno-convert --sample-rate takes another)");
  return *chosen;
}

// `constants`: there are others than the model's.
imported_model import_named(checkpoint_tensors from, const import_options& options, bool constants,
                            std::shared_ptr<const void> keep) {
  if (options.cmvn) fail({.where = from.where, .what = "--cmvn is for FunASR models"});
  std::vector<std::string> notes;
  const std::vector<model_within> all = models_of(from);
  const model_within chosen = choose(all, from.where, options, notes);
  std::vector<ignored_tensor> ignored;
  checkpoint_tensors taken{.where = from.where};
  for (stored_tensor& t : from.all) {
    const auto owner = std::find_if(all.begin(), all.end(), [&](const model_within& m) {
      return t.name.starts_with(m.front) && is_known(std::string_view(t.name).substr(m.front.size()));
    });
    if (owner != all.end() && owner->front == chosen.front) {
      t.name.erase(0, chosen.front.size());
      taken.all.push_back(std::move(t));
    } else if (owner != all.end()) {
      ignored.push_back({t.name, "of the model for " + std::to_string(owner->sample_rate) + " Hz"});
    } else if (constants) {
      ignored.push_back({t.name, "a constant of the graph"});
    } else {
      taken.all.push_back(std::move(t));  // it will be named as one too many
    }
  }
  imported_model model = package(std::move(taken), {.sample_rate = chosen.sample_rate}, std::move(keep));
  model.notes.insert(model.notes.end(), notes.begin(), notes.end());
  model.ignored.insert(model.ignored.end(), ignored.begin(), ignored.end());
  return model;
}

bool holds(const fs::path& path, std::string_view first, std::string_view second = {}) {
  std::error_code none;
  const auto size = fs::file_size(path, none);
  if (none || size > max_bytes) return false;
  const weights::mapped_file file(path.string());
  const std::string_view text(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  return text.find(first) != std::string_view::npos || (!second.empty() && text.find(second) != std::string_view::npos);
}

}  // namespace

bool is_safetensors(const fs::path& path) {
  if (!fs::is_regular_file(path)) return false;
  return starts_as_safetensors(weights::mapped_file(path.string()).bytes()) && holds(path, basis, names[0].second);
}

imported_model import_safetensors(const fs::path& path, const import_options& options) {
  auto file = std::make_shared<safetensors_file>(path);
  checkpoint_tensors from{.where = path.string(), .all = file->tensors()};
  for (stored_tensor& t : from.all)
    for (const auto& [name, other] : names)
      if (t.name == other) t.name = name;
  return import_named(std::move(from), options, false, std::move(file));
}

bool is_onnx(const fs::path& path) {
  // A model begins with the version of its format, a small number in field 1.
  return file_starts_with(path, "\x08") && path.extension() == ".onnx" && holds(path, basis);
}

imported_model read_onnx(const std::string& where, std::span<const std::byte> bytes, const import_options& options,
                         std::shared_ptr<const void> keep) {
  return import_named({.where = where, .all = onnx_tensors(where, bytes)}, options, true, std::move(keep));
}

imported_model import_onnx(const fs::path& path, const import_options& options) {
  const auto file = std::make_shared<weights::mapped_file>(path.string());
  return read_onnx(path.string(), file->bytes(), options, file);
}

}  // namespace silero_files
}  // namespace STENO_ABI
}  // namespace steno
