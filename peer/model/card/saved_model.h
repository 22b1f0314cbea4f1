#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "optim/data/dataset.h"
#include "optim/data/table/prepared_rows.h"
#include "optim/data/table/table_builder.h"
#include "optim/train/predictor.h"
#include "peer/model/card/model_card.h"

namespace gv {

struct SavedModel {
  std::string path;
  ModelCard card;
  std::vector<float> x;
  std::vector<RunningMoment> moments;

  std::unique_ptr<Predictor> predictor() const;
};

/// Throws std::runtime_error "path: the error, and a remedy".
SavedModel load_model(const std::string& path);

/// Samples for predictions of the model.
struct ModelRows {
  std::shared_ptr<const Dataset> data;
  /// Index in `data` of each row of the file, in their order; none for a row that was left out.
  std::vector<std::optional<std::uint32_t>> places;
  std::vector<std::string> names;  ///< files of pictures; else empty
  std::vector<LeftOut> left_out;   ///< the rows without an index, in their order
};

/// Reads like labelled_data (labelled_data.h), but without labels: a table needs no target, and
/// pictures may be in any folder. Throws std::runtime_error "path: ...".
ModelRows model_rows(const ModelCard& card, const std::string& path);

/// The answer of a model to one row.
struct Answer {
  bool left_out = false;              ///< true if the row is in ModelRows::left_out
  std::size_t label = 0;              ///< classification: the likeliest class
  std::vector<double> probabilities;  ///< by class: softmax of the logits, or the logistic of
                                      ///< the margin; empty for a regression
  double value = 0;                   ///< regression: the value
};

/// Returns the answers in the order of the rows.
std::vector<Answer> answers(const SavedModel& model, const ModelRows& rows);

/// Reads labelled samples of the model's kind of data, prepared exactly as in training. `path` is,
/// for a table, a file with its columns and its target; for pictures, a folder with a folder for
/// each class, or a published set, whose test part is taken; for sparse rows, a LIBSVM file; for a
/// text, a text. Throws std::runtime_error "path: the error, and a remedy".
std::shared_ptr<const Dataset> labelled_data(const ModelCard& card, const std::string& path);

/// Reads sparse rows; checks their labels against the model's classes if `labels` is set.
std::shared_ptr<Dataset> sparse_rows(const ModelCard& card, const std::string& path, bool labels);

/// Returns the preparation of the model's table. Throws std::runtime_error if the card lacks it.
Preparation preparation_of(const ModelCard& card, const std::string& path);

/// A picture file with its name; `label` is set for those in folders of classes.
struct PictureFile {
  std::string path;
  std::string name;  ///< for messages: the path below the given folder
  std::uint8_t label = 0;
};

/// Returns whether the folder holds a published set (IDX or CIFAR-10) rather than picture files.
bool is_published(const std::string& dir);
/// Reads the test part of a published set, scaled like the model's training pictures. Throws
/// std::runtime_error "path: ..." if its pictures have another size or kind.
std::shared_ptr<Dataset> published_test(const ModelCard& card, const std::string& dir);

/// Finds a picture file itself, or those of a folder and its subfolders, sorted by name; their
/// labels are 0. At most a million. Throws std::runtime_error if there is none.
std::vector<PictureFile> find_pictures(const std::string& path);
/// Finds the pictures of a folder with a folder for each class of the model.
std::vector<PictureFile> find_labelled_pictures(const ModelCard& card, const std::string& dir);

/// Reads the files, which must have the model's size, with their labels.
std::shared_ptr<Dataset> read_pictures(const ModelCard& card,
                                       const std::vector<PictureFile>& files);

}  // namespace gv
