# SPDX-License-Identifier: MIT
"""SIGINT, SIGTERM and SIGHUP at every phase of both programs.

SIGINT and SIGTERM end a run with its full report and 130, the server with 0; after a second one, both end at once.
SIGHUP reopens files, and ends nothing. Before the run, while its settings are read, each of the three terminates
the program, as by default."""

import fcntl

from helpers.faults import *
from helpers.start_file import open_gate
from table import *

SIGNALS = {"SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM, "SIGHUP": signal.SIGHUP}
SOON_S = 60  # the machine may be slow


class Settings:
    """A file of settings that never ends: a program that reads it is still planning."""

    def __init__(self):
        self.path = temp_path("settings")
        os.mkfifo(self.path)

    def is_read(self):
        try:
            os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
            return True
        except OSError:
            return False


def signalled(row, start, ready, release=lambda: None):
    """A client for each signal, all side by side, to which it is sent as soon as that one is ready: its result and the
    seconds since the signal, by name. `release` is called when those that a signal ends have ended."""
    clients = {name: start() for name in SIGNALS}
    begins, alive = {}, 0

    def all_have_theirs():
        nonlocal alive
        for name, client in clients.items():
            if name not in begins and ready(client):
                alive += client.process.poll() is None
                begins[name] = time.monotonic()
                client.process.send_signal(SIGNALS[name])
        return len(begins) == len(clients)

    wait_for(all_have_theirs, "the phase of all three")
    results = {name: clients[name].wait() for name in ("SIGINT", "SIGTERM")}
    release()
    results["SIGHUP"] = clients["SIGHUP"].wait()
    row.injected("signals to living clients", alive if alive == len(SIGNALS) else 0)
    return results, {name: r.seconds - (begins[name] - clients[name].begin) for name, r in results.items()}


def signal_in_a_run(row, start, ready, lost=("answered", "answered"), release=lambda: None):
    """`lost`: the count that all queries sent are in, for the interrupted clients and for the other; what is in flight at
    the very moment is cancelled."""
    results, seconds = signalled(row, start, ready, release)
    row.conserved(*results.values())
    row.expect("exits", {"SIGINT": 130, "SIGTERM": 130, "SIGHUP": True},
               {name: r.code in (0, 3) if name == "SIGHUP" else r.code for name, r in results.items()})
    row.expect("interrupted", {"SIGINT": True, "SIGTERM": True, "SIGHUP": False},
               {name: r.json["interrupted"] for name, r in results.items()})
    row.expect(f"ended in {SOON_S} s", True, max(seconds["SIGINT"], seconds["SIGTERM"]) < SOON_S)
    for name, r in results.items():
        q, where = r.json["queries"], lost[name == "SIGHUP"]
        ways = {where} if name == "SIGHUP" else {where, "cancelled"}
        row.expect(f"{name}: {' or '.join(sorted(ways))} of those sent", q["sent"], sum(q[way] for way in ways))


@scenario(short=True)
@covered_by_others
def signal_while_planning(row):
    settings = {}

    def start():
        own = Settings()
        client = Client("-c", 20, "--config", own.path, f"127.0.0.1:{server.port}")
        settings[client] = own
        return client

    with Server() as server:
        results, seconds = signalled(row, start, lambda client: settings[client].is_read())
        row.expect("ended by the signal", {name: -number for name, number in SIGNALS.items()},
                   {name: r.code for name, r in results.items()})
        row.expect(f"ended in {SOON_S} s", True, max(seconds.values()) < SOON_S)
        row.served(server)
        row.expect("connections", 0, server.result["accepted"])


@scenario(short=True)
@covered_by_others
def signal_while_connecting(row):
    with Server() as server:
        signal_in_a_run(row, lambda: Client("-c", 60, "-n", 50, "-r", 100, "-t", 1, "--stats-interval", "200ms",
                                            f"127.0.0.1:{server.port}"),
                        lambda client: "connecting" in client.stderr())
        row.served(server)


@scenario()
def signal_while_settling(row):
    with Server() as server:
        signal_in_a_run(row, lambda: Client("-c", 20, "-r", 100, "-t", 1, "--settle", "2s", "--stats-interval",
                                            "200ms", f"127.0.0.1:{server.port}"),
                        lambda client: "20 proven" in client.stderr())
        row.served(server)


@scenario()
def signal_while_waiting_for_the_start(row):
    """Connected, at the file of --start-file, which comes when two of the three have ended."""
    paths = {}

    def start():
        path = temp_path("start")
        client = Client("-c", 20, "-r", 100, "-t", 1, "--start-file", path, f"127.0.0.1:{server.port}")
        paths[client] = path
        return client

    with Server() as server:
        signal_in_a_run(row, start, lambda client: os.path.exists(paths[client] + ".ready"),
                        release=lambda: open_gate(list(paths.values())[-1], time.time() + 1))
        row.served(server)


@scenario()
def signal_under_load(row):
    with Server() as server:
        signal_in_a_run(row, lambda: Client("-c", 20, "-r", 500, "-t", 2, "--stats-interval", "200ms",
                                            f"127.0.0.1:{server.port}"), told_running)
        row.served(server)


def told_running(client):
    return "running" in client.stderr()


@scenario()
def signal_while_draining(row):
    """The server answers the proofs and nothing else."""
    server = FaultServer("--drop-every", 1)
    signal_in_a_run(row, lambda: Client("-c", 20, "-r", 200, "-t", 1, "--timeout", "3s", "--stats-interval", "200ms",
                                        f"127.0.0.1:{server.port}"),
                    lambda client: "live, 0 sent/s" in client.stderr(), lost=("cancelled", "timeout"))
    row.expect("dropped by the server", Between(450), server.stop()["dropped"])


def thread_names(pid):
    names = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{task}/comm") as f:  # it may just have ended
            names.append(f.read().strip())
    return names


@scenario(short=True)
def signal_while_closing(row):
    """The run is over, and its rows wait for a reader that does not read: a signal must not cost the report."""
    pipes = []

    def start():
        pipes.append(os.pipe())
        client = Client("-c", 20, "-r", 5000, "-t", 1, "-R", "--raw-full", "block", "--threads", 2,
                        "--stats-interval", "200ms", f"127.0.0.1:{server.port}", stdout=pipes[-1][1])
        os.close(pipes[-1][1])
        return client

    seen = set()

    def workers_are_gone(client):
        if any(re.fullmatch(r"client\d+", name) for name in thread_names(client.pid)):
            seen.add(client)
            return False
        return client in seen or told_running(client)

    with Server() as server:
        signal_in_a_run(row, start, workers_are_gone,
                        release=lambda: [os.close(reading) for reading, _ in pipes])
        row.served(server)


@scenario(short=True)
def signals_together(row):
    """As timeout(1) sends them: to its child and to the process group. They are one request, whose report is written."""
    with Server() as server:
        clients = [Client("-c", 20, "-r", 100, "--stats-interval", "200ms", f"127.0.0.1:{server.port}")
                   for _ in range(2)]
        for client in clients:
            wait_until_running(client)
            client.process.send_signal(signal.SIGSTOP)  # so that both come at the same time
        for client, number in zip(clients, (signal.SIGINT, signal.SIGTERM)):
            client.process.send_signal(number)
            client.process.send_signal(signal.SIGINT if number == signal.SIGTERM else signal.SIGTERM)
            client.process.send_signal(signal.SIGCONT)
        results = [client.wait() for client in clients]
        row.injected("clients asked twice", len(clients))
        row.expect("exit codes", [130] * len(clients), [r.code for r in results])
        row.expect("reports", len(clients), sum(r.json is not None and r.json["interrupted"] for r in results))
        row.served(server)


class FullPipe:
    """A named pipe that is full: a program that writes to it blocks."""

    def __init__(self):
        self.path = temp_path("pipe")
        os.mkfifo(self.path)
        self.fd = os.open(self.path, os.O_RDWR | os.O_NONBLOCK)
        fcntl.fcntl(self.fd, fcntl.F_SETPIPE_SZ, 4096)
        self.n_ballast = os.write(self.fd, bytes(4096))

    def read_json(self):
        os.read(self.fd, self.n_ballast)
        text = b""

        def whole():
            nonlocal text
            try:
                text += os.read(self.fd, 4096)
                return json.loads(text)
            except (BlockingIOError, ValueError):  # nothing to read; or only a part of the JSON
                return None

        return wait_for(whole, "the report")


def closing_server():
    """Asked to end, it has printed its summary and writes its JSON into a full pipe."""
    pipe = FullPipe()
    server = Server("--json", pipe.path)
    server.process.send_signal(signal.SIGTERM)
    wait_for(lambda: "Host " in server.stderr(), "the summary")
    return pipe, server


@scenario(short=True)
def signals_to_the_server(row):
    """While it plans, listens, and serves, and while it writes its report into a full pipe."""
    ended, sent = {}, 0
    for name, number in SIGNALS.items():
        settings = Settings()
        planning = spawn([TCPSERVER, "--config", settings.path, "0"], stderr=subprocess.DEVNULL)
        wait_for(settings.is_read, "the planning")
        planning.send_signal(number)
        sent += 1
        ended[name] = planning.wait(HANGS_S)
    row.expect("planning: ended by the signal", {name: -number for name, number in SIGNALS.items()}, ended)
    for name in ("SIGINT", "SIGTERM"):
        for loaded in (False, True):
            with Server() as server:
                server.process.send_signal(signal.SIGHUP)
                client = Client("-c", 50, "-r", 500, "--stats-interval", "200ms", f"127.0.0.1:{server.port}")
                wait_until_running(client)
                if not loaded:
                    client.process.kill()
                    client.process.communicate()
                row.expect(f"{name} {'under load' if loaded else 'idle'}: exit", 0, server.stop(SIGNALS[name]))
                sent += 2
                if loaded:
                    client.process.send_signal(signal.SIGINT)
                    row.conserved(client.wait())
    pipe, server = closing_server()
    server.process.send_signal(signal.SIGHUP)
    server.process.send_signal(signal.SIGUSR1)
    time.sleep(0.2)
    row.expect("closing: alive after SIGHUP, SIGUSR1", True, server.process.poll() is None)
    row.expect("its report", "ended", pipe.read_json()["state"])
    row.expect("exit", 0, server.process.wait(HANGS_S))
    row.injected("signals sent", sent + 3)


@scenario(short=True)
@plain_build_only  # ThreadSanitizer holds signals back while a call into the C library blocks
def server_asked_twice_while_closing(row):
    pipe, server = closing_server()
    time.sleep(0.2)
    row.injected("B that its report waits behind", pipe.n_ballast)
    row.expect("waits", True, server.process.poll() is None)
    row.expect("exit", 128 + signal.SIGTERM, stop(server.process))
