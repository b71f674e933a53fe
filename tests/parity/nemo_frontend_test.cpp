// Settings of NeMo's front end against the original: features, log-probabilities, ids and text of every variant of one
// tiny model, from its archive or, where there is none, with the changed keys put into the base archive's config.
// SPDX-License-Identifier: Apache-2.0
#include <steno/models/parakeet_ctc.hpp>
#include <steno/pipelines/parakeet.hpp>

#include "convert/convert.hpp"
#include "nemo/parakeet.hpp"
#include "support/compare.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"
#include "support/wav.hpp"
#include "trace/stages/nemo.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace nemo_frontend_test {

namespace fs = std::filesystem;
using namespace steno;
using nlohmann::json;

struct variants {
  explicit variants(const fs::path& where) : folder(where), pcm(test::load_wav(where / "input.wav").pcm) {
    std::ifstream in(folder / "expected.json");
    want = json::parse(in);
  }
  fs::path folder;
  std::vector<float> pcm;
  json want;

  // The base config with the changed keys.
  checkpoint_settings config(const json& changes) const {
    std::ifstream in(folder / "checkpoint/base_model_config.yaml");
    std::stringstream text;
    text << in.rdbuf();
    checkpoint_settings c = read_yaml("model_config.yaml", text.str(), "a NeMo config");
    for (const auto& [name, value] : changes.items()) {
      const std::string key = "preprocessor." + name;
      if (value == "(removed)")
        c.settings.erase(key);
      else
        c.settings[key] = value.is_string() ? value.get<std::string>() : value.dump();
    }
    return c;
  }
  opened_checkpoint archive(const std::string& name) const { return open_checkpoint(folder / "checkpoint" / name); }

  // The base model with the front end of `c`; tables that the archive stores are those of its own config.
  opened_checkpoint with_frontend_of(const checkpoint_settings& c) const {
    const opened_checkpoint base = archive("base.nemo");
    weights::gguf_writer file;
    for (const weights::gguf_value& v : base.file.values())
      if (!v.key.starts_with("parakeet_ctc.frontend.")) file.copy(v);
    nemo_files::set_frontend_keys(file, "parakeet_ctc", nemo_files::read_parakeet_settings(c));
    for (std::size_t i = 0; i < base.file.size(); ++i) {
      const weights::tensor_ref t = base.file.tensor(i);
      file.add(t.name, t.format, std::span(t.shape).first(static_cast<std::size_t>(t.rank)), t.bytes);
    }
    weights::mapped_file made("changed", file.size(), [&](std::span<std::byte> zeros) { file.fill(zeros); });
    return {.file = gguf_file(std::move(made)), .notes = {}};
  }
};

// How far from the golden array what the model shows is.
struct stage_book {
  std::map<std::string, std::vector<float>> seen;
  void operator()(std::string_view path, const view<const float>& x) {
    std::vector<float>& all = seen[stages::nemo(path)];
    for (extent t = 0; t < x.rows(); ++t)
      all.insert(all.end(), x.data() + t * x.outerStride(), x.data() + t * x.outerStride() + x.cols());
  }
};

void expect_near(const std::vector<float>& seen, const npy::array& golden, double tolerance, const std::string& what) {
  ASSERT_EQ(static_cast<std::int64_t>(seen.size()), golden.size()) << what;
  const std::vector<float> values = golden.floats();
  double worst = 0;
  for (std::size_t i = 0; i < seen.size(); ++i)
    worst = std::max(worst, std::fabs(static_cast<double>(seen[i]) - static_cast<double>(values[i])));
  EXPECT_LE(worst, tolerance) << what;
}

TEST(parity_nemo_frontend, every_variant_gives_the_originals_features_and_text) {
  STENO_REQUIRE_SHARED(shared);
  const variants all(shared / "golden/nemo/parakeet-ctc-frontend");
  int compared = 0;
  for (const auto& [name, variant] : all.want.at("variants").items()) {
    SCOPED_TRACE(name);
    if (variant.at("changes").contains("use_torchaudio")) {
      const std::string archive = variant.at("archive").get<std::string>();
      EXPECT_NE(test::refusal([&] { (void)all.archive(archive); }).find("preprocessor.use_torchaudio"),
                std::string::npos);
      continue;
    }
    opened_checkpoint opened = variant.contains("archive") ? all.archive(variant.at("archive").get<std::string>())
                                                           : all.with_frontend_of(all.config(variant.at("changes")));
    const auto m = load<nemo::parakeet_ctc_any>(std::move(opened.file));
    stage_book book;
    context c(executor{}, core::tracer(book));
    const segment s = m.recognise(all.pcm, {}, c);
    EXPECT_EQ(s.text, variant.at("text").get<std::string>());
    if (variant.contains("token_ids")) {
      EXPECT_EQ(s.token_ids, variant.at("token_ids").get<std::vector<int>>());
    }
    const std::string same = variant.contains("same_as") ? variant.at("same_as").get<std::string>() : name;
    const npy::array logmel = npy::load(all.folder / "stages" / (same + "_logmel.npy"));
    double bound = 2e-4;
    if (name == "guard_tiny" || name == "mag_power_1" || name == "log_false") {
      const std::vector<float> values = logmel.floats();
      for (const float v : values) bound = std::max(bound, 1e-4 * std::fabs(static_cast<double>(v)));
    }
    expect_near(book.seen.at("logmel"), logmel, bound, "logmel");
    expect_near(book.seen.at("log_probs"), npy::load(all.folder / "stages" / (same + "_log_probs.npy")), 2e-3,
                "log_probs");
    ++compared;
  }
  EXPECT_GE(compared, 34);
}

// What the original refuses is refused, and by the name of a key.
TEST(parity_nemo_frontend, what_the_original_refuses_is_named) {
  STENO_REQUIRE_SHARED(shared);
  const variants all(shared / "golden/nemo/parakeet-ctc-frontend");
  for (const auto& each : all.want.at("refused").items()) {
    const auto& refused = each.value();
    SCOPED_TRACE(each.key());
    const std::string found = test::refusal([&] {
      const checkpoint_settings c = all.config(refused.at("changes"));
      (void)nemo_files::read_parakeet_settings(c);
      std::vector<std::string> notes;
      nemo_files::check_settings(c, notes);
    });
    bool named = false;
    for (const auto& [key, value] : refused.at("changes").items()) named |= found.find(key) != std::string::npos;
    EXPECT_TRUE(named) << found;
  }
}

}  // namespace nemo_frontend_test
