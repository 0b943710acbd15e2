#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The control of arrows.py: each way to break the order of the rooms, made in a copy of the sources, is reported."""
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def append(path, text):
    path.write_text(path.read_text() + text)


def replace(path, old, new):
    assert old in path.read_text(), f"{path}: {old}"
    path.write_text(path.read_text().replace(old, new))


BREAKS = {
    "base is not allowed to include client": (
        lambda tree: append(tree / "src/base/units.c", '#include "client/opts.h"\n'),
        "src/base/units.c: client/opts.h: client is not below base"),
    "an include counts however it is written": (
        lambda tree: append(tree / "src/base/units.c", '# include <server/opts.h>\n'),
        "src/base/units.c: server/opts.h: server is not below base"),
    "a header counts like a source": (
        lambda tree: append(tree / "include/protocol/query.h", '#include "base/units.h"\n'),
        "include/protocol/query.h: base/units.h: base is not below protocol"),
    "a unit test includes nothing above its room": (
        lambda tree: append(tree / "tests/unit/base/test_units.c", '#include "measure/hist.h"\n'),
        "tests/unit/base/test_units.c: measure/hist.h: measure is not below base"),
    "only tests include headers of the tests": (
        lambda tree: append(tree / "src/base/units.c", '#include "print_steps.h"\n'),
        "src/base/units.c: print_steps.h: no such header in a room"),
    "client and server do not know each other": (
        lambda tree: append(tree / "src/client/opts.c", '#include "server/opts.h"\n'),
        "src/client/opts.c: server/opts.h: server is not below client"),
    "a room is not linked to one above it": (
        lambda tree: replace(tree / "src/CMakeLists.txt", "add_room(config BELOW base", "add_room(config BELOW base net"),
        "src/CMakeLists.txt: config: net is not below it"),
    "an arrow nobody needs is no arrow": (
        lambda tree: replace(tree / "src/CMakeLists.txt", "add_room(workload BELOW base", "add_room(workload BELOW base config"),
        "src/CMakeLists.txt: workload: includes nothing of config"),
    "the page lists every arrow": (
        lambda tree: replace(tree / "docs/ARCHITECTURE.md", "| `base` `protocol` |", "| `base` |"),
        "docs/ARCHITECTURE.md: the table of rooms"),
}


def copy_sources(tree):
    for folder in ("src", "include", "tests/unit"):
        shutil.copytree(ROOT / folder, tree / folder)
    (tree / "docs").mkdir()
    shutil.copy(ROOT / "docs/ARCHITECTURE.md", tree / "docs")


def lint(tree):
    return subprocess.run([sys.executable, ROOT / "tests/lint/arrows.py", tree], capture_output=True, text=True)


def check_all(tree):
    """Returns how many checks failed. First the cycle: other ways make further ones, of which it reports the first."""
    failed = 0
    if lint(tree).returncode != 0:
        failed += 1
        print("the sources as they are: not accepted")
    append(tree / "src/measure/hist.c", '#include "measure/hgrm.h"\n')
    done = lint(tree)
    if done.returncode != 1 or done.stdout != "include cycle: measure/hgrm measure/hist\n":
        failed += 1
        print(f"two files of a room include each other: exit code {done.returncode}: {done.stdout}{done.stderr}")
    for make, _ in BREAKS.values():
        make(tree)
    done = lint(tree)
    for name, (_, expected) in BREAKS.items():
        if done.returncode != 1 or expected not in done.stdout:
            failed += 1
            print(f"{name}: exit code {done.returncode}, no '{expected}' in: {done.stdout}{done.stderr}")
    return failed


def main():
    with tempfile.TemporaryDirectory() as directory:
        copy_sources(Path(directory))
        failed = check_all(Path(directory))
    print(f"{len(BREAKS) + 2 - failed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
