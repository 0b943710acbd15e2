#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs a command as if the kernel lacked a feature: a filter (seccomp(2)) makes system calls fail, selected by number
and arguments.

    deny.py WHAT... -- COMMAND...        WHAT: a key of CALLS"""

import ctypes
import errno
import os
import platform
import socket
import struct
import sys

SO_TIMESTAMPING, SO_MEMINFO, IP_BIND_ADDRESS_NO_PORT, NETLINK_SOCK_DIAG = 37, 55, 24, 4

# The system call, {argument: value}, and the error that it returns; 0: it returns success, and does nothing.
CALLS = {
    "IP_BIND_ADDRESS_NO_PORT": ("setsockopt", {1: socket.IPPROTO_IP, 2: IP_BIND_ADDRESS_NO_PORT}, errno.ENOPROTOOPT),
    "SO_TIMESTAMPING": ("setsockopt", {1: socket.SOL_SOCKET, 2: SO_TIMESTAMPING}, errno.ENOPROTOOPT),
    "SO_MEMINFO": ("getsockopt", {1: socket.SOL_SOCKET, 2: SO_MEMINFO}, errno.ENOPROTOOPT),
    "sock_diag": ("socket", {0: socket.AF_NETLINK, 2: NETLINK_SOCK_DIAG}, errno.EPROTONOSUPPORT),
    "IPv6": ("socket", {0: socket.AF_INET6}, errno.EAFNOSUPPORT),
    "unshare": ("unshare", {}, errno.EPERM),
    "close_range": ("close_range", {}, errno.ENOSYS),
    "fs.file-max": ("accept4", {}, errno.ENFILE),
    "setgroups": ("setgroups", {}, 0),
    "setresgid": ("setresgid", {}, 0),
    "setresuid": ("setresuid", {}, 0),
}

NUMBERS = {
    "x86_64": {"socket": 41, "setsockopt": 54, "getsockopt": 55, "setgroups": 116, "setresuid": 117, "setresgid": 119, "unshare": 272,
               "accept4": 288, "close_range": 436},
    "aarch64": {"socket": 198, "setsockopt": 208, "getsockopt": 209, "setgroups": 159, "setresuid": 147, "setresgid": 149, "unshare": 97,
                "accept4": 242, "close_range": 436},
}

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
BPF_LOAD, BPF_JUMP_EQUAL, BPF_RETURN = 0x20, 0x15, 0x06
RETURN_ALLOW, RETURN_ERRNO = 0x7fff0000, 0x00050000
OFFSET_OF_NUMBER, OFFSET_OF_ARGUMENTS = 0, 16  # in struct seccomp_data


def instruction(code, k, if_true=0, if_false=0):
    return struct.pack("HBBI", code, if_true, if_false, k)


def rule(call, arguments, error):
    """The filter's part for one call: returns the error, or falls through."""
    wanted = [(OFFSET_OF_NUMBER, NUMBERS[platform.machine()][call])]
    wanted += [(OFFSET_OF_ARGUMENTS + 8 * i, value) for i, value in arguments.items()]
    code = []
    for i, (offset, value) in enumerate(wanted):
        left = 2 * (len(wanted) - i) - 1  # instructions up to the next rule
        code += [instruction(BPF_LOAD, offset), instruction(BPF_JUMP_EQUAL, value, 0, left)]
    return code + [instruction(BPF_RETURN, RETURN_ERRNO | error)]


def install(names):
    code = b"".join(part for name in names for part in rule(*CALLS[name]))
    code += instruction(BPF_RETURN, RETURN_ALLOW)
    buffer = ctypes.create_string_buffer(code, len(code))
    program = struct.pack("HP", len(code) // 8, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    if (libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or
            libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) != 0):
        sys.exit(f"deny.py: no filter: {os.strerror(ctypes.get_errno())}")


if __name__ == "__main__":
    end = sys.argv.index("--")
    install(sys.argv[1:end])
    os.execvp(sys.argv[end + 1], sys.argv[end + 1:])
