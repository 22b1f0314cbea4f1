#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "optim/data/dataset.h"

namespace gv {

/// CIFAR-10 (A. Krizhevsky, "Learning multiple layers of features from tiny images", 2009): 32 x 32
/// pictures of three channels in ten classes. Reads from `dir` either
///  - the binary version: data_batch_1.bin to data_batch_5.bin and test_batch.bin, each with
/// `per_file` records; or
///  - the pictures as text: train.csv and test.csv, with any number of rows.
/// Each channel is normalized by its mean and deviation over the 50 000 training pictures. Throws
/// std::runtime_error "path: the error, and a remedy", with the byte offset or the line.
TrainTest read_cifar10(const std::string& dir, std::uint32_t per_file = 10'000);

/// The files that read_cifar10 reads, whether they exist or not.
std::vector<std::string> cifar10_files(const std::string& dir);

}  // namespace gv
