// Any recording: a table of media files, made by ffmpeg and sox, with ffmpeg and without; what is passed to ffmpeg, and
// how it ends; parts, channels and folders of recordings.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "programs/run_program.hpp"
#include "support/running_program.hpp"

namespace steno_media_test {

namespace fs = std::filesystem;
using nlohmann::json;
using steno::test::outcome;
using steno::test::running_program;

const std::string train = STENO_SOURCE_DIR "/examples/audio/train.wav";
const std::string text = "the train to paris leaves in seven minutes";

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}
void write(const fs::path& file, const std::string& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

enum class end {
  whole,  // its text
  part,   // a part of its text, a warning, exit code 3
  none    // an error that names it
};
using enum end;

// With ffmpeg, and without. $F is ffmpeg that reads the recording, $V one that has a picture beside it, $S sox that
// reads it; a row that needs an encoder which is not there is left out, and told.
struct row {
  const char *name, *made, *needs;
  end with, without;
};
const row table[] = {
    // libsndfile's
    {"copy.wav", "cp $IN $OUT", "", whole, whole},
    {"float-96k.wav", "$S -e float -b 32 -r 96000 $OUT", "sox", whole, whole},
    {"stereo.wav", "$S -c 2 $OUT", "sox", whole, whole},
    {"adpcm.wav", "$F -c:a adpcm_ms $OUT", "adpcm_ms", whole, whole},
    {"alaw-8k.wav", "$F -ar 8000 -c:a pcm_alaw $OUT", "pcm_alaw", whole, whole},
    {"mulaw.au", "$S -e u-law $OUT", "sox", whole, whole},
    {"24-bit.aiff", "$S -r 44100 -b 24 $OUT", "sox", whole, whole},
    {"core.caf", "$S $OUT", "sox", whole, whole},
    {"wave.w64", "$S $OUT", "sox", whole, whole},
    {"creative.voc", "$S $OUT", "sox", whole, whole},
    {"sphere.sph", "$S $OUT", "sox", whole, whole},
    {"ircam.sf", "$S $OUT", "sox", whole, whole},
    {"lossless.flac", "$F -c:a flac $OUT", "flac", whole, whole},
    {"layer3.mp3", "$F -c:a libmp3lame $OUT", "libmp3lame", whole, whole},
    {"tag.mp3", "$F -c:a libmp3lame -metadata title='a: b' $OUT", "libmp3lame", whole, whole},
    {"layer2.mp2", "$F -ar 44100 -c:a mp2 $OUT", "mp2", whole, whole},
    {"phone.opus", "$F -c:a libopus $OUT", "libopus", whole, whole},
    // telephones and recorders
    {"aac.m4a", "$F -c:a aac $OUT", "aac", whole, none},
    {"fast.m4a", "$F -c:a aac -movflags +faststart $OUT", "aac", whole, none},
    {"apple.m4a", "$F -c:a alac $OUT", "alac", whole, none},
    {"44k-stereo.m4a", "$F -ar 44100 -ac 2 -c:a aac $OUT", "aac", whole, none},
    {"surround.m4a", "$F -ar 48000 -ac 6 -c:a aac $OUT", "aac", whole, none},
    {"book.m4b", "$F -c:a aac -f mp4 $OUT", "aac", whole, none},
    {"phone.3gp", "$F -c:a aac $OUT", "aac", whole, none},
    {"stream.aac", "$F -c:a aac -f adts $OUT", "aac", whole, none},
    {"media1.wma", "$F -ar 22050 -c:a wmav1 $OUT", "wmav1", whole, none},
    {"media2.wma", "$F -ar 44100 -c:a wmav2 $OUT", "wmav2", whole, none},
    {"dolby.ac3", "$F -ar 48000 -c:a ac3 $OUT", "ac3", whole, none},
    {"dolby-plus.eac3", "$F -ar 48000 -c:a eac3 $OUT", "eac3", whole, none},
    {"pack.wv", "$F -c:a wavpack $OUT", "wavpack", whole, none},
    {"true.tta", "$F -c:a tta $OUT", "tta", whole, none},
    {"speech.spx", "$F -c:a libspeex $OUT", "libspeex", whole, none},
    {"flac-in-ogg.oga", "$F -c:a flac -f ogg $OUT", "flac", whole, none},
    {"quicktime.mov", "$F -c:a pcm_s16be $OUT", "pcm_s16be", whole, none},
    // browsers
    {"opus.webm", "$F -c:a libopus $OUT", "libopus", whole, none},
    {"vorbis.webm", "$F -ar 44100 -c:a libvorbis $OUT", "libvorbis", whole, none},
    {"opus.mka", "$F -c:a libopus $OUT", "libopus", whole, none},
    {"eight.mka", "$F -ac 8 -c:a flac $OUT", "flac", whole, none},
    {"double.mkv", "$F -c:a pcm_f64le $OUT", "pcm_f64le", whole, none},
    // video
    {"film.mp4", "$V -c:v mpeg4 -c:a aac $OUT", "mpeg4 aac", whole, none},
    {"film.webm", "$V -c:v libvpx -c:a libopus $OUT", "libvpx libopus", whole, none},
    {"film.mkv", "$V -c:v mpeg4 -ar 48000 -c:a ac3 $OUT", "mpeg4 ac3", whole, none},
    {"film.mov", "$V -c:v mpeg4 -c:a pcm_s16le $OUT", "mpeg4 pcm_s16le", whole, none},
    {"film.avi", "$V -c:v mpeg4 -c:a libmp3lame $OUT", "mpeg4 libmp3lame", whole, none},
    {"film.wmv", "$V -c:v wmv2 -ar 44100 -c:a wmav2 $OUT", "wmv2 wmav2", whole, none},
    {"film.flv", "$V -c:v flv1 -ar 44100 -c:a libmp3lame $OUT", "flv libmp3lame", whole, none},
    {"film.mpg", "$V -r 25 -c:v mpeg2video -ar 44100 -c:a mp2 $OUT", "mpeg2video mp2", whole, none},
    {"film.ts", "$V -r 25 -c:v mpeg2video -c:a aac $OUT", "mpeg2video aac", whole, none},
    {"film.mxf", "$V -r 25 -c:v mpeg2video -ar 48000 -c:a pcm_s16le $OUT", "mpeg2video pcm_s16le", whole, none},
    // under another name, and names that mean something elsewhere
    {"renamed.wav", "$F -c:a aac -f mp4 $OUT", "aac", whole, none},
    {"renamed.mp4", "cp $IN $OUT", "", whole, whole},
    {"-i:%d concat:.m4a", "$F -c:a aac -f mp4 $OUT", "aac", whole, none},
    {"two\nlines.webm", "$F -c:a libopus -f webm $OUT", "libopus", whole, none},
    // cut off
    {"cut-fast.m4a", "$F -c:a aac -movflags +faststart -f mp4 x && cut x $OUT", "aac", part, none},
    {"cut.webm", "$F -c:a libopus -f webm x && cut x $OUT", "libopus", part, none},
    {"cut.mka", "$F -c:a flac -f matroska x && cut x $OUT", "flac", part, none},
    {"cut.aac", "$F -c:a aac -f adts x && cut x $OUT", "aac", part, none},
    {"cut.wma", "$F -ar 44100 -c:a wmav2 -f asf x && cut x $OUT", "wmav2", part, none},
    {"cut.mp3", "$F -c:a libmp3lame -f mp3 x && cut x $OUT", "libmp3lame", part, part},
    {"cut-ogg.opus", "$F -c:a libopus -f ogg x && cut x $OUT", "libopus", part, part},
    {"cut-index.m4a", "$F -c:a aac -f mp4 x && cut x $OUT", "aac", none, none},
    // no sound
    {"silent.mp4", "ffmpeg -nostdin -v error -y -f lavfi -i testsrc=size=64x48:rate=5 -t 1 -c:v mpeg4 $OUT", "mpeg4",
     none, none},
    {"text.mp4", "echo 'this is no video' > $OUT", "", none, none},
    {"head.m4a", "printf '\\0\\0\\0\\040ftypM4A \\0\\0\\0\\0' > $OUT", "", none, none},
    {"empty.webm", ": > $OUT", "", none, none},
};

// Has anybody a command line with this text in it?
bool is_running(const std::string& part) {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator("/proc", none)) {
    std::string words = contents(entry.path() / "cmdline");
    std::replace(words.begin(), words.end(), '\0', ' ');
    if (words.find(part) != std::string::npos) return true;
  }
  return false;
}
bool is_over(const std::string& part) {
  for (int i = 0; i < 200 && is_running(part); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(50));
  return !is_running(part);
}

