// The restricted pickle reader: values, limits, and refusal of everything that is not data.
// SPDX-License-Identifier: Apache-2.0
#include "torch/pickle.hpp"
#include "convert/fixtures.hpp"

namespace pickle_test {

using namespace std::string_literals;
using steno::test::error_of;
using steno::torch::pickle;
using kind = pickle::kind;

// The pickle's texts point into `text`.
pickle load(const std::string& text) { return pickle(steno::test::bytes_of(text), "model.pt"); }
pickle load(std::string&&) = delete;
std::string refusal(const std::string& text) {
  return error_of([&] { load(text); });
}

TEST(pickle, numbers_and_texts) {
  // [None, True, False, 5, 300, -2, 2**40, -(2**40), 2**80, 1.5, "a", b"b", 7 (as text)]
  const std::string text = "\x80\x02]("s + "N" + "\x88\x89" + "K\x05" + "M\x2c\x01" + "J\xfe\xff\xff\xff" + "\x8a\x06" +
                           "\0\0\0\0\0\x01"s + "\x8a\x06" + "\0\0\0\0\0\xff"s + "\x8a\x0b" +
                           "\0\0\0\0\0\0\0\0\0\0\x01"s + "G" + "\x3f\xf8\0\0\0\0\0\0"s + "X\x01\0\0\0a"s + "C\x01" +
                           "b" + "I7\n" + "e.";
  const pickle p = load(text);
  EXPECT_EQ(p.end(), text.size());
  ASSERT_EQ(p.root().what, kind::list);
  const auto item = [&](std::size_t i) -> const pickle::node& { return p.at(p.root().items.at(i)); };
  ASSERT_EQ(p.root().items.size(), 13u);
  EXPECT_EQ(item(0).what, kind::none);
  EXPECT_EQ(item(1).what, kind::boolean);
  EXPECT_EQ(item(1).number, 1);
  EXPECT_EQ(item(2).number, 0);
  EXPECT_EQ(item(3).number, 5);
  EXPECT_EQ(item(4).number, 300);
  EXPECT_EQ(item(5).number, -2);
  EXPECT_EQ(item(6).number, std::int64_t{1} << 40);
  EXPECT_EQ(item(7).number, -(std::int64_t{1} << 40));
  EXPECT_EQ(item(8).what, kind::huge_integer);
  EXPECT_EQ(item(8).text.size(), 11u);
  EXPECT_EQ(item(9).real, 1.5);
  EXPECT_EQ(item(10).text, "a");
  EXPECT_EQ(item(11).what, kind::bytes);
  EXPECT_EQ(item(12).number, 7);
}

TEST(pickle, containers_and_memo) {
  // {"t": ("x", "x"), "d": OrderedDict()} with the text "x" memoised, and attributes set on the OrderedDict
  const std::string text =
      "\x80\x02}(X\x01\0\0\0tX\x01\0\0\0xq\x05h\x05\x86X\x01\0\0\0dccollections\nOrderedDict\n"
      ")R}X\x01\0\0\0mK\x01sbu."s;
  const pickle p = load(text);
  const pickle::node* t = p.find(p.root(), "t");
  ASSERT_NE(t, nullptr);
  ASSERT_EQ(t->items.size(), 2u);
  EXPECT_EQ(p.at(t->items[0]).text, "x");
  EXPECT_EQ(t->items[0], t->items[1]);
  ASSERT_NE(p.find(p.root(), "d"), nullptr);
  EXPECT_EQ(p.find(p.root(), "d")->what, kind::dict);
  EXPECT_TRUE(p.find(p.root(), "d")->items.empty()) << "attributes are not items";
  EXPECT_EQ(p.find(p.root(), "other"), nullptr);
}

TEST(pickle, cyclic_list) {
  const std::string text = "\x80\x02]q\0h\0a."s;
  const pickle p = load(text);
  ASSERT_EQ(p.root().items.size(), 1u);
  EXPECT_EQ(&p.at(p.root().items[0]), &p.root());
}

TEST(pickle, deep_nesting_needs_no_recursion) {
  std::string text = "\x80\x02"s + std::string(200000, ']') + std::string(199999, 'a') + ".";
  EXPECT_EQ(load(text).root().what, kind::list);
}

TEST(pickle, names_that_are_not_data_are_refused_by_name) {
  const std::string message =
      "model.pt: pickle names \"os.system\", which is not data: only tensors, numbers, strings and containers are "
      "read, "
      "nothing is run (save the state dict alone, as plain tensors)";
  EXPECT_EQ(refusal("\x80\x02"
                    "cos\nsystem\nX\x04\0\0\0true\x85R."s),
            message)
      << "GLOBAL";
  EXPECT_EQ(refusal("\x80\x04\x8c\x02os\x8c\x06system\x93."s), message) << "STACK_GLOBAL";
  EXPECT_EQ(refusal("\x80\x02(X\x04\0\0\0trueios\nsystem\n."s), message) << "INST";
  EXPECT_EQ(refusal("\x80\x02(cos\nsystem\nX\x04\0\0\0trueo."s), message) << "OBJ";
  for (const char* name :
       {"builtins\neval", "builtins\nexec", "builtins\ngetattr", "posix\nsystem", "subprocess\nPopen", "torch\nload",
        "torch.storage\n_load_from_bytes", "torch._utils\n_import_dotted_name", "collections\ndefaultdict",
        "numpy.core.multiarray\n_reconstruct", "_codecs\nlookup", "torch\nos.system",
        "torch._utils\n_rebuild_tensor_v2.__globals__", "\n"})
    EXPECT_NE(refusal("\x80\x02"
                      "c"s +
                      name + "\n.")
                  .find("which is not data"),
              std::string::npos)
        << name;
}

TEST(pickle, calls_of_allowed_names_are_checked) {
  const std::string set = "c__builtin__\nset\n";
  EXPECT_NE(refusal("\x80\x02"
                    "ctorch\nFloatStorage\n)R."s)
                .find("torch.FloatStorage()"),
            std::string::npos);
  EXPECT_NE(refusal("\x80\x02" + set + "K\x01\x85R.").find("wrong arguments of __builtin__.set"), std::string::npos);
  EXPECT_NE(refusal("\x80\x02K\x01)R.").find("calls something that is not a name"), std::string::npos);
  EXPECT_NE(refusal("\x80\x02"
                    "c_codecs\nencode\nX\x01\0\0\0aX\x05\0\0\0utf-8\x86R."s)
                .find("wrong arguments"),
            std::string::npos);
  EXPECT_NE(refusal("\x80\x02" + set + ")R}b.").find("does not fit"), std::string::npos) << "state of a set";
}

TEST(pickle, damaged_input) {
  EXPECT_NE(refusal("").find("cut short"), std::string::npos);
  EXPECT_NE(refusal("\x80\x02").find("cut short"), std::string::npos);
  EXPECT_NE(refusal("\x80\x02.").find("the stack is empty"), std::string::npos);
  EXPECT_NE(refusal("\x80\x02"
                    "0.")
                .find("the stack is empty"),
            std::string::npos);
  EXPECT_NE(refusal("\x80\x02t.").find("no mark"), std::string::npos);
  EXPECT_NE(refusal("\x80\x02(a.").find("the stack is empty"), std::string::npos) << "pop across a mark";
  EXPECT_NE(refusal("\x80\x02h\x01.").find("not there"), std::string::npos);
  EXPECT_NE(refusal("\x80\x02q\x01.").find("the stack is empty"), std::string::npos);
  EXPECT_NE(refusal("\x80\x02X\xff\xff\xff\xff"
                    "a.")
                .find("cut short"),
            std::string::npos);
  EXPECT_NE(refusal("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\xff"
                    "a.")
                .find("cut short"),
            std::string::npos);
  EXPECT_NE(refusal("\x80\x04\x95\xff\xff\xff\xff\xff\xff\xff\x7fN.").find("cut short"), std::string::npos);
  EXPECT_NE(refusal("\x80\x02}K\x01"
                    "a.")
                .find("does not fit"),
            std::string::npos);
  EXPECT_NE(refusal("\x80\x02}(K\x01u.").find("without a value"), std::string::npos);
  EXPECT_NE(refusal("\x80\x09N.").find("protocol 9"), std::string::npos);
  EXPECT_NE(refusal("\x80\x02\x82\x01.").find("opcode 0x82"), std::string::npos) << "extension registry";
  EXPECT_NE(refusal("\x80\x02Ijunk\n.").find("an integer cannot be read"), std::string::npos);
}

// Two objects of a pickle may share parts; copies made through the memo must not multiply without bound.
TEST(pickle, amplification_is_bounded) {
  std::string text = "\x80\x02]("s + std::string(100000, 'N') +
                     "eq\x01"
                     "0c__builtin__\nset\nq\x02"
                     "0(";
  for (int i = 0; i < 200; ++i) text += "h\x02h\x01\x85R";
  EXPECT_NE(refusal(text + "t.").find("more objects"), std::string::npos);
}

// A tensor as torch.save spells it; `storage_elements`, `offset`, `size` and `stride` are one-byte numbers.
std::string tensor_pickle(const std::string& persistent, const std::string& arguments) {
  return "\x80\x02"
         "ctorch._utils\n_rebuild_tensor_v2\n(("s +
         persistent + "tQ" + arguments + "\x89" + "ccollections\nOrderedDict\n)RtR.";
}
const std::string float_storage =
    "X\x07\0\0\0storagectorch\nFloatStorage\nX\x01\0\0\0"
    "0X\x03\0\0\0cpuK\x06"s;

TEST(pickle, tensors_are_views_inside_their_storage) {
  const std::string text = tensor_pickle(float_storage, "K\x01K\x02K\x02\x86K\x03K\x01\x86");  // [2, 2], strides 3, 1
  const pickle p = load(text);
  ASSERT_EQ(p.root().what, kind::tensor);
  const steno::torch::tensor& t = p.tensors().at(0);
  EXPECT_EQ(t.offset, 1u);
  EXPECT_EQ(t.count, 4u);
  EXPECT_EQ(t.shape, (std::vector<std::uint64_t>{2, 2}));
  EXPECT_EQ(t.stride, (std::vector<std::uint64_t>{3, 1}));
  EXPECT_EQ(p.storages().at(t.storage).count, 6u);
  EXPECT_EQ(p.storages().at(t.storage).type, steno::torch::scalar::f32);

  const auto refused = [&](const std::string& arguments) { return refusal(tensor_pickle(float_storage, arguments)); };
  EXPECT_NE(refused("K\x02K\x02K\x02\x86K\x03K\x02\x86").find("beyond its storage"), std::string::npos);
  EXPECT_NE(refused("K\x06K\x01\x85K\x01\x85").find("beyond its storage"), std::string::npos);
  EXPECT_NE(refused("J\xff\xff\xff\xffK\x01\x85K\x01\x85").find("not a natural number"), std::string::npos);
  EXPECT_NE(refused("K\x01K\x02K\x02\x86K\x03\x85").find("differ in length"), std::string::npos);
  // Sizes and strides whose products wrap around 64 bits.
  const std::string big =
      "\x8a\x08"
      "\0\0\0\0\0\0\0\x40"s;
  EXPECT_NE(refused("K\x00"s + big + big + "\x86" + big + big + "\x86").find("beyond its storage"), std::string::npos);
  EXPECT_NE(refused("K\x00"s + big + "K\x04\x86" + "K\x00K\x00\x86"s).find("beyond its storage"), std::string::npos);
  const std::string scalar = tensor_pickle(float_storage, "K\x05))");
  EXPECT_EQ(load(scalar).tensors().at(0).count, 1u);
  const std::string empty = tensor_pickle(float_storage, "K\x06K\x00\x85K\x01\x85"s);
  EXPECT_EQ(load(empty).tensors().at(0).count, 0u);
}

TEST(pickle, storages_are_checked) {
  const auto refused = [&](const std::string& persistent) {
    return refusal(tensor_pickle(persistent, "K\x00K\x01\x85K\x01\x85"s));
  };
  EXPECT_NE(refused("K\x01").find("not a storage"), std::string::npos);
  EXPECT_NE(refused("X\x06\0\0\0moduleccollections\nOrderedDict\nNN"s).find("not a storage"), std::string::npos);
  EXPECT_NE(refused("X\x07\0\0\0storageccollections\nOrderedDict\nX\x01\0\0\0"
                    "0X\x03\0\0\0cpuK\x06"s)
                .find("no type"),
            std::string::npos);
  EXPECT_NE(refused(float_storage + "(X\x01\0\0\0"
                                    "1K\x04K\x03t"s)
                .find("inside the storage"),
            std::string::npos);
  EXPECT_NE(refusal("\x80\x02"
                    "ctorch._utils\n_rebuild_tensor_v2\n(K\x01K\x00K\x01\x85K\x01\x85\x89}tR."s)
                .find("no storage"),
            std::string::npos);
}

}  // namespace pickle_test
