# SPDX-License-Identifier: MIT
"""The histogram files against the rows of the same run: decoded here from the published format, every
value of the log is one of the rows'."""

import base64
import collections
import re
import struct
import zlib

from harness import *


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
    lines = open(path).read().splitlines()
    check(lines[1] == "#[Histogram log format version 1.3]", lines[1])
    check(all(len(line) < 127 for line in lines[:4]), "short head lines")
    found = []
    for line in lines[4:]:
        match = re.fullmatch(r"(?:Tag=(\w+),)?(\d+\.\d{3}),(\d+\.\d{3}),(\d+\.\d{6}),(HIST\S+)", line)
        check(match, line[:80])
        found.append((match[1], float(match[2]), float(match[3]), decode(match[5])))
    return found


def test_log_has_every_value_of_the_rows():
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
    check_between(len(response), 4, 7, "intervals of about 1 s in 4 s")
    for (begin, length), (following, _) in zip(response, response[1:]):
        check(abs(begin + length - following) < 0.002, f"gap after {begin} + {length}")
    check_distribution(hgrm, r)


def check_distribution(path, result):
    lines = open(path).read().splitlines()
    check_equal(lines[0].split(), ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"], "head")
    last = [line for line in lines if line and line[0] == " " and "Value" not in line][-1].split()
    response = result.json["latency_ns"]["response"]
    check_equal(last, [f"{response['max'] / 1000:.3f}", "1.000000000000", str(response["count"])],
                "last line")
    check(f"Total count    = {response['count']:>12}]" in lines[-2], lines[-2])


def test_log_is_refused_where_it_cannot_be_written():
    for option in ("--hlog", "--hgrm"):
        r = subprocess.run([TCPCLIENT, option, "/nonexistent/x", "127.0.0.1"], capture_output=True,
                           text=True, timeout=30)
        check_equal(r.returncode, 2, r.stderr)
        check(option in r.stderr and "/nonexistent/x" in r.stderr, r.stderr)


if __name__ == "__main__":
    main()
