#include "peer/launch/lobby/offer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <fmt/format.h>
#include <unistd.h>

#include "gpu/cuda_replica.h"
#include "optim/host/gemm.h"
#include "optim/printable.h"
#include "peer/fleet/data/table_statistics.h"
#include "peer/fleet/fleet.h"
#include "peer/fleet/json/fields.h"

namespace gv {
namespace {

constexpr std::size_t most_devices = 64;
constexpr std::size_t most_columns = 1000;
constexpr std::size_t most_column_bytes = 40'000;  ///< so that an offer fits into a message
constexpr std::size_t most_name = 40;
constexpr std::size_t most_text = 200;
constexpr std::size_t most_path = 1000;

/// Measures products of 256 x 256 matrices on one core, in GFLOP/s.
double measured_gflops() {
  constexpr int n = 256;
  const std::vector<float> a(n * n, 0.5F), b(n * n, 0.25F);
  std::vector<float> c(n * n);
  const auto multiply = [&] {
    gemm(false, false, n, n, n, 1, a.data(), n, b.data(), n, 0, c.data(), n);
  };
  multiply();  // the library writes its kernels at the first call, which takes 0.2 s
  using Clock = std::chrono::steady_clock;
  const Clock::time_point began = Clock::now();
  double products = 0, seconds = 0;
  while (seconds < 0.2) {
    multiply();
    ++products;
    seconds = std::chrono::duration<double>(Clock::now() - began).count();
  }
  return products * 2e-9 * n * n * n / seconds;
}

/// Returns a text of another machine as part of a line on the screen, with at most most_text bytes;
/// such a text as it is.
std::string shown(const std::string& text) {
  constexpr std::size_t ellipsis = 3;
  std::string line = printable(text, text.size() > most_text ? most_text - ellipsis : most_text);
  std::ranges::replace(line, '\n', '?');
  return line;
}

}  // namespace

std::vector<std::string> csv_columns(const std::string& path) {
  if (!path.ends_with(".csv")) return {};
  std::vector<std::string> names;
  std::size_t bytes = 0;
  try {
    const auto rows = open_csv(path, true);
    for (const std::string& name : rows->names())
      if ((bytes += name.size()) < most_column_bytes && names.size() < most_columns)
        names.push_back(shown(name));
  } catch (const std::exception&) {  // the peer reports the error when it reads the rows
    return {};
  }
  return names;
}

Json part_order(const std::vector<std::string>& names, const TableSpec& table) {
  const std::string statistics = table.given ? statistics_text(*table.given) : "";
  if (statistics.size() > 500'000) return Json{{"data", names}};
  const auto missing = std::array{"refuse", "mean", "drop"}.at(static_cast<int>(table.missing));
  std::string same = "ignore: " + Json(table.ignore).dump() +
                     ", dates: " + Json(table.dates).dump() +
                     fmt::format(", decimal: \"{}\", missing: {}", table.decimal, missing);
  if (table.one_hot) same += ", one_hot: " + Json(*table.one_hot).dump();
  if (table.header) same += fmt::format(", header: {}", *table.header);
  if (!table.target.empty()) same += ", target: " + json_quoted(table.target);
  same += table.given ? ", standardize: { file: stats.yaml }" : ", standardize: false";
  same += table.regression ? ", task: regression }, model: linear"
                           : ", task: classification }, model: softmax";
  return Json{{"data", names}, {"keys", same}, {"statistics", statistics}, {"by", table.given_by}};
}

void check_part(const JsonValue& order, const std::string& path, const std::string& folder) {
  std::ofstream(folder + "/stats.yaml") << json_text(order, "statistics");
  std::ofstream(folder + "/part.yaml") << fmt::format(
      "{{ version: 1, stop: {{ rounds: 1 }}, data: {{ kind: table, file: {0}, test: {0}, {1} }}\n",
      json_quoted(path), json_text(order, "keys"));
  TableSpec table = read_fleet(folder + "/part.yaml", {}, nullptr).data.table;
  table.part = true;
  table.test.clear();
  table.given_by = json_text(order, "by");
  read_table(table, Rng(0));
}

std::string host_name() {
  std::string name(256, '\0');
  if (::gethostname(name.data(), name.size() - 1) != 0) return "";
  return name.substr(0, name.find_first_of(std::string_view("\0.", 2)));
}

std::string machine_name(const std::string& text) {
  std::string name;
  for (const char c : text.substr(0, most_name)) {
    const bool fits = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (fits || (!name.empty() && !name.ends_with('-'))) name += fits ? c : '-';
  }
  while (name.ends_with('-')) name.pop_back();
  // `localhost` is the lobby's own machine, and a number would be a peer.
  const bool plain = !name.empty() && std::isalpha(static_cast<unsigned char>(name[0])) != 0;
  return plain && name != "localhost" ? name : machine_name("machine-" + name);
}

template <class V>
void fields(V& v, MachineOffer& offer) {
  v("name", offer.name);
  if constexpr (V::reads)
    offer.facts = parse_facts(json_text(v.json, "facts"));
  else
    v.also("facts", facts_text(offer.facts));
  v("cores", offer.cores), v("memory_bytes", offer.memory_bytes);
  v("program", offer.program), v("gflops", offer.gflops);
  v.first(most_devices, "devices", offer.devices);
  v("data", offer.data), v("data_folder", offer.data_folder);
  v.first(most_columns, "columns", offer.columns);
}

std::string offer_text(const MachineOffer& offer) {
  return to_json(offer).dump();
}

MachineOffer parse_offer(const JsonValue& json) {
  MachineOffer offer;
  read_json(json, "", offer);
  offer.name = machine_name(offer.name);
  for (std::string* text : {&offer.facts.processor, &offer.facts.version, &offer.data})
    *text = shown(*text);
  for (DeviceFacts& device : offer.devices) device.name = shown(device.name);
  for (std::string& column : offer.columns) column = shown(column);
  constexpr unsigned most_cores = 100'000;
  constexpr double most_gflops = 1e9;
  const bool has_speed = offer.gflops >= 0 && offer.gflops <= most_gflops;
  const bool has_folder = is_printable(offer.data_folder) && offer.data_folder.size() <= most_path;
  if (offer.cores < 1 || offer.cores > most_cores || !has_speed || !has_folder)
    throw std::runtime_error("an offer out of bounds");
  return offer;
}

MachineOffer own_offer(const std::string& data) {
  MachineOffer offer{.name = machine_name(host_name()), .facts = own_facts()};
  offer.cores = offer.facts.cores;
  offer.memory_bytes = offer.facts.memory_bytes;
  offer.gflops = measured_gflops();
  for (const CudaDevice& device : cuda_status().devices)
    offer.devices.push_back(
        {device.number, device.name, static_cast<std::uint64_t>(device.memory_bytes)});
  if (data.empty()) return offer;
  offer.data = std::filesystem::absolute(data).string();
  // In a folder, the lobby's names of the data could be those of new files.
  if (!std::filesystem::is_regular_file(data) || !std::ifstream(data).good())
    throw std::invalid_argument(printable(data, most_text) +
                                ": is not a file that can be read\n"
                                "help:  name this machine's own part, such as --data part.csv");
  offer.columns = csv_columns(data);
  return offer;
}

}  // namespace gv
