# SPDX-License-Identifier: MIT
"""Hosts, and the controller, lost in every phase of fleet/run.yml, and other aborted runs. Takes minutes: tests/fleet/run
runs it; the normal test run only has fleet.py."""

from package import package
from helpers.testbed import *

CLIENTS = ["c1", "c2", "c3", "c4"]
OTHERS = ["c1", "c3", "c4"]


def end_of(run, testbed, before, phase):
    """The end of a run that lost c2: in time, named, the others merged and reverted; then c2 is restored."""
    r = run.wait(120)
    print(f"     c2 lost while {phase}: over after {r.seconds:.0f} s, exit code {r.code}", flush=True)
    check_equal(r.code, 2, f"exit code: {r.out}")
    check(re.search(f"^ +c2 (was lost|failed) while {phase}: ", r.out, re.M), r.out)
    check_equal([i["name"] for i in r.result("all")["instances"]], OTHERS, "merged")
    check_equal(r.result("all")["queries"]["scheduled"], 3 * 500 * 6, "their queries")
    check(os.path.exists(r.results + "/report.txt"), "the report")
    testbed.check_states({h: s for h, s in before.items() if h != "c2"}, "the others, afterwards")
    return r


def made_good(testbed, before, how):
    testbed.call(how, "c2")
    check_equal(testbed.run("--tags", "revert").code, 0, "a revert when c2 is back")
    testbed.check_states(before, "all hosts")


def a_run(testbed, *arguments, **settings):
    settings = {"connections": 500, "rate": 500, "duration": 6, "lead": 4, "client_options": "--arrival constant",
                **settings}
    return testbed.start(*arguments, **settings)


def test_crash_while_connecting():
    with Testbed(4) as testbed:
        before = testbed.states()
        run = a_run(testbed, client_options="--arrival constant --connect-rate 50")  # 10 s
        run.wait_for_file("c2", "run.err")
        time.sleep(3)
        testbed.call("crash", "c2")
        end_of(run, testbed, before, "connecting")
        made_good(testbed, before, "boot")


def test_crash_while_measuring():
    with Testbed(4) as testbed:
        before = testbed.states()
        run = a_run(testbed)
        run.wait_for_start("c2", 3)
        testbed.call("crash", "c2")
        end_of(run, testbed, before, "measuring")
        made_good(testbed, before, "boot")


def test_crash_while_collecting():
    with Testbed(4) as testbed:
        before = testbed.states()
        run = a_run(testbed)
        run.wait_for_file("srv", "rc")
        testbed.call("crash", "c2")
        end_of(run, testbed, before, "collecting")
        made_good(testbed, before, "boot")


def test_cut_while_measuring():
    with Testbed(4) as testbed:
        before = testbed.states()
        run = a_run(testbed)
        run.wait_for_start("c2", 3)
        testbed.call("cut", "c2")
        r = end_of(run, testbed, before, "measuring")
        check("c2 is not reverted: it does not answer; it reverts itself" in r.out, r.out)
        check(testbed.states()["c2"] != before["c2"], "the control: it is still tuned")
        made_good(testbed, before, "heal")


def test_hosts_that_were_all_cut_off_for_a_while_are_reverted_and_keep_their_results():
    with Testbed(1) as testbed:
        before, kernel = testbed.states(), testbed.kernel_states()
        run = a_run(testbed, client_options="--arrival constant --timeout 1s")
        run.wait_for_start("c1", 3)
        for host in testbed.hosts:
            testbed.call("cut", host)
        wait_for(lambda: run.text().count("UNREACHABLE") >= len(testbed.hosts), "the loss of all")
        with stall_may_spoil():
            check(testbed.has("c1", "rc"), "the client has ended")
        for host in testbed.hosts:
            testbed.call("heal", host)
        r = run.wait()
        check_equal(r.code, 2, f"exit code: {r.out}")
        for host in testbed.hosts:
            check(f"{host} was lost while measuring: it did not answer\n" in r.out, r.out)
            check(f"{host} keeps its results in {REMOTE}\n" in r.out, r.out)
        check("not reverted" not in r.out, r.out)
        check_equal(testbed.kernel_states(), kernel, "settings of the hosts")
        r = testbed.run("--tags", "collect,revert", "--limit", "srv,c1")
        check_equal(r.code, 0, f"exit code: {r.out}")
        check_equal(r.result("all")["queries"]["scheduled"], 500 * 6, "the queries")
        testbed.check_states(before, "all hosts")


