# SPDX-License-Identifier: MIT
"""What service managers and logrotate rely on: readiness, files renamed during a run, snapshots."""

import csv
import glob
import pty
import resource
import socket

from helpers.harness import *
from helpers.reports import need_tcpreport
from helpers.served import connect_many

HEADER = "type,timestamp,connection_id,query_id,poisson_id,poisson_interval_us,rtt_us,response_us,send_lag_us"


class Manager:
    """The service manager that started the programs and gets their notifications."""

    def __init__(self, name):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind("\0" + name[1:] if name[0] == "@" else name)
        self.socket.settimeout(HANGS_S)
        os.environ["NOTIFY_SOCKET"] = name

    def __enter__(self):
        return self

    def __exit__(self, *_):
        del os.environ["NOTIFY_SOCKET"]
        self.socket.close()

    def told(self):
        return self.socket.recv(1000).decode()

    def check_told_nothing(self, seconds):
        self.socket.settimeout(seconds)
        try:
            raise AssertionError(f"told {self.told()!r}")
        except TimeoutError:
            self.socket.settimeout(HANGS_S)


def test_the_server_is_ready_when_it_listens():
    for name in (temp_path("notify"), f"@tcpscaler-test-{RUN}"):
        with Manager(name) as manager, Server() as server:
            check_equal(manager.told(), "READY=1", "first datagram")
            socket.create_connection(("127.0.0.1", server.port), timeout=HANGS_S).close()
            manager.check_told_nothing(0.2)
            server.stop()
            check_equal(manager.told(), "STOPPING=1", "second datagram")
            manager.check_told_nothing(0.1)


def test_the_client_is_ready_when_its_connections_are_open():
    with Server() as server, Manager(temp_path("notify")) as manager:
        begin = time.monotonic()
        client = Client("-c", 20, "-n", 20, "-r", 100, f"127.0.0.1:{server.port}")
        check_equal(manager.told(), "READY=1", "first datagram")
        seconds = time.monotonic() - begin
        check(seconds > 0.9, f"told after {seconds} s: 20 connections at 20/s are open after a second")
        client.process.send_signal(signal.SIGTERM)
        check_equal(manager.told(), "STOPPING=1", "second datagram")
        r = client.wait()
    check_equal(r.json["connections"]["proven"], 20, "proven")


def rows_of(path):
    lines = read_text(path).splitlines()
    check_equal(lines[0], HEADER, f"first line of {path}")
    check(all(line.count(",") == 8 for line in lines), "whole rows")
    return list(csv.DictReader(lines))


def has_bytes(path, n_bytes):
    return os.path.exists(path) and os.path.getsize(path) > n_bytes


def rotate(client, path, number):
    """As logrotate does. Returns the old file's new name."""
    old = f"{path}.{number}"
    os.rename(path, old)
    client.process.send_signal(signal.SIGHUP)
    wait_for(lambda: os.path.exists(path), "the new file")
    return old


def lines_of(path):
    return read_text(path).splitlines()


def is_head(line):
    return line[:1] in '#"'


def intervals_of(hlog_path):
    return [line for line in lines_of(hlog_path) if not is_head(line)]


def test_rows_are_in_either_the_old_or_the_new_file():
    rows_path, hlog_path = temp_path("rows.csv"), temp_path("run.hlog")
    with Server() as server:
        client = Client("-c", 20, "-r", 20000, "-o", rows_path, "--raw-full", "block", "--hlog", hlog_path,
                        f"127.0.0.1:{server.port}")
        old = []
        for number in range(5):
            wait_for(lambda: has_bytes(rows_path, 1 << 18), "rows")
            old.append(rotate(client, rows_path, number))
        old_hlog = rotate(client, hlog_path, 1)
        wait_for(lambda: intervals_of(hlog_path), "an interval in the new log")
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
    check_conservation(r)
    parts = [rows_of(path) for path in (*old, rows_path)]
    check_equal([i for i, part in enumerate(parts) if not part], [], "files without rows")
    for type_, key in (("Q", "sent"), ("A", "answered")):
        rows = [row for part in parts for row in part if row["type"] == type_]
        total = r.json["queries"][key] + r.json["warmup"][key]
        check_equal(len(rows), total, f"{type_} rows in all files")
        names = [(row["connection_id"], row["query_id"], row["timestamp"]) for row in rows]
        check_equal(len(set(names)), len(names), f"{type_} rows that differ")
    check_equal(r.json["output"]["rows"], sum(map(len, parts)), "rows of the result")
    firsts = [float(part[0]["timestamp"]) for part in parts]
    check_equal(firsts, sorted(firsts), "first rows of the files")
    heads = [[line for line in lines_of(path) if is_head(line)] for path in (old_hlog, hlog_path)]
    check_equal(heads[1], heads[0], "heads of the logs: times count from the same start")


