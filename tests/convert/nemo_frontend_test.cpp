// `preprocessor` of a NeMo config: what is read, noted and refused, what the keys of a packaged file keep of it, and
// tables that an archive stores.
// SPDX-License-Identifier: Apache-2.0
#include "nemo/parakeet.hpp"
#include "support/refusal.hpp"

#include <gtest/gtest.h>

namespace nemo_frontend_test {

using namespace steno;
using frontends::normalisation;

nemo_files::parakeet_settings settings(const std::string& preprocessor) {
  const std::string text = "preprocessor:\n  features: 8\n" + preprocessor;
  nemo_files::parakeet_settings s;
  nemo_files::read_frontend(read_yaml("c.yaml", text, "a NeMo config"), s);
  return s;
}
std::string refused(const std::string& preprocessor) {
  return test::refusal([&] { (void)settings(preprocessor); });
}

nemo::nemo_frontend_options packaged(const nemo_files::parakeet_settings& s, std::size_t* keys = nullptr) {
  weights::gguf_writer file;
  nemo_files::set_frontend_keys(file, "parakeet_ctc", s);
  const std::vector<std::byte> image = file.bytes();
  const gguf_file opened("x", image);
  if (keys != nullptr) *keys = opened.values().size();
  return nemo::read_nemo_frontend_options(opened, "parakeet_ctc", dynamic);
}

TEST(nemo_frontend, class_defaults_need_no_keys_of_their_own) {
  const auto s = settings("");
  EXPECT_EQ(s.frontend.mel.window, 320);
  EXPECT_EQ(s.frontend.mel.shift, 160);
  EXPECT_EQ(s.frontend.mel.fft_size, 512);
  std::size_t keys = 0;
  const auto o = packaged(s, &keys);
  EXPECT_EQ(keys, 6u);
  EXPECT_EQ(o.mel.preemphasis, 0.97f);
  EXPECT_EQ(o.mel.guard, 0x1p-24f);
  EXPECT_EQ(o.normalise, normalisation::per_feature);
}

TEST(nemo_frontend, every_setting_travels_in_the_packaged_file) {
  const auto s = settings(
      "  window_size: null\n  n_window_size: 400\n  window_stride: null\n  n_window_stride: 100\n  n_fft: 1024\n"
      "  window: blackman\n  preemph: 0.9\n  log_zero_guard_type: clamp\n  log_zero_guard_value: 1e-5\n"
      "  mag_power: 1.0\n  log: false\n  exact_pad: true\n  lowfreq: 60\n  highfreq: 7000\n  mel_norm: null\n"
      "  pad_value: 2.5\n  normalize:\n    fixed_mean: [1, 2, 3, 4, 5, 6, 7, 8]\n"
      "    fixed_std: [1, 1, 1, 1, 1, 1, 1, 0.5]\n");
  const auto o = packaged(s);
  EXPECT_EQ(o.mel.window, 400);
  EXPECT_EQ(o.mel.shift, 100);
  EXPECT_EQ(o.mel.fft_size, 1024);
  EXPECT_EQ(o.mel.mels, 8);
  EXPECT_EQ(o.mel.shape, frontends::nemo_window::blackman);
  EXPECT_EQ(o.mel.preemphasis, 0.9f);
  EXPECT_EQ(o.mel.guard_type, frontends::nemo_guard::clamp);
  EXPECT_EQ(o.mel.guard, 1e-5f);
  EXPECT_EQ(o.mel.mag_power, 1);
  EXPECT_FALSE(o.mel.log);
  EXPECT_TRUE(o.mel.exact_pad);
  EXPECT_EQ(o.mel.band.low, 60);
  EXPECT_EQ(o.mel.band.high, 7000);
  EXPECT_FALSE(o.mel.band.unit_area);
  EXPECT_EQ(s.pad_value, 2.5f);
  EXPECT_EQ(o.normalise, normalisation::fixed);
  EXPECT_EQ(o.mean, (std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(o.deviation.back(), 0.5f);
  EXPECT_EQ(packaged(settings("  preemph: null\n")).mel.preemphasis, std::nullopt);
  EXPECT_EQ(packaged(settings("  normalize: all_features\n")).normalise, normalisation::all_features);
  EXPECT_EQ(packaged(settings("  normalize: null\n")).normalise, normalisation::none);
}

// int(seconds * rate), as in Python, not the nearest number.
TEST(nemo_frontend, seconds_become_whole_samples) {
  EXPECT_EQ(settings("  window_size: 0.01299\n").frontend.mel.window, 207);
  EXPECT_EQ(settings("  window_size: 0.025\n").frontend.mel.window, 400);
  EXPECT_EQ(settings("  n_fft: null\n  window_size: 0.04\n").frontend.mel.fft_size, 1024);
}

TEST(nemo_frontend, what_normalises_nothing_is_noted) {
  EXPECT_EQ(settings("  normalize: per_features\n").frontend.normalise, normalisation::none);
  EXPECT_EQ(settings("  normalize: per_features\n").notes.size(), 1u);
  EXPECT_TRUE(settings("  normalize: NA\n").notes.empty());
}

TEST(nemo_frontend, what_is_refused_is_named) {
  const std::pair<const char*, const char*> bad[] = {
      {"  use_torchaudio: true\n", "use_torchaudio"},
      {"  frame_splicing: 2\n", "frame_splicing"},
      {"  pad_to: max\n", "pad_to"},
      {"  pad_to: null\n", "pad_to"},
      {"  sample_rate: 8000\n", "sample rate"},
      {"  window: none\n", "window"},
      {"  window: null\n", "window"},
      {"  window: kaiser\n", "window"},
      {"  n_window_size: 400\n", "n_window_size"},
      {"  window_size: null\n", "n_window_size"},
      {"  n_fft: 128\n", "n_fft"},
      {"  n_fft: 16384\n", "n_fft"},
      {"  log_zero_guard_type: mul\n", "log_zero_guard_type"},
      {"  log_zero_guard_value: small\n", "log_zero_guard_value"},
      {"  log_zero_guard_value: 0\n", "log_zero_guard_value"},
      {"  log_zero_guard_value: null\n", "log_zero_guard_value"},
      {"  preemph: 2\n", "preemph"},
      {"  mag_power: 0\n", "mag_power"},
      {"  mel_norm: 1\n", "mel_norm"},
      {"  highfreq: 9000\n", "highfreq"},
      {"  lowfreq: 8000\n", "lowfreq"},
      {"  exact_pad: true\n  window_stride: 0.0100625\n", "exact_pad"},
      {"  normalize: true\n", "normalize"},
      {"  normalize: 1\n", "normalize"},
      {"  normalize: [1]\n", "normalize"},
      {"  normalize:\n    fixed_mean: [1]\n", "fixed_mean"},
      {"  normalize:\n    fixed_mean: [1, 1, 1, 1, 1, 1, 1, 1]\n", "fixed_std"},
      {"  normalize:\n    fixed_mean: [1, 1, 1, 1, 1, 1, 1, 1]\n    fixed_std: [1, 1, 1, 1, 1, 1, 1, 0]\n",
       "fixed_std"},
  };
  for (const auto& [text, what] : bad) EXPECT_NE(refused(text).find(what), std::string::npos) << text << refused(text);
}

TEST(nemo_frontend, stored_tables_win_where_they_differ) {
  auto s = settings("");
  const nemo_files::stored_tables from{"x.nemo", "w", "fb"};
  const auto hann = frontends::make_nemo_window(frontends::nemo_window::hann, 320);
  const auto hamming = frontends::make_nemo_window(frontends::nemo_window::hamming, 320);
  const auto usual = frontends::mel_filters::slaney(8, 512, 16000).matrix(257);
  const auto other = frontends::mel_filters::slaney(8, 512, 16000, {.high = 7200}).matrix(257);
  nemo_files::take_tables(s, hann, usual, from);
  EXPECT_TRUE(s.frontend.mel.window_values.empty() && s.frontend.mel.filter_values.empty());
  nemo_files::take_tables(s, hamming, other, from);
  EXPECT_EQ(packaged(s).mel.window_values, hamming);
  EXPECT_EQ(packaged(s).mel.filter_values, other);
  // A config that says something else while the tables are those of the defaults: one of the two is not meant.
  auto c = settings("  window: hamming\n  highfreq: 7200\n");
  EXPECT_NE(test::refusal([&] { nemo_files::take_tables(c, hann, other, from); }).find("preprocessor.window"),
            std::string::npos);
  EXPECT_NE(test::refusal([&] { nemo_files::take_tables(c, hamming, usual, from); }).find("highfreq"),
            std::string::npos);
  std::vector<float> bad = usual;
  bad[3] = -1;
  EXPECT_NE(test::refusal([&] { nemo_files::take_tables(s, hann, bad, from); }).find("\"fb\""), std::string::npos);
}

TEST(nemo_frontend, keys_of_a_packaged_file_have_a_range) {
  const auto found = [](const char* key, auto value) {
    weights::gguf_writer file;
    file.set(std::string("p.frontend.") + key, value);
    const std::vector<std::byte> image = file.bytes();
    return test::refusal([&] { (void)nemo::read_nemo_frontend<dynamic>(gguf_file("x", image), "p"); });
  };
  using text = std::string;
  for (const std::string& said :
       {found("guard_type", text("mul")), found("window_shape", text("kaiser")), found("normalize", text("none of it")),
        found("normalize", text("fixed")), found("guard", 0.0f), found("preemphasis", 2.0f), found("mag_power", 0.0f),
        found("window_values", std::vector<float>{1}), found("filter_values", std::vector<float>{1}),
        found("high_frequency", 9000.0), found("low_frequency", 8000.0), found("exact_pad", std::uint32_t{2}),
        found("window", std::uint32_t{600}), found("fft_size", std::uint32_t{514})})
    EXPECT_NE(said.find("p.frontend"), std::string::npos) << said;
}

}  // namespace nemo_frontend_test
