# SPDX-License-Identifier: MIT
"""Imported first by what measures: without the programs it ends at once and says how to build them."""
import contextlib
import os
import shutil
import signal
import sys

from process_tree import tree


def interrupt(*_):
    """What a benchmark has started ends with it, also what is in no list yet because the signal came while it was started."""
    for pid in tree(os.getpid())[1:]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    sys.exit(f"{os.path.basename(sys.argv[0])}: interrupted")


for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
    if signal.getsignal(number) != signal.SIG_IGN:  # nohup(1), or in the background
        signal.signal(number, interrupt)


def missing():
    """The programs that are needed and not there; those of a build, or $TCPSERVER and $TCPCLIENT."""
    programs = [os.environ.get(name.upper(), f"build/release/{name}") for name in ("tcpserver", "tcpclient")]
    return [program for program in programs if shutil.which(program) is None]


if missing() and not {"-h", "--help"} & set(sys.argv):
    sys.exit(f"{os.path.basename(sys.argv[0])}: cannot find {' and '.join(missing())}.\n"
             "From the root of the repository: scripts/install-deps.sh build && cmake --preset release && "
             "cmake --build --preset release\n"
             "or set TCPSERVER and TCPCLIENT.")