@covered_by_others
def test_renamed_file_is_still_written_without_sighup():
    """The control: it is the signal that makes the new file."""
    path = temp_path("rows.csv")
    with Server() as server:
        client = Client("-c", 5, "-r", 1000, "-t", 1, "-o", path, f"127.0.0.1:{server.port}")
        wait_for(lambda: os.path.exists(path), "rows")
        os.rename(path, path + ".1")
        r = client.wait()
    check(not os.path.exists(path), "no new file")
    check_equal(len(rows_of(path + ".1")), r.json["output"]["rows"], "rows")


def test_missing_directory_keeps_the_old_file_open():
    path = temp_path("rows.csv")
    directory = os.path.dirname(path)
    with Server() as server:
        client = Client("-c", 5, "-r", 1000, "-o", path, f"127.0.0.1:{server.port}")
        wait_for(lambda: has_bytes(path, 1000), "rows")
        os.rename(directory, directory + ".gone")
        client.process.send_signal(signal.SIGHUP)
        wait_for(lambda: "cannot reopen" in client.stderr(), "what it says of it")
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
        os.rename(directory + ".gone", directory)
    check("--output: cannot reopen" in r.err, r.err)
    check_equal(len(rows_of(path)), r.json["output"]["rows"], "rows")


def with_little_room(n_bytes):
    """What a program is started with whose files stop growing at this size, as on a full disk."""
    need_program("prlimit")
    return ["prlimit", f"--fsize={n_bytes}:"]


def make_room(process):
    """Its files may grow again."""
    hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)[1]
    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (hard, hard))


def has_failed_to_write(process):
    """The thread that writes the rows, like all others of the client but the main one, blocks the signal that it gets."""
    for name in glob.glob(f"/proc/{process.pid}/task/*/status"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError), open(name) as f:  # a thread may end
            pending = re.search(r"^SigPnd:\s*(\w+)$", f.read(), re.MULTILINE)
            if int(pending[1], 16) >> signal.SIGXFSZ - 1 & 1:
                return True
    return False


@covered_by_others
def test_server_says_at_once_that_rows_are_lost_until_sighup():
    path = temp_path("connections.csv")
    with Server("--connections-out", path, prefix=with_little_room(2000)) as server:
        words = f"--connections-out: cannot write '{path}': File too large; rows are lost until SIGHUP"
        for n_times in (1, 2):
            connect_many(server, 200)
            wait_for(lambda: server.stderr().count(words) == n_times, "its words")
            if n_times == 2:
                make_room(server.process)
            server.process.send_signal(signal.SIGHUP)
            wait_for(lambda: server.stderr().count("could not write") == n_times, "SIGHUP to be taken")
        check_equal(server.stderr().count(words), 2, "said once for each time")
        n_lines = read_text(path).count("\n")
        connect_many(server, 200)
        wait_for(lambda: read_text(path).count("\n") >= n_lines + 200, "the rows that follow")
        check_equal(server.stop(), 1, "exit code, for those that are missing")


