// SPDX-License-Identifier: Apache-2.0
#include <steno/core/members.hpp>
#include <steno/weights/weight.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace members_test {

using namespace steno;

struct inner {
  weights::weight<2, 3> w;
  core::setting<4> heads;
  void members(auto&& v) {
    v("weight", w);
    v("heads", heads);
    v.equal("two and three", w.rows(), w.cols());
    v.require(w.cols() % 2 == 0, "three", "an even number", w.cols());
  }
};
struct outer {
  inner a, b;
  void members(auto&& v) {
    v("a", a);
    v.optional("", b);
  }
};
static_assert(core::composite<outer> && !core::composite<weights::weight<2, 3>>);

struct recorder {
  std::vector<std::string> seen;
  template <class T>
  void operator()(const std::string& path, T&, bool optional) {
    seen.push_back(path + (core::weight_leaf<T> ? " weight" : " setting") + (optional ? " optional" : ""));
  }
  void equal(const std::string& path, std::string_view what, extent a, extent b) {
    seen.push_back(path + ": " + std::string(what) + " " + std::to_string(a) + " " + std::to_string(b));
  }
  void require(const std::string& path, bool ok, std::string_view what, std::string_view expected, extent found) {
    seen.push_back(path + ": " + std::string(what) + (ok ? " is " : " is not ") + std::string(expected) + " " +
                   std::to_string(found));
  }
};
TEST(members, paths_are_the_names_of_members) {
  outer o;
  recorder r;
  core::walk(o, r);
  EXPECT_EQ(r.seen, (std::vector<std::string>{"a.weight weight", "a.heads setting", "a: two and three 2 3",
                                              "a: three is not an even number 3", "weight weight optional",
                                              "heads setting optional", ": two and three 2 3",
                                              ": three is not an even number 3"}));
}

struct unlike {
  inner a, b;
  weights::vector_weight<3> c;
  void members(auto&& v) {
    v("a", a, core::stored::kernel(5));
    v("b", b);
    v("c", c, core::stored::by_heads(3));
  }
};
struct reader {
  using reads_stored = void;
  std::vector<std::string> seen;
  template <class T>
  void operator()(const std::string& path, T&, bool, const core::stored& how) {
    if (core::weight_leaf<T>)
      seen.push_back(path + " " + std::to_string(static_cast<int>(how.how)) + " " + std::to_string(how.first));
  }
};
// What stands beside a member holds for all below it, and for nothing else; who does not ask for it is not told.
TEST(members, what_checkpoints_store_otherwise) {
  unlike u;
  reader asks;
  core::walk(u, asks);
  const auto form = [](core::stored::form f) { return std::to_string(static_cast<int>(f)); };
  EXPECT_EQ(asks.seen, (std::vector<std::string>{"a.weight " + form(core::stored::form::kernel) + " 5",
                                                 "b.weight " + form(core::stored::form::same) + " 0",
                                                 "c " + form(core::stored::form::heads) + " 3"}));
  recorder does_not;
  core::walk(u, does_not);
  EXPECT_EQ(does_not.seen.front(), "a.weight weight");
  EXPECT_EQ(does_not.seen.back(), "c weight");
}

}  // namespace members_test
