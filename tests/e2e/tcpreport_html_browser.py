# SPDX-License-Identifier: MIT
"""The page of tcpreport html in a browser: on a phone and on a wide screen, light and dark."""

import functools

from helpers.browser import *
from helpers.reports import *

WIDTHS = (360, 1400)
# WCAG 2.1, AA
LEAST_CONTRAST = 4.5

# Texts that do not fit: those that leave the page, but for what the reader can scroll to; and those of pictures
# that leave their picture or lie on each other.
OVERFLOWS = """(() => {
    const found = [];
    const page = document.documentElement;
    if (page.scrollWidth > page.clientWidth)
        found.push(`the page is ${page.scrollWidth} wide, the window ${page.clientWidth}`);
    for (const e of document.querySelectorAll("h1,h2,p,li,dt,dd,pre,summary,figure,figcaption,caption")) {
        const box = e.getBoundingClientRect();
        if (box.width > 0 && !e.closest(".scroll") && (box.left < 0 || box.right > page.clientWidth || e.scrollWidth > e.clientWidth + 1))
            found.push(`${e.tagName}: ${e.textContent.slice(0, 60)}`);
    }
    for (const picture of document.querySelectorAll("svg")) {
        const boxes = [...picture.querySelectorAll("text")].map(text => [text.textContent, text.getBoundingClientRect()]);
        boxes.forEach(([a, x], i) => boxes.slice(i + 1).forEach(([b, y]) => {
            if (a.trim() && b.trim() && Math.min(x.right, y.right) - Math.max(x.left, y.left) > 0 &&
                Math.min(x.bottom, y.bottom) - Math.max(x.top, y.top) > 3)
                found.push(`picture: ${a} and ${b} overlap`);
        }));
    }
    for (const text of document.querySelectorAll("svg text")) {
        const box = text.getBoundingClientRect(), picture = text.closest("svg").getBoundingClientRect();
        if (box.left < picture.left - 1 || box.right > picture.right + 1 || box.top < picture.top - 1 || box.bottom > picture.bottom + 1)
            found.push(`picture: ${text.textContent}`);
    }
    return found;
})()"""

# Numbers on more lines than they have words, and tables that are cut off at the edge of the paper.
MISPRINTS = """(() => {
    const lines = cell => {
        const range = document.createRange();
        range.selectNodeContents(cell);
        return range.getClientRects().length;
    };
    const cells = [...document.querySelectorAll("td:not(.text)")];
    const tables = [...document.querySelectorAll("table")];
    return [...cells.filter(cell => lines(cell) > cell.textContent.split(" ").length),
            ...tables.filter(table => table.getBoundingClientRect().right > document.documentElement.clientWidth)]
        .map(e => e.textContent.slice(0, 60));
})()"""

# [text, contrast] of each kind of text with its background
CONTRASTS = """(() => {
    const canvas = document.createElement("canvas").getContext("2d");
    const known = {};
    const luminance = colour => known[colour] ??= measure(colour);
    const measure = colour => {
        canvas.fillStyle = colour;
        canvas.fillRect(0, 0, 1, 1);
        const parts = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(v => {
            v /= 255;
            return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
    };
    const paper = luminance(getComputedStyle(document.body).backgroundColor);
    return [...document.querySelectorAll("h1,h2,p,li,dt,dd,td,th,caption,figcaption,summary,strong,svg text")].map(e => {
        const style = getComputedStyle(e);
        const ink = luminance(e.closest("svg") ? style.fill : style.color);
        return [e.textContent.slice(0, 40), (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05)];
    });
})()"""


