// What no header may contain (docs/design.md), found by reading them as text.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cctype>
#include <utility>

#include "sources.hpp"

namespace forbidden_test {
namespace {

using steno::test::source;

struct rule {
  const char* name;
  std::regex pattern;
  std::vector<std::string> only_under{};  // allowed below these folders, or in these files
};

// Looked for in code: comments and literals are blanked.
const std::vector<rule>& rules() {
  static const std::vector<rule> all = {
      {"using namespace", std::regex(R"(\busing\s+namespace\b)")},
      {"a heavy standard header", std::regex(R"(#\s*include\s*<(regex|iostream|ranges|functional|fstream|sstream)>)")},
      {"the Eigen modules beyond Core", std::regex(R"(#\s*include\s*<(Eigen/(?!Core>)[A-Za-z]+|unsupported/[^>]*)>)")},
      {"std::function", std::regex(R"(\bstd::(move_only_)?function\b)")},
      // A token outlives its source.
      {"shared_ptr", std::regex(R"(\b(shared_ptr|make_shared)\b)"), {"steno/core/stop_token.hpp"}},
      // Closed classes of the pipelines choose a model once for a clip or a portion, never inside of a forward pass.
      {"virtual", std::regex(R"(\bvirtual\b)"), {"steno/pipelines/"}},
      {"printing",
       std::regex(
           R"(\b(v?f?printf|f?puts|f?putc|putchar|perror)\s*\(|\bstd::(cout|cerr|clog)\b|\bstderr\b|\bstdout\b)")},
      {"ending the program", std::regex(R"(\b(exit|_exit|_Exit|quick_exit|abort|terminate)\s*\()")},
      {"intrinsics outside of kernels/",
       std::regex(R"(#\s*include\s*<([a-z0-9]*intrin|arm_[a-z0-9]+)\.h>|\b_mm[0-9]*_\w+|\b__m(128|256|512)\w*)"),
       {"steno/kernels/"}},
      // bit_cast.hpp stands in for older standard libraries, fused.hpp keeps g++ from contracting, the thread pool
      // pauses.
      {"a compiler's own outside of kernels/",
       std::regex(R"(\b__(builtin_\w+|attribute__|restrict(__)?|int128|typeof(__)?|asm(__)?|extension__)\b|\basm\b)"),
       {"steno/kernels/", "steno/core/bit_cast.hpp", "steno/core/fused.hpp", "steno/core/thread_pool.hpp"}},
      {"FFTW outside of kernels/", std::regex(R"(#\s*include\s*<fftw3\.h>|\bfftwf?_\w+)"), {"steno/kernels/"}},
      // Who borrows scratch may find none: that loses one request, and must not end the process.
      {"noexcept beside a context", std::regex(R"(\bcontext\s*&[^;{}()]*\)\s*(const\s+)?noexcept\b)")},
      // Who includes windows.h first has them as macros.
      {"a name that windows.h takes", std::regex(R"(\b(near|far|small|hyper|interface|pascal|cdecl|IN|OUT)\b)")},
      // In Microsoft's ABI it does nothing: STENO_NO_UNIQUE_ADDRESS.
      {"[[no_unique_address]]", std::regex(R"(\[\[no_unique_address\]\])"), {"steno/config.hpp"}},
      {"a compiler flag as a pragma", std::regex(R"(#\s*pragma\s+GCC\s+optimize|-ffast-math)")},
  };
  return all;
}

// Globals that the design allows: the CPU-feature word and the lock of FFTW's planner with its plans.
bool is_allowed_global(const std::string& file) {
  return file == "steno/kernels/cpu.hpp" || file.starts_with("steno/kernels/fft");
}

std::vector<std::string> offences(const source& s) {
  std::vector<std::string> found;
  const std::string code = steno::test::code_only(s.text);
  const auto add = [&](std::ptrdiff_t at, std::string what) {
    found.push_back(s.name + ":" + std::to_string(steno::test::line_of(code, static_cast<std::size_t>(at))) + ": " +
                    std::move(what));
  };
  for (const rule& r : rules()) {
    if (std::ranges::any_of(r.only_under, [&](const std::string& place) { return s.name.starts_with(place); }))
      continue;
    for (std::sregex_iterator i(code.begin(), code.end(), r.pattern), end; i != end; ++i) add(i->position(), r.name);
  }
  // Mutable statics and globals: `static`, `inline` or `thread_local`, then a declarator that is neither const nor a
  // function. Attributes and template arguments in front of the declarator are skipped up to the first of ; = { (.
  static const std::regex lasting(R"((?:^|[\n;{}\]>])\s*((?:static|inline|thread_local)\s[^;={()]*)([;={(]))");
  static const std::regex harmless(R"(\b(const|constexpr|consteval|namespace|STENO_ABI|operator)\b)");
  std::string declarations = code;  // without preprocessor lines
  for (std::size_t i = 0; i < declarations.size();) {
    std::size_t end = std::min(declarations.find('\n', i), declarations.size());
    const std::size_t first = declarations.find_first_not_of(" \t", i);
    if (first < end && declarations[first] == '#') {
      while (end < declarations.size() && declarations[end - 1] == '\\')
        end = std::min(declarations.find('\n', end + 1), declarations.size());
      for (std::size_t k = i; k < end; ++k)
        if (declarations[k] != '\n') declarations[k] = ' ';
    }
    i = end + 1;
  }
  if (!is_allowed_global(s.name))
    for (std::sregex_iterator i(declarations.begin(), declarations.end(), lasting), end; i != end; ++i)
      if ((*i)[2] != "(" && !std::regex_search((*i)[1].first, (*i)[1].second, harmless))
        add(i->position(1), "a mutable static: " + (*i)[1].str());
  for (std::size_t i = 0; i < s.text.size(); ++i)
    if (static_cast<unsigned char>(s.text[i]) >= 128) {
      found.push_back(s.name + ":" + std::to_string(steno::test::line_of(s.text, i)) + ": not ASCII");
      break;
    }
  if (s.name.ends_with("/utils.hpp") || s.name.ends_with("/util.hpp") || s.name.ends_with("/helpers.hpp"))
    found.push_back(s.name + ": a file for everything");
  return found;
}

// What the first lines of a header must be.
std::vector<std::string> missing_opening(const source& s) {
  std::vector<std::string> found;
  if (!s.text.starts_with("// " + s.name + " - "))
    found.push_back(s.name + ": does not begin with `// " + s.name + " - `");
  if (!steno::test::is_piece(s.name) && s.text.find("\n#pragma once\n") == std::string::npos)
    found.push_back(s.name + ": no #pragma once");
  return found;
}

const char* const written_by_us[] = {".hpp", ".cpp", ".h", ".c", ".inl", ".mjs", ".ts", ".py", ".cmake", ".sh"};

/// Sources beside the headers, by path.
std::vector<std::pair<std::string, std::string>> other_sources() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const char* folder : {"tests", "examples", "tools", "bench"})
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(std::filesystem::path(STENO_SOURCE_DIR) / folder))
      if (const auto extension = entry.path().extension();
          extension == ".cpp" || extension == ".hpp" || extension == ".inl")
        all.emplace_back(entry.path().string(), steno::test::slurp(entry.path()));
  return all;
}

