#include "peer/show/page/page_style.h"

namespace gv {

const std::string_view page_palette = R"(
:root { color-scheme: light dark; --page: #fcfcfb; --card: #ffffff; --ink: #1a1a18; --soft: #62615b;
  --line: #d9d8d2; --faint: #ecebe6; --gap: #2a78d61a; --p0: #2a58d0; --p1: #b44825; --p2: #1ba375;
  --p3: #682c82; --p4: #b38200; --p5: #e053bb; --p6: #244313; --p7: #78696f; --warn: #a03a12;
  --w1: #f8e3cd; --w2: #f0bb8a; --w3: #e28a4c; --w4: #bd5320; --w5: #7c2a0b;
  --e1: #8d8b84; --e2: #a8743f; --e3: #c4621f; --e4: #b3400f; --e5: #7c2a0b; }
@media screen and (prefers-color-scheme: dark) {
  :root { --page: #191918; --card: #222220; --ink: #f2f1ed; --soft: #b3b1a8; --line: #43423e;
    --faint: #31302d; --gap: #4d95ec26; --p0: #5982ff; --p1: #dc501f; --p2: #29d4a2; --p3: #8f5fca;
    --p4: #cabf35; --p5: #f089e1; --p6: #82ac62; --p7: #b38fa1; --warn: #ffb38a;
    --w1: #553a25; --w2: #7d4e28; --w3: #ad672b; --w4: #e08a3e; --w5: #ffd0a0;
    --e1: #85837b; --e2: #a8784a; --e3: #cf8038; --e4: #f29a4a; --e5: #ffd0a0; }
}
)";

const std::string_view figure_style = R"(svg text { fill: var(--ink); font-size: 12px; }
svg .tick { fill: var(--soft); font-size: 11.5px; }
svg .title { fill: var(--soft); font-size: 12.5px; }
svg .name { font-weight: 600; }
svg .id { font-size: 9.5px; font-weight: 700; }
.grid { stroke: var(--faint); }
.axis { stroke: var(--line); }
.mark { stroke: var(--soft); stroke-dasharray: 2 4; }
.edge { stroke: var(--soft); stroke-opacity: .55; stroke-width: 1.1; fill: none; }
.head { fill: var(--soft); }
.node { fill: var(--c); stroke: var(--card); }
.named { fill: var(--card); stroke: var(--c); stroke-width: 2.2; }
.gap { fill: var(--gap); }
.bar { stroke: var(--c); stroke-width: 2.4; fill: none; }
.curve { stroke: var(--c); stroke-width: 2.2; stroke-dasharray: var(--d, none); fill: none;
  stroke-linejoin: round; }
.twin { stroke-dasharray: 9 9; }
.target { fill: none; stroke: var(--c); stroke-width: 2; }
.hit { fill: none; stroke: transparent; stroke-width: 11; pointer-events: stroke; }
.band { fill: var(--c); fill-opacity: .15; }
.predicted { fill: none; stroke: var(--c); stroke-width: 1.5; stroke-dasharray: 2 4; }
.dot { fill: var(--c); stroke: var(--card); stroke-width: 1.2; }
.leader { stroke: var(--c, var(--soft)); stroke-width: .8; stroke-opacity: .6; }
.halo { paint-order: stroke; stroke: var(--card); stroke-width: 3.5px; stroke-linejoin: round; }
.fill { fill: var(--c); }
.hatch { stroke: var(--p4); stroke-width: 1.3; fill: none; }
.hidden { fill: transparent; }
.round { stroke: var(--ink); stroke-width: 1; stroke-opacity: .55; fill: none; }
.critical { stroke: var(--ink); stroke-width: 2; fill: none; stroke-linejoin: round; }
.around { stroke: var(--card); stroke-width: 5; fill: none; stroke-linejoin: round; }
.names { pointer-events: none; }
.wait { fill: none; stroke-linecap: round; }
.e1 { stroke: var(--e1); } .e2 { stroke: var(--e2); } .e3 { stroke: var(--e3); }
.e4 { stroke: var(--e4); } .e5 { stroke: var(--e5); }
.cell { stroke: var(--card); stroke-width: .6; }
.w0 { fill: var(--faint); } .w1 { fill: var(--w1); } .w2 { fill: var(--w2); }
.w3 { fill: var(--w3); } .w4 { fill: var(--w4); } .w5 { fill: var(--w5); }
svg .warn { fill: var(--warn); font-weight: 600; }
.missed { stroke: var(--c); stroke-width: 2; fill: none; }
.edge-of-range { fill: var(--warn); fill-opacity: .14; }
.one-to-one { stroke: var(--soft); }
.stem { stroke: var(--c); stroke-width: 2; }
.one { transition: opacity .12s; }
.set:hover .one:not(:hover) { opacity: .18; }
.t0 { --c: var(--p0); } .t1 { --c: var(--p2); } .t2 { --c: var(--p3); } .t3 { --c: var(--p1); }
.t4 { --c: var(--p4); } .t5 { --c: var(--p5); } .t6 { --c: var(--p6); } .t7 { --c: var(--p7); }
.s0, .s8, .s16 { --c: var(--p0); } .s1, .s9, .s17 { --c: var(--p1); }
.s2, .s10, .s18 { --c: var(--p2); } .s3, .s11, .s19 { --c: var(--p3); }
.s4, .s12, .s20 { --c: var(--p4); } .s5, .s13, .s21 { --c: var(--p5); }
.s6, .s14, .s22 { --c: var(--p6); } .s7, .s15, .s23 { --c: var(--p7); }
.s8, .s9, .s10, .s11, .s12, .s13, .s14, .s15 { --d: 7 4; }
.s16, .s17, .s18, .s19, .s20, .s21, .s22, .s23 { --d: 2 3; }
)";

const std::string_view page_rules = R"(* { box-sizing: border-box; }
body { margin: 0 auto; padding: 28px 24px 48px; max-width: 1120px; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 25px; line-height: 1.25; margin: 0 0 4px; }
h2 { font-size: 18px; margin: 38px 0 4px; }
h3 { font-size: 15px; margin: 22px 0 0; }
p { margin: 0 0 12px; max-width: 78ch; }
.lead, .note { color: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 12px; font-variant-numeric: tabular-nums;
  margin-top: 18px; }
th, td { padding: 6px 6px; text-align: right; white-space: nowrap; }
th { color: var(--soft); font-weight: 600; border-bottom: 1px solid var(--line); }
td { border-bottom: 1px solid var(--faint); }
th:first-child, td:first-child { text-align: left; padding-left: 2px; }
td:first-child { white-space: normal; min-width: 130px; }
td.best { font-weight: 700; }
.key { display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin-right: 8px;
  border: 3px solid var(--c); background: var(--c); }
.key.s8, .key.s9, .key.s10, .key.s11, .key.s12, .key.s13, .key.s14, .key.s15 { background: none; }
.key.s16, .key.s17, .key.s18, .key.s19, .key.s20, .key.s21, .key.s22, .key.s23 {
  background: none; border-radius: 50%; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(235px, 1fr)); gap: 16px;
  margin-top: 14px; }
