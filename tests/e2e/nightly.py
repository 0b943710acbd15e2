# SPDX-License-Identifier: MIT
"""nightly.sh: real runs against a real server, also beside a reference; verdicts, repeats, deadlines and
series with a tcpclient that hands out prepared results; the units and what they start."""

import functools
import glob
import math
import random
import stat

from faults import FAULT
from harness import *

NIGHTLY = os.path.join(SOURCE_DIR, "scripts/nightly.sh")
FAILED = os.path.join(SOURCE_DIR, "scripts/nightly-failed.sh")

# Takes the results of $FAKE/queue in turn, NUMBER.EXITCODE; says VALID without a result when there are none.
# Each run is a line of $FAKE/runs.
FAKE_CLIENT = """#!/bin/sh
arguments=$*
[ ! -e "$FAKE/hang" ] || case " $* " in *" --json "*) echo $$ >"$FAKE/pid"; exec sleep 600 ;; esac
case " $* " in
*" --plan "*) echo "the plan"; exit "$(cat "$FAKE/plan")" ;;
esac
while [ "$1" != --json ]; do shift; done
echo "$(basename "$0") $(basename "$2") $arguments" >>"$FAKE/runs"
next=$(ls "$FAKE/queue" | head -n 1)
mv "$FAKE/queue/$next" "$2"
code=${next##*.}
[ "$code" = 0 ] || printf 'Verdict      SUSPECT\\n             host-noise: a reason\\n' >&2
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
    with open(path, "w") as f:
        f.write(text)
    if text.startswith("#!"):
        os.chmod(path, stat.S_IRWXU)
    return path


class Nights:
    """A directory with a configuration, fake programs and a queue of results."""

    def __init__(self, **settings):
        self.directory = os.path.dirname(temp_path("x"))
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
        every = {"client_options": "client.conf", "results": "nights", "runs": 2, "deadline": "60s",
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

    def start(self):
        return spawn([NIGHTLY, self.file("nightly.conf")], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                     text=True, cwd=self.directory, env={**os.environ, "FAKE": self.directory,
                                     "PATH": f"{self.bin}:{os.environ['PATH']}"})

    def run(self, code, verdict="", timeout=60):
        """One night; its directory, None when there is none, and what it said on stderr."""
        before = self.all()
        process = self.start()
        out, err = process.communicate(timeout=timeout)
        check_equal((process.returncode, out), (code, ""), f"exit code and stdout; stderr: {err}")
        new = [night for night in self.all() if night not in before]
        if verdict:
            check(self.summary(new[0]).startswith(verdict), f"{verdict!r} in {self.summary(new[0])}")
        return (new or [None])[0], err

    def all(self):
        return sorted(glob.glob(f"{self.results}/20*Z"))

    def summary(self, night):
        with open(f"{night}/summary.txt") as f:
            return f.read()

    def mails(self):
        if not os.path.exists(self.file("mail")):
            return ""
        with open(self.file("mail")) as f:
            return f.read()


@functools.cache
def real_result():
    with Server() as server:
        r = run_client("-q", "-p", server.port, "-c", 10, "-r", 500, "-t", 1, "127.0.0.1")
    check_conservation(r)
    return {**r.json, "verdict": "VALID", "reasons": [],
            "holds": {name: True for name in ("p50", "p90", "p95", "p99", "p999", "p9999", "max")}}


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


def test_a_night_against_a_real_server():
    with Server() as server:
        port = server.port
    # few queries, many repeats: on a machine that does more than this few runs are VALID
    nights = Nights(runs=2, tcpclient=os.path.abspath(TCPCLIENT), repeats=99, deadline="90s",
                    server=f"{os.path.abspath(TCPSERVER)} --bind 127.0.0.1 {port}")
    write(nights.file("client.conf"), f"target = 127.0.0.1:{port}\nconnections = 10\nrate = 40\n"
                                      "duration = 300ms\ndrain = 100ms\nsettle = 0\n")
    night, _ = nights.run(2, "INCONCLUSIVE: first night of a series", timeout=120)
    check_equal(names_of(night, "run-*"), [f"run-{i:02}.{ending}" for i in (1, 2) for ending in
                                           ("hlog", "json", "server.txt", "txt")], "files")
    for i in (1, 2):
        with open(f"{night}/run-{i:02}.json") as f:
            result = json.load(f)
        check_equal((result["verdict"], result["connections"]["proven"]), ("VALID", 10), "the run")
        with open(f"{night}/run-{i:02}.server.txt") as f:
            check("listening on" in f.read(), "a fresh server")
    with open(f"{night}/fingerprint") as f:
        fingerprint = f.read()
    for name in ("devices/system/cpu/intel_pstate/no_turbo", "devices/system/cpu/cpufreq/boost",
                 "devices/system/cpu/smt/active", "devices/system/cpu/cpuidle/current_driver",
                 "module/intel_idle/parameters/max_cstate", "kernel/mm/transparent_hugepage/enabled"):
        check(not os.path.exists(f"/sys/{name}") or f"\n{name} " in fingerprint, f"{name} in {fingerprint}")
    for path in glob.glob("/sys/devices/system/cpu/cpu0/cpuidle/*/disable") + \
            [os.path.dirname(os.path.dirname(path)) for path in glob.glob("/sys/class/net/*/device/driver")]:
        check(f"\n{path} " in fingerprint, f"{path} in {fingerprint}")
    with open("/proc/cpuinfo") as f:
        check_equal("\nmicrocode " in fingerprint, "\nmicrocode\t" in f.read(), f"microcode in {fingerprint}")
    for text in (f'"kernel": "{os.uname().release}"', '"libevent": ', '"cpus": ', '"connections": 10', '"rate": 40',
                 "net/ipv4/tcp_rmem ", "tcpclient "):
        check(text in fingerprint, f"{text} in {fingerprint}")
    check(not listens(port), "the server is stopped")
    nights.day(2)
    nights.run(2, "INCONCLUSIVE: 1 of 7 reference nights", timeout=120)
    write(nights.file("client.conf"), open(nights.file("client.conf")).read().replace("rate = 40", "rate = 44"))
    nights.day(3)
    night, _ = nights.run(2, "INCONCLUSIVE: first night of a series", timeout=120)
    check('"rate": 44' in nights.summary(night), nights.summary(night))


def test_a_second_instance_is_refused():
    nights = Nights()
    write(nights.file("hang"), "")
    first = nights.start()
    wait_for(lambda: os.path.exists(nights.file("pid")), "the first run")
    night, err = nights.run(4)
    check_equal(night, None, "a night of the second")
    lock = nights.file("nightly.lock")
    check_equal(err, f"nightly.sh: another instance is running on this host (lock: {lock})\n", "stderr")
    nights.configure(results="others")
    nights.run(4)
    nights.configure(lock="client.conf")
    _, err = nights.run(4)
    check_equal(err, f"nightly.sh: another instance is using {nights.results}\n", "another lock, the same results")
    check_equal(stop(first), 130, "exit code of the first, stopped by SIGTERM")
    check("interrupted" in nights.summary(nights.all()[0]), "its summary")
    check_gone(nights)
    os.unlink(nights.file("hang"))
    nights.queue(*valid_runs(2))
    nights.day(2)
    nights.run(2, "INCONCLUSIVE: first night")


def check_gone(nights):
    with open(nights.file("pid")) as f:
        pid = int(f.read())
    wait_for(lambda: not os.path.exists(f"/proc/{pid}"), "the end of tcpclient", 10)


def test_the_deadline_stops_what_was_started():
    nights = Nights(deadline="5s", server="bin/server", server_ready="ready")
    write(f"{nights.bin}/server", "#!/bin/sh\necho $$ >\"$FAKE/server\"\necho ready\nexec sleep 600\n")
    write(nights.file("hang"), "")
    begin = time.monotonic()
    nights.run(2, "INCONCLUSIVE: the deadline (5s) has passed")
    check_between(time.monotonic() - begin, 3, 30, "seconds")
    check_gone(nights)
    with open(nights.file("server")) as f:
        check(not os.path.exists(f"/proc/{f.read().strip()}"), "the server is stopped")


def test_runs_that_are_not_valid_are_repeated_up_to_the_limit():
    nights = Nights(repeats=2)
    suspect = ({**real_result(), "verdict": "SUSPECT", "reasons": ["host-noise"]}, 3)
    invalid = ({**real_result(), "broken_law": "sums"}, 1)
    nights.queue(*valid_runs(1), suspect, invalid, *valid_runs(1))
    night, err = nights.run(2, "INCONCLUSIVE: first night of a series")
    check("run-02, try 1: exit code 3: SUSPECT host-noise: a reason\n" in err, err)
    check("run-02, try 2: exit code 1: " in err, err)
    check_equal(names_of(night), ["run-01.json", "run-02.json"], "runs")
    check_equal(names_of(night, "repeated/*.json"), ["run-02.try-1.json", "run-02.try-2.json"], "repeated")
    for name in names_of(night):
        with open(f"{night}/{name}") as f:
            check_equal(json.load(f)["verdict"], "VALID", name)
    nights.day(2)
    nights.queue(*valid_runs(1), suspect, suspect, suspect, *valid_runs(1))
    night, _ = nights.run(2, "INCONCLUSIVE: run-02 was not VALID in 3 tries")
    check(not os.path.exists(f"{night}/reference"), "a reference for later nights")
    check_equal(len(os.listdir(nights.file("queue"))), 1, "runs left")


def test_repeats_wait_longer_each_time():
    nights = Nights(repeats=2, repeat_wait="3s")
    write(f"{nights.bin}/sleep", '#!/bin/sh\necho "$1" >>"$FAKE/slept"\n')
    nights.queue(*[({**real_result(), "verdict": "SUSPECT"}, 3)] * 3)
    nights.run(2, "INCONCLUSIVE: run-01 was not VALID in 3 tries")
    with open(nights.file("slept")) as f:
        check_equal(f.read().split(), ["3", "6"], "seconds slept")


def test_a_night_without_a_server_says_refused():
    nights = Nights(repeats=1, tcpclient=os.path.abspath(TCPCLIENT))
    write(nights.file("client.conf"), "target = 127.0.0.1:9\nconnections = 3\nrate = 40\nduration = 300ms\n")
    nights.run(2, "INCONCLUSIVE: run-01 was refused in 2 tries: nothing listens at the target")


def test_mail_by_sendmail_is_refused_without_new_privileges():
    need_program("setpriv")
    nights = Nights(mail_to="someone@example.com", sendmail="/usr/sbin/sendmail -x")
    run = subprocess.run(["setpriv", "--no-new-privs", NIGHTLY, nights.file("nightly.conf")], capture_output=True,
                         text=True, timeout=20, env={**os.environ, "FAKE": nights.directory})
    check_equal((run.returncode, "OnFailure=" in run.stderr, nights.all()), (3, True, []), run.stderr)
    nights.configure(mail_to="someone@example.com", sendmail="bin/sendmail")
    nights.queue(*valid_runs(2))
    run = subprocess.run(["setpriv", "--no-new-privs", NIGHTLY, nights.file("nightly.conf")], capture_output=True,
                         text=True, timeout=60, env={**os.environ, "FAKE": nights.directory,
                                                     "PATH": f"{nights.bin}:{os.environ['PATH']}"})
    check_equal((run.returncode, run.stderr), (2, ""), "the control: another mailer")


def test_the_preflight_stops_a_night_that_cannot_be():
    nights = Nights()
    write(nights.file("plan"), "2")
    night, err = nights.run(3, "INCONCLUSIVE: nothing measured: tcpclient --plan failed with exit code 2")
    check("the plan\n" in err, err)
    check_equal(names_of(night), [], "runs")


def test_an_error_is_not_a_regression():
    nights = Nights()
    write(f"{nights.bin}/mkdir", "#!/bin/sh\n[ \"$1\" = -p ] || { echo 'mkdir: disk full' >&2; exit 1; }\n")
    os.makedirs(nights.results)
    _, err = nights.run(2)
    check_equal(err, "mkdir: disk full\nnightly.sh: aborted by an error\n", "stderr")


def test_retention_removes_old_nights_and_nothing_else():
    nights = Nights(history=2, keep=3)
    other = ["2001-01-01T000000Z.bak", "notes", "2001-01-01"]
    for name in other:
        os.makedirs(f"{nights.results}/{name}")
    for day in range(1, 4):  # the runs of the third night are never VALID
        nights.day(day)
        nights.queue(*(valid_runs(2, day) if day < 3 else [(real_result(), 3)] * 4))
        nights.run(2)
    first, second, third = nights.all()
    for day in (4, 5):
        nights.day(day)
        nights.queue(*[(real_result(), 3)] * 4)
        nights.run(2)
    kept = nights.all()
    check_equal((len(kept), kept[:2]), (5, [first, second]), "kept: the last 3, and 2 to compare with")
    nights.configure(history=1, keep=3)
    nights.day(6)
    nights.queue(*[(real_result(), 3)] * 4)
    nights.run(2)
    kept = nights.all()
    check_equal((len(kept), kept[:2], third in kept), (5, [first, second], False),
                "kept: the last 3, and the first 10 references of the series")
    check_equal([name for name in other if not os.path.isdir(f"{nights.results}/{name}")], [], "removed")


def test_mail_is_sent_only_when_a_night_is_not_pass():
    nights = Nights(runs=10, mail_to="someone@example.com", sendmail="bin/sendmail -f nobody")
    nights.queue(*valid_runs(10, 1))
    _, err = nights.run(2, "INCONCLUSIVE: first night")
    check_equal(err, "", "stderr beside the mail")
    mail = nights.mails()
    check(mail.startswith("-f nobody -oi -t\nTo: someone@example.com\nSubject: [nightly] "), mail)
    check("INCONCLUSIVE: first night of a series" in mail.splitlines()[2], mail)
    for day in range(2, 8):
        nights.day(day)
        nights.queue(*valid_runs(10, day))
        nights.run(2, f"INCONCLUSIVE: {day - 1} of 7 reference nights")
    mail = nights.mails()
    check_equal(mail.count("To: someone@example.com"), 7, "mails")
    nights.queue(*valid_runs(10, 8))
    nights.day(8)
    night, err = nights.run(0, "PASS: ")
    check_equal((nights.mails(), err), (mail, ""), "after a PASS")
    check_equal(verdict_json(night)["verdict"], "PASS", "verdict.json")
    nights.configure(runs=10, mail_to="someone@example.com", sendmail="false")
    nights.queue(*[(synthetic(random.Random(i), effect=0.5), 0) for i in range(10)])
    nights.day(9)
    night, err = nights.run(1, "REGRESSION: response p50 +")
    check_equal([m["metric"] for m in verdict_json(night)["metrics"] if m["finding"] == "worse"], ["response p50"], "worse")
    check(err.startswith("REGRESSION: ") and "cannot mail someone@example.com" in err, err)


# --- a reference program ---


def runs_in_turns(nights, n, factor):
    """Results of a night of n reference and n candidate runs, by factor(program, number); number is from 0."""
    noise, results = random.Random(7), []
    for i in range(n):
        for who in ("reference", "run") if i % 2 == 0 else ("run", "reference"):
            results.append(synthetic(noise, effect=factor(who, len(results)) - 1))
    nights.queue(*[(result, 0) for result in results])
    return results


def night_in_turns(factor, code, verdict):
    nights = Nights(runs=8, reference_client="bin/reference")
    os.symlink("tcpclient", f"{nights.bin}/reference")
    results = runs_in_turns(nights, 8, factor)
    night, _ = nights.run(code, verdict)
    return nights, night, results


def test_a_reference_is_measured_in_turns_and_judges_the_first_night():
    nights, night, _ = night_in_turns(lambda who, _: 1.1 if who == "run" else 1, 1, "REGRESSION: response p50 +")
    with open(nights.file("runs")) as f:
        runs = [line.split()[:2] for line in f]
    order = [("reference", "reference"), ("tcpclient", "run"), ("tcpclient", "run"), ("reference", "reference")]
    check_equal(runs, [[program, f"{name}-{i // 2 + 1:02}.json"] for i, (program, name) in enumerate(order * 4)], "runs")
    figures = verdict_json(night)
    check_equal((figures["verdict"], figures["runs_before"], figures["runs_now"]), ("REGRESSION", 8, 8), "verdict.json")
    worse = [m for m in figures["metrics"] if m["finding"] == "worse"]
    check_equal([m["metric"] for m in worse], ["response p50"], "worse")
    check_between(worse[0]["change"], 0.08, 0.12, "the change")
    check(not os.path.exists(f"{night}/reference"), "a reference for nights that are judged by nights")
    night_in_turns(lambda who, _: 1.1 if who == "reference" else 1, 0, "PASS: no metric got worse; better: response p50 -")
    night_in_turns(lambda *_: 1, 0, "PASS: no metric got worse; not judged: connect p50; 8 runs against 8")


def test_a_host_that_gets_slower_during_the_night_is_no_regression():
    def slower(_, number):
        return 1.1 if number >= 8 else 1
    nights, _, results = night_in_turns(slower, 0, "PASS: no metric got worse; not judged: connect p50; 8 runs")
    names = [write(nights.file(f"{i}.json"), json.dumps(result)) for i, result in enumerate(results)]
    blocks = subprocess.run([TCPREPORT, "compare", "--min-runs", "8", *names[:8], "--", *names[8:]],
                            capture_output=True, text=True, timeout=60)
    check(blocks.stdout.startswith("REGRESSION: response p50 +"), f"the control: one after the other, {blocks.stdout}")


def test_a_reference_that_is_refused_is_named():
    nights = Nights(reference_client="bin/reference")
    write(f"{nights.bin}/reference", "#!/bin/sh\necho 'unknown option --new' >&2; exit 2\n")
    night, _ = nights.run(2, "INCONCLUSIVE: tcpclient cannot run reference-01")
    check("unknown option --new" in nights.summary(night), nights.summary(night))


# Stands still a fifth of the time: every percentile beyond p80 is the host's.
STALLED = """#!/bin/sh
"{client}" "$@" &
pid=$!
trap 'kill "$pid"' TERM
while sleep 0.2 && kill -STOP "$pid"; do
    sleep 0.05
    kill -CONT "$pid"
