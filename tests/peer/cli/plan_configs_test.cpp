#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "tests/peer/launch/program.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"
#include "tests/text_of.h"

// `plan --calibrate` of every shipped fleet file.

namespace gv {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> configs() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(source_folder() + "/configs"))
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  std::ranges::sort(names);
  return names;
}

/// Reduces the residual network's fleet, whose curvature would take minutes with four peers.
std::string less_of(const std::string& config) {
  return config == "digits-resnet20-ring4" ? " --set peers=2 --set train.batch=4" : "";
}

class PlanConfigs : public testing::TestWithParam<std::string> {
 protected:
  /// Plans without Program's limit of a minute.
  int plan(const std::string& arguments) const {
    const std::string command =
        fmt::format("'{}' plan '{}/configs/{}.yaml' {}{} > '{}' 2> '{}'", grapevine_program(),
                    source_folder(), GetParam(), arguments, less_of(GetParam()), out(), err());
    const int status = std::system(command.c_str());
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
  }
  std::string out() const { return folder_.path() + "/out"; }
  std::string err() const { return folder_.path() + "/err"; }

 private:
  ScratchFolder folder_;
};

/// Much less work than a prediction needs gives figures, or a sentence that explains why not.
TEST_P(PlanConfigs, GiveAFigureOrASentence) {
  const int code = plan("--calibrate --work 1e9 --json");
  const std::string errors = text_of(err());
  if (code == 2) {
    EXPECT_NE(errors.find("error: "), std::string::npos) << errors;
    return;
  }
  ASSERT_EQ(code, 0) << errors;
  const auto json = nlohmann::json::parse(text_of(out()));
  const auto& predicted = json.at("predicted");
  const bool figure = predicted.is_object() && predicted.contains("excess_loss_local") &&
                      predicted.at("excess_loss_local").is_number();
  std::string sentence;
  for (const char* key : {"not_predicted", "warning"})
    if (json.at(key).is_string()) sentence += json.at(key).get<std::string>();
  EXPECT_TRUE(figure || sentence.size() > 20) << json.dump().substr(0, 2000);
  EXPECT_EQ(sentence.find('\n'), std::string::npos) << sentence;
  EXPECT_GT(predicted.at("seconds_per_round").get<double>(), 0);
}

INSTANTIATE_TEST_SUITE_P(All, PlanConfigs, testing::ValuesIn(configs()), [](const auto& config) {
  std::string name;
  for (const char c : config.param)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
  return name;
});

}  // namespace
}  // namespace gv