class steno_media : public testing::Test {
 protected:
  outcome run(const std::string& words) const {
    return steno::test::shell(dir, std::string("'") + STENO_PROGRAM + "' -q --demo sense-voice " + words);
  }
  outcome plain(const std::string& words) const {
    return steno::test::shell(dir, std::string("'") + STENO_PROGRAM + "' " + words);
  }
  bool has(const char* tool) const { return steno::test::shell(dir, std::string("command -v ") + tool).code == 0; }
  // Stands for ffmpeg: a shell script.
  std::string script(const std::string& lines) const {
    const fs::path path = dir.path() / "decoder";
    write(path, "#!/bin/sh\n" + lines + "\n");
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }
  // What begins as an M4A file.
  std::string m4a(const std::string& name) const {
    write(dir.path() / name, std::string("\0\0\0\x20", 4) + "ftypM4A " + std::string(100, '\0'));
    return name;
  }
  // 16 bits, 16 kHz: the recording in one channel, and another or silence in the second, later.
  void write_call(const std::string& name) const {
    const std::string left = contents(train).substr(44),
                      right = contents(STENO_SOURCE_DIR "/examples/audio/shopping.wav").substr(44);
    std::string frames;
    const std::string quiet(2 * 16000 * 4, '\0');
    const std::string first = left + quiet + quiet, second = quiet + right + quiet;
    for (std::size_t i = 0; i + 2 <= std::min(first.size(), second.size()); i += 2)
      frames += first.substr(i, 2) + second.substr(i, 2);
    std::string head = contents(train).substr(0, 44);
    const auto put = [&](std::size_t at, std::size_t value, std::size_t bytes) {
      for (std::size_t i = 0; i < bytes; ++i) head[at + i] = static_cast<char>(value >> (8 * i) & 0xff);
    };
    put(4, 36 + frames.size(), 4);
    put(22, 2, 2);
    put(28, 64000, 4);
    put(32, 4, 2);
    put(40, frames.size(), 4);
    write(dir.path() / name, head + frames);
  }
  const steno::test::temporary_directory dir;
};

