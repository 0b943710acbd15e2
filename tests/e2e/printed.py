# SPDX-License-Identifier: MIT
"""What is printed with --quiet, on a terminal and in another locale."""

import pty

from helpers.reports import *


def test_quiet_still_prints_why_a_run_is_not_valid():
    with Server() as server:
        r = run_client("-q", "-c", 2, "-r", 50, "-t", "0.3", "-o", "/dev/full", f"127.0.0.1:{server.port}")
        check_code(r, 3)
        lost = f"could not write '/dev/full': No space left on device; {r.json['output']['dropped_rows']} rows are missing"
        check_equal(r.err.splitlines(), [f"tcpclient: SUSPECT: {', '.join(r.json['reasons'])}", f"tcpclient: --output: {lost}"], "stderr")
        with open("/dev/full", "w") as full:
            r = run_client("-q", "-c", 2, "-r", 50, "-t", "0.3", "-R", f"127.0.0.1:{server.port}", stdout=full)
        check(r.err.splitlines()[1].startswith("tcpclient: --raw: could not write 'stdout': No space left on device; "), r.err)
        r = run_client("-q", "-c", 2, "-r", 50, "-t", "0.3", f"127.0.0.1:{server.port}")
    check_equal(r.err == "", not r.json["reasons"], f"nothing is said of a valid run: {r.err}")
    r = run_client("-q", "-c", 2, "-r", 50, "-t", "0.3", f"127.0.0.1:{server.port}")
    check_equal(r.err.splitlines(), [f"tcpclient: SUSPECT: {', '.join(r.json['reasons'])}",
                                     "tcpclient: 2 connections: nobody listens: " + r.json["diagnosis"][0]["evidence"]], "stderr")


def terminal_output(term):
    """The output of a client on a terminal of this kind; the client is interrupted under load."""
    master, slave = pty.openpty()
    environment = {**os.environ, "TERM": term}
    if not term:
        del environment["TERM"]
    with Server() as server:
        client = start_client("-c", 5, "-r", 100, "--stats-interval", "1s", f"127.0.0.1:{server.port}", stderr=slave,
                              env=environment)
        os.close(slave)
        text, was_interrupted = b"", False
        with contextlib.suppress(OSError):  # EIO: the other end is closed
            while chunk := os.read(master, 65536):
                text += chunk
                if b"running" in text and not was_interrupted:
                    client.send_signal(signal.SIGINT)
                    was_interrupted = True
        client.wait(HANGS_S)
    os.close(master)
    return text


@covered_by_others
def test_a_dumb_terminal_gets_no_escape_sequences():
    for term in ("dumb", ""):
        text = terminal_output(term)
        check(b"\x1b" not in text, f"TERM={term}: {text!r}")
        check(b"running" in text and b"Verdict" in text, f"TERM={term}: progress and summary: {text!r}")
    check(b"\x1b[K" in terminal_output("xterm"), "the control: another terminal gets them")


@plain_build_only  # localedef(1) takes 2 s of CPU time, the client none
def test_numbers_do_not_depend_on_the_locale():
    environment = german()
    point = run_command([sys.executable, "-c", "import locale; locale.setlocale(locale.LC_ALL, ''); print(locale.str(1.5))"],
                        env=environment)
    check_equal(point.stdout, "1,5\n", f"the control: a program that obeys it; {point.stderr}")
    with Server() as server:
        r = run_command([TCPCLIENT, "-c", "2", "-r", "2.5", "-t", "1.5", "--json", "-",
                         f"127.0.0.1:{server.port}"], env=environment)
    check_equal(json.loads(r.stdout)["rate"]["duration_s"], 1.5, "duration")
    check("2.5 requested" in r.stderr, r.stderr)


if __name__ == "__main__":
    main()
