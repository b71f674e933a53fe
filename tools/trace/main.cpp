// steno-trace: runs a model on an input and writes its named intermediate tensors as .npy (float32, C order).
//
// Stage names are those of the golden cases; see docs/models for each model's list and its --set keys.
#include <steno/models/sense_voice.hpp>

#include "convert/convert.hpp"
#include "npy.hpp"

#include <fnmatch.h>
#include <CLI/CLI.hpp>
#include <sndfile.hh>

#include <cstdio>
#include <filesystem>
#include <map>

namespace {

namespace fs = std::filesystem;
using steno::extent;

struct settings {
  std::map<std::string, std::string> values;

  std::string take(const std::string& key, const std::string& otherwise) {
    const auto found = values.find(key);
    if (found == values.end()) return otherwise;
    std::string v = found->second;
    values.erase(found);
    return v;
  }
  bool take_flag(const std::string& key, bool otherwise) {
    const std::string v = take(key, otherwise ? "true" : "false");
    if (v == "true" || v == "yes" || v == "1") return true;
    if (v == "false" || v == "no" || v == "0") return false;
    steno::fail({.what = "--set " + key, .expected = "true or false", .found = v});
  }
  void finish() const {
    if (!values.empty()) steno::fail({.what = "--set " + values.begin()->first + ": this model has no such setting"});
  }
};

std::vector<float> read_audio(const std::string& path, int rate) {
  SndfileHandle file(path);
  if (!file) steno::fail({.where = path, .what = std::string("not readable as audio: ") + file.strError()});
  if (file.samplerate() != rate || file.channels() != 1)
    steno::fail({.where = path,
                 .what = "sample rate and channels",
                 .expected = std::to_string(rate) + " Hz, 1",
                 .found = std::to_string(file.samplerate()) + " Hz, " + std::to_string(file.channels()),
                 .hint = "steno-trace never resamples; steno transcribe does"});
  std::vector<float> pcm(static_cast<std::size_t>(file.frames()));
  const auto got = file.readf(pcm.data(), static_cast<sf_count_t>(pcm.size()));
  pcm.resize(static_cast<std::size_t>(got));
  return pcm;
}

void trace_sense_voice(steno::gguf_file file, std::vector<std::byte> image, const std::string& input, settings set,
                       auto& sink) {
  auto model = steno::load<steno::sense_voice_any>(std::move(file), {}, std::move(image));
  const std::string language = set.take("language", "auto");
  const bool itn = set.take_flag("itn", false);
  if (!set.take_flag("cmvn", true)) model.frontend.last.shift = {}, model.frontend.last.scale = {};
  set.finish();
  steno::context c(steno::executor{}, steno::tracer(sink));
  const std::vector<float> pcm = read_audio(input, model.sample_rate);
  (void)model.recognise(pcm, {.language = language, .itn = itn}, c);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Writes a model's named intermediate tensors as .npy files."};
  std::string model, input, out, only = "*";
  std::vector<std::string> pairs;
  app.add_option("-m,--model", model, "packaged GGUF or a checkpoint that steno-convert reads")->required();
  app.add_option("INPUT", input, "recording at the model's sample rate, mono")->required();
  app.add_option("-o,--output", out, "directory for the .npy files (made when missing)")->required();
  app.add_option("--set", pairs, "KEY=VALUE: a variant; sense_voice: language=auto|zh|en|..., itn=true, cmvn=false");
  app.add_option("--only", only, "write only stages whose names match this glob");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  try {
    settings set;
    for (const std::string& p : pairs) {
      const auto at = p.find('=');
      if (at == std::string::npos) {
        std::fprintf(stderr, "steno-trace: --set takes KEY=VALUE, found \"%s\"\n", p.c_str());
        return 2;
      }
      set.values[p.substr(0, at)] = p.substr(at + 1);
    }
    fs::create_directories(out);
    const auto sink = [&](std::string_view path, const steno::view<const float>& x) {
      const std::string name = steno::sense_voice_any::trace_name(path);
      if (fnmatch(only.c_str(), name.c_str(), 0) != 0) return;
      std::vector<float> values(static_cast<std::size_t>(x.rows() * x.cols()));
      for (extent t = 0; t < x.rows(); ++t)
        std::copy_n(x.data() + t * x.outerStride(), x.cols(), values.data() + t * x.cols());
      npy::save(fs::path(out) / (name + ".npy"), values.data(), {x.rows(), x.cols()});
    };
    steno::opened_checkpoint opened = steno::open_checkpoint(model);
    trace_sense_voice(std::move(opened.file), std::move(opened.image), input, std::move(set), sink);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "steno-trace: %s\n", e.what());
    return 1;
  }
}
