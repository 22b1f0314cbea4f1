#include "peer/launch/run/run_writer.h"

#include <atomic>
#include <future>
#include <stdexcept>

#include <gtest/gtest.h>

#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {
namespace {

TEST(RunWriter, WritesLinesInTheirOrder) {
  const ScratchFolder scratch;
  const std::string path = scratch.path() + "/metrics.jsonl";
  std::string all;
  {
    RunWriter writer(path);
    for (int i = 0; i < 1000; ++i) {
      writer.append(std::to_string(i));
      all += std::to_string(i) + "\n";
    }
  }
  EXPECT_EQ(text_of(path), all);
}

/// A disk that does not answer: the test holds up the job that writes the model.
TEST(RunWriter, ADiskThatDoesNotAnswerHoldsUpNobodyElse) {
  const ScratchFolder scratch;
  const std::string path = scratch.path() + "/metrics.jsonl";
  std::promise<void> began, answers;
  std::atomic<int> models = 0;
  RunWriter writer(path, 10);
  writer.replace([&] {
    began.set_value();
    answers.get_future().wait();
  });
  began.get_future().wait();
  for (const char* const line : {"first", "abc", "left", "out"}) writer.append(line);
  for (int i = 1; i <= 3; ++i) writer.replace([&models, i] { models += i; });
  EXPECT_FALSE(writer.finish(std::chrono::milliseconds(1)));
  EXPECT_EQ(text_of(path), "");
  EXPECT_EQ(writer.troubles(),
            std::vector<std::string>{"error: 2 lines of metrics.jsonl are left out: the disk does "
                                     "not answer, and too many wait for it"});
  answers.set_value();
  writer.finish();
  EXPECT_EQ(models, 3);
  EXPECT_EQ(text_of(path), "first\nabc\n");
  EXPECT_TRUE(writer.troubles().empty());
}

TEST(RunWriter, SaysOnceWhatCannotBeWritten) {
  RunWriter writer("/dev/full");
  for (int i = 0; i < 3; ++i) {
    writer.append("a line");
    writer.finish();
  }
  writer.replace([] { throw std::runtime_error("no room"); });
  writer.finish();
  EXPECT_EQ(writer.troubles(),
            (std::vector<std::string>{
                "error: metrics.jsonl cannot be written (is the disk full?): rounds are shown here "
                "only",
                "error: the best model until now is not saved: no room"}));
  EXPECT_TRUE(writer.troubles().empty());
}

}  // namespace
}  // namespace gv
