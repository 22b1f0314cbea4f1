#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "peer/show/page/page_style.h"

namespace gv {
namespace {

using Colour = std::array<double, 3>;  ///< linear red, green, blue
using Matrix = std::array<Colour, 3>;
using Palette = std::map<std::string, Colour>;

double linear(int byte) {
  const double c = byte / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

/// Returns the variables `--name: #rrggbb` of one block of the style.
Palette palette_of(std::string_view block) {
  Palette out;
  for (auto at = block.find("--"); at != block.npos; at = block.find("--", at + 2)) {
    const auto colon = block.find(": #", at);
    const auto end = block.find(';', at);
    if (colon == block.npos || colon > end || end - colon < 9) continue;
    const std::string hex(block.substr(colon + 3, 6));
    Colour c{};
    for (std::size_t k = 0; k < 3; ++k) c[k] = linear(std::stoi(hex.substr(2 * k, 2), nullptr, 16));
    out[std::string(block.substr(at + 2, colon - at - 2))] = c;
  }
  return out;
}

Palette light() {
  return palette_of(page_palette.substr(0, page_palette.find("@media")));
}

Palette dark() {
  std::string_view block = page_palette;
  block.remove_prefix(block.find("prefers-color-scheme: dark"));
  return palette_of(block.substr(0, block.find("}\n}")));
}

/// Web Content Accessibility Guidelines 2.2, "contrast ratio".
double contrast(const Colour& a, const Colour& b) {
  const auto luminance = [](const Colour& c) {
    return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2];
  };
  const double one = luminance(a) + 0.05;
  const double other = luminance(b) + 0.05;
  return std::max(one, other) / std::min(one, other);
}

Colour times(const Matrix& m, const Colour& c) {
  Colour out{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j) out[i] += m[i][j] * c[j];
  return out;
}

/// Ottosson 2020, "A perceptual color space for image processing". A difference of 0.02 is just
/// noticeable.
Colour oklab(const Colour& c) {
  constexpr Matrix cones{{{0.4122214708, 0.5363325363, 0.0514459929},
                          {0.2119034982, 0.6806995451, 0.1073969566},
                          {0.0883024619, 0.2817188376, 0.6299787005}}};
  constexpr Matrix opponents{{{0.2104542553, 0.7936177850, -0.0040720468},
                              {1.9779984951, -2.4285922050, 0.4505937099},
                              {0.0259040371, 0.7827717662, -0.8086757660}}};
  Colour lms = times(cones, c);
  for (double& v : lms) v = std::cbrt(std::max(v, 0.0));
  return times(opponents, lms);
}

double difference(const Colour& a, const Colour& b) {
  const Colour p = oklab(a);
  const Colour q = oklab(b);
  return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
}

/// Machado, Oliveira & Fernandes 2009, "A physiologically-based model for simulation of color
/// vision deficiency", severity 1: without red, green and blue cones.
constexpr std::array<Matrix, 4> eyes{{{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                                      {{{0.152286, 1.052583, -0.204868},
                                        {0.114503, 0.786281, 0.099216},
                                        {-0.003882, -0.048116, 1.051998}}},
                                      {{{0.367322, 0.860646, -0.227968},
                                        {0.280085, 0.672501, 0.047413},
                                        {-0.011820, 0.042940, 0.968881}}},
                                      {{{1.255528, -0.076749, -0.178779},
                                        {-0.078411, 0.930809, 0.147602},
                                        {0.004733, 0.691367, 0.303900}}}}};

Colour seen(const Matrix& eye, const Colour& c) {
  Colour out = times(eye, c);
  for (double& v : out) v = std::clamp(v, 0.0, 1.0);
  return out;
}

TEST(PageStyle, TextAndLinesStandOut) {
  for (const Palette& p : {light(), dark()}) {
    ASSERT_EQ(p.count("ink") + p.count("soft") + p.count("warn"), 3U);
    for (const char* ground : {"page", "card"}) {
      for (const char* text : {"ink", "soft", "warn"})
        EXPECT_GE(contrast(p.at(text), p.at(ground)), 4.5) << text << " on " << ground;
      for (int k = 0; k < 8; ++k)
        EXPECT_GE(contrast(p.at(fmt::format("p{}", k)), p.at(ground)), 3) << k << ground;
      for (int k = 1; k <= 5; ++k)
        EXPECT_GE(contrast(p.at(fmt::format("e{}", k)), p.at(ground)), 3) << k << ground;
    }
  }
}

TEST(PageStyle, EightColoursAreToldApartByEveryEye) {
  for (const Palette& p : {light(), dark()}) {
    for (std::size_t eye = 0; eye < eyes.size(); ++eye) {
      for (int i = 0; i < 8; ++i)
        for (int j = 0; j < i; ++j)
          EXPECT_GE(difference(seen(eyes[eye], p.at(fmt::format("p{}", i))),
                               seen(eyes[eye], p.at(fmt::format("p{}", j)))),
                    0.08)
              << "p" << i << " and p" << j << ", eye " << eye;
    }
  }
}

TEST(PageStyle, WarmthGrowsInEvenSteps) {
  for (const Palette& p : {light(), dark()}) {
    for (int k = 1; k < 5; ++k) {
      const Colour a = p.at(fmt::format("w{}", k));
      const Colour b = p.at(fmt::format("w{}", k + 1));
      EXPECT_GE(difference(a, b), 0.06) << k;
      EXPECT_GT(contrast(b, p.at("card")), contrast(a, p.at("card"))) << k;
    }
  }
}

/// Letters of figures are enlarged on narrow pages. The edge of a picture once cut their names.
TEST(PageStyle, NarrowPagesCutNoNames) {
  const std::size_t from = page_rules.find("@media screen and (max-width: 560px)");
  ASSERT_NE(from, page_rules.npos);
  const std::string_view narrow =
      page_rules.substr(from, page_rules.find("@media", from + 1) - from);
  EXPECT_NE(narrow.find(".picture svg text { font-size: 17px; }"), narrow.npos);
  EXPECT_NE(narrow.find(".picture svg { overflow: visible; }"), narrow.npos);
  // A picture that scrolls leaves room for names beyond its edges.
  EXPECT_NE(narrow.find(".picture { margin: 0 -10px; padding: 0 10px; }"), narrow.npos);
}

}  // namespace
}  // namespace gv
