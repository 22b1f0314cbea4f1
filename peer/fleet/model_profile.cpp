#include "peer/fleet/model_profile.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

#include "graph/formats/json_value.h"
#include "optim/models/network_cut.h"
#include "optim/printable.h"

namespace gv {
namespace {

constexpr const char* schema = "grapevine.profile/1";
constexpr std::size_t most_bytes = 16U << 20U;
constexpr std::size_t most_pieces = 10'000;
constexpr std::size_t most_rows = 1000;
constexpr std::uint32_t largest_rows = 1'000'000;
constexpr double longest_seconds = 1e6;

double at_rows(const std::vector<std::uint32_t>& rows,
               const std::vector<double>& seconds,
               std::uint32_t wanted) {
  const auto above = std::ranges::lower_bound(rows, wanted);
  const auto k = static_cast<std::size_t>(above - rows.begin());
  if (k == rows.size()) return seconds.back() * wanted / rows.back();
  if (k == 0) return seconds.front() * wanted / rows.front();
  const double part = static_cast<double>(wanted - rows[k - 1]) / (rows[k] - rows[k - 1]);
  return seconds[k - 1] + part * (seconds[k] - seconds[k - 1]);
}

const JsonValue& list(const JsonValue& from, const std::string& key, std::size_t most) {
  const JsonValue& value = json_member(from, key);
  if (value.kind != JsonValue::Kind::array || value.items.empty() || value.items.size() > most)
    throw std::runtime_error(fmt::format("`{}` is not a list of 1 to {} items", key, most));
  return value;
}

double seconds_of(const JsonValue& json, const std::string& key) {
  double seconds = 0;
  read_json(json, key, seconds);
  if (!(seconds >= 0) || seconds > longest_seconds)
    throw std::runtime_error(fmt::format("`{}` is no time of 0 to {} s", key, longest_seconds));
  return seconds;
}

std::vector<std::uint32_t> rows_of(const JsonValue& json) {
  std::vector<std::uint32_t> rows;
  for (const JsonValue& item : list(json, "rows", most_rows).items) {
    std::uint32_t count = 0;
    read_json(item, "rows", count);
    const bool ascends = rows.empty() || count > rows.back();
    if (count == 0 || count > largest_rows || !ascends)
      throw std::runtime_error(
          fmt::format("`rows` are numbers of 1 to {}, ascending", largest_rows));
    rows.push_back(count);
  }
  return rows;
}

/// Reads a row per piece, with a number for each of `rows`.
void read_seconds(const JsonValue& json,
                  const std::string& key,
                  ModelProfile& profile,
                  std::vector<double> ModelProfile::Piece::*into) {
  const JsonValue& table = list(json, key, most_pieces);
  if (table.items.size() != profile.pieces.size())
    throw std::runtime_error(fmt::format("`{}` needs one row for each of `places`", key));
  for (std::size_t k = 0; k < table.items.size(); ++k) {
    const JsonValue& row = table.items[k];
    if (row.kind != JsonValue::Kind::array || row.items.size() != profile.rows.size())
      throw std::runtime_error(fmt::format("`{}` needs one number for each of `rows`", key));
    for (const JsonValue& item : row.items)
      (profile.pieces[k].*into).push_back(seconds_of(item, key));
  }
}

}  // namespace

double ModelProfile::forward(std::size_t piece, std::uint32_t rows_of_it) const {
  return at_rows(rows, pieces[piece].forward_seconds, rows_of_it);
}

double ModelProfile::backward(std::size_t piece, std::uint32_t rows_of_it) const {
  return at_rows(rows, pieces[piece].backward_seconds, rows_of_it);
}

Json profile_json(const ModelProfile& profile) {
  Json places = Json::array();
  Json forward = Json::array();
  Json backward = Json::array();
  Json slots = Json::array();
  for (const ModelProfile::Piece& piece : profile.pieces) {
    places.push_back(
        {{"name", piece.name}, {"parameters", piece.parameters}, {"floats", piece.floats}});
    forward.push_back(piece.forward_seconds);
    backward.push_back(piece.backward_seconds);
    slots.push_back(piece.slot_bytes);
  }
  return {{"schema", schema},
          {"model", profile.model},
          {"threads", profile.threads},
          {"rows", profile.rows},
          {"places", places},
          {"forward_seconds", forward},
          {"backward_seconds", backward},
          {"slot_bytes", slots},
          {"add_seconds", profile.add_seconds},
          {"step_seconds", profile.step_seconds}};
}

ModelProfile parse_profile(const std::string& text, const std::string& path) {
  if (text.size() > most_bytes)
    throw std::runtime_error(fmt::format("{}: more than {} bytes", path, most_bytes));
  const JsonValue json = parse_json(text, path);
  try {
    if (json_text(json, "schema") != schema)
      throw std::runtime_error(fmt::format("its schema is not {}", schema));
    ModelProfile profile;
    profile.model = json_text(json, "model");
    profile.threads = json_integer<int>(json, "threads");
    profile.rows = rows_of(json);
    for (const JsonValue& place : list(json, "places", most_pieces).items)
      profile.pieces.push_back({.name = json_text(place, "name"),
                                .parameters = json_integer<std::size_t>(place, "parameters"),
                                .floats = json_integer<std::size_t>(place, "floats")});
    const JsonValue& slots = list(json, "slot_bytes", most_pieces);
    if (slots.items.size() != profile.pieces.size())
      throw std::runtime_error("`slot_bytes` needs one number for each of `places`");
    for (std::size_t k = 0; k < slots.items.size(); ++k)
      read_json(slots.items[k], "slot_bytes", profile.pieces[k].slot_bytes);
    read_seconds(json, "forward_seconds", profile, &ModelProfile::Piece::forward_seconds);
    read_seconds(json, "backward_seconds", profile, &ModelProfile::Piece::backward_seconds);
    profile.add_seconds = seconds_of(json_member(json, "add_seconds"), "add_seconds");
    profile.step_seconds = seconds_of(json_member(json, "step_seconds"), "step_seconds");
    return profile;
  } catch (const std::runtime_error& e) {
    throw std::runtime_error(fmt::format("{}: {}", path, e.what()));
  }
}

ModelProfile read_profile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(fmt::format("{}: cannot be read", printable(path, 300)));
  std::string text;
  text.resize(most_bytes + 1);
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return parse_profile(text, printable(path, 300));
}

