# SPDX-License-Identifier: MIT
"""clock.py SECONDS: fail, and say why, unless the kernel's clock is synchronized to within SECONDS."""

import ctypes
import sys

STA_UNSYNC = 0x40  # adjtimex(2)


class Timex(ctypes.Structure):
    _fields_ = [("modes", ctypes.c_uint), ("offset", ctypes.c_long), ("freq", ctypes.c_long),
                ("maxerror_us", ctypes.c_long), ("esterror", ctypes.c_long), ("status", ctypes.c_int),
                ("rest", ctypes.c_char * 256)]


def fault(status, maxerror_us, limit_s):
    """Why the clock is unsuitable; None if it is suitable."""
    if status & STA_UNSYNC:
        return "clock not synchronized: install chrony, or set clock_error_max to ''"
    if maxerror_us > limit_s * 1e6:
        return f"clock may be {maxerror_us / 1e6:.3f} s off (clock_error_max {limit_s:g} s)"
    return None


if __name__ == "__main__":
    timex = Timex()
    if ctypes.CDLL(None).adjtimex(ctypes.byref(timex)) < 0:
        sys.exit("cannot read the state of the clock: adjtimex(2) is refused")
    sys.exit(fault(timex.status, timex.maxerror_us, float(sys.argv[1])))
