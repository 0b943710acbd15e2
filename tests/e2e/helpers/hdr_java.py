# SPDX-License-Identifier: MIT
"""HdrHistogram's own library for Java, which reads the interval logs."""

from helpers.harness import *

JAR = "/usr/share/java/hdrhistogram.jar"


def need_java():
    need_program("java")
    if not os.path.exists(JAR):
        skip(f"{JAR} is missing (Debian: libhdrhistogram-java)")


def totals_by_java(path, tag=None):
    """{column: its text} of all intervals of a log with this tag, in ns."""
    need_java()
    out = temp_path("totals")
    r = run_command(["java", "-Duser.language=en", "-cp", JAR, "org.HdrHistogram.HistogramLogProcessor", "-csv",
                     "-outputValueUnitRatio", "1", "-i", path, "-o", out, *(["-tag", tag] if tag else [])])
    check_equal(r.returncode, 0, r.stdout + r.stderr)
    with open(out) as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))[-1]
