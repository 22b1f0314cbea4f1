#include "peer/launch/lobby/offer.h"

#include <cctype>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "peer/fleet/fleet.h"
#include "peer/fleet/json/json.h"
#include "tests/places.h"
#include "tests/scratch_folder.h"

namespace gv {
namespace {

MachineOffer an_offer() {
  MachineOffer offer{.name = "anna", .facts = own_facts()};
  offer.cores = 6;
  offer.memory_bytes = std::uint64_t{3} << 33;
  offer.program = false;
  offer.gflops = 41.5;
  offer.devices = {{0, "a card", 80'000'000'000}, {1, "another", 24'000'000'000}};
  offer.data = "/srv/mine.csv";
  offer.data_folder = "/srv/.cache/grapevine/joined-data";
  offer.columns = {"a", "b \"quoted\"", "kind"};
  return offer;
}

MachineOffer parsed(const std::string& text) {
  return parse_offer(parse_json(text, "an offer"));
}

TEST(MachineOffer, IsReadAsItWasWritten) {
  const MachineOffer offer = an_offer();
  const MachineOffer read = parsed(offer_text(offer));
  EXPECT_EQ(offer_text(read), offer_text(offer));
  EXPECT_EQ(read.name, "anna");
  EXPECT_EQ(read.cores, 6U);
  EXPECT_EQ(read.memory_bytes, std::uint64_t{3} << 33);
  EXPECT_FALSE(read.program);
  EXPECT_EQ(read.gflops, 41.5);
  ASSERT_EQ(read.devices.size(), 2U);
  EXPECT_EQ(read.devices[1].name, "another");
  EXPECT_EQ(read.data, offer.data);
  EXPECT_EQ(read.columns, offer.columns);
}

TEST(MachineOffer, HasBounds) {
  MachineOffer offer = an_offer();
  offer.devices.assign(100, {0, std::string(1000, 'x'), 1});
  offer.columns.assign(1500, std::string(300, 'c'));
  const MachineOffer read = parsed(offer_text(offer));
  EXPECT_EQ(read.devices.size(), 64U);
  EXPECT_LE(read.devices[0].name.size(), 200U + 3) << "an ellipsis too";
  EXPECT_EQ(read.columns.size(), 1000U);
  EXPECT_LE(read.columns[0].size(), 200U + 3);
}

/// A text that was cut within a letter got another ellipsis each time that it was read.
TEST(MachineOffer, ThatWasCutIsReadAsItIs) {
  MachineOffer offer = an_offer();
  for (std::size_t bytes = 195; bytes < 205; ++bytes) {
    offer.columns = {std::string(bytes, 'c') + "\xc3\xa4", std::string(bytes, 'c')};
    const MachineOffer read = parsed(offer_text(offer));
    EXPECT_EQ(parsed(offer_text(read)).columns, read.columns) << bytes;
    EXPECT_EQ(read.columns[1] == offer.columns[1], bytes <= 200) << bytes;
  }
}

TEST(MachineOffer, OutOfBoundsIsRefused) {
  for (const unsigned cores : {0U, 100'001U}) {
    MachineOffer offer = an_offer();
    offer.cores = cores;
    EXPECT_THROW(parsed(offer_text(offer)), std::exception) << cores;
  }
  MachineOffer slow = an_offer();
  slow.gflops = -1;
  EXPECT_THROW(parsed(offer_text(slow)), std::exception);
  for (const std::string& folder : {std::string(1001, 'x'), std::string("a\nb")}) {
    MachineOffer offer = an_offer();
    offer.data_folder = folder;
    EXPECT_THROW(parsed(offer_text(offer)), std::exception) << folder;
  }
}

/// Each member of the object is needed, and each truncation of the text is refused.
TEST(MachineOffer, ThatIsIncompleteIsRefused) {
  const std::string text = offer_text(an_offer());
  for (std::size_t bytes = 0; bytes < text.size(); ++bytes)
    EXPECT_THROW(parsed(text.substr(0, bytes)), std::exception) << bytes;
  for (const char* key : {"name", "facts", "cores", "memory_bytes", "program", "gflops", "devices",
                          "data", "data_folder", "columns"}) {
    std::string without = text;
    without.replace(without.find('"' + std::string(key) + "\":"), 2, "\"_");
    EXPECT_THROW(parsed(without), std::exception) << key;
  }
}

TEST(MachineOffer, DoesNotControlTheTerminal) {
  MachineOffer offer = an_offer();
  offer.columns = {"\x1b[31mred"};
  offer.devices = {{0, "\x1b[2J", 1}};
  offer.facts.processor = offer.facts.version = "\x1b[5m";
  const MachineOffer read = parsed(offer_text(offer));
  EXPECT_EQ(read.columns[0].find('\x1b'), std::string::npos);
  EXPECT_EQ(read.devices[0].name.find('\x1b'), std::string::npos);
  EXPECT_EQ(read.facts.processor.find('\x1b'), std::string::npos);
  EXPECT_EQ(read.facts.version.find('\x1b'), std::string::npos);
}

TEST(MachineOffer, OfThisMachineIsMeasured) {
  const MachineOffer offer = own_offer("");
  EXPECT_GE(offer.cores, 1U);
  EXPECT_GT(offer.gflops, 0);
  EXPECT_GT(offer.memory_bytes, 0U);
  EXPECT_TRUE(offer.columns.empty());
  EXPECT_EQ(offer_text(parsed(offer_text(offer))), offer_text(offer));
}

TEST(MachineOffer, NamesTheColumnsOfItsData) {
  const ScratchFolder scratch;
  const std::string path = (std::filesystem::path(scratch.path()) / "part.csv").string();
  const auto columns_of = [&](const char* text) {
    std::ofstream(path) << text;
    return own_offer(path).columns;
  };
  EXPECT_EQ(columns_of("a,b,kind\r\n1,2,p\n"), (std::vector<std::string>{"a", "b", "kind"}));
  EXPECT_EQ(columns_of("\"a\";\"b,c\";kind\n"), (std::vector<std::string>{"a", "b,c", "kind"}));
  EXPECT_EQ(columns_of("a\tb\n"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(columns_of("\xEF\xBB\xBF\"a\", b\n"), (std::vector<std::string>{"a", "b"}))
      << "as the table";
  EXPECT_TRUE(columns_of("a\xFF,b\n").empty()) << "no peer reads this table";
  EXPECT_TRUE(columns_of("").empty());
  EXPECT_TRUE(own_offer(source_folder() + "/README.md").columns.empty());
  EXPECT_THROW(own_offer(path + ".absent"), std::invalid_argument);
}

/// A table of 7,000 short names made an offer that the lobby refused for its length.
TEST(MachineOffer, OfManyColumnsFitsIntoAMessage) {
  const ScratchFolder scratch;
  const std::string path = (std::filesystem::path(scratch.path()) / "part.csv").string();
  for (const std::size_t name_bytes : {1U, 6U, 100U}) {
    std::ofstream out(path);
    for (int k = 0; k < 7000; ++k) out << (k > 0 ? "," : "") << std::string(name_bytes, 'c') << k;
    out.close();
    const MachineOffer offer = own_offer(path);
    EXPECT_GT(offer.columns.size(), 100U);
    EXPECT_EQ(parsed(offer_text(offer)).columns, offer.columns);
    EXPECT_LT(Json(offer_text(offer)).dump().size(), 60'000U);
  }
}

TEST(MachineName, IsOfLettersDigitsAndDashes) {
  EXPECT_EQ(machine_name("anna"), "anna");
  EXPECT_EQ(machine_name("Anna's laptop"), "Anna-s-laptop");
  EXPECT_EQ(machine_name("--x--"), "x");
  EXPECT_EQ(machine_name("a  b"), "a-b");
  EXPECT_EQ(machine_name(""), "machine");
  EXPECT_EQ(machine_name("\xc3\xa4"), "machine");
  EXPECT_EQ(machine_name("7"), "machine-7") << "a number would be a peer";
  EXPECT_EQ(machine_name("localhost"), "machine-localhost") << "that is the lobby's machine";
  for (const char* text : {"a;rm -rf ~", "$(x)", "a\nb", "../..", "{ }", "a: b"})
    for (const char c : machine_name(text))
      EXPECT_TRUE(std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-') << text;
  EXPECT_LE(machine_name(std::string(1000, 'a')).size(), 40U);
  for (const std::string& text :
       {std::string("12 a!"), std::string(1000, '1'), std::string(31, '1') + "-2", std::string()}) {
    EXPECT_LE(machine_name(text).size(), 40U) << "with its prefix: " << text;
    EXPECT_EQ(machine_name(machine_name(text)), machine_name(text));
  }
}

/// Returns the error of a part of a fleet with these keys, as a machine that joins finds it.
std::string part_error(const std::string& keys, const std::string& rows) {
  const ScratchFolder folder;
  const std::string file = folder.path() + "/fleet.yaml", part = folder.path() + "/own.csv";
  std::ofstream(folder.path() + "/part-0.csv") << "day;hue;id;kind\n2024-03-01;blue;7,5;1\n";
  std::ofstream(folder.path() + "/s.yaml")
      << "version: 1\ncolumns: [{ name: day, mean: 0, deviation: 1 }, { name: hue, values: "
         "[blue, \"'red'\"] }]\nclasses: [1, 2]\n";
  std::ofstream(file) << "version: 1\npeers: 2\nstop: { rounds: 1 }\n"
                      << "data: { kind: table, file: \"part-{id}.csv\", test: part-0.csv, " << keys
                      << " }\n";
  std::ofstream(part) << rows;
  try {
    const Json order = part_order({}, read_fleet(file, {}, nullptr).data.table);
    check_part(parse_json(order.dump(), "an order"), part, folder.path());
  } catch (const std::exception& wrong) {
    return wrong.what();
  }
  return "";
}

TEST(PartOrder, LetsAMachineReadItsPartAsItsPeerWill) {
  const std::string keys =
      "target: kind, dates: [day], ignore: [id], decimal: \",\", standardize: { file: s.yaml }";
  const std::string head = "day;hue;id;kind\n2024-03-01;blue;7,5;1\n";
  EXPECT_EQ(part_error(keys, head), "");
  EXPECT_EQ(part_error(keys, head + "2024-03-02;'red';8;2\n"), "");
  const auto refuses = [&](const std::string& rows, const std::string& why) {
    const std::string error = part_error(keys, rows);
    EXPECT_NE(error.find(why), std::string::npos) << error;
  };
  refuses(head + "2024-03-02;red;8;2\n",
          "/own.csv:3: `red` in column `hue` is unknown to the statistics in `s.yaml`; leave the "
          "line out, or list it there");
  refuses(head + ";blue;8;2\n", "no value in column `day`");
  EXPECT_EQ(part_error(keys + ", missing: drop", head + ";blue;8;2\n"), "");
  refuses("day;hue;id;sort\n2024-03-01;blue;7,5;1\n", "own.csv has no column `kind`");
  EXPECT_EQ(part_error("target: id, decimal: \",\", task: regression, standardize: false", head),
            "")
      << "one class is enough for one part";
}

}  // namespace
}  // namespace gv