.card { margin: 0; padding: 12px 14px 8px; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; break-inside: avoid; }
.card figcaption { font-weight: 600; overflow-wrap: anywhere; }
.card small { display: block; color: var(--soft); font-weight: 400; }
figure.wide { margin: 12px 0 0; padding: 12px 8px 4px; background: var(--card);
  border: 1px solid var(--line); border-radius: 8px; break-inside: avoid; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 22px; list-style: none; margin: 12px 0 0;
  padding: 0; font-size: 13px; }
.legend svg { width: 34px; height: 10px; margin-right: 8px; display: inline-block; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 6px 18px; margin: 12px 0 0;
  font-size: 14px; }
dt { font-weight: 600; }
dd { margin: 0; color: var(--soft); max-width: 82ch; }
svg { display: block; width: 100%; height: auto; }
.card svg { max-width: 270px; margin: 0 auto; }
figure.wide { overflow-x: auto; }
figure.wide svg { min-width: 640px; }
.missing { margin-top: 28px; }
.panels { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 440px), 1fr));
  gap: 16px; margin-top: 14px; align-items: start; }
figure.panel { margin: 0; padding: 14px 16px 10px; background: var(--card); min-width: 0;
  border: 1px solid var(--line); border-radius: 8px; break-inside: avoid; }
