# SPDX-License-Identifier: MIT
"""tcpclient --report: the page at the end of a run, and what happens without the programs that draw it."""

from helpers.harness import *
from helpers.html_page import PICTURES, Page, pictures, problems
from helpers.reports import need_tcpreport


class Installation:
    """A directory with its own copy of tcpclient, and one for temporary files."""

    def __init__(self, tcpreport=None):
        self.directory = temp_path("installed")
        self.temporary = os.path.join(self.directory, "tmp")
        os.makedirs(self.temporary)
        self.page = os.path.join(self.directory, "page.html")
        self.client = os.path.join(self.directory, "tcpclient")
        shutil.copy(TCPCLIENT, self.client)
        if tcpreport is not None:
            write_program(os.path.join(self.directory, "tcpreport"), tcpreport)

    def run(self, *arguments, path=None, prefix=()):
        env = {**os.environ, "TMPDIR": self.temporary}
        if path is not None:
            env["PATH"] = path
        r = run_command([*prefix, self.client, *[str(a) for a in arguments], "127.0.0.1"], env=env)
        check_equal(os.listdir(self.temporary), [], "temporary files that are left")
        return r

    def text(self):
        return read_text(self.page)


def installation_that_draws():
    """With tcpreport, too."""
    need_tcpreport()
    need_program("gnuplot")
    installed = Installation()
    os.symlink(os.path.abspath(TCPREPORT), os.path.join(installed.directory, "tcpreport"))
    return installed


IGNORING_CHILDREN = [sys.executable, "-c", "import os, signal, sys\nsignal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
                                           "os.execv(sys.argv[1], sys.argv[1:])"]


def captions(text):
    return {caption for caption in PICTURES if any(caption in figure for figure in pictures(text))}


@covered_by_others
def test_page_is_written_if_sigchld_is_ignored():
    """A parent that ignores SIGCHLD passes that on; the kernel then forgets children when they end."""
    installed = installation_that_draws()
    with Server() as server:
        r = installed.run("-p", server.port, "-c", 20, "-r", 500, "-t", 2, "--report", installed.page, prefix=IGNORING_CHILDREN)
    check(r.returncode in (0, 3) and "--report" not in r.stderr, r.stderr)
    check_equal(problems(installed.text()), [], "what the page must not have")


def test_page_is_written_at_the_end():
    installed = installation_that_draws()
    with Server() as server:
        arguments = ["-p", server.port, "-c", 20, "-r", 500, "-t", 2, "--report", installed.page]
        r = installed.run(*arguments)
        check(r.returncode in (0, 3) and "--report" not in r.stderr, r.stderr)
        check_equal(problems(installed.text()), [], "what the page must not have")
        check_equal(captions(installed.text()), set(PICTURES) - {"Connect ramp"}, "pictures without connections")
        log, rows = os.path.join(installed.directory, "own.hlog"), os.path.join(installed.directory, "own.csv")
        r = installed.run(*arguments, "--hlog", log, "--connections-out", rows, "--json", "-")
        check_equal(captions(installed.text()), set(PICTURES), "pictures from files that the user keeps")
        check(os.path.getsize(log) > 0 and os.path.getsize(rows) > 0, "which are still there")
        sent = json.loads(r.stdout)["queries"]["sent"]
    check(f"{sent:,}" in Page(installed.text()).text(), "the figures of that run")


def test_interrupted_run_has_its_page():
    installed = installation_that_draws()
    with Server() as server:
        err = open(os.path.join(installed.directory, "err"), "w+")
        client = spawn([installed.client, "-p", str(server.port), "-c", "5", "-r", "100", "--stats-interval", "200ms", "--report",
                        installed.page, "127.0.0.1"], stderr=err, env={**os.environ, "TMPDIR": installed.temporary})

        def says():
            return read_text(err.name)
        wait_for(lambda: "running" in says() or client.poll() is not None, "the load")
        check_equal(stop(client, signal.SIGINT), 130, "exit code")
    check_equal((problems(installed.text()), os.listdir(installed.temporary)), ([], []), "the page, and no temporary files")
    check("interrupted: the figures cover the part that ran" in Page(installed.text()).text(), "it says so")