def test_host_that_hangs_is_left_out():
    with Testbed(2) as testbed:
        before = testbed.states()
        testbed.call("in", "c2", "sh", "-c", "printf '#!/bin/sh\nexec sleep 40\n' >/tmp/base64 && chmod +x /tmp/base64 &&"
                     "mount --bind /tmp/base64 /usr/bin/base64")
        testbed.environment["ANSIBLE_TASK_TIMEOUT"] = "15"
        r = a_run(testbed).wait()
        check_equal(r.code, 2, f"exit code: {r.out}")
        check("c2 failed while checking: Copy the setup scripts: " in r.out, r.out)
        check_equal([i["name"] for i in r.result("all")["instances"]], ["c1"], "merged")
        testbed.call("in", "c2", "sh", "-c", "umount /usr/bin/base64 && rm /tmp/base64")
        testbed.check_states(before, "all hosts")


def test_server_that_crashes_is_named():
    with Testbed(2) as testbed:
        before = testbed.states()
        run = a_run(testbed)
        run.wait_for_file("srv", "pid")
        run.wait_for_start("c1", 3)
        testbed.call("crash", "srv")
        r = run.wait()
        check_equal(r.code, 2, f"exit code: {r.out}")
        check("srv was lost while measuring: it did not answer\n" in r.out, r.out)
        check_equal(r.result("all")["verdict"], "SUSPECT", "what the clients saw")
        testbed.check_states({h: s for h, s in before.items() if h != "srv"}, "the clients, afterwards")


def test_hosts_untune_themselves_when_the_controller_dies():
    with Testbed(4) as testbed:
        before = testbed.states()
        limit_s = 60
        run = a_run(testbed, duration=25, connect_timeout=20, collect_timeout=10, time_limit=limit_s)
        for client in CLIENTS:
            run.wait_for_file(client, "start")
        run.kill()
        tuned_s = [int(testbed.call("in", host, "sh", "-c", "stat -c %Z /run/tcpscaler/*.state")) for host in testbed.hosts]
        sysctls = {host: [line for line in lines if line.startswith("net.")] for host, lines in before.items()}

        def tuned():
            return [host for host, lines in testbed.states().items()
                    if [line for line in lines if line.startswith("net.")] != sysctls[host]
                    or any("notrack" in line for line in lines)]

        check_equal(tuned(), testbed.hosts, "tuned while the controller is gone")
        wait_for(lambda: not tuned(), "the hosts to untune themselves", limit_s + 10)
        seconds = time.time() - max(tuned_s)
        print(f"     all untuned {seconds:.0f} s after the last was tuned, limit {limit_s} s", flush=True)
        check_between(seconds, limit_s - 2, limit_s + 10, "and not sooner")
        wait_for(lambda: testbed.has("srv", "rc"), "the end of the server", limit_s + 10)
        check_equal(testbed.call("in", "srv", "cat", f"{REMOTE}/rc"), "124\n", "the server's exit code, of timeout(1)")
        check_equal(testbed.run("--tags", "revert").code, 0, "a revert, later")
        testbed.check_states(before, "all hosts")


def test_server_that_cannot_start_says_why():
    with Testbed(1) as testbed:
        testbed.call("in", "srv", "sh", "-c", "setsid python3 -m http.server 4242 >/dev/null 2>&1 &")
        wait_for(lambda: "python3" in testbed.call("in", "srv", "ss", "-Hltnp"), "another server")
        before = testbed.states()
        r = a_run(testbed).wait()
        check_equal(r.code, 2, f"exit code: {r.out}")
        check(re.search(r"srv failed while connecting: Start the server: port 4242 is in use: .*python3", r.out), r.out)
        check("the server did not start\n" in r.out and "c1 failed" not in r.out, r.out)
        r = a_run(testbed, server_port=4243, server_options="--connections-out /nowhere/file").wait()
        check_equal(r.code, 2, f"exit code: {r.out}")
        check(re.search(r"srv failed while connecting: Start the server: .*/nowhere/file", r.out), r.out)
        testbed.check_states(before, "all hosts")


