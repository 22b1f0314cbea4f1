#include "generated/kubernetes.h"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>
#include <xxhash.h>

#include "graph/formats/json_value.h"
#include "optim/printable.h"
#include "peer/launch/deploy/deploy.h"
#include "peer/wire/seal/peer_keys.h"
#include "peer/wire/seal/tls_context.h"

namespace gv {
namespace {

/// Maximum size of the files: Kubernetes refuses a ConfigMap of more than 1 MiB, and names and
/// base64 take some of the space.
constexpr std::size_t most_config_bytes = 1'000'000;

/// Calls f(line) for each line, without its end.
template <class F>
void each_line(std::string_view text, F f) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    f(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// Indents each line that is not empty by `spaces` more.
std::string indented(std::string_view text, std::size_t spaces) {
  std::string out;
  each_line(text, [&](std::string_view line) {
    if (!line.empty()) out.append(spaces, ' ').append(line);
    out += '\n';
  });
  return out;
}

/// Texts for the holes of a template, by name.
using Holes = std::map<std::string, std::string, std::less<>>;

/// Fills the holes of a template, `{name}`. A hole alone on its line takes the lines of its text,
/// indented as the hole is; if there are none, the line disappears.
std::string filled(std::string_view form, const Holes& holes) {
  std::string out;
  each_line(form, [&](std::string_view line) {
    const std::size_t indent = std::min(line.find_first_not_of(' '), line.size());
    if (line.substr(indent).starts_with('{') && line.ends_with('}')) {
      const auto hole = holes.find(line.substr(indent + 1, line.size() - indent - 2));
      if (hole != holes.end()) {
        out += indented(hole->second, indent);
        return;
      }
    }
    for (std::size_t open = 0; (open = line.find('{')) != std::string_view::npos;) {
      const auto hole = holes.find(line.substr(open + 1, line.find('}') - open - 1));
      const bool known = hole != holes.end();
      out.append(line.substr(0, known ? open : open + 1)).append(known ? hole->second : "");
      line.remove_prefix(known ? line.find('}') + 1 : open + 1);
    }
    out.append(line) += '\n';
  });
  return out;
}

/// Escapes "$", because Kubernetes would replace "$(NAME)" by the value of a variable.
std::string argument(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '$' ? std::string("$$") : std::string(1, c);
  return out;
}

bool stateful(const KubernetesFleet& fleet) {
  return fleet.kind == KubernetesKind::statefulset;
}

/// Returns the folder, in the Secret's volume, with the key of this pod: its index, or its name.
std::string key_folder(const KubernetesFleet& fleet, PeerId id) {
  return stateful(fleet) ? fmt::format("{}-{}", fleet.name, id) : fmt::to_string(id);
}

/// Returns whether the cluster's Jobs count the failures of each index (from 1.29 on).
bool knows_index_failures(const KubernetesFleet& fleet) {
  return fleet.minor >= 29;
}

/// Returns the labels of the fleet's objects and pods.
std::string labels(const KubernetesFleet& fleet) {
  return fmt::format("app.kubernetes.io/name: grapevine\napp.kubernetes.io/instance: {}\n",
                     yaml_word(fleet.name));
}

/// Returns the name of the ConfigMap with the fleet's files.
std::string config_name(const KubernetesFleet& fleet) {
  return fleet.name + "-fleet";
}

/// Returns the ConfigMap's key for a file at this path in the pod's folder.
std::string file_key(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string metadata(const KubernetesFleet& fleet, const std::string& name) {
  std::string text = fmt::format("metadata:\n  name: {}\n", yaml_word(name));
  if (!fleet.space.empty()) text += fmt::format("  namespace: {}\n", yaml_word(fleet.space));
  return text + "  labels:\n" + indented(labels(fleet), 4);
}

void check_files(const KubernetesFleet& fleet) {
  std::size_t bytes = 0;
  for (const auto& [path, text] : fleet.files) {
    const std::string key = file_key(path);
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
    const std::string key = yaml_word(file_key(path));
    if (fits_yaml_block(text))
      plain += fmt::format("  {}: {}\n", key, yaml_block(text, 2));
    else
      binary += fmt::format("  {}: {}\n", key, yaml_word(base64(text)));
  }
  return fmt::format("---\napiVersion: v1\nkind: ConfigMap\n{}{}{}",
                     metadata(fleet, config_name(fleet)), plain.empty() ? "" : "data:\n" + plain,
                     binary.empty() ? "" : "binaryData:\n" + binary);
}

/// The container sees only its own key and copies it: a volume's files belong to root and are
/// links, and a peer accepts only a key that is its own file.
std::string init_containers(const KubernetesFleet& fleet) {
  if (!fleet.keys) return "";
  constexpr const char* pod_name =
      "env:\n  - name: POD_NAME\n    valueFrom: { fieldRef: { fieldPath: metadata.name } }\n";
  return filled(
      init_containers_yaml,
      {{"image", yaml_word(fleet.image)},
       {"pod_name", stateful(fleet) ? pod_name : ""},
       {"key_folder", yaml_word(stateful(fleet) ? "$(POD_NAME)" : "$(JOB_COMPLETION_INDEX)")}});
}

std::vector<std::string> pod_command(const KubernetesFleet& fleet) {
  std::vector<std::string> words{"grapevine",
                                 "peer",
                                 "/fleet/fleet.yaml",
                                 "--at",
                                 fmt::format("{}:{}", kubernetes_address(fleet), fleet.port),
                                 "--rejoin-after-restart"};
  if (stateful(fleet)) words.push_back("--stay");
  for (const std::string& each : fleet.arguments) words.push_back(argument(each));
  return words;
}

std::string mounts(const KubernetesFleet& fleet) {
  std::string text = fleet.keys ? "- { name: keys, mountPath: /keys, readOnly: true }\n" : "";
  for (std::size_t k = 0; k < fleet.mounts.size(); ++k)
    text += fmt::format("- {{ name: data-{}, mountPath: {}, readOnly: true }}\n", k,
                        yaml_word(fleet.mounts[k].second));
  return text;
}

std::string key_volumes(const KubernetesFleet& fleet) {
  std::string keys;
  for (PeerId i = 0; i < fleet.peers; ++i)
    keys += fmt::format("- {{ key: {}, path: {} }}\n", yaml_word(key_file_name(i)),
                        yaml_word(key_folder(fleet, i) + "/" + key_file_name(i)));
  return filled(key_volumes_yaml,
                {{"secret", yaml_word(kubernetes_secret(fleet))}, {"keys", keys}});
}

std::string claim(const std::string& name, const std::string& claim, bool read_only) {
  return fmt::format("- name: {}\n  persistentVolumeClaim: {{ claimName: {}{} }}\n", name,
                     yaml_word(claim), read_only ? ", readOnly: true" : "");
}

std::string volumes(const KubernetesFleet& fleet) {
  std::string text;
  if (!fleet.claim.empty())
    text += claim("runs", fleet.claim, false);
  else if (fleet.storage.empty())
    text += "- name: runs\n  emptyDir: {}\n";
  if (fleet.keys) text += key_volumes(fleet);
  for (std::size_t k = 0; k < fleet.mounts.size(); ++k)
    text += claim(fmt::format("data-{}", k), fleet.mounts[k].first, true);
  return text;
}

/// If restarts are not counted per index, the container is restarted in its pod, which keeps the
/// peer's files.
std::string restart_policy(const KubernetesFleet& fleet) {
  if (stateful(fleet)) return "Always";
  return knows_index_failures(fleet) ? "Never" : "OnFailure";
}

/// Returns the template of a peer's pod, which runs as an ordinary user without privileges (that of
/// Containerfile), on a file system that is read-only except its own folders. A new pod is passed
/// the number of its replacements, so that it joins the peers that are still training.
std::string pod(const KubernetesFleet& fleet) {
  const bool counted = !stateful(fleet) && knows_index_failures(fleet);
  std::string words, items;
  for (const std::string& word : pod_command(fleet))
    words += fmt::format("- {}\n", yaml_word(word));
  for (const auto& [path, bytes] : fleet.files)
    items += fmt::format("- {{ key: {}, path: {} }}\n", yaml_word(file_key(path)), yaml_word(path));
  std::string memory, limits, subdomain;
  if (!fleet.memory.empty()) limits = memory = fmt::format("memory: {}\n", yaml_word(fleet.memory));
  if (fleet.gpus > 0) limits += fmt::format("nvidia.com/gpu: \"{}\"\n", fleet.gpus);
  // The pods of a StatefulSet and of a JobSet get this name by themselves.
  if (fleet.kind == KubernetesKind::job)
    subdomain = fmt::format("subdomain: {}\n", yaml_word(fleet.name));
  return filled(pod_yaml, {{"labels", labels(fleet)},
                           {"restart", restart_policy(fleet)},
                           {"grace", fmt::to_string(fleet.grace_seconds)},
                           {"subdomain", subdomain},
                           {"init_containers", init_containers(fleet)},
                           {"image", yaml_word(fleet.image)},
                           {"command", words},
                           {"port", fmt::to_string(fleet.port)},
                           {"restarts", std::string(counted ? restarts_yaml : "")},
                           {"cpu", yaml_word(fleet.cpu)},
                           {"memory", memory},
                           {"limits", limits.empty() ? "" : "limits:\n" + indented(limits, 2)},
                           {"mounts", mounts(fleet)},
                           {"config", yaml_word(config_name(fleet))},
                           {"items", items},
                           {"volumes", volumes(fleet)}});
}

/// Returns the budget of restarts of a Job's pods, for each peer if the cluster supports one: a
/// wrong fleet file stays wrong, a peer whose collective broke has nothing to continue with, and a
/// drained node does not count against the peer.
std::string failures(const KubernetesFleet& fleet) {
  if (knows_index_failures(fleet)) return std::string(failure_policy_yaml);
  return fmt::format("backoffLimit: {}\n", 6 * std::uint64_t{fleet.peers});
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

/// The Service also publishes pods that are not ready: they wait for each other.
std::string kubernetes_manifests(const KubernetesFleet& fleet) {
  check_files(fleet);
  Holes holes{{"metadata", metadata(fleet, fleet.name)},
              {"name", yaml_word(fleet.name)},
              {"labels", labels(fleet)},
              {"port", fmt::to_string(fleet.port)},
              {"peers", fmt::to_string(fleet.peers)},
              {"failures", failures(fleet)},
              {"pod", pod(fleet)},
              {"claims", fleet.storage.empty() ? ""
                                               : filled(volume_claims_yaml,
                                                        {{"storage", yaml_word(fleet.storage)}})}};
  holes["spec"] = filled(job_spec_yaml, holes);
  const std::string config = config_map(fleet);
  if (fleet.kind == KubernetesKind::jobset) return config + filled(jobset_yaml, holes);
  const bool job = fleet.kind == KubernetesKind::job;
  return filled(service_yaml, holes) + config + filled(job ? job_yaml : stateful_set_yaml, holes);
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

std::string yaml_word(std::string_view text) {
  return json_quoted(text);
}

bool fits_yaml_block(std::string_view text) {
  bool fits = true;
  each_line(text, [&](std::string_view line) { fits = fits && is_printable(line); });
  return fits;
}

std::string yaml_block(std::string_view text, std::size_t indent) {
  if (text.empty()) return "\"\"";
  // An explicit indentation, since the text's own first line may begin with spaces.
  const std::string head = text.ends_with('\n') ? "|2+\n" : "|2-\n";
  std::string block = head + indented(text, indent + 2);
  if (block.ends_with('\n')) block.pop_back();
  return block;
}

}  // namespace gv
