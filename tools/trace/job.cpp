// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

#include <steno/error.hpp>

#include <sndfile.hh>

#include <algorithm>
#include <charconv>

#include "convert/glob.hpp"
#include "convert/utf8_path.hpp"
#include "npy.hpp"

namespace steno::trace {

void settings::add(const std::string& pair) {
  const auto at = pair.find('=');
  if (at == std::string::npos) fail({.what = "--set", .expected = "KEY=VALUE", .found = steno::weights::quoted(pair)});
  values_[pair.substr(0, at)] = pair.substr(at + 1);
}

std::string settings::take(const std::string& key, const std::string& otherwise) {
  const auto found = values_.find(key);
  if (found == values_.end()) return otherwise;
  std::string v = found->second;
  values_.erase(found);
  return v;
}

bool settings::take_flag(const std::string& key, bool otherwise) {
  const std::string v = take(key, otherwise ? "true" : "false");
  if (v == "true" || v == "yes" || v == "1") return true;
  if (v == "false" || v == "no" || v == "0") return false;
  fail({.what = "--set " + key, .expected = "true or false", .found = v});
}

std::int64_t settings::take_number(const std::string& key, std::int64_t otherwise) {
  const std::string v = take(key, std::to_string(otherwise));
  std::int64_t n = 0;
  const auto [end, status] = std::from_chars(v.data(), v.data() + v.size(), n);
  if (status != std::errc() || end != v.data() + v.size())
    fail({.what = "--set " + key, .expected = "a whole number", .found = v});
  return n;
}

double settings::take_real(const std::string& key, double otherwise) {
  const std::string v = take(key, "");
  if (v.empty()) return otherwise;
  double n = 0;
  const auto [end, status] = std::from_chars(v.data(), v.data() + v.size(), n);
  if (status != std::errc() || end != v.data() + v.size())
    fail({.what = "--set " + key, .expected = "a number", .found = v});
  return n;
}

void settings::finish() const {
  if (!values_.empty()) fail({.what = "--set " + values_.begin()->first + ": this model has no such setting"});
}

void job::write(const std::string& name, const view<const float>& x) const {
  if (name.empty() || !matches_glob(only, name)) return;
  std::vector<float> values(static_cast<std::size_t>(x.rows() * x.cols()));
  for (extent t = 0; t < x.rows(); ++t)
    std::copy_n(x.data() + t * x.outerStride(), x.cols(), values.data() + t * x.cols());
  npy::save(out / (name + ".npy"), values.data(), {x.rows(), x.cols()});
}

void job::write(const std::string& name, std::span<const float> values, const std::vector<std::int64_t>& shape) const {
  if (name.empty() || !matches_glob(only, name)) return;
  npy::save(out / (name + ".npy"), values.data(), shape);
}

std::vector<float> read_audio(const std::string& path, int rate) {
#if defined(_WIN32)
  SndfileHandle file(utf8_path(path).c_str());  // in UTF-16
#else
  SndfileHandle file(path);
#endif
  if (!file) fail({.where = path, .what = std::string("not readable as audio: ") + file.strError()});
  if (file.samplerate() != rate || file.channels() != 1)
    fail({.where = path,
          .what = "sample rate and channels",
          .expected = std::to_string(rate) + " Hz, 1",
          .found = std::to_string(file.samplerate()) + " Hz, " + std::to_string(file.channels()),
          .hint = "steno-trace never resamples; steno transcribe does"});
  std::vector<float> pcm(static_cast<std::size_t>(file.frames()));
  const auto got = file.readf(pcm.data(), static_cast<sf_count_t>(pcm.size()));
  pcm.resize(static_cast<std::size_t>(got));
  return pcm;
}

}  // namespace steno::trace
