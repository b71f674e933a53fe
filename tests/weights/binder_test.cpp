// SPDX-License-Identifier: Apache-2.0
#include <steno/weights/binder.hpp>

#include "support/memory_source.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace binder_test {

using namespace steno;

template <extent In, extent Out>
struct affine {
  weights::weight<Out, In> w;
  weights::vector_weight<Out> b;
  core::setting<dynamic> heads;
  void members(auto&& v) {
    v("weight", w);
    v("bias", b);
    v("heads", heads);
    v.equal("rows and bias", w.rows(), b.cols());
  }
};

template <class Layer>
struct numbered {
  std::vector<Layer> layers;
  void members(auto&& v) {
    if (const auto n = v.count()) layers.resize(static_cast<std::size_t>(*n));
    for (std::size_t i = 0; i < layers.size(); ++i) v(std::to_string(i), layers[i]);
  }
};

template <extent In, extent Out>
struct model {
  numbered<affine<In, Out>> all;
  std::vector<affine<In, Out>>& layers = all.layers;
  weights::vector_weight<dynamic> extra;
  void members(auto&& v) {
    v("layers", all);
    v.optional("extra", extra);
  }
};

test::memory_source source(extent in = 3, extent out = 2) {
  test::memory_source s;
  for (int i = 0; i < 2; ++i) {
    const std::string at = "layers." + std::to_string(i) + ".";
    s.add(at + "weight", {out, in}, std::vector<float>(static_cast<std::size_t>(in * out), 0.5f));
    s.add(at + "bias", {out}, std::vector<float>(static_cast<std::size_t>(out), 1.5f), dtype::f16);
  }
  s.set("m.heads", 4);
  s.set("m.layers.1.heads", 8);
  return s;
}

template <class M>
std::string problem(const test::memory_source& s) {
  M m;
  weights::storage keep;
  try {
    weights::bind(m, s, keep, "m");
  } catch (const error& e) {
    return e.what();
  }
  return "";
}

TEST(binder, adopts_extents_converts_and_finds_settings_of_parents) {
  const auto s = source();
  model<dynamic, dynamic> m;
  weights::storage keep;
  weights::bind(m, s, keep, "m");
  ASSERT_EQ(m.layers.size(), 2u);
  EXPECT_EQ(m.layers[0].w.rows(), 2);
  EXPECT_EQ(m.layers[0].w.cols(), 3);
  EXPECT_EQ(m.layers[1].b.values()(0, 1), 1.5f);  // stored as f16
  EXPECT_EQ(m.layers[0].heads.get(), 4);
  EXPECT_EQ(m.layers[1].heads.get(), 8);
  EXPECT_FALSE(m.extra);
}

TEST(binder, names_what_is_missing_misshapen_or_unused) {
  auto s = source();
  EXPECT_EQ((problem<model<dynamic, dynamic>>(s)), "") << "fits";
  s.add("layers.0.other", {2}, {1, 2});
  EXPECT_EQ((problem<model<3, 2>>(s)), "memory: tensor \"layers.0.other\": not part of this model");
  s.remove("layers.0.other");
  EXPECT_EQ((problem<model<4, 2>>(s)),
            "memory: tensor \"layers.0.weight\": expected [2 x 4], found [2 x 3] f32; tensor \"layers.1.weight\": "
            "expected [2 x 4], found [2 x 3] f32");
  s.remove("layers.1.bias");
  EXPECT_EQ((problem<model<3, 2>>(s)), "memory: tensor \"layers.1.bias\": missing, expected [2]");
}

TEST(binder, sizes_of_neighbours_must_agree) {
  auto s = source();
  s.add("layers.1.bias", {5}, {1, 2, 3, 4, 5});
  EXPECT_NE((problem<model<dynamic, dynamic>>(s)).find("\"layers.1\": rows and bias differ: 2 and 5"),
            std::string::npos);
}