def test_plan_that_says_stop_prevents_the_run():
    with Testbed(2) as testbed:
        before = testbed.states()
        text = read_text(testbed.inventory)
        write_text(testbed.inventory, text.replace("sources: 10.77.12.1-3,", "sources: 10.77.12.1, source_ports: 20000-20099,"))
        run = a_run(testbed)
        r = run.wait()
        check_equal(r.code, 2, f"exit code: {r.out}")
        check("the plan says stop on c2\n" in r.out, r.out)
        check(re.search(r"source tuples +100 +500 +stop", r.out), r.out)
        check("Start the server" not in r.out, "it did not begin")
        testbed.check_states(before, "all hosts")


def test_fewer_than_min_clients_end_the_run():
    with Testbed(3) as testbed:
        before = testbed.states()
        run = a_run(testbed, min_clients=3, client_options="--connect-rate 50")
        run.wait_for_file("c2", "run.err")
        time.sleep(3)
        testbed.call("crash", "c2")
        r = run.wait()
        check_equal(r.code, 2, f"exit code: {r.out}")
        check("2 clients are connected, min_clients is 3\n" in r.out, r.out)
        check("Announce the start time" not in r.out, "the load did not begin")
        check_equal(r.results, None, "no report")
        testbed.check_states({h: s for h, s in before.items() if h != "c2"}, "the others, afterwards")


def test_parts_run_separately_on_some_hosts():
    with Testbed(2) as testbed:
        before = testbed.states()
        settings = {"connections": 500, "rate": 500, "duration": 2}
        for part in ("tune", "run", "collect", "revert"):
            r = testbed.run("--limit", "srv,c1", "--tags", part, **settings)
            check_equal(r.code, 0, f"{part}: {r.out}")
            check_equal(testbed.states()["c2"], before["c2"], f"c2, which is left out, after {part}")
            if part == "run":
                left = testbed.states()
                for tags in ("revert", "collect,revert", "run,revert"):
                    rehearsal = testbed.run("--limit", "srv,c1", "--check", "--tags", tags, **settings)
                    check_equal(rehearsal.code, 0, f"a rehearsal of {tags}: {rehearsal.out}")
                    testbed.check_states(left, f"a rehearsal of {tags} changes nothing")
            if part in ("run", "collect"):
                check_equal([i["name"] for i in r.result("all")["instances"]], ["c1"], f"results of {part}")
        testbed.check_states(before, "all hosts")


def test_another_code_of_merge_is_no_report():
    with Testbed(1) as testbed:
        before = testbed.states()
        r = a_run(testbed, tcpreport=fake_tcpreport(127)).wait()
        check_equal(r.code, 2, f"exit code: {r.out}")
        check("no report: tcpreport merge failed: exit code 127" in r.out, r.out)
        testbed.check_states(before, "all hosts")


def check_kept(testbed, r, kernel, why):
    """Hosts that are restored, but for the results that the controller could not store."""
    check_equal(r.code, 2, f"exit code: {r.out}")
    for host in testbed.hosts:
        check(re.search(rf"^ +{host} failed while (measuring|collecting): {why}", r.out, re.M), f"{host}: {r.out}")
        check(f" {host} keeps its results in {REMOTE}\n" in r.out, f"{host}: {r.out}")
    check("fetch what is kept with --tags collect,revert --limit srv,c1,c2; --tags revert removes it\n" in r.out, r.out)
    check_equal(testbed.kernel_states(), kernel, "settings of the hosts")


def test_results_that_the_controller_cannot_store_stay_on_the_hosts():
    with Testbed(2) as testbed:
        before, kernel, directory = testbed.states(), testbed.kernel_states(), temp_directory()
        write_program(f"{directory}/mkdir", '#!/bin/sh\ncase $* in */results/2*) echo full >&2; exit 1 ;; esac\nexec /bin/mkdir "$@"\n')
        testbed.use_ansible(directory)
        check_kept(testbed, a_run(testbed, duration=1).wait(), kernel, "Check the directory of results: full$")
        testbed.use_ansible(os.path.dirname(shutil.which("ansible-playbook")))
        full = temp_directory()
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "tmpfs", full], check=True)
        collect = ["--tags", "collect,revert", "--limit", "srv,c1,c2"]
        check_kept(testbed, testbed.run(*collect, results=full), kernel, "Fetch: .*No space left")
        r = testbed.run(*collect)
        check_equal(r.code, 0, f"exit code: {r.out}")
        check_equal([i["name"] for i in r.result("all")["instances"]], ["c1", "c2"], "merged")
        check_equal(r.result("all")["queries"]["scheduled"], 2 * 500, "their queries")
        check(r.result("srv")["accepted"] >= 1000, "the server's result")
        testbed.check_states(before, "all hosts")


