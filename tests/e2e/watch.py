# SPDX-License-Identifier: MIT
"""The cost at the server: --watch and tcpreport watch, on servers whose cost is known."""

import datetime
import html

from helpers.harness import *
from helpers.html_page import Page, check_axes, problems
from helpers.reports import need_tcpreport, report

# A server that answers pings with themselves.  In a child of its own, it keeps BYTES of memory per connection.
COSTLY = """
import ctypes, os, selectors, signal, socket, sys
size, name = int(sys.argv[1]), sys.argv[2].encode()
listener = socket.create_server(("127.0.0.1", 0), backlog=512)
ctypes.CDLL(None).prctl(15, name, 0, 0, 0)
if os.fork():
    os.wait()
    sys.exit()
ctypes.CDLL(None).prctl(1, signal.SIGKILL, 0, 0, 0)
print(listener.getsockname()[1], flush=True)
kept, selector = {}, selectors.DefaultSelector()
selector.register(listener, selectors.EVENT_READ)
while True:
    for key, _ in selector.select():
        if key.fileobj is listener:
            connection = listener.accept()[0]
            kept[connection] = b"x" * size
            selector.register(connection, selectors.EVENT_READ)
            continue
        data = key.fileobj.recv(65536)
        if data:
            key.fileobj.sendall(data)
        else:
            selector.unregister(key.fileobj)
            kept.pop(key.fileobj)
            key.fileobj.close()
"""
# A server that never accepts.
DEAF = """
import socket, sys, time
listener = socket.create_server(("127.0.0.1", 0), backlog=4)
print(listener.getsockname()[1], flush=True)
time.sleep(1000)
"""
PICTURES = {"Memory of the server": ("connections", "memory of the server, MiB"),
            "CPU time of the server": ("time since the first sample, s", "CPUs busy")}
HOSTILE = "<b>&\"'\x1b[1m"  # the kernel keeps 15 bytes


def start_server(code, *arguments):
    """(process, port) of a Python program that prints its port."""
    process = spawn([sys.executable, "-c", code, *[str(a) for a in arguments]], stdout=subprocess.PIPE, text=True)
    return process, int(process.stdout.readline())


def watched_run(pid, port, *arguments):
    result = run_client("--watch", pid, "-p", port, "--protocol", "echo", *arguments, "127.0.0.1")
    check(result.json and result.json["server_cost"], f"a run with a cost; stderr: {result.err}")
    return result


def slope_of(size):
    process, port = start_server(COSTLY, size, "costly")
    cost = watched_run(process.pid, port, "-c", 200, "--connect-rate", 150, "-t", "200ms").json["server_cost"]
    stop(process)
    check_equal((cost["processes"], cost["end"]), (2, None), "parent and child, to the end")
    return cost["user_bytes_per_connection"]


def test_memory_per_connection_is_measured():
    small, large = slope_of(65536), slope_of(131072)
    for slope, truth in ((small, 65536), (large, 131072)):
        with stall_may_spoil():  # between samples, and between counting the connections and reading the memory
            check(slope and slope["samples"] >= 3, f"samples over the ramp: {slope}")
            check(truth <= slope["value"] < truth + 16384, f"{slope} for {truth} bytes")
        check(slope["low"] <= slope["value"] <= slope["high"], f"the interval of {slope}")
    with stall_may_spoil():
        check(small["high"] < large["low"], f"the control: twice the memory is told apart: {small}, {large}")


def cpu_with_children_s(pid):
    """CPU time of a process, and of its children that have ended."""
    return sum(map(int, stat_fields(pid)[11:15])) / os.sysconf("SC_CLK_TCK")


def check_cpu_time(cost, used_s):
    """Checks the CPU time per query in a run of some seconds, in which the server used used_s in total."""
    with stall_may_spoil():  # a sample is taken every second
        check(cost["queries"], "queries between two samples")
    watched_s = (cost["user_ns_per_query"] + cost["system_ns_per_query"]) * cost["queries"] / 1e9
    with stall_may_spoil():
        check(watched_s > 0, "CPU time between two samples")
    check(watched_s <= used_s + 1e-6, f"{watched_s} s of the {used_s} s that the server used")


@covered_by_others
def test_cpu_time_per_query_is_measured():
    with Server() as server:
        result = watched_run(server.pid, server.port, "-c", 20, "-r", 3000, "-t", 4)
        used_s = cpu_with_children_s(server.pid)
    cost = result.json["server_cost"]
    check_cpu_time(cost, used_s)
    check(cost["queries"] <= result.json["queries"]["sent"], f"queries between two samples: {cost['queries']}")
    check(cost["rss_bytes"] > 1 << 20 and cost["fds"] > 3 and cost["pss_bytes"] <= cost["rss_bytes"], f"memory: {cost}")
    text = result.err.split("Server cost  ")[1]
    check(text.startswith(f"tcpserver (process {server.pid})\n") and " of CPU time per query: " in text, result.err)
    rows = [dict(zip(cost["columns"], row)) for row in cost["samples"]]
    check_equal([row["connections"] for row in rows[:1] + rows[-1:]], [0, 20], "the first and the last sample")
    counted = {row["established"] for row in rows[:-1] if row["connections"] == 20}
    check(counted <= {20, None}, f"sockets of the port, for a while unknown after a reading that took long: {counted}")
    check(all(a["epoch_ns"] < b["epoch_ns"] and a["user_us"] <= b["user_us"] for a, b in itertools.pairwise(rows)),
          "time and CPU time only grow")


