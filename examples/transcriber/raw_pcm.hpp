// PCM from a stream: raw samples, or those of a WAV file, which come as they are spoken.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "byte_source.hpp"
#include "sample_source.hpp"

namespace steno::app {

enum class pcm_encoding { s16le, f32le, u8, s24le, s32le, f64le };
/// What --pcm-format takes: s16le and f32le; the others are those of WAV files.
std::optional<pcm_encoding> find_pcm_encoding(std::string_view name);

struct pcm_format {
  pcm_encoding encoding = pcm_encoding::s16le;
  int rate = 16000;
  int channels = 1;  ///< interleaved
};

/// `begun` is what was read of it before; `announced` how many bytes of samples there are, where that is known. Throws
/// steno::error when the first sample does not come.
std::unique_ptr<sample_source> open_pcm(std::unique_ptr<byte_source> bytes, std::vector<std::uint8_t> begun,
                                        pcm_format format, std::optional<std::uint64_t> announced = {});

}  // namespace steno::app
