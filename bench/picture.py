# SPDX-License-Identifier: MIT
"""Pictures of what was measured, drawn by gnuplot(1)."""

import os
import subprocess


def draw(path, size, script):
    """Writes a PNG of size "WIDTH,HEIGHT" and prints where it is, or why there is none. Returns False if gnuplot failed; if it is not
    installed, the picture is skipped."""
    head = f'set terminal pngcairo size {size} font "sans,10"; set output "{path}"\n'
    try:
        # the user's GNUTERM may name a terminal that this gnuplot lacks: it would skip commands
        done = subprocess.run(["gnuplot", "-d", "-"], env={**os.environ, "GNUTERM": "unknown"}, input=head + script, capture_output=True,
                              text=True)
    except FileNotFoundError:
        print("SKIP the picture: gnuplot is not installed", flush=True)
        return True
    if done.returncode != 0:
        print(f"FAIL the picture: {' '.join(done.stderr.split())[-300:]}", flush=True)
        return False
    print(f"The picture: {path}", flush=True)
    return True
