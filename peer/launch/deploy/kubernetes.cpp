#include "generated/kubernetes.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <xxhash.h>

#include "optim/printable.h"
#include "peer/launch/deploy/deploy.h"
#include "peer/wire/seal/peer_keys.h"

namespace gv {
namespace {

/// Maximum size of the files: Kubernetes refuses a ConfigMap of more than 1 MiB, and names and
/// base64 take some of the space.
constexpr std::size_t most_config_bytes = 1'000'000;

std::string metadata(const KubernetesFleet& fleet, const std::string& name) {
  std::string text = fmt::format("metadata:\n  name: {}\n", yaml_word(name));
  if (!fleet.space.empty()) text += fmt::format("  namespace: {}\n", yaml_word(fleet.space));
  return text + "  labels:\n" + indented(kubernetes_labels(fleet), 4);
}

/// Returns the Service, which also publishes pods that are not ready: they wait for each other.
std::string service(const KubernetesFleet& fleet) {
  return fmt::format(service_yaml, metadata(fleet, fleet.name),
                     indented(kubernetes_labels(fleet), 4), fleet.port);
}

void check_files(const KubernetesFleet& fleet) {
  std::size_t bytes = 0;
  for (const auto& [path, text] : fleet.files) {
    const std::string key = kubernetes_file_key(path);
    const auto fits = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
             std::string_view("-._").find(c) != std::string_view::npos;
    };
    constexpr std::size_t longest = 253;
    if (key.size() > longest || !std::ranges::all_of(key, fits))
      throw std::invalid_argument(fmt::format(
          "deploy: a file named `{}` does not fit into a ConfigMap\nhelp:  give it an ending of "
          "letters and digits",
          printable(key, 100)));
    bytes += key.size() + (fits_yaml_block(text) ? text.size() : text.size() * 4 / 3 + 4);
  }
  if (bytes > most_config_bytes)
    throw std::invalid_argument(fmt::format(
        "deploy: the fleet file and its graphs take {} bytes, and a ConfigMap holds {}\nhelp:  put "
        "large graphs into the image, or name a graph family instead",
        bytes, most_config_bytes));
}

std::string config_map(const KubernetesFleet& fleet) {
  std::string plain, binary;
  for (const auto& [path, text] : fleet.files) {
    const std::string key = yaml_word(kubernetes_file_key(path));
    if (fits_yaml_block(text))
      plain += fmt::format("  {}: {}\n", key, yaml_block(text, 2));
    else
      binary += fmt::format("  {}: {}\n", key, yaml_word(base64(text)));
  }
  return fmt::format(
      "---\napiVersion: v1\nkind: ConfigMap\n{}{}{}", metadata(fleet, kubernetes_config(fleet)),
      plain.empty() ? "" : "data:\n" + plain, binary.empty() ? "" : "binaryData:\n" + binary);
}

/// Returns the Job's spec, with a budget of restarts for each peer if the cluster supports one: a
/// wrong fleet file stays wrong, a peer whose collective broke has nothing to continue with, and a
/// drained node does not count against the peer.
std::string job_spec(const KubernetesFleet& fleet) {
  std::string text =
      fmt::format("completionMode: Indexed\ncompletions: {0}\nparallelism: {0}\n", fleet.peers);
  if (knows_index_failures(fleet))
    text += fmt::format("backoffLimitPerIndex: 6\npodReplacementPolicy: Failed\n{}",
                        failure_policy_yaml);
  else
    text += fmt::format("backoffLimit: {}\n", 6 * std::uint64_t{fleet.peers});
  return text + "template:\n" + indented(kubernetes_pod(fleet), 2);
}

std::string job(const KubernetesFleet& fleet) {
  return fmt::format("---\napiVersion: batch/v1\nkind: Job\n{}spec:\n{}",
                     metadata(fleet, fleet.name), indented(job_spec(fleet), 2));
}

std::string jobset(const KubernetesFleet& fleet) {
  return fmt::format(jobset_yaml, metadata(fleet, fleet.name), yaml_word(fleet.name),
                     indented(job_spec(fleet), 10));
}

std::string volume_claims(const KubernetesFleet& fleet) {
  if (fleet.storage.empty()) return "";
  return fmt::format(volume_claims_yaml, yaml_word(fleet.storage));
}

std::string stateful_set(const KubernetesFleet& fleet) {
  return fmt::format(stateful_set_yaml, metadata(fleet, fleet.name), yaml_word(fleet.name),
                     fleet.peers, indented(kubernetes_labels(fleet), 6),
                     indented(kubernetes_pod(fleet), 4), volume_claims(fleet));
}

bool is_small(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return is_small(c) || (c >= 'A' && c <= 'Z');
}

}  // namespace