done 2>/dev/null
wait "$pid"
"""
ADDED_MS = 5


def echo_server(port, delay_ms=0):
    """The command of a server that answers after so long."""
    delay = f" --delay-every 1 --delay-ms {delay_ms}" if delay_ms else ""
    return f"{sys.executable} {FAULT}/faultserver.py --port {port}{delay}"


def real_night(port, server, reference, code, verdict, **settings):
    nights = Nights(**{"runs": 7, "tcpclient": os.path.abspath(TCPCLIENT), "deadline": "3m", "server": server,
                       "server_ready": "listening", "reference_server": reference, "require": "p50", "repeats": 99, **settings})
    write(nights.file("client.conf"), f"target = 127.0.0.1:{port}\nconnections = 10\nrate = 400\n"
                                      "duration = 500ms\ndrain = 100ms\nsettle = 0\nclose = rst\n")
    write(f"{nights.bin}/stalled", STALLED.format(client=os.path.abspath(TCPCLIENT)))
    night, _ = nights.run(code, verdict, timeout=240)
    print(f"     {nights.summary(night).splitlines()[0]}")
    return nights, night


def metrics_of(night):
    return {m["metric"]: m for m in verdict_json(night)["metrics"]}


def test_a_server_slower_by_a_known_amount_is_found_beside_its_reference():
    port = free_port()
    fast, slow = echo_server(port), echo_server(port, ADDED_MS)
    _, night = real_night(port, fast, slow, 0, "PASS: no metric got worse; better: response p50 -")
    p50 = metrics_of(night)["response p50"]
    check_between((p50["before"] - p50["now"]) / 1e6, ADDED_MS - 1, ADDED_MS + 2, "ms by which the reference is slower")
    real_night(port, slow, fast, 1, "REGRESSION: response p50 +")


def test_equal_servers_are_not_flagged():
    port = free_port()
    server = f"{os.path.abspath(TCPSERVER)} --bind 127.0.0.1 {port}"
    _, night = real_night(port, server, server, 0, "PASS: no metric got worse")
    check_equal([name for name, m in metrics_of(night).items() if m["finding"] == "worse"], [], "worse")


@plain_build_only
def test_a_night_on_a_noisy_host_concludes_at_the_percentiles_that_hold():
    port = free_port()
    server = echo_server(port)
    nights, night = real_night(port, server, server, 0, "PASS: no metric got worse", tcpclient="bin/stalled")
    check("response p50" in metrics_of(night), "the median is judged")
    with open(f"{night}/run-01.json") as f:
        run = json.load(f)
    check(run["latency_ns"]["response"]["p90"] > 0 and not run["holds"]["p90"], f"p90: {run['holds']}")
    check("; not judged: response p90, " in nights.summary(night), nights.summary(night))
    nights, night = real_night(port, server, server, 2, "INCONCLUSIVE: reference-01 was not VALID in 2 tries",
                               tcpclient="bin/stalled", require="p99", repeats=1)
    check("host-noise" in nights.summary(night), nights.summary(night))


def test_the_required_percentile_goes_to_every_run():
    nights = Nights(require="p90")
    nights.queue(*valid_runs(2))
    nights.run(2, "INCONCLUSIVE: first night")
    nights.configure()
    nights.day(2)
    nights.queue(*valid_runs(2))
    nights.run(2, "INCONCLUSIVE: ")
    with open(nights.file("runs")) as f:
        check_equal(["--require p90 " in line for line in f], [True, True, False, False], "runs with --require")


def verdict_json(night):
    with open(f"{night}/verdict.json") as f:
        return json.load(f)


def test_a_comparison_that_crashes_makes_no_reference():
    nights = Nights()
    nights.queue(*valid_runs(2))
    first, _ = nights.run(2, "INCONCLUSIVE: first night")
    nights.configure(tcpreport="bin/tcpreport")
    for day, says in ((2, "kill -SEGV $$"), (3, "echo PASS: all is well; exit 2"), (4, "exit 0")):
        write(f"{nights.bin}/tcpreport", f"#!/bin/sh\n{says}\n")
        nights.day(day)
        nights.queue(*valid_runs(2, day))
        night, _ = nights.run(2, "INCONCLUSIVE: tcpreport compare failed with ")
        check(not os.path.exists(f"{night}/reference"), f"a reference after {says}")
    check(os.path.exists(f"{first}/reference"), "the control: the first night is one")


def test_a_percentile_that_does_not_hold_is_not_judged():
    nights, noise = Nights(), random.Random(3)

    def night(day, holds, effect=0.0):
        runs = [synthetic(noise, effect=effect) for _ in range(2)]
        for run in runs:
            run["holds"]["p50"] = holds
        nights.day(day)
        nights.queue(*[(run, 0) for run in runs])
    for day in range(1, 8):
        night(day, True)
        nights.run(2)
    night(8, False, effect=0.5)
    directory, _ = nights.run(0, "PASS: ")
    check("; not judged: response p50" in nights.summary(directory), nights.summary(directory))
    check("response p50" in verdict_json(directory)["not_judged"], "verdict.json")
    night(9, True, effect=0.5)
    nights.run(1, "REGRESSION: response p50 +")


def series(nights, noise, days, effect=0.0):
    """The exit codes of a series' nights, ten runs each; a PASS is silent."""
    codes = []
    for day in days:
        of_night = noise.gauss(0, 0.005)
        nights.day(day)
        nights.queue(*[(synthetic(noise, of_night, effect), 0) for _ in range(10)])
        process = nights.start()
        out, err = process.communicate(timeout=60)
        check((out, err) == ("", "") or process.returncode != 0, f"a PASS says {out}{err}")
        codes.append(process.returncode)
    return codes


