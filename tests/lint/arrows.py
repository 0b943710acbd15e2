#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that includes point down.

src/CMakeLists.txt names the rooms from the bottom up and what lies below each.  A file may include headers of its own
room and of these; files (X.h and X.c count as one) must not include each other in a cycle; docs/ARCHITECTURE.md lists
the same rooms and arrows.  Prints each violation; exit code 1 when there is one.

    tests/lint/arrows.py [ROOT]
"""
import graphlib
import os
import re
import sys
from pathlib import Path

PROGRAMS = "."  # what lies in none of the rooms: the programs' main files and tests of several rooms


def read_rooms(root):
    """{room: [rooms below it]}, from the bottom up."""
    text = (root / "src/CMakeLists.txt").read_text()
    return {room: below.split() for room, below in re.findall(r"add_room\(([a-z_/]+)(?: BELOW((?:\s+[a-z_/]+)+))?", text)}


def read_table(root):
    """The same as docs/ARCHITECTURE.md has it: | `room` | what | rooms below it |"""
    rows = re.findall(r"^\| `([a-z_/]+)` \|[^|]*\|([^|]*)\|$", (root / "docs/ARCHITECTURE.md").read_text(), re.M)
    return {room: re.findall(r"`([a-z_/]+)`", below) for room, below in rows}


def read_includes(root):
    """[(file, its room, its part, header, the header's room, the header's part)]"""
    found = []
    for folder in ("src", "include", "tests/unit"):
        for path in sorted((root / folder).rglob("*.[ch]")):
            name = path.relative_to(root / folder)
            own = [path.parent] + [root / folder] * (folder == "tests/unit")  # steps of a room's tests, or of all
            for quote, header in re.findall(r'^\s*#\s*include\s*(["<])([^">]+)[">]', path.read_text(), re.M):
                is_ours = quote == '"' or (root / "include" / header).exists()
                if is_ours and not any(os.path.exists(f"{place}/{header}") for place in own):
                    found.append((path.relative_to(root), str(name.parent), str(name.with_suffix("")), header,
                                  str(Path(header).parent), str(Path(header).with_suffix(""))))
    return found


def find_cycle(arrows):
    """The parts of a cycle in {part: parts it includes}; empty: there is none."""
    try:
        graphlib.TopologicalSorter(arrows).prepare()
    except graphlib.CycleError as e:
        return sorted(set(e.args[1]))
    return []


def violations(root, rooms, includes):
    order = list(rooms)
    for room, below in rooms.items():
        yield from (f"src/CMakeLists.txt: {room}: {other} is not below it" for other in below
                    if other not in order[:order.index(room)])
    if read_table(root) != {room: sorted(below) for room, below in rooms.items()}:
        yield "docs/ARCHITECTURE.md: the table of rooms is not that of src/CMakeLists.txt"
    arrows, used = {}, set()
    for path, room, part, header, header_room, header_part in includes:
        if header_room not in rooms or not (root / "include" / header).exists():
            yield f"{path}: {header}: no such header in a room"
        elif room not in (PROGRAMS, header_room) and header_room not in rooms.get(room, []):
            yield f"{path}: {header}: {header_room} is not below {room}"
        used.add((room, header_room))
        if part != header_part and path.parts[0] != "tests":
            arrows.setdefault(part, set()).add(header_part)
            arrows.setdefault(header_part, set())
    for room, below in rooms.items():
        yield from (f"src/CMakeLists.txt: {room}: includes nothing of {other}" for other in below if (room, other) not in used)
    cycle = find_cycle(arrows)
    if cycle:
        yield f"include cycle: {' '.join(cycle)}"


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2]
    rooms, includes = read_rooms(root), read_includes(root)
    found = list(violations(root, rooms, includes))
    print("\n".join(found) if found else f"{len(rooms)} rooms, {len(includes)} includes: all point down")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
