// steno - transcribes speech; an example of the library and a tool of its own.
//
// options.cpp reads the command line, each verb has a file of its name, audio.cpp brings sound,
// engine.cpp runs the model, writers.cpp writes results.
#include <cstdio>
#include <exception>

#include "options.hpp"
#include "signals.hpp"
#include "verbs.hpp"

namespace {

int run(const steno::app::options& o) {
  if (o.verb == "info") return steno::app::run_info(o);
  if (o.verb == "bench") return steno::app::run_bench(o);
  if (o.verb == "stream") return steno::app::run_stream(o);
  if (o.verb == "serve") return steno::app::run_serve(o);
  if (o.verb == "vad") return steno::app::run_vad(o);
  if (o.verb == "diarize") return steno::app::run_diarize(o);
  if (o.verb == "align") return steno::app::run_align(o);
  return steno::app::run_transcribe(o);
}

}  // namespace

int main(int argc, char** argv) {
  steno::app::prepare_standard_streams();
  try {
    return run(steno::app::parse_options({argv + (argc > 0 ? 1 : 0), argv + argc}));
  } catch (const steno::app::stop& s) {
    std::fputs(s.text.c_str(), s.code == 0 ? stdout : stderr);
    return s.code;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "steno: %s\n", e.what());
    return 1;
  }
}
