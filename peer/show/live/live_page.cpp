#include "peer/show/live/live_page.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "generated/live_page.h"
#include "peer/record/report/screen.h"
#include "peer/show/page/page_style.h"
#include "peer/show/page/svg.h"
#include "peer/wire/seal/peer_keys.h"
#include "peer/wire/seal/tls_context.h"

namespace gv {
namespace {

std::string figure(std::string_view name, const std::string& value) {
  return fmt::format("<div><b>{}</b>{}</div>", svg::escape(value), name);
}

std::string percent(double share) {
  return fmt::format("{:.0f} %", 100 * share);
}

/// A bar of the shares of a peer's time.
std::string share_bar(const ActivitySeconds& seconds) {
  constexpr double width = 150;
  const double all = sum(seconds);
  if (!(all > 0)) return "";
  std::string bars;
  std::string label;
  double at = 0;
  for (std::size_t k = 0; k < activities; ++k) {
    const double length = width * seconds[k] / all;
    if (length < 0.05) continue;
    bars += svg::rect({at, 0}, length, 12, "fill " + state_style(k));
    label += fmt::format("{} {} ", activity_names[k], percent(seconds[k] / all));
    at += length;
  }
  return svg::image(width, 12, label, svg::group("", label, bars));
}

/// "3 (carl)" if the run has several hosts.
std::string id_text(const RunView& view, PeerId peer) {
  const std::vector<std::string>& hosts = view.title.hosts;
  return peer < hosts.size() ? fmt::format("{} ({})", peer, svg::escape(hosts[peer]))
                             : fmt::format("{}", peer);
}

std::string waits_for(const RunView& view, const PeerView& peer) {
  const auto longest = std::ranges::max_element(
      peer.state.waits, {}, [](const NeighborWait& w) { return w.late + w.wire; });
  if (longest == peer.state.waits.end()) return "-";
  return fmt::format("peer {}, {}", id_text(view, longest->peer),
                     seconds_text(longest->late + longest->wire));
}

std::string row(const RunView& view, const PeerView& peer, bool activities) {
  using Stage = PeerState::Stage;
  const PeerState& p = peer.state;
  const auto or_dash = [](const auto& value, const auto& text) {
    return value ? text(static_cast<double>(*value)) : std::string("-");
  };
  const std::string state = p.ending.empty() ? std::string(word_of(p.stage)) : p.ending;
  const bool gone = p.stage == Stage::lost || p.stage == Stage::restarting;
  std::string out = fmt::format(
      "<tr{}><td>{}</td><td>{}{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>"
      "<td>{}</td>",
      gone ? " class=\"gone\"" : "", id_text(view, p.id), svg::escape(state),
      p.restarts > 0 ? fmt::format(", restarted {}x", p.restarts) : "", p.round, peer.lag,
      or_dash(peer.cpu_share, percent), or_dash(peer.memory_bytes, bytes_text),
      or_dash(p.sent_bytes, bytes_text),
      or_dash(peer.out_rate, [](double rate) { return bytes_text(rate) + "/s"; }));
  if (activities)
    out += fmt::format("<td class=\"share\">{}</td><td>{}</td>",
                       p.activities ? share_bar(*p.activities) : "", waits_for(view, peer));
  return out + "</tr>\n";
}

/// Returns what the fleet waits for, each with a remedy if one is known.
std::string hold_ups_of(const RunView& view) {
  std::string out;
  for (const Culprit& culprit : worst_culprits(view)) {
    out += "<p class=\"hold\">" + svg::escape(text_of(culprit, view.title.hosts));
    const std::string help = help_for(culprit, !view.title.hosts.empty(), view.title.own_shares);
    if (!help.empty()) out += "<br/>help: " + svg::escape(help);
    out += "</p>\n";
  }
  return out;
}

/// Shows the figures of a fleet whose actors are peers of their own.
std::string actor_figures_of(const MetricsRow& row) {
  std::string out;
  if (row.actors) out += figure("actors alive", fmt::format("{:.0f}", *row.actors));
  if (row.memory) out += figure("transitions kept", fmt::format("{:.0f}", *row.memory));
  if (row.samples_per_insert)
    out += figure("samples a transition", fmt::format("{:.4g}", *row.samples_per_insert));
  return out;
}

constexpr double width = 430, tall = 290, left = 74, right = 24, top = 30, bottom = 52;

/// A line of a figure, with a gap for each row without a value.
struct Line {
  std::string_view name;
  std::function<std::optional<double>(const MetricsRow&)> value;
};

svg::Range range_of(const std::vector<MetricsRow>& curve, const std::vector<Line>& lines) {
  svg::Range range;
  for (const MetricsRow& row : curve)
    for (const Line& line : lines)
      if (const auto value = line.value(row)) range.take(*value);
  return range;
}

/// Logarithmic if the values are positive and span more than a factor of 20.
svg::Axis axis_of(svg::Range range) {
  using Scale = svg::Axis::Scale;
  if (range.spans(20)) return {Scale::logarithmic, range.low, range.high, tall - bottom, top};
  const double margin = range.high > range.low ? 0.04 * (range.high - range.low)
                                               : std::max(1e-3, 0.1 * std::abs(range.high));
  const double low = range.low >= 0 ? std::max(0.0, range.low - margin) : range.low - margin;
  return {Scale::linear, low, range.high + margin, tall - bottom, top};
}

std::string draw(const std::vector<MetricsRow>& curve,
                 const Line& line,
                 const svg::Axis& x,
                 const svg::Axis& y,
                 std::size_t k) {
  constexpr std::size_t most_named = 60;
  const std::size_t every = curve.size() / most_named + 1;
  std::vector<svg::Point> points;
  std::string named;
  for (std::size_t at = 0; at < curve.size(); ++at) {
    const auto value = line.value(curve[at]);
    if (!value || !std::isfinite(*value)) continue;
    points.push_back({x.at(static_cast<double>(curve[at].round)), y.at(*value)});
    if (at % every == 0 || at + 1 == curve.size())
      named +=
          svg::group("", fmt::format("{}, round {}: {:.4g}", line.name, curve[at].round, *value),
                     svg::circle(points.back(), 7, "hidden"));
  }
  if (points.empty()) return "";
  return svg::polyline(points, "curve " + svg::series(k)) +
         svg::circle(points.back(), 3, "node " + svg::series(k)) + named;
}

std::string key(const Line& line, const MetricsRow& last, std::size_t k) {
  const auto value = line.value(last);
  return fmt::format("<li>{}{}{}</li>", key_html(svg::series(k)), line.name,
                     value ? fmt::format(" {:.4g}", *value) : "");
}

std::string figure(const std::vector<MetricsRow>& curve,
                   std::string_view title,
                   const std::vector<Line>& lines) {
  const svg::Range range = range_of(curve, lines);
  if (range.empty()) return "";
  const double first = static_cast<double>(curve.front().round);
  const double last = static_cast<double>(curve.back().round);
  const bool from_zero = first == last || first < last / 4;
  const svg::Axis x(svg::Axis::Scale::linear, from_zero ? 0 : first, std::max(last, 1.0), left,
                    width - right);
  const svg::Axis y = axis_of(range);
  std::string content = svg::axes(x, y, "round", title);
  std::string legend;
  for (std::size_t k = 0; k < lines.size(); ++k) {
    content += draw(curve, lines[k], x, y, k);
    legend += key(lines[k], curve.back(), k);
  }
  return fmt::format("<figure class=\"card\">{}<ul class=\"legend\">{}</ul></figure>\n",
                     svg::image(width, tall, fmt::format("{} over rounds", title), content),
                     legend);
}

}  // namespace

std::string live_style() {
  return page_style() + std::string(live_css);
}

std::string live_head(const RunView& view) {
  std::string out;
  if (const auto over = view.part_over())
    out += fmt::format("<progress max=\"1\" value=\"{:.4f}\"></progress>", *over);
  out += "<div class=\"figures\">";
  out += figure("round", view.rounds ? fmt::format("{} / {}", view.round, *view.rounds)
                                     : fmt::format("{}", view.round));
  out += figure("rounds a second", fmt::format("{:.3g}", view.rate));
  const std::string set = view.latest && view.latest->validated ? "validation " : "";
  if (view.latest && view.latest->accuracy)
    out += figure(set + "accuracy, mean model", fmt::format("{:.4f}", *view.latest->accuracy));
  if (view.latest && view.latest->frames)
    out += figure("return, mean model", fmt::format("{:.4g}", -view.latest->loss));
  else if (view.latest)
    out += figure(set + "loss, mean model", fmt::format("{:.4g}", view.latest->loss));
  if (view.latest) out += actor_figures_of(*view.latest);
  out += figure("since the start", seconds_text(view.seconds));
  const bool trains = view.phase == FleetState::Phase::training;
  if (const auto left = view.seconds_left()) out += figure("left", seconds_text(*left));
  out += figure("peers", fmt::format("{} / {}", view.alive(), view.peers.size()));
  if (!trains) out += figure("state", std::string(word_of(view.phase)));
  return out + "</div>";
}

std::string live_peers(const RunView& view) {
  const bool activities = view.has_activities();
  std::string out = hold_ups_of(view);
  out +=
      "<div class=\"scroll\"><table><thead><tr><th>peer</th><th>state</th><th>round</th>"
      "<th>behind</th><th>CPU</th><th>memory</th><th>sent</th><th>out</th>";
  if (activities) out += "<th class=\"share\">where its time went</th><th>waited most for</th>";
  out += "</tr></thead>\n<tbody>\n";
  for (const PeerView& peer : view.peers) out += row(view, peer, activities);
  out += "</tbody></table></div>\n";
  return activities ? out + states_legend(false) : out;
}

std::string live_page(const RunView& view, const std::vector<MetricsRow>& curve) {
  const std::string body = fmt::format(
      "<div class=\"top\"><h1>{}</h1><span id=\"status\">as it was when this page was "
      "asked for</span></div>\n<p class=\"lead\">{} on {}; {}</p>\n"
      "<div id=\"head\">{}</div>\n<div id=\"figures\" class=\"cards curves\">{}</div>\n"
      "<h2>Peers</h2>\n<div id=\"peers\">{}</div>\n<script>{}</script>\n",
      svg::escape(view.title.name), svg::escape(view.title.method), svg::escape(view.title.graph),
      svg::escape(view.title.folder), live_head(view), live_figures(curve), live_peers(view),
      live_js);
  return page_around(view.title.name, body, live_style());
}

std::string live_page_policy() {
  return fmt::format(
      "Content-Security-Policy: default-src 'none'; script-src {}; style-src {}; connect-src "
      "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      csp_hash(live_js), csp_hash(live_style()));
}

std::string csp_hash(std::string_view inline_text) {
  std::string digest(static_cast<std::size_t>(EVP_MD_get_size(EVP_sha256())), '\0');
  openssl_must(EVP_Digest(inline_text.data(), inline_text.size(),
                          reinterpret_cast<unsigned char*>(digest.data()), nullptr, EVP_sha256(),
                          nullptr) == 1,
               "the hash of a page");
  return fmt::format("'sha256-{}'", base64(digest));
}

std::string live_figures(const std::vector<MetricsRow>& curve) {
  if (curve.empty()) return "<p class=\"note\">No evaluation yet.</p>\n";
  const std::vector<Line> loss{
      {"mean model", [](const MetricsRow& r) { return std::optional(r.loss); }},
      {"local models", [](const MetricsRow& r) { return std::optional(r.loss_local); }},
      {"training", [](const MetricsRow& r) { return r.train_loss; }}};
  const std::vector<Line> accuracy{
      {"mean model", [](const MetricsRow& r) { return r.accuracy; }},
      {"worst peer", [](const MetricsRow& r) { return r.accuracy_min; }},
      {"best peer", [](const MetricsRow& r) { return r.accuracy_max; }}};
  const std::vector<Line> consensus{
      {"mean squared distance to the mean model", [](const MetricsRow& r) {
         return r.consensus > 0 ? std::optional(r.consensus) : std::nullopt;
       }}};
  const std::vector<Line> returns{
      {"mean model", [](const MetricsRow& r) { return std::optional(-r.loss); }},
      {"local models", [](const MetricsRow& r) { return std::optional(-r.loss_local); }}};
  if (curve.back().frames)
    return figure(curve, "return", returns) + figure(curve, "consensus distance", consensus);
  const std::string set = set_of(curve.back());
  return figure(curve, curve.back().validated ? "validation loss" : "loss", loss) +
         figure(curve, set + " accuracy", accuracy) +
         figure(curve, "consensus distance", consensus);
}

}  // namespace gv
