# SPDX-License-Identifier: MIT
"""The control API: access, status codes, abuse."""

import socket
import stat
import threading

from helpers.control_api import *


def test_token_is_required_and_its_file_must_be_private():
    for mode, text, contains in ((0o644, TOKEN, "chmod 600"), (0o600, "short", "16 to 256"),
                                 (0o600, "", "16 to 256"), (0o600, "with a blank in the token", "16 to 256")):
        for command in ([TCPSERVER, "0"], [TCPSERVER, "--plan"], [TCPCLIENT, "--plan", "127.0.0.1"]):
            r = run_command([*command, "--control", control_path(), "--control-token", token_file(mode, text)])
            check_equal(r.returncode, 2, f"exit code for {oct(mode)} '{text}' of {command}")
            check(contains in r.stderr, r.stderr)
    path, port = token_file(), free_port()
    with Server("--control", f"0.0.0.0:{port}", "--control-token", path) as server:
        at = f"127.0.0.1:{port}"
        for wrong in ((), ("-H", "Authorization: Bearer " + TOKEN[:-1]), ("-H", "Authorization: " + TOKEN)):
            code, body = curl(at, "GET", "/stats", *wrong)
            check_equal(code, 401, f"status with {wrong}")
            check("accepted" not in body, f"nothing is told: {body}")
        check_equal(curl(at, "GET", "/no-such-path")[0], 401, "nor which paths there are")
        right = ("-H", "Authorization: Bearer " + TOKEN)
        code, body = curl(at, "GET", "/stats", *right)
        check_equal((code, "accepted" in body), (200, True), f"status with the token, and the control: what is told then: {body}")
        r = run_client("-p", server.port, "-c", 3, "-t", 0.1, "--server-control", at, "127.0.0.1")
        check_code(r, 2)
        check(f"'{at}' requires a token: see --control-token" in r.err, r.err)
        other = token_file(text="x" * 16)
        r = run_client("-p", server.port, "-c", 3, "-t", 0.1, "--server-control", at, "--control-token", other,
                       "127.0.0.1")
        check_code(r, 2)
        check(f"'{at}' requires another token: see --control-token" in r.err, r.err)
        r = run_client("-p", server.port, "-c", 3, "-t", 0.1, "--server-control", at, "--control-token", path,
                       "127.0.0.1")
        check_equal(r.json["server"]["accepted"], 3, "accepted")


def test_requests_get_the_documented_status_codes():
    at = f"127.0.0.1:{free_port()}"
    with Server("--control", at):
        for method, target, arguments, want in (
                ("GET", "/stats", (), 200), ("GET", "/metrics", (), 200), ("GET", "/", (), 200), ("POST", "/", (), 405),
                ("GET", "/stats/../stats", ("--path-as-is",), 404), ("GET", "/pause", (), 405),
                ("POST", "/stats", (), 405), ("DELETE", "/stats", (), 405), ("PUT", "/stop", (), 405),
                ("POST", "/connections/stop", (), 400), ("POST", "/connections/stop?n=-1", (), 400),
                ("POST", "/connections/stop?n=1&m=2", (), 400), ("GET", "/stats?x", (), 400),
                ("BREW", "/stats", (), 501),
                ("GET", "/", ("--request-target", f"http://{at}/stats"), 200),  # RFC 9112, 3.2.2
                ("GET", "/", ("--request-target", f"http://{at}/x"), 404),
                ("GET", "/", ("--request-target", "http://evil.example/stats"), 403),
                ("POST", "/pause", ("-H", "Origin: http://evil.example"), 403),
                ("GET", "/stats", ("-H", "Host: evil.example"), 403),
                ("GET", "/stats", ("-H", "Host: localhost:1"), 200),
                ("POST", "/pause", ("-d", "x" * 5000), 413),
                ("GET", "/stats", ("-H", "X-Large: " + "x" * 20000), 400)):
            check_equal(curl(at, method, target, *arguments)[0], want, f"{method} {target} {arguments}"[:90])
        allowed = run_command(["curl", "-si", "-X", "PUT", f"http://{at}/stop"])
        check("Allow: POST" in allowed.stdout, allowed.stdout)


@covered_by_others
def test_guide_lists_every_path():
    rows = re.findall(r"^\| (`(?:GET|POST) .*) \| (.*) \| (.*) \|$", read_source("docs", "control.md"), re.M)
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


def test_unix_socket_is_private_and_is_removed_at_the_end():
    at = control_path()
    path = at[5:]
    with Server("--control", at) as server:
        check_equal(stat.S_IMODE(os.stat(path).st_mode), 0o600, "mode")
        again = run_command([TCPSERVER, "--control", at, "0"])
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
    r = run_command([TCPSERVER, "--control", at, "0"])
    check_equal((r.returncode, os.path.exists(path)), (2, True), "what is no socket is left alone")


