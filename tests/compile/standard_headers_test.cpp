// Every name of the standard library comes from a header that is included for it: by the file that uses it, or by one
// of steno's that this file includes. Other standard libraries include less behind one's back than the one at hand.
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "sources.hpp"

namespace standard_headers_test {
namespace {

/// A header and the names that it is included for. A name of several headers stands at each of them.
const std::map<std::string, std::string>& names_of_headers() {
  static const std::map<std::string, std::string> all = {
      {"algorithm",
       "all_of any_of binary_search clamp copy copy_n count count_if equal fill fill_n find find_if find_if_not "
       "is_sorted lexicographical_compare lower_bound make_heap max max_element merge min min_element minmax_element "
       "mismatch move_backward none_of nth_element partial_sort partition partition_point pop_heap push_heap remove "
       "remove_if replace replace_if reverse rotate search sort sort_heap stable_sort swap_ranges transform unique "
       "upper_bound"},
      {"array", "array get begin end size tuple_size_v"},
      {"atomic",
       "atomic memory_order_acq_rel memory_order_acquire memory_order_relaxed memory_order_release "
       "memory_order_seq_cst"},
      {"bit", "bit_cast bit_ceil bit_floor bit_width countl_zero countr_zero endian has_single_bit popcount"},
      {"charconv", "chars_format from_chars to_chars"},
      {"cmath",
       "abs atan2 ceil cos erf exp exp2 expm1 fabs floor fma fmod isfinite isinf isnan ldexp llround log log10 log1p "
       "log2 lrint lround nearbyint pow round signbit sin sqrt tan tanh trunc"},
      {"concepts",
       "constructible_from convertible_to copyable default_initializable derived_from floating_point integral "
       "invocable movable regular same_as"},
      {"condition_variable", "condition_variable condition_variable_any cv_status"},
      {"cstddef", "byte max_align_t nullptr_t ptrdiff_t size_t"},
      {"cstdint", "int16_t int32_t int64_t int8_t intptr_t uint16_t uint32_t uint64_t uint8_t uintmax_t uintptr_t"},
      {"cstdio", "FILE fclose fopen fputs fread remove rename size_t snprintf"},
      {"cstdlib", "abs getenv size_t strtod"},
      {"cstring", "memcmp memcpy memmove memset strlen size_t"},
      {"deque", "deque begin end erase_if size"},
      {"exception", "current_exception exception exception_ptr rethrow_exception uncaught_exceptions"},
      {"initializer_list", "initializer_list"},
      {"iterator", "advance back_inserter begin distance end make_move_iterator next prev size"},
      {"limits", "numeric_limits"},
      {"map", "map multimap begin end erase_if"},
      {"memory",
       "addressof allocator make_shared make_unique pointer_traits shared_ptr to_address unique_ptr weak_ptr"},
      {"mutex", "call_once lock_guard mutex once_flag scoped_lock unique_lock"},
      {"new", "align_val_t bad_alloc bad_array_new_length hardware_destructive_interference_size launder nothrow"},
      {"numbers", "numbers"},
      {"numeric", "accumulate gcd iota lcm midpoint reduce"},
      {"optional", "in_place nullopt optional"},
      {"queue", "less priority_queue queue"},
      {"set", "less multiset set begin end erase_if"},
      {"span", "as_bytes as_writable_bytes dynamic_extent span begin end size"},
      {"stdexcept", "invalid_argument length_error logic_error out_of_range overflow_error runtime_error"},
      {"stop_token", "stop_callback stop_source stop_token"},
      {"string", "string to_string to_wstring u16string u32string wstring begin end erase_if size"},
      {"string_view", "string_view wstring_view begin end size"},
      {"system_error", "errc error_code generic_category system_category system_error"},
      {"thread", "jthread this_thread thread"},
      {"tuple", "apply forward_as_tuple get make_tuple tie tuple tuple_element_t tuple_size_v"},
      {"type_traits",
       "conditional_t decay_t enable_if_t false_type integral_constant invoke_result_t is_arithmetic_v is_const_v "
       "is_convertible_v is_copy_assignable_v is_copy_constructible_v is_empty_v is_enum_v is_floating_point_v "
       "is_integral_v is_invocable_v is_lvalue_reference_v is_nothrow_move_constructible_v is_same_v is_signed_v "
       "is_trivially_copyable_v is_trivially_destructible_v is_unsigned_v is_void_v make_unsigned_t remove_const_t "
       "remove_cv_t remove_cvref_t remove_reference_t true_type type_identity_t underlying_type_t void_t"},
      {"unordered_map", "unordered_map begin end erase_if"},
      {"unordered_set", "unordered_set begin end erase_if"},
      {"utility",
       "as_const cmp_less declval exchange forward get in_place in_place_type in_range index_sequence "
       "index_sequence_for integer_sequence make_index_sequence make_integer_sequence make_pair move pair swap "
       "to_underlying tuple_size_v"},
      {"variant", "get get_if holds_alternative in_place_type monostate variant variant_alternative_t visit"},
      {"vector", "vector begin end erase_if size"},
  };
  return all;
}

/// The headers of each name.
std::map<std::string, std::set<std::string>> headers_of_names() {
  std::map<std::string, std::set<std::string>> all;
  for (const auto& [header, names] : names_of_headers())
    for (std::size_t at = 0; at < names.size();) {
      const std::size_t end = std::min(names.find(' ', at), names.size());
      all[names.substr(at, end - at)].insert(header);
      at = end + 1;
    }
  return all;
}

/// Everything that a file includes, and what is included there in its turn.
std::set<std::string> reached(const std::string& name,
                              const std::map<std::string, std::vector<std::string>>& includes) {
  std::set<std::string> all{name};
  std::vector<std::string> next{name};
  while (!next.empty()) {
    const std::string file = next.back();
    next.pop_back();
    if (const auto found = includes.find(file); found != includes.end())
      for (const std::string& other : found->second)
        if (all.insert(other).second) next.push_back(other);
  }
  return all;
}

TEST(standard_headers, a_name_of_the_standard_library_is_included_where_it_is_used) {
  const std::vector<steno::test::source> headers = steno::test::headers();
  std::map<std::string, std::vector<std::string>> includes;
  for (const steno::test::source& s : headers) includes[s.name] = steno::test::includes(s.text);
  const std::map<std::string, std::set<std::string>> places = headers_of_names();
  static const std::regex use(R"(\bstd::([a-z_0-9]+))");

  std::vector<std::string> found;
  for (const steno::test::source& s : headers) {
    if (steno::test::is_piece(s.name)) continue;  // stands on what the headers around it include
    const std::string code = steno::test::code_only(s.text);
    const std::set<std::string> there = reached(s.name, includes);
    std::set<std::string> seen;
    for (std::sregex_iterator i(code.begin(), code.end(), use), end; i != end; ++i) {
      const std::string name = (*i)[1];
      if (!seen.insert(name).second) continue;
      const std::string where =
          s.name + ":" + std::to_string(steno::test::line_of(code, static_cast<std::size_t>(i->position())));
      const auto place = places.find(name);
      if (place == places.end()) {
        found.push_back(where + ": the list in this test does not know the header of std::" + name);
      } else if (std::ranges::none_of(place->second, [&](const std::string& h) { return there.contains(h); })) {
        found.push_back(where + ": std::" + name + " without <" + *place->second.begin() + ">");
      }
    }
  }
  EXPECT_TRUE(found.empty()) << steno::test::joined(found);
}

}  // namespace

}  // namespace standard_headers_test
