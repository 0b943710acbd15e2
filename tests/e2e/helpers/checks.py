# SPDX-License-Identifier: MIT
"""Checks, and the marks of tests."""

import contextlib
import os
import shutil

# Sanitizers make everything several times slower; they look for bugs, not for speed.
SANITIZED = os.environ.get("TCPSCALER_SANITIZED", "")
# "truth": the tests that measure time; "": every test; else all but those
SUITE = os.environ.get("TCPSCALER_SUITE", "")
# of nginx, nft and sshd; the PATH of users lacks them, and so does that of root after su(1)
os.environ["PATH"] += ":/usr/sbin:/sbin"


class Skip(Exception):
    pass


class Spoiled(AssertionError):
    pass


class Certain(AssertionError):
    """A failure that no disturbance of the machine excuses."""


def skip(why):
    raise Skip(why)


def need_program(*names):
    for name in names:
        if shutil.which(name) is None:
            skip(f"{name} is not installed")


def need_root():
    if os.geteuid() != 0:
        skip("not root")


def plain_build_only(test):
    """Marks a test of speed, or of a tool for which sanitizers leave too little time or memory."""
    test.plain_build_only = True
    return test


def covered_by_others(test):
    """Marks a test that runs no line of the programs that others with sanitizers do not run, too (tests/covered): it needs none,
    except with EVERY_TEST, as in tests/deep."""
    test.covered_by_others = True
    return test


def in_deep_only(test):
    """Marks a long test of what shorter ones test in nearly the same way: only with EVERY_TEST, as in tests/deep."""
    test.in_deep_only = True
    return test


def before_any_thread(test):
    """Marks a test of what the programs do before they start a second thread, in which ThreadSanitizer finds nothing."""
    test.before_any_thread = True
    return test


def of_one_thread(test):
    """Marks a test in which threads share only what they share in every other test, too: with ThreadSanitizer it is for tests/deep,
    as are the files OF_ONE_THREAD of tests/CMakeLists.txt."""
    test.of_one_thread = True
    return test


def needs_own_fd_tables(test):
    """Marks a test of the workers' own fd tables, which the build for ThreadSanitizer does without."""
    test.needs_own_fd_tables = True
    return test


def measures_time(test):
    """Marks a test that can fail when other programs use the CPUs. CMake looks for this line."""
    test.measures_time = True
    return test


def fits_this_suite(test):
    return not SUITE or hasattr(test, "measures_time") == (SUITE == "truth")


def this_part(tests):
    """$TCPSCALER_PART is I/N: every N-th test, from the I-th on. The others run at the same time."""
    i, n = map(int, os.environ.get("TCPSCALER_PART", "1/1").split("/"))
    return tests[i - 1::n]


def fits_this_build(test):
    left_out = {"plain_build_only"} if SANITIZED else set()
    if SANITIZED == "thread":
        left_out |= {"needs_own_fd_tables", "before_any_thread"}
    if not os.environ.get("EVERY_TEST"):
        left_out |= {"in_deep_only", "covered_by_others"} if SANITIZED else {"in_deep_only"}
        if SANITIZED == "thread":
            left_out.add("of_one_thread")
    return not any(hasattr(test, mark) for mark in left_out)


def check(condition, text):
    if not condition:
        raise AssertionError(text)


def check_equal(got, want, what):
    check(got == want, f"{what}: {got!r}, expected {want!r}")


def check_between(got, low, high, what):
    check(got is not None and low <= got <= high, f"{what}: {got!r}, expected {low!r} to {high!r}")


@contextlib.contextmanager
def stall_may_spoil():
    """Around checks that also fail if the host stalls: the test is then repeated (run_test). A bug fails each time.
    Checks that must hold even then stay outside, or say so themselves (whatever_happens)."""
    try:
        yield
    except Certain:
        raise
    except AssertionError as failed:
        raise Spoiled(str(failed)) from None


@contextlib.contextmanager
def whatever_happens():
    """Around checks that no stall can make fail: the test is not repeated."""
    try:
        yield
    except AssertionError as failed:
        raise Certain(str(failed)) from None
