#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace gv {

/// A figure of a picture, with its title.
struct PicturePanel {
  std::string title;
  std::string figure;  ///< an image of svg::image, such as a lines_figure; all of one size
};

/// Lines by their series and name.
using PictureLegend = std::vector<std::pair<std::size_t, std::string>>;

/// An SVG file with the panels in two columns, with the colours and the marks of a report, light or
/// dark by the reader's settings. Below the panels is the legend, which pictures need if there are
/// too many lines to name at their ends. Empty if no panel has a figure.
std::string picture_file(const std::string& title,
                         const std::vector<PicturePanel>& panels,
                         const PictureLegend& legend = {});

/// A figure of a page as an SVG file of its own, with the page's colours on white: for paper.
std::string figure_file(const std::string& figure);

}  // namespace gv
