// --resume and --list-left: what of a list is done.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <vector>

#include "done_list.hpp"
#include "inputs.hpp"
#include "progress.hpp"
#include "screen.hpp"

namespace steno::app {

/// Takes out of `inputs` what was done before, with a note of how many that are.
void leave_out_done(const done_list& list, std::vector<input>& inputs, reporter& report);

/// Writes a line of JSON for each input that is not done: {"name", "audio", "failed"}, the last where it failed. Notes
/// how many there are. Returns the exit code: 1 where anything is left. Throws steno::error when it cannot write.
int list_left(const options& o, const std::vector<input>& inputs, screen& to, reporter& report);

}  // namespace steno::app
