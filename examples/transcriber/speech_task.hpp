// A recording that was uploaded, from its place in the queue to the answer: it is decoded and recognised on one thread
// of the queue, a second of audio at a time, so that a client that goes away stops it.
//
// Tested in tests/programs/steno_service_test.cpp.
#pragma once
#include <steno/pipelines/transcriber.hpp>

#include <chrono>
#include <memory>
#include <string>

#include "audio.hpp"
#include "speech_form.hpp"
#include "upload_file.hpp"
#include "work_queue.hpp"

namespace steno::app {

struct api_answer {
  int status = 200;
  std::string type = "application/json", body;
  double audio_seconds = 0, waited_seconds = 0, worked_seconds = 0;
};

/// Who waits for the answer. Both are called on the queue's thread.
class asker {
 public:
  virtual ~asker() = default;
  /// Of a request for events: the next one, an object of JSON. May throw std::bad_alloc.
  virtual void heard(std::string event) = 0;
  /// Once, in the end.
  virtual void answered(api_answer a) noexcept = 0;
};

class speech_task final : public work_queue::task {
 public:
  struct upload {
    std::shared_ptr<upload_file> sound;
    std::shared_ptr<speech_form> form;
    speech_request asked;
  };
  /// `models` must outlive it, and has this one. `most_seconds` of audio; more are refused.
  speech_task(model_shelf& models, std::string model, upload what, const audio_options& reading, double most_seconds,
              std::shared_ptr<asker> who)
      : models_(models),
        model_(std::move(model)),
        what_(std::move(what)),
        reading_(reading),
        most_seconds_(most_seconds),
        who_(std::move(who)) {}
  void run() noexcept override;

 private:
  struct gone {};
  model_shelf::place loaded();
  void recognise(api_answer& a);
  template <class F>
  void listen(int rate, F&& f);

  model_shelf& models_;
  const std::string model_;
  const upload what_;
  const audio_options reading_;
  const double most_seconds_;
  std::shared_ptr<asker> who_;
  const std::chrono::steady_clock::time_point since_ = std::chrono::steady_clock::now();
};

/// What a request is answered with that failed for this reason. Throws std::bad_alloc.
api_answer answer_of(const std::exception& e);

}  // namespace steno::app
