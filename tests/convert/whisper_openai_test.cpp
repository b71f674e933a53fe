// openai's .pt: every entry of dims is read, and one that steno does not know is an error.
// SPDX-License-Identifier: Apache-2.0
#include <zip.h>

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>
#include <string>

#include "convert.hpp"
#include "convert/fixtures.hpp"
#include "support/golden.hpp"
#include "support/refusal.hpp"

namespace whisper_openai_test {

namespace fs = std::filesystem;
using namespace steno;

// A pickle of {"dims": {...}, "model_state_dict": {"w": a tensor of one float}}, as torch.save writes it.
class pickled {
 public:
  explicit pickled(const std::map<std::string, std::int32_t>& dims) {
    add("\x80\x02}(");
    text("dims");
    add("}(");
    for (const auto& [key, value] : dims) {
      text(key);
      number(value);
    }
    add("u");
    text("model_state_dict");
    add("}(");
    text("w");
    add("ctorch._utils\n_rebuild_tensor_v2\n((");
    text("storage");
    add("ctorch\nFloatStorage\n");
    text("0");
    text("cpu");
    number(1);
    add("tQ");
    number(0);
    for (int i = 0; i < 2; ++i) {
      add("(");
      number(1);
      add("t");
    }
    add("\x89"
        "ccollections\nOrderedDict\n)RtRuu.");
  }
  const std::string& bytes() const { return bytes_; }

 private:
  void add(std::string_view code) { bytes_ += code; }
  void text(const std::string& t) {
    bytes_ += 'X';
    length(static_cast<std::int32_t>(t.size()));
    bytes_ += t;
  }
  void number(std::int32_t n) {
    bytes_ += 'J';
    length(n);
  }
  void length(std::int32_t n) { bytes_.append(reinterpret_cast<const char*>(&n), 4); }
  std::string bytes_;
};

class whisper_openai : public testing::Test {
 protected:
  std::string refused(const std::map<std::string, std::int32_t>& dims) {
    const std::string object = pickled(dims).bytes(), data(4, '\0');
    const fs::path path = dir_.path() / "model.pt";
    fs::remove(path);
    int failed = 0;
    zip_t* z = zip_open(path.string().c_str(), ZIP_CREATE, &failed);
    zip_file_add(z, "archive/data.pkl", zip_source_buffer(z, object.data(), object.size(), 0), 0);
    zip_file_add(z, "archive/data/0", zip_source_buffer(z, data.data(), data.size(), 0), 0);
    EXPECT_EQ(zip_close(z), 0);
    // A folder without a tokenizer is named, so that the dims are what is left to complain of.
    return test::refusal([&] { (void)open_checkpoint(path, weights::file_reading::mapped, dir_.path()); });
  }
  const test::temporary_directory dir_;
  const std::map<std::string, std::int32_t> good_{
      {"n_mels", 80},       {"n_vocab", 51865},  {"n_audio_ctx", 1500}, {"n_audio_state", 384}, {"n_audio_head", 6},
      {"n_audio_layer", 4}, {"n_text_ctx", 448}, {"n_text_state", 384}, {"n_text_head", 6},     {"n_text_layer", 4}};
};

TEST_F(whisper_openai, dims_are_all_read) {
  EXPECT_NE(refused(good_).find("holds no tokenizer"), std::string::npos) << refused(good_);
  for (const auto& [key, value] : good_) {
    std::map<std::string, std::int32_t> dims = good_;
    dims.erase(key);
    if (key != "n_text_layer") {  // by which such a file is known
      EXPECT_NE(refused(dims).find("dims." + key), std::string::npos) << key;
    }
    EXPECT_NE(refused(dims), "");
    dims[key] = -1;
    EXPECT_NE(refused(dims).find("dims." + key), std::string::npos) << key;
  }
  std::map<std::string, std::int32_t> dims = good_;
  dims["n_speakers"] = 2;
  EXPECT_NE(refused(dims).find("\"dims.n_speakers\" is a setting that steno does not know"), std::string::npos)
      << refused(dims);
  dims = good_;
  dims["n_text_state"] = 512;
  EXPECT_NE(refused(dims).find("n_text_state and n_audio_state differ"), std::string::npos);
}

}  // namespace whisper_openai_test
