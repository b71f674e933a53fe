// SPDX-License-Identifier: Apache-2.0
#include "media_kinds.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "mpeg_frames.hpp"

namespace steno::app {
namespace {

using byte_span = std::span<const std::uint8_t>;

bool begins_with(byte_span b, std::size_t at, std::string_view magic) {
  return b.size() >= at + magic.size() && std::memcmp(b.data() + at, magic.data(), magic.size()) == 0;
}

struct known_kind {
  std::size_t at;
  std::string_view magic, name;
};
using namespace std::string_view_literals;
// A magic number has at least four bytes: raw samples may begin with anything shorter.
constexpr known_kind known_kinds[] = {
    {4, "ftyp"sv, "MP4 or M4A"},
    {4, "moov"sv, "MP4 or QuickTime"},
    {4, "mdat"sv, "MP4 or QuickTime"},
    {4, "wide"sv, "QuickTime"},
    {0, "\x1a\x45\xdf\xa3"sv, "Matroska or WebM"},
    {0, "\x30\x26\xb2\x75\x8e\x66\xcf\x11"sv, "WMA or WMV"},
    {0, "#!AMR"sv, "AMR"},
    {0, "ADIF"sv, "AAC"},
    {0, "FLV\x01"sv, "Flash video"},
    {0, "\x00\x00\x01\xba"sv, "MPEG video"},
    {0, "\x7f\xfe\x80\x01"sv, "DTS"},
    {0, "MAC "sv, "Monkey's Audio"},
    {0, "wvpk"sv, "WavPack"},
    {0, "TTA1"sv, "True Audio"},
    {0, "MPCK"sv, "Musepack"},
    {0, "MP+\x07"sv, "Musepack"},
    {0, ".RMF"sv, "RealMedia"},
    {0, ".ra\xfd"sv, "RealAudio"},
    {0, "tBaK"sv, "TAK"},
    {0, "OFR "sv, "OptimFROG"},
};

// ADTS: a frame says how long it is, and the next one follows it.
bool is_adts(byte_span b) {
  const auto frame = [&](std::size_t at) {
    return b.size() >= at + 7 && b[at] == 0xff && (b[at + 1] & 0xf6) == 0xf0 && (b[at + 2] & 0x3c) < 13 << 2;
  };
  if (!frame(0)) return false;
  const std::size_t length = (b[3] & 3u) << 11 | static_cast<std::size_t>(b[4]) << 3 | b[5] >> 5;
  return length >= 7 && frame(length) && (b[1] & 0xf9) == (b[length + 1] & 0xf9) && b[2] == b[length + 2];
}
// Packets of 188 bytes.
bool is_transport_stream(byte_span b) { return b.size() > 376 && b[0] == 0x47 && b[188] == 0x47 && b[376] == 0x47; }

// Longer than its size field: an ID3 tag in front, behind which something else than MP3 may stand.
std::size_t behind_tag(byte_span b) {
  if (!begins_with(b, 0, "ID3") || b.size() < 10) return 0;
  std::size_t size = 0;
  for (std::size_t i = 6; i < 10; ++i) size = size << 7 | (b[i] & 0x7fu);
  return size + 10;
}

constexpr std::array<std::string_view, 21> sound_endings = {
    ".8svx", ".aif",  ".aifc", ".aiff", ".au",  ".caf", ".flac", ".gsm", ".mp2", ".mp3", ".oga",
    ".ogg",  ".opus", ".rf64", ".sf",   ".snd", ".sph", ".voc",  ".w64", ".wav", ".wave"};
constexpr std::array<std::string_view, 41> media_endings = {
    ".3g2",  ".3ga", ".3gp", ".aac", ".ac3", ".amr", ".ape", ".asf", ".avi",  ".awb",  ".dts", ".eac3", ".f4v", ".flv",
    ".m2ts", ".m4a", ".m4b", ".m4v", ".mka", ".mkv", ".mov", ".mp4", ".mpc",  ".mpeg", ".mpg", ".mts",  ".mxf", ".ogv",
    ".ogx",  ".qt",  ".ra",  ".rm",  ".spx", ".tak", ".ts",  ".tta", ".weba", ".webm", ".wma", ".wmv",  ".wv"};

bool has_ending(const std::filesystem::path& file, std::span<const std::string_view> endings) {
  std::string ending = file.extension().string();
  std::transform(ending.begin(), ending.end(), ending.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return !file.filename().string().starts_with('.') && std::binary_search(endings.begin(), endings.end(), ending);
}

static_assert(std::is_sorted(sound_endings.begin(), sound_endings.end()) &&
              std::is_sorted(media_endings.begin(), media_endings.end()));

}  // namespace

std::string_view media_kind(byte_span head) {
  for (const known_kind& k : known_kinds)
    if (begins_with(head, k.at, k.magic)) return k.name;
  if (begins_with(head, 0, "RIFF") && begins_with(head, 8, "AVI ")) return "AVI";
  if (is_adts(head.subspan(std::min(behind_tag(head), head.size())))) return "AAC";
  if (is_transport_stream(head)) return "an MPEG transport stream";
  return "";
}

bool begins_as_sound(byte_span head) {
  for (const std::string_view magic : {"RIFF", "RIFX", "RF64", "fLaC", "OggS", "FORM", ".snd", "caff", "ID3"})
    if (begins_with(head, 0, magic)) return true;
  return begins_with(head, 0, "riff\x2e\x91\xcf\x11") || begins_as_mpeg(head);
}

bool named_as_sound(const std::filesystem::path& file) { return has_ending(file, sound_endings); }
bool named_as_media(const std::filesystem::path& file) { return has_ending(file, media_endings); }

}  // namespace steno::app
