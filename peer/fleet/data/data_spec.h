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
  /// Kind, a row of data_kinds(). With `program`, `train` is the number of the program's samples
  /// (0: unknown).
  std::string kind = "digits";
  std::string dir;             ///< idx, cifar10, images
  std::string file;            ///< text, libsvm
  std::string test_file;       ///< libsvm; if empty, the last tenth of `file`
  std::uint32_t context = 64;  ///< text: number of bytes a prediction may look back
  AugmentSpec augment;         ///< augmentation of training pictures
  std::string fallback;        ///< idx: "" | "digits"
  std::uint32_t train = 60000, test = 10000;
  std::uint32_t features = 16, classes = 4;  ///< linear, blobs, sparse; blobs
  std::uint32_t nonzeros = 20;               ///< sparse: non-zero features of a sample
  double noise = 0.1, separation = 3;        ///< linear, sparse; blobs
  std::string environment;                   ///< environment: name, see Fleet::agent
  QuadraticSpec quadratic;                   ///< dimension, hessian, noise, spread, start
  /// Values of numeric keys of a single kind, without a field above. All are in the fleet's digest.
  std::map<std::string, double> own;
  PartitionSpec partition;
  TableSpec table;        ///< table; one file per peer if its name has `{id}`
  std::string test_dir;   ///< images; if empty, a part of `dir`
  double held_out = 0.2;  ///< images: fraction of `dir` for the test set
  /// Fraction of the training samples for validation, drawn by the seed (for a text, its end).
  double validation = 0;
  std::string validation_file;     ///< file or folder of a separate validation set
  std::string validation_content;  ///< its digest, 32 hex digits; "" without a set
  /// Begins with 32 hex digits: digest of the files that all peers must have alike. Or "".
  std::string content;
  std::string parts_content;  ///< digest of the peers' own files here, see bits_of
  PeerId servers = 0;         ///< number of data servers; 0: each peer has its own part

  bool validates() const { return validation > 0 || !validation_file.empty(); }
  bool is_table() const { return !table.file.empty(); }
  /// Returns whether each peer reads only a table of its own.
  bool per_peer() const { return table.file.find("{id}") != std::string::npos; }
  /// Returns the path of peer i's table.
  std::string table_file(PeerId i) const;
};

}  // namespace gv
