# SPDX-License-Identifier: MIT
"""The measured blocks of docs/performance.md, and what README.md quotes from them. A block starts with a comment that names
its benchmark, and ends with its fence:

    <!-- scale -->
    `bench/scale` on 2026-01-31, commit ..., machine; how long it took:

    ```
    what it printed
    ```"""

import re
import textwrap

WIDTH = 140  # of the pages' prose
QUOTED = "N", "proven", "seconds", "conn/s", "us each", "client B", "server B", "teardown s"
QUOTE = re.compile(r"(?<=<!-- quoted from docs/performance.md -->\n).*?(?=<!-- end of the quotation -->\n)", re.S)
VALUE = re.compile(r"-|[-+]?[\d,.]+( %)?( \+ [\d.]+)?")


# --- blocks ---

def _pattern(name):
    """Group 1: the text about it, group 2: what it printed."""
    lines = r"((?:(?!```|<!--).*\n)*)```\n"
    return re.compile(rf"(?<=<!-- {re.escape(name)} -->\n){lines}{lines}")


def _found(text, name):
    """Raises ValueError unless the page has exactly one such block."""
    matches = list(_pattern(name).finditer(text))
    if len(matches) != 1:
        raise ValueError(f"the page has {len(matches)} blocks <!-- {name} -->")
    return matches[0]


def about(text, name):
    """The heading, in one line."""
    return " ".join(_found(text, name).group(1).split())


def block(text, name):
    """What the benchmark printed, as the page has it."""
    return _found(text, name).group(2)


def with_block(text, name, command, about, output):
    """The page with this block replaced."""
    found = _found(text, name)
    heading = textwrap.fill(f"`{command}` on {about}:", WIDTH, break_long_words=False, break_on_hyphens=False)
    new = f"{heading}\n\n```\n{output.strip(chr(10))}\n```\n"
    return text[:found.start()] + new + text[found.end():]


# --- the quotation ---

def table(text):
    """The rows of a table of bench/scale's kind as {column: value}: a line of right-aligned names, then lines of values. A
    column ends where its name ends; names contain single spaces and have two between them. Other lines are left out."""
    lines = [line for line in text.splitlines() if line.strip()]
    ends = [match.end() for match in re.finditer(r"\S+( \S+)*", lines[0])]
    names, *rows = [[line[begin:end].strip() for begin, end in zip([0, *ends], ends)] for line in lines]
    return [dict(zip(names, row)) for row in rows if all(map(VALUE.fullmatch, row))]


def quotation(page):
    """The part of the README that quotes the page: a table, and a sentence about its last row."""
    rows = table(block(page, "scale"))
    if not rows or not {*QUOTED, "kernel B"} <= rows[-1].keys():
        raise ValueError(f"the block of bench/scale has no rows, or not the columns {', '.join(QUOTED)}, kernel B")
    widths = [2 + max(len(text) for text in (name, *(row[name] for row in rows))) for name in QUOTED]
    lines = ["".join(f"{text:>{width}}" for text, width in zip(texts, widths))
             for texts in (QUOTED, *([row[name] for name in QUOTED] for row in rows))]
    last = {name: float(row.replace(",", "")) for name, row in rows[-1].items() if name in (*QUOTED, "kernel B")}
    return ("```\n" + "\n".join(lines) + "\n```\n\n"
            f"{rows[-1]['proven']} connections were open after {last['seconds']:.0f} s. The two ends of a connection take "
            f"{last['client B'] + last['server B']:.0f} bytes of user memory\n"
            f"and {last['kernel B'] / 1000:.1f} kB of kernel memory.\n")


def with_quote(readme, page):
    """The README with what it quotes replaced. Raises ValueError unless it has exactly one quotation."""
    readme, n = QUOTE.subn(lambda _: quotation(page), readme)
    if n != 1:
        raise ValueError(f"the README has {n} quotations of the page")
    return readme