TEST_F(steno_media, a_table_of_recordings_with_ffmpeg_and_without) {
  if (!has("ffmpeg")) GTEST_SKIP() << "needs ffmpeg, which makes the files (Debian: ffmpeg)";
  const bool sox = has("sox");
  const std::string encoders = steno::test::shell(dir, "ffmpeg -hide_banner -encoders").out;
  std::string left_out;
  std::vector<row> made;
  write(dir.path() / "make.sh",
        "set -e\nIN='" + train +
            "'\nF=\"ffmpeg -nostdin -v error -y -i $IN\"\nS=\"sox -R $IN\"\n"
            "V=\"ffmpeg -nostdin -v error -y -f lavfi -i testsrc=size=64x48:rate=5 -i $IN -shortest\"\n"
            "cut() { head -c $(($(wc -c < \"$1\") * 6 / 10)) < \"$1\" > \"$2\"; rm \"$1\"; }\n"
            "mkdir -p media\nln -s \"$(command -v ffmpeg)\" ffmpeg\n");
  const auto quoted = [](const std::string& word) { return "'" + word + "'"; };
  std::string commands;
  for (const row& r : table) {
    std::istringstream needs(r.needs);
    bool there = true;
    for (std::string need; needs >> need;)
      there = there && (need == "sox" ? sox : encoders.find(" " + need + " ") != std::string::npos);
    if (!there) {
      left_out += std::string(" ") + r.name + " (" + r.needs + ")";
      continue;
    }
    std::string command = r.made;
    const std::string target = quoted("file:media/" + std::string(r.name));
    for (std::size_t at = 0; (at = command.find("$OUT", at)) != std::string::npos;) {
      const bool by_ffmpeg = command.compare(0, 2, "$F") == 0 || command.compare(0, 2, "$V") == 0;
      const bool cut = command.find("&& cut") != std::string::npos;
      command.replace(at, 4, by_ffmpeg && !cut ? target : quoted("media/" + std::string(r.name)));
      at += 5;
    }
    commands += command + "\n";
    made.push_back(r);
  }
  write(dir.path() / "make.sh", contents(dir.path() / "make.sh") + commands);
  const outcome making = steno::test::shell(dir, "sh make.sh");
  ASSERT_EQ(making.code, 0) << making.err;

  for (const bool ffmpeg : {true, false}) {
    SCOPED_TRACE(ffmpeg ? "with ffmpeg" : "without ffmpeg");
    const std::string option = "--ffmpeg '" + (dir.path() / (ffmpeg ? "ffmpeg" : "none")).string() + "' ";
    std::map<end, std::vector<row>> expected;
    for (const row& r : made) expected[ffmpeg ? r.with : r.without].push_back(r);
    for (const auto& [how, rows] : expected) {
      std::string words = option + "--format jsonl --";
      for (const row& r : rows) words += " " + quoted("media/" + std::string(r.name));
      const outcome o = run(words);
      EXPECT_EQ(o.code, how == whole ? 0 : how == part ? 3 : 1) << o.err;
      std::map<std::string, std::string> texts;
      std::istringstream lines(o.out);
      for (std::string line; std::getline(lines, line);) {
        const json j = json::parse(line);
        texts[j["audio"]] += j["text"];
      }
      std::istringstream messages(o.err);
      std::vector<std::string> told;
      for (std::string line; std::getline(messages, line);) told.push_back(line);
      for (const row& r : rows) {
        std::string path = "media/" + std::string(r.name), shown = path;
        std::replace(path.begin(), path.end(), '\n', ' ');  // as JSON says it
        const std::size_t at = shown.find('\n');
        if (at != std::string::npos) shown.replace(at, 1, "\\x0a");
        if (texts.count(path) == 0 && texts.count("media/" + std::string(r.name)) != 0)
          path = "media/" + std::string(r.name);
        const std::string heard = texts[path];
        const auto about = [&](const std::string& line) {
          return line.find(shown) != std::string::npos || line.find(path) != std::string::npos;
        };
        const auto count = std::count_if(told.begin(), told.end(), about);
        if (how == whole) {
          EXPECT_EQ(heard, text) << r.name;
          EXPECT_EQ(count, 0) << r.name << '\n' << o.err;
        } else if (how == part) {
          // The last word may be cut, and then heard as another one.
          EXPECT_TRUE(text.starts_with(heard.substr(0, heard.rfind(' ') + 1))) << r.name << ": " << heard;
          EXPECT_GT(heard.size(), 8u) << r.name;
          EXPECT_LT(heard.size(), text.size()) << r.name;
          EXPECT_EQ(count, 1) << r.name << '\n' << o.err;
        } else {
          EXPECT_EQ(heard, "") << r.name;
          EXPECT_EQ(count, 1) << r.name << '\n' << o.err;
        }
      }
    }
  }
  EXPECT_FALSE(is_running((dir.path() / "ffmpeg").string())) << "an ffmpeg is left";
  std::printf("%zu of %zu recordings\n", made.size(), std::size(table));
  if (!left_out.empty()) GTEST_SKIP() << "all but what could not be made here:" << left_out;
  EXPECT_GE(made.size(), 40u);
}

