#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hand-made bugs, each of which the simulation has to find.

    mutations.py list                     NAME FILE, a line each
    mutations.py make NAME SOURCE OUTPUT  the file with the bug
    mutations.py check SOURCE [BUILD]     whether each can still be made; with BUILD, whether it compiles
    mutations.py run BUILD [NAME...]      builds and runs each; exit 1 if one is not found
"""

import json
import os
import re
import shlex
import subprocess
import sys
import time

sys.dont_write_bytecode = True

from mutations_classes import MUTATIONS_OF_CLASSES  # noqa: E402
from mutations_client import MUTATIONS  # noqa: E402

MINUTES = 5


def mutated(mutations, name, source):
    file, old, new = mutations[name]
    with open(f"{source}/{file}", encoding="utf-8") as f:
        text = f.read()
    if text.count(old) != 1:
        sys.exit(f"{name}: {file} has {text.count(old)} times what it replaces, not once")
    return text.replace(old, new)


def make(mutations, name, source, output):
    with open(output, "w", encoding="utf-8") as f:
        f.write(mutated(mutations, name, source))


def compiles(file, text, commands, says_why=True):
    """Whether the compiler takes the text for that of the file, without a warning."""
    command = shlex.split(commands[os.path.realpath(file)])
    command = command[:command.index("-o")] + ["-fsyntax-only", "-x", "c", "-iquote", os.path.dirname(file), "-"]
    said = subprocess.run(command, input=text, capture_output=True, text=True)
    if says_why:
        sys.stderr.write(said.stderr)
    return said.returncode == 0


def combined(mutations, source):
    """[file, names, text]: each file with as many bugs at once as do not overlap."""
    found = []
    for name, (file, old, new) in mutations.items():
        alone = mutated(mutations, name, source)
        for each in found:
            if each[0] == file and each[2].count(old) == 1:
                each[1].append(name)
                each[2] = each[2].replace(old, new)
                break
        else:
            found.append([file, [name], alone])
    return found


def check(mutations, source, build=None):
    commands = {}
    if build:
        with open(f"{build}/compile_commands.json", encoding="utf-8") as f:
            commands = {os.path.realpath(entry["file"]): entry["command"] for entry in json.load(f)}
        first = f"{source}/{next(iter(mutations.values()))[0]}"
        if compiles(first, "#error", commands, says_why=False):  # the control
            return "what cannot compile seems to"
    broken = []
    for file, names, text in combined(mutations, source):
        if build and not compiles(f"{source}/{file}", text, commands, says_why=False):
            broken += [name for name in names if not compiles(f"{source}/{file}", mutated(mutations, name, source), commands)]
    return f"do not compile: {', '.join(broken)}" if broken else 0


def run(mutations, program, build, names):
    """A rare bug may need its line in regressions: at random it takes 90,000 scenarios."""
    regressions = os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "regressions")
    missed = []
    slowest = (0, "none")
    for name in names or mutations:
        target = f"{program}_{name}"
        subprocess.run(["cmake", "--build", build, "--target", target], check=True, stdout=subprocess.PIPE)
        begin = time.monotonic()
        for scenarios in ["--replay", regressions], ["--minutes", str(MINUTES), "--no-shrink"]:
            said = subprocess.run([f"{build}/tests/sim/{target}", *scenarios], capture_output=True, text=True)
            if said.returncode == 1:
                break
        seconds = time.monotonic() - begin
        law = re.search(r"VIOLATION at \d+ ns: (.*)|Assertion `(.*)' failed", said.stderr)
        seed = re.search(r"FAILED: (seed=\d+)", said.stdout)
        found = said.returncode == 1
        print(f"{name}: {'found' if found else 'MISSED'} after {seconds:.1f} s"
              + (f", {seed.group(1)}: {law.group(1) or law.group(2) if law else 'crash'}" if found and seed else ""), flush=True)
        if found:
            slowest = max(slowest, (seconds, name))
        else:
            missed.append(name)
    print(f"{len(names or mutations) - len(missed)} found, {len(missed)} missed; the slowest: {slowest[1]} after {slowest[0]:.1f} s")
    return 1 if missed else 0


def main(mutations, program):
    if sys.argv[1:] == ["list"]:
        for name, (file, _, _) in mutations.items():
            print(name, file)
    elif sys.argv[1:2] == ["check"] and len(sys.argv) in (3, 4):
        sys.exit(check(mutations, *sys.argv[2:]))
    elif sys.argv[1:2] == ["make"] and len(sys.argv) == 5:
        make(mutations, *sys.argv[2:])
    elif sys.argv[1:2] == ["run"] and len(sys.argv) > 2:
        sys.exit(run(mutations, program, sys.argv[2], sys.argv[3:]))
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main({**MUTATIONS, **MUTATIONS_OF_CLASSES}, "sim")
