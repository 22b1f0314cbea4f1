#include <algorithm>
#include <cmath>
#include <sstream>

#include "optim/printable.h"
#include "tests/optim/data/table/arrays.h"
#include "tests/optim/data/table/mutated.h"
#include "tests/optim/data/table/table_files.h"

namespace gv {
namespace {

constexpr int mutations = 2000;

/// Returns whether sizes match, labels are classes and numbers are finite.
bool is_sound(const Dataset& data) {
  const auto finite = [](float value) { return std::isfinite(value); };
  return data.rows > 0 && data.floats.size() == std::size_t{data.rows} * data.features &&
         std::ranges::all_of(data.floats, finite) && std::ranges::all_of(data.targets, finite) &&
         (data.classes > 0 ? data.labels : std::vector<std::uint8_t>(data.rows)).size() ==
             data.rows &&
         std::ranges::all_of(data.labels,
                             [&](std::uint8_t label) { return label < data.classes; }) &&
         data.facts != nullptr && data.facts->features() == data.features;
}

class Mutations : public TableFiles {
 protected:
  /// Reads damaged files: each is valid or refused by its name. Returns the number of refusals.
  int refused(const std::string& name,
              const std::string& content,
              const std::string& target,
              char decimal = '.',
              const std::vector<std::string>& dates = {}) {
    TableSpec spec = plain_spec(path(name), target);
    spec.decimal = decimal;
    spec.dates = dates;
    spec.missing = MissingValue::mean;
    spec.held_out = 0.25;
    spec.standardize = true;
    write(name, content);
    EXPECT_TRUE(is_sound(*read_table(spec, Rng(1)).train));
    Rng rng = Rng(17).derive(name.size());
    int count = 0;
    for (int k = 0; k < mutations; ++k) {
      write(name, mutated(content, rng));
      spec.missing = static_cast<MissingValue>(rng.below(3));
      spec.regression = rng.below(3) == 0;
      spec.decimal = rng.below(3) == 0 ? ',' : '.';
      try {
        const TrainTest read = read_table(spec, Rng(1));
        EXPECT_TRUE(is_sound(*read.train) && is_sound(*read.test)) << k;
      } catch (const std::runtime_error& e) {
        std::istringstream lines(e.what());
        for (std::string what; std::getline(lines, what);) {
          EXPECT_TRUE(what.starts_with(path(name)) || what.starts_with("and more of ")) << what;
          EXPECT_TRUE(what.size() < 1000 && is_printable(what)) << k << " " << what;
        }
        ++count;
      }
    }
    return count;
  }
  void expect_some(int count) const {
    EXPECT_GT(count, mutations / 10) << "mutations that matter";
    EXPECT_LT(count, mutations) << "and some that do not";
  }
};

std::vector<float> some_numbers(int count) {
  std::vector<float> numbers;
  for (int k = 0; k < count; ++k) numbers.push_back(static_cast<float>(k % 7));
  return numbers;
}

TEST_F(Mutations, OfCsv) {
  std::string content = "a,colour,\"b c\",y\n";
  for (int r = 0; r < 20; ++r)
    content += std::to_string(r) + ".5," + (r % 3 == 0 ? "\"re\"\"d\"" : "blue") + ",-1e" +
               std::to_string(r % 4) + "," + std::to_string(r % 2) + "\r\n";
  expect_some(refused("a.csv", content, "y"));
}

TEST_F(Mutations, OfATableWithDecimalCommasAndDates) {
  std::string content = "\xEF\xBB\xBFPreis \xE2\x82\xAC;Tag;Ort;y\r\n";
  for (int r = 0; r < 20; ++r)
    content += "1." + std::to_string(100 + r) + ",5;2024-03-" + std::to_string(10 + r) +
               (r % 3 == 0 ? ";\"K\xC3\xB6ln\";" : ";-;") + std::to_string(r % 2) + "\r\n";
  expect_some(refused("a.csv", content, "y", ',', {"Tag"}));
}

TEST_F(Mutations, OfNpy) {
  expect_some(refused("a.npy", npy("<f4", "(20, 3)", bytes_of(some_numbers(60))), ""));
}

TEST_F(Mutations, OfNpyInFortransOrder) {
  expect_some(refused("a.npy", npy("<f4", "(20, 3)", bytes_of(some_numbers(60)), true), ""));
}

TEST_F(Mutations, OfStoredAndDeflatedNpz) {
  const std::vector<ZipEntry> entries{{"x.npy", npy("<f4", "(20, 2)", bytes_of(some_numbers(40)))},
                                      {"y.npy", npy("<f4", "(20,)", bytes_of(some_numbers(20)))}};
  expect_some(refused("a.npz", zip(entries, false), ""));
  expect_some(refused("b.npz", zip(entries, true), ""));
}

TEST_F(Mutations, OfTextInNpz) {
  std::string labels;
  for (int r = 0; r < 20; ++r) labels += r % 2 == 0 ? std::string("red") : std::string("ox\0", 3);
  const std::vector<ZipEntry> entries{{"x.npy", npy("<f4", "(20, 2)", bytes_of(some_numbers(40)))},
                                      {"y.npy", npy("|S3", "(20,)", labels)}};
  expect_some(refused("a.npz", zip(entries, false), ""));
  std::u32string words;
  for (int r = 0; r < 40; ++r) words += r % 3 == 0 ? U"no" : U"\u00FCb";
  const std::string wide(reinterpret_cast<const char*>(words.data()), words.size() * 4);
  expect_some(refused("a.npy", npy("<U2", "(20, 2)", wide), ""));
}

TEST_F(Mutations, OfLibSvm) {
  std::string content;
  for (int r = 0; r < 20; ++r)
    content += std::to_string(r % 3) + " 1:" + std::to_string(r) + " 4:0.5 7:-2e-1\n";
  expect_some(refused("a.libsvm", content, ""));
}

}  // namespace
}  // namespace gv
