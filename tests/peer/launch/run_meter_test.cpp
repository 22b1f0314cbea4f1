#include "peer/launch/run_meter.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "graph/formats/json_value.h"
#include "tests/peer/fleet/test_fleet.h"
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
  for (const char* wrong : {"",
                            "full avg10=1 total=3\n",
                            "some avg10=x total=3\n",
                            "some avg10=-1 total=3\n",
                            "some avg10=101 total=3\n",
                            "some total=3\n",
                            "some avg10=1\ntotal=3\n"})
    EXPECT_FALSE(parse_cpu_pressure(wrong)) << wrong;
}

/// A folder of energy counters as the kernel shows it. A package's counter includes its parts.
class Powercap {
 public:
  explicit Powercap(const std::string& path) : path_(path) {
    add("intel-rapl:0", "package-0", 1'000'000);
    add("intel-rapl:0:0", "core", 500'000);
    add("intel-rapl:1", "package-1", 9'000'000);
    add("intel-rapl-mmio:0", "package-0", 1'000'000);
  }
  void set(const std::string& folder, std::uint64_t microjoules) const {
    std::ofstream(path_ + "/" + folder + "/energy_uj") << microjoules << "\n";
  }

 private:
  void add(const std::string& folder, const char* name, std::uint64_t microjoules) const {
    std::filesystem::create_directories(path_ + "/" + folder);
    std::ofstream(path_ + "/" + folder + "/name") << name << "\n";
    std::ofstream(path_ + "/" + folder + "/max_energy_range_uj") << 10'000'000 << "\n";
    set(folder, microjoules);
  }
  std::string path_;
};

TEST(RunMeter, AddsUpTheEnergyOfWholePackages) {
  const ScratchFolder folder;
  const Powercap powercap(folder.path());
  EnergyMeter meter(false, folder.path());
  EXPECT_EQ(meter.sources(), "package-0, package-1");
  EXPECT_DOUBLE_EQ(meter.joules().value(), 0);
  powercap.set("intel-rapl:0", 4'000'000);
  powercap.set("intel-rapl-mmio:0", 4'000'000);
  powercap.set("intel-rapl:0:0", 900'000);
  powercap.set("intel-rapl:1", 1'000'000);  // began anew: 1 J to its end, and 1 J from there
  meter.sample();
  EXPECT_DOUBLE_EQ(meter.joules().value(), 5);
  meter.sample();
  EXPECT_DOUBLE_EQ(meter.joules().value(), 5);
}

TEST(RunMeter, WhereNothingCanBeReadNothingIsSaid) {
  const ScratchFolder folder;
  EnergyMeter meter(false, folder.path() + "/none");
  meter.sample();
  EXPECT_FALSE(meter.joules());
  EXPECT_EQ(meter.sources(), "");
}

TEST(RunMeter, TheEndOfARunStandsInItsJson) {
  const ScratchFolder scratch;
  const RunFolder folder = RunFolder::make(scratch.path() + "/run");
  folder.write("run.json", Json{{"schema", "grapevine.run/2"}, {"seed", 1}}.dump(2) + "\n");
  RunMeter meter(quadratic_fleet(2, "ring", "d-psgd", ""));
  add_end(folder, meter.end());
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
