# SPDX-License-Identifier: MIT
"""--revert-after: the timer of the setup scripts that reverts a host when all have gone."""

from setup_host import *


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
        # as over ssh: a session whose processes are all told to hang up
        session = subprocess.run([*namespace.prefix, "setsid", "env", "--default-signal=HUP", "sh", "-c",
                                  f"{CLIENT} --apply --connections 1000 --sources 10.9.9.1-2 --dev lo --state {state} "
                                  f"--owner us --revert-after {seconds}s; kill -HUP 0"], capture_output=True, timeout=600)
        check_equal(session.returncode, -signal.SIGHUP, "the session is gone")
        while time.monotonic() < begin + seconds and not any(is_running(pid) for pid, _ in timers(state)):
            time.sleep(0.02)
        tuned, found = everything(namespace) != before, timers(state)
        if time.monotonic() > begin + seconds:
            return False
        check(tuned, "tuned")
        (pid, _), = found
        wait_for(lambda: not os.path.exists(state), "the revert", seconds + 100)
        check_same(everything(namespace), before, "after the time")
        check(not is_running(pid), "the timer is gone")
    return True


def test_host_reverts_by_itself_when_all_have_gone():
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
        wait_for(lambda: not is_running(first), "the end of the first")
        time.sleep(seconds + 0.5)  # when the first would have reverted
        check(everything(namespace) != before, "still tuned")
        check(is_running(second), "the second waits")
        script(namespace, SERVER, "--revert", *common)
        check_same(everything(namespace), before, "after --revert")
        wait_for(lambda: not is_running(second), "the end of the second")
    return True


def test_revert_ends_the_timer_and_apply_begins_its_time_anew():
    with_time_to_look("applied again before the time", time_begins_anew)


if __name__ == "__main__":
    main(own_network=False)  # sysctls that a namespace does not have
