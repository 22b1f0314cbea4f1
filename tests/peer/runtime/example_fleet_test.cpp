#include <gtest/gtest.h>

#include "peer/runtime/assembly/assembly.h"
#include "peer/runtime/views.h"

namespace gv {
namespace {

/// A user can run the example of a method at once.
TEST(ExampleFleet, IsOneInWhichTheMethodRunsWithAllItsOptions) {
  for (const AlgorithmRow* row : algorithms()) {
    SCOPED_TRACE(row->kind);
    SCOPED_TRACE(row->order);
    const std::string text = example_fleet(*row);
    const Assembly fleet(read_fleet_text(text));
    EXPECT_EQ(fleet.algorithm, row);
    for (const Option& option : row->options)
      EXPECT_NE(text.find(std::string(option.name) + ": "), std::string::npos) << option.name;
  }
}

}  // namespace
}  // namespace gv
