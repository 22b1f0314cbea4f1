#include <algorithm>

#include <fmt/format.h>

#include "graph/formats/json_value.h"
#include "optim/printable.h"
#include "peer/launch/deploy/deploy.h"
#include "peer/wire/seal/tls_context.h"

namespace gv {
namespace {

/// Number of the image's user (Containerfile), which owns nothing elsewhere.
constexpr int user = 10001;

/// Escapes "$", because Kubernetes would replace "$(NAME)" by the value of a variable.
std::string argument(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '$' ? std::string("$$") : std::string(1, c);
  return out;
}

std::string container_security() {
  return "securityContext:\n"
         "  allowPrivilegeEscalation: false\n"
         "  readOnlyRootFilesystem: true\n"
         "  capabilities: { drop: [ALL] }\n";
}

bool stateful(const KubernetesFleet& fleet) {
  return fleet.kind == KubernetesKind::statefulset;
}

/// Returns the folder, in the Secret's volume, with the key of this pod: its index, or its name.
std::string key_folder(const KubernetesFleet& fleet, PeerId id) {
  return stateful(fleet) ? fmt::format("{}-{}", fleet.name, id) : fmt::to_string(id);
}

/// The container sees only its own key and copies it: a volume's files belong to root and are
/// links, and a peer accepts only a key that is its own file.
std::string key_container(const KubernetesFleet& fleet) {
  const char* name =
      "env:\n  - name: POD_NAME\n    valueFrom: { fieldRef: { fieldPath: metadata.name } }\n";
  return fmt::format(
      "- name: keys\n"
      "  image: {}\n"
      "  command: [\"/bin/sh\", \"-c\", \"umask 077 && cp /secret/peer-*.pem /keys/\"]\n"
      "{}"
      "  resources:\n"
      "    requests: {{ cpu: \"100m\" }}\n"
      "  volumeMounts:\n"
      "    - {{ name: secret, mountPath: /secret, subPathExpr: {}, readOnly: true }}\n"
      "    - {{ name: keys, mountPath: /keys }}\n"
      "{}",
      yaml_word(fleet.image), stateful(fleet) ? indented(name, 2) : "",
      yaml_word(stateful(fleet) ? "$(POD_NAME)" : "$(JOB_COMPLETION_INDEX)"),
      indented(container_security(), 2));
}

/// Passes a pod the number of its replacements, so that a new pod joins the peers that are still
/// training.
std::string restarts(const KubernetesFleet& fleet) {
  if (stateful(fleet) || !knows_index_failures(fleet)) return "";
  std::string text = "env:\n";
  for (const auto& [name, annotation] :
       {std::pair{"GRAPEVINE_RESTARTS", "job-index-failure-count"},
        std::pair{"GRAPEVINE_MOVES", "job-index-ignored-failure-count"}})
    text += fmt::format(
        "  - name: {}\n    valueFrom:\n      fieldRef:\n        fieldPath: {}\n", name,
        yaml_word(fmt::format("metadata.annotations['batch.kubernetes.io/{}']", annotation)));
  return text;
}

std::string resources(const KubernetesFleet& fleet) {
  std::string requests = fmt::format("    cpu: {}\n", yaml_word(fleet.cpu));
  std::string limits;
  if (!fleet.memory.empty()) {
    const std::string memory = fmt::format("    memory: {}\n", yaml_word(fleet.memory));
    requests += memory;
    limits += memory;
  }
  if (fleet.gpus > 0) limits += fmt::format("    nvidia.com/gpu: \"{}\"\n", fleet.gpus);
  return "resources:\n  requests:\n" + requests + (limits.empty() ? "" : "  limits:\n" + limits);
}

std::vector<std::string> command(const KubernetesFleet& fleet) {
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
  std::string text =
      "volumeMounts:\n"
      "  - { name: fleet, mountPath: /fleet, readOnly: true }\n"
      "  - { name: runs, mountPath: /runs }\n"
      "  - { name: tmp, mountPath: /tmp }\n";
  if (fleet.keys) text += "  - { name: keys, mountPath: /keys, readOnly: true }\n";
  for (std::size_t k = 0; k < fleet.mounts.size(); ++k)
    text += fmt::format("  - {{ name: data-{}, mountPath: {}, readOnly: true }}\n", k,
                        yaml_word(fleet.mounts[k].second));
  return text;
}

std::string peer_container(const KubernetesFleet& fleet) {
  const std::string body = restarts(fleet) + resources(fleet) + mounts(fleet) +
                           container_security() +
                           "readinessProbe:\n"
                           "  tcpSocket: { port: fleet }\n"
                           "  periodSeconds: 10\n";
  std::string words;
  for (const std::string& word : command(fleet))
    words += fmt::format("    - {}\n", yaml_word(word));
  return fmt::format(
      "- name: peer\n"
      "  image: {}\n"
      "  command:\n"
      "{}"
      "  ports:\n"
      "    - {{ name: fleet, containerPort: {} }}\n"
      "{}",
      yaml_word(fleet.image), words, fleet.port, indented(body, 2));
}

std::string config_volume(const KubernetesFleet& fleet) {
  std::string text = fmt::format("- name: fleet\n  configMap:\n    name: {}\n    items:\n",
                                 yaml_word(kubernetes_config(fleet)));
  for (const auto& [path, bytes] : fleet.files)
    text += fmt::format("      - {{ key: {}, path: {} }}\n", yaml_word(kubernetes_file_key(path)),
                        yaml_word(path));
  return text;
}

std::string key_volumes(const KubernetesFleet& fleet) {
  std::string text = fmt::format(
      "- name: keys\n  emptyDir: {{ medium: Memory }}\n"
      "- name: secret\n  secret:\n    secretName: {}\n    defaultMode: 256\n    items:\n",
      yaml_word(kubernetes_secret(fleet)));
  for (PeerId i = 0; i < fleet.peers; ++i)
    text += fmt::format("      - {{ key: {}, path: {} }}\n", yaml_word(key_file_name(i)),
                        yaml_word(key_folder(fleet, i) + "/" + key_file_name(i)));
  return text;
}

std::string claim(const std::string& name, const std::string& claim, bool read_only) {
  return fmt::format("- name: {}\n  persistentVolumeClaim: {{ claimName: {}{} }}\n", name,
                     yaml_word(claim), read_only ? ", readOnly: true" : "");
}

std::string volumes(const KubernetesFleet& fleet) {
  std::string text = config_volume(fleet) + "- name: tmp\n  emptyDir: {}\n";
  if (!fleet.claim.empty())
    text += claim("runs", fleet.claim, false);
  else if (fleet.storage.empty())
    text += "- name: runs\n  emptyDir: {}\n";
  if (fleet.keys) text += key_volumes(fleet);
  for (std::size_t k = 0; k < fleet.mounts.size(); ++k)
    text += claim(fmt::format("data-{}", k), fleet.mounts[k].first, true);
  return "volumes:\n" + indented(text, 2);
}

/// If restarts are not counted per index, the container is restarted in its pod, which keeps the
/// peer's files.
std::string restart_policy(const KubernetesFleet& fleet) {
  if (stateful(fleet)) return "Always";
  return knows_index_failures(fleet) ? "Never" : "OnFailure";
}

/// Calls f(line) for each line, without its end.
template <class F>
void each_line(std::string_view text, F f) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    f(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

}  // namespace

bool knows_index_failures(const KubernetesFleet& fleet) {
  return fleet.minor >= 29;
}

std::string kubernetes_labels(const KubernetesFleet& fleet) {
  return fmt::format("app.kubernetes.io/name: grapevine\napp.kubernetes.io/instance: {}\n",
                     yaml_word(fleet.name));
}

std::string kubernetes_config(const KubernetesFleet& fleet) {
  return fleet.name + "-fleet";
}

std::string kubernetes_file_key(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

std::string kubernetes_pod(const KubernetesFleet& fleet) {
  std::string spec = fmt::format(
      "restartPolicy: {}\n"
      "terminationGracePeriodSeconds: {}\n"
      "automountServiceAccountToken: false\n"
      "enableServiceLinks: false\n"
      "securityContext:\n"
      "  runAsNonRoot: true\n"
      "  runAsUser: {}\n"
      "  runAsGroup: {}\n"
      "  fsGroup: {}\n"
      "  seccompProfile: {{ type: RuntimeDefault }}\n",
      restart_policy(fleet), fleet.grace_seconds, user, user, user);
  // The pods of a StatefulSet and of a JobSet get this name by themselves.
  if (fleet.kind == KubernetesKind::job)
    spec += fmt::format("subdomain: {}\n", yaml_word(fleet.name));
  if (fleet.keys) spec += "initContainers:\n" + indented(key_container(fleet), 2);
  spec += "containers:\n" + indented(peer_container(fleet), 2) + volumes(fleet);
  return "metadata:\n  labels:\n" + indented(kubernetes_labels(fleet), 4) + "spec:\n" +
         indented(spec, 2);
}

std::string yaml_word(std::string_view text) {
  return json_quoted(text);
}

std::string yaml_list(const std::vector<std::string>& words) {
  std::string list = "[";
  for (const std::string& word : words) list += (list.size() > 1 ? ", " : "") + yaml_word(word);
  return list + "]";
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

std::string indented(std::string_view text, std::size_t spaces) {
  std::string out;
  each_line(text, [&](std::string_view line) {
    if (!line.empty()) out.append(spaces, ' ').append(line);
    out += '\n';
  });
  return out;
}

}  // namespace gv
