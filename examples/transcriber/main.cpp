// steno - transcribes speech; an example of the library and a tool of its own.
//
// options.cpp reads the command line, each verb has a file of its name, audio.cpp brings sound,
// engine.cpp runs the model, writers.cpp writes results.
// SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "failures.hpp"
#include "model_files.hpp"
#include "options.hpp"
#include "signals.hpp"
#include "system.hpp"
#include "text_width.hpp"
#include "verbs.hpp"

namespace {

int run(const steno::app::options& o) {
  if (o.verb == "models") return steno::app::run_models(o);
  if (o.verb == "info") return steno::app::run_info(o);
  if (o.verb == "bench") return steno::app::run_bench(o);
  if (o.verb == "stream") return steno::app::run_stream(o);
  if (o.verb == "serve") return steno::app::run_serve(o);
  if (o.verb == "vad") return steno::app::run_vad(o);
  if (o.verb == "diarize") return steno::app::run_diarize(o);
  if (o.verb == "align") return steno::app::run_align(o);
  return steno::app::run_transcribe(o);
}

// What failed without a name of its own.
std::string about(const steno::app::options& o, bool read) {
  if (!read) return "the command line";
  return o.verb == "vad" ? o.vad : o.model;
}

int write_all(std::FILE* to, const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), to) == text.size() && std::fflush(to) == 0) return 0;
  steno::app::system::end_without_reader();
  std::fprintf(stderr, "steno: standard output: %s\n", errno == EBADF ? "is closed" : std::strerror(errno));
  return 1;
}

int guarded(const std::vector<std::string>& words) {
  steno::app::options o;
  bool read = false;  // the command line
  try {
    o = steno::app::parse_options({words.begin() + (words.empty() ? 0 : 1), words.end()});
    read = true;
    steno::app::use_model_files({.copied = o.copy_models,
                                 .cached = o.cache_models,
                                 .checked = o.check_weights,
                                 .tokenizer = o.tokenizer,
                                 .model = o.model});
    if (!o.quiet)
      for (const std::string& note : o.notes) std::fprintf(stderr, "steno: %s\n", steno::app::printable(note).c_str());
    return run(o);
  } catch (const steno::app::stop& s) {
    if (s.code == 0) return write_all(stdout, s.text);
    std::fputs(s.text.c_str(), stderr);
    return s.code;
  } catch (const std::exception& e) {
    const std::string text = steno::app::printable(steno::app::failure_text(e, about(o, read)));
    std::fprintf(stderr, "steno: %s\n", text.c_str());
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  steno::app::prepare_standard_streams();
  try {
    return guarded(steno::arguments_of(argc, argv));
  } catch (...) {  // even the message about it found none
    std::fputs("steno: out of memory\n", stderr);
    return 1;
  }
}