def test_other_addresses_need_a_token():
    for program, operand in ((TCPSERVER, "0"), (TCPCLIENT, "127.0.0.1:1")):
        for address, contains in (("0.0.0.0:9999", "--control-token"), ("[::]:9999", "--control-token"),
                                  ("localhost", "ADDR:PORT"), ("unix:", "path"),
                                  ("unix:" + "x" * 200, "path"), ("unix:/nonexistent/x", "/nonexistent")):
            r = run_command([program, "-q", "--control", address, operand])
            check_equal(r.returncode, 2, f"exit code of {program} --control {address}")
            lines = r.stderr.splitlines()
            check(len(lines) == 1 and "--control" in lines[0] and contains in lines[0], r.stderr)


# --- abuse ---

def raw(address, data):
    """The answer to these bytes."""
    with socket.create_connection(address, timeout=HANGS_S) as s:
        answer = b""
        try:
            s.sendall(data)
            while part := s.recv(65536):
                answer += part
        except (ConnectionResetError, BrokenPipeError):
            pass
        return answer


def in_parallel(n, do):
    """The results of n concurrent calls."""
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
    slow = [socket.create_connection(address, timeout=HANGS_S) for _ in range(20)]
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
    n = 100 if SANITIZED else 200  # there is room for all of them in addition to the slow ones
    answers = in_parallel(n, lambda: raw(address, request)[:12])
    check_equal([a for a in answers if a != b"HTTP/1.1 200"], [], f"answers to {n} at a time")
    for s in slow:
        check(is_given_up(s), "a slow one is given up")
        s.close()
    r, server = run.stop()
    check_both_sides(r, server)
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")
    print(f"     send lag p99 meanwhile: {r.json['latency_ns']['send_lag']['p99'] / 1000:.0f} us")


@measures_time
def test_a_thousand_simultaneous_requests_are_answered():
    """More than there may be connections: each is served before it is a second old."""
    port = free_port()
    run = Steered("-c", 100, "-r", 2000, control=f"127.0.0.1:{port}")
    request = b"GET /stats HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answers = in_parallel(1000, lambda: raw(("127.0.0.1", port), request)[:12])
    with stall_may_spoil():
        check_equal([a for a in answers if a != b"HTTP/1.1 200"], [], "answers to 1,000 at a time")
    run.stop()


def check_silent_peers(program, address):
    """They take at most an eighth of 300 descriptors and do not keep others out for long."""
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
    most = max(most, n_descriptors(program))
    check_between(most - before, 2, 300 // 8 + 2, "descriptors taken up by silent peers, and the one who asked")
    check_equal(status, [200], "status of a request meanwhile")
    for s in silent:
        s.close()


@needs_own_fd_tables
def test_silent_peers_do_not_exhaust_descriptors():
    under = under_fd_limit(300)
    ports = [f"127.0.0.1:{free_port()}" for _ in range(2)]
    with Server("--control", ports[0], prefix=under) as server:
        client = Client("-p", server.port, "-c", 50, "-r", 1000, "--control", ports[1], "127.0.0.1", prefix=under)
        wait_for(lambda: "control at" in client.stderr(), "the client's control port")
        wait_for(lambda: stats(ports[1])["state"] == "running", "the client to have all its descriptors")
        for program, address in ((server, ports[0]), (client, ports[1])):
            check_silent_peers(program, address)
        ask(ports[1], "/stop")
        r = client.wait()
    check_conservation(r)
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")


@covered_by_others
def test_clients_without_a_token_get_nothing():
    port, n_slow = free_port(), 50 if SANITIZED else 200  # with more the oldest are ended earlier
    path = token_file()
    with Server("--control", f"0.0.0.0:{port}", "--control-token", path) as server:
        address, control = ("127.0.0.1", port), control_path()
        client = Client("-p", server.port, "-c", 50, "-r", 1000, "--control", control, "--stats-interval", "200ms", "127.0.0.1")
        wait_until_running(client)
        before = rss_bytes(server.pid)
        slow = [socket.create_connection(address, timeout=HANGS_S) for _ in range(n_slow)]
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
        ask(control, "/stop")
        r = client.wait()
        server.stop()
    print(f"     {each:.0f} bytes for each of {n_slow} slow ones")
    check(each < 12000 or SANITIZED, f"memory: {each} bytes each")
    check_conservation(r)
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")


if __name__ == "__main__":
    main()
