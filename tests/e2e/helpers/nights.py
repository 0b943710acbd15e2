# SPDX-License-Identifier: MIT
"""Nights of nightly.sh: a directory with a configuration, fake programs and prepared results."""

import functools
import glob
import json
import math
import random
import stat

from helpers.harness import *
from helpers.reports import UNDISTURBED

NIGHTLY = os.path.join(SOURCE_DIR, "scripts/nightly.sh")

# Takes the results of $FAKE/queue in turn, NUMBER.EXITCODE; fails when there are none. Each run is a line of $FAKE/runs. It runs
# hundreds of times: the shell itself does what it can.
FAKE_CLIENT = """#!/bin/sh
arguments=$*
[ ! -e "$FAKE/hang" ] || case " $* " in *" --json "*) echo $$ >"$FAKE/pid"; exec sleep 3600 ;; esac
case " $* " in
*" --plan "*) echo "the plan"; exit "$(cat "$FAKE/plan")" ;;
esac
while [ "$1" != --json ]; do shift; done
result=$2
echo "${0##*/} ${result##*/} $arguments" >>"$FAKE/runs"
set -- "$FAKE"/queue/*
mv "$1" "$result" || exit
code=${1##*.}
[ ! -e "$FAKE/notes" ] || cat "$FAKE/notes" >&2
[ "$code" = 0 ] || printf 'Verdict      SUSPECT\\n             host-noise: a reason\\n             unsent: another\\n' >&2
exit "$code"
"""

# The days of a series pass without waiting.
FAKE_DATE = """#!/bin/sh
exec /bin/date -d "now + $(cat "$FAKE/day") days" "$@"
"""

FAKE_SENDMAIL = """#!/bin/sh
echo "$@" >>"$FAKE/mail"
cat >>"$FAKE/mail"
"""


def write(path, text):
    write_text(path, text)
    if text.startswith("#!"):
        os.chmod(path, stat.S_IRWXU)
    return path


class Nights:
    """A directory with a configuration, fake programs and a queue of results."""

    def __init__(self, **settings):
        self.directory = temp_directory()
        self.bin = self.file("bin")
        self.results = self.file("nights")
        os.makedirs(self.bin)
        os.makedirs(self.file("queue"))
        write(f"{self.bin}/tcpclient", FAKE_CLIENT)
        write(f"{self.bin}/date", FAKE_DATE)
        write(f"{self.bin}/sendmail", FAKE_SENDMAIL)
        write(self.file("plan"), "0")
        write(self.file("client.conf"), "# nothing\n")
        write(self.file("nightly.lock"), "")
        self.day(1)
        self.n_queued = 0
        self.configure(**settings)

    def file(self, name):
        return f"{self.directory}/{name}"

    def configure(self, **settings):
        """Names as in the file, but for _ instead of -."""
        every = {"client_options": "client.conf", "results": "nights", "runs": 2, "deadline": "30m",
                 "repeat_wait": 0, "lock": self.file("nightly.lock"),
                 "tcpclient": "bin/tcpclient", "tcpreport": os.path.abspath(TCPREPORT), **settings}
        write(self.file("nightly.conf"), "".join(f"{key.replace('_', '-')} = {value}\n"
                                                 for key, value in every.items()))

    def day(self, number):
        write(self.file("day"), str(number))

    def queue(self, *runs):
        """Pairs of a result and tcpclient's exit code."""
        for result, code in runs:
            self.n_queued += 1
            with open(self.file(f"queue/{self.n_queued:06}.{code}"), "w") as f:
                json.dump(result, f, indent=2)

    def start(self, prefix=(), stderr=subprocess.PIPE):
        return spawn([*prefix, NIGHTLY, self.file("nightly.conf")], stdout=subprocess.PIPE, stderr=stderr,
                     text=True, cwd=self.directory, env={**os.environ, "FAKE": self.directory,
                                     "PATH": f"{self.bin}:{os.environ['PATH']}"})

    def run(self, code, verdict="", prefix=()):
        """One night; its directory, None when there is none, and what it said on stderr."""
        before = self.all()
        process = self.start(prefix)
        out, err = process.communicate(timeout=HANGS_S)
        check_equal((process.returncode, out), (code, ""), f"exit code and stdout; stderr: {err}")
        new = [night for night in self.all() if night not in before]
        if verdict:
            check(self.summary(new[0]).startswith(verdict), f"{verdict!r} in {self.summary(new[0])}")
        return (new or [None])[0], err

    def all(self):
        return sorted(glob.glob(f"{self.results}/20*Z"))

    def summary(self, night):
        return read_text(f"{night}/summary.txt")

    def mails(self):
        if not os.path.exists(self.file("mail")):
            return ""
        return read_text(self.file("mail"))


@functools.cache
def real_result():
    with Server() as server:
        r = run_client("-q", "-p", server.port, "-c", 10, "-r", 500, "-t", 1, "127.0.0.1")
    check_conservation(r)
    return {**r.json, **UNDISTURBED}


def synthetic(noise, of_night=0.0, effect=0.0):
    """A result whose response times are around 200 us, but for noise and effect."""
    result = json.loads(json.dumps(real_result()))
    for name, size in (("p50", 0.01), ("p90", 0.02), ("p99", 0.05), ("p999", 0.1)):
        factor = math.exp(of_night + noise.gauss(0, size)) * (1 + effect if name == "p50" else 1)
        result["latency_ns"]["response"][name] = round(200000 * factor)
    return result


def valid_runs(n, seed=1):
    noise = random.Random(seed)
    return [(synthetic(noise), 0) for _ in range(n)]


def names_of(night, pattern="run-*.json"):
    return sorted(os.path.basename(path) for path in glob.glob(f"{night}/{pattern}"))


def verdict_json(night):
    return read_json(f"{night}/verdict.json")
