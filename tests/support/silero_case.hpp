// Silero VAD with weights that a formula gives, samples for it and probabilities: the same numbers as
// tools/zoo/silero_wheel.py makes, whose results tests/golden/silero_vad holds.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/half.hpp>
#include <steno/weights/gguf_writer.hpp>

#include <cstdint>
#include <cstring>
#include <functional>
#include <list>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace steno::test {

/// Whole numbers from -1024 to 1023: the top 11 bits of splitmix64.
inline std::vector<int> silero_numbers(std::uint64_t seed, std::size_t count) {
  std::vector<int> out;
  for (std::size_t i = 0; i < count; ++i) {
    seed += 0x9e3779b97f4a7c15u;
    std::uint64_t z = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    out.push_back(static_cast<int>((z ^ (z >> 31)) >> 53) - 1024);
  }
  return out;
}

struct silero_tensor {
  std::string name;  // the archive's, without "_model."
  std::vector<std::size_t> shape;
  std::vector<float> values;
};

/// In the order of whisper.cpp's files. `widths`: of the four convolutions; the golden results are of the published
/// ones, with a `gain` of 1. Small ones with 4 have probabilities of all sizes.
inline std::vector<silero_tensor> silero_tensors(int rate, std::uint64_t seed,
                                                 const std::vector<std::size_t>& widths = {128, 64, 64, 128},
                                                 float gain = 1) {
  std::vector<silero_tensor> all;
  const auto frame = static_cast<std::size_t>(rate * 16 / 1000), bins = frame / 2 + 1;
  const auto add = [&](const std::string& name, std::vector<std::size_t> shape, float most) {
    const std::size_t count = std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
    silero_tensor t{name, std::move(shape), {}};
    for (const int n : silero_numbers(seed + 1000 * all.size(), count))
      t.values.push_back(static_cast<float>(n) / 1024 * (name[0] == 's' ? most : most * gain));
    all.push_back(std::move(t));
  };
  for (std::size_t i = 0; i < 4; ++i) {
    const std::string at = "encoder." + std::to_string(i) + ".reparam_conv.";
    add(at + "weight", {widths[i], i == 0 ? bins : widths[i - 1], 3}, 0.125f);
    add(at + "bias", {widths[i]}, 0.125f);
  }
  const std::size_t hidden = widths[3];
  for (const char* name : {"weight_ih", "weight_hh"})
    add(std::string("decoder.rnn.") + name, {4 * hidden, hidden}, 0.25f);
  for (const char* name : {"bias_ih", "bias_hh"}) add(std::string("decoder.rnn.") + name, {4 * hidden}, 0.25f);
  add("decoder.decoder.2.weight", {1, hidden, 1}, 1);
  add("decoder.decoder.2.bias", {1}, 0.25f);
  add("stft.forward_basis_buffer", {2 * bins, 1, frame}, 0.25f);
  return all;
}

/// Noise, louder and softer in turn, the first 3000 samples silent.
inline std::vector<float> silero_samples(std::size_t count, std::uint64_t seed) {
  constexpr int levels[] = {0, 64, 8, 32, 1, 16, 48, 4};
  std::vector<float> pcm;
  for (const int n : silero_numbers(seed, count))
    pcm.push_back(static_cast<float>(n * levels[pcm.size() / 3000 % 8]) / 65536);
  return pcm;
}

/// A value holds for 1 to `hold` windows.
inline std::vector<float> silero_probabilities(std::uint64_t seed, std::size_t windows, int hold) {
  const std::vector<int> draws = silero_numbers(seed, 2 * windows);
  std::vector<float> out;
  for (std::size_t i = 0; out.size() < windows; i += 2)
    out.insert(out.end(), static_cast<std::size_t>(1 + (draws[i + 1] + 1024) % hold),
               static_cast<float>(draws[i] + 1024) / 2048);
  out.resize(windows);
  return out;
}

template <class T>
void silero_put(std::string& to, T value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// whisper.cpp's file.
inline std::string silero_ggml(const std::vector<silero_tensor>& tensors, const std::string& type = "silero-16k",
                               std::vector<std::int32_t> header = {}) {
  std::string all = "lmgg";
  silero_put(all, static_cast<std::int32_t>(type.size()));
  all += type;
  if (header.empty()) {
    const int window = type == "silero-8k" ? 256 : 512;
    header = {6, 2, 0, window, window / 8, 4};
    for (std::size_t i = 0; i < 8; i += 2)
      header.insert(header.end(), {static_cast<std::int32_t>(tensors[i].shape[1]),
                                   static_cast<std::int32_t>(tensors[i].shape[0]), 3});
    const auto hidden = static_cast<std::int32_t>(tensors[6].shape[0]);
    header.insert(header.end(), {hidden, hidden, hidden, 1});
  }
  for (const std::int32_t n : header) silero_put(all, n);
  for (const silero_tensor& t : tensors) {
    const bool basis = t.name.starts_with("stft");
    const bool half = basis || t.name.find("conv.weight") != std::string::npos || t.name.ends_with("2.weight");
    std::vector<std::size_t> shape = t.shape;
    if (!basis) std::erase(shape, 1u);
    const std::string name = "_model." + t.name;
    silero_put(all, static_cast<std::int32_t>(shape.size()));
    silero_put(all, static_cast<std::int32_t>(name.size()));
    silero_put(all, static_cast<std::int32_t>(half));
    for (std::size_t i = shape.size(); i-- > 0;) silero_put(all, static_cast<std::int32_t>(shape[i]));
    all += name;
    for (const float v : t.values) half ? silero_put(all, core::float_to_half(v)) : silero_put(all, v);
  }
  return all;
}

/// A packaged file, in memory.
inline std::vector<std::byte> silero_gguf(int rate, std::uint32_t left_padding,
                                          const std::vector<silero_tensor>& tensors,
                                          const std::function<void(weights::gguf_writer&)>& more = {}) {
  weights::gguf_writer file;
  file.set("general.architecture", "silero_vad");
  file.set("silero_vad.frontend.sample_rate", static_cast<std::uint32_t>(rate));
  file.set("silero_vad.left_padding", left_padding);
  file.set("silero_vad.round_to_half", left_padding == 0 ? std::uint32_t{0} : std::uint32_t{1});
  if (more) more(file);
  std::list<std::vector<float>> kept;
  for (const silero_tensor& t : tensors) {
    std::vector<extent> shape;
    std::vector<float>& values = kept.emplace_back(t.values);
    if (t.shape.size() == 3 && t.shape[1] != 1 && t.shape[2] != 1) {
      const std::size_t inputs = t.shape[1], taps = t.shape[2];
      shape = {static_cast<extent>(t.shape[0]), static_cast<extent>(inputs * taps)};
      for (std::size_t o = 0; o < t.shape[0]; ++o)
        for (std::size_t i = 0; i < inputs; ++i)
          for (std::size_t k = 0; k < taps; ++k)
            values[(o * taps + k) * inputs + i] = t.values[(o * inputs + i) * taps + k];
    } else if (t.shape.size() == 3) {
      shape = {static_cast<extent>(t.shape[0]), static_cast<extent>(t.shape[1] * t.shape[2])};
    } else {
      for (const std::size_t n : t.shape) shape.push_back(static_cast<extent>(n));
    }
    file.add("_model." + t.name, dtype::f32, shape, std::as_bytes(std::span<const float>(values)));
  }
  return file.bytes();
}

}  // namespace steno::test