// One line of advice with the file's name, and what kind of file it is.
TEST_F(steno_media, without_ffmpeg_there_is_advice) {
  m4a("talk.m4a");
  outcome o = plain("-q --ffmpeg none talk.m4a");
  EXPECT_EQ(o.code, 1);
  EXPECT_EQ(o.err,
            "steno: talk.m4a: is MP4 or M4A, which is read with ffmpeg (ffmpeg is switched off: --ffmpeg none)\n");
  o = steno::test::shell(dir, std::string("PATH=/none '") + STENO_PROGRAM + "' -q talk.m4a");
  EXPECT_EQ(o.err,
            "steno: talk.m4a: is MP4 or M4A, which is read with ffmpeg (install it, e.g. apt-get install ffmpeg, or "
            "name it: --ffmpeg PATH)\n");
  for (const char* variable : {"STENO_FFMPEG=none", "STENO_FFMPEG=", "STENO_FFMPEG=/no/program"}) {
    o = steno::test::shell(dir, std::string(variable) + " '" + STENO_PROGRAM + "' -q - < talk.m4a");
    EXPECT_EQ(o.code, 1);
    EXPECT_NE(o.err.find("standard input: is MP4 or M4A, which is read with ffmpeg ("), std::string::npos) << o.err;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1);
  }
  // A folder's are left out, with a note, and the others are read.
  fs::create_directories(dir.path() / "d");
  fs::copy_file(train, dir.path() / "d" / "a.wav");
  fs::rename(dir.path() / "talk.m4a", dir.path() / "d" / "b.m4a");
  o = plain("--ffmpeg none --no-progress d");
  EXPECT_EQ(o.code, 0);
  EXPECT_EQ(o.out, text + "\n");
  EXPECT_NE(o.err.find("d/b.m4a: left out, because it is read with ffmpeg"), std::string::npos) << o.err;
}

TEST_F(steno_media, the_option_goes_before_the_variable) {
  const std::string program = script("exec cat '" + train + "'");
  m4a("talk.m4a");
  for (const std::string& words : {"STENO_FFMPEG=/none '" STENO_PROGRAM "' -q --ffmpeg '" + program + "' talk.m4a",
                                   "STENO_FFMPEG='" + program + "' '" STENO_PROGRAM "' -q talk.m4a",
                                   "STENO_FFMPEG='" + program + "' '" STENO_PROGRAM "' -q - < talk.m4a",
                                   "cat talk.m4a | STENO_FFMPEG='" + program + "' '" STENO_PROGRAM "' -q -",
                                   "STENO_FFMPEG='" + program + "' '" STENO_PROGRAM "' stream -q --demo u2 talk.m4a"}) {
    const outcome o = steno::test::shell(dir, words);
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(o.out, text + "\n") << words;
  }
}

