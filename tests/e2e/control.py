# SPDX-License-Identifier: MIT
"""The control API of both programs: control of a run under load, who gets which answer, abuse, and a Prometheus
that scrapes both."""

import http.client
import socket
import stat
import threading
import urllib.parse
import urllib.request

from docs import read
from harness import *

TOKEN = "a-token-of-24-characters"
OPENMETRICS = "application/openmetrics-text; version=1.0.0"


def curl(address, method, target, *arguments):
    """Status and body, as curl gets them."""
    need_program("curl")
    socket_of = ["--unix-socket", address[5:]] if address.startswith("unix:") else []
    host = "localhost" if socket_of else address
    r = subprocess.run(["curl", "-sS", "--max-time", "20", "-X", method, "-w", "\n%{http_code}", *socket_of,
                        *arguments, f"http://{host}{target}"], capture_output=True, text=True, timeout=60)
    check_equal(r.returncode, 0, f"curl's exit code for {target}; stderr: {r.stderr}")
    body, code = r.stdout.rsplit("\n", 1)
    return int(code), body


def ask(address, target, method="POST", status=200):
    """The JSON object that is answered."""
    code, body = curl(address, method, target)
    check_equal(code, status, f"status of {target}: {body}")
    return json.loads(body)


def stats(address):
    return ask(address, "/stats", "GET")


def control_path():
    return "unix:" + temp_path("control")


class Steered:
    """A client under load, and its server; both with a control port."""

    def __init__(self, *arguments, control=None, server_control=None, server_arguments=()):
        self.at_server = server_control or control_path()
        self.at_client = control or control_path()
        self.server = Server("--threads", 2, "--control", self.at_server, *server_arguments)
        self.client = Client("-p", self.server.port, "--control", self.at_client, "--server-control",
                             self.at_server, "--stats-interval", 0, *arguments, "127.0.0.1")
        wait_for(lambda: "control at" in self.client.stderr(), "the client's control port")
        wait_for(lambda: stats(self.at_client)["state"] == "running" and
                 stats(self.at_client)["rate"]["duration_s"] > 0.2, "the load")

    def wait_until_both_agree(self):
        """The last change has reached the server, too."""
        wait_for(lambda: stats(self.at_server)["active"] == stats(self.at_client)["connections"]["live_at_end"],
                 "the connections of both sides")

    def stop(self):
        """Both results, the client's checked for conservation."""
        ask(self.at_client, "/stop")
        r = self.client.wait()
        check_conservation(r)
        ask(self.at_server, "/stop")
        check_equal(self.server.process.wait(30), 0, "the server's exit code")
        self.server.stop()
        return r, self.server.result


def check_both_sides(r, server):
    c = r.json["connections"]
    check_equal(server["accepted"], c["connected"], "accepted by the server")
    check_equal(server["accepted"], server["active"] + sum(server["closed"].values()), "accepted")
    check_equal(r.json["server"]["accepted"], c["connected"], "accepted, as the client was told")
    check_equal(r.json["server"]["active"], c["live_at_end"], "active, as the client was told")
    check_equal(r.json["server"]["not_accepted"], 0, "never accepted")


def check_nothing_lost(r):
    q = r.json["queries"]
    check_equal(q["answered"], q["scheduled"], "answered")
    check_complete(r)


def test_rate_of_opening_is_that_of_the_connections_before_the_load():
    run = Steered("-c", 300, "-r", 100, "--max-connections", 1000)
    ask(run.at_client, "/connections/start?n=500")
    wait_for(lambda: stats(run.at_client)["connections"]["live_at_end"] == 800, "800 live")
    r, _ = run.stop()
    check("800 live at the end; the first 300 opened in " in r.err, r.err)


