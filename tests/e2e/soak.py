# SPDX-License-Identifier: MIT
"""bench/soak: its check for drift, and a complete run of some seconds, once with a server that leaks."""

import math
import random
import types

from helpers.bench_programs import *
from drift import BLOCKS, judge
from soak_loads import LOADS, Pair

SOAK = os.path.join(BENCH, "soak")
# A connection lasts 3 of the 12 seconds, so that soon as many are replaced per second as later: if that rose, so would the
# number of those that only the server has.
SHORT = ("--minutes", 0.2, "--connections", 100, "--rate", 300, "--queries-per-conn", 10)
LEAKS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int accept4(int fd, struct sockaddr *peer, socklen_t *n, int flags)
{
    static int (*real)(int, struct sockaddr *, socklen_t *, int);
    int accepted;

    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "accept4");
    accepted = real(fd, peer, n, flags);
    if (accepted >= 0)
        memset(malloc(4096), 1, 4096);
    return accepted;
}
"""


# --- the check ---

def samples(value, n=200, seed=1):
    """A series of value(seconds, random generator), every 1.5 s."""
    rng = random.Random(seed)
    return [1.5 * i for i in range(n)], [value(1.5 * i, rng) for i in range(n)]


def waves(s, rng):
    """Memory of a healthy program: steps that last, single peaks."""
    return 50 * MIB + MIB * (math.sin(s / 7) > 0.3) + rng.choice((0, 0, 0, 0, 5 * MIB))


def test_noise_without_direction_is_flat():
    check(not judge(*samples(lambda s, rng: 42), 0).drifts, "a constant")
    for name, value in (("noise", lambda s, rng: rng.gauss(1000, 50)), ("waves", waves)):
        found = [judge(*samples(value, seed=seed), 0) for seed in range(500)]
        check(sum(each.drifts for each in found) <= 5, f"{name}: {[each for each in found if each.drifts]}")
    settles = judge(*samples(lambda s, rng: 50 * MIB - 40 * MIB * math.exp(-s / 10) + rng.gauss(0, 1000)), MIB / 2)
    check(not settles.drifts, f"what fills at the start: {settles}")


def test_rise_is_found_in_noise():
    leak = 8 * 1024  # bytes/s
    for name, value in (("line", lambda s, rng: 50 * MIB + leak * s), ("noise", lambda s, rng: leak * s + rng.gauss(0, MIB / 4)),
                        ("waves", lambda s, rng: waves(s, rng) + 5 * leak * s),
                        ("steps", lambda s, rng: MIB / 8 * math.floor(leak * s / (MIB / 8)))):
        found = judge(*samples(value), MIB)
        check(found.drifts, f"{name}: {found}")
    line = judge(*samples(lambda s, rng: 50 * MIB + leak * s), MIB)
    check_between(line.per_hour, leak * 3599, leak * 3601, "the slope")
    between_middles_s = 0.8 * 0.9 * 1.5 * 199
    check_between(line.last - line.first, leak * between_middles_s * 0.99, leak * between_middles_s * 1.01, "the rise")


def test_certain_but_negligible_rise_is_flat():
    rise = judge(*samples(lambda s, rng: 50 * MIB + 1000 * s), MIB)
    check(rise.t > 1000 and not rise.drifts, f"300 kB: {rise}")
    fall = judge(*samples(lambda s, rng: 50 * MIB - 80000 * s), MIB)
    check(fall.t < -1000 and not fall.drifts, f"what falls: {fall}")


def test_too_few_samples_give_no_verdict():
    for n in (0, 1, BLOCKS - 1, BLOCKS):
        try:
            judge(*samples(lambda s, rng: 1, n=n), 0)
        except ValueError:
            continue
        raise AssertionError(f"judged {n} samples")


def pair_that_answers(stats, client=None, server=None):
    """A pair whose programs have these exit codes."""
    pair = Pair.__new__(Pair)
    pair.name, pair.samples, pair.stats = "churn", [], stats
    pair.client, pair.server = (types.SimpleNamespace(process=types.SimpleNamespace(poll=lambda code=code: code), stderr=lambda: "why")
                                for code in (client, server))
    return pair


def test_sample_without_an_answer_does_not_end_the_load():
    """A machine that is stalled does not answer in time."""
    def stats():
        raise TimeoutError
    for client, server, goes_on in ((None, None, True), (0, None, False), (None, -9, False)):
        pair = pair_that_answers(stats, client, server)
        pair.samples.append({})
        check_equal(pair.sample(), goes_on, f"it goes on after exit codes {client} and {server}")


def test_load_is_sampled_as_soon_as_it_runs():
    """Others of the same run may still be opening their connections."""
    state = None
    pair = pair_that_answers(lambda: ({}, {"state": state}))
    for state in "waiting", "opening":
        check_equal((pair.sample(), pair.samples), (True, []), f"{state}: it is still to begin, and without a sample")
    pair.samples.append({})
    for state in "draining", "ended":
        check_equal(pair.sample(), False, f"{state}: it goes on")


def test_counters_of_both_sides_are_those_of_one_moment():
    """Those of the server are read before and after those of the client: bytes sent meanwhile are not missing."""
    def of_server(n):
        return dict.fromkeys(("active", "accepted", "bytes_sent", "bytes_received", "pushed"), n)
    client = {"state": "running", "connections": {"live_at_end": 20, "connected": 20}, "push": None,
              "resources": {"bytes_sent": 20, "bytes_received": 20}}
    pair = pair_that_answers(lambda: (of_server(10), client))
    pair.stats_of_server, pair.n_cut = lambda: of_server(30), 0
    pair.client.pid = pair.server.pid = os.getpid()
    check(pair.sample(), "it goes on")
    for s in LOADS["churn"].series[-4:]:
        check_equal(s.value(pair.samples[0]), 0, s.name)


def test_load_that_ends_before_it_begins_is_reported_at_once():
    def stats():
        raise ConnectionRefusedError
    try:
        pair_that_answers(stats, client=3).sample()
        raise Certain("no report")
    except AssertionError as failed:
        check_equal(str(failed), "churn: tcpclient ended with exit code 3: why", "the report")


def test_connections_that_are_being_replaced_are_no_drift():
    """The longer the responses, the more of them only the server has."""
    end = {"client": {"open": 1000}, "most_replaced": 7}
    found = [s.tolerance(end) for s in LOADS["tls"].series if s.name == "connections open, server - client"]
    check_equal(found, [1000 * 0.01 + 7], "what the difference may rise by")


def test_memory_for_the_peaks_of_threads_is_no_drift():
    """Of what was taken while connections opened; the more threads share them, the more they differ."""
    end = {"server": {"rss": 12_000_000}, "client": {"open": 100_000}, "threads": 6, "opening_bytes": 7_000_000}
    tolerance, = (s.tolerance for s in LOADS["churn"].series if s.name == "server memory, bytes")
    each = 3 * math.sqrt(100_000 / 6) * 7_000_000 / 100_000
    check(math.isclose(tolerance(end), 120_000 + 6 * each), f"what it may rise by: {tolerance(end)}")


# --- the whole ---

def soak(*arguments, **environment):
    return run_command([SOAK, *map(str, SHORT), *arguments],
                       env={**os.environ, "TCPSERVER": TCPSERVER, "TCPCLIENT": TCPCLIENT, **environment})


def numbers(pattern, r):
    """One of each load."""
    return [int(found.replace(",", "")) for found in re.findall(pattern, r.stdout)]


@plain_build_only
def test_connections_that_come_and_go_leave_nothing_behind():
    r = soak()
    with stall_may_spoil():  # it can look like a slope
        check_equal(r.returncode, 0, f"exit code: {r.stdout} {r.stderr}")
        check_equal(r.stdout.count("  flat\n"), 8, f"series: {r.stdout}")


@plain_build_only
def test_other_loads_leave_nothing_behind_either():
    """At the same time. The control of all is the server that leaks."""
    r = soak("--load", "tls,push,reconnect")
    with stall_may_spoil():
        check_equal(r.returncode, 0, f"exit code: {r.stdout} {r.stderr}")
        check_equal(r.stdout.count("  flat\n"), 7 + 7 + 6, f"series: {r.stdout}")
    check_equal([n > 1000 for n in numbers(r"(\S+) answered", r)], [True, False, True], "tls and reconnect send queries")
    check_equal([n > 1000 for n in numbers(r"messages: client (\S+),", r)], [True], "push sends messages")
    # how many it closes depends on how many samples this machine took
    check(numbers(r"connections: client (\S+),", r)[2] > SHORT[3], f"the server has closed connections: {r.stdout}")


def test_soak_refuses_an_unknown_load():
    r = soak("--load", "churn,sleep")
    check_equal((r.returncode, "--load: invalid value 'sleep': expected churn, tls, push, reconnect" in r.stderr), (2, True), r.stderr)


def test_soak_refuses_a_file_that_it_cannot_write():
    """Before the hours of load, not after them."""
    r = soak("--load", "churn,tls", "--csv", "/none/x")
    check_equal((r.returncode, "--csv: /none/x.churn: No such file or directory" in r.stderr), (2, True), r.stderr)


@plain_build_only
def test_file_that_becomes_full_does_not_end_the_load():
    r = soak("--csv", "/dev/full")
    check_equal(r.stderr, "soak: /dev/full: No space left on device: no more rows\n", "once")
    check_equal(r.stdout.count("churn: "), 1, f"it is judged: {r.stdout}")


def program_that(does):
    """A program that does this, in the words of sh."""
    return write_program(temp_path("program"), f"#!/bin/sh\n{does}\n")


def test_load_that_ends_too_early_is_reported_in_one_line():
    # with another time after -t: there are five samples at most
    short = program_that(f'''last=
for word; do
    shift
    [ "$last" != -t ] || word=0.3
    last=$word
    set -- "$@" "$word"
done
exec {os.path.abspath(TCPCLIENT)} "$@"''')
    for client, says in ((short, r"after [\d.]+ s: \d+ samples are too few for 10 blocks"),
                         (program_that("echo 'no luck' >&2; exit 3"), "with exit code 3: no luck")):
        samples = temp_path("samples.csv")
        r = soak("--csv", samples, TCPCLIENT=client)
        with stall_may_spoil():  # the short one can be over before it is seen
            check(re.fullmatch(f"soak: churn: tcpclient ended {says}\n", r.stderr), r.stderr)
            check_equal(read_text(samples).count("\n") > 1, client == short, "what was sampled is there")
        check_equal((r.returncode, r.stdout, len(r.stderr.splitlines())), (1, "", 1), f"in one line: {r.stderr}")


def test_killed_program_is_named_in_one_line():
    for name, path in (("TCPCLIENT", TCPCLIENT), ("TCPSERVER", TCPSERVER)):
        r = soak(**{name: program_that(f'exec timeout -s KILL 4 {os.path.abspath(path)} "$@"')})
        check_equal((r.returncode, r.stdout, len(r.stderr.splitlines())), (1, "", 1), f"in one line: {r.stderr}")
        with stall_may_spoil():  # without its server, the client may end first
            check(r.stderr.startswith(f"soak: churn: {name.lower()} ended with exit code "), r.stderr)


@plain_build_only
def test_server_that_leaks_is_found():
    need_program("cc")
    directory = temp_directory()
    source, library = (os.path.join(directory, name) for name in ("leaks.c", "leaks.so"))
    write_text(source, LEAKS)
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    r = soak(TCPSERVER=program_that(f'LD_PRELOAD={library} exec {os.path.abspath(TCPSERVER)} "$@"'))
    with stall_may_spoil():  # it can last for all samples of a block
        check_equal(r.returncode, 1, f"exit code: {r.stdout} {r.stderr}")
        wrong = [line.split("  ")[0] for line in r.stdout.splitlines() if line.endswith(("DRIFTS", "DIFFER"))]
        check("server memory, bytes" in wrong, f"what it found: {r.stdout} {r.stderr}")


if __name__ == "__main__":
    main()
