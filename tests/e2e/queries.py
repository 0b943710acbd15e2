# SPDX-License-Identifier: MIT
"""The queries: the lines of --query-file are used in order and evenly, and identically with the same seed."""

from collections import Counter

from helpers.faults import *

TYPES = {"A": 1, "NS": 2, "SOA": 6, "MX": 15, "TXT": 16, "AAAA": 28, "SRV": 33}


def question(name, kind):
    """Its bytes in a message (RFC 1035, 4.1.2)."""
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return labels + bytes([0, 0, TYPES[kind], 0, 1])


def query_file(lines):
    path = temp_path("queries")
    with open(path, "w") as f:
        f.writelines(f"{name} {kind}\n" for name, kind in lines)
    return path


LINES = [(f"name{i}.example", list(TYPES)[i % len(TYPES)]) for i in range(100)]


def asked(*options):
    """(result, for each connection the questions that reached the server, in the order of their ids)."""
    log = temp_path("log")
    server = FaultServer("--log", log)
    r = run_client("-p", server.port, "-c", 10, "-r", 1000, "-t", 1, "--query-file", query_file(LINES),
                   *options, "127.0.0.1")
    server.stop()
    check_conservation(r)
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")
    connections = {}
    for row in read_rows(log):
        connections.setdefault(row["connection"], []).append((int(row["id"]), row["question"]))
    return r, [[text for _, text in sorted(of_one)] for of_one in connections.values()]


def uses(connections):
    """How often each line was sent, except in proofs, which send the first."""
    first = question(*LINES[0]).hex()
    check_equal({of_one[0] for of_one in connections}, {first}, "the query of proofs")
    counts = Counter(text for of_one in connections for text in of_one[1:])
    check_equal(set(counts) - {question(*line).hex() for line in LINES}, set(), "questions of no line")
    return [counts[question(*line).hex()] for line in LINES]


def test_lines_are_queried_evenly():
    _, connections = asked("--threads", 2, "--arrival", "constant")
    check_equal(set(uses(connections)), {10}, "1,000 queries of 100 lines by two threads")
    r, connections = asked("--threads", 3)
    counts = uses(connections)
    check_equal(sum(counts), r.json["queries"]["sent"], "every query is in the log")
    check_between(max(counts) - min(counts), 0, 3, "more than another, by three threads")
    check("dns, 100 questions," in r.err, "the summary says how many")


def test_one_connection_queries_the_lines_in_order():
    _, [of_one] = asked("-c", 1, "-t", 0.25, "--arrival", "constant")
    check_equal(of_one[1:], [question(*LINES[i % 100]).hex() for i in range(250)], "questions")


def test_same_seed_sends_the_same_queries_on_the_same_connections():
    runs = [sorted(asked("-s", seed, "--threads", 2, "-t", 0.5)[1]) for seed in (5, 5, 6)]
    check_equal(len({text for of_one in runs[0] for text in of_one}), len(LINES), "questions")
    check(runs[0] == runs[1], "the same questions in the same order")
    check(runs[0] != runs[2], "the control: another seed, other questions")


def test_query_file_may_be_stdin_and_lines_may_omit_the_type():
    log = temp_path("log")
    server = FaultServer("--log", log)
    r = run_client("-p", server.port, "-c", 2, "-r", 100, "-t", 0.5, "--query-file", "-", "--qtype", "MX",
                   "127.0.0.1", text="; two of them\n\na.example\nb.example TXT\n")
    server.stop()
    check_conservation(r)
    found = {row["question"] for row in read_rows(log)}
    check_equal(found, {question("a.example", "MX").hex(), question("b.example", "TXT").hex()}, "questions")


if __name__ == "__main__":
    main()