def test_connections_and_rate_change_under_load():
    run = Steered("-c", 500, "-r", 1000, "--max-connections", 2000)
    check_equal(ask(run.at_client, "/connections/start?n=1000")["wanted"], 1500, "wanted")
    wait_for(lambda: stats(run.at_client)["connections"]["live_at_end"] == 1500, "1,500 live")
    wait_for(lambda: stats(run.at_server)["active"] == 1500, "1,500 active")
    stopped = ask(run.at_client, "/connections/stop?n=500")
    check_equal((stopped["stopped"], stopped["wanted"]), (500, 1000), "stopped")
    wait_for(lambda: stats(run.at_server)["active"] == 1000, "1,000 active")
    check_equal(ask(run.at_client, "/rate?qps=500")["rate_qps"], 500, "rate")
    time.sleep(0.5)
    now = stats(run.at_client)
    check_equal((now["rate"]["now_qps"], now["verdict"]), (500, None), "rate and verdict under way")
    r, server = run.stop()
    c = r.json["connections"]
    check_equal((c["asked"], c["attempted"], c["live_at_end"]), (1500, 1500, 1000), "connections")
    check_equal(c["outcomes"], {"run/finished": 1500}, "ends")
    check_both_sides(r, server)
    check_nothing_lost(r)


def seconds_to_change(n, *arguments):
    """Until n more are live, and until n fewer are."""
    run = Steered("-c", 200, "-r", 200, "--max-connections", 200 + n, *arguments)
    spans = []
    for target, live in ((f"/connections/start?n={n}", 200 + n), (f"/connections/stop?n={n}", 200)):
        begin = time.monotonic()
        ask(run.at_client, target)
        wait_for(lambda: stats(run.at_client)["connections"]["live_at_end"] == live, f"{live} live")
        spans.append(time.monotonic() - begin)
    run.stop()
    return spans


def test_connections_come_and_go_at_their_pace():
    for s in seconds_to_change(200):
        check(s > 0.35, f"200 at 500/s took {s:.2f} s")
    for s in seconds_to_change(200, "-n", 100):
        check(s > 1.8, f"200 at 100/s took {s:.2f} s")
    check(min(min(seconds_to_change(1000, "-n", 100000)) for _ in range(3)) < 1.8,
          "1,000 at 100,000/s took as long as at 500/s")


def test_oldest_connections_are_stopped_first():
    rows = temp_path("rows.csv")
    run = Steered("-c", 100, "--max-connections", 200, "--threads", 2, "-r", 500, "-o", rows)
    ask(run.at_client, "/connections/start?n=100")
    wait_for(lambda: stats(run.at_client)["connections"]["live_at_end"] == 200, "200 live")
    check_equal(stats(run.at_server)["closed"], {}, "closed before")
    ask(run.at_client, "/connections/stop?n=100")
    wait_for(lambda: stats(run.at_server)["active"] == 100, "100 active")
    time.sleep(0.5)
    r, server = run.stop()
    check_both_sides(r, server)
    with open(rows) as f:
        asked = sorted((intended_ns(row), int(row["connection_id"])) for row in csv.DictReader(f)
                       if row["type"] == "Q")
    first = {i for due, i in asked if due < asked[0][0] + 0.2e9}
    last = {i for due, i in asked if due > asked[-1][0] - 0.3e9}
    # of the room of 200 each thread begins with the first half of its own
    check(first <= {*range(50), *range(100, 150)}, f"at the start: {sorted(first)}")
    check(last <= {*range(50, 100), *range(150, 200)}, f"at the end: {sorted(last)}")


def due_times(path):
    """When the measured queries were due, in seconds from the first, in order."""
    with open(path) as f:
        due = sorted(intended_ns(row) for row in csv.DictReader(f) if row["type"] == "Q")
    return [(t - due[0]) / 1e9 for t in due]


