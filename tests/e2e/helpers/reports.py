# SPDX-License-Identifier: MIT
"""tcpreport, and runs for it to read."""

from helpers.harness import *


def need_tcpreport():
    if not TCPREPORT:
        skip("tcpreport was not built: it needs zlib and json-c")


def report(*arguments, code=0):
    """code: the expected exit code; None: any."""
    r = run_command([TCPREPORT, *[str(a) for a in arguments]])
    check(code is None or r.returncode == code, f"exit code {r.returncode}, expected {code}: {r.stderr}")
    return r


def spare_source(n):
    """A source address of its own: connections of other tests in TIME_WAIT are not in the way."""
    return ["--close", "rst", "--source", f"127.9.{RUN % 250}.{n}"]


def runs_of(directory, *options):
    """Runs side by side, one for each list of options; their files are DIRECTORY/0.json, ..."""
    with Server() as server:
        clients = [Client("-q", "-p", server.port, "-c", 20, *spare_source(i + 1), "--hlog", f"{directory}/{i}.hlog",
                          "-o", f"{directory}/{i}.csv", "--raw-full", "block", *own, "127.0.0.1")
                   for i, own in enumerate(options)]
        for i, client in enumerate(clients):
            r = client.wait()
            check_conservation(r)
            shutil.copy(client.json_path, f"{directory}/{i}.json")


def two_runs_of_connections(directory):
    """Two instances side by side, with the rows of their connections; their files are DIRECTORY/0.json, .hlog, .csv ..."""
    runs_of(directory, *[["-r", 1000, "-t", 3, "-n", 50, "-s", i + 1, "--connections-out", f"{directory}/{i}.conn.csv"]
                         for i in range(2)])
    for i in range(2):
        os.rename(f"{directory}/{i}.conn.csv", f"{directory}/{i}.csv")


def change(path, **changes):
    result = read_json(path)
    for key, value in changes.items():
        if isinstance(value, dict) and isinstance(result.get(key), dict):
            result[key].update(value)
        else:
            result[key] = value
    write_json(path, result)


# --- compare ---


# the speed of the machine does not matter here
UNDISTURBED = {"verdict": "VALID", "reasons": [],
               "holds": {name: True for name in ("p50", "p90", "p95", "p99", "p999", "p9999", "max")}}
