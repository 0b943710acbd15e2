# SPDX-License-Identifier: MIT
"""Imported first by programs that measure: makes the helpers of tests/e2e importable; if tcpclient or tcpserver is not built, ends at
once and says how to build them. Later errors, too, are reported in one line."""
import contextlib
import os
import shutil
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../tests/e2e"))
from helpers.checks import Skip
from process_tree import tree

PROGRAM = os.path.basename(sys.argv[0])


def interrupt(*_):
    """Ends the programs that a benchmark has started, even one that is in no list yet because the signal came while it was started."""
    for pid in tree(os.getpid())[1:]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    sys.exit(f"{PROGRAM}: interrupted")


for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
    if signal.getsignal(number) != signal.SIG_IGN:  # nohup(1), or in the background
        signal.signal(number, interrupt)


def say(kind, error, trace):
    if issubclass(kind, (Skip, AssertionError)):
        sys.stderr.write(f"{PROGRAM}: {' '.join(str(error).split())}\n")
    else:
        sys.__excepthook__(kind, error, trace)


sys.excepthook = say


def missing():
    """The programs that are needed and not there; those of a build, or $TCPSERVER and $TCPCLIENT."""
    programs = [os.environ.get(name.upper(), f"build/release/{name}") for name in ("tcpserver", "tcpclient")]
    return [program for program in programs if shutil.which(program) is None]


if missing() and not {"-h", "--help"} & set(sys.argv):
    sys.exit(f"{PROGRAM}: cannot find {' and '.join(missing())}.\n"
             "From the root of the repository: scripts/install-deps.sh build && cmake --preset release && "
             "cmake --build --preset release\n"
             "or set TCPSERVER and TCPCLIENT.")
