# SPDX-License-Identifier: MIT
"""--start-file: clients that are ready wait until this file names the start time."""

from helpers.harness import *


def open_gate(path, epoch_s):
    """Creates it by rename, as the man page says."""
    write_text(path + ".new", f"{epoch_s:.9f}\n")
    os.rename(path + ".new", path)


def wait_ready(path):
    wait_for(lambda: os.path.exists(path + ".ready"), f"{path}.ready")
    return read_json(path + ".ready")
