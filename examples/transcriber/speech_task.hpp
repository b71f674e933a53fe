// A recording that was uploaded, from its place in the queue to the answer: it is decoded and recognised on one thread
// of the queue, a second of audio at a time, so that a client that goes away stops it. A short one takes along others
// that wait and ask for the same, where the model recognises clips together: none waits for others to come, and each
// gets what it would get alone.
//
// Tested in tests/programs/steno_service_test.cpp.
// SPDX-License-Identifier: Apache-2.0
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
  bool together = false;  ///< with others
  std::string text = {};  ///< for the log, where it shall have it
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
  /// What a server's tasks share; outlives them.
  struct place {
    model_shelf& models;
    work_queue& desk;  ///< where they wait
    const audio_options& reading;
    double most_seconds;  ///< of audio; more are refused
    int most_together;
    bool log_texts;
  };
  /// The shelf has this model.
  speech_task(const place& at, std::string model, upload what, std::shared_ptr<asker> who);
  ~speech_task() override;
  void run() noexcept override;

 private:
  using clock = std::chrono::steady_clock;
  struct gone {};
  struct hearing;  // between its beginning and its answer
  enum class company { perhaps, wanted };

  model_shelf::place loaded();
  bool begin(context& scratch, company with);
  void finish() noexcept;
  void run_with_others(context& scratch) noexcept;
  bool waits() const;
  template <class F>
  bool carefully(F&& f) noexcept;
  void give(api_answer a) noexcept;
  template <class F>
  void listen(int rate, F&& f);

  const place at_;
  const std::string model_;
  const upload what_;
  const std::string kind_;  // equal for requests that may be recognised together; empty: with none
  std::shared_ptr<asker> who_;
  std::unique_ptr<hearing> hearing_;
  const clock::time_point since_ = clock::now();
  double waited_ = 0, worked_ = 0;
  bool together_ = false;
};

/// What a request is answered with that failed for this reason. Throws std::bad_alloc.
api_answer answer_of(const std::exception& e);

}  // namespace steno::app
