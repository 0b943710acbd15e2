# SPDX-License-Identifier: MIT
"""A file of tests that is killed leaves no process behind, nor does one that is interrupted while tests/stall stops its processes."""

from helpers.testbed import *

# a file of tests: hosts of a testbed, a process in a session of its own and a named network namespace
FILE = f"""
import sys
sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
from helpers.namespace import *
from helpers.testbed import *

def test_that_never_ends():
    Testbed(1)
    subprocess.run([*Namespace().prefix, "setsid", "--fork", "sleep", "1000"], stdout=subprocess.DEVNULL)
    print("started", flush=True)
    time.sleep(1000)

main()
"""


def processes():
    """All there are in this file's PID namespace, but for those that have ended."""
    found = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/cmdline") as f:
            if command := f.read().replace("\0", " "):
                found[int(pid)] = command
    return found


def names_of_network_namespaces():
    return os.listdir("/run/netns")


def check_killed(kill):
    """Checks that kill(runner) ends everything that the runner has started."""
    need_program("setsid", "sleep")
    before = set(processes())
    path = temp_path("tests.py")
    write_text(path, FILE)
    runner = spawn(["sh", "-c", 'setpriv --pdeathsig KILL "$@" & wait', "sh", sys.executable, path],
                   stdout=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": os.path.dirname(path)})  # killed, it leaves files
    check_equal(runner.stdout.readline(), "started\n", "the file of tests")
    for part in ("sshd", "sleep 1000", "sleep infinity", path):
        # a process that is in execve(2) has no command line
        wait_for(lambda: any(part in command for pid, command in processes().items() if pid not in before), f"the control: {part}")
    kill(runner)
    wait_for(lambda: set(processes()) <= before, f"the end of {set(processes()) - before}")
    check_equal(names_of_network_namespaces(), [], "names of network namespaces")


def file_of_tests(runner):
    """The first process of the file, the runner's child."""
    [file] = children(runner.pid)
    return file


def test_killed_test_file_leaves_nothing_behind():
    need_root()
    check_killed(lambda runner: os.kill(file_of_tests(runner), signal.SIGKILL))


def test_killed_test_runner_leaves_nothing_behind():
    need_root()
    check_killed(lambda runner: os.kill(runner.pid, signal.SIGKILL))


def test_terminated_test_file_leaves_nothing_behind():
    need_root()
    check_killed(lambda runner: os.kill(file_of_tests(runner), signal.SIGTERM))


FILE_ENDED_EARLY = f"""
import os
import signal
import sys
sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
from helpers import isolation

number, moment, last = signal.Signals[sys.argv[1]], sys.argv[2], int(sys.argv[3])
n_forks = 0

def count():
    global n_forks
    n_forks += 1

def end():
    if n_forks == last:
        os.kill(os.getpid(), number)

os.register_at_fork(**{{moment: end}})
os.register_at_fork(before=count)  # runs first
isolation.enter_own_processes()
sys.exit(100)
"""


def test_file_ended_while_it_starts_ends():
    need_root()
    path = temp_path("tests.py")
    write_text(path, FILE_ENDED_EARLY)
    for number in signal.SIGTERM, signal.SIGINT:
        for moment in "before", "after_in_child":
            for nth_fork, code in (2, 128 + number), (1, 128 + number), (0, 100):  # 0: the control
                r = run_command([sys.executable, path, number.name, moment, str(nth_fork)],
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
                as_in_a_shell = r.returncode if r.returncode >= 0 else 128 - r.returncode
                check_equal(as_in_a_shell, code, f"exit code, {number.name} {moment} fork {nth_fork}: {r.stderr}")


# --- tests/stall ---

SLEEPING = f"""
import sys
sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})
from helpers.harness import *

def test_that_never_ends():
    spawn(["sleep", "1000"]).wait()

main()
"""


def is_stopped(pid):
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return process_state(pid) == "T"
    return False


def test_interrupted_stall_leaves_nothing_behind():
    need_root()
    before, path = set(processes()), temp_path("tests.py")
    write_text(path, SLEEPING)
    for number in signal.SIGINT, signal.SIGTERM:
        stall = spawn([os.path.join(SOURCE_DIR, "tests/stall"), "--seconds", "3600", "--every", "0.2", path],
                      start_new_session=True, stderr=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
        wait_for(lambda: any(map(is_stopped, set(processes()) - before)), "a process to be stopped")
        os.killpg(stall.pid, number)
        stall.wait()
        check_equal([pid for pid in set(processes()) - before if is_stopped(pid)], [], "processes that are still stopped")
        with contextlib.suppress(ProcessLookupError):  # Python loses a KeyboardInterrupt in what modules do after a fork
            os.killpg(stall.pid, signal.SIGKILL)
        wait_for(lambda: set(processes()) <= before, lambda: f"the end of {set(processes()) - before}")


if __name__ == "__main__":
    main()
