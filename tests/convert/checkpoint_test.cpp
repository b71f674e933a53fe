// Torch checkpoints of every layout against what torch itself reads from them (fixtures/*.json).
// SPDX-License-Identifier: Apache-2.0
#include "torch/checkpoint.hpp"

#include <steno/core/bit_cast.hpp>

#include <zip.h>

#include <algorithm>
#include <cmath>

#include "convert/fixtures.hpp"
#include "support/golden.hpp"

namespace checkpoint_test {

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
    EXPECT_EQ(upper, steno::core::bit_cast<std::uint32_t>(values[i]) >> 16);
  }
}

// The entries of a zip archive, without compression.
void repack(const std::filesystem::path& from, const std::filesystem::path& to) {
  zip_t* const source = zip_open(from.string().c_str(), ZIP_RDONLY, nullptr);
  zip_t* const target = zip_open(to.string().c_str(), ZIP_CREATE, nullptr);
  ASSERT_TRUE(source != nullptr && target != nullptr);
  std::vector<std::vector<std::byte>> contents;  // are read when the archive is closed
  for (zip_int64_t i = 0; i < zip_get_num_entries(source, 0); ++i) {
    zip_stat_t facts;
    ASSERT_EQ(zip_stat_index(source, static_cast<zip_uint64_t>(i), 0, &facts), 0);
    contents.emplace_back(facts.size);
    zip_file_t* const file = zip_fopen_index(source, facts.index, 0);
    ASSERT_EQ(zip_fread(file, contents.back().data(), facts.size), static_cast<zip_int64_t>(facts.size));
    zip_fclose(file);
    const zip_int64_t at =
        zip_file_add(target, facts.name, zip_source_buffer(target, contents.back().data(), facts.size, 0), 0);
    ASSERT_EQ(zip_set_file_compression(target, static_cast<zip_uint64_t>(at), ZIP_CM_STORE, 0), 0);
  }
  ASSERT_EQ(zip_close(target), 0);
  zip_discard(source);
}

// Tensors larger than what is read at once: 0 1 ... 6 0 1 ...; "rest" is a part of the storage of "whole".
TEST(torch_checkpoint, large_tensors_go_by_in_pieces) {
  // The fixture shrank, which a reader takes for a bomb; torch writes such entries as they are.
  const steno::test::temporary_directory folder;
  const auto path = folder.path() / "large.pt";
  repack(fixture("large.pt"), path);
  EXPECT_NE(error_of([] { checkpoint c(fixture("large.pt")); }).find("claims to be larger than the file"),
            std::string::npos);
  checkpoint c(path);
  const auto expect = [&](const char* tensor, std::size_t first) {
    const checkpoint::entry& e = *c.find(tensor);
    std::vector<float> values(e.count);
    c.read(e, values);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < values.size(); ++i) wrong += values[i] != static_cast<float>((first + i) % 7);
    EXPECT_EQ(wrong, 0u) << tensor;
  };
  EXPECT_EQ(c.find("ramp")->count, 300001u);
  expect("ramp", 0);
  expect("whole", 0);
  expect("rest", 250000);
  expect("whole", 0);
  expect("ramp", 0);
}

// Tensors that can stay where they lie: whole and in order, of an archive that stores them as they are.
TEST(torch_checkpoint, shows_what_lies_in_the_file) {
  std::size_t shown = 0;
  for (const char* name : {"zip_protocol2.pt", "zip_protocol4.pt", "legacy.pt", "deflated.pt", "training.pt"}) {
    SCOPED_TRACE(name);
    checkpoint c(fixture(name));
    ASSERT_NE(c.file(), nullptr);
    for (const auto& e : c.tensors()) {
      std::vector<std::byte> raw(e.count * size_of_scalar(e.type));
      c.read_bytes(e, raw);
      const auto bytes = c.show(e);
      EXPECT_TRUE(bytes.empty() || name != std::string_view("deflated.pt")) << e.name;
      if (bytes.empty()) continue;
      ++shown;
      EXPECT_TRUE(c.file()->holds(bytes)) << e.name;
      EXPECT_TRUE(std::ranges::equal(bytes, raw)) << e.name;
    }
  }
  EXPECT_GT(shown, 20u);
  const steno::test::temporary_directory folder;
  repack(fixture("large.pt"), folder.path() / "large.pt");
  const std::string large = steno::test::read_text(folder.path() / "large.pt");
  std::size_t ramps = 0, parts = 0;
  for (std::size_t shift = 0; shift < 4; ++shift) {  // floats lie where floats may lie in one of these, halves in two
    alignas(4) static char room[4 << 20];
    ASSERT_LE(shift + large.size(), sizeof room);
    std::memcpy(room + shift, large.data(), large.size());
    checkpoint c(std::as_bytes(std::span(room + shift, large.size())), "large.pt");
    ramps += c.show(*c.find("ramp")).size() == std::size_t{300001} * 4;
    const auto whole = c.show(*c.find("whole")), rest = c.show(*c.find("rest"));
    if (rest.empty()) continue;
    ++parts;
    EXPECT_EQ(rest.data(), whole.data() + 250000 * 2) << "a part of its storage";
  }
  EXPECT_EQ(ramps, 1u);
  EXPECT_EQ(parts, 2u);
  // Of memory nothing is a part of a file.
  const std::string text = steno::test::read_text(fixture("zip_protocol2.pt"));
  EXPECT_EQ(checkpoint(steno::test::bytes_of(text), "model.pt").file(), nullptr);
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
    EXPECT_TRUE(c.show(*c.find("f64")).empty());
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

}  // namespace checkpoint_test
