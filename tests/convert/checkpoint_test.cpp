// Torch checkpoints of every layout against what torch itself reads from them (fixtures/*.json).
#include "torch/checkpoint.hpp"

#include <cmath>

#include "convert/fixtures.hpp"
#include "support/golden.hpp"

namespace {

using steno::test::error_of;
using steno::test::fixture;
using steno::torch::checkpoint;

void expect_tensors(const std::filesystem::path& file, const std::string& expected_name) {
  SCOPED_TRACE(file.filename().string());
  const nlohmann::json expected = steno::test::read_json(fixture(expected_name));
  checkpoint c(file);
  EXPECT_EQ(c.tensors().size(), expected.size());
  for (const auto& [name, want] : expected.items()) {
    const checkpoint::entry* e = c.find(name);
    ASSERT_NE(e, nullptr) << name;
    EXPECT_EQ(name_of_scalar(e->type), want["type"].get<std::string>()) << name;
    EXPECT_EQ(e->shape, want["shape"].get<std::vector<std::uint64_t>>()) << name;
    const auto values = want["values"].get<std::vector<double>>();
    ASSERT_EQ(e->count, values.size()) << name;
    std::vector<float> got(values.size());
    c.read(*e, got);
    for (std::size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], static_cast<float>(values[i])) << name << " " << i;
  }
}

TEST(torch_checkpoint, every_layout_equals_torch) {
  for (const char* name : {"zip_protocol2.pt", "zip_protocol4.pt", "legacy.pt", "deflated.pt"})
    expect_tensors(fixture(name), "expected.json");
}

TEST(torch_checkpoint, state_dict_inside_a_training_checkpoint) {
  expect_tensors(fixture("training.pt"), "training.json");
  expect_tensors(fixture("training_legacy.pt"), "training.json");
  expect_tensors(fixture("distributed.pt"), "training.json");  // names without their common prefix
}

TEST(torch_checkpoint, stored_bytes_are_kept) {
  checkpoint c(fixture("zip_protocol2.pt"));
  const checkpoint::entry& e = *c.find("bf16");
  std::vector<std::byte> raw(e.count * 2);
  c.read_bytes(e, raw);
  std::vector<float> values(e.count);
  c.read(e, values);
  for (std::size_t i = 0; i < e.count; ++i) {
    std::uint16_t upper = 0;
    std::memcpy(&upper, raw.data() + 2 * i, 2);
    EXPECT_EQ(upper, std::bit_cast<std::uint32_t>(values[i]) >> 16);
  }
}

TEST(torch_checkpoint, refuses_what_is_not_data) {
  EXPECT_NE(error_of([] { checkpoint c(fixture("calls_system.pt")); }).find("pickle names \"posix.system\""),
            std::string::npos);
  EXPECT_NE(error_of([] { checkpoint c(fixture("whole_module.pt")); }).find("\"torch.nn.modules.linear.Linear\""),
            std::string::npos);
}

TEST(torch_checkpoint, not_a_checkpoint) {
  const auto message = [](std::string_view text) {
    return error_of([&] { checkpoint c(steno::test::bytes_of(text), "model.pt"); });
  };
  EXPECT_EQ(message("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 900\n"),
            "model.pt: a git-LFS pointer, not the file itself (run git lfs pull)");
  EXPECT_EQ(message("RIFF....WAVE"), "model.pt: not a file of torch.save: expected a zip archive or a pickle");
  EXPECT_NE(message("PK\x03\x04").find("cannot be read"), std::string::npos);
  EXPECT_NE(message("\x80\x02K\x05.").find("a pickle, but not one of torch.save"), std::string::npos);
  EXPECT_NE(error_of([] { checkpoint c(std::filesystem::path("missing.pt")); }).find("missing.pt"), std::string::npos);
}

// Every prefix of a checkpoint, and every single changed byte, either loads or throws; nothing else happens.
TEST(torch_checkpoint, damaged_files_throw) {
  for (const char* name : {"zip_protocol2.pt", "legacy.pt", "deflated.pt"}) {
    const std::string whole = steno::test::read_text(fixture(name));
    const auto survives = [&](const std::string& text) {
      try {
        checkpoint c(steno::test::bytes_of(text), name);
        for (const auto& e : c.tensors()) {
          std::vector<float> values(e.count);
          c.read(e, values);
        }
        return true;
      } catch (const steno::error&) {
        return false;
      }
    };
    EXPECT_TRUE(survives(whole));
    for (std::size_t n = 0; n < whole.size(); n += 3) EXPECT_FALSE(survives(whole.substr(0, n))) << name << " " << n;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ 0x55);
      survives(changed);
    }
  }
}

TEST(torch_checkpoint, changed_weights_fail_their_checksum) {
  std::string text = steno::test::read_text(fixture("zip_protocol2.pt"));
  const float first = steno::test::read_json(fixture("expected.json"))["f64"]["values"][1].get<float>();
  const double pattern = first;
  std::string raw(8, '\0');
  std::memcpy(raw.data(), &pattern, 8);
  const std::size_t at = text.find(raw);
  ASSERT_NE(at, std::string::npos);
  text[at] = static_cast<char>(text[at] ^ 1);
  const std::string message = error_of([&] {
    checkpoint c(steno::test::bytes_of(text), "model.pt");
    std::vector<float> values(4);
    c.read(*c.find("f64"), values);
  });
  EXPECT_NE(message.find("CRC"), std::string::npos) << message;
}

TEST(torch_checkpoint, golden_checkpoints_of_all_families_open) {
  STENO_REQUIRE_SHARED(shared);
  for (const char* name : {"sensevoice", "paraformer", "nano", "vad", "punc", "online"}) {
    const auto path = shared / "golden" / "funasr" / name / "checkpoint" / "model.pt";
    ASSERT_TRUE(std::filesystem::exists(path)) << path;
    checkpoint c(path);
    EXPECT_GT(c.tensors().size(), 10u);
    for (const auto& e : c.tensors()) {
      std::vector<float> values(e.count);
      c.read(e, values);
      for (const float v : values) ASSERT_TRUE(std::isfinite(v)) << e.name;
    }
  }
}

}  // namespace
