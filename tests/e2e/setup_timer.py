# SPDX-License-Identifier: MIT
"""--revert-after: the timer of the setup scripts, which reverts a host when everybody has left."""

from pathlib import Path

from helpers.setup_host import *


def timers(state):
    """(pid, begin) of those on record; none when it is reverted."""
    try:
        with open(state) as f:
            return [(int(fields[1]), fields[2]) for fields in (line.rstrip("\n").split("\t") for line in f)
                    if fields[0] == "timer"]
    except FileNotFoundError:
        return []


def is_running(pid):
    """With what it waits for."""
    return subprocess.run(["pgrep", "-P", str(pid), "sleep"], capture_output=True).returncode == 0


def with_time_to_look(what, test):
    """test(seconds) for a timer of that many seconds, more when a stall of the machine made it False: reverted too soon to see."""
    need_program("nft", "ip", "sysctl", "pgrep")
    check(any(test(seconds) for seconds in (3, 10, 30, 100)), what)


def reverts_by_itself(seconds):
    state = temp_path("state")
    with Namespace() as namespace:
        before, begin = everything(namespace), time.monotonic()
        # as over ssh: a session whose processes all get SIGHUP
        session = subprocess.run([*namespace.prefix, "setsid", "env", "--default-signal=HUP", "sh", "-c",
                                  f"{CLIENT} --apply --connections 1000 --sources 10.9.9.1-2 --dev lo --state {state} "
                                  f"--owner us --revert-after {seconds}s; kill -HUP 0"], capture_output=True, timeout=HANGS_S)
        check_equal(session.returncode, -signal.SIGHUP, "the session is gone")
        wait_for(lambda: time.monotonic() >= begin + seconds or any(is_running(pid) for pid, _ in timers(state)), "the timer")
        tuned, found = everything(namespace) != before, timers(state)
        if time.monotonic() > begin + seconds:
            return False
        check(tuned, "tuned")
        (pid, _), = found
        wait_for(lambda: not os.path.exists(state), "the revert")
        check_same(everything(namespace), before, "after the time")
        check(not is_running(pid), "the timer is gone")
    return True


def test_host_reverts_by_itself_when_everybody_has_left():
    with_time_to_look("a timer waits", reverts_by_itself)


def time_begins_anew(seconds):
    state = temp_path("state")
    with Namespace() as namespace:
        before, begin = everything(namespace), time.monotonic()
        common = ("--connections", "1000", "--state", state)
        script(namespace, SERVER, "--apply", *common, "--revert-after", f"{seconds}s")
        first = timers(state)
        script(namespace, SERVER, "--apply", *common, "--revert-after", "1h")
        if time.monotonic() > begin + seconds:
            return False
        ((first, _),), ((second, _),) = first, timers(state)
        check(first != second, "another timer")
        wait_for(lambda: not os.path.exists(f"/proc/{first}"), "the end of the first, which reverts nothing any more")
        check(everything(namespace) != before, "still tuned")
        wait_for(lambda: is_running(second), "the second to wait")
        script(namespace, SERVER, "--revert", *common)
        check_same(everything(namespace), before, "after --revert")
        wait_for(lambda: not is_running(second), "the end of the second")
    return True


def test_revert_stops_the_timer_and_apply_restarts_it():
    with_time_to_look("applied again before the time", time_begins_anew)


def test_persist_stops_the_timer():
    """It would revert what is to stay, or, as the state moves, nothing."""
    with Host() as host:
        before, given = host.everything(), temp_path("state")
        for options, first, then in (((), host.path("run/tcpscaler/setup-server.state"), host.path("var/lib/tcpscaler/setup-server.state")),
                                     (("--state", given), given, given)):
            apply(host, SERVER, *options, "--revert-after", "1h")
            (timer, _), = timers(first)
            r = apply(host, SERVER, *options, "--persist")
            check("setup-server.sh: --persist: stopped the timer of --revert-after\n" in r.stderr, r.stderr)
            wait_for(lambda: not os.path.exists(f"/proc/{timer}"), "the end of the timer")
            check_equal((os.path.exists(then), timers(then)), (True, []), "the state, and timers in it")
            r = apply(host, SERVER, *options, "--persist")
            check("timer" not in r.stderr, f"again: {r.stderr}")
            script(host, SERVER, "--revert", *options)
            check_same(host.everything(), before, "after --revert")


def without(path, line):
    text = Path(path).read_text()
    check(line in text, text)
    Path(path).write_text(text.replace(line, ""))


def test_timer_whose_revert_fails_says_why():
    need_program("flock")
    told = temp_path("told")
    logger = write_program(temp_path("logger"), f'#!/bin/sh\n{{ echo "$*"; cat; }} >{told}.new && mv {told}.new {told}\n')
    with Host() as host:
        before, state = host.everything(), host.path("run/tcpscaler/setup-server.state")
        apply(host, SERVER)
        with open(state, "a") as f:
            f.write("moon\tphase\tfull\n")  # which nothing can undo
        apply(host, SERVER, "--revert-after", "0", env={"PATH": f"{os.path.dirname(logger)}:{os.environ['PATH']}"})
        # the lock is released last: --revert would have to wait for it, and say so
        wait_for(lambda: os.path.exists(told) and not os.path.exists(host.path("run/tcpscaler.lock")), "what the system log is told")
        log = Path(state + ".log").read_text()
        said = ("unknown kind of change: 'moon'", "cannot restore moon phase to 'full'",
                "--revert-after failed: repeat it with --revert (/run/tcpscaler/setup-server.state)")
        check_equal(log.splitlines()[-3:], [f"setup-server.sh: {line}" for line in said], "the file")
        check_equal(Path(told).read_text(), "-t setup-server -p daemon.err\n" + log, "the system log")
        r = revert(host, SERVER, code=3)
        check_equal(r.stderr.splitlines()[0],
                    "setup-server.sh: the last --revert-after failed: see /run/tcpscaler/setup-server.state.log", "first line")
        without(state, "moon\tphase\tfull\n")
        revert(host, SERVER)
        check_same(host.everything(), before, "after --revert")


def test_timer_that_is_ended_reverts_at_once():
    """Its sleep is killed, or the timer itself gets SIGTERM, again and again, as when its session ends."""
    need_program("flock", "pgrep")
    for name in ("sleep", "timer"):
        with Host() as host:
            before, state = host.everything(), host.path("run/tcpscaler/setup-server.state")
            apply(host, SERVER, "--revert-after", "1h")
            (timer, _), = timers(state)
            sleep = wait_for(lambda: subprocess.run(["pgrep", "-P", str(timer), "-x", "sleep"], capture_output=True, text=True).stdout,
                             "its sleep")
            ended = os.pidfd_open(int(sleep) if name == "sleep" else timer)

            def is_reverted():
                with contextlib.suppress(ProcessLookupError):
                    signal.pidfd_send_signal(ended, signal.SIGTERM)
                # the lock comes last here, too
                return not os.path.exists(state) and not os.path.exists(host.path("run/tcpscaler.lock"))
            wait_for(is_reverted, f"the revert after the end of the {name}")
            os.close(ended)
            check_same(host.everything(), before, "after the revert")


if __name__ == "__main__":
    main(own_network=False)  # sysctls that a namespace does not have
