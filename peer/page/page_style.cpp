#include "peer/page/page_style.h"

namespace gv {

const std::string_view page_style = R"(
:root { color-scheme: light dark; --page: #fcfcfb; --card: #ffffff; --ink: #1a1a18; --soft: #62615b;
  --line: #d9d8d2; --faint: #ecebe6; --gap: #2a78d61a; --p0: #2a78d6; --p1: #c8501e; --p2: #12875e;
  --p3: #a8760a; --p4: #6a4fc4; --p5: #d23f6f; --p6: #4f7d1c; --p7: #77706a; }
@media screen and (prefers-color-scheme: dark) {
  :root { --page: #191918; --card: #222220; --ink: #f2f1ed; --soft: #b3b1a8; --line: #43423e;
    --faint: #31302d; --gap: #4d95ec26; --p0: #5a9ff0; --p1: #f0824f; --p2: #35b98a; --p3: #d9a53a;
    --p4: #a18df2; --p5: #f0709a; --p6: #8fbf55; --p7: #aaa49c; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 28px 24px 48px; max-width: 1120px; background: var(--page);
  color: var(--ink); font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
h1 { font-size: 25px; line-height: 1.25; margin: 0 0 4px; }
h2 { font-size: 18px; margin: 38px 0 4px; }
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
svg text { fill: var(--ink); font-size: 12px; }
svg .tick { fill: var(--soft); font-size: 11.5px; }
svg .title { fill: var(--soft); font-size: 12.5px; }
svg .name { font-weight: 600; }
svg .id { fill: var(--card); font-size: 9.5px; font-weight: 700; }
.grid { stroke: var(--faint); }
.axis { stroke: var(--line); }
.mark { stroke: var(--soft); stroke-dasharray: 2 4; }
.edge { stroke: var(--soft); stroke-opacity: .55; stroke-width: 1.1; fill: none; }
.head { fill: var(--soft); }
.node { fill: var(--c); stroke: var(--card); }
.gap { fill: var(--gap); }
.bar { stroke: var(--c); stroke-width: 2.4; fill: none; }
.curve { stroke: var(--c); stroke-width: 2.2; stroke-dasharray: var(--d, none); fill: none;
  stroke-linejoin: round; }
.twin { stroke-dasharray: 9 9; }
.target { fill: none; stroke: var(--c); stroke-width: 2; }
.s0, .s8, .s16 { --c: var(--p0); } .s1, .s9, .s17 { --c: var(--p1); }
.s2, .s10, .s18 { --c: var(--p2); } .s3, .s11, .s19 { --c: var(--p3); }
.s4, .s12, .s20 { --c: var(--p4); } .s5, .s13, .s21 { --c: var(--p5); }
.s6, .s14, .s22 { --c: var(--p6); } .s7, .s15, .s23 { --c: var(--p7); }
.s8, .s9, .s10, .s11, .s12, .s13, .s14, .s15 { --d: 7 4; }
.s16, .s17, .s18, .s19, .s20, .s21, .s22, .s23 { --d: 2 3; }
@media print { :root { --page: #ffffff; } .note { break-after: avoid; }
  body { max-width: none; padding: 0; font-size: 11pt; }
  * { -webkit-print-color-adjust: exact; print-color-adjust: exact; } .scroll { overflow: visible; }
  table { font-size: 8pt; } th, td { padding: 3px 4px; } h2 { break-after: avoid; } }
)";

}  // namespace gv
