# SPDX-License-Identifier: MIT
"""Requests to the control API, and a run under control."""

import http.client
import socket

from helpers.harness import *

TOKEN = "a-token-of-24-characters"


def curl(address, method, target, *arguments):
    """Status and body, as curl gets them."""
    need_program("curl")
    socket_of = ["--unix-socket", address[5:]] if address.startswith("unix:") else []
    host = "localhost" if socket_of else address
    r = run_command(["curl", "-sS", "--max-time", str(HANGS_S), "-X", method, "-w", "\n%{http_code}", *socket_of,
                     *arguments, f"http://{host}{target}"])
    check_equal(r.returncode, 0, f"curl's exit code for {target}; stderr: {r.stderr}")
    body, code = r.stdout.rsplit("\n", 1)
    return int(code), body


def ask(address, target, method="POST", status=200):
    """Returns the JSON object of the response; repeats a request for a change while the previous change is being applied."""
    code, body = wait_for(lambda: (answer := curl(address, method, target))[0] != 429 and answer, f"{target} to be accepted")
    check_equal(code, status, f"status of {target}: {body}")
    return json.loads(body)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=HANGS_S)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def get_stats(address):
    """Status and body."""
    is_unix = address.startswith("unix:")
    connection = UnixConnection(address[5:]) if is_unix else http.client.HTTPConnection(address, timeout=HANGS_S)
    try:
        connection.request("GET", "/stats")
        response = connection.getresponse()
        return response.status, response.read().decode()
    except (OSError, http.client.HTTPException) as failure:
        raise AssertionError(f"/stats of {address}: {failure!r}") from None
    finally:
        connection.close()


def stats(address):
    """Returns /stats. Does not use curl, which takes 10 ms of CPU time to start: tests poll this 50 times per second."""
    code, body = wait_for(lambda: (answer := get_stats(address))[0] != 429 and answer, "/stats to be answered")
    check_equal(code, 200, f"status of /stats: {body}")
    return json.loads(body)


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
        """Waits until the last change has been made, and has reached the server."""
        def agree():
            c = stats(self.at_client)["connections"]
            n_ended = sum(c["outcomes"].values())
            return c["asked"] == c["attempted"] == c["live_at_end"] + n_ended and \
                c["wanted_at_end"] == c["live_at_end"] == stats(self.at_server)["active"]
        wait_for(agree, "the connections of both sides")

    def stop(self):
        """Both results, the client's checked for conservation."""
        ask(self.at_client, "/stop")
        r = self.client.wait()
        check_conservation(r)
        ask(self.at_server, "/stop")
        check_equal(self.server.process.wait(HANGS_S), 0, "the server's exit code")
        self.server.stop()
        return r, self.server.result


def check_both_sides(r, server):
    c = r.json["connections"]
    with stall_may_spoil():  # the client waits some seconds for the answer
        check(r.json["server"], f"the client was told; stderr: {r.err}")
    check_equal(server["accepted"], c["connected"], "accepted by the server")
    check_equal(server["accepted"], server["active"] + sum(server["closed"].values()), "accepted")
    check_equal(r.json["server"]["accepted"], c["connected"], "accepted, as the client was told")
    check_equal(r.json["server"]["active"], c["live_at_end"], "active, as the client was told")
    check_equal(r.json["server"]["not_accepted"], 0, "never accepted")


def check_nothing_lost(r):
    q = r.json["queries"]
    check_equal(q["answered"], q["scheduled"], "answered")
    check_complete(r)


# --- who may ask, and how ---

def token_file(mode=0o600, text=TOKEN + "\n"):
    path = temp_path("token")
    write_text(path, text)
    os.chmod(path, mode)
    return path


# --- metrics ---

def metrics(address, *arguments):
    """Values by name and labels."""
    code, text = curl(address, "GET", "/metrics", *arguments)
    check_equal(code, 200, "status")
    return text, {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
                  if not line.startswith("#")}