// It gets no file's name, nothing else to open, and no network.
TEST_F(steno_media, names_are_no_arguments_of_ffmpeg) {
  const std::string program = script("echo \"$0 $*\" | cut -d' ' -f2- >&2; exit 1");
  for (const char* name : {"-version.m4a", "http:x.m4a", "concat:a|b.m4a", "%d.m4a", "a'b\"$(c).m4a"}) {
    m4a(name);
    std::string shell_name = name;
    if (const std::size_t at = shell_name.find('\''); at != std::string::npos) shell_name.replace(at, 1, "'\\''");
    const outcome o = run("--ffmpeg '" + program + "' -- '" + shell_name + "'");
    EXPECT_EQ(o.code, 1);
    EXPECT_EQ(o.err.rfind("steno: " + std::string(name) + ": ffmpeg cannot read it: ", 0), 0u) << o.err;
    EXPECT_EQ(o.err.find(name, 20 + std::string(name).size()), std::string::npos) << o.err;
    for (const char* argument :
         {"-nostdin", "-protocol_whitelist file ", "-vn -sn -dn -i file:/dev/fd/0 ", " -f wav pipe:1"})
      EXPECT_NE(o.err.find(argument), std::string::npos) << o.err;
  }
  const outcome o = run("--ffmpeg '" + program + "' - < %d.m4a");
  EXPECT_NE(o.err.find("-i file:/dev/fd/0 "), std::string::npos) << o.err;
  const outcome piped = steno::test::shell(dir, "cat %d.m4a | '" STENO_PROGRAM "' -q --ffmpeg '" + program + "' -");
  EXPECT_NE(piped.err.find("-protocol_whitelist pipe "), std::string::npos) << piped.err;
  EXPECT_NE(piped.err.find("-i pipe:0 "), std::string::npos) << piped.err;
}

TEST_F(steno_media, how_ffmpeg_ends_is_an_error_or_a_warning) {
  m4a("talk.m4a");
  const struct {
    const char* lines;
    int code;
    const char* told;
  } cases[] = {
      {"exit 0", 1, "talk.m4a: has no sound in it"},
      {"exit 7", 1, "talk.m4a: ffmpeg cannot read it: it ended with code 7"},
      {"kill -SEGV $$", 1, "talk.m4a: ffmpeg cannot read it: it ended with code 139"},
      {"printf 'one\\ntwo \\033[31m\\n' >&2; exit 1", 1, "talk.m4a: ffmpeg cannot read it: one; two \\x1b[31m"},
      {"yes broken | head -n 200000 >&2; exit 1", 1, "talk.m4a: ffmpeg cannot read it: broken\n"},
      {"echo no wave", 1, "talk.m4a: has no sound in it"},
      {"cat '$IN'; echo '[x @ 0x1] [error] bad block' >&2", 3, "of sound could be read; ffmpeg: bad block"},
      {"cat '$IN'; exit 1", 3, "of sound could be read; ffmpeg: it ended with code 1"},
      {"head -c 60000 '$IN'; kill -KILL $$", 3, "the sound is cut short: "},
      {"cat '$IN'; echo '[warning] odd' >&2; yes '[info] x' | head -n 200000 >&2", 0, ""},
  };
  for (const auto& c : cases) {
    std::string lines = c.lines;
    if (const std::size_t at = lines.find("$IN"); at != std::string::npos) lines.replace(at, 3, train);
    const outcome o = run("--ffmpeg '" + script(lines) + "' talk.m4a");
    EXPECT_EQ(o.code, c.code) << c.lines << '\n' << o.err;
    EXPECT_NE(o.err.find(c.told), std::string::npos) << c.lines << '\n' << o.err;
    if (c.code == 0) {
      EXPECT_EQ(o.out, text + "\n");
    }
  }
}

// Ctrl-C, and a death that leaves no time: nobody is left behind.
TEST_F(steno_media, nobody_is_left_behind) {
  ASSERT_EQ(::mkfifo((dir.path() / "never").c_str(), 0600), 0);
  const std::string program = script("head -c 60000 '" + train + "'; exec < '" + (dir.path() / "never").string() + "'");
  const std::string decoder = program + " -hide_banner";
  m4a("talk.m4a");
  const std::string command =
      "'" STENO_PROGRAM "' vad --format jsonl --ffmpeg '" + program + "' '" + (dir.path() / "talk.m4a").string() + "'";
  for (const int signal : {SIGINT, SIGTERM, SIGKILL}) {
    running_program steno(command);
    for (int i = 0; i < 400 && !is_running(decoder); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(25));
    ASSERT_TRUE(is_running(decoder)) << signal;
    steno.send(signal);
    EXPECT_EQ(steno.wait(), 128 + signal) << steno.err;
    EXPECT_TRUE(is_over(decoder)) << signal;
  }
}

