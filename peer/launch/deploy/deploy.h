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

/// Kind of object that runs the pods.
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
  int minor = 29;  ///< minor version of the cluster, 1.25 or newer
  PeerId peers = 1;
  std::uint16_t port = 27000;
  std::map<std::string, std::string> files;  ///< as copied_files() names them
  std::vector<std::string> arguments{};      ///< arguments of `peer` after the fleet file
  std::string space{};                       ///< the namespace; "" for the current one of kubectl
  std::string cpu = "1";
  std::string memory{};    ///< "" for no limit
  std::uint32_t gpus = 0;  ///< NVIDIA GPUs for each peer
  std::string claim{};     ///< volume claim for the results of all peers
  std::string storage{};   ///< size of each pod's volume in a StatefulSet
  std::vector<std::pair<std::string, std::string>> mounts{};  ///< claims with data, and their paths
  bool keys = true;                                           ///< the peers authenticate each other
  int grace_seconds = 30;                                     ///< from SIGTERM to SIGKILL
};

/// Returns the pattern of the peers' host names: "fleet-{id}.fleet".
std::string kubernetes_address(const KubernetesFleet& fleet);
/// Returns the folder in which a pod keeps its output.
std::string kubernetes_output(const KubernetesFleet& fleet);
/// Returns the name of the Secret with the keys: peer-0.pem and so on.
std::string kubernetes_secret(const KubernetesFleet& fleet);

/// Returns the manifests, as YAML documents for `kubectl apply -f -`: a headless Service (a JobSet
/// makes its own), a ConfigMap with the files, and the workload. Throws std::invalid_argument if
/// the files are too large, or have names that a ConfigMap cannot take.
std::string kubernetes_manifests(const KubernetesFleet& fleet);

/// Maximum length of an object's name. Its pods add a role and a number, a StatefulSet a hash, and
/// the result must fit into a label of a host name (RFC 1123: 63 bytes).
inline constexpr std::size_t longest_object_name = 40;

/// Returns whether a name is a label of RFC 1035, which a Service requires and RFC 1123 includes: a
/// lower-case letter, then such letters, digits and `-`, no `-` last, longest_object_name at most.
bool is_object_name(const std::string& name);

/// Makes such a name of any text. Eight hex digits of a hash replace what was cut off or left out,
/// so that two fleets keep two names.
std::string object_name(const std::string& text);

/// Returns whether Kubernetes accepts a name for claims and namespaces (RFC 1123), with dots too.
bool is_claim_name(const std::string& name);

/// Returns whether a text is a Quantity in our notation: "2", "500m", "1.5Gi".
bool is_quantity(const std::string& text);
/// Returns whether a text looks like a reference to an image: letters, digits and . _ - / : @.
bool is_image(const std::string& text);

/// Returns a text as one scalar on one line, in YAML 1.2's double quotes. The text must be UTF-8.
std::string yaml_word(std::string_view text);

/// Returns whether yaml_block can write the text: UTF-8 of printable lines.
bool fits_yaml_block(std::string_view text);
/// Returns a text of several lines to follow a key, as YAML's readable literal block: the bytes are
/// unchanged. `indent`: of the key.
std::string yaml_block(std::string_view text, std::size_t indent);

/// A batch script that runs a fleet on all nodes of its job.
struct SlurmFleet {
  std::string name;
  std::string program;                    ///< absolute; visible on all nodes
  std::string file;                       ///< absolute
  std::string folder;                     ///< working directory
  std::string log;                        ///< %j: the job
  std::vector<std::string> arguments{};   ///< arguments of `run` after the file
  std::vector<std::string> directives{};  ///< more of #SBATCH, such as --partition=gpu
  std::size_t nodes = 1;
  std::uint64_t cores = 1;  ///< cores of each node
};
std::string slurm_fleet_script(const SlurmFleet& fleet);

/// The settings of a Slurm job array: each task is another invocation of the same sweep,
/// coordinated by the claims in its folder, which all nodes must see.
struct SlurmJob {
  std::string name;
  std::string program;  ///< absolute
  std::string file;     ///< sweep file, absolute
  std::string folder;   ///< working directory
  std::string log;      ///< path of the log; %a: the task
  std::vector<std::string> only;
  bool keep_trials = false;  ///< counts trials of other builds as done
  std::size_t tasks = 1;
  std::size_t workers = 1;  ///< workers per task
};
std::string slurm_script(const SlurmJob& job);

/// Returns the job's name for #SBATCH: letters, digits and `-`.
std::string slurm_job_name(const std::string& text);

/// Returns whether the text is an option of sbatch on one line: "--partition=gpu".
bool is_sbatch_option(const std::string& text);

/// A fleet whose peers are services of their hosts.
struct SystemdFleet {
  std::string name;                          ///< is_object_name()
  std::string program;                       ///< on the hosts, is_unit_path()
  std::string user;                          ///< user of the peers, is_user_name()
  std::vector<std::string> arguments{};      ///< arguments of `peer`, from copied_sets()
  std::map<std::string, std::string> files;  ///< as copied_files() names them
  double wait_seconds = 600;                 ///< maximum wait for the other peers
};

/// A file for a host.
struct SystemdFile {
  std::string host;
  std::string path;  ///< absolute path there
  std::string text;
  bool unit = false;
};

/// Returns a unit for each peer and the files for it: the fleet's, and the user that it runs as.
std::vector<SystemdFile> systemd_files(const Fleet& fleet, const SystemdFleet& units);

/// Returns instructions for these files. `folder`: their folder here; "" if not written.
std::string systemd_advice(const Fleet& fleet,
                           const SystemdFleet& units,
                           const std::string& folder);

/// Returns a word of ExecStart=, quoted if needed (systemd.service(5), "Command lines").
std::string systemd_word(const std::string& text);
bool is_unit_path(const std::string& path);
bool is_user_name(const std::string& name);

}  // namespace gv