@covered_by_others
def test_sockets_of_the_port_are_counted():
    """In the first sample; how often then depends on how long it takes to count them."""
    need_tcpreport()
    samples = temp_path("samples.json")
    with Server() as server:
        client = Client("-p", server.port, "-c", 20, "--stats-interval", "200ms", "127.0.0.1")
        wait_until_running(client)
        watch, _ = start_watch(server.pid, "--port", server.port, "--json", samples)
        check_equal(stop(watch, signal.SIGINT), 0, "exit code of tcpreport watch")
        client.process.send_signal(signal.SIGINT)
        check_conservation(client.wait())
    document = read_json(samples)
    first = dict(zip(document["columns"], document["samples"][0]))
    check_equal((first["established"], first["time_wait"]), (20, 0), "sockets of the port")


def test_listen_queue_is_watched():
    process, port = start_server(DEAF)
    cost = watched_run(process.pid, port, "-c", 30, "--connect-timeout", "1500ms", "--timeout", "1s", "-t", 1).json["server_cost"]
    queue = cost["listen_queue"]
    check_equal((queue["longest"], queue["backlog"]), (5, 4), "a queue of 4 holds one more")
    check(queue["overflows"] > 0 and queue["drops"] >= queue["overflows"], f"connections that found it full: {queue}")


def test_end_of_the_server_is_reported():
    process, port = start_server(COSTLY, 1, "mortal")
    client = Client("--watch", process.pid, "-p", port, "--protocol", "echo", "-c", 5, "-r", 100, "--stats-interval",
                    "200ms", "127.0.0.1")
    wait_until_running(client)
    stop(process, signal.SIGKILL)
    wait_for(lambda: f"process {process.pid} has ended" in client.stderr(), "the line about the end")
    client.process.send_signal(signal.SIGINT)
    result = client.wait()
    check_equal(result.json["server_cost"]["end"], f"process {process.pid} has ended", "in the result")
    check(f"samples end early: process {process.pid} has ended\n" in result.err, result.err)


def gone_pid():
    process = spawn(["true"])
    process.wait()
    return process.pid


def test_servers_that_cannot_be_watched_are_refused():
    path = temp_path("kept.json")
    write_text(path, "kept")
    for value, words in (("nsd", "expected a process ID, unit:NAME or cgroup:PATH"), ("0", "expected a process ID"),
                         (gone_pid(), "no such process"), ("unit:no-such-unit", "no such unit with a control group"),
                         ("cgroup:/no/such/group", "no such control group")):
        r = run_client("--watch", value, "--json", path, "-c", 1, "127.0.0.1")
        check_code(r, 2)
        check("--watch" in r.err and words in r.err and len(r.err.splitlines()) == 1, f"{words!r} in {r.err}")
    check_equal(read_text(path), "kept", "the output of a run that did not start")


def start_watch(*arguments):
    """A tcpreport watch, and the file with what it says."""
    err = open(temp_path("watch.err"), "w+")
    process = spawn([TCPREPORT, "watch", *[str(a) for a in arguments]], stderr=err)

    def says():
        return read_text(err.name)
    wait_for(lambda: "watching" in says() or process.poll() is not None, "tcpreport watch")
    return process, says


def check_that_discarded_queries_cost(run, samples):
    """A search measures a part of what it sends: the server answered all of it."""
    def cost_us(result):
        path = temp_path("cost.json")
        write_json(path, result)
        text = report("show", path, "--watch", samples, code=None).stdout
        return float(re.search(r"([\d.]+) us of CPU time per query", text).group(1))

    result = read_json(run)
    result["warmup"]["sent"] = result["queries"]["sent"]
    check_between(cost_us(result) / cost_us(result | {"search": {"trials": []}}), 1.9, 2.1, "of half of the queries to all")


def check_that_no_peak_of_a_full_file_is_lost(run, document):
    """The file has as many samples as there can be, all from the time of the run."""
    started = datetime.datetime.fromisoformat(read_json(run)["started"].replace("Z", "+00:00"))
    rows = [[None] * len(document["columns"]) for _ in range(8193)]
    for i, row in enumerate(rows):
        row[document["columns"].index("epoch_ns")] = int(started.timestamp() * 1000) * 10**6 + i * 10**5
    rows[1][document["columns"].index("listen_queue")] = 500
    full = temp_path("full.json")
    write_json(full, document | {"samples": rows})
    text = report("show", run, "--watch", full, code=None).stdout
    check("listen queue: longest seen 500 of " in text, text)


