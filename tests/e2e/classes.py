# SPDX-License-Identifier: MIT
"""Classes of clients: their shares, their own schedules and queries, and results for each of them that add up.

The fault server answers the queries of class a after 20 ms and those of class b after 50 ms, so that the response times
of each class are known; it counts both by their names."""

from helpers.class_runs import *
from helpers.control_api import *
from helpers.faults import *
from helpers.reports import need_tcpreport

DELAYS_MS = {"a": 20, "b": 50}


def known_delays(delays=None):
    delays = delays or DELAYS_MS
    return FaultServer("--delay-names", ",".join(f"{name}.example:{ms}" for name, ms in delays.items()))


A = "name=a,share=70%,interval=200ms,qname=a.example"
B = "name=b,share=30%,interval=50ms,qname=b.example"


def check_known_delays(r, delays):
    """Never earlier, even on a busy machine; later only if it stalls."""
    for name, ms in delays.items():
        times = r.json["latency_ns"][f"response:{name}"]
        print(f"     {name}: {ms} ms; p50 {times['p50'] / 1e6:.2f}, p90 {times['p90'] / 1e6:.2f}, p99 {times['p99'] / 1e6:.2f} ms")
        check(times["min"] >= ms * 1e6 * 0.99, f"{name}: answered {times['min'] / 1e6} ms after it was due, before {ms} ms")
    with stall_may_spoil():
        for name, ms in delays.items():
            for percentile in ("p50", "p90"):
                check(r.json["latency_ns"][f"response:{name}"][percentile] < (ms + 25) * 1e6, f"{name}: {percentile}")


@measures_time
def test_classes_have_their_shares_and_their_own_response_times():
    server = known_delays()
    r = run_classes(server.port, "-t", 3, classes=(A, B))
    classes = check_classes(r)
    named = server.stop()["named"]
    check_equal([classes[name]["clients"] for name in "ab"], [70, 30], "clients")
    check_equal([classes[name]["connections"]["connected"] for name in "ab"], [70, 30], "connections")
    check_near(classes["a"]["queries"]["scheduled"], 70 * 15, 1, "queries of a")
    check_near(classes["b"]["queries"]["scheduled"], 30 * 60, 1, "queries of b")
    check_near(classes["a"]["rate"]["asked_qps"], 350, 0.001, "rate of a")
    check_near(r.json["rate"]["asked_qps"], 950, 0.001, "rate of all")
    check_equal([classes[name]["queries"]["answered"] for name in "ab"],
                [named["a.example:20"], named["b.example:50"]], "queries by their names, by the server")
    check_known_delays(r, DELAYS_MS)
    check_complete(r)


@measures_time
def test_response_times_follow_the_class_not_its_position():
    """The control: with the delays of the classes exchanged, so are their times."""
    swapped = {"a": 50, "b": 20}
    server = known_delays(swapped)
    r = run_classes(server.port, "-t", 3, classes=(A, B))
    check_classes(r)
    check_known_delays(r, swapped)
    with stall_may_spoil():
        check(r.json["latency_ns"]["response:b"]["p90"] < r.json["latency_ns"]["response:a"]["min"], "b is the faster one")


@measures_time
def test_percentiles_of_a_class_equal_those_of_a_separate_run():
    server = known_delays()
    together = run_classes(server.port, "-t", 3, classes=(A, B))
    check_classes(together)
    alone = {"a": run_client("-p", server.port, "-c", 70, "-i", "200ms", "--qname", "a.example", "-t", 3, "127.0.0.1"),
             "b": run_client("-p", server.port, "-c", 30, "-i", "50ms", "--qname", "b.example", "-t", 3, "127.0.0.1")}
    for name, r in alone.items():
        mine, own = together.json["latency_ns"][f"response:{name}"], r.json["latency_ns"]["response"]
        print(f"     {name}: " + ", ".join(f"{p} {mine[p] / 1e6:.2f} and {own[p] / 1e6:.2f} ms" for p in ("p50", "p90", "p99")))
        check_near(mine["count"], own["count"], 1, f"{name}: answers")
        # the delays of the classes are 30 ms apart: a mixture, or the other class, is farther away
        other = alone["b" if name == "a" else "a"].json["latency_ns"]["response"]
        with stall_may_spoil():
            for percentile in ("p50", "p90"):
                check(abs(mine[percentile] - own[percentile]) < 15e6, f"{name}: {percentile} of both")
            check(abs(mine["p50"] - other["p50"]) > 15e6, f"{name}: the control: p50 of the other class")