def test_twenty_nights_with_five_percent_more_from_the_fifteenth():
    nights, noise = Nights(runs=10), random.Random(1)
    check_equal(series(nights, noise, range(1, 15)), [2] * 7 + [0] * 7, "exit codes of 14 quiet nights")
    shutil.copytree(nights.results, nights.file("quiet"))
    slower = series(nights, noise, range(15, 21), 0.05)
    print(f"     exit codes of nights 15 to 20: {slower}")
    check(1 in slower[:3], "flagged on night 15, 16 or 17")
    check_equal(set(slower[slower.index(1):]), {1}, "a regression stays one")
    nights.configure(runs=10, results="quiet")
    check_equal(series(nights, random.Random(2), range(15, 21)), [0] * 6, "the control: quiet nights")
    nights.configure(runs=10, series="accepted")
    check_equal(series(nights, noise, range(21, 29), 0.05), [2] * 7 + [0], "a new series")


def test_bad_configurations_get_one_line_and_nothing_is_started():
    nights = Nights()
    with open(nights.file("nightly.conf")) as f:
        good = f.read()
    for line, text in (("speed = 5", "unknown key 'speed'"), ("nonsense", "invalid line 'nonsense'"),
                       ("runs = many", "runs: invalid value 'many'"), ("runs = 0", "from 1 to 99"),
                       ("deadline = 08m", "deadline: invalid value '08'"), ("keep = 3", "keep: invalid value '3'"),
                       ("deadline = 2d", "deadline: invalid value '2d'"), ("repeat-wait = soon", "repeat-wait: invalid value 'soon'"),
                       ("lock = none", "lock: cannot read 'none'"),
                       ("require = p42", "require: invalid value 'p42'"), ("reference-server = true", "reference-server: requires server"),
                       ("reference-client = none", "cannot find 'none'"), ("client-options = none", "cannot read 'none'"),
                       ("tcpclient = none", "cannot find 'none'"), ("runs = $(touch evaluated)", "runs: invalid value '$(")):
        write(nights.file("nightly.conf"), f"{good}{line}\n")
        night, err = nights.run(3)
        check(text in err and len(err.splitlines()) == 1, f"{text!r} in {err}")
        check_equal(night, None, f"a night with {line}")
    check_equal(glob.glob(f"{nights.directory}/**/evaluated", recursive=True), [], "evaluated values")


