# SPDX-License-Identifier: MIT
"""Settings from files and profiles: the printed settings are the effective ones, and match the documents."""

import re

from helpers.harness import *

PROFILES = ["connscale-200k", "tcpscaler-300k", "subscribers-200k"]


def settings(program, *arguments, **environment):
    """What --print-config prints, without its comments."""
    r = run_command([program, *arguments, "--print-config"], env={**os.environ, **environment})
    check_equal((r.returncode, r.stderr), (0, ""), f"result of {arguments} --print-config")
    return [line for line in r.stdout.splitlines() if line and not line.startswith("#")]


def write(name, text):
    return write_text(temp_path(name), text)


@covered_by_others
def test_a_printed_configuration_reproduces_its_command_line():
    arguments = ["-c", "20", "-r", "300", "-t", "1", "--seed", "7", "--protocol", "ping", "--select", "round-robin"]
    with Server("--protocol", "ping") as server:
        target = f"127.0.0.1:{server.port}"
        text = run_command([TCPCLIENT, *arguments, target, "--print-config"]).stdout
        by_flags = run_client(*arguments, target)
        by_file = run_client("--config", write("client.conf", text))
        changed = run_client("--config", write("client.conf", text), "--seed", 8)
    for r in (by_flags, by_file, changed):
        check_conservation(r)
    options = [r.json["options"] for r in (by_flags, by_file, changed)]
    for o in options:
        for name in ("config", "json"):
            del o[name]
    check_equal(options[1], options[0], "options of the file's run")
    check_equal(by_file.json["queries"]["scheduled"], by_flags.json["queries"]["scheduled"], "the same schedule")
    check_equal({k for k in options[0] if options[0][k] != options[2][k]}, {"seed"}, "options that differ")


def test_the_server_takes_all_settings_from_a_file():
    port = free_port()
    path = write("server.conf", f"port = {port}\nprotocol = ping\nbind = 127.0.0.1\n")
    log = open(temp_path("server.err"), "w+")
    process = spawn([TCPSERVER, "--config", path], stderr=log)
    wait_for(lambda: "listening on 127.0.0.1:%d," % port in read_text(log.name), "the listening line")
    r = run_client("-c", 5, "-r", 50, "-t", 0.5, "--protocol", "ping", f"127.0.0.1:{port}")
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")
    check_equal(stop(process), 0, "exit code")


def test_nothing_is_taken_from_the_environment():
    check_equal(settings(TCPCLIENT, "host", TCPCLIENT_RATE="5", RATE="5", TCPSCALER_CONFIG="/nonexistent"),
                settings(TCPCLIENT, "host"), "settings")


def test_profiles_are_what_the_guide_says():
    guide = read_source("docs", "config.md")
    listed = run_command([TCPCLIENT, "--profile", "list"]).stdout
    check_equal([line.split()[0] for line in listed.splitlines()], PROFILES, "--profile list")
    for line in listed.splitlines():
        name, summary = line.split(maxsplit=1)
        row = re.search(rf"^\| `{name}` \| (.*) \| (.*) \| (.*) \|$", guide, re.M)
        check(row, f"row of {name}")
        check_equal(row.group(1), summary, f"summary of {name}")
        for program, column in ((TCPCLIENT, 2), (TCPSERVER, 3)):
            check_equal(sorted(f"`{line}`" for line in settings(program, "--profile", name)),
                        sorted(row.group(column).split(", ")), f"settings of {name}")


def run_profile(name, *arguments):
    """A small part of it."""
    with Server("--profile", name) as server, default_timeouts():
        r = run_client("--profile", name, "-t", 2, *arguments, f"127.0.0.1:{server.port}")
    check_conservation(r)
    check_equal(r.json["connections"]["proven"], r.json["connections"]["asked"], "proven")
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")
    check_equal(r.json["options"]["duration"], 2, "the command line's duration")
    return r.json


@needs_own_fd_tables
@covered_by_others
def test_connscale_runs_at_a_small_scale():
    j = run_profile("connscale-200k", "-c", 200, "-i", "500ms")
    check_equal((j["options"]["protocol"], j["options"]["timeout"]), ("ping", 20), "the profile's own")
    check_between(j["queries"]["scheduled"], 790, 810, "one ping each per 500 ms for 2 s")


@covered_by_others
def test_tcpscaler_runs_at_a_small_scale():
    j = run_profile("tcpscaler-300k", "-r", 3000)
    check_equal((j["options"]["protocol"], j["connections"]["asked"]), ("dns", 5), "the profile's own")
    check_between(j["queries"]["scheduled"], 5600, 6400, "3,000 q/s for 2 s")


@covered_by_others
@needs_own_fd_tables
def test_subscribers_runs_at_a_small_scale():
    with Server("--profile", "subscribers-200k", "--push", 1000) as server:
        r = run_client("--profile", "subscribers-200k", "-c", 50, "-t", 1, "--settle", "200ms", "--drain", "100ms",
                       f"127.0.0.1:{server.port}")
        server.stop()
    p, o = r.json["push"], r.json["options"]
    check_equal((o["protocol"], server.result["options"]["push-size"]), ("listen", 512), "the profile's own")
    check_equal(server.result["pushed"], p["before"] + p["measured"] + p["after"], "pushed")
    with stall_may_spoil():
        check_between(p["measured"], 800, 1200, "1,000 messages/s for 1 s")


@covered_by_others
def test_files_edited_on_windows_are_read():
    """With a byte order mark, and CR LF at the end of each line."""
    def write_both(text):
        edited = temp_path("edited")
        with open(edited, "wb") as f:
            f.write(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
        return write("plain", text), edited

    def plan(path, options):
        """The lines that do not depend on what else runs."""
        with open(path) as file:
            r = run_command([TCPCLIENT, "--plan", *(o.format(path) for o in options), "127.0.0.1"], stdin=file)
        check_equal((r.returncode, r.stderr), (0, ""), f"plan with {options}")
        return [line for line in r.stdout.splitlines() if re.match("[0-9]|source", line)]

    for text, *options in (("connections = 50  # some\nqname = a.example\n", "--config", "{}"),
                           ("# up\n10s:0-100\n20s:100\n", "--schedule", "@{}"),
                           ("127.0.0.2\n127.0.0.3  # the other\n", "-c", "10k", "--source", "@{}"),
                           ("a.example A\nb.example MX\n", "--query-file", "{}"),
                           ("2\n500 100\n500 50\n", "--stdin"),
                           ("1\n500 100\n", "-r", "5", "--stdin-rateslope")):
        plain, edited = (plan(path, options) for path in write_both(text))
        check_equal(edited, plain, f"plan with {options}")


def test_bad_files_are_refused_with_one_line():
    for program in (TCPCLIENT, TCPSERVER):
        for text, where in (("\nthreads = none\n", ":2: threads: invalid value 'none'"), ("thread = 5\n", ":1: thread: unknown option"),
                            ("threads 5", ":1: missing '='"), ("threads = 5\0\n", "not a text file"), ("#" * 70000, "File too large")):
            path = write("bad.conf", text)
            r = run_command([program, "--config", path])
            check_equal((r.returncode, r.stdout, r.stderr.count("\n")), (2, "", 1), f"result; stderr: {r.stderr}")
            check(where in r.stderr and path in r.stderr, f"'{where}' in: {r.stderr}")


if __name__ == "__main__":
    main()