def test_server_says_at_once_that_rows_on_stdout_are_lost():
    reading, writing = os.pipe()
    os.close(reading)
    err = temp_path("server.err")
    with open(err, "w") as f:
        server = spawn([TCPSERVER, "--connections-out", "-", "0"], stdout=writing, stderr=f)
    os.close(writing)
    words = "tcpserver: --connections-out: cannot write 'stdout': Broken pipe; rows are lost\n"
    wait_for(lambda: words in read_text(err), "its words")
    check_equal(stop(server), 1, "exit code")


def test_rows_resume_after_a_full_disk():
    """In a new file, or in the same one, after other files have been removed to make room."""
    n_limit = 1 << 18
    for rotates in (True, False):
        path = temp_path("rows.csv")
        with Server() as server:
            client = Client("-c", 20, "-r", 5000, "-o", path, "--raw-full", "block", f"127.0.0.1:{server.port}",
                            prefix=with_little_room(n_limit))
            wait_for(lambda: has_failed_to_write(client.process), "a full disk")
            check_equal(os.path.getsize(path), n_limit, "size, with a row that is cut off or not")
            words = f"--output: cannot write '{path}': File too large; rows are lost until SIGHUP\n"
            wait_for(lambda: words in client.stderr(), "its words")
            make_room(client.process)
            if rotates:
                parts = [rotate(client, path, 1), path]
            else:
                client.process.send_signal(signal.SIGHUP)
                parts = [path]
            wait_for_client(client, lambda: has_bytes(path, 10000 if rotates else n_limit + 10000), "rows")
            client.process.send_signal(signal.SIGINT)
            r = client.wait()
        check_conservation(r)
        q, output = r.json["queries"], r.json["output"]
        check(f"--output: could not write '{path}': File too large" in r.err, r.err)
        check_equal(output["rows"], sum(len(rows_of(part)) for part in parts), "rows in all files")
        check_equal(output["rows"] + output["dropped_rows"], q["sent"] + q["answered"], "rows written, rows missing")
        check(output["dropped_rows"] > 0 and "output-lost" in r.json["reasons"], f"{output}, {r.json['reasons']}")
        check("missing: File too large" in r.err, "the summary says why")
        check_equal(r.err.count(words), 1, "said once")


@covered_by_others
def test_client_says_at_once_that_intervals_are_lost_until_sighup():
    path = temp_path("intervals.hlog")
    with Server() as server:
        client = Client("-c", 7, "-r", 1000, "--hlog", path, f"127.0.0.1:{server.port}", prefix=with_little_room(1000))
        words = f"--hlog: cannot write '{path}': File too large; intervals are lost until SIGHUP\n"
        wait_for(lambda: words in client.stderr(), "its words")
        make_room(client.process)
        rotate(client, path, 1)
        wait_for_client(client, lambda: has_bytes(path, 1001), "intervals")
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
    check_conservation(r)
    check_equal(r.err.count(words), 1, "said once")


@covered_by_others
def test_intervals_for_a_page_are_lost_to_the_end():
    need_tcpreport()
    page = temp_path("page.html")
    with Server() as server:
        client = Client("-c", 7, "-r", 1000, "--report", page, f"127.0.0.1:{server.port}", prefix=with_little_room(1000))
        words = r"--report: cannot write '\S+/run\.hlog': File too large; intervals are lost\n"
        wait_for(lambda: re.search(words, client.stderr()), "its words")
        make_room(client.process)
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
    check_conservation(r)
    check_equal(len(re.findall(words, r.err)), 1, "said once")


def test_client_snapshot_is_its_progress_line():
    path = temp_path("rows.csv")
    with Server() as server:
        client = Client("-c", 7, "-r", 1000, "-o", path, "--stats-interval", 0, f"127.0.0.1:{server.port}")
        wait_for(lambda: has_bytes(path, 100000), "rows of a second")
        check("7 live" not in client.stderr(), "no line without being asked")
        client.process.send_signal(signal.SIGUSR1)
        wait_for(lambda: "7 live" in client.stderr(), "the line")
        client.process.send_signal(signal.SIGINT)
        r = client.wait()
    check_conservation(r)
    check_code(r, 130)