def test_rate_changes_at_a_moment_without_gap_or_burst():
    rows = temp_path("rows.csv")
    run = Steered("-c", 20, "-r", 1000, "--arrival", "constant", "-o", rows)
    at_s = ask(run.at_client, "/rate?qps=250")["from_s"]
    time.sleep(0.5)
    r, _ = run.stop()
    check_nothing_lost(r)
    due = due_times(rows)
    gaps = [later - earlier for earlier, later in zip(due, due[1:])]
    for begin, gap in zip(due, gaps):
        if begin + gap < at_s - 1e-6:
            check_between(gap, 0.000999, 0.001001, f"gap at {begin}")
        elif begin > at_s + 1e-6:
            check_between(gap, 0.003999, 0.004001, f"gap at {begin}")
        else:
            check_between(gap, 0.000999, 0.004001, f"gap at the change at {begin}")
    check(len([t for t in due if t > at_s]) > 80, "queries at the new rate")
    asked = r.json["rate"]["asked_qps"] * r.json["rate"]["duration_s"]
    check_between(r.json["queries"]["scheduled"], asked - 1.5, asked + 1.5, "the integral of the rate")


def test_nothing_becomes_due_in_a_pause():
    rows = temp_path("rows.csv")
    run = Steered("-c", 20, "-r", 1000, "--arrival", "constant", "-o", rows)
    begin_s = ask(run.at_client, "/pause")["from_s"]
    check_equal(ask(run.at_client, "/pause")["paused"], True, "asked for twice")
    check_equal(ask(run.at_client, "/rate?qps=500")["rate_qps"], 500, "rate, from the resume on")
    time.sleep(0.3)
    check_equal(stats(run.at_client)["state"], "paused", "state")
    end_s = ask(run.at_client, "/resume")["from_s"]
    time.sleep(0.3)
    r, _ = run.stop()
    due = due_times(rows)
    check_equal([t for t in due if begin_s + 1e-6 < t < end_s - 1e-6], [], "due in the pause")
    after = [t for t in due if t >= end_s - 1e-6]
    check(len(after) > 80, f"{len(after)} after it")
    check_between(after[0] - end_s, -1e-6, 0.002001, "the first after it")
    check_between(r.json["rate"]["paused_s"], end_s - begin_s - 1e-6, end_s - begin_s + 1e-6, "paused")
    said, unit = re.search(r"paused for ([\d.]+) (ms|s)\n", r.err).groups()
    check_between(float(said) / {"ms": 1000, "s": 1}[unit] / (end_s - begin_s), 0.99, 1.01, f"paused, in: {r.err}")
    check_equal(r.json["queries"]["unsent"], 0, "unsent")
    check_nothing_lost(r)


def test_changes_by_the_hundred_are_all_accounted_for():
    run = Steered("-c", 50, "-r", 500, "--max-connections", 100)
    connection = http.client.HTTPConnection("localhost")
    answers = {}
    for i in range(400):
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.connect(run.at_client[5:])
        connection.request("POST", ["/rate?qps=1000", "/rate?qps=500", "/connections/start?n=1",
                                    "/connections/stop?n=1"][i % 4])
        answer = connection.getresponse()
        answer.read()
        answers[answer.status] = answers.get(answer.status, 0) + 1
        connection.close()
    check(set(answers) <= {200, 429} and answers[200] > 100, f"answers by status: {answers}")
    run.wait_until_both_agree()
    r, server = run.stop()
    check_both_sides(r, server)
    with stall_may_spoil():  # a place is taken again whatever its last connection still awaits
        check_nothing_lost(r)


def test_what_cannot_be_done_is_said():
    run = Steered("-c", 10, "--max-connections", 15)
    check("at most 5 more" in ask(run.at_client, "/connections/start?n=6", status=409)["error"], "room")
    check_equal(ask(run.at_client, "/connections/stop?n=100")["stopped"], 10, "no more than there are")
    check_equal(ask(run.at_client, "/connections/start?n=15")["wanted"], 15, "all of the room")
    wait_for(lambda: stats(run.at_client)["connections"]["live_at_end"] == 15, "15 live")
    run.wait_until_both_agree()
    r, server = run.stop()
    check_both_sides(r, server)
    check_equal(r.json["connections"]["asked"], 25, "asked in all")
    closed = Steered("-c", 5, "-i", "50ms", "--loop", "closed")
    for target in ("/rate?qps=1", "/pause", "/resume"):
        ask(closed.at_client, target, status=409)
    closed.stop()


