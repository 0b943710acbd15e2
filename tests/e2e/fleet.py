# SPDX-License-Identifier: MIT
"""A fleet of hosts, each with its own sshd, kernel settings and addresses (tests/fleet/testbed.sh), driven by
fleet/run.yml. fleet_settings.py has other controllers, fleet_lost.py hosts lost at any moment, fleet_versions.py compares versions of
Ansible."""

from helpers.ranks import *
from helpers.testbed import *


def run_of_four(testbed, before):
    # while other tests run, looking for ssh on all hosts takes some seconds
    run = testbed.start(connections=3000, rate=1000, duration=10, lead=15, fetch_also=["rows.csv"],
                        client_options="--arrival constant --output rows.csv --raw-full block --close rst")
    run.wait_for_file("c1", "run.err")
    check(testbed.ssh_sessions(), "the control: there is ssh traffic before")
    run.wait_for_start("c1", 3)
    sessions = testbed.ssh_sessions()
    with stall_may_spoil():
        check(not testbed.has("c1", "rc"), f"that was while measuring; {testbed.says('c1')}")
    check_equal(sessions, "", "ssh while measuring")
    r = run.wait()
    check_equal(r.code, 0, f"exit code: {r.out}")
    testbed.check_states(before, "the hosts, afterwards")
    return r


def test_four_hosts_make_one_run():
    """With the newest Ansible, which finds Python by itself; the other tests use the one that is installed."""
    newest = newest_ansible()
    with Testbed(4) as testbed:
        testbed.use_ansible(newest)
        testbed.forget_python()
        r = run_of_four(testbed, testbed.states())
    whole = r.result("all")
    check_equal(whole["connections"]["proven"], 12000, "proven")
    check_equal(whole["queries"]["scheduled"], 40000, "scheduled")
    check_equal(whole["queries"]["answered"] + whole["queries"]["unsent"] + whole["queries"]["timeout"]
                + whole["queries"]["error"] + whole["queries"]["cancelled"], 40000, "accounted for")
    check_equal([i["name"] for i in whole["instances"]], ["c1", "c2", "c3", "c4"], "instances")
    check_equal(len({i["seed"] for i in whole["instances"]}), 4, "seeds")
    starts = [r.result(f"c{i}")["start"] for i in range(1, 5)]
    check_equal(len({s["at_epoch_ns"] for s in starts}), 1, "moments")
    # how late they were depends on the CPUs that all four share; none learned of the moment too late, or it would have no queries
    late_ms = [s["late_ns"] / 1e6 for s in starts]
    check_between(r.spread_ms(), max(late_ms) - min(late_ms) - 0.01, max(late_ms) - min(late_ms) + 0.01, "start spread in ms")
    check(os.path.getsize(r.results + "/all.png") > 4000, "the picture")
    page = read_text(r.results + "/report.html")
    check_equal([name for name in ("c1", "c2", "c3", "c4") if f">{name}<" not in page], [], "hosts that the page lacks")
    check("/report.html\n" in read_text(r.results + "/report.txt"), "where it is")
    check_equal(r.result("srv")["accepted"] >= 12000, True, "the server's side")
    # what was merged is what the rows say, all in one
    response = []
    for i in range(1, 5):
        response += [int(row["response_us"].replace(".", "")) for row in read_rows(f"{r.results}/c{i}.csv") if row["type"] == "A"]
    response.sort()
    merged = whole["latency_ns"]["response"]
    check_equal(merged["count"], len(response), "answers")
    for name, q in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)):
        want = at_rank(response, q)
        check_between(merged[name], want * 0.999, want * 1.001, f"{name}, compared with the rows'")
    of_each = [r.result(f"c{i}")["latency_ns"]["response"] for i in range(1, 5)]  # one figure may agree by chance
    check(any(not 0.999 < of_one[name] / merged[name] < 1.001 for of_one in of_each for name in ("p50", "p90", "p99")),
          "the control: one host is not the whole")


if __name__ == "__main__":
    main()
