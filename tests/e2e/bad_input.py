# SPDX-License-Identifier: MIT
"""Bad input: one line that names the option, the value and what is expected; exit code 2; nothing is started."""

import socket

from helpers.harness import *


def refused(program, *arguments, contains, prefix=()):
    r = run_command([*prefix, program, *arguments], stdin=subprocess.DEVNULL)
    lines = r.stderr.splitlines()
    check_equal(r.returncode, 2, f"exit code of {arguments}; stderr: {r.stderr}")
    check_equal(len(lines), 1, f"lines on stderr of {arguments}: {lines}")
    check_equal(r.stdout, "", "stdout")
    check(lines[0].startswith(os.path.basename(program) + ": "), f"names the program: {lines[0]}")
    for text in contains:
        check(text in lines[0], f"'{text}' in: {lines[0]}")


def file_of(text):
    return write_text(temp_path("input"), text)


@before_any_thread
def test_client_refuses_bad_input():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        listener.settimeout(0.2)
        port = str(listener.getsockname()[1])
        target = f"127.0.0.1:{port}"
        for arguments, contains in [
                (["no-such-host.invalid"], ["no-such-host.invalid"]),
                ([], ["HOST"]),
                ([target, "other"], ["other", "one HOST"]),
                (["127.0.0.1:0"], ["127.0.0.1:0", "1 to 65535"]),
                (["-p", "0", "127.0.0.1"], ["--port", "'0'", "1 to 65535"]),
                (["-p", "65536", "127.0.0.1"], ["--port", "'65536'"]),
                (["--sport", "", target], ["--sport"]),
                (["--sport", "6000-5000", target], ["--sport", "6000-5000"]),
                (["--sport", "5000,!5000", target], ["--sport", "5000"]),
                (["--source", "10.0.0.300", target], ["--source", "10.0.0.300"]),
                (["-c", "0", target], ["--connections", "'0'", "1"]),
                (["-c", "ten", target], ["--connections", "'ten'"]),
                (["-r", "abc", target], ["--rate", "'abc'"]),
                (["-r", "-1", target], ["--rate", "'-1'"]),
                (["-r", "2G", target], ["--rate", "'2G'", "from 0 to 1,000,000,000"]),
                (["-n", "2G", target], ["--connect-rate", "'2G'", "from 0 to 100,000,000"]),
                (["--timeout", "0", target], ["--timeout", "'0'", "from 1ms to "]),
                (["--drain", "x", target], ["--drain", "'x'", "from 0s to "]),
                (["--stats-interval", "50us", target], ["--stats-interval", "'50us'", "0, or at least 1ms"]),
                (["-r", "nan", target], ["--rate", "'nan'"]),
                (["-t", "0", target], ["--duration"]),
                (["-t", "5x", target], ["--duration", "'5x'"]),
                (["--protocol", "http", target], ["--protocol", "'http'", "dns"]),
                (["--loop", "closed", target], ["--loop", "--interval"]),
                (["--loop", "closed", "--schedule", "1s:5", target], ["--loop", "'closed' conflicts with --schedule"]),
                (["--find", "rate", "--find-range", "3-9", "--loop", "closed", target], ["--find", "conflicts with --loop closed"]),
                (["-r", "1", "-i", "1s", target], ["--interval", "--rate"]),
                (["--conn-schedule", "1s:0", target], ["--conn-schedule", "1 to 16,000,000"]),
                (["--conn-schedule", "1s:16000001", target], ["--conn-schedule", " 16000001 ", "1 to 16,000,000"]),
                (["--tls", "--tls-ciphers", "AES128-SHA256:AES128-SHA265", target], ["--tls-ciphers", ":AES128-SHA265'"]),
                (["--conn-schedule", "1s:5", "-c", "5", target], ["--conn-schedule", "conflicts with --connections:"]),
                (["--conn-schedule", "1s:5", "-t", "5", target], ["--conn-schedule", "conflicts with --duration:"]),
                (["--conn-schedule", "1s:5", "--threads", "6", target], ["--threads", "6", "5"]),
                (["--conn-schedule", "1s:", target], ["--conn-schedule", "'1s:'"]),
                (["--backoff", "1s-2s", target], ["--backoff", "--reconnect"]),
                (["--reconnect", "--backoff", "2s-1s", target], ["--backoff", "'2s-1s'", "FIRST-MAX", "100ms-10s"]),
                (["--queries-per-conn", "5000M", target], ["--queries-per-conn", "'5000M'"]),
                (["--idle-close", "1s", target], ["--idle-close", "requires --on-demand"]),
                (["--on-demand", "--idle-close", "soon", target], ["--idle-close", "'soon'"]),
                (["--keepalive", "-r", "5", target], ["--keepalive", "requires --on-demand"]),
                (["--keepalive", "--on-demand", "-r", "5", "--protocol", "ping", target], ["--keepalive", "dns"]),
                (["--on-demand", target], ["--on-demand", "requires --rate"]),
                (["--on-demand", "-r", "5", "--reconnect", target], ["--on-demand", "--reconnect"]),
                (["--on-demand", "-r", "5", "--queries-per-conn", "2", target], ["--on-demand", "--queries-per-conn"]),
                (["--on-demand", "-i", "1s", "--loop", "closed", target], ["--on-demand", "--loop closed"]),
                (["--on-demand", "-r", "5", "--prove", "yes", target], ["--on-demand", "--prove"]),
                (["--on-demand", "-i", "1s", "--conn-schedule", "1s:5", target], ["--on-demand", "--conn-schedule"]),
                (["--on-demand", "--protocol", "listen", target], ["--on-demand", "listen"]),
                (["--on-demand", "--find", "rate", "--find-range", "1-9", target], ["--on-demand", "--find"]),
                (["--threads", "3", "-c", "2", target], ["--threads", "3"]),
                (["-c", "11", "--source", "127.0.0.2", "--sport", "20000-20009", target],
                 ["--connections", "11", "10"]),
                (["--output", "/nonexistent/rows.csv", target], ["--output", "/nonexistent"]),
                (["--json", "/nonexistent/result.json", target], ["--json", "/nonexistent"]),
                (["-R", "--json", "-", target], ["--json", "--raw"]),
                (["--schedule", "10s", target], ["--schedule", "'10s'", "TIME:N"]),
                (["--schedule", "@/nonexistent", target], ["--schedule", "'/nonexistent'"]),
                (["--schedule", "1s:5", "-r", "5", target], ["--schedule", "--rate"]),
                (["--schedule", "1s:5", "-t", "5", target], ["--schedule", "conflicts with --duration:"]),
                (["--stdin-rateslope", target], ["--stdin-rateslope", "--rate"]),
                (["--stdin", "--schedule", "1s:5", target], ["--schedule", "conflicts with --stdin:"]),
                (["--stdin-rateslope", "--stdin", target], ["--stdin", "conflicts with --stdin-rateslope:"]),
                (["--schedule", "1s:5", "-i", "5", target], ["--schedule", "conflicts with --interval:"]),
                (["--stdin", target], ["--stdin", "line 1", "1 to 256"]),
                (["--cpu", "a", target], ["--cpu", "'a'", "0-3,6"]),
                (["--cpu", "1023", target], ["--cpu", "1023"]),
                (["--busy-poll", "--pace", "sleep", target], ["--busy-poll", "spin"]),
                (["-R", "--sample", "2", target], ["--sample", "'2'", "1/100"]),
                (["-R", "--sample", "1/0", target], ["--sample", "'1/0'", "1/100"]),
                (["--sample", "1/2", target], ["--sample", "--raw"]),
                (["-R", "--raw-full", "wait", target], ["--raw-full", "'wait'", "block"]),
                (["--qname", "a" * 64 + ".com", target], ["--qname", "a" * 64]),
                (["--qname", "a..b", target], ["--qname", "'a..b'"]),
                (["--qtype", "AXFR", target], ["--qtype", "'AXFR'", "AAAA", "TYPE65535"]),
                (["--qtype", "A", "--protocol", "ping", target], ["--qtype", "dns"]),
                (["--query-file", "/nonexistent", target], ["--query-file", "/nonexistent"]),
                (["--query-file", "/tmp", target], ["--query-file", "/tmp", "directory"]),
                (["--query-file", file_of("a.com A\n\nb..com A\n"), target], ["input:3:", "'b..com'", "expected"]),
                (["--query-file", file_of("a.com A\nb.com B\n"), target], ["input:2:", "'B'", "AAAA"]),
                (["--query-file", file_of("a.com A\nb.com IN A\n"), target], ["input:2:", "two words"]),
                (["--query-file", file_of("; nothing\n"), target], ["--query-file", "no query"]),
                (["--query-file", "-", target], ["--query-file", "stdin", "no query"]),
                (["--query-file", "x", "--qname", "a", target], ["--query-file", "--qname"]),
                (["--query-file", "-", "--stdin", target], ["--query-file", "--stdin"]),
                (["--query-file", "x", "--protocol", "echo", target], ["--query-file", "dns"]),
                (["--edns", "511", target], ["--edns", "'511'", "from 512 to 65,535"]),
                (["--padding", "5000", target], ["--padding", "'5000'", "from 1 to 4,096"]),
                (["--size", "0", "--protocol", "echo", target], ["--size", "'0'"]),
                (["--protocol", "listen", "-r", "5", target], ["--rate", "listen"]),
                (["--protocol", "listen", "-i", "5", target], ["--interval", "listen"]),
                (["--protocol", "listen", "--schedule", "1s:5", target], ["--schedule", "listen"]),
                (["--protocol", "listen", "--stdin", target], ["--stdin", "listen"]),
                (["--protocol", "listen", "--size", "9", target], ["--size", "echo"]),
                (["--tls-ca", "x", target], ["--tls-ca", "requires --tls"]),
                (["--tls", "--tls-ca", "/nonexistent/ca.pem", target], ["--tls-ca", "/nonexistent/ca.pem"]),
                (["--tls", "--tls-ciphers", "nonsense", target], ["--tls-ciphers", "'nonsense'"]),
                (["--tls", "--tls-min", "1.1", target], ["--tls-min", "'1.1'", "1.3"]),
                (["--find", "rate", target], ["--find", "--find-range MIN-MAX"]),
                (["--find", "rate", "--find-range", "9-3", target], ["--find-range", "'9-3'", "MIN-MAX", "1,000,000,000"]),
                (["--find", "rate", "--find-range", "3-9", "--sweep", "connections=1,20M", target],
                 ["--sweep", "'connections=1,20M'", "from 1 to 16,000,000"]),
                (["--find", "rate", "--find-range", "3-9", "--class", "name=a,share=100%", target], ["--class", "--find"]),
                (["--class", "name=a,share=100%,timeout=1s", target], ["--class", "timeout", "expected name, share, interval,"]),
                (["--class", "x@", target], ["--class", "x@", "expected name, share, interval,"]),
                (["--class", "name=a,share=100%,rate=2G", target], ["--class", "rate", "'2G'", "1,000,000,000"]),
                (["--loop", "closed", "--class", "name=a,share=100%", target], ["--class", "a", "requires an interval"]),
                (["--transport", "udp", "--protocol", "ping", target], ["--transport", "'udp' requires --protocol dns"]),
                (["--transport", "udp", "--protocol", "echo", target], ["--transport", "'udp' requires --protocol dns"]),
                (["--transport", "udp", "--tls", target], ["--transport", "'udp' conflicts with --tls"]),
                (["--source", "::1", target], ["HOST", "'127.0.0.1'", "no IPv6 address (the family of --source)"]),
                (["--control", "127.0.0.1:0", target], ["--control", "'127.0.0.1:0'", "1 to 65535"]),
                (["--find", "rate", "--find-range", "3-9", "--slo", "p99>1ms", target], ["--slo", "'p99>1ms'", "p99<10ms"]),
                (["--find", "rate", "--find-range", "3-9", "-r", "5", target], ["--find", "--rate"]),
                (["--find", "rate", "--find-range", "3-9", "--max-connections", "50", "--control", "127.0.0.1:1", target],
                 ["--max-connections", "--find rate"]),
                (["--slo", "p99<1ms", target], ["--slo", "--find"]),
                (["--unknown-option", target], ["--unknown-option", "see --help"]),
                (["--conections", "5", target], ["--conections", "did you mean 'connections'?"]),
                (["--con", "5", target], ["--con", "ambiguous", "--connections", "--connect-rate", "--control"]),
                (["--config", file_of("raet = 5\n"), target], [":1:", "raet", "did you mean 'rate'?"]),
                (["--rate"], ["--rate"]),
                (["-r", "1\n2", target], ["--rate", "'1?2'"]),
        ]:
            refused(TCPCLIENT, *arguments, contains=contains)
        try:
            listener.accept()
            raise AssertionError("a refused command line connected")
        except TimeoutError:
            pass


