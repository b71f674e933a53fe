// steno/models/recogniser.hpp - the front door: what every model that turns speech into text has, built in or your own.
//
//   struct my_model {
//     static constexpr std::string_view architecture = "my_model";
//     static constexpr int sample_rate = 16000;
//     struct options {};                                        // of one call
//     std::vector<std::string> languages() const;               // codes; empty where none can be chosen
//     segment recognise(std::span<const float> pcm, const options&, context&) const;
//   };
//
// transcribe(), recording and transcriber (pipelines/) take any such model. A model that also has a specialisation of
// session (streaming/session.hpp), or a member type `session_type`, is recognised live. Asserted for
// every family, and tested, in tests/pipelines/recogniser_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/context.hpp>
#include <steno/core/result.hpp>

#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace steno {
inline namespace STENO_ABI {

/// recognise(): one clip of mono samples in [-1, 1] at `sample_rate` to a segment whose times count from the clip's
/// start; throws steno::error for options the model does not know. A model is const and may be shared by threads, each
/// with its own context.
template <class M>
concept recogniser = requires(const M& m, std::span<const float> pcm, const typename M::options& o, context& c) {
  requires std::default_initializable<typename M::options>;
  { M::architecture } -> std::convertible_to<std::string_view>;
  { m.sample_rate } -> std::convertible_to<int>;
  { m.languages() } -> std::same_as<std::vector<std::string>>;
  { m.recognise(pcm, o, c) } -> std::same_as<segment>;
};

}  // namespace STENO_ABI
}  // namespace steno
