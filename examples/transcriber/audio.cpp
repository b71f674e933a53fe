#include "audio.hpp"

#include <unistd.h>

#include <filesystem>

#include "signals.hpp"
#include "sound_file.hpp"
#include "sound_stream.hpp"

namespace steno::app {
namespace {

std::unique_ptr<sample_source> open_audio(const std::string& path, const pcm_format& stdin_format) {
  if (path == "-") return open_sound_stream(byte_stream(STDIN_FILENO, "standard input"), stdin_format);
  std::error_code failed;
  const auto kind = std::filesystem::status(path, failed).type();
  using std::filesystem::file_type;
  if (kind == file_type::fifo || kind == file_type::socket || kind == file_type::character)
    return open_sound_stream(byte_stream::open(path), std::nullopt);
  return open_sound_file(path);
}

}  // namespace

class audio_reader::until_interrupted final : public sample_source {
 public:
  explicit until_interrupted(std::unique_ptr<sample_source> s) : source_(std::move(s)) {}
  std::size_t read(std::span<float> mono) override {
    stopped_ = stopped_ || input_is_over();
    const std::size_t n = stopped_ ? 0 : source_->read(mono);
    stopped_ = stopped_ || (n == 0 && input_is_over());
    return n;
  }
  int rate() const override { return source_->rate(); }
  double seconds() const override { return source_->seconds(); }
  const sample_source& inner() const { return *source_; }
  bool stopped() const { return stopped_; }

 private:
  std::unique_ptr<sample_source> source_;
  bool stopped_ = false;
};

audio_reader::audio_reader(const std::string& path, int rate, pcm_format stdin_format)
    : source_(std::make_unique<until_interrupted>(open_audio(path, stdin_format))), resampler_(*source_, rate) {}
audio_reader::~audio_reader() = default;
int audio_reader::source_rate() const { return source_->rate(); }
double audio_reader::seconds() const { return source_->seconds(); }
bool audio_reader::stopped() const { return source_->stopped(); }
const std::vector<std::string>& audio_reader::warnings() const { return source_->inner().warnings(); }
bool audio_reader::damaged() const { return source_->inner().damaged(); }

std::vector<float> read_all(audio_reader& reader) {
  std::vector<float> samples, block(65536);
  while (const std::size_t n = reader.read(block))
    samples.insert(samples.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(n));
  return samples;
}

}  // namespace steno::app