def test_stopped_before_it_began():
    control = control_path()
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(16)
        client = Client("-c", 4, "-p", silent.getsockname()[1], "--control", control, "--timeout", "60s",
                        "127.0.0.1")
        wait_for(lambda: "control at" in client.stderr(), "the control port")
        now = wait_for(lambda: stats(control)["connections"]["connected"] == 4 and stats(control), "4")
        check_equal((now["state"], now["verdict"]), ("connecting", None), "state")
        check("4 of 4 connected" in ask(control, "/rate?qps=1", status=409)["error"], "why not now")
        ask(control, "/stop")
        r = client.wait()
    check_conservation(r)
    check_code(r, 130)


# --- the server ---

def echo(s):
    s.sendall(b"x")
    return s.recv(1)


def test_server_closes_its_oldest_and_pauses_accepting():
    at = control_path()
    server = Server("--threads", 1, "--control", at)

    def connect():
        return socket.create_connection(("127.0.0.1", server.port), timeout=20)

    sockets = [connect() for _ in range(5)]
    for s in sockets:
        check_equal(echo(s), b"x", "echo")
    check_equal(ask(at, "/connections/stop?n=2"), {"stopped": 2, "active": 3}, "answer")
    check_equal([s.recv(1) for s in sockets[:2]], [b"", b""], "the oldest two are closed")
    check_equal([echo(s) for s in sockets[2:]], [b"x"] * 3, "the others are not")
    check_equal(ask(at, "/pause"), {"paused": True}, "answer")
    wait_for(lambda: stats(at)["state"] == "paused", "the pause")
    late = connect()
    late.sendall(b"y")
    late.settimeout(0.3)
    try:
        check(False, f"answered {late.recv(1)} in a pause")
    except TimeoutError:
        pass
    check_equal([echo(s) for s in sockets[2:]], [b"x"] * 3, "connections are served in a pause")
    ask(at, "/resume")
    late.settimeout(20)
    check_equal(late.recv(1), b"y", "answered after it")
    for target in ("/rate?qps=1", "/connections/start?n=1"):
        ask(at, target, status=404)
    ask(at, "/stop")
    check_equal(server.process.wait(30), 0, "exit code")
    server.stop()
    check_equal((server.result["accepted"], server.result["active"], server.result["closed"]),
                (6, 4, {"run/finished": 2}), "accepted, active, closed")
    check("6 accepted, 4 active" in server.stderr(), server.stderr())


def test_half_open_connections_are_those_never_accepted():
    at = control_path()
    server = Server("--threads", 1, "--control", at)
    ask(at, "/pause")
    wait_for(lambda: stats(at)["state"] == "paused", "the pause")
    r = run_client("-p", server.port, "-c", 8, "-t", 0.2, "--timeout", "300ms", "--connect-timeout", "1s",
                   "--server-control", at, "127.0.0.1")
    c = r.json["connections"]
    check_equal((c["connected"], c["half_open"]), (8, 8), "connected, half-open")
    check_equal((r.json["server"]["accepted"], r.json["server"]["not_accepted"]), (0, 8), "as the server saw it")
    check("8 connected here, but not accepted" in r.err, r.err)
    server.stop()


# --- who may ask, and how ---

def token_file(mode=0o600, text=TOKEN + "\n"):
    path = temp_path("token")
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, mode)
    return path


