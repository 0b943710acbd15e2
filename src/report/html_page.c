/* SPDX-License-Identifier: MIT
 * html_page: see report/html_page.h. */
#include "report/html_page.h"

#include "report/html_text.h"

/* Colours have a contrast of at least 4.5 with their background (WCAG 2.1, AA). */
static const char style[] =
    ":root{color-scheme:light dark;--ink:#1b1d20;--soft:#595f69;--paper:#fff;--line:#d9dce1;"
    "--good:#1a6b2b;--doubt:#94480a;--bad:#b3261e}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e4e6ea;--soft:#a2a9b4;--paper:#15171a;"
    "--line:#363b43;--good:#7cc98a;--doubt:#e5a869;--bad:#f2938c}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:1.5rem 1rem 4rem;max-width:62rem;background:var(--paper);"
    "color:var(--ink);font:1rem/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif;"
    "font-variant-numeric:tabular-nums;overflow-wrap:anywhere}\n"
    "h1{font-size:1.5rem;line-height:1.25;margin:0}\n"
    "h2{font-size:1.15rem;margin:2.75rem 0 .5rem;padding-top:.6rem;border-top:1px solid "
    "var(--line)}\n"
    "p,ul{margin:.5rem 0;max-width:46rem}ul{padding-left:1.2rem}\n"
    ".soft,caption,figcaption,dt{color:var(--soft)}\n"
    ".verdict,.capacity{font-size:1.15rem;margin:.75rem 0}\n"
    ".valid{color:var(--good)}.suspect{color:var(--doubt)}.invalid,.worse{color:var(--bad)}\n"
    "dl.key{display:grid;grid-template-columns:repeat(auto-fill,minmax(8.5rem,1fr));gap:.75rem "
    "1.25rem;margin:1.25rem 0}\n"
    "dl.key div{border-top:1px solid var(--line);padding-top:.3rem}\n"
    "dt{font-size:.85rem}dd{margin:0;font-size:1.2rem}\n"
    ".scroll{overflow-x:auto;margin:1rem 0}\n"
    "table{border-collapse:collapse;font-size:.9rem;overflow-wrap:normal}\n"
    "caption{text-align:left;padding-bottom:.3rem}\n"
    "th,td{text-align:right;padding:.25rem .6rem;border-bottom:1px solid "
    "var(--line);vertical-align:top;white-space:nowrap}\n"
    "th:first-child{text-align:left;padding-left:0}\n"
    "th.text,td.text{text-align:left}td.text{white-space:normal;min-width:8rem}\n"
    "thead th{color:var(--soft);font-weight:600}tbody th{font-weight:400}\n"
    "pre,code{font:.85rem/1.45 ui-monospace,\"SF Mono\",Menlo,Consolas,monospace}\n"
    "pre{white-space:pre-wrap;margin:.75rem 0}\n"
    "pre.command{border-left:3px solid var(--line);padding-left:.75rem}\n"
    "pre.command span{display:inline-block}\n"
    "summary{cursor:pointer}\n"
    ".pair{display:flex;flex-wrap:wrap;column-gap:2.5rem}.pair>figure{flex:1 1 24rem}\n"
    "figure{margin:1rem 0;max-width:34rem;break-inside:avoid}figcaption{font-size:.9rem}\n"
    "svg{display:block;width:100%;height:auto;color:var(--ink)}\n"
    /* what gnuplot drew in black takes the page's colour */
    "svg [color=black]{color:inherit}svg [stroke=black],svg [stroke=\"rgb(  0,   0,   "
    "0)\"]{stroke:currentColor}"
    "svg [fill=black]{fill:currentColor}svg *{font-family:inherit}svg "
    "image{image-rendering:pixelated}\n"
    "svg [stroke=\"rgb(136, 136, 136)\"]{stroke:var(--line)}\n"
    "@media(max-width:30rem){table{font-size:.8rem}th,td{padding:.25rem .3rem}"
    "td.text{min-width:10rem}}\n"
    "@media(min-width:30rem){body{padding:2.5rem 2rem 4rem}h1{font-size:1.75rem}}\n"
    "@media print{:root{color-scheme:light;--ink:#000;--soft:#444;--paper:#fff;--line:#bbb;"
    "--good:#1a6b2b;--doubt:#94480a;--bad:#b3261e}body{max-width:none;padding:0;font-size:10pt}"
    "h2{break-after:avoid}tr{break-inside:avoid}.scroll{overflow:visible}"
    "th,td{white-space:normal;padding:.25rem .3rem}tbody th,td.text{overflow-wrap:anywhere}"
    "figure{max-width:14cm}details:not([open]){display:none}}\n";

void html_page_begin(FILE *out, const char *title)
{
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; img-src data:\">\n"
          "<meta name=\"referrer\" content=\"no-referrer\">\n<title>",
          out);
    html_text(out, title);
    fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", style);
}

void html_page_end(FILE *out)
{
    fputs("</body>\n</html>\n", out);
}