/// `for (x : f()["key"])`: what f() returns is gone before the first turn (until C++23), so the loop reads freed
/// memory.
const std::regex& part_of_a_temporary() {
  static const std::regex loop(R"(\bfor\s*\([^;()]*[^:;()]:\s*[A-Za-z_][A-Za-z_0-9:]*\([^()]*\)\s*\[)");
  return loop;
}

std::size_t count(const char* text, std::string name = "steno/layers/x.hpp") {
  return offences({std::move(name), text}).size();
}

}  // namespace

TEST(forbidden, headers_are_free_of_it) {
  const auto sources = steno::test::headers();
  ASSERT_GT(sources.size(), 10u) << "the headers were not found";
  std::vector<std::string> all;
  for (const source& s : sources) {
    const auto found = offences(s);
    all.insert(all.end(), found.begin(), found.end());
  }
  EXPECT_TRUE(all.empty()) << steno::test::joined(all);
}

// So that tools that collect licences need no guess.
TEST(forbidden, every_source_says_its_licence) {
  const std::filesystem::path root = STENO_SOURCE_DIR;
  std::vector<std::string> silent;
  std::size_t looked = 0;
  for (const char* folder : {"include", "tests", "examples", "tools", "bench"})
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const std::filesystem::path extension = entry.path().extension();
      const bool source = entry.path().filename() == "CMakeLists.txt" ||
                          std::any_of(std::begin(written_by_us), std::end(written_by_us),
                                      [&](const char* known) { return extension == known; });
      if (!source || entry.path().string().find("node_modules") != std::string::npos) continue;
      ++looked;
      const std::string text = steno::test::slurp(entry.path());
      // In a line of its own: clang-format takes it for the end of a sentence that it may wrap.
      const std::size_t at = text.find("SPDX-License-Identifier: Apache-2.0"), line = text.rfind('\n', at) + 1;
      if (at == std::string::npos ||
          std::any_of(text.begin() + static_cast<std::ptrdiff_t>(line), text.begin() + static_cast<std::ptrdiff_t>(at),
                      [](unsigned char c) { return std::isalnum(c) != 0; }))
        silent.push_back(entry.path().string());
    }
  EXPECT_GT(looked, 1000u);
  EXPECT_TRUE(silent.empty()) << steno::test::joined(silent);
}

