#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace gv {

/// A figure of a picture, and what stands over it.
struct PicturePanel {
  std::string title;
  std::string figure;  ///< an image of svg::image, such as a lines_figure; all of one size
};

/// Lines by their series and name.
using PictureLegend = std::vector<std::pair<std::size_t, std::string>>;

/// An SVG file of its own: the panels two beside each other, with the colours and the marks of a
/// report, light or dark as the reader's screen asks. Below them the legend, which pictures need
/// whose lines are too many to be named at their ends. Empty without a panel that has a figure.
std::string picture_file(const std::string& title,
                         const std::vector<PicturePanel>& panels,
                         const PictureLegend& legend = {});

/// A figure of a page as an SVG file of its own, with the page's colours on white: for paper.
std::string figure_file(const std::string& figure);

}  // namespace gv