class Hanging:
    """A run whose tcpreport does not end."""

    def __init__(self, port, *arguments):
        marker = temp_path("tcpreport.pid")
        self.installed = Installation(f"#!/bin/sh\necho $$ >{marker}.new && mv {marker}.new {marker}\nexec sleep 1000\n")
        self.client = spawn([self.installed.client, "-p", str(port), "-c", "5", "-r", "100", *arguments, "--report", self.installed.page,
                             "127.0.0.1"], stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": self.installed.temporary})
        self.marker = marker

    def await_tcpreport(self):
        wait_for(lambda: os.path.exists(self.marker), "tcpreport")
        check_equal(self.client.poll(), None, "exit code while tcpreport hangs")
        return int(read_text(self.marker))


def test_a_signal_ends_a_hanging_tcpreport():
    with Server() as server:
        run = Hanging(server.port, "-t", "0.2")
        tcpreport = run.await_tcpreport()
        check_equal(stop(run.client, signal.SIGTERM), 130, "exit code")
    check(not os.path.exists(f"/proc/{tcpreport}"), "tcpreport has ended")
    check_equal(os.listdir(run.installed.temporary), [], "temporary files")


@covered_by_others
def test_the_second_signal_ends_the_run_at_once():
    with Server() as server:
        run = Hanging(server.port)
        wait_for(lambda: any(s.state == ESTABLISHED for s in tcp_sockets(run.client.pid)), "the connections")
        run.client.send_signal(signal.SIGINT)
        tcpreport = run.await_tcpreport()
        try:
            time.sleep(0.3)  # two signals within 0.2 s are one request
            check_equal(stop(run.client, signal.SIGTERM), 128 + signal.SIGTERM, "exit code")
        finally:
            os.kill(tcpreport, signal.SIGKILL)


def test_missing_programs_are_refused_before_the_run():
    with Server() as server:
        for tcpreport, path, words in ((None, None, "/tcpreport': No such file or directory"),
                                       ("#!/bin/sh\n", "/nonexistent", "gnuplot is not installed")):
            installed = Installation(tcpreport)
            write_text(installed.page, "kept")
            r = installed.run("-p", server.port, "-t", "200ms", "--report", installed.page, path=path)
            check_equal((r.returncode, len(r.stderr.splitlines())), (2, 1), r.stderr)
            check("--report: " in r.stderr and words in r.stderr, f"{words!r} in {r.stderr}")
            check_equal(installed.text(), "kept", "the page of an earlier run")
        check_equal(server.stop(), 0, "exit code of the server")
    check_equal(server.result["accepted"], 0, "connections")


def test_inputs_of_the_page_must_be_regular_files():
    installed, pipe = installation_that_draws(), temp_path("pipe")
    os.mkfifo(pipe)
    with Server() as server:
        for option, file in (("--hlog", "-"), ("--hlog", pipe), ("--connections-out", pipe)):
            r = installed.run("-p", server.port, "-t", "200ms", "--report", installed.page, option, file)
            check_equal((r.returncode, len(r.stderr.splitlines())), (2, 1), f"{option} {file}: {r.stderr}")
            check("--report: " in r.stderr and option in r.stderr and "regular file" in r.stderr, r.stderr)
        check_equal(server.stop(), 0, "exit code of the server")
    check_equal(server.result["accepted"], 0, "connections")


@covered_by_others
def test_failure_of_tcpreport_keeps_the_old_page():
    need_program("gnuplot")
    for code, words in (("echo '<html>'; exit 1", "tcpreport failed"), ("echo '<html>'; kill -9 $$", "tcpreport failed"),
                        ("echo '<html>'; exit 0", None)):
        installed = Installation(f"#!/bin/sh\n{code}\n")
        write_text(installed.page, "old")
        with Server() as server:
            r = installed.run("-p", server.port, "-c", 5, "-t", "200ms", "--quiet", "--report", installed.page)
        if words is None:  # the control
            check_equal((r.returncode in (0, 3), installed.text()), (True, "<html>\n"), r.stderr)
        else:
            check_equal((r.returncode, installed.text()), (3, "old"), r.stderr)
            check(f"--report: could not write '{installed.page}': {words}" in r.stderr, r.stderr)


if __name__ == "__main__":
    main()
