// steno/pipelines/compiled.hpp - what steno::pipelines has compiled of a family's models of any size.
//
// Who takes such a model as a type and links steno::pipelines finds load(), transcribe() and recognise() there; without
// the library they are compiled where they are used, as any template. Tested in tests/pipelines/recogniser_test.cpp,
// measured by bench/compile-time.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/core/executor.hpp>
#include <steno/core/stop_token.hpp>
#include <steno/models/load.hpp>
#include <steno/pipelines/transcribe.hpp>

#include <cstddef>
#include <span>
#include <vector>

/// In namespace steno: instantiates these functions of a recogniser, or says (`extern template`) that they are
/// elsewhere. recognise() is such a function where it is defined behind its class: one inside is compiled again by
/// whoever calls it. The type is written out: a member of one that has another name cannot be instantiated.
#define STENO_MODEL_FUNCTIONS(instantiation, ...)                                                                     \
  instantiation __VA_ARGS__ load<__VA_ARGS__>(gguf_file, const executor&, std::vector<std::byte>,                     \
                                              const core::stop_token&);                                               \
  instantiation result transcribe<__VA_ARGS__>(const __VA_ARGS__&, std::span<const float>, const transcribe_options&, \
                                               context&);                                                             \
  instantiation segment __VA_ARGS__::recognise(std::span<const float>, const __VA_ARGS__::options&, context&) const
