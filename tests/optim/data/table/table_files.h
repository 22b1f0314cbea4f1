#pragma once

#include <fstream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "optim/data/table/table_plan.h"
#include "tests/error_in.h"

namespace gv {

/// Tables in a temporary folder.
class TableFiles : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  /// Returns a spec for an unchanged file: no scaling, no test set.
  static TableSpec plain_spec(const std::string& file, const std::string& target) {
    TableSpec spec;
    spec.file = file;
    spec.target = target;
    spec.standardize = false;
    return spec;
  }
  /// Returns the error of reading it, without the folder; "" if none.
  std::string error(const TableSpec& spec) const {
    return error_in(scratch_, [&] { read_table(spec, Rng(1)); });
  }

  ScratchFolder scratch_;
};

}  // namespace gv