figure.panel.wide { grid-column: 1 / -1; overflow: visible; }
figure.panel.wide svg { min-width: 0; }
.panel figcaption { font-weight: 600; margin-bottom: 8px; overflow-wrap: anywhere; }
.panel small { display: block; color: var(--soft); font-weight: 400; font-size: 13px; }
.picture { overflow-x: auto; }
.picture svg { max-width: 560px; margin: 0 auto; }
.wide .picture svg { max-width: none; }
.panel .legend { margin: 0 0 8px; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 330px), 1fr));
  gap: 16px; align-items: center; }
.wide .pair svg { max-width: 400px; }
details { margin-top: 6px; color: var(--soft); font-size: 13px; }
summary { cursor: pointer; width: max-content; }
details table { color: var(--ink); margin-top: 8px; }
details .scroll { max-height: 420px; overflow: auto; }
pre { font-size: 12px; line-height: 1.45; overflow-x: auto; color: var(--ink); margin: 8px 0 0; }
.sentences { margin: 14px 0 0; padding: 0; list-style: none; max-width: 78ch; font-size: 16px; }
.sentences li { margin: 0 0 8px; }
.sentences small { display: block; color: var(--soft); font-size: 14px; line-height: 1.4;
  margin-top: 2px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px;
  margin: 18px 0 0; padding: 0; list-style: none; }
.tiles li { padding: 10px 14px; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; min-width: 0; overflow-wrap: anywhere; }
.tiles b { display: block; font-size: 21px; line-height: 1.3; font-weight: 650;
  font-variant-numeric: tabular-nums; }
.tiles span { color: var(--soft); font-size: 13px; }
table.words td, table.words th { text-align: left; white-space: normal; vertical-align: bottom;
  overflow-wrap: break-word; }
.picture .legend .swatch { width: 12px; height: 12px; margin: 0 8px 0 0; }
@media screen and (max-width: 560px) { dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 8px; } body { padding: 18px 10px 36px; } h1 { font-size: 21px; }
  figure.panel { padding: 12px 10px 8px; } .picture svg text { font-size: 17px; }
  .picture svg .tick { font-size: 16.5px; } .picture svg .id { font-size: 12px; }
  .picture { margin: 0 -10px; padding: 0 10px; } .picture svg { overflow: visible; }
  .picture svg .name { font-size: 13.5px; } .wide .picture > svg text { font-size: 14px; }
  figure.panel.wide .picture > svg { min-width: 720px; }
  .tiles { grid-template-columns: repeat(auto-fit, minmax(135px, 1fr)); } }
@media print { .panels { grid-template-columns: 1fr 1fr; } .tiles, .panel { break-inside: avoid; }
  .tiles { grid-template-columns: repeat(4, 1fr); } details:not([open]) { display: none; }
  :root { --page: #ffffff; } .note { break-after: avoid; }
  body { max-width: none; padding: 0; font-size: 11pt; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; } .scroll { overflow: visible; }
  table { font-size: 8pt; } th, td { padding: 3px 4px; } h2 { break-after: avoid; } }
)";

std::string page_style() {
  return std::string(page_palette) + std::string(figure_style) + std::string(page_rules);
}

}  // namespace gv
