# SPDX-License-Identifier: MIT
"""A starved CPU, a stepped clock, more queries than ids: what the figures say then, each with a control."""

from helpers.faults import *
from helpers.start_file import open_gate, wait_ready


# --- validity ---

class SmallCpu:
    """A tenth of one CPU: a control group or, where there is none, the lowest priority next to busy loops
    on every CPU."""

    LIMITS = (("/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "10000"),  # version 1
              ("/sys/fs/cgroup", "cpu.max", "10000 100000"))        # version 2

    def __init__(self):
        self.path, self.busy = None, []
        for directory, name, limit in self.LIMITS:
            if os.path.exists(f"{directory}/cgroup.procs") and self._make(directory, name, limit):
                self.prefix = ["sh", "-c", f'echo $$ > {self.path}/cgroup.procs; exec "$@"', "sh"]
                return
        self.busy = busy_loops()
        self.prefix = ["nice", "-n", "19"]

    def _make(self, directory, name, limit):
        path = f"{directory}/tcpscaler-{RUN}-{os.urandom(4).hex()}"
        try:
            os.mkdir(path)
            write_text(f"{path}/{name}", limit)
        except OSError:
            if os.path.isdir(path):
                os.rmdir(path)
            return False
        self.path = path
        return True

    def _removed(self):
        try:
            os.rmdir(self.path)
        except OSError:
            return False
        return True

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.busy:
            stop(process, signal.SIGKILL)
        if self.path is not None:
            wait_for(self._removed, "the end of the control group")


@measures_time
@plain_build_only
def test_starved_client_reports_itself_as_the_limit():
    need_root()
    load = ("-c", 100, "-r", 20000, "-t", 3, "127.0.0.1")
    with SmallCpu() as small, Server() as server:
        r = run_client("-p", server.port, *load, prefix=small.prefix)
    with Server() as server:
        control = run_client("-p", server.port, *load)
    check_starved(r)
    check_conservation(control)
    check_equal(control.json["queries"]["answered"], control.json["queries"]["scheduled"], "control")
    lags = [run.json["latency_ns"]["send_lag"]["p50"] for run in (control, r)]
    with stall_may_spoil():
        check(lags[1] > 10 * lags[0], f"p50 of the send lag, free and starved: {lags}")
        check("generator-limited" not in control.json["reasons"] and control.json["holds"]["p50"],
              f"the control: a free client was not the limit: {control.err}")


def check_starved(r):
    check_conservation(r)
    # it sends in bursts: late, but mostly before the schedule ends
    check({"generator-limited", "host-noise"} & set(r.json["reasons"]), f"reasons: {r.json['reasons']}; {r.err}")
    check(not r.json["holds"]["p99"], f"p99 is this host's own: {r.json['holds']}")
    check_code(r, 3)


# --- clocks ---

STEP = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t clock, struct timespec *t)
{
    static int (*next)(clockid_t, struct timespec *);
    static time_t begin_s;
    if (!next)
        next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = next(clock, t);
    if (clock == CLOCK_REALTIME) {
        struct timespec m;
        next(CLOCK_MONOTONIC, &m);
        if (begin_s == 0)
            begin_s = m.tv_sec;
        if (m.tv_sec > begin_s + 1)
            t->tv_sec += 3600;
    }
    return result;
}
"""


@plain_build_only
def test_stepped_clock_changes_no_figure():
    """CLOCK_REALTIME jumps by an hour within the client alone, one to two seconds after its start."""
    need_program("cc")
    library = temp_path("step.so")
    subprocess.run(["cc", "-shared", "-fPIC", "-x", "c", "-o", library, "-", "-ldl"], input=STEP,
                   text=True, check=True)
    stepped = ["env", f"LD_PRELOAD={library}"]
    date = subprocess.run([*stepped, sys.executable, "-c", "import time\na = time.time()\n"
                           "time.sleep(3)\nprint(time.time() - a)"], capture_output=True, text=True)
    check(float(date.stdout) > 3000, f"the control: the clock steps, by {date.stdout}")
    with Server() as server:
        r = run_client("-p", server.port, "-c", 10, "-r", 500, "-t", 4, "-R", "127.0.0.1",
                       prefix=stepped)
    check_conservation(r)
    check(r.json["latency_ns"]["response"]["max"] < 60e9, "no hour in the response times")
    due_ns = [intended_ns(row) for row in r.rows() if row["type"] == "Q"]
    check_between((max(due_ns) - min(due_ns)) / 1e9, 3.9, 4.1, "seconds in which the queries were due")


# --- ids ---

def test_queries_that_wait_for_an_id_keep_their_intended_time():
    """100,000 outstanding on one connection: 65,536 have ids, the others wait for the first answers. The server is
    stopped from before the first until all are due, and half a second more."""
    rate, gate = 20000 if SANITIZED else 100000, temp_path("start")
    with Server() as server:
        client = Client("-p", server.port, "-c", 1, "-r", rate, "--arrival", "constant", "-t", 100000 / rate, "--timeout",
                        "60s", "--start-file", gate, "--late-max", "60s", "127.0.0.1")
        wait_ready(gate)
        suspend(server.process)
        open_gate(gate, time.time())
        time.sleep(100000 / rate + 0.5)
        server.process.send_signal(signal.SIGCONT)
        r = client.wait()
    check_conservation(r)
    q, response = r.json["queries"], r.json["latency_ns"]["response"]
    with stall_may_spoil():  # a client that was stalled may send the last of them after it has the first answers
        check_equal(q["blocked"], 100000 - 65536, "blocked")
    check_equal(q["answered"], q["scheduled"], "answered in the end")
    check_equal(q["duplicate"] + q["unknown_id"] + q["late"], 0, "strays")
    check(response["max"] > 0.9e9, f"the wait is in the response time: {response['max']} ns")
    check(r.json["latency_ns"]["send_lag"]["max"] > 0.5e9, "and in the send lag")


if __name__ == "__main__":
    main()
