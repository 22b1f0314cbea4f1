#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "tests/optim/data/table/table_files.h"

// Cells were once converted to floats before measuring them: time stamps such as 20230301100000 had
// deviation 0, seconds since 1970 had twice theirs, and training learnt nothing from either.

namespace gv {
namespace {

/// The text of row r of a column.
using Column = std::function<std::string(int r)>;

constexpr int rows = 120;

std::string text(const char* format, double value) {
  char to[64];
  std::snprintf(to, sizeof to, format, value);
  return to;
}
std::string whole(long long value) {
  return std::to_string(value);
}
/// Returns a number between -1 and 1 determined by the row.
double drawn(int r, unsigned salt) {
  unsigned state = 2654435761U * (static_cast<unsigned>(r) + 17 * salt + 1);
  state = (state ^ state >> 15) * 2246822519U;
  return static_cast<double>(state ^ state >> 13) / 2147483648.0 - 1;
}

struct Table {
  const char* name;
  Column column;
};

std::vector<Table> tables() {
  return {
      {"yyyymmddhhmmss",
       [](int r) { return whole(20230301100000 + r / 60 * 10000 + r % 60 * 100); }},
      {"epoch seconds", [](int r) { return whole(1700000000 + r); }},
      {"epoch milliseconds", [](int r) { return whole(1700000000000 + r); }},
      {"epoch nanoseconds", [](int r) { return whole(1700000000000000000 + r * 1000LL); }},
      {"yyyymmdd", [](int r) { return whole(20240101 + r / 28 * 100 + r % 28); }},
      {"near 2^53", [](int r) { return whole(9007199254740000 + r); }},
      {"16-digit ids", [](int r) { return whole(4012888888881881 + r * 17); }},
      {"counted", [](int r) { return whole(1000000 + r); }},
      {"cents", [](int r) { return text("%.2f", std::exp(8 + 2 * drawn(r, 1))); }},
      {"large balances", [](int r) { return text("%.2f", 1e9 + 3 * drawn(r, 2)); }},
      {"latitudes", [](int r) { return text("%.8f", 48.1374 + 1e-5 * drawn(r, 3)); }},
      {"longitudes", [](int r) { return text("%.9f", 11.5755 + 1e-8 * r); }},
      {"both hemispheres", [](int r) { return text("%.8f", 80 * drawn(r, 4)); }},
      {"masses of electrons", [](int r) { return text("%.9e", 9.109e-31 * (1 + 1e-6 * r)); }},
      {"masses of stars", [](int r) { return text("%.9e", 1.989e30 * (1 + 1e-6 * r)); }},
      {"denormal as floats", [](int r) { return text("%.3e", 1e-42 * (r + 1)); }},
      {"constant tenth", [](int) { return std::string("0.1"); }},
      {"constant time", [](int) { return std::string("1700000000"); }},
      {"constant zero", [](int) { return std::string("0"); }},
      {"nearly constant", [](int r) { return std::string(r == 7 ? "0.3" : "0.1"); }},
      {"one second off", [](int r) { return whole(1700000000 + (r == 7)); }},
      {"skewed", [](int r) { return text("%.2f", 1e4 / std::pow(1.001 + drawn(r, 5), 0.9)); }},
      {"an outlier", [](int r) { return r == 0 ? "1e12" : text("%.6f", drawn(r, 6)); }},
      {"both signs", [](int r) { return whole((r % 2 == 0 ? 1 : -1) * 1000000000000000LL + r); }},
      {"small whole numbers", [](int r) { return whole(r * 37 % 11 - 5); }},
      {"one decimal", [](int r) { return text("%.1f", 5.8 + 0.8 * drawn(r, 7)); }},
      {"near one", [](int r) { return text("%.12f", 1 - 1e-6 * (1 + drawn(r, 8))); }},
      {"kelvin", [](int r) { return text("%.6f", 273.15 + 1e-3 * drawn(r, 9)); }},
      {"hertz", [](int r) { return text("%.4f", 2.4e9 + 1e-2 * drawn(r, 10)); }},
      {"with gaps", [](int r) { return r % 7 == 3 ? std::string("NaN") : whole(1700000000 + r); }},
  };
}

/// Moments of the doubles in 80-bit arithmetic, which loses nothing that matters in such sums.
struct Reference {
  long double mean = 0, deviation = 0;

