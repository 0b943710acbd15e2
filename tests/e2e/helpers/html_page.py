# SPDX-License-Identifier: MIT
"""Pages of tcpreport html: their elements, what they must not contain, and their pictures."""

import functools
import html.parser
import itertools

from helpers.faults import *
from helpers.reports import *

VOID = {"meta", "br", "hr", "img", "input", "link"}
# what the page is made of; anything else came from outside
ELEMENTS = {"html", "head", "meta", "title", "style", "body", "header", "main", "section", "h1", "h2", "p", "strong", "span", "ul", "li",
            "dl", "div", "dt", "dd", "table", "caption", "thead", "tbody", "tr", "th", "td", "pre", "details", "summary",
            "figure", "figcaption", "svg", "g", "path", "text", "tspan", "image", "rect", "polygon", "circle"}
# a part of the caption of each picture: the text along its axes
PICTURES = {"Latency by percentile": ("percentile", "time"),
            "Response time over time": ("time since the start of the log, s", "response time"),
            "sent and answered per second": ("time since the start of the log, s", "rate, queries/s"),
            "Connect ramp": ("time since connecting began, s", "connections established")}
MOST_BYTES = 300_000


class Page(html.parser.HTMLParser):
    """The elements of a page and their text; strict: `errors` lists what is not well-formed."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.elements, self.errors, self.ids = [], [], [], []
        self.feed(text)
        self.close()
        self.errors += [f"<{name}> is never closed" for name, *_ in self.open]

    def handle_starttag(self, name, attributes):
        element = (name, dict(attributes), [])
        self.elements.append(element)
        self.ids += [value for key, value in attributes if key == "id"]
        if len(element[1]) < len(attributes):
            self.errors.append(f"<{name}> has an attribute twice")
        if name not in VOID:
            self.open.append(element)

    def handle_startendtag(self, name, attributes):
        self.handle_starttag(name, attributes)
        if name not in VOID:
            self.open.pop()

    def handle_endtag(self, name):
        if not self.open or self.open.pop()[0] != name:
            self.errors.append(f"</{name}> closes nothing")

    def handle_data(self, data):
        for element in self.open:
            element[2].append(data)

    def texts(self, *names):
        return ["".join(parts) for name, _, parts in self.elements if name in names]

    def text(self):
        return "".join(self.texts("html"))


def problems(text):
    """Lists what a page must not contain: bad nesting, foreign elements, scripts, references to anything outside."""
    page = Page(text)
    found = list(page.errors)
    found += [f"id {i} twice" for i in set(page.ids) if page.ids.count(i) > 1]
    for name, attributes, _ in page.elements:
        if name not in ELEMENTS:
            found.append(f"<{name}>")
        for key, value in attributes.items():
            if key.startswith("on") or (key in ("src", "href", "action", "srcset", "data", "background")):
                found.append(f"<{name} {key}={value}>")
            if key == "xlink:href" and not value.startswith("data:image/png;base64,"):
                found.append(f"<{name} {key}={value}>")
            if key == "style" and "url(" in value:
                found.append(f"<{name} style={value}>")
    found += [f"{word} in the style" for style in page.texts("style") for word in ("url(", "@import", "http") if word in style]
    for needed in ("title", "h1", "header", "main"):
        if not any(name == needed for name, *_ in page.elements):
            found.append(f"no <{needed}>")
    for name, attributes, _ in page.elements:
        if name == "th" and attributes.get("scope") not in ("col", "row"):
            found.append("a table header without scope")
        if "scroll" in attributes.get("class", "") and not (attributes.get("tabindex") == "0" and attributes.get("aria-label")):
            found.append("a table that no key can scroll")
        if name == "svg" and not attributes.get("aria-label"):
            found.append("a picture without a label")
    return found


@functools.cache
def two_runs():
    """The directory of the files of two instances that ran side by side. Read, never changed."""
    directory = temp_directory()
    two_runs_of_connections(directory)
    return directory


def files(i):
    return [f"{two_runs()}/{i}.{ending}" for ending in ("json", "hlog", "csv")]


copies = itertools.count()


def copy_of_run(name, **changes):
    """A copy of the run with another start time, so that it counts as a different run."""
    path = temp_path(name)
    shutil.copy(files(0)[0], path)
    change(path, **{"started": f"2026-01-31T10:00:00.{next(copies):03}Z", **changes})
    return path


def page_of(*arguments, earlier=()):
    """The text of the page, which has none of the problems."""
    path = temp_path("page.html")
    r = report("html", "-o", path, *arguments, *(["--", *earlier] if earlier else []))
    check_equal((r.stdout, r.stderr), ("", ""), "words")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    check_equal(problems(text), [], "problems")
    check(len(text) < MOST_BYTES, f"{len(text)} bytes")
    return text


def rows_of(text, caption):
    """{first cell: the others} of the table with this caption."""
    table, = (t for t in text.split("<table>")[1:] if Page(t.split("</table>")[0]).texts("caption")[0] == caption)
    rows = [Page(row.split("</tr>")[0]).texts("th", "td") for row in table.split("</table>")[0].split("<tr>")[1:]]
    return {row[0]: row[1:] for row in rows}


def pictures(text):
    """{caption: its text}."""
    found = {}
    for figure in text.split("<figure>")[1:]:
        page = Page(figure.split("</figure>")[0])
        found[page.texts("figcaption")[0]] = [words.strip() for words in page.texts("text")]
    return found


def check_axes(text, wanted):
    """The pictures of the page are these."""
    drawn = pictures(text)
    check_equal(len(drawn), len(wanted), f"pictures: {list(drawn)}")
    for part in wanted:
        words, = (words for caption, words in drawn.items() if part in caption)
        for axis in wanted[part]:
            check(axis in words, f"axis {axis!r} in {words}")
