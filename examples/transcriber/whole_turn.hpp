// A detector to which all of a stream is one segment of speech: of turns whose ends somebody else says.
//
// Models that do not stream recognise segments (pipelines/segment_session.hpp); with this one a whole turn is one, with
// the same partial results on the way, and longer ones are cut at quiet places.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/any_vad.hpp>

namespace steno::app {

/// For samples at `rate` Hz.
any_vad whole_turn_detector(int rate);

}  // namespace steno::app