def test_every_thread_has_its_share_of_every_class():
    server = Server()
    out = temp_path("connections.csv")
    r = run_classes(server.port, "-t", 1, "--threads", 3, "--warmup", "200ms", "--connections-out", out, connections=10,
                    classes=("name=few,share=10%,interval=50ms", "name=many,share=60%,rate=600", "name=rest,share=30%,rate=30"))
    classes = check_classes(r)
    check_equal([c["clients"] for c in classes.values()], [1, 6, 3], "clients")
    check_equal([c["connections"]["connected"] for c in classes.values()], [1, 6, 3], "connections")
    check_equal(classes["few"]["queries"]["scheduled"], 20, "queries of the only one of its class")
    rows = read_rows(out)
    for name, c in classes.items():
        of_class = [int(row["queries"]) for row in rows if row["class"] == name]
        sent = sum(c[kind]["sent"] for kind in ("queries", "warmup", "probes"))
        check_equal((len(of_class), sum(of_class)), (c["clients"], sent), f"{name}: rows of connections, and their queries")
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")
    check_between(classes["many"]["queries"]["scheduled"], 600 - 5 * 25, 600 + 5 * 25, "Poisson arrivals")


def test_each_class_asks_the_queries_of_its_file():
    files = {}
    for name, n in (("a", 2), ("b", 3)):
        files[name] = temp_path(f"{name}.txt")
        write_text(files[name], "".join(f"{name}{i}.example\n" for i in range(n)))
    log = temp_path("log.csv")
    server = FaultServer("--log", log)
    r = run_classes(server.port, "-t", 1, "-i", "100ms", "--edns", 1232, connections=10, classes=(
        f"name=a,share=60%,query-file={files['a']}", f"name=b,share=40%,qtype=AAAA,query-file={files['b']}"))
    classes = check_classes(r)
    server.stop()
    questions = [bytes.fromhex(row["question"]) for row in read_rows(log)]
    check_equal(len(questions), r.json["queries"]["sent"] + r.json["probes"]["sent"], "queries of the server's log")
    for name, n, qtype in (("a", 2, b"\0\1"), ("b", 3, b"\0\x1c")):
        sent = [sum(question.startswith(b"\x02" + f"{name}{i}".encode() + b"\x07example\0" + qtype) for question in questions)
                for i in range(n)]
        check_equal(sum(sent), classes[name]["queries"]["sent"] + classes[name]["probes"]["sent"], f"queries of {name}")
        probes = classes[name]["probes"]["sent"]
        check(max(sent) - min(sent) <= 1 + probes, f"{name}: its file in order, and the first line to prove: {sent}")


def test_idle_classes_and_shares_work_with_a_schedule():
    server = Server()
    r = run_classes(server.port, "--schedule", "500ms:0-400,500ms:400", "--arrival", "constant", connections=20,
                    classes=("name=a,share=75%", "name=b,share=25%"))
    classes = check_classes(r)
    check_near(classes["a"]["queries"]["scheduled"], 225, 1, "three in four of 300 queries")
    check_near(classes["b"]["queries"]["scheduled"], 75, 2, "the others")
    r = run_classes(server.port, "-t", "500ms", connections=20, classes=("name=busy,share=10%,rate=100", "name=idle,share=90%"))
    classes = check_classes(r)
    check_equal((classes["idle"]["queries"]["scheduled"], classes["idle"]["connections"]["live_at_end"]), (0, 18), "idle ones")
    check(classes["busy"]["queries"]["scheduled"] > 10, "busy ones")


def test_unanswered_queries_are_counted_in_their_class():
    """Unresponsive are connections 0, 5, 10, ... in the order of accepting."""
    server = FaultServer("--unresponsive-every", 5)
    r = run_client("-p", server.port, "-c", 20, "-t", 1, "--timeout", "300ms", "--connect-window", 1, "--threads", 1, "--class",
                   "name=a,share=5%,interval=100ms", "--class", "name=b,share=95%,interval=100ms", "127.0.0.1")
    classes = check_classes(r)
    check_equal(classes["a"]["queries"]["timeout"], classes["a"]["queries"]["sent"], "all of the only one of a, which is unresponsive")
    check_equal(r.json["latency_ns"]["response:a"]["p50"], "beyond" if classes["a"]["queries"]["sent"] >= 20 else None, "p50 of a")
    check(0 < classes["b"]["queries"]["timeout"] < classes["b"]["queries"]["sent"], "some of b")