def test_the_example_names_every_key_with_its_default():
    with open(f"{SOURCE_DIR}/docs/nightly.conf.example") as f:
        example = f.read()
    with open(NIGHTLY.replace(".sh", "-config.sh")) as f:
        script = f.read()
    keys = re.findall(r"^    ([a-z-]+)\) \w+=\$2 ;;$", script, re.M)
    check_equal(re.findall(r"^(?:# )?([a-z-]+) = ", example, re.M), keys_in_order(example, keys), "keys")
    nights = Nights()
    for line in re.findall(r"^# ([a-z-]+ = .*)$", example, re.M):
        key, value = line.split(" = ")
        default = re.search(rf"\b{key.replace('-', '_')}=('[^']*'|\S+)", script).group(1).strip("'")
        has_none = ("server", "reference-server", "reference-client", "require", "mail-to")
        check(default == value or key in has_none and default == "", f"default of {key}: {default!r}, not {value!r}")
    write(nights.file("nightly.conf"), example.replace("/var/lib/tcpscaler/nights", "nights"))
    write(nights.file("plan"), "2")
    os.symlink(os.path.abspath(TCPREPORT), f"{nights.bin}/tcpreport")
    nights.run(3, "INCONCLUSIVE: nothing measured")


def keys_in_order(example, keys):
    check(len(keys) > 10, f"keys of the script: {keys}")
    return sorted(keys, key=lambda key: example.find(f"{key} = "))


