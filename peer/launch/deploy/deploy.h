#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graph/topology/topology.h"
#include "peer/fleet/fleet.h"

namespace gv {

/// The kind of object that runs the pods.
enum class KubernetesKind : std::uint8_t {
  job,          ///< an Indexed Job: ends with the fleet
  statefulset,  ///< keeps each peer's volume; its pods stay after the end
  jobset,       ///< a JobSet with one Indexed Job
};

/// A fleet of one pod for each peer.
struct KubernetesFleet {
  std::string name;  ///< is_object_name()
  std::string image;
  KubernetesKind kind = KubernetesKind::job;
  int minor = 29;  ///< of the cluster's version, 1.25 or newer
  PeerId peers = 1;
  std::uint16_t port = 27000;
  std::map<std::string, std::string> files;  ///< as copied_files() names them
  std::vector<std::string> arguments{};      ///< of `peer`, behind the fleet file
  std::string space{};                       ///< the namespace; "": the one that kubectl is set to
  std::string cpu = "1";
  std::string memory{};                                       ///< "": no limit
  std::uint32_t gpus = 0;                                     ///< of NVIDIA, for each peer
  std::string claim{};                                        ///< takes the results of all peers
  std::string storage{};                                      ///< of each pod of a StatefulSet
  std::vector<std::pair<std::string, std::string>> mounts{};  ///< claims with data, and where
  bool keys = true;        ///< the peers prove to each other who they are
  int grace_seconds = 30;  ///< from SIGTERM to SIGKILL
};

/// Returns the host name at which all peers find each other: "fleet-{id}.fleet".
std::string kubernetes_address(const KubernetesFleet& fleet);
/// Returns the folder in which a pod keeps what it makes.
std::string kubernetes_output(const KubernetesFleet& fleet);
/// The Secret that keys are taken from: peer-0.pem and so on.
std::string kubernetes_secret(const KubernetesFleet& fleet);

/// The manifests, as YAML documents for `kubectl apply -f -`: a headless Service (a JobSet makes
/// its own), a ConfigMap with the files, and the workload. Throws std::invalid_argument where the
/// files are too large, or have names that a ConfigMap cannot take.
std::string kubernetes_manifests(const KubernetesFleet& fleet);

/// The longest name of an object that its pods, with a role and a number behind it, can bear as a
/// label of a host name (RFC 1123: 63 bytes), and a StatefulSet with a hash.
inline constexpr std::size_t longest_object_name = 40;

/// A label of RFC 1035, which is one of RFC 1123 too and what a Service asks for: small letters,
/// digits and `-`, a letter first, no `-` last, at most longest_object_name bytes.
bool is_object_name(const std::string& name);

/// Such a name of any text. What had to be cut off or left out stands there as eight hex digits of
/// a hash, so that two fleets keep two names.
std::string object_name(const std::string& text);

/// A name as Kubernetes takes it of claims and namespaces (RFC 1123): also with dots, and a digit
/// first.
bool is_claim_name(const std::string& name);

/// Returns whether a text is a Quantity as we write it: "2", "500m", "1.5Gi".
bool is_quantity(const std::string& text);
/// A reference to an image, as far as one can be told: letters, digits and . _ - / : @.
bool is_image(const std::string& text);

/// Returns the labels by which the fleet's objects and pods are known: two lines of YAML.
std::string kubernetes_labels(const KubernetesFleet& fleet);
/// The name of the ConfigMap with the fleet's files.
std::string kubernetes_config(const KubernetesFleet& fleet);
/// The key in it of a file that is at this path in the pod's folder.
std::string kubernetes_file_key(const std::string& path);

/// Returns whether the cluster's Jobs count the failures of each index (from 1.29 on).
bool knows_index_failures(const KubernetesFleet& fleet);

/// The template of a peer's pod: it runs as an ordinary user with nothing that it may do, on a file
/// system that it cannot write to but for its own folders.
std::string kubernetes_pod(const KubernetesFleet& fleet);

/// A text as one scalar on one line, in YAML 1.2's double quotes. It must be UTF-8.
std::string yaml_word(std::string_view text);
/// ["a", "b"]
std::string yaml_list(const std::vector<std::string>& words);

/// Returns whether yaml_block can say it: UTF-8 of printable lines.
bool fits_yaml_block(std::string_view text);
/// A text of several lines behind its key, as YAML's literal block: the bytes as they are, and a
/// reader sees them. `indent`: of the key.
std::string yaml_block(std::string_view text, std::size_t indent);

/// Moves each line that is not empty so many spaces further in.
std::string indented(std::string_view text, std::size_t spaces);

/// A batch script that runs a fleet on all nodes of its job.
struct SlurmFleet {
  std::string name;
  std::string program;                    ///< absolute; all nodes see it
  std::string file;                       ///< absolute
  std::string folder;                     ///< from which it runs
  std::string log;                        ///< %j: the job
  std::vector<std::string> arguments{};   ///< of `run`, behind the file
  std::vector<std::string> directives{};  ///< more of #SBATCH, such as --partition=gpu
  std::size_t nodes = 1;
  std::uint64_t cores = 1;  ///< of each node
};
std::string slurm_fleet_script(const SlurmFleet& fleet);

/// The job's name as #SBATCH takes it: letters, digits and `-`.
std::string slurm_job_name(const std::string& text);

/// Returns whether the text is an option of sbatch on one line: "--partition=gpu".
bool is_sbatch_option(const std::string& text);

/// A fleet whose peers are services of their hosts.
struct SystemdFleet {
  std::string name;                          ///< is_object_name()
  std::string program;                       ///< on the hosts, is_unit_path()
  std::string user;                          ///< whom the peers run as, is_user_name()
  std::vector<std::string> arguments{};      ///< of `peer`, as copied_sets() says
  std::map<std::string, std::string> files;  ///< as copied_files() names them
  double wait_seconds = 600;                 ///< for the other peers
};

/// A file of a host.
struct SystemdFile {
  std::string host;
  std::string path;  ///< absolute, there
  std::string text;
  bool unit = false;
};

/// A unit for each peer, and the files that it reads: the fleet's, and the user that it runs as.
std::vector<SystemdFile> systemd_files(const Fleet& fleet, const SystemdFleet& units);

/// Says what is to be done with them. `folder`: where they were written; "": nowhere.
std::string systemd_advice(const Fleet& fleet,
                           const SystemdFleet& units,
                           const std::string& folder);

/// A word of ExecStart=, in quotes where it needs them (systemd.service(5), "Command lines").
std::string systemd_word(const std::string& text);
bool is_unit_path(const std::string& path);
bool is_user_name(const std::string& name);

}  // namespace gv
