// Model files that change while they are in use, and weights that are no numbers in places that loading leaves alone.
// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/gguf.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "programs/run_program.hpp"
#include "support/running_program.hpp"

namespace steno_model_files_test {

namespace fs = std::filesystem;
using steno::test::running_program;

const fs::path examples = fs::path(STENO_SOURCE_DIR) / "examples";

std::string quoted(const fs::path& p) { return std::string(1, '\'').append(p.string()).append(1, '\''); }

std::string content(const fs::path& p) {
  std::ifstream in(p, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class model_files : public testing::Test {
 protected:
  // Listens to the recording with a model that is cut to nothing when half of it was heard.
  int listen(const char* model, const std::string& options, std::string& out, std::string& err) {
    const fs::path file = dir.path() / "model.gguf";
    fs::copy_file(examples / "models" / model, file, fs::copy_options::overwrite_existing);
    const std::string wav = content(examples / "audio/train.wav").substr(44), silence(96000, '\0');
    running_program p(quoted(STENO_PROGRAM) + " stream -q --format jsonl " + options + " -m " + quoted(file) + " -");
    p.write(wav + silence);
    EXPECT_TRUE(p.says("\n")) << p.err;
    fs::resize_file(file, 0);
    p.write(wav + silence);
    p.close_input();
    const int code = p.wait();
    out = p.out;
    err = p.err;
    return code;
  }
  steno::test::temporary_directory dir;
};

TEST_F(model_files, a_copy_is_not_reached_by_what_happens_to_the_file) {
  std::string out, err;
  EXPECT_EQ(listen("u2.gguf", "--no-mmap", out, err), 0) << err;
  EXPECT_NE(out.find("train"), std::string::npos) << out;
  EXPECT_EQ(err, "");
}

// A mapping is: the embedding of U2's decoders stays in the file.
TEST_F(model_files, a_mapped_file_that_is_cut_is_named_as_the_reason) {
  std::string out, err;
  EXPECT_EQ(listen("u2.gguf", "", out, err), 1);
  EXPECT_EQ(err.find("steno: a file was cut, overwritten or lost while it was read"), 0u) << err;
  EXPECT_EQ(err.find('\n'), err.size() - 1) << err;
}

TEST_F(model_files, check_weights_looks_at_what_loading_leaves_in_the_file) {
  const std::string tensor = "encoder.positional_embedding";
  std::string bytes = content(examples / "models/whisper.gguf");
  {
    const steno::gguf_file whole((examples / "models/whisper.gguf").string());
    const auto t = whole.find(tensor);
    ASSERT_TRUE(t && t->bytes.size() > 1u << 16);
    const std::uint32_t nan = t->format == steno::dtype::f32 ? 0x7fc00000u : 0x7e007e00u;
    std::memcpy(bytes.data() + (t->bytes.data() - whole.bytes().data()) + 8, &nan, 4);
  }
  const fs::path file = dir.path() / "nan.gguf";
  std::ofstream(file, std::ios::binary) << bytes;
  const auto run = [&](const std::string& options) {
    return steno::test::shell(dir, quoted(STENO_PROGRAM) + " -q " + options + " -m " + quoted(file) + " " +
                                       quoted(examples / "audio/train.wav"));
  };
  const auto looked = run("--check-weights");
  EXPECT_EQ(looked.code, 1);
  EXPECT_EQ(looked.out, "");
  EXPECT_NE(looked.err.find("nan.gguf: tensor \"" + tensor + "\", value "), std::string::npos) << looked.err;
}

// A checkpoint is converted once; another one, or a changed one, has another copy.
TEST_F(model_files, a_converted_copy_is_kept_where_it_is_asked_for) {
  const fs::path checkpoint = dir.path() / "model", cache = dir.path() / "cache/steno/models";
  fs::copy(fs::path(STENO_SOURCE_DIR) / "tests/convert/fixtures/sense_voice", checkpoint);
  const auto run = [&](const std::string& options) {
    return steno::test::shell(dir, "XDG_CACHE_HOME=cache " + quoted(STENO_PROGRAM) + " --format json " + options +
                                       " -m model " + quoted(examples / "audio/train.wav"));
  };
  const auto copies = [&] {
    std::vector<fs::path> all;
    if (fs::exists(cache))
      for (const auto& e : fs::directory_iterator(cache))
        if (e.path().extension() == ".gguf") all.push_back(e.path());
    return all;
  };
  const auto plain = run("");
  ASSERT_EQ(plain.code, 0) << plain.err;
  EXPECT_TRUE(copies().empty());
  const auto first = run("--cache");
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, plain.out);
  EXPECT_NE(first.err.find("is kept as"), std::string::npos) << first.err;
  ASSERT_EQ(copies().size(), 1u);
  const auto made = fs::last_write_time(copies()[0]);
  const auto second = run("--cache");
  EXPECT_EQ(second.out, plain.out);
  EXPECT_EQ(second.err.find("is kept as"), std::string::npos) << second.err;
  ASSERT_EQ(copies().size(), 1u);
  EXPECT_EQ(fs::last_write_time(copies()[0]), made);
  // The notes of the converter are said each time, as without a copy.
  for (std::size_t at = 0, end = 0; (end = plain.err.find('\n', at)) != std::string::npos; at = end + 1)
    if (const std::string line = plain.err.substr(at, end - at); line.find("real time") == std::string::npos) {
      EXPECT_NE(second.err.find(line), std::string::npos) << line << " is not in " << second.err;
    }
  std::ofstream(checkpoint / "config.yaml", std::ios::app) << "\n# changed\n";
  EXPECT_EQ(run("--cache").code, 0);
  EXPECT_EQ(copies().size(), 2u);
  // What is packaged needs none.
  EXPECT_EQ(run("--cache -m " + quoted(examples / "models/demo.gguf")).code, 0);
  EXPECT_EQ(copies().size(), 2u);
  fs::remove_all(dir.path() / "cache");
  std::ofstream(dir.path() / "cache") << "a file";
  const auto bad = run("--cache");
  EXPECT_EQ(bad.code, 1);
  EXPECT_NE(bad.err.find("cache/steno/models"), std::string::npos) << bad.err;
}

}  // namespace steno_model_files_test