# --- examples of when ---


def test_the_crontab_is_accepted():
    need_program("crontab")
    path = f"{SOURCE_DIR}/docs/nightly.crontab"
    with open(path) as f:
        text = f.read()
    r = subprocess.run(["crontab", "-n", path], capture_output=True, text=True, timeout=20)
    check_equal(r.returncode, 0, f"crontab -n: {r.stderr}")
    bad = write(temp_path("crontab"), text.replace("17 3 ", "17 25 "))
    r = subprocess.run(["crontab", "-n", bad], capture_output=True, text=True, timeout=20)
    check(r.returncode != 0 and "bad hour" in r.stderr, f"the control: {r.stderr}")
    check("/nightly.sh /" in text.splitlines()[-1], text)


UNITS = "tcpscaler-nightly.service", "tcpscaler-nightly.timer", "tcpscaler-nightly-failed.service"


def verify_units(changes):
    """What systemd-analyze says of the units, with some text replaced."""
    directory = os.path.dirname(temp_path("x"))
    for name in UNITS:
        with open(f"{SOURCE_DIR}/docs/{name}") as f:
            text = f.read().replace("/usr/share/tcpscaler", os.path.dirname(NIGHTLY))
        for old, new in changes.items():
            text = text.replace(old, new)
        write(f"{directory}/{name}", text)
    r = subprocess.run(["systemd-analyze", "verify", "--man=no", *sorted(glob.glob(f"{directory}/*"))],
                       capture_output=True, text=True, timeout=60)
    return r.returncode, r.stdout + r.stderr


