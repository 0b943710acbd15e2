# SPDX-License-Identifier: MIT
"""A DNS server that answers the first query of each connection and then turns hostile."""

from helpers.faults import *
from table import *


def against(row, mode, *options):
    """The result of a client that gets malformed answers, and the output of the server; its memory stays as it was."""
    server = FaultServer("--instead", mode)
    client = Client("-c", 20, "-r", 400, "-t", 2, "--timeout", "1s", "--stats-interval", "200ms", *options,
                    f"127.0.0.1:{server.port}")
    wait_until_running(client)
    most = 0
    while client.process.poll() is None:
        try:
            most = max(most, rss_bytes(client.pid))
        except (OSError, IndexError):
            break
        time.sleep(0.02)
    r = client.wait()
    row.injected(f"messages of {mode}", server.stop()["hostile"])
    row.conserved(r)
    row.expect("exit", OneOf(0, 3), r.code)
    row.expect("answered", 0, r.json["queries"]["answered"])
    row.expect("resident in MiB", at_most(10000 if SANITIZED else 32), round(most / MIB, 1))
    row.expect("ended, s", at_most(60), round(r.seconds, 1))
    return r


@scenario(short=True)
@of_one_thread
def answers_of_zero_length(row):
    r = against(row, "zero-lengths", "--timeout", "30s")  # nothing times out: each query fails
    row.expect("connections", {"protocol/malformed reply": 20}, r.json["connections"]["outcomes"])
    row.expect("errors", r.json["queries"]["sent"], r.json["queries"]["error"])


@scenario()
def answers_of_huge_length(row):
    """They announce 65,535 bytes, and the following bytes belong to them until all have arrived."""
    r = against(row, "huge-lengths")
    row.expect("connections", {"run/finished": 20}, r.json["connections"]["outcomes"])
    row.expect("timeouts", r.json["queries"]["sent"], r.json["queries"]["timeout"])


@scenario()
def answers_with_wrong_ids(row):
    r = against(row, "wrong-ids")
    q = r.json["queries"]
    row.expect("connections", {"run/finished": 20}, r.json["connections"]["outcomes"])
    row.expect("unknown ids", q["sent"], q["unknown_id"])
    row.expect("timeouts", q["sent"], q["timeout"])


@scenario(short=True)
@of_one_thread
def answers_without_end(row):
    r = against(row, "endless")
    q = r.json["queries"]
    row.expect("connections", {"run/finished": 20}, r.json["connections"]["outcomes"])
    row.expect("unknown ids", Between(10000), q["unknown_id"])
    row.expect("timeouts", q["sent"], q["timeout"])