def check_that_a_file_edited_on_windows_is_read(run, samples):
    edited = temp_path("edited.json")
    with open(samples, "rb") as source, open(edited, "wb") as f:
        f.write(b"\xef\xbb\xbf" + source.read().replace(b"\n", b"\r\n"))
    check_equal(*(report("show", run, "--watch", path, code=None).stdout for path in (edited, samples)), "what is shown")


def test_samples_from_another_host_are_matched_by_time():
    need_tcpreport()
    samples, run = temp_path("samples.json"), temp_path("run.json")
    with Server() as server:
        watch, _ = start_watch(server.pid, "--port", server.port, "--json", samples)
        result = run_client("--json", run, "-p", server.port, "-c", 50, "-r", 2000, "-t", 4, "127.0.0.1")
        check_equal(result.json, None, "the result is in the other file")
        check_equal(stop(watch, signal.SIGINT), 0, "exit code of tcpreport watch")
        used_s = cpu_with_children_s(server.pid)
    text = report("show", run, "--watch", samples, code=None).stdout
    check(re.search(rf"^Server cost  tcpserver \(process {server.pid}\)$", text, re.M), text)
    with stall_may_spoil():  # a sample is taken every second
        check(re.search(r"^ +[\d.]+ us of CPU time per query: ", text, re.M), text)
    check("Server cost" not in report("show", run, code=None).stdout, "the control: without samples")
    check_that_a_file_edited_on_windows_is_read(run, samples)
    check_that_discarded_queries_cost(run, samples)
    page = temp_path("page.html")
    report("html", "-o", page, run, "--watch", samples)
    check("<p>Memory per connection unknown: needs samples taken while at least 100 connections open.</p>" in
          read_text(page), "on the page")
    joined = json.loads(html.unescape(read_text(page).split('<pre id="result">')[1].split("</pre>")[0]))
    check_cpu_time(joined["server_cost"], used_s)
    document = read_json(samples)
    at = document["columns"].index("epoch_ns")
    for end, n, words in (("it has ended", None, None), ("it has ended", 3, "it has ended"), (None, 3, "watching was stopped")):
        other = temp_path("other.json")
        write_json(other, document | {"end": end, "samples": document["samples"][:n]})
        text = report("show", run, "--watch", other, code=None).stdout
        said = re.findall(r"^ +samples end early: (.*)$", text, re.M)
        check_equal(said, [words] if words else [], f"with {n or 'all'} samples; {text}")
    check_that_no_peak_of_a_full_file_is_lost(run, document)
    for row in document["samples"]:
        row[at] -= 3600 * 10**9
    write_json(samples, document)
    for file, words in ((samples, "no samples from the time of the run"), (run, "expected a file of tcpreport watch"),
                        ("/nonexistent", "cannot read")):
        r = report("show", run, "--watch", file, code=None)
        check_equal((r.returncode, len(r.stderr.splitlines())), (2, 1), r.stderr)
        check(words in r.stderr, f"{words!r} in {r.stderr}")


def test_tcpreport_watch_ends_with_the_server():
    need_tcpreport()
    process, port = start_server(COSTLY, 1, "mortal")
    samples = temp_path("samples.json")
    watch, says = start_watch(process.pid, "--port", port, "--json", samples)
    stop(process, signal.SIGKILL)
    check_equal(watch.wait(HANGS_S), 3, f"exit code; stderr: {says()}")
    check(f"process {process.pid} has ended" in says(), says())
    check_equal(read_json(samples)["end"], f"process {process.pid} has ended", "in the file")
    for arguments, words in ((["5", "--json", samples], "missing --port"), (["5", "--port", "5"], "missing --json"),
                             (["--port", "5", "--json", samples], "expected one server"),
                             (["x", "--port", "5", "--json", samples], "invalid server 'x'"),
                             ([gone_pid(), "--port", "5", "--json", samples], "no such process")):
        r = report("watch", *arguments, code=None)
        check_equal((r.returncode, len(r.stderr.splitlines())), (2, 1), r.stderr)
        check(words in r.stderr, f"{words!r} in {r.stderr}")


def test_process_name_is_treated_as_text():
    need_tcpreport()
    process, port = start_server(COSTLY, 1, HOSTILE)
    run, page = temp_path("run.json"), temp_path("page.html")
    result = watched_run(process.pid, port, "-c", 5, "-r", 100, "-t", 1)
    shown = f"{HOSTILE[:15]} (process {process.pid})".replace("\x1b", "?")
    check_equal(result.json["server_cost"]["watched"], shown, "in the result")
    check(f"Server cost  {shown}\n" in result.err and "\x1b" not in result.err, "on the terminal")
    write_json(run, result.json)
    report("html", "-o", page, run)
    text = read_text(page)
    check_equal(problems(text), [], "no markup")
    check(f"Watched: {shown}." in Page(text).text(), "the name is there")
    check_axes(text, PICTURES if shutil.which("gnuplot") else {})
    check(problems(text.replace("Watched: &lt;b&gt;", "Watched: <b>", 1)), "the control: unescaped, it is noticed")


if __name__ == "__main__":
    main()
