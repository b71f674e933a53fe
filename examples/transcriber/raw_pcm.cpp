// SPDX-License-Identifier: Apache-2.0
#include "raw_pcm.hpp"

#include <steno/error.hpp>

#include <algorithm>
#include <bit>
#include <utility>

#include "signals.hpp"

namespace steno::app {
namespace {

std::size_t width_of(pcm_encoding e) {
  switch (e) {
    case pcm_encoding::u8:
      return 1;
    case pcm_encoding::s16le:
      return 2;
    case pcm_encoding::s24le:
      return 3;
    case pcm_encoding::s32le:
    case pcm_encoding::f32le:
      return 4;
    case pcm_encoding::f64le:
      return 8;
  }
  return 2;
}

// Samples of whole numbers are brought to [-1, 1).
float sample(pcm_encoding e, const std::uint8_t* p) {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < width_of(e); ++i) bits |= static_cast<std::uint64_t>(p[i]) << (8 * i);
  const auto low = static_cast<std::uint32_t>(bits);
  switch (e) {
    case pcm_encoding::u8:
      return static_cast<float>(static_cast<int>(low) - 128) * 0x1p-7f;
    case pcm_encoding::s16le:
      return static_cast<float>(static_cast<std::int16_t>(low)) * 0x1p-15f;
    case pcm_encoding::s24le:
      return static_cast<float>(static_cast<std::int32_t>(low << 8)) * 0x1p-31f;
    case pcm_encoding::s32le:
      return static_cast<float>(static_cast<std::int32_t>(low)) * 0x1p-31f;
    case pcm_encoding::f32le:
      return std::bit_cast<float>(low);
    case pcm_encoding::f64le:
      return static_cast<float>(std::bit_cast<double>(bits));
  }
  return 0;
}

class pcm_source final : public sample_source {
 public:
  pcm_source(std::unique_ptr<byte_source> stream, std::vector<std::uint8_t> begun, pcm_format format,
             std::optional<std::uint64_t> announced)
      : stream_(std::move(stream)), bytes_(std::move(begun)), format_(format), announced_(announced) {}

  int rate() const override { return format_.rate; }
  int channels() const override { return format_.channels; }
  double seconds() const override {
    return announced_ ? static_cast<double>(*announced_ / frame()) / format_.rate : -1.0;
  }

  std::size_t read(std::span<float> frames) override {
    const std::size_t width = width_of(format_.encoding);
    const std::size_t room = frames.size() / static_cast<std::size_t>(format_.channels);
    std::uint64_t want = std::min<std::uint64_t>(room, 65536) * frame();
    if (announced_) want = std::min(want, *announced_ - taken_);
    stream_->fill(bytes_, static_cast<std::size_t>(want));
    const std::size_t count =
        std::min(std::min<std::size_t>(bytes_.size(), static_cast<std::size_t>(want)) / frame(), room);
    for (std::size_t i = 0; i < count * static_cast<std::size_t>(format_.channels); ++i)
      frames[i] = sample(format_.encoding, bytes_.data() + i * width);
    if (count == 0) finish();
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(count * frame()));
    taken_ += count * frame();
    return count;
  }

 private:
  std::size_t frame() const { return width_of(format_.encoding) * static_cast<std::size_t>(format_.channels); }

  void finish() {
    if (over_) return;
    over_ = true;
    const bool interrupted = input_is_over();  // then the end is no damage
    if (!interrupted && announced_ && taken_ + frame() <= *announced_)
      warn_damaged("the sound is cut short: " + std::to_string(taken_) + " of " + std::to_string(*announced_) +
                   " bytes of audio are there");
    else if (!interrupted && !announced_ && !bytes_.empty())
      warn_damaged("the last sample is incomplete (" + std::to_string(bytes_.size()) + " bytes) and left out");
    if (taken_ == 0 && !interrupted) fail({.where = stream_->name(), .what = "has no audio in it (0 samples)"});
  }

  std::unique_ptr<byte_source> stream_;
  std::vector<std::uint8_t> bytes_;
  pcm_format format_;
  std::optional<std::uint64_t> announced_;
  std::uint64_t taken_ = 0;
  bool over_ = false;
};

}  // namespace

std::optional<pcm_encoding> find_pcm_encoding(std::string_view name) {
  if (name == "s16le") return pcm_encoding::s16le;
  if (name == "f32le") return pcm_encoding::f32le;
  return std::nullopt;
}

std::unique_ptr<sample_source> open_pcm(std::unique_ptr<byte_source> bytes, std::vector<std::uint8_t> begun,
                                        pcm_format format, std::optional<std::uint64_t> announced) {
  return std::make_unique<pcm_source>(std::move(bytes), std::move(begun), format, announced);
}

}  // namespace steno::app
