# SPDX-License-Identifier: MIT
"""Memory, CPU time, signals and TCP sockets as the kernel reports them."""

import contextlib
import itertools
import os
import re

MIB = 1 << 20


def rss_bytes(pid):
    with open(f"/proc/{pid}/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")


def stat_fields(pid):
    """The fields of proc_pid_stat(5) after the name: [0] is the state, [1] the parent, [11:15] are times. PID/task/TID: of a thread."""
    with open(f"/proc/{pid}/stat") as f:
        return f.read().rpartition(")")[2].split()


def cpu_seconds(pid):
    """User and system time so far, to a hundredth of a second."""
    return sum(map(int, stat_fields(pid)[11:13])) / os.sysconf("SC_CLK_TCK")


def thread_states(pid):
    """The states of all threads of a process: S sleeping, R running or ready to run, T stopped."""
    states = set()
    for task in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            states.add(stat_fields(f"{pid}/task/{task}")[0])
    return states


def process_state(pid):
    """The state of its main thread: S sleeping, T stopped, Z ended."""
    return stat_fields(pid)[0]


def catches(pid, number):
    """Whether a process has a handler for this signal."""
    with open(f"/proc/{pid}/status") as f:
        caught = re.search(r"^SigCgt:\s*(\w+)$", f.read(), re.M)[1]
    return int(caught, 16) >> (number - 1) & 1


def children(pid):
    """The pids of the processes that its main thread has started."""
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return set(map(int, f.read().split()))


ESTABLISHED, SYN_SENT, SYN_RECV, TIME_WAIT, CLOSE_WAIT, LISTEN = 1, 2, 3, 6, 8, 10  # include/net/tcp_states.h


class TcpSocket:
    """A line of /proc/net/tcp or tcp6.  n_unsent: bytes not yet acknowledged; n_unread: of a listener, the
    connections not yet accepted."""

    def __init__(self, line):
        _, self.local, self.remote, state, queues, *_ = line.split()
        self.state = int(state, 16)
        self.n_unsent, self.n_unread = (int(queue, 16) for queue in queues.split(":"))
        self.local_port, self.remote_port = (int(end.split(":")[1], 16) for end in (self.local, self.remote))


def tcp_sockets(pid="self"):
    """The counters of the network namespace of a process."""
    found = []
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid}/net/{name}") as f:
            found += [TcpSocket(line) for line in f.readlines()[1:]]
    return found


def listening_ports():
    """Of this network namespace. The kernel lists the sockets that listen before all others, of which there may be very many."""
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(FileNotFoundError), open(f"/proc/net/{name}") as f:
            next(f)
            for listener in itertools.takewhile(lambda s: s.state == LISTEN, map(TcpSocket, f)):
                yield listener.local_port


def listens(port):
    return port in listening_ports()


def server_ends(port):
    """How many connections to a server port have not been closed there."""
    return sum(s.state in (ESTABLISHED, CLOSE_WAIT) and s.local_port == port for s in tcp_sockets())


def waiting_to_be_accepted(server):
    """Connections in the accept queues of a server's listeners, or on the way there."""
    of_server = [s for s in tcp_sockets(server.pid) if s.local_port == server.port]
    return sum(s.n_unread for s in of_server if s.state == LISTEN) + sum(s.state == SYN_RECV for s in of_server)