// Ctrl-C on a terminal goes to all of the program's group, and ffmpeg is not in it; what was decoded is no damage.
TEST_F(steno_media, an_interruption_is_no_damage) {
  std::string wav = contents(train);
  for (const std::size_t size : {4u, 40u}) wav.replace(size, 4, "\xff\xff\xff\xff");
  write(dir.path() / "open.wav", wav);
  const std::string program = script("cat '" + (dir.path() / "open.wav").string() + "'; exec sleep 1000");
  m4a("talk.m4a");
  running_program steno("'" STENO_PROGRAM "' stream --demo u2 --chunk-size 4 --format jsonl --ffmpeg '" + program +
                        "' '" + (dir.path() / "talk.m4a").string() + "'");
  ASSERT_TRUE(steno.says("seven")) << steno.out;
  steno.send(SIGINT);
  EXPECT_EQ(steno.wait(), 130) << steno.err;
  EXPECT_EQ(steno.err.find("damaged"), std::string::npos) << steno.err;
}

TEST_F(steno_media, a_stream_goes_through_ffmpeg_as_it_comes) {
  if (!has("ffmpeg")) GTEST_SKIP() << "needs ffmpeg";
  if (steno::test::shell(dir, "ffmpeg -v error -i '" + train +
                                  "' -c:a aac -movflags +faststart fast.m4a && "
                                  "ffmpeg -v error -i '" +
                                  train + "' -c:a aac last.m4a")
          .code != 0)
    GTEST_SKIP() << "this ffmpeg makes no AAC";
  for (const char* words : {"cat fast.m4a | $S -", "$S - < fast.m4a", "$S - < last.m4a", "$S last.m4a",
                            "mkfifo f; cat fast.m4a > f & $S f"}) {
    std::string command = words;
    command.replace(command.find("$S"), 2, std::string("'") + STENO_PROGRAM + "' -q");
    const outcome o = steno::test::shell(dir, command);
    EXPECT_EQ(o.code, 0) << words << '\n' << o.err;
    EXPECT_EQ(o.out, text + "\n") << words;
  }
}

// The same samples by both ways, so the same words at the same times.
TEST_F(steno_media, both_ways_give_the_same) {
  if (!has("ffmpeg")) GTEST_SKIP() << "needs ffmpeg";
  if (steno::test::shell(dir, "ffmpeg -v error -i '" + train + "' -c:a alac a.m4a && ffmpeg -v error -i '" + train +
                                  "' -c:a flac a.mka")
          .code != 0)
    GTEST_SKIP() << "this ffmpeg makes no ALAC";
  const auto result = [&](const std::string& path) {
    json j = json::parse(run("--format json '" + path + "'").out);
    j.erase("audio");
    return j;
  };
  const json expected = result(train);
  EXPECT_EQ(result("a.m4a"), expected);
  EXPECT_EQ(result("a.mka"), expected);
}

// Words of a film stand where they are in its picture.
TEST_F(steno_media, sound_that_begins_late_stays_late) {
  if (!has("ffmpeg")) GTEST_SKIP() << "needs ffmpeg";
  if (steno::test::shell(dir, "ffmpeg -v error -f lavfi -i testsrc=size=64x48:rate=5 -itsoffset 2 -i '" + train +
                                  "' -t 6 -c:v mpeg4 -c:a flac film.mkv")
          .code != 0)
    GTEST_SKIP() << "this ffmpeg makes no such film";
  const json late = json::parse(run("--format json film.mkv").out),
             plain = json::parse(run("--format json '" + train + "'").out);
  const auto last = [](const json& j) { return j["segments"].back()["words"].back()["start"].get<double>(); };
  EXPECT_NEAR(last(late), last(plain) + 2, 0.15);
}

TEST_F(steno_media, folders_keep_their_tree) {
  for (const char* name : {"in/a.wav", "in/b/a.wav", "in/b/c/d.wav"}) {
    fs::create_directories((dir.path() / name).parent_path());
    fs::copy_file(train, dir.path() / name);
  }
  fs::create_directory_symlink("..", dir.path() / "in" / "b" / "loop");
  outcome o = plain("-r --demo sense-voice -o out/ --no-progress in");
  EXPECT_EQ(o.code, 0) << o.err;
  for (const char* name : {"out/a.txt", "out/b/a.txt", "out/b/c/d.txt"})
    EXPECT_EQ(contents(dir.path() / name), text + "\n") << name;
  EXPECT_NE(o.err.find("in/b/loop: left out, because links to folders are not followed"), std::string::npos) << o.err;
  o = plain("vad -q --recursive --format jsonl in");
  EXPECT_EQ(o.code, 0) << o.err;
  EXPECT_LT(o.out.find("in/a.wav"), o.out.find("in/b/a.wav"));
  EXPECT_NE(o.out.find("in/b/c/d.wav"), std::string::npos);
  EXPECT_EQ(plain("-q --demo sense-voice in").out, text + "\n");
}

