// SPDX-License-Identifier: Apache-2.0
#include "sound_file.hpp"

#include <steno/error.hpp>

#include <sndfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>
#include <mutex>
#include <optional>
#include <string_view>

#include "digits.hpp"
#include "mpeg_frames.hpp"
#include "system.hpp"
#include "utf8_path.hpp"

namespace steno::app {
namespace {

// libsndfile says "Error in WAV file. No 'data' chunk marker." or "Error : flac decoder lost sync.".
std::string reason(SNDFILE* file) {
  std::string_view text = sf_strerror(file);
  if (text.starts_with("Error : ")) text.remove_prefix(8);
  while (text.ends_with('.') || text.ends_with('\n')) text.remove_suffix(1);
  return std::string(text);
}

SNDFILE* open_named(const std::string& path, SF_INFO& info) {
#if defined(_WIN32)
  return sf_wchar_open(utf8_path(path).c_str(), SFM_READ, &info);
#else
  return sf_open(path.c_str(), SFM_READ, &info);
#endif
}

// The first number after `key` in `text`.
std::optional<std::uint64_t> number_after(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  text.remove_prefix(at + key.size());
  std::uint64_t value = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failed == std::errc() ? std::optional(value) : std::nullopt;
}

// libmpg123 writes warnings of its own to standard error, into the middle of a screen.
class silent_errors {
 public:
  explicit silent_errors(bool wanted) {
    if (!wanted) return;
    // Two threads at once would restore what the other one has put there.
    static std::mutex one_at_a_time;
    alone_ = std::unique_lock(one_at_a_time);
    const int nowhere = system::open_nowhere();
    if (nowhere < 0) return;
    kept_ = system::duplicate(STDERR_FILENO);
    if (kept_ >= 0) ::dup2(nowhere, STDERR_FILENO);
    ::close(nowhere);
  }
  ~silent_errors() {
    if (kept_ < 0) return;
    ::dup2(kept_, STDERR_FILENO);
    ::close(kept_);
  }
  silent_errors(const silent_errors&) = delete;
  silent_errors& operator=(const silent_errors&) = delete;

 private:
  std::unique_lock<std::mutex> alone_;
  int kept_ = -1;
};

class sound_file final : public sample_source {
 public:
  explicit sound_file(const std::string& path) : path_(path) {
    const int fd = system::open_to_read(path);
    const bool mpeg = check_frames(fd);
    if (fd >= 0) ::close(fd);
    {
      const silent_errors quiet(mpeg);
      file_.reset(open_named(path, info_));
    }
    check();
  }
  sound_file(int fd, const std::string& name) : path_(name) {
    const bool mpeg = check_frames(fd);
    ::lseek(fd, 0, SEEK_SET);
    {
      const silent_errors quiet(mpeg);
      file_.reset(sf_open_fd(fd, SFM_READ, &info_, 1));
    }
    check();
  }

