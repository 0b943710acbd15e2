# SPDX-License-Identifier: MIT
"""A test that fails is repeated if the machine was disturbed, and only then."""

from helpers.harness import *


class Unsound:
    """A result whose counts do not add up."""
    err, json = "", {name: {"scheduled": 2, "sent": 1, "unsent": 0} for name in ("queries", "warmup", "probes")}


class FakeMachine:
    """Disturbed as often as told to."""

    def __init__(self, disturbances):
        self.disturbances, self.n_tries = list(disturbances), 0

    def begin(self):
        self.n_tries += 1

    def disturbance(self):
        return self.disturbances.pop(0) if self.disturbances else None


def tries(failures, disturbances=()):
    """(the result of a test that raises these in turn, how often it was tried)."""
    left, machine = list(failures), FakeMachine(disturbances)

    def test():
        if left:
            raise left.pop(0)

    try:
        run_test(test, machine, lambda: None)
        return "passed", machine.n_tries
    except Exception as failure:
        return str(failure), machine.n_tries


def test_failure_is_repeated_after_a_disturbance():
    check_equal(tries([]), ("passed", 1), "a test that passes")
    check_equal(tries([AssertionError("why")]), ("why", 1), "on a quiet machine")
    check_equal(tries([AssertionError("why")], ["a stall"]), ("passed", 2), "during a stall")
    check_equal(tries([AssertionError("why"), AssertionError("again")], ["a stall"]), ("again", 2), "during one stall")
    check_equal(tries([Spoiled("why")]), ("passed", 2), "a check that says what spoils it")
    check_equal(tries([Spoiled(f"why {i}") for i in range(99)]), (f"why {TRIES - 1}", TRIES), "a bug fails each time")


def test_failure_that_nothing_excuses_is_not_repeated():
    check_equal(tries([Certain("sums")], ["a stall"]), ("sums", 1), "counts that do not add up")
    check_equal(tries([AssertionError("ERROR: AddressSanitizer: ...")], ["a stall"])[1], 1, "tries of what a sanitizer reports")
    spawn(["sh", "-c", "kill -ABRT $$"]).wait()
    check_equal(tries([AssertionError("why")], ["a stall"]), ("why", 1), "a program that crashed")
    check("ended by a crash" in tries([])[0], "a test that did not notice")
    stop_all()


def test_crash_is_noticed_after_all_processes_have_ended():
    """As at the end of a control group."""
    spawn(["sh", "-c", "kill -ABRT $$"]).wait()
    kill_all()
    check("ended by a crash" in tries([])[0], "a test that did not notice")
    stop_all()


def test_wrong_sums_are_never_excused():
    for where in contextlib.nullcontext, stall_may_spoil:
        try:
            with where():
                check_conservation(Unsound)
            found = "conserved"
        except Exception as failure:
            found = type(failure)
        check_equal(found, Certain, f"failure in {where.__name__}")


def test_stall_is_noticed():
    machine = Machine()
    watch = machine.watches[-1]
    wait_for(lambda: watch.latest_s > 0, "the watch to begin")
    os.kill(watch.pid, signal.SIGSTOP)
    time.sleep(3 * STALL_S)
    os.kill(watch.pid, signal.SIGCONT)
    wait_for(lambda: watch.latest_s > STALL_S, "the stall")
    check("stalled" in machine.disturbance(), "what it says")


def test_watch_does_not_run_the_handlers_of_its_parent():
    for number in signal.SIGTERM, signal.SIGHUP:
        handler = signal.signal(number, lambda *_: os._exit(1))
        machine = Machine()
        signal.signal(number, handler)
        watch = machine.watches.pop()
        wait_for(lambda: watch.latest_s > 0, "the watch to begin")
        os.kill(watch.pid, number)
        check_equal(os.waitstatus_to_exitcode(os.waitpid(watch.pid, 0)[1]), -number, "how the watch ended")
        machine.end()


if __name__ == "__main__":
    main()
