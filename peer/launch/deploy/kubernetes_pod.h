#pragma once

#include <string>

#include "peer/launch/deploy/kubernetes.h"

namespace gv {

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

}  // namespace gv
