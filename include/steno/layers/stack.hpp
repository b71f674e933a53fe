// steno/layers/stack.hpp - layers in order: the only code that calls them so.
//
//   sequence<A, B>           y = b(a(x))                                             sequence.hpp
//   repeat<N, A>             N equal layers after one another                        repeat.hpp
//   residual<A, B>           y = x + b(a(x)); half_, fitting_residual, post_norm     residual.hpp
//   parallel<A, B>           y = a(x) + b(x)                                         parallel.hpp
//   at<"name", A>, shown     a layer's name in the checkpoint, or in a trace         stage.hpp
//   around<A>                a layer that adds to the record of the stack inside     around.hpp
//
// These are layers themselves: their members are their layers', their state is made of their layers' states, and the
// record `env` goes through to every layer. Tested in tests/layers/stack_test.cpp and tests/compile/must_not_compile.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/layers/around.hpp>
#include <steno/layers/parallel.hpp>
#include <steno/layers/repeat.hpp>
#include <steno/layers/residual.hpp>
#include <steno/layers/sequence.hpp>
#include <steno/layers/stage.hpp>
