// The reader of ONNX files: what it takes, what it leaves out, and what it refuses.
// SPDX-License-Identifier: Apache-2.0
#include "onnx_file.hpp"
#include "support/onnx_case.hpp"
#include "support/refusal.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace onnx_file_test {

using namespace steno;
using test::onnx_constant;
using test::onnx_model;
using test::onnx_tensor;
using test::wire_writer;

std::vector<stored_tensor> read(const std::string& bytes) {
  return onnx_tensors("x.onnx", std::as_bytes(std::span(bytes)));
}
std::string refused(const std::string& bytes) {
  return test::refusal([&] { (void)read(bytes); });
}
std::string of_tensor(const std::string& tensor) {
  wire_writer graph;
  graph.text(5, tensor);
  return onnx_model(graph.bytes());
}
std::vector<float> values_of(const stored_tensor& t) {
  std::vector<float> v(t.count());
  t.read(v);
  return v;
}

TEST(onnx_file, takes_floats_of_all_graphs) {
  wire_writer inner, attribute, node, graph, half, twice;
  inner.text(1, onnx_constant("c", onnx_tensor("own", {2, 1}, {3, 4})));
  attribute.text(1, "then_branch").text(6, inner);
  node.text(2, "y").text(4, "If").text(5, attribute);
  half.number(1, 2).number(2, 10).text(8, "h").text(9, std::string("\0\x3c\0\xc0", 4));
  const std::vector<double> d{0.5, -7};
  twice.number(1, 2).number(2, 11).text(8, "d").text(9, {reinterpret_cast<const char*>(d.data()), 16});
  graph.text(1, node).text(5, onnx_tensor("a", {1, 2}, {1, 2})).text(5, onnx_tensor("b", {2}, {5, 6}, false));
  graph.text(5, half).text(5, twice).text(5, onnx_tensor("s", {}, {9}));
  const std::string file = onnx_model(graph.bytes());
  const auto all = read(file);
  ASSERT_EQ(all.size(), 6u);
  const auto expect = [&](std::size_t i, const char* name, const std::vector<extent>& shape, dtype stored,
                          const std::vector<float>& values) {
    EXPECT_EQ(all[i].name, name);
    EXPECT_EQ(all[i].shape, shape);
    EXPECT_EQ(all[i].stored, stored);
    EXPECT_EQ(values_of(all[i]), values);
  };
  expect(0, "c", {2, 1}, dtype::f32, {3, 4});
  expect(1, "a", {1, 2}, dtype::f32, {1, 2});
  expect(2, "b", {2}, dtype::f32, {5, 6});
  expect(3, "h", {2}, dtype::f16, {1, -2});
  expect(4, "d", {2}, dtype::f32, {0.5f, -7});
  expect(5, "s", {1}, dtype::f32, {9});
  EXPECT_TRUE(all[4].bytes.empty());
  EXPECT_EQ(all[0].bytes.size(), 8u);
}

TEST(onnx_file, leaves_out_what_says_shapes) {
  wire_writer whole;
  whole.number(1, 1).number(2, 7).text(8, "axis").text(9, std::string(8, '\1'));
  EXPECT_TRUE(read(of_tensor(whole.bytes())).empty());
  EXPECT_TRUE(read(of_tensor(onnx_tensor("none", {0, 3}, {}))).empty());
  // A node that is no constant, and an attribute that is no value.
  wire_writer attribute, node, graph;
  attribute.text(1, "value").text(5, onnx_tensor("", {1}, {1}));
  node.text(2, "y").text(4, "ConstantOfShape").text(5, attribute);
  graph.text(1, node);
  EXPECT_TRUE(read(onnx_model(graph.bytes())).empty());
}

TEST(onnx_file, what_is_damaged_is_refused) {
  const std::string good = of_tensor(onnx_tensor("a", {2}, {1, 2}));
  for (std::size_t n = 1; n < good.size(); ++n) {
    const std::string what = refused(good.substr(0, n));
    EXPECT_FALSE(what.empty()) << n;
    EXPECT_NE(what.find("x.onnx"), std::string::npos) << what;
  }
  EXPECT_NE(refused("").find("no graph"), std::string::npos);
  EXPECT_NE(refused("\x0b").find("kinds 0, 1, 2 and 5"), std::string::npos) << refused("\x0b");
  EXPECT_NE(refused(std::string("\0\1", 2)).find("the number 0"), std::string::npos);
  EXPECT_NE(refused("\x08" + std::string(10, '\xff') + "\1").find("64 bits"), std::string::npos);
  EXPECT_NE(refused(of_tensor(onnx_tensor("a", {3}, {1, 2}))).find("\"a\": its shape does not fit"), std::string::npos);
  EXPECT_NE(refused(of_tensor(onnx_tensor("a", {1, 1, 1, 1, 1, 1, 1, 1, 1}, {1}))).find("dimensions"),
            std::string::npos);
  EXPECT_NE(refused(of_tensor(onnx_tensor("a", {std::size_t{1} << 62}, {1}))).find("too large"), std::string::npos);
  wire_writer elsewhere, none;
  elsewhere.number(1, 1).number(2, 1).text(8, "a").number(14, 1);
  EXPECT_NE(refused(of_tensor(elsewhere.bytes())).find("a file of their own"), std::string::npos);
  none.number(1, 1).number(2, 1).text(8, "a");
  EXPECT_NE(refused(of_tensor(none.bytes())).find("no values"), std::string::npos);
}

TEST(onnx_file, graphs_within_graphs_end) {
  std::string graph;
  for (int i = 0; i < 40; ++i) {
    wire_writer attribute, node, outer;
    attribute.text(1, "body").text(6, graph);
    node.text(2, "y").text(4, "Loop").text(5, attribute);
    outer.text(1, node);
    graph = outer.bytes();
    if (i < 10) {
      EXPECT_EQ(refused(onnx_model(graph)), "");
    }
  }
  EXPECT_NE(refused(onnx_model(graph)).find("graphs within graphs"), std::string::npos);
}

}  // namespace onnx_file_test