std::size_t slot_bytes_of(const NeuralNetwork& network) {
  std::size_t floats = 0;
  for (const Node& node : network.nodes) floats += node.out.elements();
  return floats * sizeof(float);
}

std::vector<ModelProfile::Piece> pieces_of(const NeuralNetwork& network) {
  const std::vector<Cut> cuts = places(network);
  std::vector<ModelProfile::Piece> pieces;
  for (std::uint32_t k = 0; k <= cuts.size(); ++k) {
    const Part own = part(network, cuts, k);
    pieces.push_back({.name = k == 0 ? modules_of(network).front().name : cuts[k - 1].name,
                      .parameters = own.range.count,
                      .floats = own.floats_out,
                      .slot_bytes = slot_bytes_of(own.network)});
  }
  return pieces;
}

std::string objection_to(const ModelProfile& profile, const NeuralNetwork& network) {
  const std::vector<ModelProfile::Piece> own = pieces_of(network);
  if (profile.pieces.size() != own.size())
    return fmt::format(
        "it has {} pieces, and the model has {}: measure it again with `grapevine "
        "profile`",
        profile.pieces.size(), own.size());
  for (std::size_t k = 0; k < own.size(); ++k) {
    const ModelProfile::Piece& piece = profile.pieces[k];
    if (piece.parameters == own[k].parameters && piece.floats == own[k].floats) continue;
    return fmt::format(
        "its piece `{}` has {} parameters and {} output values, and the model's "
        "has {} and {}: measure it again with `grapevine profile`",
        printable(piece.name, 100), piece.parameters, piece.floats, own[k].parameters,
        own[k].floats);
  }
  return "";
}

}  // namespace gv
