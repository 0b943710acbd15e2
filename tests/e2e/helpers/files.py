# SPDX-License-Identifier: MIT
"""Files of a test: temporary ones, which are removed when the file of tests ends, and the contents of any."""

import atexit
import csv
import json
import os
import shutil
import tempfile


def temp_directory():
    directory = tempfile.mkdtemp(prefix="tcpscaler-test-")
    atexit.register(shutil.rmtree, directory, True)
    return directory


def temp_path(name):
    """A path of this name, in a directory of its own."""
    return os.path.join(temp_directory(), name)


def write_text(path, text):
    """Returns the path."""
    with open(path, "w") as f:
        f.write(text)
    return path


def write_json(path, value):
    with open(path, "w") as f:
        json.dump(value, f)


def write_program(path, text):
    """Makes an executable script of the text; returns its path."""
    write_text(path, text)
    os.chmod(path, 0o755)
    return path


def read_text(path):
    with open(path) as f:
        return f.read()


def read_json(path):
    with open(path) as f:
        return json.load(f)


def read_rows(path):
    """A dictionary for each row of a CSV file with a header."""
    with open(path) as f:
        return list(csv.DictReader(f))


def files_below(root):
    """The paths of all files below a directory, relative to it and sorted."""
    return sorted(os.path.relpath(os.path.join(directory, name), root)
                  for directory, _, names in os.walk(root) for name in names)
