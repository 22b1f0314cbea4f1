#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "graph/topology/topology.h"

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

}  // namespace gv
