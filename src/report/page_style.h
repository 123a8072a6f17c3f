#pragma once

#include <string_view>

namespace jeffreys::report {

// How a page looks: one column of text, beside it the contents where there is room; light and dark;
// pictures stay on white, since they are drawn for paper.
inline constexpr std::string_view kPageStyle = R"css(
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1c1e21; --soft: #5b626b; --line: #d9dde2; --shade: #f4f6f8;
  --link: #0b5cad; --good: #d8f0dd; --mixed: #fbeecb; --bad: #fadbd8; --note: #0b5cad;
  --warning: #a85b00;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16181b; --ink: #e4e6e9; --soft: #a2a9b2; --line: #3a3f46; --shade: #212429;
    --link: #7db7f5; --good: #1d4a2a; --mixed: #514113; --bad: #5c2723; --note: #7db7f5;
    --warning: #f0b354;
  }
}
* { box-sizing: border-box; }
html { scroll-padding-top: 1rem; -webkit-text-size-adjust: 100%; }
body {
  margin: 0 auto; padding: 1rem; max-width: 62rem; background: var(--paper); color: var(--ink);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif;
  overflow-wrap: break-word;
}
h1, h2, h3, h4 { line-height: 1.25; margin: 2rem 0 0.6rem; }
h1 { font-size: 1.8rem; margin-top: 0.5rem; }
h2 { font-size: 1.4rem; padding-bottom: 0.25rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.12rem; }
h4 { font-size: 1rem; color: var(--soft); }
p { margin: 0.7rem 0; max-width: 46rem; white-space: pre-line; }
a { color: var(--link); }
.subtitle { color: var(--soft); margin-top: 0; }
nav { margin: 1rem 0; padding: 0.6rem 1rem; background: var(--shade); border-radius: 6px; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { margin: 0.2rem 0; }
nav a { text-decoration: none; }
nav a:hover { text-decoration: underline; }
.level3 { padding-left: 1rem; font-size: 0.9rem; }
.scroll { overflow-x: auto; max-width: 100%; }
.scroll:focus-visible { outline: 2px solid var(--link); }
table { border-collapse: collapse; margin: 0.4rem 0; font-size: 0.92rem; }
.caption { color: var(--soft); font-size: 0.92rem; margin-bottom: 0.2rem; break-after: avoid; }
th, td {
  padding: 0.32rem 0.7rem; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: baseline;
}
td:first-child:not(.number) { min-width: 9rem; }
thead th { border-bottom: 2px solid var(--line); }
tbody tr:hover { background: var(--shade); }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.good { background: var(--good); }
.mixed { background: var(--mixed); }
.bad { background: var(--bad); }
figure { margin: 1.2rem 0; }
figure .scroll {
  background: #ffffff; border: 1px solid var(--line); border-radius: 6px; padding: 0.5rem;
}
figure svg { display: block; margin: 0 auto; max-width: 100%; height: auto; color: #000000; }
figcaption { color: var(--soft); font-size: 0.92rem; margin-top: 0.4rem; max-width: 46rem; }
pre {
  background: var(--shade); padding: 0.7rem 1rem; border-radius: 6px; overflow-x: auto;
  font-size: 0.88rem;
}
.notice { padding: 0.6rem 1rem; background: var(--shade); border-left: 4px solid; }
.verdict { padding: 0.6rem 1rem; background: var(--shade); border-radius: 6px; }
.verdict.good { background: var(--good); }
.verdict.mixed { background: var(--mixed); }
.verdict.bad { background: var(--bad); }
details { margin: 0.9rem 0; border: 1px solid var(--line); border-radius: 6px; padding: 0 1rem; }
details > summary { cursor: pointer; margin: 0.5rem 0; color: var(--link); }
details > summary:focus-visible { outline: 2px solid var(--link); }
.note { border-left-color: var(--note); }
.warning { border-left-color: var(--warning); }
@media (max-width: 40rem) {
  th, td { padding: 0.3rem 0.45rem; }
  td:first-child:not(.number) { min-width: 7rem; }
}
@media (min-width: 80rem) {
  body {
    max-width: 82rem; display: grid; grid-template-columns: 15rem minmax(0, 1fr);
    column-gap: 3rem; align-content: start;
  }
  header { grid-column: 2; }
  nav {
    grid-column: 1; grid-row: 1 / span 2; position: sticky; top: 1rem; align-self: start;
    max-height: calc(100vh - 2rem); overflow-y: auto;
  }
  main { grid-column: 2; min-width: 0; }
}
@media print {
  :root {
    --paper: #ffffff; --ink: #000000; --soft: #444444; --line: #bbbbbb; --shade: #f4f6f8;
    --link: #0b5cad; --good: #d8f0dd; --mixed: #fbeecb; --bad: #fadbd8;
  }
  html { font-size: 9pt; }
  body { display: block; max-width: none; padding: 0; }
  th, td { padding: 0.2rem 0.4rem; }
  .number { white-space: normal; }
  nav { position: static; }
  .scroll { overflow: visible; }
  figure svg { min-width: 0 !important; }
  figure, tr, .notice, .verdict, pre { break-inside: avoid; }
  h1, h2, h3, h4 { break-after: avoid; }
  td, .notice, .verdict { print-color-adjust: exact; -webkit-print-color-adjust: exact; }
}
)css";

}  // namespace jeffreys::report