def test_the_units_are_accepted():
    need_program("systemd-analyze")
    check_equal(verify_units({}), (0, ""), "systemd-analyze verify")
    for changes in ({"LimitNOFILE": "LimitFiles"}, {"OnCalendar=": "OnCalendar=some day "},
                    {"nightly-failed.sh": "nightly-fails.sh"}):
        code, text = verify_units(changes)
        check(code != 0 or text, f"the control, {changes}: {text}")


def settings_of(unit):
    with open(f"{SOURCE_DIR}/docs/{unit}") as f:
        return dict(re.findall(r"^(\w+)=(.*)$", f.read(), re.M))


def test_what_mails_runs_without_the_restrictions_of_the_night():
    night = settings_of("tcpscaler-nightly.service")
    check_equal(night["OnFailure"], "tcpscaler-nightly-failed.service", "OnFailure=")
    check({"NoNewPrivileges", "DynamicUser"} <= night.keys(), "the control: restrictions of the night")
    failed = settings_of(night["OnFailure"])
    check_equal(failed.keys() & {"NoNewPrivileges", "DynamicUser", "User", "ProtectSystem", "CapabilityBoundingSet"}, set(),
                "those of what mails")
    check_equal(failed["ExecStart"], "/usr/share/tcpscaler/nightly-failed.sh ${MAILTO}", "what mails")