def test_token_is_wanted_and_its_file_private():
    for mode, text, contains in ((0o644, TOKEN, "chmod 600"), (0o600, "short", "16 to 256"),
                                 (0o600, "", "16 to 256"), (0o600, "with a blank in the token", "16 to 256")):
        r = subprocess.run([TCPSERVER, "--control", control_path(), "--control-token", token_file(mode, text),
                            "0"], capture_output=True, text=True, timeout=30)
        check_equal(r.returncode, 2, f"exit code for {oct(mode)} '{text}'")
        check(contains in r.stderr, r.stderr)
    path, port = token_file(), free_port()
    with Server("--control", f"0.0.0.0:{port}", "--control-token", path) as server:
        at = f"127.0.0.1:{port}"
        for wrong in ((), ("-H", "Authorization: Bearer " + TOKEN[:-1]), ("-H", "Authorization: " + TOKEN)):
            code, body = curl(at, "GET", "/stats", *wrong)
            check_equal(code, 401, f"status with {wrong}")
            check(server.stderr() and "accepted" not in body, "nothing is told")
        check_equal(curl(at, "GET", "/no-such-path")[0], 401, "nor which paths there are")
        right = ("-H", "Authorization: Bearer " + TOKEN)
        check_equal(curl(at, "GET", "/stats", *right)[0], 200, "status with the token")
        r = run_client("-p", server.port, "-c", 3, "-t", 0.1, "--server-control", at, "127.0.0.1")
        check_code(r, 2)
        check("401" in r.err, r.err)
        r = run_client("-p", server.port, "-c", 3, "-t", 0.1, "--server-control", at, "--control-token", path,
                       "127.0.0.1")
        check_equal(r.json["server"]["accepted"], 3, "accepted")


def test_status_codes():
    at = f"127.0.0.1:{free_port()}"
    with Server("--control", at):
        for method, target, arguments, want in (
                ("GET", "/stats", (), 200), ("GET", "/metrics", (), 200), ("GET", "/", (), 200), ("POST", "/", (), 405),
                ("GET", "/stats/../stats", ("--path-as-is",), 404), ("GET", "/pause", (), 405),
                ("POST", "/stats", (), 405), ("DELETE", "/stats", (), 405), ("PUT", "/stop", (), 405),
                ("POST", "/connections/stop", (), 400), ("POST", "/connections/stop?n=-1", (), 400),
                ("POST", "/connections/stop?n=1&m=2", (), 400), ("GET", "/stats?x", (), 400),
                ("BREW", "/stats", (), 501),
                ("POST", "/pause", ("-H", "Origin: http://evil.example"), 403),
                ("GET", "/stats", ("-H", "Host: evil.example"), 403),
                ("GET", "/stats", ("-H", "Host: localhost:1"), 200),
                ("POST", "/pause", ("-d", "x" * 5000), 413),
                ("GET", "/stats", ("-H", "X-Large: " + "x" * 20000), 400)):
            check_equal(curl(at, method, target, *arguments)[0], want, f"{method} {target} {arguments}"[:90])
        allowed = subprocess.run(["curl", "-si", "-X", "PUT", f"http://{at}/stop"], capture_output=True,
                                 text=True, timeout=30)
        check("Allow: POST" in allowed.stdout, allowed.stdout)


def test_list_of_paths_is_that_of_the_guide():
    rows = re.findall(r"^\| (`(?:GET|POST) .*) \| (.*) \| (.*) \|$", read("docs", "control.md"), re.M)
    check(len(rows) >= 8, f"rows: {rows}")

    def listed(column):
        found = []
        for row in rows:
            if row[column] != "-":
                first, *others = re.findall(r"`(.*?)`", row[0])
                found += [first, *(first.split(" ")[0] + " " + other for other in others)]
        return found

    at = f"127.0.0.1:{free_port()}"
    with Server("--control", at):
        check_equal(ask(at, "/", "GET"), {"paths": listed(2)}, "tcpserver's paths")
    run = Steered("-c", 2, "-r", 10)
    check_equal(ask(run.at_client, "/", "GET"), {"paths": listed(1)}, "tcpclient's paths")
    run.stop()


