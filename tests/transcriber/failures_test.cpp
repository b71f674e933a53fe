// What the user is told about exceptions that do not say what they are about.
// SPDX-License-Identifier: Apache-2.0
#include "failures.hpp"

#include <steno/error.hpp>
#include <steno/search/scores.hpp>

#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "model_files.hpp"
#include "speech_task.hpp"

namespace failures_test {

using steno::app::failure_text;

std::string of_error(const steno::core::fault& parts) {
  try {
    steno::fail(parts);
  } catch (const steno::error& e) {
    return failure_text(e, "talk.wav");
  }
}

TEST(failures, name_the_file_and_what_to_do) {
  EXPECT_EQ(failure_text(std::bad_alloc(), "talk.wav").rfind("talk.wav: out of memory (", 0), 0u);
  EXPECT_EQ(failure_text(std::length_error("vector::_M_default_append"), "m.gguf").rfind("m.gguf: out of memory", 0),
            0u);
  const std::system_error threads(std::make_error_code(std::errc::resource_unavailable_try_again));
  EXPECT_EQ(failure_text(threads, "m.gguf").rfind("m.gguf: cannot start the threads: ", 0), 0u);
  EXPECT_NE(failure_text(threads, "").find("--threads 1"), std::string::npos);
  EXPECT_EQ(failure_text(std::runtime_error("odd"), "talk.wav"), "talk.wav: odd");
}

TEST(failures, short_memory_is_the_servers_and_passes) {
  EXPECT_EQ(steno::app::answer_of(std::bad_alloc()).status, 503);
  EXPECT_EQ(steno::app::answer_of(steno::core::out_of_memory({.what = "scratch memory"})).status, 503);
  EXPECT_EQ(steno::app::answer_of(steno::error({.what = "odd"})).status, 500);
}

TEST(failures, scores_that_are_no_numbers_name_the_model_too) {
  const std::string path = STENO_SOURCE_DIR "/examples/models/demo.gguf";
  (void)steno::app::open_model_file(path);
  const steno::search::scores_error e({.what = "scores of the model"});
  EXPECT_EQ(failure_text(e, "talk.wav"), "talk.wav: scores of the model: " + path);
}

TEST(failures, the_library_s_own_keep_their_place) {
  EXPECT_EQ(of_error({.what = "bad"}), "talk.wav: bad");
  EXPECT_EQ(of_error({.where = "m.gguf", .what = "bad"}), "m.gguf: bad");
}

}  // namespace failures_test