// Times are those of the recording, in every verb and format.
TEST_F(steno_media, a_part_of_a_recording) {
  write_call("call.wav");  // in the first channel up to 2.9 s, in the second from 4 s
  const auto starts = [](const json& j) {
    std::vector<double> all;
    for (const json& s : j["segments"]) {
      all.push_back(s["start"]);
      for (const json& w : s.value("words", json::array())) all.push_back(w["start"]);
    }
    return all;
  };
  const json part = json::parse(run("--format json --channels 2 --offset 3.5 --duration 4 call.wav").out);
  EXPECT_EQ(part["duration"], 7.5);
  ASSERT_FALSE(starts(part).empty());
  for (const double t : starts(part)) EXPECT_GE(t, 3.5);
  const std::string golden = STENO_SOURCE_DIR "/tests/golden/";
  write(dir.path() / "said.txt", "the train to paris");
  const struct {
    const char* words;
    const char* key;
  } verbs[] = {
      {"vad -q --format json --channels 2 --offset 3.5", "segments"},
      {"vad -q --format json --channels 2 --start 3.5", "segments"},
      {"align -q --format json --channels 2 --offset 3.5 --text said.txt -m '$Gqwen3_aligner/model.gguf'", "segments"},
      {"diarize -q --format json --channels 2 --start 3.5 -m '$Gsortformer/model.gguf'", "segments"},
  };
  for (const auto& v : verbs) {
    std::string words = v.words;
    if (const std::size_t at = words.find("$G"); at != std::string::npos) words.replace(at, 2, golden);
    const outcome o = plain(words + " call.wav");
    ASSERT_EQ(o.code, 0) << words << '\n' << o.err;
    const json j = json::parse(o.out);
    EXPECT_GT(j["duration"], 4.0) << words;
    for (const double t : starts(j)) EXPECT_GE(t, 3.5) << words;
  }
  const outcome live =
      plain("stream -q --demo u2 --vad energy --format jsonl --channels 2 --offset 3.5 --duration 4 call.wav");
  std::istringstream lines(live.out);
  int events = 0;
  for (std::string line; std::getline(lines, line); ++events) {
    const json j = json::parse(line);
    for (const char* key : {"start", "time", "heard", "end"}) EXPECT_GE(j.value(key, 3.5), 3.5) << line;
    for (const json& w : j.value("words", json::array())) EXPECT_GE(w["start"], 3.5) << line;
  }
  EXPECT_GT(events, 2) << live.err;
  const outcome behind = run("--offset 100 call.wav");
  EXPECT_EQ(behind.code, 1);
  EXPECT_NE(behind.err.find("call.wav: --offset 100.000 s is behind its end"), std::string::npos) << behind.err;
}

TEST_F(steno_media, the_sides_of_a_call_are_speakers) {
  write_call("call.wav");
  const std::string other = run("'" STENO_SOURCE_DIR "/examples/audio/shopping.wav'").out;
  const std::string first = "Channel 1: " + text, second = "Channel 2: " + other.substr(0, other.find('\n'));
  EXPECT_EQ(run("--channels split call.wav").out, first + "\n" + second + "\n");
  EXPECT_EQ(run("--channels split - < call.wav").out, first + "\n" + second + "\n");
  EXPECT_EQ(run("--channels 1 call.wav").out, text + "\n");
  EXPECT_EQ(run("--channels split --parallel-clips 2 call.wav call.wav").out,
            first + "\n" + second + "\n\n" + first + "\n" + second + "\n");
  write(dir.path() / "names.txt", "Agent\nCustomer\n");
  EXPECT_EQ(run("--channels split --speaker-names names.txt call.wav").out,
            "Agent: " + text + "\n" + "Customer: " + other);
  const json j = json::parse(run("--channels split --format json call.wav").out);
  ASSERT_EQ(j["segments"].size(), 2u);
  for (int c : {0, 1}) {
    const json& s = j["segments"][static_cast<std::size_t>(c)];
    EXPECT_EQ(s["channel"], c + 1);
    EXPECT_EQ(s["speaker"], "Channel " + std::to_string(c + 1));
    EXPECT_EQ(s["words"][0]["speaker"], s["speaker"]);
  }
  EXPECT_EQ(run("--channels split --format rttm call.wav").out.rfind("SPEAKER call 1 ", 0), 0u);
  for (const char* format : {"rttm", "ctm", "stm"})
    EXPECT_NE(run(std::string("--channels split --format ") + format + " call.wav").out.find("call 2 "),
              std::string::npos)
        << format;
  EXPECT_NE(run("--channels split --format srt call.wav").out.find("Channel 2: "), std::string::npos);
  EXPECT_NE(run("--channels split --format vtt call.wav").out.find("<v Channel 2>"), std::string::npos);
  EXPECT_NE(run("--channels split --format tsv call.wav").out.find("\tChannel 2\t"), std::string::npos);
  write(dir.path() / "names.txt", "a\nb\nc\n");
  const outcome more = run("--channels split --speaker-names names.txt call.wav");
  EXPECT_EQ(more.code, 1);
  EXPECT_NE(more.err.find("call.wav: has fewer channels than names.txt names"), std::string::npos) << more.err;
  const outcome none = run("--channels 3 call.wav");
  EXPECT_EQ(none.code, 1);
  EXPECT_NE(none.err.find("call.wav: has no channel 3"), std::string::npos) << none.err;
}

