// Model files that change while they are in use, and weights that are no numbers in places that loading leaves alone.
#include <steno/weights/gguf.hpp>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "programs/run_program.hpp"
#include "support/running_program.hpp"

namespace {

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

}  // namespace

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
