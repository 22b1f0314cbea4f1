#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "graph/topology/topology.h"
#include "optim/data/dataset.h"
#include "optim/data/partition.h"
#include "optim/data/table/table_plan.h"
#include "optim/models/objective.h"

namespace gv {

/// `data` of a fleet file.
struct DataSpec {
  /// A row of kinds.cpp; `program`: no samples of ours, and `train` says how many it has (0: it
  /// does not say).
  std::string kind = "digits";
  std::string dir;             ///< idx, cifar10, images
  std::string file;            ///< text, libsvm
  std::string test_file;       ///< libsvm; "": the last tenth of `file`
  std::uint32_t context = 64;  ///< text: bytes that a prediction may look back on
  AugmentSpec augment;         ///< of the training pictures
  std::string fallback;        ///< idx: "" | "digits"
  std::uint32_t train = 60000, test = 10000;
  std::uint32_t features = 16, classes = 4;  ///< linear, blobs, sparse; blobs
  std::uint32_t nonzeros = 20;               ///< sparse: features of a sample that are not zero
  double noise = 0.1, separation = 3;        ///< linear, sparse; blobs
  std::string environment;                   ///< environment: its name; see Fleet::agent
  QuadraticSpec quadratic;                   ///< dimension, hessian, noise, spread, start
  /// Numbers of keys that only one kind has and no field above is for. The fleet's digest holds
  /// them all.
  std::map<std::string, double> own;
  PartitionSpec partition;
  TableSpec table;        ///< table; a file for each peer where its name has `{id}`
  std::string test_dir;   ///< images; "": a part of `dir`
  double held_out = 0.2;  ///< images: that part
  /// The validation set: this part of the training samples, drawn by the seed (of a text its end);
  double validation = 0;
  std::string validation_file;     ///< or a set of its own, a file or a folder. 0 and "": the fleet
                                   ///< looks at its test set.
  std::string validation_content;  ///< 32 hex digits of that set; "": none
  /// Begins with 32 hex digits, of the files that all peers have: theirs must be ours. "": none.
  std::string content;
  std::string parts_content;  ///< of the peers' own files that are here; see bits_of
  PeerId servers = 0;  ///< that hand out minibatches to who trains; 0: everybody has its own part

  bool validates() const { return validation > 0 || !validation_file.empty(); }
  bool is_table() const { return !table.file.empty(); }
  /// Returns whether each peer reads a table of its own and no other one.
  bool per_peer() const { return table.file.find("{id}") != std::string::npos; }
  /// The table of peer i.
  std::string table_file(PeerId i) const;
};

}  // namespace gv
