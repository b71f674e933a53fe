// steno/pipelines/closed.hpp - how the closed classes (transcriber, any_session, any_vad, diarizer, ...) get their
// bodies.
//
// What opens a file is a function template over `bodies`, whose definition is in open_NAME.hpp. So who includes a
// closed class and does not construct one compiles none of the models behind it; who links steno::pipelines finds the
// instantiation there and compiles none at all. Tested in tests/pipelines.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/config.hpp>

namespace steno {
inline namespace STENO_ABI {
namespace pipelines {
namespace detail {

/// All models that steno has for a closed class.
struct bodies;

/// `Model`, as a type that depends on `Bodies`: nothing of it is compiled before a closed class is constructed.
template <class Bodies, class Model>
struct dependent {
  using type = Model;
};
template <class Bodies, class Model>
using model_for = typename dependent<Bodies, Model>::type;

}  // namespace detail
}  // namespace pipelines
}  // namespace STENO_ABI
}  // namespace steno
