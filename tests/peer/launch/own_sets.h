#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>

#include "optim/rng.h"

namespace gv {

/// Training, validation and test sets, drawn and written to files in `folder`: NAME.csv, NAME.svm
/// and the folder NAME of pictures, where NAME is train, validation or test. The classes overlap,
/// so that no model predicts every row.
class OwnSets {
 public:
  explicit OwnSets(std::string folder) : folder_(std::move(folder)) {
    for (const auto& [name, rows] : {std::pair{"train", 160}, {"validation", 90}, {"test", 70}}) {
      write_table(name, rows);
      write_sparse(name, rows);
      write_pictures(name, rows);
    }
  }

 private:
  double near(std::uint64_t group) { return 0.7 * static_cast<double>(group) + rng_.normal(); }

  void write_table(const std::string& name, int rows) {
    std::ofstream out(fmt::format("{}/{}.csv", folder_, name));
    out << "a,b,colour,kind\n";
    for (int k = 0; k < rows; ++k) {
      const std::uint64_t group = rng_.below(3);
      const char* colour = (group + rng_.below(2)) % 2 == 0 ? "red" : "blue";
      out << fmt::format("{:.4f},{:.4f},{},k{}\n", near(group), near(2 - group), colour, group);
    }
  }

  void write_sparse(const std::string& name, int rows) {
    std::ofstream out(fmt::format("{}/{}.svm", folder_, name));
    for (int k = 0; k < rows; ++k) {
      const std::uint64_t group = rng_.below(2);
      out << (group == 0 ? "-1" : "+1");
      for (int column = 1; column <= 6; ++column)
        out << fmt::format(" {}:{:.4f}", column, near(column % 2 == 0 ? group : 1 - group));
      out << "\n";
    }
  }

  void write_pictures(const std::string& name, int pictures) {
    constexpr int side = 4;
    for (int k = 0; k < pictures; ++k) {
      const std::uint64_t group = rng_.below(2);
      const std::string own = fmt::format("{}/{}/class{}", folder_, name, group);
      std::filesystem::create_directories(own);
      std::ofstream out(fmt::format("{}/{:03}.pgm", own, k), std::ios::binary);
      out << "P5\n4 4\n255\n";
      for (int pixel = 0; pixel < side * side; ++pixel) {
        const bool bright = (pixel % side < side / 2) == (group == 0);
        out << static_cast<char>(rng_.below(200) + (bright ? 50 : 0));
      }
    }
  }

  std::string folder_;
  Rng rng_{41};
};

}  // namespace gv