// Numbers of a file pass readers that know their range (models/metadata.hpp); one place writes them down for
// people as they are (model_summary.hpp).
TEST(forbidden, models_take_no_number_without_a_range) {
  const std::regex bare(R"((\.|->)\s*numbers?\s*\()");
  std::vector<std::string> all;
  std::size_t looked = 0;
  for (const source& s : steno::test::headers()) {
    const bool above = !s.name.starts_with("steno/weights/") && !s.name.starts_with("steno/core/");
    if (!above || s.name == "steno/models/metadata.hpp") continue;
    std::string code = steno::test::code_only(s.text);
    if (const std::string shown = "const auto n = v.number()"; s.name == "steno/pipelines/model_summary.hpp") {
      ASSERT_NE(code.find(shown), std::string::npos);
      code.erase(code.find(shown), shown.size());
    }
    ++looked;
    for (std::sregex_iterator i(code.begin(), code.end(), bare), end; i != end; ++i)
      all.push_back(s.name + ":" + std::to_string(steno::test::line_of(code, static_cast<std::size_t>(i->position()))));
  }
  EXPECT_GT(looked, 100u);
  EXPECT_TRUE(all.empty()) << steno::test::joined(all);
  EXPECT_TRUE(std::regex_search("double v = file.number(key).value();", bare));
}

TEST(forbidden, headers_open_with_what_they_are) {
  std::vector<std::string> all;
  for (const source& s : steno::test::headers()) {
    const auto found = missing_opening(s);
    all.insert(all.end(), found.begin(), found.end());
  }
  EXPECT_TRUE(all.empty()) << steno::test::joined(all);
}

TEST(forbidden, other_sources_are_ascii_too) {
  std::vector<std::string> all;
  for (const auto& [path, text] : other_sources())
    if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 128; }))
      all.push_back(path);
  EXPECT_TRUE(all.empty()) << steno::test::joined(all);
}

TEST(forbidden, no_loop_walks_a_part_of_a_temporary) {
  std::vector<std::string> all;
  for (const auto& [path, text] : other_sources())
    if (std::regex_search(steno::test::code_only(text), part_of_a_temporary())) all.push_back(path);
  for (const source& s : steno::test::headers())
    if (std::regex_search(steno::test::code_only(s.text), part_of_a_temporary())) all.push_back(s.name);
  EXPECT_TRUE(all.empty()) << steno::test::joined(all);
}