@needs_own_fd_tables
def test_option_that_needs_more_threads_than_connections_is_named():
    refused(TCPCLIENT, "--find", "rate", "--sweep", "connections=1,5000", "--find-range", "1-100", "127.0.0.1:1",
            prefix=["prlimit", "--nofile=1000:1000"],
            contains=["--sweep: needs ", " threads, each with a connection from the start: expected at least as many connections at the start"])


@before_any_thread
def test_an_output_does_not_overwrite_an_input():
    for option, text in (("--query-file", "a.com A\n"), ("--config", "connections = 1\n"), ("--conn-schedule", "10s:1\n")):
        for output in ("--json", "--output"):
            name = file_of(text)
            value = "@" + name if option == "--conn-schedule" else name
            refused(TCPCLIENT, option, value, output, name, "127.0.0.1:1", contains=[output, name, "one of the input files"])
            check_equal(read_text(name), text, f"{option}, {output}: the input")
    token = file_of("0123456789abcdef\n")
    os.chmod(token, 0o600)
    for output in ("--json", "--output"):
        refused(TCPCLIENT, "--control-token", token, "--control", "127.0.0.1:1", output, token, "127.0.0.1:1",
                contains=[output, token, "one of the input files"])
        check_equal(read_text(token), "0123456789abcdef\n", f"--control-token, {output}: the input")