TEST(binder, a_hostile_layer_number_does_not_ask_for_memory) {
  auto s = source();
  s.add("layers.99999.bias", {2}, {1, 2});
  EXPECT_NE((problem<model<dynamic, dynamic>>(s)), "");
}

TEST(storage, pieces_are_aligned_zeroed_and_stay) {
  weights::storage keep;
  std::byte* a = keep.allocate(10);
  std::byte* b = keep.allocate(5 << 20);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 64, 0u);
  EXPECT_EQ(b[(5 << 20) - 1], std::byte{0});
  a[0] = std::byte{7};
  weights::storage moved = std::move(keep);
  for (int i = 0; i < 100; ++i) moved.allocate(100000);
  EXPECT_EQ(a[0], std::byte{7});
  EXPECT_EQ(keep.size(), 0u);
}

// Weights of a few MB each lie beside one another, so that huge pages hold them, and little is taken beyond them.
TEST(storage, pieces_of_a_large_model_share_chunks) {
  if (!weights::system::untouched_is_free) GTEST_SKIP() << "where untouched memory is taken, too";
  weights::storage keep;
  constexpr std::size_t piece = 3 << 20, count = 100;
  std::size_t beside = 0;
  const std::byte* last = nullptr;
  for (std::size_t i = 0; i < count; ++i) {
    const std::byte* const p = keep.allocate(piece);
    beside += last != nullptr && p == last + piece ? 1u : 0u;
    last = p;
#if defined(__linux__)
    if (i == 0) {
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % (2 << 20), 0u) << "where a huge page begins";
    }
#endif
  }
  EXPECT_GT(beside, count * 3 / 4);
  EXPECT_LT(keep.size(), count * piece * 3 / 2);
}

template <extent Least, extent Most>
struct with_setting {
  weights::weight<dynamic, dynamic> w;
  core::setting<dynamic, Least, Most> rate;
  void members(auto&& v) {
    v("w", w);
    v("rate", rate);
    v.require(w.cols() % rate.get() == 0, "columns", "a multiple of the rate", w.cols());
    v.within("rate and rows", rate.get(), 1, w.rows());
  }
};
TEST(binder, settings_are_whole_numbers_of_their_range) {
  test::memory_source s;
  s.add("w", {4, 6}, std::vector<float>(24, 0.5f));
  s.set("m.rate", 3);
  EXPECT_EQ((problem<with_setting<1, 64>>(s)), "");
  s.set("m.rate", 5);
  EXPECT_EQ((problem<with_setting<1, 64>>(s)),
            "memory: columns: expected a multiple of the rate, found 6; rate and rows: expected 1 to 4, found 5");
  const auto refused = [&](double v, const std::string& text) {
    s.set("m.rate", v);
    EXPECT_EQ((problem<with_setting<1, 64>>(s)),
              "memory: key \"m.rate\": expected a whole number from 1 to 64, found " + text);
  };
  refused(0, "0");
  refused(-1, "-1");
  refused(65, "65");
  refused(2.5, "2.5");
  refused(4294967295.0, "4294967295");
  refused(1e300, "1e+300");
  refused(std::numeric_limits<double>::infinity(), "inf");
  refused(std::numeric_limits<double>::quiet_NaN(), "nan");
}

// A matrix of integers has no product: multiplying by it would give NaN.
TEST(binder, integers_are_no_weights) {
  test::memory_source s;
  s.add("w", {4, 6}, std::vector<float>(24, 0.5f), dtype::i32);
  s.set("m.rate", 3);
  EXPECT_EQ((problem<with_setting<1, 64>>(s)), "memory: tensor \"w\": no weights are kept in the number format i32");
}

TEST(binder, names_are_printable_in_messages) {
  auto s = source();
  s.add("layers.0.\x1b[2J", {2}, {1, 2});
  EXPECT_EQ((problem<model<3, 2>>(s)), "memory: tensor \"layers.0.\\x1b[2J\": not part of this model");
}

}  // namespace binder_test