FAKE_JOURNALCTL = """#!/bin/sh
[ "$1" != --sync ] || exit 0
echo "$@" >>"$FAKE/journalctl"
cat "$FAKE/journal"
"""


def mail_failure(nights, *arguments, **environment):
    return subprocess.run([FAILED, *arguments], capture_output=True, text=True, timeout=20,
                          env={**os.environ, "FAKE": nights.directory, "PATH": f"{nights.bin}:{os.environ['PATH']}",
                               **environment})


def test_a_night_that_failed_is_mailed_from_the_journal():
    nights = Nights()
    write(f"{nights.bin}/journalctl", FAKE_JOURNALCTL)
    nights.queue(*valid_runs(2))
    _, said = nights.run(2, "INCONCLUSIVE: first night")
    write(nights.file("journal"), said)
    r = mail_failure(nights, "ops@example.com", MONITOR_UNIT="tcpscaler-nightly.service", MONITOR_INVOCATION_ID="c0ffee",
                     MONITOR_EXIT_STATUS="2")
    check_equal((r.returncode, r.stdout, r.stderr), (0, "", ""), "exit code and output")
    mail = nights.mails()
    check(mail.startswith("-oi -t\nTo: ops@example.com\nSubject: [nightly] "), mail)
    check(re.search(r"^Subject: .*: INCONCLUSIVE: first night of a series: .*\n\nINCONCLUSIVE: ", mail, re.M), mail)
    check(said in mail and mail.endswith("tcpscaler-nightly.service: exit status 2\n"), mail)
    mail_failure(nights, "root")  # an older systemd
    with open(nights.file("journalctl")) as f:
        matches = [line.split()[-1] for line in f]
    check_equal(matches, ["_SYSTEMD_INVOCATION_ID=c0ffee", "_SYSTEMD_UNIT=tcpscaler-nightly.service"], "what was looked for")


def test_a_mail_that_cannot_be_sent_fails_its_unit():
    nights = Nights()
    write(f"{nights.bin}/journalctl", FAKE_JOURNALCTL)
    write(nights.file("journal"), "REGRESSION: response p50\n")
    write(f"{nights.bin}/sendmail", "#!/bin/sh\ncat >/dev/null; exit 75\n")
    check_equal(mail_failure(nights, "root").returncode, 75, "exit code when sendmail fails")
    check_equal(mail_failure(nights).returncode, 2, "exit code without an address")
    check_equal(mail_failure(nights, "").returncode, 2, "exit code with MAILTO= empty")
    os.unlink(f"{nights.bin}/sendmail")
    if shutil.which("sendmail", path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
        r = mail_failure(nights, "root")
        check_equal((r.returncode, r.stderr), (1, "nightly-failed.sh: no mail to root: cannot find 'sendmail'\n"), "without one")


if __name__ == "__main__":
    main()