TEST(forbidden, the_check_itself_finds_each) {
  EXPECT_EQ(count("using  namespace std;\n"), 1u);
  EXPECT_EQ(count("#include <regex>\n# include <iostream>\n"), 2u);
  EXPECT_EQ(count("#include <Eigen/Dense>\n"), 1u);
  EXPECT_EQ(count("std::function<void()> f;\n"), 1u);
  EXPECT_EQ(count("std::shared_ptr<int> p;\n"), 1u);
  EXPECT_EQ(count("struct a { virtual void f(); };\n"), 1u);
  EXPECT_EQ(count("void f() { std::printf(text); std::puts(text); std::cerr << 1; }\n"), 3u);
  EXPECT_EQ(count("void f() { std::abort(); exit(1); }\n"), 2u);
  EXPECT_EQ(count("#include <immintrin.h>\nauto z = _mm256_setzero_ps();\n"), 2u);
  EXPECT_EQ(count("bool f(int* p) { return __builtin_add_overflow(1, 2, p); }\nint __attribute__((cold)) g();\n"), 2u);
  EXPECT_EQ(count("#include <fftw3.h>\n"), 1u);
  EXPECT_EQ(count("int near = 1, nearer = near;\n"), 2u);
  EXPECT_EQ(count("struct a { [[no_unique_address]] b c; };\n"), 1u);
  EXPECT_EQ(count("void f(view<float> y,\n  context& c) const noexcept {}\n"), 1u);
  EXPECT_EQ(count("static int calls = 0;\n"), 1u);
  EXPECT_EQ(count("void f() { static std::mutex lock; }\n"), 1u);
  EXPECT_EQ(count("inline std::vector<float> table{1, 2};\n"), 1u);
  EXPECT_EQ(count("void f() {\n  thread_local std::string buffer;\n}\n"), 1u);
  EXPECT_TRUE(std::regex_search("for (const auto& x : load(name)[2].items()) {", part_of_a_temporary()));
  EXPECT_FALSE(std::regex_search("for (const auto& x : parts[2].items()) {", part_of_a_temporary()));
  EXPECT_FALSE(std::regex_search("for (int i = 0; i < f(a)[b]; ++i) {", part_of_a_temporary()));
  EXPECT_EQ(count("int caf\xc3\xa9;\n"), 1u);
  EXPECT_EQ(count("", "steno/core/utils.hpp"), 1u);
  EXPECT_EQ(missing_opening({"steno/a.hpp", "\n#pragma once\n"}).size(), 1u);
  EXPECT_EQ(missing_opening({"steno/a.hpp", "// steno/a.hpp - text.\n"}).size(), 1u);
}

TEST(forbidden, the_check_itself_lets_the_rest_pass) {
  EXPECT_EQ(count("// using namespace, std::function, printf(x)\n/* virtual\n abort() */\n"), 0u);
  EXPECT_EQ(count("auto s = \"printf(\\\"x\\\") virtual\"; char c = '\"'; auto t = R\"(virtual)\"; int n = 1'000;\n"),
            0u);
  EXPECT_EQ(count("std::snprintf(buffer, n, format);\n"), 0u);
  EXPECT_EQ(count("#include <Eigen/Core>\n#include <vector>\n"), 0u);
  EXPECT_EQ(count("#include <immintrin.h>\nauto z = _mm256_setzero_ps();\n", "steno/kernels/isa/avx2.hpp"), 0u);
  EXPECT_EQ(
      count("static constexpr int n = 1;\nstatic void f();\ninline int g() { return 1; }\nstatic const int m = 2;\n"),
      0u);
  EXPECT_EQ(count("inline namespace STENO_ABI {\n}\ninline constexpr int n = 1;\n"), 0u);
  EXPECT_EQ(count("int f() { return static_cast<int>(1.0); }\n"), 0u);
  EXPECT_EQ(count("#define STENO_INLINE [[gnu::always_inline]] inline\nstruct a {\n};\n"), 0u);
  EXPECT_EQ(missing_opening({"steno/a.hpp", "// steno/a.hpp - text.\n#pragma once\n"}).size(), 0u);
}

}  // namespace forbidden_test
