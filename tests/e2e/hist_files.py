# SPDX-License-Identifier: MIT
"""The histogram files against the rows of the same run: decoded here from the published format, every value of the log
is in the rows; read by HdrHistogram's own library, its percentiles match the rows and the JSON result."""

import base64
import collections
import re
import statistics
import struct
import zlib

from helpers.hdr_java import *
from helpers.ranks import *


def bucket_of(value_ns):
    """Index in HdrHistogram's layout for 1 ns to 1 h with 3 digits: 2,048 sub-buckets."""
    shift = max(0, max(value_ns, 1).bit_length() - 11)
    return shift * 1024 + (value_ns >> shift)


def decode(text):
    """{bucket: count} of one compressed histogram."""
    data = base64.b64decode(text)
    cookie, length = struct.unpack_from(">ii", data)
    check_equal((cookie, length), (0x1C849314, len(data) - 8), "compressed cookie and length")
    plain = zlib.decompress(data[8:])
    head = struct.unpack_from(">iiiiqqd", plain)
    check_equal(head, (0x1C849313, len(plain) - 40, 0, 3, 1, 3600 * 10**9, 1.0), "head")
    counts, index, at = collections.Counter(), 0, 40
    while at < len(plain):
        value = shift = 0
        while True:
            byte = plain[at]
            at += 1
            value |= (byte if shift == 56 else byte & 127) << shift
            shift += 7
            if byte < 128 or shift == 63:
                break
        value = (value >> 1) ^ -(value & 1)
        if value < 0:
            index -= value
        else:
            counts[index] = value
            index += 1
    return counts


def read_log(path):
    """[(tag, begin, length, counts)] of all lines."""
    lines = read_text(path).splitlines()
    check(lines[1] == "#[Histogram log format version 1.3]", lines[1])
    check(all(len(line) < 127 for line in lines[:5]), "short head lines")
    found = []
    for line in lines[5:]:
        match = re.fullmatch(r"(?:Tag=(\w+),)?(\d+\.\d{3}),(\d+\.\d{3}),(\d+\.\d{6}),(HIST\S+)", line)
        check(match, line[:80])
        found.append((match[1], float(match[2]), float(match[3]), decode(match[5])))
    return found


def test_log_holds_every_value_of_the_rows():
    hlog, hgrm = temp_path("run.hlog"), temp_path("run.hgrm")
    with Server() as server:
        r = run_client("-p", server.port, "-c", 50, "-r", 2000, "-t", 4, "-R", "--hlog", hlog, "--hgrm",
                       hgrm, "127.0.0.1")
    check_conservation(r)
    sums = collections.defaultdict(collections.Counter)
    intervals = read_log(hlog)
    for tag, _, _, counts in intervals:
        sums[tag] += counts
    rows = [row for row in r.rows() if row["type"] == "A"]
    for tag, column in ((None, "response_us"), ("send_lag", "send_lag_us")):
        values = rows if tag is None else [row for row in r.rows() if row["type"] == "Q"]
        wanted = collections.Counter(bucket_of(round(float(row[column]) * 1000)) for row in values)
        check_equal(sums[tag], wanted, f"values of {column}")
    check_equal(sum(sums["service"].values()), len(rows), "values of the service time")
    response = [(begin, length) for tag, begin, length, _ in intervals if tag is None]
    with stall_may_spoil():
        check_between(statistics.median(length for _, length in response), 0.9, 1.1, "length of an interval in s")
    for (begin, length), (following, _) in zip(response, response[1:]):
        check(begin + length < following + 0.002, f"{begin} + {length} reaches into the next, which begins at {following}")
        with stall_may_spoil():  # an interval without an answer has no line
            check(begin + length > following - 0.002, f"gap after {begin} + {length}")
    check_distribution(hgrm, r)


def check_distribution(path, result):
    lines = read_text(path).splitlines()
    check_equal(lines[0].split(), ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"], "head")
    last = [line for line in lines if line and line[0] == " " and "Value" not in line][-1].split()
    response = result.json["latency_ns"]["response"]
    check_equal(last, [f"{response['max'] / 1000:.3f}", "1.000000000000", str(response["count"])],
                "last line")
    check(f"Total count    = {response['count']:>12}]" in lines[-2], lines[-2])


# --- read by HdrHistogram's own library ---

TOTALS = {"count": "Total_Count", "p50": "Total_50%", "p90": "Total_90%", "p99": "Total_99%",
          "p999": "Total_99.9%", "p9999": "Total_99.99%", "max": "Total_Max"}
RANKS = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999, "p9999": 0.9999, "max": 1}


def totals_of_log(path, tag=None):
    """Count, percentiles and maximum in ns of all intervals with this tag."""
    totals = totals_by_java(path, tag)
    return {name: float(totals[column]) for name, column in TOTALS.items()}


def totals_of_rows(rows, value_us):
    values = sorted(round(value_us(row) * 1000) for row in rows)
    return {"count": len(values),
            **{name: at_rank(values, q) for name, q in RANKS.items()}}


def unlike(got, known):
    """The figures that differ: the count at all, a value by more than 0.1 %."""
    return {name: (got[name], known[name]) for name in TOTALS
            if abs(got[name] - known[name]) > (0 if name == "count" else known[name] / 1000)}


@plain_build_only
def test_hdrhistograms_own_library_reads_120k_known_values_within_a_thousandth():
    need_java()
    hlog = temp_path("run.hlog")
    with Server() as server:
        r = run_client("-p", server.port, "-c", 50, "-r", 40000, "--arrival", "constant", "-t", 3, "-R",
                       "--hlog", hlog, "127.0.0.1")
    check_conservation(r)
    check_equal(r.json["queries"]["answered"], 120000, "answered")
    answers = [row for row in r.rows() if row["type"] == "A"]
    columns = {"response": lambda row: float(row["response_us"]),
               "service": lambda row: float(row["response_us"]) - float(row["send_lag_us"]),
               "send_lag": lambda row: float(row["send_lag_us"])}
    totals = {name: totals_of_log(hlog, None if name == "response" else name) for name in columns}
    for name, value_us in columns.items():
        known = totals_of_rows(answers, value_us)
        print(f"     {name}: p99 {totals[name]['p99']:.0f} ns, of the rows {known['p99']} ns; furthest off "
              f"{max(abs(totals[name][key] / known[key] - 1) for key in TOTALS):.3%}")
        check_equal(unlike(totals[name], known), {}, f"{name} of the rows")
        check_equal(unlike(totals[name], r.json["latency_ns"][name]), {}, f"{name} of the JSON")
    check_that_unlike_is_noticed(hlog, totals, r)


def check_that_unlike_is_noticed(hlog, totals, r):
    """The controls: the log without its last interval, another metric's values."""
    with open(hlog) as f:
        lines = f.readlines()
    last = max(i for i, line in enumerate(lines) if line[0].isdigit())
    shorter = temp_path("shorter.hlog")
    with open(shorter, "w") as f:
        f.writelines(lines[:last] + lines[last + 1:])
    check("count" in unlike(totals_of_log(shorter), r.json["latency_ns"]["response"]), "an interval less")
    check(unlike(totals["service"], r.json["latency_ns"]["send_lag"]), "another metric")


def test_log_that_cannot_be_written_is_refused():
    for option in ("--hlog", "--hgrm"):
        r = run_command([TCPCLIENT, option, "/nonexistent/x", "127.0.0.1"])
        check_equal(r.returncode, 2, r.stderr)
        check(option in r.stderr and "/nonexistent/x" in r.stderr, r.stderr)


if __name__ == "__main__":
    main()