def signal_program(testbed, host, name):
    testbed.call("in", host, "sh", "-c", f"kill -{name} $(cat {REMOTE}/pid)")


def test_run_waits_for_a_client_that_ends_late():
    with Testbed(2) as testbed:
        before = testbed.states()
        run = a_run(testbed)
        run.wait_for_start("c2", 2)
        signal_program(testbed, "c2", "STOP")
        time.sleep(4 + 35)
        signal_program(testbed, "c2", "CONT")
        r = run.wait()
        check_equal(r.code, 0, f"exit code: {r.out}")
        check_equal([i["name"] for i in r.result("all")["instances"]], ["c1", "c2"], "merged")
        testbed.check_states(before, "all hosts")


def test_client_that_misses_a_goal_is_named_and_merged():
    """The server is held for 3 s of 6, which is half of the response times."""
    goals = {"client_options": "--arrival constant --assert 'p90<500ms,p50<1h'", "may_be_suspect": True}
    with Testbed(2) as testbed:
        run = a_run(testbed, **goals)
        run.wait_for_start("c2", 2)
        signal_program(testbed, "srv", "STOP")
        time.sleep(3)
        signal_program(testbed, "srv", "CONT")
        r = run.wait()
        check_equal(r.code, 2, f"exit code: {r.out}")
        for host in "c1", "c2":
            of = r.result(host)["queries"]["scheduled"]
            check(re.search(rf"{host} missed a goal of --assert: p90<500ms: \d+ of {of} exceeds? it$", r.out, re.M), r.out)
        check("p50<1h:" not in r.out, r.out)
        check_equal([i["name"] for i in r.result("all")["instances"]], ["c1", "c2"], "merged")


def test_client_that_does_not_end_is_named_and_killed():
    with Testbed(2) as testbed:
        before = testbed.states()
        run = a_run(testbed, collect_timeout=5)
        run.wait_for_start("c2", 2)
        signal_program(testbed, "c2", "STOP")
        r = run.wait()
        check_equal(r.code, 2, f"exit code: {r.out}")
        check("c2 failed while measuring: Wait for the end: still running 5 s after the end: raise collect_timeout\n"
              in r.out, r.out)
        check_equal([i["name"] for i in r.result("all")["instances"]], ["c1"], "merged")
        check(os.path.exists(r.results + "/c2.err"), "what it said")
        testbed.check_states(before, "all hosts, the stopped process gone")


def test_truncated_results_are_named_and_not_merged():
    with Testbed(2) as testbed:
        before = testbed.states()
        settings = {"connections": 500, "rate": 500, "duration": 2}
        for part in ("tune", "run"):
            r = testbed.run("--tags", part, **settings)
            check_equal(r.code, 0, f"{part}: {r.out}")
        full = write_program(temp_path("tcpreport"), f"""#!/bin/sh
            [ "$1" = merge ] || exec {os.path.abspath(TCPREPORT)} "$@"
            {os.path.abspath(TCPREPORT)} "$@"; truncate --size=20 all.json; echo 'all.json: disk full' >&2; exit 3""")
        r = testbed.run("--tags", "collect", tcpreport=full, **settings)
        check_equal(r.code, 2, f"exit code if the merged result cannot be written: {r.out}")
        check("no report: tcpreport merge failed: exit code 4: all.json: disk full" in r.out, r.out)
        testbed.call("in", "c2", "truncate", "--size=-20", f"{REMOTE}/run.hlog")
        r = testbed.run("--tags", "collect,revert", **settings)
        check_equal(r.code, 2, f"exit code: {r.out}")
        check(re.search(r"c2 failed while collecting: Check the result: .*c2\.hlog.*truncated", r.out), r.out)
        check_equal([i["name"] for i in r.result("all")["instances"]], ["c1"], "merged")
        testbed.check_states(before, "all hosts")


def test_programs_may_come_from_a_package():
    with Testbed(1) as testbed:
        before = testbed.states()
        testbed.call("in", "c1", "mount", "--bind", "/dev/null", "/usr/bin/dpkg-deb")  # as on other systems than Debian
        r = testbed.run(connections=100, rate=100, duration=1, deb=package())
        check_equal(r.code, 0, f"exit code: {r.out}")
        check_equal(r.result("all")["connections"]["proven"], 100, "proven")
        testbed.check_states(before, "all hosts")


if __name__ == "__main__":
    main()
