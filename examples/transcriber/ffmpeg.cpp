// SPDX-License-Identifier: Apache-2.0
#include "ffmpeg.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "ffmpeg_log.hpp"
#include "signals.hpp"
#include "system.hpp"
#include "wav_stream.hpp"

namespace steno::app {
namespace {

// Playlists, folders of pictures, devices and filters are not among them: those name other files.
constexpr const char* ffmpeg_formats =
    "aac,ac3,adts,aiff,amr,amrnb,amrwb,ape,asf,asf_o,au,avi,caf,dsf,dts,dtshd,eac3,flac,flv,gsm,iff,latm,loas,matroska,"
    "mlp,mov,mp3,mpc,mpc8,mpeg,mpegts,mxf,nut,ogg,oma,qcp,rm,shn,spdif,tak,truehd,tta,voc,w64,wav,webm,wtv,wv,xwma";

// A path is opened by ffmpeg itself, so that it can be read in any order; a stream, which has none, is read from its
// beginning to its end.
std::vector<std::string> ffmpeg_arguments(const std::string& path) {
  const bool file = !path.empty();
  const std::string from = file ? "file:" + path : "pipe:0";
  return {"-hide_banner", "-nostdin", "-nostats", "-loglevel", "level+info",
          // of the input
          "-protocol_whitelist", file ? "file" : "pipe", "-format_whitelist", ffmpeg_formats, "-threads", "1", "-vn",
          "-sn", "-dn", "-i", from,
          // of the output: silence where sound begins behind the picture
          "-map_metadata", "-1", "-map_chapters", "-1", "-vn", "-sn", "-dn", "-af",
          "aresample=async=1:min_hard_comp=1000000:first_pts=0", "-c:a", "pcm_f32le", "-fflags", "+bitexact",
          "-flags:a", "+bitexact", "-f", "wav", "pipe:1"};
}

class ffmpeg_source final : public sample_source {
 public:
  ffmpeg_source(const std::string& program, child_process::input from, std::string where)
      : where_(std::move(where)), file_(from.file >= 0) {
    const std::string path = file_ ? own_input_path(from.file) : "";
    try {
      process_ = std::make_unique<child_process>(program, ffmpeg_arguments(path), std::move(from),
                                                 [this](std::string_view text) { log_.add(text); });
    } catch (const error& e) {
      fail({.where = where_, .what = e.parts().what});
    }
    std::unique_ptr<byte_source> bytes = std::make_unique<output>(*process_, where_);
    std::vector<std::uint8_t> head;
    bytes->fill(head, 12);
    if (begins_as_wav(head)) sound_ = open_wav(bytes, head);
    if (sound_ == nullptr && !input_is_over()) nothing();
  }

  // An interruption may come before the first sample.
  int rate() const override { return sound_ == nullptr ? 16000 : sound_->rate(); }
  int channels() const override { return sound_ == nullptr ? 1 : sound_->channels(); }
  double seconds() const override { return log_.duration(); }

  std::size_t read(std::span<float> frames) override {
    if (over_ || sound_ == nullptr) return 0;
    std::size_t n = 0;
    try {
      n = sound_->read(frames);
    } catch (const error&) {  // there are no samples
      nothing();
    }
    frames_ += n;
    if (n == 0) finish();
    return n;
  }

 private:
  class output final : public byte_source {
   public:
    output(child_process& p, const std::string& name) : byte_source(name), process_(p) {}
    std::size_t read(std::uint8_t* to, std::size_t most) override { return process_.read(to, most); }

   private:
    child_process& process_;
  };

  // What it says about its end; empty when all went well.
  std::string verdict() {
    const child_process::ending e = process_->wait();
    log_.end();
    if (e.stuck) return "it did not end";
    return e.code != 0 && log_.errors() == 0 ? "it ended with code " + std::to_string(e.code) : log_.text();
  }

  [[noreturn]] void nothing() {
    const std::string why = verdict();
    if (why.empty() || why.find("does not contain any stream") != std::string::npos)
      fail({.where = where_, .what = "has no sound in it"});
    const bool index = !file_ && (why.find("moov atom not found") != std::string::npos ||
                                  why.find("partial file") != std::string::npos);
    fail({.where = where_,
          .what = "ffmpeg cannot read it: " + why,
          .hint = index ? "the index of an MP4 file may stand at its end, which a pipe comes to too late: name the file"
                        : ""});
  }

  void finish() {
    over_ = true;
    for (const std::string& w : sound_->warnings()) warn_damaged(w);
    if (input_is_over()) return process_.reset();
    const double read = static_cast<double>(frames_) / rate();
    const std::string why = verdict();
    if (input_is_over()) return;
    char at[40];
    std::snprintf(at, sizeof at, "%.3f s", read);
    if (!why.empty())
      warn_damaged("damaged, or cut short: " + std::string(at) + " of sound could be read; ffmpeg: " + why);
    else if (log_.duration_is_of_sound() && read < log_.duration() - std::max(1.0, 0.01 * log_.duration()))
      warn_damaged("the file is cut short: audio ends after " + std::string(at) + " of " +
                   std::to_string(std::lround(log_.duration())) + " s");
  }

  std::string where_;
  bool file_, over_ = false;
  ffmpeg_log log_;
  std::unique_ptr<child_process> process_;
  std::unique_ptr<sample_source> sound_;
  std::uint64_t frames_ = 0;
};

}  // namespace

bool has_ffmpeg(const std::string& name) { return name != "none" && !find_program(name).empty(); }

core::fault ffmpeg_is_missing(const std::string& where, std::string_view kind, const std::string& name) {
  const std::string what = kind.empty() ? "cannot read it as audio: Format not recognised"
                                        : "is " + std::string(kind) + ", which is read with ffmpeg";
  if (name == "none") return {.where = where, .what = what, .hint = "ffmpeg is switched off: --ffmpeg none"};
  if (name == "ffmpeg")
    return {.where = where,
            .what = what,
            .hint = kind.empty()
                        ? "with ffmpeg installed more formats are read"
                        : "install it, e.g. " + system::how_to_install("ffmpeg") + ", or name it: --ffmpeg PATH"};
  return {.where = where, .what = what, .hint = "there is no program " + name + ": --ffmpeg PATH names it"};
}

std::unique_ptr<sample_source> open_with_ffmpeg(const std::string& name, child_process::input from,
                                                const std::string& where) {
  return std::make_unique<ffmpeg_source>(find_program(name), std::move(from), where);
}

}  // namespace steno::app