def test_unix_socket_is_private_and_goes_with_its_program():
    at = control_path()
    path = at[5:]
    with Server("--control", at) as server:
        check_equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, "mode")
        again = subprocess.run([TCPSERVER, "--control", at, "0"], capture_output=True, text=True, timeout=30)
        check_equal(again.returncode, 2, "exit code of a second one there")
        check("in use" in again.stderr, again.stderr)
        stats(at)
        server.stop(signal.SIGTERM)
    check(not os.path.exists(path), "removed at the end")
    with Server("--control", at) as server:
        server.process.kill()
        server.process.wait()
    check(os.path.exists(path), "left behind by one that was killed")
    with Server("--control", at):
        stats(at)
    with open(path, "w"):
        pass
    r = subprocess.run([TCPSERVER, "--control", at, "0"], capture_output=True, text=True, timeout=30)
    check_equal((r.returncode, os.path.exists(path)), (2, True), "what is no socket is left alone")


def test_other_addresses_need_a_token():
    for program, operand in ((TCPSERVER, "0"), (TCPCLIENT, "127.0.0.1:1")):
        for address, contains in (("0.0.0.0:9999", "--control-token"), ("[::]:9999", "--control-token"),
                                  ("localhost", "ADDR:PORT"), ("unix:", "path"),
                                  ("unix:" + "x" * 200, "path"), ("unix:/nonexistent/x", "/nonexistent")):
            r = subprocess.run([program, "-q", "--control", address, operand], capture_output=True, text=True,
                               timeout=30)
            check_equal(r.returncode, 2, f"exit code of {program} --control {address}")
            lines = r.stderr.splitlines()
            check(len(lines) == 1 and "--control" in lines[0] and contains in lines[0], r.stderr)


# --- abuse ---

def raw(address, data, wait_s=0.0):
    """What comes back for some bytes."""
    with socket.create_connection(address, timeout=20) as s:
        answer = b""
        try:
            s.sendall(data)
            time.sleep(wait_s)
            while part := s.recv(65536):
                answer += part
        except (ConnectionResetError, BrokenPipeError):
            pass
        return answer