def test_classes_of_a_closed_loop_have_their_own_intervals():
    """A connection sends its next query one interval after its answer, which takes the known delay: never more often than that, and
    in virtual time (tests/sim/populations.py) never less often."""
    server = known_delays()
    r = run_classes(server.port, "-t", 2, "--loop", "closed", "--threads", 2, classes=(
        "name=a,share=70%,qname=a.example,interval=180ms", "name=b,share=30%,qname=b.example,interval=50ms"))
    classes = check_classes(r)
    for name, n, period_ms in (("a", 70, 200), ("b", 30, 100)):
        most = n * (2000 / period_ms + 1)
        check_between(classes[name]["queries"]["scheduled"], n, most, f"queries of {name}")
    check_equal(classes["a"]["rate"]["asked_qps"], None, "no rate is requested")
    check(", 100 connections, closed loop (2 classes), 2.00 s\n" in r.err, r.err)


def test_total_rate_can_be_changed_but_not_the_number_of_connections():
    server, control = Server(), control_path()
    client = Client("-p", server.port, "-c", 10, "-r", 100, "-t", 3600, "--stats-interval", "200ms", "--control", control,
                    "--class", "name=a,share=80%", "--class", "name=b,share=20%", "127.0.0.1")
    wait_until_running(client)
    refused = ask(control, "/connections/start?n=5", status=409)
    check("--class" in refused["error"], refused)
    ask(control, "/rate?qps=1000")
    check_equal(list(stats(control)["classes"]), ["a", "b"], "classes during the run")
    wait_for(lambda: stats(control)["queries"]["scheduled"] > 2000, "queries")
    ask(control, "/stop")
    r = client.wait()
    classes = check_classes(r)
    n, asked = r.json["queries"]["scheduled"], r.json["rate"]["asked_qps"] * r.json["rate"]["duration_s"]
    check(r.json["rate"]["asked_qps"] > 101, f"changed: {r.json['rate']}")
    check(abs(n - asked) <= 5 * asked ** 0.5 + 1, f"{n} scheduled, {asked:.0f} asked for")
    check_between(classes["a"]["queries"]["scheduled"], 0.8 * n - 5 * n ** 0.5 / 2, 0.8 * n + 5 * n ** 0.5 / 2, "four in five")


# --- settings ---

def test_sections_of_a_file_define_the_same_classes():
    path = temp_path("population.conf")
    write_text(path,
               "connections = 100\nduration = 1\n[class a]\nshare = 70%  # most of them\ninterval = 200ms\nqname = a.example\n"
               "\n[class b]\nshare = 30%\ninterval = 50ms\nqname = \"b.example\"\n")
    server = Server()
    from_file = run_client("-p", server.port, "--config", path, "127.0.0.1")
    from_words = run_classes(server.port, "-t", 1, classes=(A, B))
    for r in (from_file, from_words):
        check_classes(r)
    check_equal(from_file.json["options"]["class"], from_words.json["options"]["class"], "classes of the options")
    check_equal({name: c["queries"]["scheduled"] for name, c in from_file.json["classes"].items()},
                {name: c["queries"]["scheduled"] for name, c in from_words.json["classes"].items()}, "queries")
    printed = subprocess.run([TCPCLIENT, "--config", path, "--print-config", "127.0.0.1"], capture_output=True, text=True)
    check_equal((printed.returncode, printed.stderr), (0, ""), "--print-config")
    check("\n[class a]\nshare = 70%\ninterval = 200ms\nqname = a.example\n" in printed.stdout, printed.stdout)
    overridden = run_client("-p", server.port, "--config", path, "-t", "200ms", "--class", "name=c,share=100%,rate=50", "127.0.0.1")
    check_equal(list(check_classes(overridden)), ["c"], "the command line wins")


def test_a_run_without_classes_reports_none():
    r = run_client("-p", Server().port, "-c", 5, "-r", 100, "-t", "300ms", "127.0.0.1")
    check_equal((r.json["classes"], r.json["options"]["class"]), (None, None), "classes")
    check_equal([name for name in r.json["latency_ns"] if ":" in name], [], "metrics of classes")
    check("Class " not in r.err, r.err)


