#include "peer/launch/run/run_meter.h"

#include <gtest/gtest.h>

#include "graph/formats/json_value.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

namespace gv {
namespace {

TEST(RunMeter, ReadsThePressureOfTheKernel) {
  const auto pressure = parse_cpu_pressure(
      "some avg10=12.50 avg60=3.00 avg300=1.00 total=2500000\nfull avg10=0.00 total=0\n");
  ASSERT_TRUE(pressure);
  EXPECT_DOUBLE_EQ(pressure->lately, 0.125);
  EXPECT_DOUBLE_EQ(pressure->waited_seconds, 2.5);
  for (const char* wrong :
       {"", "full avg10=1 total=3\n", "some avg10=x total=3\n", "some avg10=-1 total=3\n",
        "some avg10=101 total=3\n", "some total=3\n", "some avg10=1\ntotal=3\n"})
    EXPECT_FALSE(parse_cpu_pressure(wrong)) << wrong;
}

TEST(RunMeter, TheEndOfARunStandsInItsJson) {
  const ScratchFolder scratch;
  const RunFolder folder = RunFolder::make(scratch.path() + "/run");
  folder.write("run.json", Json{{"schema", "grapevine.run/2"}, {"seed", 1}}.dump(2) + "\n");
  add_end(folder, RunMeter().end());
  add_end(folder, Json{{"at", "later"}});  // of the same run, resumed
  const std::string text = text_of(folder.file("run.json"));
  const JsonValue json = parse_json(text, "run.json");
  EXPECT_EQ(json.find("schema")->text, "grapevine.run/2");
  EXPECT_EQ(json.find("ended")->find("at")->text, "later");
  EXPECT_EQ(text.find("ended"), text.rfind("ended"));
  folder.write("run.json", "{");
  EXPECT_THROW(add_end(folder, Json{}), std::runtime_error);
}

}  // namespace
}  // namespace gv