def in_parallel(n, do):
    """The results of n calls at a time."""
    results, lock = [], threading.Lock()

    def one():
        try:
            result = do()
        except OSError as error:
            result = error
        with lock:
            results.append(result)

    threads = [threading.Thread(target=one) for _ in range(n)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def is_given_up(s):
    try:
        return s.recv(1000)[:12] in (b"", b"HTTP/1.1 400")
    except ConnectionResetError:
        return True


def test_abuse_changes_nothing():
    port = free_port()
    run = Steered("-c", 100, "-r", 2000, control=f"127.0.0.1:{port}")
    address = ("127.0.0.1", port)
    slow = [socket.create_connection(address, timeout=20) for _ in range(20)]
    for s in slow:
        s.sendall(b"GET /stats HT")
    for garbage in (b"\x00" * 1000, b"\r\n\r\n", os.urandom(5000) + b"\r\n\r\n", b"GET\r\n\r\n",
                    b"GET /stats HTTP/9.9\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" * 9,
                    b"POST /rate?qps=1 HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
                    b"POST /pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n"):
        answer = raw(address, garbage + b"\r\n\r\n")
        check(answer == b"" or answer.startswith((b"HTTP/1.1 400", b"HTTP/1.1 413", b"HTTP/1.0 400",
                                                  b"HTTP/1.1 501")), f"{garbage[:30]}: {answer[:60]}")
    huge = raw(address, b"GET /stats HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * 100000 + b"\r\n\r\n")
    check(huge == b"" or huge.startswith(b"HTTP/1.1 400"), f"answer to a huge header: {huge[:60]}")
    request = b"GET /stats HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    n = 100 if SANITIZED else 1000
    answers = in_parallel(n, lambda: raw(address, request)[:12])
    check_equal([a for a in answers if a != b"HTTP/1.1 200"], [], f"answers to {n} at a time")
    for s in slow:
        check(is_given_up(s), "a slow one is given up")
        s.close()
    r, server = run.stop()
    check_both_sides(r, server)
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")
    print(f"     send lag p99 beside it: {r.json['latency_ns']['send_lag']['p99'] / 1000:.0f} us")


def n_descriptors(program):
    """Of the main thread, which serves the control port."""
    return len(os.listdir(f"/proc/{program.pid}/fd"))


def check_silent_peers(program, address):
    """They take an eighth of 300 descriptors at most, and do not keep others out for long."""
    host, port = address.split(":")
    before, most = n_descriptors(program), 0
    silent = [socket.socket() for _ in range(160)]
    for s in silent:
        s.setblocking(False)
        s.connect_ex((host, int(port)))
        most = max(most, n_descriptors(program))
    status = []
    asked = threading.Thread(target=lambda: status.append(curl(address, "GET", "/stats")[0]))
    asked.start()
    while asked.is_alive():
        most = max(most, n_descriptors(program))
        time.sleep(0.01)
    check_between(most - before, 2, 300 // 8 + 2, "descriptors taken up by silent peers, and the one who asked")
    check_equal(status, [200], "status of a request beside them")
    for s in silent:
        s.close()


@needs_own_fd_tables
def test_silent_peers_do_not_use_up_descriptors():
    under = ["sh", "-c", 'ulimit -n 300; exec "$@"', "sh"]
    ports = [f"127.0.0.1:{free_port()}" for _ in range(2)]
    with Server("--control", ports[0], prefix=under) as server:
        client = Client("-p", server.port, "-c", 50, "-r", 1000, "-t", 60, "--control", ports[1], "127.0.0.1", prefix=under)
        wait_for(lambda: "control at" in client.stderr(), "the client's control port")
        for program, address in ((server, ports[0]), (client, ports[1])):
            check_silent_peers(program, address)
        ask(ports[1], "/stop")
        r = client.wait()
    check_conservation(r)
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")


def test_strangers_at_an_open_address_get_nothing():
    port, n_slow = free_port(), 50 if SANITIZED else 200  # with more the oldest are ended earlier
    path = token_file()
    with Server("--control", f"0.0.0.0:{port}", "--control-token", path) as server:
        address = ("127.0.0.1", port)
        client = Client("-p", server.port, "-c", 50, "-r", 1000, "-t", 7, "127.0.0.1")
        wait_for(lambda: "running" in client.stderr(), "the load", 60)
        before = rss_bytes(server.pid)
        slow = [socket.create_connection(address, timeout=20) for _ in range(n_slow)]
        for s in slow:
            s.sendall(b"POST /stop HTTP/1.1\r\nX: " + b"y" * 8000)
        guesses = [TOKEN[:i] + chr(0x21 + i) + TOKEN[i + 1:] for i in range(24)] + [TOKEN[:-1], TOKEN + "x", "", "\xff"]
        for guess in guesses:
            request = f"POST /stop HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer {guess}\r\n\r\n"
            answer = raw(address, request.encode("latin-1"))
            check(answer.startswith(b"HTTP/1.1 401"), f"answer to '{guess}': {answer[:40]}")
        each = (rss_bytes(server.pid) - before) / n_slow
        for s in slow:
            check(is_given_up(s), "a slow one is given up")
            s.close()
        check_equal(curl(f"127.0.0.1:{port}", "GET", "/stats", "-H", "Authorization: Bearer " + TOKEN)[0], 200, "the owner")
        r = client.wait()
        server.stop()
    print(f"     {each:.0f} bytes for each of {n_slow} slow ones")
    check(each < 12000 or SANITIZED, f"memory: {each} bytes each")
    check_conservation(r)
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")


# --- metrics ---

def metrics(address, *arguments):
    """Values by name and labels."""
    code, text = curl(address, "GET", "/metrics", *arguments)
    check_equal(code, 200, "status")
    return text, {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                  if not line.startswith("#")}


def test_metrics_are_well_formed():
    need_program("promtool")
    run = Steered("-c", 50, "-r", 1000)
    for address in (run.at_client, run.at_server):
        text, _ = metrics(address)
        r = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True,
                           timeout=60)
        check_equal((r.returncode, r.stdout + r.stderr), (0, ""), "promtool on the text form")
        check("# EOF" not in text, "the text form has no end")
        check(metrics(address, "-H", f"Accept: {OPENMETRICS}")[0].endswith("# EOF\n"), "OpenMetrics has one")
    run.stop()


def query(port, expression):
    """The sum that Prometheus has."""
    url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": f"sum({expression})"})
    with urllib.request.urlopen(url, timeout=20) as answer:
        result = json.load(answer)["data"]["result"]
    return float(result[0]["value"][1]) if result else None


def start_prometheus(targets):
    port, directory = free_port(), os.path.dirname(temp_path("x"))
    config = os.path.join(directory, "prometheus.yml")
    with open(config, "w") as f:
        json.dump({"global": {"scrape_interval": "500ms"},  # JSON is YAML, too
                   "scrape_configs": [{"job_name": name, "static_configs": [{"targets": [target]}]}
                                      for name, target in targets.items()]}, f)
    log = open(os.path.join(directory, "log"), "w")
    spawn(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={directory}/data",
           f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
    return port


@plain_build_only
def test_prometheus_has_the_counters_of_the_final_results():
    need_program("prometheus")
    targets = {"client": f"127.0.0.1:{free_port()}", "server": f"127.0.0.1:{free_port()}"}
    port = start_prometheus(targets)
    run = Steered("-c", 200, "-r", 2000, "--max-connections", 300, control=targets["client"],
                  server_control=targets["server"])
    ask(run.at_client, "/connections/start?n=100")
    ask(run.at_client, "/connections/stop?n=50")
    wait_for(lambda: stats(run.at_client)["connections"]["live_at_end"] == 250, "250 live")
    ask(run.at_client, "/pause")
    wait_for(lambda: stats(run.at_client)["rate"]["now_qps"] == 0 and
             stats(run.at_client)["queries"]["in_flight"] == 0, "quiet")
    last = metrics(run.at_client)[1]["tcpclient_queries_answered_total"]

    def scraped(expression, value):
        try:
            return query(port, expression) == value
        except OSError:
            return False

    # the histograms of the last second are collected a second later
    wait_for(lambda: scraped("tcpclient_response_seconds_count", last), "the last scrape of the client")
    wait_for(lambda: scraped("tcpserver_connections_active", 250), "the last scrape of the server")
    for key in ("received", "sent"):
        wait_for(lambda: scraped(f"tcpserver_{key}_bytes_total", stats(run.at_server)[f"bytes_{key}"]), "its bytes")
    names = {"client": ("queries_scheduled", "queries_sent", "queries_unsent", "queries_answered",
                        "queries_timeout", "queries_error", "connections_asked", "connections_attempted",
                        "connections_connected", "connections_proven", "sent_bytes", "received_bytes"),
             "server": ("connections_accepted", "connections_refused", "connections_closed", "received_bytes",
                        "sent_bytes", "accept_pauses", "back_pressure_pauses", "listen_overflows")}
    got = {name: {n: query(port, f"tcp{name}_{n}_total") for n in names[name]} for name in names}
    server = stats(run.at_server)
    r, _ = run.stop()
    j = r.json
    want = {f"queries_{n}": j["queries"][n]
            for n in ("scheduled", "sent", "unsent", "answered", "timeout", "error")}
    want |= {f"connections_{n}": j["connections"][n] for n in ("asked", "attempted", "connected", "proven")}
    want |= {f"{n}_bytes": j["resources"][f"bytes_{n}"] for n in ("sent", "received")}
    check_equal(got["client"], want, "what Prometheus has of the client, and the final JSON")
    want = {f"connections_{n}": server[n] for n in ("accepted", "refused")}
    want |= {"connections_closed": sum(server["closed"].values())}
    want |= {f"{n}_bytes": server[f"bytes_{n}"] for n in ("received", "sent")}
    want |= {n: server[n] for n in ("accept_pauses", "back_pressure_pauses", "listen_overflows")}
    check_equal(got["server"], want, "what Prometheus has of the server, and its JSON")
    for key in ("accepted", "bytes_received", "bytes_sent"):
        check_equal(run.server.result[key], server[key], f"{key} at the end")


if __name__ == "__main__":
    main()
