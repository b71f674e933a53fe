// steno/pipelines/transcriber_of.hpp - a transcriber of a model that is there already, a user's own too.
//
// Tested in tests/pipelines/recogniser_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/loaded_model.hpp>
#include <steno/pipelines/transcriber.hpp>

#include <memory>
#include <utility>

namespace steno {
inline namespace STENO_ABI {

/// Any recogniser behind the closed classes: what takes a transcriber takes a model of your own.
template <recogniser Model>
transcriber transcriber_of(Model m) {
  return transcriber(std::make_unique<const pipelines::detail::loaded_as<Model>>(std::move(m)));
}

}  // namespace STENO_ABI
}  // namespace steno