std::string kubernetes_address(const KubernetesFleet& fleet) {
  const char* role = fleet.kind == KubernetesKind::jobset ? "-peer-0" : "";
  return fmt::format("{0}{1}-{{id}}.{0}", fleet.name, role);
}

std::string kubernetes_output(const KubernetesFleet& fleet) {
  return "/runs/" + fleet.name;
}

std::string kubernetes_secret(const KubernetesFleet& fleet) {
  return fleet.name + "-keys";
}

std::string kubernetes_manifests(const KubernetesFleet& fleet) {
  check_files(fleet);
  const std::string config = config_map(fleet);
  switch (fleet.kind) {
    case KubernetesKind::statefulset:
      return service(fleet) + config + stateful_set(fleet);
    case KubernetesKind::jobset:
      return config + jobset(fleet);
    case KubernetesKind::job:
      break;
  }
  return service(fleet) + config + job(fleet);
}

bool is_object_name(const std::string& name) {
  const auto fits = [](char c) { return is_small(c) || is_digit(c) || c == '-'; };
  return !name.empty() && name.size() <= longest_object_name && is_small(name.front()) &&
         name.back() != '-' && std::ranges::all_of(name, fits);
}

bool is_claim_name(const std::string& name) {
  constexpr std::size_t longest = 253;
  const auto ends = [](char c) { return is_small(c) || is_digit(c); };
  const auto fits = [&](char c) { return ends(c) || c == '-' || c == '.'; };
  return !name.empty() && name.size() <= longest && ends(name.front()) && ends(name.back()) &&
         std::ranges::all_of(name, fits) && name.find("..") == std::string::npos;
}

std::string object_name(const std::string& text) {
  std::string name;
  for (const char c : text) {
    const char small = is_letter(c) ? static_cast<char>(c | 0x20) : c;
    const bool fits = is_small(small) || is_digit(small);
    if (fits || (!name.empty() && name.back() != '-')) name += fits ? small : '-';
  }
  while (name.ends_with('-')) name.pop_back();
  std::string lower = text;
  for (char& c : lower)
    if (is_letter(c)) c = static_cast<char>(c | 0x20);
  if (name == lower && is_object_name(name)) return name;
  const auto hash = static_cast<std::uint32_t>(XXH3_64bits(text.data(), text.size()));
  if (name.empty() || !is_small(name.front())) name = name.empty() ? "fleet" : "fleet-" + name;
  constexpr std::size_t hash_bytes = 9;
  name.resize(std::min(name.size(), longest_object_name - hash_bytes));
  while (name.ends_with('-')) name.pop_back();
  return fmt::format("{}-{:08x}", name, hash);
}

bool is_quantity(const std::string& text) {
  const auto unit = std::ranges::find_if(text, is_letter);
  const std::string_view number(text.begin(), unit);
  const std::string_view suffix(unit, text.end());
  constexpr std::string_view suffixes[] = {"", "m", "k", "M", "G", "T", "Ki", "Mi", "Gi", "Ti"};
  const auto dots = std::ranges::count(number, '.');
  return !number.empty() && number.size() <= 15 && is_digit(number.front()) &&
         is_digit(number.back()) && dots <= 1 &&
         std::ranges::all_of(number, [](char c) { return is_digit(c) || c == '.'; }) &&
         std::ranges::count(suffixes, suffix) == 1;
}

bool is_image(const std::string& text) {
  const auto fits = [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("._-/:@").find(c) != std::string::npos;
  };
  constexpr std::size_t longest = 512;
  return !text.empty() && text.size() <= longest &&
         (is_letter(text.front()) || is_digit(text.front())) && std::ranges::all_of(text, fits);
}

}  // namespace gv
