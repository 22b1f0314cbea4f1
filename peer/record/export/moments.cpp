#include "peer/record/export/moments.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include <fmt/format.h>

#include "graph/formats/npy_matrix.h"
#include "peer/record/report/metrics.h"

namespace gv {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t moment_columns = 5;
constexpr std::size_t round_columns = 15;
constexpr PeerId most_peers = 100'000;
constexpr double most_rounds = 1e15;

NpyMatrix read_matrix(const std::string& path, std::size_t columns) {
  std::ifstream in(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  NpyMatrix matrix = parse_npy_table(bytes, path);
  if (matrix.columns != columns)
    throw std::runtime_error(
        fmt::format("{}: {} columns instead of {}", path, matrix.columns, columns));
  return matrix;
}

[[noreturn]] void refuse(const std::string& path, std::size_t row, const char* what) {
  throw std::runtime_error(fmt::format("{}: row {}: {}", path, row, what));
}

bool is_count(double value, double most) {
  return value >= 0 && value <= most && value == std::floor(value);
}

void add_moments(const std::string& path, const RoundRange& range, PeerMoments& peer) {
  const NpyMatrix m = read_matrix(path, moment_columns);
  for (std::size_t k = 0; k < m.rows; ++k) {
    if (!is_count(m(k, 0), most_rounds)) refuse(path, k, "the first column is no round");
    if (!is_count(m(k, 1), activities - 1)) refuse(path, k, "the second column is no state");
    if (m(k, 3) < m(k, 2)) refuse(path, k, "it ends before it begins");
    if (m(k, 4) != -1 && !is_count(m(k, 4), most_peers)) refuse(path, k, "the last is no peer");
    const auto round = static_cast<Round>(m(k, 0));
    if (round < range.first || round > range.last) continue;
    Moment moment{.round = round,
                  .activity = static_cast<std::size_t>(m(k, 1)),
                  .begin = m(k, 2),
                  .end = m(k, 3)};
    if (m(k, 4) >= 0) moment.with = static_cast<PeerId>(m(k, 4));
    peer.moments.push_back(moment);
  }
}

void add_rounds(const std::string& path, const RoundRange& range, PeerMoments& peer) {
  const NpyMatrix m = read_matrix(path, round_columns);
  for (std::size_t k = 0; k < m.rows; ++k) {
    if (!is_count(m(k, 0), most_rounds)) refuse(path, k, "the first column is no round");
    if (!(m(k, 1) > 0)) refuse(path, k, "the second column is no number of rounds");
    const auto round = static_cast<Round>(m(k, 0));
    if (round < range.first || round > range.last) continue;
    peer.rounds.push_back({.round = round,
                           .span = m(k, 1),
                           .begin = m(k, 2),
                           .bytes = m(k, 12),
                           .staleness = m(k, 13),
                           .queue = m(k, 14)});
  }
}

std::vector<PeerId> peers_in(const std::string& folder) {
  std::vector<PeerId> peers;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder + "/peers", none)) {
    const std::string name = entry.path().filename().string();
    PeerId id = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), id);
    if (error == std::errc{} && end == name.data() + name.size()) peers.push_back(id);
  }
  std::ranges::sort(peers);
  return peers;
}

}  // namespace

std::vector<PeerMoments> read_moments(const std::string& folder, const RoundRange& range) {
  std::vector<PeerMoments> all;
  bool any = false;
  for (const PeerId id : peers_in(folder)) {
    PeerMoments peer{.peer = id};
    for (int life = 0;; ++life) {
      const auto file = [&](const char* name) {
        return fmt::format("{}/peers/{:03}/{}.{}.npy", folder, id, name, life);
      };
      const bool moments = fs::exists(file("moments"));
      if (moments) add_moments(file("moments"), range, peer);
      if (fs::exists(file("rounds"))) {
        add_rounds(file("rounds"), range, peer);
      } else if (!moments) {
        break;
      }
      any = any || moments;
    }
    all.push_back(std::move(peer));
  }
  if (!any)
    throw std::runtime_error(
        fmt::format("{}: this run has recorded no moments (peers/*/moments.0.npy), so there is "
                    "nothing to draw; runs of this version record them unless the fleet file says "
                    "otherwise",
                    folder));
  return all;
}

}  // namespace gv
