// steno/pipelines/any_session.hpp - listening with any model that streams, chosen at run time.
//
//   transcriber t("model.gguf");                  // const: any number of sessions share it
//   context c;
//   any_session s(t.model(), {}, c);
//   while (...) s.push(some, c, [](session_event e) { ... });  s.finish(c, ...);
//
// Options and events are those of streaming/session.hpp. A new family adds its session to `any_session::sessions`.
// Tested in tests/pipelines/any_session_test.cpp.
#pragma once
#include <steno/pipelines/any_model.hpp>
#include <steno/streaming/paraformer_session.hpp>
#include <steno/streaming/parakeet_session.hpp>
#include <steno/streaming/qwen3_session.hpp>
#include <steno/streaming/session.hpp>
#include <steno/streaming/u2_session.hpp>

#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace steno {
inline namespace STENO_ABI {

/// One stream. It may be moved; one thread at a time, but sessions of one model may be used by different threads at
/// once.
class any_session {
 public:
  /// The model must outlive it. Throws steno::error for models that do not stream, and as the family's session does.
  any_session(const any_model& m, const session_options& o, context& c) : session_(begin(m, o, c)) {}

  /// More mono samples in [-1, 1] at the model's rate, any number of them; sink(session_event&&) is told what they
  /// make. Nothing happens once it is over.
  template <class Sink>
  void push(std::span<const float> pcm, context& c, Sink&& sink) {
    std::visit([&](auto& s) { s.push(pcm, c, sink); }, session_);
  }
  /// The end: hears what is left and tells the last final result.
  template <class Sink>
  void finish(context& c, Sink&& sink) {
    std::visit([&](auto& s) { s.finish(c, sink); }, session_);
  }
  /// After finish(), or an endpoint that does not continue.
  bool over() const noexcept {
    return std::visit([](const auto& s) { return s.over(); }, session_);
  }

  /// Whether a model that streams has a use for an option, by its name in session_options.
  static bool honours(const any_model& m, std::string_view option);
  /// Whether a model streams.
  static bool takes(const any_model& m) {
    return std::visit([]<class Model>(const Model&) { return streams<Model>(); }, m);
  }

 private:
  using sessions = std::variant<session<u2_conformer_any>, session<u2_transformer_any>, session<paraformer_online_any>,
                                session<qwen3_asr_any>, session<parakeet_ctc_any>, session<parakeet_transducer_any>>;

  template <class Model, class... Each>
  static constexpr bool among(const std::variant<Each...>*) {
    return (std::is_same_v<session<Model>, Each> || ...);
  }
  template <class Model>
  static constexpr bool streams() {
    return among<Model>(static_cast<const sessions*>(nullptr));
  }
  template <class... Each>
  static std::string names(const std::variant<Each...>*) {
    std::string all;
    ((all.append(all.empty() ? "" : ", ").append(Each::model_type::architecture)), ...);
    return all;
  }
  STENO_COLD static sessions begin(const any_model& m, const session_options& o, context& c) {
    return std::visit(
        [&]<class Model>(const Model& one) -> sessions {
          if constexpr (streams<Model>())
            return sessions(std::in_place_type<session<Model>>, one, o, c);
          else
            fail({.where = one.storage.file ? one.storage.file->where() : std::string(),
                  .what = "this model does not stream",
                  .expected = names(static_cast<const sessions*>(nullptr)),
                  .found = std::string(Model::architecture)});
        },
        m);
  }

  sessions session_;
};

inline bool any_session::honours(const any_model& m, std::string_view option) {
  return std::visit(
      [&]<class Model>(const Model& one) {
        if constexpr (streams<Model>())
          return session<Model>::honours(one, option);
        else
          return false;
      },
      m);
}

}  // namespace STENO_ABI
}  // namespace steno
