#include "peer/launch/program/program_words.h"

#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace gv::asked {
namespace {

Introduction introduction() {
  return {.parameters = {{"fc.weight", {3, 2}, {2, 1}}, {"b", {}, {}}},
          .evaluates = true,
          .optimizer = "AdamW",
          .batches = 7,
          .versions = {{"torch", "2.15.0"}}};
}

TEST(ProgramWords, ComeBackAsTheyWereSaid) {
  const auto says = std::get<Introduction>(parse_program(line(introduction())));
  EXPECT_EQ(says.parameters, introduction().parameters);
  EXPECT_TRUE(says.evaluates);
  EXPECT_EQ(says.optimizer, "AdamW");
  EXPECT_EQ(says.batches, 7U);
  EXPECT_EQ(says.versions.at("torch"), "2.15.0");
  EXPECT_FALSE(says.seconds_per_step);
  EXPECT_EQ(floats_of(says.parameters), 7U);

  const auto figures =
      std::get<Figures>(parse_program(line(Figures{.number = 3, .loss = 0.5, .accuracy = {}})));
  EXPECT_EQ(figures.number, 3U);
  EXPECT_EQ(figures.loss, 0.5);
  EXPECT_FALSE(figures.accuracy);
  EXPECT_EQ(std::get<Evaluate>(parse_launcher(line(Evaluate{9}))).number, 9U);
  EXPECT_TRUE(std::holds_alternative<Stop>(parse_launcher(line(Stop{}))));
  EXPECT_FALSE(says.whole);
  const auto save = std::get<Save>(parse_launcher(line(Save{7, "/runs/a/model.pt"})));
  EXPECT_EQ(save.number, 7U);
  EXPECT_EQ(save.path, "/runs/a/model.pt");
  EXPECT_EQ(std::get<Saved>(parse_program(line(Saved{7}))).number, 7U);
}

TEST(ProgramWords, OfADivergedModelAreNoFigures) {
  const Figures infinite{.number = 1, .loss = 1e300 * 1e300, .accuracy = {}};
  EXPECT_FALSE(std::get<Figures>(parse_program(line(infinite))).loss);
}

/// An invalid introduction is rejected with a reason, and its text is escaped for the terminal.
TEST(ProgramWords, AreNotBelieved) {
  const auto with = [](const std::string& tensors) {
    return fmt::format(
        R"({{"schema":"grapevine.program/1","parameters":[{}],"evaluates":false,"optimizer":"",)"
        R"("batches":0,"versions":{{}}}})",
        tensors);
  };
  EXPECT_NO_THROW(parse_program(with(R"({"name":"a","shape":[2],"strides":[1]})")));
  for (const std::string& line : std::vector<std::string>{
           "no json", with(""), with(R"({"name":"","shape":[2],"strides":[1]})"),
           with(R"({"name":"a\u001b[2J","shape":[2],"strides":[1]})"),
           with(R"({"name":"a","shape":[-2],"strides":[1]})"),
           with(R"({"name":"a","shape":[2.5],"strides":[1]})"),
           with(R"({"name":"a","shape":[4294967296],"strides":[1]})"),
           with(R"({"name":"a","shape":[4000000000,4000000000,4000000000],"strides":[1,1,1]})"),
           // 2^64, which overflows to 0 in a product of 64 bits
           with(R"({"name":"a","shape":[2147483648,16,536870912],"strides":[1,1,1]})"),
           with(R"({"name":"a","shape":[2],"strides":[]})"),
           with(R"({"name":"a","shape":{},"strides":[]})"),
           with(R"({"name":"a","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],"strides":[]})"),
           with(R"({"name":"a","shape":[2],"strides":[1]},{"name":"a","shape":[1],"strides":[1]})"),
           with(
               fmt::format(R"({{"name":"{}","shape":[2],"strides":[1]}})", std::string(2000, 'n'))),
           R"({"schema":"grapevine.program/2"})", R"({"evaluated":-1})",
           R"({"evaluated":1,"loss":"high"})"})
    EXPECT_THROW(parse_program(line), std::exception) << line;
  EXPECT_TRUE(std::holds_alternative<std::monostate>(parse_program(R"({"other":1})")));
  EXPECT_TRUE(std::holds_alternative<std::monostate>(parse_launcher("{")));
}

}  // namespace
}  // namespace gv::asked
