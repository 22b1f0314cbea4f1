#pragma once

#include <fstream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "optim/data/table/table.h"
#include "tests/scratch_folder.h"

namespace gv {

/// Tables in a folder of the test's own.
class TableFiles : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  /// As it stands: no scaling, no test set.
  static TableSpec plain_spec(const std::string& file, const std::string& target) {
    TableSpec spec;
    spec.file = file;
    spec.target = target;
    spec.standardize = false;
    return spec;
  }
  /// What is wrong with it, without the folder; "": nothing.
  std::string error(const TableSpec& spec) const {
    try {
      read_table(spec, Rng(1));
    } catch (const std::runtime_error& e) {
      std::string text = e.what();
      for (auto at = text.find(scratch_.path()); at != std::string::npos;
           at = text.find(scratch_.path()))
        text.erase(at, scratch_.path().size() + 1);
      return text;
    }
    return "";
  }

  ScratchFolder scratch_;
};

}  // namespace gv
