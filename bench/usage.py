# SPDX-License-Identifier: MIT
"""How the programs of bench/ parse their arguments: --help prints the docstring of the program, and a wrong argument is refused in
one line, with exit code 2, before anything is measured."""

import argparse
import math
import os
import re
import sys
from fractions import Fraction

MULTIPLES = {"k": 1000, "M": 1000000}


class Parser(argparse.ArgumentParser):
    def __init__(self, about):
        super().__init__(prog=f"bench/{os.path.basename(sys.argv[0])}", description=about,
                         formatter_class=argparse.RawDescriptionHelpFormatter)

    def error(self, message):
        self.exit(2, f"{self.prog}: {message}\n")


# --- types of arguments ---

def refuse(text, expected):
    raise argparse.ArgumentTypeError(f"invalid value '{text}': expected {expected}")


def whole(least=1, most=None):
    def checked(text):
        if not re.fullmatch(r"\d{1,18}", text, re.ASCII) or int(text) < least or (most is not None and int(text) > most):
            refuse(text, f"a whole number from {least}" + (" on" if most is None else f" to {most}"))
        return int(text)
    return checked


def parse_count(text):
    """In the notation of the programs' options: 10k, 1.5M. Returns None if it is not a count."""
    if not re.fullmatch(r"\d{1,18}|\d{1,9}(\.\d{1,9})?[kM]", text, re.ASCII):
        return None
    n = Fraction(text.rstrip("kM")) * MULTIPLES.get(text[-1], 1)
    return int(n) if n.denominator == 1 else None


def count(least=1):
    def checked(text):
        n = parse_count(text)
        if n is None or n < least:
            refuse(text, f"a number from {least} on, such as 500, 10k or 1.5M")
        return n
    return checked


def counts(text):
    """A list of counts, which is returned as it is."""
    for each in text.split(","):
        count()(each)
    return text


def number(least):
    def checked(text):
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not least <= value < math.inf:
            refuse(text, f"a number from {least} on")
        return value
    return checked


def names(known):
    """A list of these names."""
    def checked(text):
        for name in text.split(","):
            if name not in known:
                refuse(name, ", ".join(known))
        return text.split(",")
    return checked


# --- programs with one argument ---

def runs(about, default):
    """How often to repeat what is measured."""
    parser = Parser(about)
    parser.add_argument("runs", nargs="?", type=whole(), default=default, metavar="RUNS")
    return parser.parse_args().runs
