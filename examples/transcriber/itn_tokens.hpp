// What a tagger of inverse text normalisation says of a text: tokens of classes with fields, in the notation that
// WeText and NeMo share.
//
//   date { year: "2022" month: "01" } char { value: "x" }                                  WeText
//   tokens { name: "costs" } tokens { money { integer_part: "23" currency: "$" } }         NeMo
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace steno::app {

/// `name: "value"`, or a group `name { fields }`.
struct itn_token {
  std::string name, value;
  bool group = false;
  std::vector<itn_token> fields = {};
};

/// Nothing where `tagged` is not in that notation.
std::optional<std::vector<itn_token>> parse_itn_tokens(std::string_view tagged);

/// The notation of a token as verbalizers read it, its fields as they stand.
std::string itn_text(const itn_token& t);

/// WeText's order of the fields of its classes (`ITN_ORDERS` of its token parser), other fields behind them; as they
/// stand where the tagger says so (`preserve_order`).
itn_token in_the_order_of_wetext(itn_token t);

/// Hands over every order of the fields of a token and of the groups in it, as they stand first, until `found` returns
/// true or some hundreds were tried; one order where the tagger says so. Returns whether `found` did.
bool each_order(const itn_token& t, const std::function<bool(const itn_token&)>& found);

}  // namespace steno::app