  explicit Reference(const Column& column) {
    std::vector<long double> values;
    for (int r = 0; r < rows; ++r)
      if (const double value = std::strtod(column(r).c_str(), nullptr); !std::isnan(value))
        values.push_back(value);
    const auto count = static_cast<long double>(values.size());
    for (const long double value : values) mean += value;
    mean /= count;
    for (const long double value : values) deviation += (value - mean) * (value - mean);
    deviation = std::sqrt(deviation / count);
  }
};

class Precision : public TableFiles {
 protected:
  TableSpec spec(const Column& column, const std::string& target = "") const {
    std::string content = "t,y\n";
    for (int r = 0; r < rows; ++r)
      content += column(r) + "," + (target.empty() ? (2 * r < rows ? "a" : "b") : column(r)) + "\n";
    TableSpec made = plain_spec(write("a.csv", content), "y");
    made.standardize = true;
    made.missing = MissingValue::mean;
    return made;
  }
};

TEST_F(Precision, MeansAndDeviationsAreThoseOfTheText) {
  ASSERT_EQ(tables().size(), 30U);
  for (const Table& table : tables()) {
    SCOPED_TRACE(table.name);
    const Reference expected(table.column);
    const TrainTest read = read_table(spec(table.column), Rng(1));
    const ColumnFacts& facts = read.train->facts->columns.at(0);
    const auto mean = static_cast<double>(expected.mean);
    const auto deviation = static_cast<double>(expected.deviation);
    EXPECT_NEAR(facts.mean, mean, 1e-12 * std::abs(mean));
    EXPECT_NEAR(facts.deviation, deviation, 1e-9 * deviation);
    // A mean is a double: at 2.4e9 with a deviation of 0.006, its error is 4e-5 of the deviation.
    const double rounded = deviation == 0 ? 0 : 1.2e-16 * std::abs(mean) / deviation;
    for (int r = 0; r < rows; ++r) {
      const long double value = std::strtod(table.column(r).c_str(), nullptr);
      const auto scaled = static_cast<double>(
          std::isnan(value) || deviation == 0 ? 0 : (value - expected.mean) / expected.deviation);
      EXPECT_NEAR(read.train->floats.at(static_cast<std::size_t>(r)), scaled, 1e-6 + rounded) << r;
    }
  }
}

TEST_F(Precision, DatesKeepTheirSeconds) {
  TableSpec dates = spec([](int r) {
    char to[32];
    std::snprintf(to, sizeof to, "2024-03-01 10:%02d:%02d", r / 60, r % 60);
    return std::string(to);
  });
  dates.dates = {"t"};
  const TrainTest read = read_table(dates, Rng(1));
  const double second = 1.0 / 86400;
  EXPECT_NEAR(read.train->facts->columns.at(0).deviation,
              second * std::sqrt((rows * rows - 1) / 12.0), 1e-8 * second);
  const float step = read.train->floats.at(1) - read.train->floats.at(0);
  for (std::size_t r = 1; r < rows; ++r)
    EXPECT_NEAR(read.train->floats.at(r) - read.train->floats.at(r - 1), step, 1e-6) << r;
}

/// R2 was once -86 with targets of 1.7e9 + i: there, floats are 128 apart.
TEST_F(Precision, TargetsFarFromZeroAreMovedThere) {
  const auto regression = [&](const Column& column) {
    TableSpec made = spec(column, "as the column");
    made.regression = true;
    return read_table(made, Rng(1)).train;
  };
  const auto far = regression([](int r) { return whole(1700000000 + r); });
  ASSERT_TRUE(far->facts->target_shift);
  EXPECT_EQ(*far->facts->target_shift, 1700000059.5);
  for (std::size_t r = 0; r < rows; ++r)
    EXPECT_EQ(far->targets.at(r), static_cast<float>(r) - 59.5F);
  const auto years = regression([](int r) { return whole(1950 + r / 2); });
  EXPECT_EQ(*years->facts->target_shift, 0) << "floats hold them, and bits stay as they were";
  EXPECT_EQ(years->targets.at(2), 1951);
}

/// All parts of a table need the same shift, which no part knows alone.
TEST_F(Precision, APartOfATableDoesNotChooseAShift) {
  TableSpec part = spec([](int r) { return whole(1700000000 + r); }, "as the column");
  part.regression = true;
  part.part = true;
  EXPECT_NE(error(part).find("a.csv: the numbers of the target `y` lie so far from 0"),
            std::string::npos);
  DataFacts given{.format = "", .target = ""};
  given.columns = {{.name = "t", .mean = 1700000000, .deviation = 10}};
  given.target_shift = 1700000000;
  part.given = std::make_shared<const DataFacts>(given);
  EXPECT_EQ(read_table(part, Rng(1)).train->targets.at(5), 5);
}

}  // namespace
}  // namespace gv
