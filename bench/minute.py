# SPDX-License-Identifier: MIT
"""A server that is limited to a share of a CPU, or to a rate of queries, and minutes of load on it: is a service level met?

bench/repeat describes the options."""

import contextlib
import json
import os
import re
import sys

import built
import usage

from subjects import *

from helpers.cable import SERVER_IP, Cable
from occupy import occupied

MINUTE_S = 60
CHECK_SHARE = 0.95  # of what was found to be sustained
EDGE_S = 1  # of a trial: samples are taken once per second
CLIENT_CPU, SERVER_CPU = 0, 1


def add_options(parser):
    parser.add_argument("-c", type=usage.count(), default=3000)
    parser.add_argument("--slo", type=goals, default="p50<5ms,lost<0.1%")
    parser.add_argument("--share", type=usage.whole(1, 100), default=40)
    parser.add_argument("--limit", type=usage.whole())


def goals(text):
    """Checks that meets() knows these goals, and returns them unchanged."""
    for goal in text.split(","):
        if not re.fullmatch(r"(p50|p90|p99|p999|max)<\d+(\.\d+)?ms|lost<\d+(\.\d+)?%", goal):
            usage.refuse(goal, "p50, p90, p99, p999 or max in ms, or lost in percent, such as p50<5ms or lost<0.1%")
    return text


def meets(result, goal):
    """A percentile among unanswered queries is no number."""
    metric, limit = goal.split("<")
    if metric == "lost":
        q = result["queries"]
        return q["scheduled"] - q["answered"] < float(limit.removesuffix("%")) / 100 * q["scheduled"]
    value = result["latency_ns"]["response"][metric]
    return isinstance(value, int) and value < float(limit.removesuffix("ms")) * 1e6


def cost_in_us(result, trial):
    """The server's CPU time per query in us in this trial of a search, from its samples; 0: there are too few."""
    cost, search = result["server_cost"], result["search"]
    samples = [dict(zip(cost["columns"], row)) for row in cost["samples"]]
    begin_s = samples[-1]["epoch_ns"] / 1e9 - search["elapsed_s"] + trial["begin_s"]
    inside = [s for s in samples if begin_s + EDGE_S <= s["epoch_ns"] / 1e9 <= begin_s + trial["duration_s"] - EDGE_S]
    if len(inside) < 2:
        return 0
    used_us, queries = (sum(inside[-1][key] - inside[0][key] for key in keys) for keys in (("user_us", "system_us"), ("queries",)))
    return used_us / queries


class Subject:
    def __init__(self, name, o):
        self.o = o
        with contextlib.ExitStack() as stack:
            prefix, address = self.place(stack)
            self.server, port = start(name, "tcp", SLOTS * o.c, [*prefix, "taskset", "-c", str(SERVER_CPU)], address)
            stack.callback(self.server.stop)
            self.target = f"{address}:{port}"
            self.watch = ["--watch", str(self.server.process.pid)]
            self.stack = stack.pop_all()

    def place(self, stack):
        """Returns where the server runs: the head of its command, and its address; the client is where it can reach that."""
        if self.o.limit:
            cable = stack.enter_context(Cable())
            cable.limit(self.o.limit)
            stack.enter_context(cable.client.entered())
            return cable.server.prefix, SERVER_IP
        stack.enter_context(occupied(SERVER_CPU, 100 - self.o.share))
        return [], "127.0.0.1"

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        return self.stack.__exit__(*exception)

    def client(self, path, *arguments):
        """Returns its result."""
        with open(path + ".txt", "w") as text:
            code = subprocess.run([TCPCLIENT, "--cpu", str(CLIENT_CPU), "-c", str(self.o.c), *OPTIONS["tcp"], *arguments,
                                   "--json", path + ".json", self.target], stderr=text).returncode
        if code not in (0, 3):
            sys.exit(f"{os.path.basename(sys.argv[0])}: tcpclient: exit code {code}: see {path}.txt")
        with open(path + ".json") as f:
            return json.load(f)

    def minute(self, path, rate_qps):
        """Returns whether it met the service level, and the server's CPU time per query in us."""
        result = self.client(path, "-r", f"{rate_qps:.0f}", "-t", str(MINUTE_S), *self.watch)
        cost = result["server_cost"]
        return (all(meets(result, goal) for goal in self.o.slo.split(",")),
                (cost["user_ns_per_query"] + cost["system_ns_per_query"]) / 1000)