def json_of(server):
    try:
        return read_json(server.json_path)
    except (OSError, ValueError):
        return None


def test_server_snapshots_replace_one_another():
    with Server() as server:
        idle = [socket.create_connection(("127.0.0.1", server.port), timeout=HANGS_S) for _ in range(4)]
        for n in (3, 2):
            def shows():
                server.process.send_signal(signal.SIGUSR1)
                time.sleep(0.1)
                j = json_of(server)
                return j is not None and (j["accepted"], j["active"]) == (4, n)
            idle.pop().close()
            wait_for(shows, f"{n} active")  # and so does any that is still to come
        old = server.json_path + ".1"
        os.rename(server.json_path, old)  # SIGHUP is not needed: each result is a new file
        for s in idle:
            s.close()
        check_equal(server.stop(), 0, "exit code")
        check_equal(server.result["accepted"], 4, "accepted, in the new file")
        check_equal(read_json(old)["active"], 2, "active, in the old one")


def test_stdout_in_a_file_is_not_reopened():
    """Its name is "-", which is that of no file."""
    path = temp_path("stdout.json")
    named_dash = os.path.join(os.path.dirname(path), "-")
    with Manager(temp_path("notify")) as manager, open(path, "w") as out:
        server = spawn([TCPSERVER, "--quiet", "--json", "-", "0"], stdout=out,
                       stderr=subprocess.DEVNULL, cwd=os.path.dirname(path))
        check_equal(manager.told(), "READY=1", "first datagram")
        server.send_signal(signal.SIGHUP)
        server.send_signal(signal.SIGUSR1)
        wait_for(lambda: has_bytes(path, 0) or os.path.exists(named_dash), "a snapshot")
        server.send_signal(signal.SIGTERM)
        check_equal(server.wait(HANGS_S), 0, "exit code")
    check(not os.path.exists(named_dash), "no file named '-'")
    check(has_bytes(path, 0), "the report is in the file")


def test_closed_terminal_ends_the_run_with_its_report():
    with Server() as server:
        master, slave = pty.openpty()
        json_path, rows_path = temp_path("client.json"), temp_path("rows.csv")
        client = spawn([TCPCLIENT, "-c", "3", "-r", "100", "--json", json_path, "-o", rows_path, f"127.0.0.1:{server.port}"],
                       stderr=slave, stdout=subprocess.DEVNULL)
        os.close(slave)
        shown = b""
        while not re.search(rb" live, [1-9]\d* of 100 sent/s", shown):
            shown += os.read(master, 1000)
        os.rename(rows_path, rows_path + ".1")
        client.send_signal(signal.SIGHUP)  # the terminal is there: files are to be reopened
        wait_for(lambda: has_bytes(rows_path, 0) and any(line[:1] == "A" for line in lines_of(rows_path)), "answers in the new file")
        check_equal(client.poll(), None, "exit code while the terminal is there")
        os.close(master)
        client.send_signal(signal.SIGHUP)
        check_equal(client.wait(HANGS_S), 130, "exit code")
        check(read_json(json_path)["queries"]["answered"] > 0, "the report")


def test_wait_for_a_reader_before_the_run_ends_with_the_terminal():
    """Or with SIGTERM, as the run itself does."""
    for command, code in (([TCPCLIENT, "127.0.0.1"], 130), ([TCPSERVER, "0"], 0)):
        for number in (signal.SIGHUP, signal.SIGTERM):
            master, slave = pty.openpty()
            fifo, shown = temp_path("fifo"), b""
            os.mkfifo(fifo)
            process = spawn([*command, "--json", fifo], stderr=slave)
            os.close(slave)
            while b"waiting for a reader" not in shown:
                shown += os.read(master, 1000)
            if number == signal.SIGHUP:
                os.close(master)
            process.send_signal(number)
            check_equal(process.wait(HANGS_S), code, f"exit code of {command} after {number.name}")
            if number != signal.SIGHUP:
                os.close(master)


if __name__ == "__main__":
    main()