def test_bad_classes_are_refused_before_anything_is_opened():
    two_names = temp_path("two.conf")
    write_text(two_names, "[class a]\nname = b\nshare = 100%\n")
    for words, part in ((["--class", "name=a"], "share"), (["--class", "name=a,share=50%"], "add up to 50%"),
                        (["--class", "name=a,share=100%,query-file=/nonexistent"], "/nonexistent"),
                        (["--class", "name=a,share=100%,qname=a..b"], "a..b"), (["--config", two_names], "give only one")):
        r = run_command([TCPCLIENT, "-p", "1", *words, "127.0.0.1"])
        check_equal((r.returncode, r.stdout, r.stderr.count("\n")), (2, "", 1), f"{words}: {r.stderr}")
        check(part in r.stderr, f"no '{part}' in {r.stderr}")


# --- reports ---

def test_tcpreport_shows_merges_and_draws_classes():
    need_tcpreport()
    server, paths = known_delays(), []
    for seed, interval in ((1, "50ms"), (2, "100ms")):
        base = temp_path(f"run{seed}")
        paths.append([f"{base}.json", f"{base}.hlog"])
        r = run_classes(server.port, "-t", 1, "-s", seed, "--hlog", paths[-1][1], classes=(A, B.replace("50ms", interval)))
        check_classes(r)
        check(re.search(r"^a +70 +70 +70 +70 ", r.err, re.M), f"the summary has a row for class a: {r.err}")
        write_json(paths[-1][0], r.json)
    shown = tcpreport("show", *paths[0]).stdout
    check(re.search(r"^a +70 +70 +70 +70 ", shown, re.M) and re.search(r"^b +30 +30 +30 +30 ", shown, re.M), shown)
    check(len(re.findall(r"^[ab] +[\d.]+ m?s +", shown, re.M)) == 2, f"response times of both: {shown}")
    merged_path = temp_path("merged.json")
    warnings = tcpreport("merge", *paths[0], *paths[1], "--json", merged_path).stderr
    check(re.search(r'^tcpreport: warning: .* have different settings: .*class .*"50ms".*"100ms"', warnings, re.M),
          f"a line about the settings: {warnings}")
    with open(merged_path) as f, open(paths[0][0]) as one, open(paths[1][0]) as other:
        merged, results = json.load(f), [json.load(one), json.load(other)]
    for name in "ab":
        check_equal(merged["classes"][name]["clients"], 2 * results[0]["classes"][name]["clients"], f"clients of {name}")
        check_equal(merged["classes"][name]["queries"]["answered"],
                    sum(r["classes"][name]["queries"]["answered"] for r in results), f"queries of {name}")
        times = merged["latency_ns"][f"response:{name}"]
        check_equal(times["count"], merged["classes"][name]["queries"]["answered"], f"response times of {name}")
        check_equal(times["min"], min(r["latency_ns"][f"response:{name}"]["min"] for r in results), f"least of {name}")
    page = temp_path("page.html")
    tcpreport("html", *paths[0], "-o", page)
    check("Classes of clients" in read_text(page), "the page has the classes")


def test_long_names_shift_no_column():
    """The names of the metrics of classes, and of the times of arrivals."""
    need_tcpreport()
    name, base = "of-sixteen-bytes", temp_path("run")
    server = known_delays()
    r = run_classes(server.port, "-t", 1, "--connect-rate", 1000, "--connect-arrival", "constant", "--hlog", f"{base}.hlog",
                    classes=(A, B.replace("name=b", f"name={name}")))
    check_classes(r)
    write_json(f"{base}.json", r.json)
    outputs = [r.err, *(tcpreport(command, f"{base}.json", f"{base}.hlog").stdout for command in ("show", "merge"))]
    for text, names in zip(outputs, ((name,), (name, "due_to_connected"), (f"response:{name}", "due_to_connected"))):
        tables = ["".join(table) for table in re.findall(r"^(\S.* min +p50 .*\n)((?:\S.+\n)+)", text, re.M)]
        for n in names:
            check(any(f"\n{n} " in table for table in tables), f"{n} in the tables of {text}")
        for table in tables:
            lengths = {len(line) + 10 * line.startswith("holds") for line in table.splitlines()}  # it has no mean
            check_equal(len(lengths), 1, f"different lengths of the lines of: {table}")


def tcpreport(*arguments):
    r = run_command([TCPREPORT, *arguments])
    check(r.returncode in (0, 3), r.stderr)
    return r


if __name__ == "__main__":
    main()
