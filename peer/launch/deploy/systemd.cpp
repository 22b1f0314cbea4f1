#include "generated/systemd.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <string_view>

#include <fmt/format.h>

#include "optim/printable.h"
#include "peer/launch/deploy/deploy.h"
#include "peer/wire/seal/tls_context.h"

namespace gv {
namespace {

std::string folder_of(const SystemdFleet& units) {
  return fmt::format("/etc/grapevine/{}", units.name);
}

std::string unit_name(const SystemdFleet& units, PeerId id) {
  return fmt::format("grapevine-{}-{}.service", units.name, id);
}

std::string unit_command(const Fleet& fleet, const SystemdFleet& units, PeerId id) {
  std::vector<std::string> words{
      units.program,           "peer", folder_of(units) + "/fleet.yaml", "--id", std::to_string(id),
      "--rejoin-after-restart"};
  words.insert(words.end(), units.arguments.begin(), units.arguments.end());
  words.insert(words.end(), {"--set", fmt::format("output.dir=/var/lib/grapevine/{}", units.name),
                             "--wait", fmt::format("{:g}", units.wait_seconds)});
  const bool alone = std::ranges::all_of(
      fleet.peers, [&](const PeerSpec& peer) { return peer.host == fleet.peers.at(id).host; });
  const bool keys = fleet.security.mode == SecurityMode::tls ||
                    (fleet.security.mode == SecurityMode::automatic && !alone);
  if (keys) words.insert(words.end(), {"--keys", fmt::format("{}/keys", folder_of(units))});
  std::string line;
  for (const std::string& word : words)
    line += fmt::format("{}{}", line.empty() ? "" : " ", systemd_word(word));
  return line;
}

/// The peer may not gain rights, write outside its own folder, or see other parts of the machine.
/// Pages that are both writable and executable stay allowed: oneDNN generates its kernels. No
/// restart after exit code 2, since a wrong fleet file stays wrong, nor after 3, since a broken
/// collective is over. A peer stopped by SIGINT or SIGTERM exits with 130 or 143, which count as
/// success.
std::string unit(const Fleet& fleet, const SystemdFleet& units, PeerId id) {
  const auto grace = std::chrono::ceil<std::chrono::seconds>(fleet.grace).count();
  return fmt::format(peer_service, id, units.name, unit_command(fleet, units, id), units.user,
                     2 * grace + 10,
                     fleet.peers.at(id).device == "cpu" ? "PrivateDevices=yes\n" : "");
}

}  // namespace

std::vector<SystemdFile> systemd_files(const Fleet& fleet, const SystemdFleet& units) {
  std::vector<SystemdFile> files;
  std::vector<std::string> hosts;
  for (PeerId i = 0; i < fleet.size(); ++i) {
    const std::string& host = fleet.peers[i].host;
    if (std::ranges::count(hosts, host) == 0) hosts.push_back(host);
    files.push_back({host, fmt::format("/etc/systemd/system/{}", unit_name(units, i)),
                     unit(fleet, units, i), true});
  }
  for (const std::string& host : hosts) {
    for (const auto& [name, text] : units.files)
      files.push_back({host, folder_of(units) + "/" + name, text});
    files.push_back({host, "/etc/sysusers.d/grapevine.conf",
                     fmt::format("u {} - \"Grapevine peers\"\n", units.user)});
  }
  return files;
}

std::string systemd_advice(const Fleet& fleet,
                           const SystemdFleet& units,
                           const std::string& folder) {
  if (folder.empty())
    return "-o FOLDER writes these and what they read, one folder for each host\n";
  std::vector<std::string> hosts;
  for (const PeerSpec& peer : fleet.peers)
    if (std::ranges::count(hosts, peer.host) == 0) hosts.push_back(peer.host);
  std::string text = "on each host, as root:\n";
  for (const std::string& host : hosts)
    text += fmt::format("  scp -r {}/. {}:/\n", shell_word(fmt::format("{}/{}", folder, host)),
                        shell_word(fmt::format("root@{}", host)));
  text += fmt::format(
      "  systemd-sysusers && systemctl daemon-reload\n"
      "  systemctl start 'grapevine-{}-*.service' --all\n",
      units.name);
  if (hosts.size() > 1 && fleet.security.mode != SecurityMode::plaintext)
    text += fmt::format(
        "keys: grapevine keygen FILE; each host's peer-N.pem into {}/keys there, owned by {}, "
        "mode 600\n",
        folder_of(units), units.user);
  return text;
}

std::string systemd_word(const std::string& text) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./=,:@+").find(c) != std::string_view::npos;
  };
  if (!text.empty() && std::ranges::all_of(text, plain)) return text;
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '%' || c == '$') out += c;  // specifiers and variables
    out += c;
  }
  return out + '"';
}

bool is_unit_path(const std::string& path) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./").find(c) != std::string_view::npos;
  };
  return path.starts_with('/') && std::ranges::all_of(path, plain);
}

bool is_user_name(const std::string& name) {
  constexpr std::size_t longest = 31;
  const auto fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  };
  return !name.empty() && name.size() <= longest && name.front() >= 'a' && name.front() <= 'z' &&
         std::ranges::all_of(name, fits);
}

}  // namespace gv
