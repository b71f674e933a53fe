// SPDX-License-Identifier: Apache-2.0
#include "realtime_audio.hpp"

#include <array>
#include <cstdint>

namespace steno::app {
namespace {

constexpr std::string_view base64_digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<signed char, 256> base64_values = [] {
  std::array<signed char, 256> v{};
  v.fill(-1);
  for (std::size_t i = 0; i < base64_digits.size(); ++i)
    v[static_cast<unsigned char>(base64_digits[i])] = static_cast<signed char>(i);
  return v;
}();

}  // namespace

bool decode_base64(std::string_view text, std::vector<unsigned char>& out) {
  if (text.size() % 4 == 0)
    for (int padding = 0; padding < 2 && !text.empty() && text.back() == '='; ++padding) text.remove_suffix(1);
  if (text.size() % 4 == 1) return false;
  out.reserve(out.size() + text.size() / 4 * 3 + 3);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int value = base64_values[static_cast<unsigned char>(c)];
    if (value < 0) return false;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out.push_back(static_cast<unsigned char>(bits >> held & 0xffu));
  }
  return (bits & ((1u << held) - 1)) == 0;  // what is left of the last digit says nothing
}

// ITU-T G.711: a sign, an exponent and four bits of a mantissa, all bits inverted.
float mu_law_sample(unsigned char code) {
  const int bits = ~code & 0xff;
  const int magnitude = (((bits & 0x0f) << 3) + 0x84) << (bits >> 4 & 7);
  const int value = (bits & 0x80) != 0 ? 0x84 - magnitude : magnitude - 0x84;
  return static_cast<float>(value) / 32768.0f;
}

// ITU-T G.711: every other bit inverted, the sign positive where it is set.
float a_law_sample(unsigned char code) {
  const int bits = code ^ 0x55;
  const int exponent = bits >> 4 & 7, mantissa = (bits & 0x0f) << 4;
  const int magnitude = exponent == 0 ? mantissa + 8 : (mantissa + 0x108) << (exponent - 1);
  return static_cast<float>((bits & 0x80) != 0 ? magnitude : -magnitude) / 32768.0f;
}

void coded_audio::push(std::span<const unsigned char> bytes, std::vector<float>& out) {
  samples_.clear();
  if (kind_.how == audio_kind::coding::pcm) {
    const auto take = [this](unsigned char low, unsigned char high) {
      samples_.push_back(static_cast<float>(static_cast<std::int16_t>(low | high << 8)) / 32768.0f);
    };
    samples_.reserve(bytes.size() / 2 + 1);
    if (half_ && !bytes.empty()) {
      take(*half_, bytes[0]);
      half_.reset();
      bytes = bytes.subspan(1);
    }
    for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) take(bytes[i], bytes[i + 1]);
    if (bytes.size() % 2 != 0) half_ = bytes.back();
  } else {
    samples_.reserve(bytes.size());
    for (const unsigned char b : bytes)
      samples_.push_back(kind_.how == audio_kind::coding::mu_law ? mu_law_sample(b) : a_law_sample(b));
  }
  to_rate_.push(samples_, out);
}

void coded_audio::finish(std::vector<float>& out) {
  half_.reset();
  to_rate_.finish(out);
}

}  // namespace steno::app
