# SPDX-License-Identifier: MIT
"""The programs and modules of bench/, as the tests of these run and import them."""

from helpers.harness import *

BENCH = os.path.join(SOURCE_DIR, "bench")
sys.path.insert(0, BENCH)
sys.dont_write_bytecode = True

SCALE = """
         N     proven  seconds  conn/s  us each  client B  server B  kernel B      plan  client us/query  teardown s
    10,000     10,000     0.20  49,911     20.0       544       209     8,349    +0.5 %      12.4 + 39.8         0.1
   100,000  does not fit here:
memory (bytes available): 22,737,674,240, needed 26,294,141,000

The picture: build/scale.png
"""


def run_program(path, *arguments, **options):
    """With the interpreter of the tests: the first python3 of the PATH may be a wrapper, which takes as long as the program."""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **options.pop("env", {})}
    return run_command([sys.executable, "-S", path, *arguments], env=environment, **options)


def has_ended(pid):
    """Whether its new parent has waited for it or not."""
    try:
        return process_state(pid) in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True