// Whisper looks at a recording first, and has its own windows and formats.
TEST_F(steno_media, whisper_takes_parts_and_channels) {
  write_call("call.wav");
  const outcome split = plain("-q --demo whisper --channels split --format json --style openai call.wav");
  ASSERT_EQ(split.code, 0) << split.err;
  const json j = json::parse(split.out);
  ASSERT_GE(j["segments"].size(), 2u);
  EXPECT_EQ(j["segments"].front()["speaker"], "Channel 1");
  EXPECT_EQ(j["segments"].back()["speaker"], "Channel 2");
  const outcome part = plain("-q --demo whisper --channels 2 --offset 3.5 --format json --style openai call.wav");
  ASSERT_EQ(part.code, 0) << part.err;
  const json of_the_part = json::parse(part.out);
  for (const json& s : of_the_part["segments"]) {
    EXPECT_GE(s["start"], 3.5);
    EXPECT_GE(s["seek"], 350);
  }
}

// Every one of these options, of every verb: it does something, or it is refused by its name before any work.
TEST_F(steno_media, options_are_honoured_or_refused_by_every_verb) {
  write(dir.path() / "said.txt", "the train to paris");
  const std::string golden = STENO_SOURCE_DIR "/tests/golden/";
  const std::map<std::string, std::string> verbs = {
      {"transcribe", "--demo sense-voice"},
      {"stream", "--demo u2"},
      {"vad", ""},
      {"diarize", "-m '" + golden + "sortformer/model.gguf'"},
      {"align", "--text said.txt -m '" + golden + "qwen3_aligner/model.gguf'"},
      {"bench", "--runs 1 --demo sense-voice"},
      {"info", ""},
      {"serve", "--demo u2"}};
  const struct {
    const char* option;
    const char* value;
    std::vector<std::string> verbs;  // that honour it
  } options[] = {
      {"--ffmpeg", "none", {"transcribe", "stream", "vad", "diarize", "align", "bench"}},
      {"--offset", "0.5", {"transcribe", "stream", "vad", "diarize", "align"}},  // of diarize it is another
      {"--start", "0.5", {"transcribe", "stream", "vad", "diarize", "align"}},
      {"--duration", "2", {"transcribe", "stream", "vad", "diarize", "align"}},
      {"--channels", "mix", {"transcribe", "stream", "vad", "diarize", "align"}},
      {"--channels", "1", {"transcribe", "stream", "vad", "diarize", "align"}},
      {"--channels", "split", {"transcribe"}},
      {"-r", "", {"transcribe", "vad", "diarize"}},
      {"--recursive", "", {"transcribe", "vad", "diarize"}},
  };
  for (const auto& [verb, needed] : verbs)
    for (const auto& o : options) {
      if (verb == "serve" && o.option == std::string("--ffmpeg")) continue;  // of its clients' recordings
      const bool honoured = std::find(o.verbs.begin(), o.verbs.end(), verb) != o.verbs.end();
      const std::string words = verb + " " + needed + " " + o.option + " " + o.value;
      const outcome done = plain(words + " '" + train + "'");
      if (honoured) {
        EXPECT_EQ(done.code, 0) << words << '\n' << done.err;
        continue;
      }
      EXPECT_EQ(done.code, 2) << words;
      EXPECT_EQ(done.out, "") << words;
      EXPECT_NE(done.err.find(o.option), std::string::npos) << words << '\n' << done.err;
      EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
    }
  for (const char* words : {"--channels split --speakers x.nemo", "--channels both", "--channels 0", "--offset -1",
                            "--duration 0", "--speaker-names said.txt", "--format rttm"}) {
    const outcome o = run(std::string(words) + " '" + train + "'");
    EXPECT_EQ(o.code, 2) << words;
    EXPECT_EQ(std::count(o.err.begin(), o.err.end(), '\n'), 1) << o.err;
  }
  const outcome clips = plain("-q --demo whisper --offset 1 --clip-timestamps 0,1 '" + train + "'");
  EXPECT_EQ(clips.code, 2);
  EXPECT_NE(clips.err.find("--clip-timestamps"), std::string::npos) << clips.err;
}

}  // namespace steno_media_test