@functools.cache
def page():
    """A page with every section, and with words that are hard to fit."""
    directory = temp_directory()
    two_runs_of_connections(directory)
    for i in range(2):
        trials = [{"step": "double", "load": 10 ** k, "duration_s": 2, "class": "good" if k < 5 else "bad", "lost": k,
                   "reason": None if k < 5 else "p99<5ms", "p50_ns": 10 ** k, "p99_ns": 10 ** (k + 3)} for k in range(2, 7)]
        change(f"{directory}/{i}.json", target="a-long-name-without-any-end." * 4 + ":4242",
               explanations=["x" * 200], command=["tcpclient", "--qname", "y" * 200],
               diagnosis=[{"limit": "z" * 30, "connections": 10 ** 9, "evidence": "evidence " * 20, "remedy": "remedy " * 20}],
               connections={"outcomes": {"run/finished": 10 ** 12, "connect/refused": 45}})
    path = f"{directory}/page.html"
    change(f"{directory}/0.json", search={"find": "rate", "unit": "q/s", "slo": ["p99<5ms"], "status": "found", "capacity": 3e4,
                                          "lower": 1e4, "upper": 1e5, "limited_by": "p99<5ms", "trials": trials})
    report("html", "-o", path, *[f"{directory}/0.{ending}" for ending in ("json", "hlog", "csv")], "--",
           f"{directory}/1.json")
    return path


def each_view():
    """A browser that shows the page, for every width and scheme."""
    need_program("gnuplot")
    path = page()
    with Browser() as browser:
        for width in WIDTHS:
            for scheme in ("light", "dark"):
                browser.show(path, width, scheme)
                yield browser, f"{width} pixels, {scheme}", scheme


def test_page_fits_and_can_be_read():
    paper = {}
    for browser, view, scheme in each_view():
        check_equal(browser.evaluate("document.querySelectorAll('svg').length"), 5, "pictures")
        check_equal(browser.evaluate(OVERFLOWS), [], f"what does not fit at {view}")
        contrasts = browser.evaluate(CONTRASTS)
        check(len(contrasts) > 200, f"{len(contrasts)} texts")
        check_equal([c for c in contrasts if c[1] < LEAST_CONTRAST], [], f"too pale at {view}")
        paper[scheme] = browser.evaluate("getComputedStyle(document.body).backgroundColor")
        if "SCREENSHOTS" in os.environ:
            browser.screenshot(f"{os.environ['SCREENSHOTS']}/{view.replace(', ', '-').replace(' ', '-')}.png")
    check(paper["light"] != paper["dark"], f"the same paper: {paper}")


def test_printed_numbers_are_whole():
    """On A4, with the margins of Chromium. The control: as they would break if any character could begin a line."""
    need_program("gnuplot")
    path, spoiled = page(), temp_path("spoiled.html")
    write_text(spoiled, read_text(path).replace("</style>", "@media print{td{overflow-wrap:anywhere}}</style>"))
    with Browser() as browser:
        for shown, is_spoiled in ((path, False), (spoiled, True)):
            browser.show(shown, 717, "light")
            browser.call("Emulation.setEmulatedMedia", media="print")
            check_equal(browser.evaluate(MISPRINTS) != [], is_spoiled, f"misprints {browser.evaluate(MISPRINTS)}")


def test_page_requests_nothing_and_logs_no_error():
    for browser, view, _ in each_view():
        outside = [url for url in browser.requests if not url.startswith(("file://" + page(), "data:image/png;base64,"))]
        check_equal(outside, [], f"requests at {view}")
        check(any(url.startswith("file://") for url in browser.requests), "the page is requested")
        check_equal(browser.complaints, [], f"messages at {view}")


def test_misfits_and_requests_are_noticed():
    """The controls: the same page, spoiled."""
    need_program("gnuplot")
    path = temp_path("spoiled.html")
    with open(page(), encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(text.replace("</header>", f"<p style='white-space:nowrap;max-width:none;color:#999'>{'wide ' * 100}</p></header>")
                .replace("</svg>", "<text x='50' y='50'>first</text><text x='50' y='52'>second</text></svg>", 1)
                .replace("default-src 'none'", "default-src *").replace("</body>", "<img src='http://127.0.0.1:1/x'></body>"))
    with Browser() as browser:
        browser.show(path, 360, "light")
        overflows = browser.evaluate(OVERFLOWS)
        for words in ("the page is", "first and second overlap"):
            check(any(words in what for what in overflows), f"{words!r} in {overflows}")
        pale = [text for text, contrast in browser.evaluate(CONTRASTS) if contrast < LEAST_CONTRAST]
        check_equal(len(pale), 1, f"pale texts {pale}")
        check("http://127.0.0.1:1/x" in browser.requests, f"{browser.requests}")
        wait_for(lambda: browser.evaluate("1") and browser.complaints, "the complaint about a picture that is not there")


if __name__ == "__main__":
    main()