@needs_own_fd_tables
def test_more_connections_than_automatic_ports_are_refused():
    refused(TCPCLIENT, "-c", "100000", "127.0.0.1",
            contains=["--connections 100000", "source tuples", "needed 100,000", "--source"])


@before_any_thread
def test_server_refuses_bad_input():
    for arguments, contains in [
            (["65536"], ["'65536'", "0 to 65535"]),
            (["127.0.0.1"], ["'127.0.0.1'", "see --bind"]),
            (["x"], ["'x'"]),
            (["1", "2"], ["'2'"]),
            (["--bind", "192.0.2.1", "0"], ["192.0.2.1"]),
            (["--bind", "fe80::1", "0"], ["--bind", "interface", "fe80::1%eth0"]),
            (["--bind", "no-such-host.invalid", "0"], ["no-such-host.invalid"]),
            (["--plan", "--bind", "no-such-host.invalid"], ["--bind", "no-such-host.invalid"]),
            (["--plan", "--bind", "fe80::1"], ["--bind", "interface", "fe80::1%eth0"]),
            (["--threads", "0", "0"], ["--threads", "'0'"]),
            (["--backlog", "0", "0"], ["--backlog", "'0'"]),
            (["--protocol", "dns", "0"], ["--protocol", "'dns'", "echo"]),
            (["--json", "/nonexistent/x", "0"], ["--json", "/nonexistent/x"]),
            (["--max-connections", "0", "0"], ["--max-connections"]),
            (["--stats-interval", "999us", "0"], ["--stats-interval", "'999us'", "0, or at least 1ms"]),
            (["--push", "0", "0"], ["--push", "0", "more than 0"]),
            (["--push", "x", "0"], ["--push", "'x'"]),
            (["--push", "2G", "0"], ["--push", "'2G'", "1,000,000,000"]),
            (["--push", "1", "--push-size", "63", "0"], ["--push-size", "'63'", "64"]),
            (["--push", "1", "--push-size", "65537", "0"], ["--push-size", "'65537'", "65,536"]),
            (["--push", "1", "--push-select", "all", "0"], ["--push-select", "'all'", "round-robin"]),
            (["--push-size", "512", "0"], ["--push-size", "requires --push"]),
            (["--push-select", "random", "0"], ["--push-select", "requires --push"]),
            (["--push", "1", "--protocol", "ping", "0"], ["--push", "--protocol"]),
            (["--cpu", "1-", "0"], ["--cpu", "'1-'"]),
            (["--tls-key", "x", "0"], ["--tls-key", "--tls-cert"]),
            (["--push", "1", "--tls-key", "x", "0"], ["--push", "conflicts with --tls-key"]),
            (["--tls-cert", "/nonexistent/x", "--tls-key", "y", "0"], ["--tls-cert", "/nonexistent/x"]),
            (["--nonsense"], ["--nonsense"]),
            (["--thread", "2", "--max-conections", "5"], ["--max-conections", "did you mean 'max-connections'?"]),
    ]:
        refused(TCPSERVER, *arguments, contains=contains)


def test_second_server_on_the_port_is_refused():
    with Server() as server:
        refused(TCPSERVER, str(server.port), contains=[str(server.port), "in use"])


@before_any_thread
def test_help_and_version_go_to_stdout():
    for program in (TCPCLIENT, TCPSERVER):
        for option in ("--help", "--version"):
            r = run_command([program, option])
            check_equal((r.returncode, r.stderr), (0, ""), f"{program} {option}")
            check(os.path.basename(program) in r.stdout, r.stdout)
            check(max(len(line) for line in r.stdout.splitlines()) <= 100, "100 columns")
        check(re.fullmatch(r"tcp\w+ \d+\.\d+\.\d+, libevent 2\.\S+ \(epoll\)\n", r.stdout), r.stdout)


if __name__ == "__main__":
    main()