 private:
  void check() {
    if (!file_)
      throw unreadable_sound({.where = path_, .what = "cannot read it as audio: " + reason(nullptr)},
                             sf_error(nullptr) == SF_ERR_UNRECOGNISED_FORMAT);
    if (info_.samplerate < lowest_rate || info_.samplerate > highest_rate)
      fail({.where = path_,
            .what = "sample rate",
            .expected = std::to_string(lowest_rate) + " to " + std::to_string(highest_rate) + " Hz",
            .found = std::to_string(info_.samplerate) + " Hz"});
    if (info_.channels < 1) fail({.where = path_, .what = "has no channels"});
    if (info_.frames == 0) fail({.where = path_, .what = "has no audio in it (0 frames)"});
    warn_if_cut();
  }
  // Of an MPEG stream, whose length libsndfile guesses. Returns whether it may be one.
  bool check_frames(int fd) {
    struct stat facts {};
    if (fd < 0 || ::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
    const auto read = [fd](std::uint64_t at, std::span<std::uint8_t> to) {
      return system::read_at(fd, to.data(), to.size(), at) == static_cast<std::ptrdiff_t>(to.size());
    };
    if (const auto missing = missing_of_mpeg(static_cast<std::uint64_t>(facts.st_size), read))
      warn_damaged("the file is cut short: " + *missing);
    std::uint8_t head[3] = {};
    return read(0, head) && ((head[0] == 0xff && head[1] >= 0xe0) || std::memcmp(head, "ID3", 3) == 0);
  }

 public:
  int rate() const override { return info_.samplerate; }
  double seconds() const override {
    return length_known() ? static_cast<double>(info_.frames) / info_.samplerate : -1.0;
  }

  int channels() const override { return info_.channels; }

  std::size_t read(std::span<float> frames) override {
    const auto room = static_cast<sf_count_t>(frames.size()) / info_.channels;
    const sf_count_t got = sf_readf_float(file_.get(), frames.data(), room);
    if (got <= 0) {
      finish();
      return 0;
    }
    frames_read_ += got;
    return static_cast<std::size_t>(got);
  }

 private:
  static constexpr int lowest_rate = 1000, highest_rate = 1000000;
  struct close {
    void operator()(SNDFILE* f) const { sf_close(f); }
  };

  bool length_known() const {
    return info_.frames > 0 && info_.frames < std::numeric_limits<std::int32_t>::max() * std::int64_t{4096};
  }
  int container() const { return info_.format & SF_FORMAT_TYPEMASK; }

  // libsndfile shortens a cut WAV silently and notes it in its log: "data : 352000 (should be 99922)". Programs that
  // write to a pipe announce about 2 or 4 GiB because they do not know the length; that is no fault.
  void warn_if_cut() {
    std::string log(16384, '\0');
    sf_command(file_.get(), SFC_GET_LOG_INFO, log.data(), static_cast<int>(log.size()));
    log.resize(std::strlen(log.c_str()));
    // What stands before the samples of WAV, AIFF, AU, W64 and RF64. Sizes of whole files are often wrong in the first
    // two, so there the samples' own is looked at.
    for (const std::string_view key :
         {"\ndata : ", "\n SSND : ", "\n  Data Size   : ", "\nriff : ", "\n  Riff size : "}) {
      const std::size_t at = log.find(key);
      if (at == std::string::npos) continue;
      const std::string_view line = std::string_view(log).substr(at + 1, log.find('\n', at + 1) - at - 1);
      const auto announced = number_after(line, key.substr(1)), present = number_after(line, "should be ");
      const bool known = announced && (*announced < 0x7fff0000u || *announced > 0xffffffffu);
      if (!known || !present || *present >= *announced) continue;
      warn_damaged("the file is cut short: " + std::to_string(*present) + " of " + std::to_string(*announced) +
                   " bytes of audio are there");
      break;
    }
    if (container() == SF_FORMAT_OGG && !length_known())
      warn_damaged("the file is cut short: its last page is missing");
  }

  void finish() {
    if (finished_) return;
    finished_ = true;
    if (sf_error(file_.get()) != SF_ERR_NO_ERROR)
      warn_damaged("damaged after " + position() + ": " + reason(file_.get()));
    // The length of an MPEG stream is an estimate, so only other formats are compared with it.
    else if (length_known() && container() != SF_FORMAT_MPEG && frames_read_ < info_.frames)
      warn_damaged("the file is cut short: audio ends after " + position());
    if (frames_read_ == 0)
      fail(
          {.where = path_, .what = "has no audio in it", .found = warnings().empty() ? "0 frames" : warnings().back()});
  }
  std::string position() const {
    const auto ms = static_cast<long long>(1000.0 * static_cast<double>(frames_read_) / info_.samplerate);
    return std::to_string(ms / 1000) + "." + padded(ms % 1000, 3) + " s";
  }

  std::string path_;
  SF_INFO info_{};
  std::unique_ptr<SNDFILE, close> file_;
  sf_count_t frames_read_ = 0;
  bool finished_ = false;
};

}  // namespace

std::unique_ptr<sample_source> open_sound_file(const std::string& path) { return std::make_unique<sound_file>(path); }
std::unique_ptr<sample_source> open_sound_file(int fd, const std::string& name) {
  return std::make_unique<sound_file>(fd, name);
}

}  // namespace steno::app
