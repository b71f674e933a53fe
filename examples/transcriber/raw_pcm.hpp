// Raw PCM, one channel, from a pipe: what the program reads when AUDIO is "-".
#pragma once
#include <cstdio>
#include <memory>
#include <optional>
#include <string_view>

#include "sample_source.hpp"

namespace steno::app {

enum class pcm_encoding { s16le, f32le };
std::optional<pcm_encoding> find_pcm_encoding(std::string_view name);

struct pcm_format {
  pcm_encoding encoding = pcm_encoding::s16le;
  int rate = 16000;
};

/// Reads `stream` (not owned) to its end. Throws steno::error when it is a terminal, or begins like a sound file:
/// a header taken for samples would give noise at the wrong rate.
std::unique_ptr<sample_source> open_raw_pcm(std::FILE* stream, pcm_format format);

}  // namespace steno::app
