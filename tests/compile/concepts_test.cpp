// What the types of the library promise, as static_asserts: concepts, sizes, what can be copied, what depends on flags.
// SPDX-License-Identifier: Apache-2.0
#include <steno/core/context.hpp>
#include <steno/core/executor.hpp>
#include <steno/core/extents.hpp>
#include <steno/core/thread_pool.hpp>
#include <steno/core/workspace.hpp>
#include <steno/layers/linear.hpp>
#include <steno/layers/stack.hpp>
#include <steno/pipelines/result.hpp>
#include <steno/weights/source.hpp>
#include <steno/weights/weight.hpp>

#include <gtest/gtest.h>

#include <map>
#include <type_traits>

#include "sources.hpp"

namespace concepts_test {
namespace {

// The least that is a weight source; each of the others lacks one thing.
struct some_source {
  std::string where() const { return "memory"; }
  std::optional<steno::weights::tensor_ref> find(std::string_view) const { return std::nullopt; }
  std::size_t size() const { return 0; }
  steno::weights::tensor_ref tensor(std::size_t) const { return {}; }
  std::optional<double> number(std::string_view) const { return std::nullopt; }
  std::optional<std::string> text(std::string_view) const { return std::nullopt; }
};
struct without_name : some_source {
  void where() const {}
};
struct without_find : some_source {
  steno::weights::tensor_ref find(std::string_view) const { return {}; }
};
struct not_const : some_source {
  std::size_t size() { return 0; }
};
static_assert(steno::weights::weight_source<some_source>);
static_assert(!steno::weights::weight_source<without_name>);
static_assert(!steno::weights::weight_source<without_find>);
static_assert(!steno::weights::weight_source<not_const>);
static_assert(!steno::weights::weight_source<int>);

// Executors refer to anything with width() and run(), not to anything else.
static_assert(std::is_constructible_v<steno::executor, steno::thread_pool&>);
static_assert(!std::is_constructible_v<steno::executor, int&>);
static_assert(!std::is_constructible_v<steno::executor, some_source&>);
static_assert(std::is_trivially_copyable_v<steno::executor> && std::is_trivially_copyable_v<steno::core::tracer>);

// Weights are values that refer: copying a layer copies no tensor. Static extents take no room.
static_assert(std::is_trivially_copyable_v<steno::weights::weight<4, 6>>);
static_assert(std::is_trivially_copyable_v<steno::weights::weight<steno::dynamic, steno::dynamic>>);
static_assert(sizeof(steno::weights::weight<4, 6>) < sizeof(steno::weights::weight<steno::dynamic, steno::dynamic>));
static_assert(sizeof(steno::weights::weight<4, 6>) <= 2 * sizeof(void*) + 2 * sizeof(int));
static_assert(std::is_same_v<decltype(steno::weights::weight<4, 6, steno::dtype::f32>{}.values()),
                             steno::view<const float, 4, 6>>);

// Layers: widths, members, a state and one const call. Each of the others lacks one thing.
struct some_layer {
  static constexpr steno::extent input = 4, output = 6;
  void members(auto&&) {}
  steno::nn::no_state start() const { return {}; }
  void operator()(steno::view<const float, steno::dynamic, 4>, steno::view<float, steno::dynamic, 6>,
                  steno::nn::no_state*, const auto&, steno::context&) const {}
};
struct changing_layer {
  static constexpr steno::extent input = 4, output = 6;
  void members(auto&&) {}
  steno::nn::no_state start() const { return {}; }
  void operator()(steno::view<const float, steno::dynamic, 4>, steno::view<float, steno::dynamic, 6>,
                  steno::nn::no_state*, const auto&, steno::context&) {}
};
struct nameless_layer {
  static constexpr steno::extent input = 4, output = 6;
  steno::nn::no_state start() const { return {}; }
  void operator()(steno::view<const float, steno::dynamic, 4>, steno::view<float, steno::dynamic, 6>,
                  steno::nn::no_state*, const auto&, steno::context&) const {}
};
struct layer_without_start {
  static constexpr steno::extent input = 4, output = 6;
  void members(auto&&) {}
  void operator()(steno::view<const float, steno::dynamic, 4>, steno::view<float, steno::dynamic, 6>,
                  steno::nn::no_state*, const auto&, steno::context&) const {}
};
struct layer_without_record {
  static constexpr steno::extent input = 4, output = 6;
  void members(auto&&) {}
  steno::nn::no_state start() const { return {}; }
  void operator()(steno::view<const float, steno::dynamic, 4>, steno::view<float, steno::dynamic, 6>,
                  steno::nn::no_state*, steno::context&) const {}
};
// Beams fork a state, tests rewind it.
struct layer_of_one_stream : some_layer {
  struct state {
    state() = default;
    state(state&&) = default;
    state& operator=(state&&) = default;
  };
  state start() const { return {}; }
  void operator()(steno::view<const float, steno::dynamic, 4>, steno::view<float, steno::dynamic, 6>, state*,
                  const auto&, steno::context&) const {}
};
static_assert(steno::nn::layer<some_layer>);
static_assert(!steno::nn::layer<changing_layer> && !steno::nn::layer<nameless_layer> &&
              !steno::nn::layer<layer_without_start> && !steno::nn::layer<layer_without_record> &&
              !steno::nn::layer<layer_of_one_stream>);

// No call that borrows scratch may promise not to throw: out of memory loses one request, not the process.
template <class L>
constexpr bool may_throw = !noexcept(std::declval<const L&>()(
    std::declval<steno::view<const float, steno::dynamic, L::input>>(),
    std::declval<steno::view<float, steno::dynamic, L::output>>(), std::declval<steno::nn::state_of<L>*>(),
    steno::nn::no_env{}, std::declval<steno::context&>()));
static_assert(may_throw<steno::nn::linear<6, 3>> &&
              may_throw<steno::nn::sequence<some_layer, steno::nn::linear<6, 3>>>);
static_assert(!steno::nn::layer<steno::weights::weight<4, 6>> && !steno::nn::layer<int>);

// A sequence reads what its first layer reads and writes what its last one writes; dynamic widths are settled later.
static_assert(steno::nn::layer<steno::nn::sequence<some_layer, steno::nn::linear<6, 3>>>);
static_assert(steno::nn::sequence<some_layer, steno::nn::linear<6, 3>>::input == 4);
static_assert(steno::nn::sequence<some_layer, steno::nn::linear<6, 3>>::output == 3);
static_assert(steno::nn::layer<steno::nn::sequence<some_layer, steno::nn::linear<steno::dynamic, steno::dynamic>>>);
static_assert(steno::nn::layer<steno::nn::repeat<3, steno::nn::linear<6, 6>>>);

// Views are row-major and unaligned, so that no compiler flag changes what they mean.
static_assert(steno::view<float>::IsRowMajor && steno::view<const float, 3, 5>::IsRowMajor);
static_assert(static_cast<int>(Eigen::internal::traits<steno::view<float, 4, 4>>::Alignment) == 0);
static_assert(
    !std::is_constructible_v<steno::view<float>, const float*, steno::extent, steno::extent, Eigen::OuterStride<>>);

// Extents.
static_assert(steno::core::times(3, 4) == 12 && steno::core::times(3, steno::dynamic) == steno::dynamic);
static_assert(steno::core::plus(3, 4) == 7 && steno::core::plus(steno::dynamic, 4) == steno::dynamic);
static_assert(steno::core::compatible(3, 3) && steno::core::compatible(3, steno::dynamic) &&
              !steno::core::compatible(3, 4));
static_assert(steno::core::size_of<3>::adopt(3) && !steno::core::size_of<3>::adopt(4) &&
              std::is_empty_v<steno::core::size_of<3>>);

// Scratch is owned by one context and moves; results are plain values.
static_assert(!std::is_copy_constructible_v<steno::core::workspace> &&
              std::is_nothrow_move_constructible_v<steno::core::workspace>);
static_assert(!std::is_copy_constructible_v<steno::thread_pool> &&
              !std::is_copy_constructible_v<steno::core::workspace::frame>);
static_assert(std::is_copy_constructible_v<steno::result> && std::is_nothrow_move_constructible_v<steno::result>);

// Numbers in the formats' table are those of the file format.
static_assert(steno::core::info(steno::dtype::q4_0).bytes == 2 + 16 &&
              steno::core::info(steno::dtype::q8_0).bytes == 2 + 32);
static_assert(steno::core::bytes_of(steno::dtype::q6_k, 512) == 2 * 210 && !steno::core::find_dtype(9999));

#define STENO_TEXT_OF(x) #x
#define STENO_TEXT(x) STENO_TEXT_OF(x)

}  // namespace

TEST(abi, name_begins_with_the_version) {
  const std::string name = STENO_TEXT(STENO_ABI);
  const std::string version =
      "v" + std::to_string(STENO_VERSION_MAJOR).append("_").append(std::to_string(STENO_VERSION_MINOR)).append("_");
  EXPECT_EQ(name.substr(0, version.size()), version);
}

// Whatever a header asks of the compiler's flags must be part of the name, or two units with different flags would
// share symbols with different meanings. The names of macros below are those that do not differ between units of one
// program.
TEST(abi, name_says_every_flag_that_headers_ask_for) {
  const std::set<std::string> of_the_platform = {"__x86_64__", "__aarch64__", "__GNUC__", "__clang__", "__linux__",
                                                 "__APPLE__", "_WIN32", "__wasm__", "__SIZEOF_INT128__",
                                                 "STENO_KERNEL_FILE",
                                                 // What the standard library has.
                                                 "__cpp_lib_bit_cast", "__cpp_lib_jthread", "__cpp_lib_to_chars",
                                                 // Where bodies are; they are the same there (pipelines/closed.hpp).
                                                 "STENO_LINK_PIPELINES", "STENO_BUILD_PIPELINES"};
  const std::string config =
      steno::test::code_only(steno::test::slurp(steno::test::include_directory() / "steno/config.hpp"));
  std::vector<std::string> unknown;
  const std::regex condition(R"((?:^|\n)[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b([^\n]*(?:\\\n[^\n]*)*))"),
      macro(R"(\b[A-Z_][A-Z0-9_a-z]*__\b|\bSTENO_[A-Z0-9_]+\b|\bNDEBUG\b)");
  for (const auto& s : steno::test::headers()) {
    const std::string code = steno::test::code_only(s.text);
    for (std::sregex_iterator i(code.begin(), code.end(), condition), end; i != end; ++i) {
      const std::string line = (*i)[1];
      for (std::sregex_iterator m(line.begin(), line.end(), macro); m != end; ++m)
        if (!of_the_platform.contains(m->str()) && config.find(m->str()) == std::string::npos)
          unknown.push_back(s.name + ":" +
                            std::to_string(steno::test::line_of(code, static_cast<std::size_t>(i->position(1)))) +
                            ": " + m->str());
    }
  }
  EXPECT_TRUE(unknown.empty()) << steno::test::joined(unknown);
}

}  // namespace concepts_test
