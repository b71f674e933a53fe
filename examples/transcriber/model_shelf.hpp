// The models of a server by the names that requests call them: loaded when they are first asked for, one at a time, and
// then shared by everybody.
//
// Tested in tests/transcriber/model_shelf_test.cpp and tests/programs/steno_models_served_test.cpp.
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <steno/pipelines/any_session.hpp>
#include <steno/pipelines/any_vad.hpp>
#include <steno/pipelines/transcriber.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "itn.hpp"
#include "speaker_model.hpp"

namespace steno::app {

/// A model, what stands beside it, and what is asked of it unless a request says something else.
struct served_model {
  /// `m` and what `next_to` names must outlive it. Throws steno::error where sessions with these options are refused.
  served_model(const transcriber& m, session_options of_sessions, pipelines::session_models next_to,
               transcribe_options of_recordings, const any_vad* finds_turns, const speaker_model* tells = nullptr,
               const inverse_text_normaliser* writes = nullptr);

  const transcriber& model;
  const session_options live;
  const pipelines::session_models beside;
  const transcribe_options recording;
  const speaker_model* const speakers;           ///< tells who said it, for requests that ask; null: nothing does
  const inverse_text_normaliser* const figures;  ///< rewrites what is final; null: nothing does
  /// Finds turns of realtime sessions, unless they say themselves where these end.
  const any_vad& turns() const { return turns_ != nullptr ? *turns_ : usual_turns_; }
  /// Beside the model when turns are found already (whole_turn.hpp).
  pipelines::session_models beside_turns() const;

 private:
  const any_vad* const turns_;
  const any_vad usual_turns_, whole_turns_;
};

/// Safe for threads, but for add().
class model_shelf {
 public:
  using place = std::shared_ptr<const served_model>;
  using load_function = std::function<place()>;

  /// The first one is the usual one.
  void add(std::string id, place m) { all_.push_back({std::move(id), std::move(m), {}, {}}); }
  void add(std::string id, load_function how) { all_.push_back({std::move(id), {}, std::move(how), {}}); }

  /// Their names, in the order in which they were added.
  std::vector<std::string> ids() const;
  const std::string& usual() const { return all_.front().id; }
  bool has(std::string_view id) const { return find(id) < all_.size(); }
  std::size_t size() const { return all_.size(); }
  std::size_t loaded() const;
  /// Null where it is not loaded, or is not there.
  place ready(std::string_view id) const;
  /// Loads it where it is not; one at a time. What failed is tried again the next time. Throws steno::error,
  /// std::bad_alloc.
  place get(std::string_view id);
  /// Why it could not be loaded the last time; empty: it could, or nobody asked.
  std::string failure(std::string_view id) const;
  /// What to say of a name that is none of theirs.
  std::string unknown(std::string_view id) const;

 private:
  struct entry {
    std::string id;
    place model;
    load_function how;
    std::string failure;
  };
  std::size_t find(std::string_view id) const;  // all_.size(): it is not there

  mutable std::mutex mutex_;  // of what entries hold
  std::mutex loading_;
  std::vector<entry> all_;
};

}  // namespace steno::app
