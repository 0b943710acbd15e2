# SPDX-License-Identifier: MIT
"""nightly.sh runs a night: real runs against a real server; repeats, deadlines, locks, retention and mail with a tcpclient
that returns prepared results."""

import fcntl
import glob
import random

from helpers.nights import *


def test_a_night_runs_against_a_real_server():
    port = free_port()
    # few queries, many repeats: on a machine that does more than this few runs are VALID
    nights = Nights(runs=2, tcpclient=os.path.abspath(TCPCLIENT), repeats=99, require="p50",
                    server=f"{os.path.abspath(TCPSERVER)} --bind 127.0.0.1 {port}")
    write(nights.file("client.conf"), f"target = 127.0.0.1:{port}\nconnections = 10\nrate = 40\n"
                                      "duration = 300ms\ndrain = 100ms\nsettle = 0\n")
    night, _ = nights.run(2, "INCONCLUSIVE: first night of a series")
    check_equal(names_of(night, "run-*"), [f"run-{i:02}.{ending}" for i in (1, 2) for ending in
                                           ("hlog", "json", "server.txt", "txt")], "files")
    for i in (1, 2):
        result = read_json(f"{night}/run-{i:02}.json")
        check_equal((result["verdict"], result["connections"]["proven"]), ("VALID", 10), "the run")
        check("listening on" in read_text(f"{night}/run-{i:02}.server.txt"), "a fresh server")
    fingerprint = read_text(f"{night}/fingerprint")
    for name in ("devices/system/cpu/intel_pstate/no_turbo", "devices/system/cpu/cpufreq/boost",
                 "devices/system/cpu/smt/active", "devices/system/cpu/cpuidle/current_driver",
                 "module/intel_idle/parameters/max_cstate", "kernel/mm/transparent_hugepage/enabled"):
        check(not os.path.exists(f"/sys/{name}") or f"\n{name} " in fingerprint, f"{name} in {fingerprint}")
    for path in glob.glob("/sys/devices/system/cpu/cpu0/cpuidle/*/disable") + \
            [os.path.dirname(os.path.dirname(path)) for path in glob.glob("/sys/class/net/*/device/driver")]:
        check(f"\n{path} " in fingerprint, f"{path} in {fingerprint}")
    check_equal("\nmicrocode " in fingerprint, "\nmicrocode\t" in read_text("/proc/cpuinfo"), f"microcode in {fingerprint}")
    for text in (f'"kernel": "{os.uname().release}"', '"libevent": ', '"cpus": ', '"connections": 10', '"rate": 40',
                 "net/ipv4/tcp_rmem ", "tcpclient "):
        check(text in fingerprint, f"{text} in {fingerprint}")
    check(not listens(port), "the server is stopped")
    check(f"tcpclient to 127.0.0.1:{port}" in read_text(f"{night}/page.html"), "the page about the last run")
    check(f"\nthe last run: {night}/page.html\n" in nights.summary(night), nights.summary(night))
    nights.day(2)
    nights.run(2, "INCONCLUSIVE: 1 of 7 reference nights")
    write(nights.file("client.conf"), read_text(nights.file("client.conf")).replace("rate = 40", "rate = 44"))
    nights.day(3)
    night, _ = nights.run(2, "INCONCLUSIVE: first night of a series")
    check('"rate": 44' in nights.summary(night), nights.summary(night))


def test_the_fingerprint_names_cpus_of_every_architecture():
    for cpuinfo, named in (
            ("processor\t: 0\ncpu family\t: 6\nmodel name\t: Intel(R) Xeon(R) CPU\ncpu MHz\t\t: 2200.1\ncpu cores\t: 2\n",
             "cpu Intel(R) Xeon(R) CPU\n"),
            ("processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\n"
             "CPU revision\t: 1\n", "CPU implementer 0x41\nCPU part 0xd0c\nCPU revision 1\nCPU variant 0x3\n"),
            ("processor\t: 0\ncpu\t\t: POWER9, altivec supported\nclock\t\t: 2500.1MHz\n", "cpu POWER9, altivec supported\n"),
            ("processor\t: 0\nhart\t\t: 1\nuarch\t\t: sifive,u74-mc\n", "uarch sifive,u74-mc\n"),
            ("bogomips per cpu: 3033.00\nprocessor 0: version = FF,  identification = 07C1B8,  machine = 3906\n", "machine = 3906\n")):
        r = run_command(["sh", "-c", f". {SOURCE_DIR}/scripts/nightly-nights.sh && cpu_models"], input=cpuinfo * 2)
        check_equal((r.stdout, r.stderr), (named, ""), f"of {cpuinfo}")


def test_a_second_instance_is_refused():
    nights = Nights()
    write(nights.file("hang"), "")
    first = nights.start()
    wait_for(lambda: os.path.exists(nights.file("pid")), "the first run")
    night, err = nights.run(4)
    check_equal(night, None, "a night of the second")
    lock = nights.file("nightly.lock")
    running = f"nightly.sh: another instance, or a server that one has started, is running on this host (lock: {lock})\n"
    check_equal(err, running, "stderr")
    nights.configure(results="others")
    nights.run(4)
    nights.configure(lock="client.conf")
    _, err = nights.run(4)
    check_equal(err, f"nightly.sh: another instance is using {nights.results}\n", "another lock, the same results")
    check_equal(stop(first), 130, "exit code of the first, stopped by SIGTERM")
    check_equal(first.stderr.read(), nights.summary(nights.all()[0]), "what it said")
    check("interrupted" in nights.summary(nights.all()[0]), "its summary")
    check_gone(nights)
    os.unlink(nights.file("hang"))
    nights.queue(*valid_runs(2))
    nights.day(2)
    nights.run(2, "INCONCLUSIVE: first night")


def test_a_server_left_in_the_background_is_named_when_it_keeps_a_night_from_starting():
    nights = Nights(server="bin/server")
    write(f"{nights.bin}/server", "#!/bin/sh\nsleep 3600 </dev/null >/dev/null 2>&1 &\necho $! >\"$FAKE/pid\"\n")
    nights.run(2, "INCONCLUSIVE: the server exited without an error: it must stay in the foreground")
    _, err = nights.run(4)
    check("or a server that one has started, is running" in err, err)
    os.kill(int(read_text(nights.file("pid"))), signal.SIGKILL)
    check_gone(nights)


def check_gone(nights):
    pid = int(read_text(nights.file("pid")))
    wait_for(lambda: not os.path.exists(f"/proc/{pid}"), "the end of tcpclient")


def test_the_deadline_stops_everything_that_was_started():
    nights = Nights(deadline="5s", server="bin/server", server_ready="ready")
    write(f"{nights.bin}/server", "#!/bin/sh\necho $$ >\"$FAKE/server\"\necho ready\nexec sleep 3600\n")
    write(nights.file("hang"), "")
    begin = time.monotonic()
    nights.run(2, "INCONCLUSIVE: the deadline (5s) has passed")
    seconds = time.monotonic() - begin
    check(seconds >= 3, f"{seconds} s")
    with stall_may_spoil():
        check(seconds <= 100, f"{seconds} s")
        check(os.path.exists(nights.file("pid")), "the run began before the deadline")
    check_gone(nights)
    with open(nights.file("server")) as f:
        check(not os.path.exists(f"/proc/{f.read().strip()}"), "the server is stopped")


def test_setting_the_clock_does_not_move_the_deadline():
    nights = Nights()
    write(f"{nights.bin}/tcpclient", FAKE_CLIENT.replace("arguments=$*\n", "arguments=$*\necho 3 >\"$FAKE/day\"\n"))
    nights.queue(*valid_runs(2))
    nights.run(2, "INCONCLUSIVE: first night of a series")
    check_equal(read_text(nights.file("day")), "3\n", "the control: it was set")


def test_invalid_runs_are_repeated_up_to_the_limit():
    nights = Nights(repeats=2)
    suspect = ({**real_result(), "verdict": "SUSPECT", "reasons": ["host-noise"]}, 3)
    invalid = ({**real_result(), "broken_law": "sums"}, 1)
    nights.queue(*valid_runs(1), suspect, invalid, *valid_runs(1))
    night, err = nights.run(2, "INCONCLUSIVE: first night of a series")
    check("run-02, try 1: exit code 3: SUSPECT: host-noise: a reason; unsent: another\n" in err, err)
    check("run-02, try 2: exit code 1: " in err, err)
    check_equal(names_of(night), ["run-01.json", "run-02.json"], "runs")
    check_equal(names_of(night, "repeated/*.json"), ["run-02.try-1.json", "run-02.try-2.json"], "repeated")
    for name in names_of(night):
        check_equal(read_json(f"{night}/{name}")["verdict"], "VALID", name)
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
    check_equal(read_text(nights.file("slept")).split(), ["3", "6"], "seconds slept")


def test_a_night_without_a_server_is_inconclusive():
    nights = Nights(repeats=1, tcpclient=os.path.abspath(TCPCLIENT))
    write(nights.file("client.conf"), "target = 127.0.0.1:9\nconnections = 3\nrate = 40\nduration = 300ms\n")
    nights.run(2, "INCONCLUSIVE: run-01 was refused in 2 tries: nothing listens at the target")


def test_mail_by_sendmail_is_refused_without_new_privileges():
    need_program("setpriv")
    nights = Nights(mail_to="someone@example.com", sendmail="/usr/sbin/sendmail -x")
    run = run_command(["setpriv", "--no-new-privs", NIGHTLY, nights.file("nightly.conf")],
                      env={**os.environ, "FAKE": nights.directory})
    check_equal((run.returncode, "OnFailure=" in run.stderr, nights.all()), (3, True, []), run.stderr)
    nights.configure(mail_to="someone@example.com", sendmail="bin/sendmail")
    nights.queue(*valid_runs(2))
    run = run_command(["setpriv", "--no-new-privs", NIGHTLY, nights.file("nightly.conf")],
                      env={**os.environ, "FAKE": nights.directory, "PATH": f"{nights.bin}:{os.environ['PATH']}"})
    check_equal((run.returncode, run.stderr), (2, ""), "the control: another mailer")


def test_the_preflight_stops_an_impossible_night():
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


def test_exit_code_does_not_depend_on_whether_messages_can_be_written():
    """1 would be a REGRESSION."""
    nights = Nights()
    write(nights.file("plan"), "5")
    with open("/dev/full", "w") as full:
        def code():
            return nights.start(stderr=full).wait(timeout=HANGS_S)

        check_equal(code(), 3, "a preflight that fails")
        with open(nights.file("nightly.lock")) as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            check_equal(code(), 4, "another instance")
        write(f"{nights.bin}/mkdir", "#!/bin/sh\n[ \"$1\" = -p ]\n")
        check_equal(code(), 2, "an error")
        nights.configure(runs=0)
        check_equal(code(), 3, "a configuration that is refused")


def test_nights_behind_a_symlink_are_found():
    nights = Nights()
    os.makedirs(nights.file("elsewhere"))
    os.symlink(nights.file("elsewhere"), nights.results)
    for day, verdict in ((1, "INCONCLUSIVE: first night"), (2, "INCONCLUSIVE: 1 of 7 reference nights")):
        nights.day(day)
        nights.queue(*valid_runs(2, day))
        nights.run(2, verdict)


def test_names_and_messages_may_have_backslashes():
    nights = Nights(results=r"b\name")
    nights.results = nights.file(r"b\name")
    for day, verdict in ((1, "INCONCLUSIVE: first night"), (2, "INCONCLUSIVE: 1 of 7 reference nights")):
        nights.day(day)
        nights.queue(*valid_runs(2, day))
        nights.run(2, verdict)
    nights.configure(results=r"b\name", server="bin/server")
    write(f"{nights.bin}/server", "#!/bin/sh\necho 'no file C:\\\\new' >&2\nexit 1\n")
    nights.day(3)
    _, err = nights.run(2)
    check(err.startswith("INCONCLUSIVE: the server exited: no file C:\\new\n"), err)


def test_message_of_a_server_has_no_control_characters():
    nights = Nights(server="bin/server")
    write(f"{nights.bin}/server", r"""#!/bin/sh
printf '\033[31mcannot listen\r\tport 53 in use:\177 größer\n' >&2
exit 1
""")
    _, err = nights.run(2)
    check(err.startswith("INCONCLUSIVE: the server exited: [31mcannot listen port 53 in use: größer\n"), repr(err))


def test_an_old_night_that_cannot_be_removed_stops_nothing():
    nights = Nights(history=1, keep=2)
    write(f"{nights.bin}/rm", "#!/bin/sh\n[ \"$1\" != -rf ] || { echo 'rm: not permitted' >&2; exit 1; }\nexec /bin/rm \"$@\"\n")
    os.makedirs(nights.results)
    for day in range(1, 13):
        os.makedirs(f"{nights.results}/2001-01-{day:02}T000000Z")
    nights.queue(*valid_runs(2, 1))
    _, err = nights.run(2, "INCONCLUSIVE: first night")
    check("rm: not permitted" in err and "cannot remove" in err, err)


def test_this_night_is_kept_even_if_the_clock_was_ahead():
    nights = Nights(history=1, keep=3)
    os.makedirs(nights.results)
    for day in range(1, 6):
        os.makedirs(f"{nights.results}/2098-01-{day:02}T000000Z")
    write(f"{nights.results}/2098-01-04T000000Z/reference", "")
    nights.queue(*valid_runs(2))
    night, err = nights.run(2, "INCONCLUSIVE: first night")
    check_equal([os.path.basename(path) for path in nights.all()],
                [os.path.basename(night), "2098-01-04T000000Z", "2098-01-05T000000Z"], f"kept; stderr: {err}")
    check(err.startswith(f"nightly.sh: warning: '{os.path.realpath(nights.results)}/2098-01-04T000000Z' has a later date than tonight"), err)


def test_many_reference_nights_cause_no_message():
    """Under systemd SIGPIPE is ignored. Their names are more than a pipe holds, 64 KiB."""
    name = "n" * 200
    nights = Nights(results=name, keep=9999)
    nights.results = nights.file(name)
    for number in range(350):
        os.makedirs(f"{nights.results}/2001-01-01T{number:06}Z")
        write(f"{nights.results}/2001-01-01T{number:06}Z/reference", "")
    write(f"{nights.results}/2001-01-01T000349Z/fingerprint", "other\n")
    nights.queue(*valid_runs(2))
    _, err = nights.run(2, "INCONCLUSIVE: first night", prefix=("env", "--ignore-signal=PIPE"))
    check(err.startswith("INCONCLUSIVE: first night"), err)


# Two old nights on a disk of their own, the first of which fills it; the second is a reference.
# As on ext4, there is no room for a directory, either.
ON_FULL_DISK = """
mkdir nights && mount -t tmpfs -o size=4m,nr_inodes=100 tmpfs nights && mkdir nights/2001-01-01T000000Z nights/2001-01-02T000000Z
: >nights/lock && : >nights/2001-01-02T000000Z/reference && echo other >nights/2001-01-02T000000Z/fingerprint
head -c 5M /dev/zero >nights/2001-01-01T000000Z/run 2>/dev/null && exit 99
(while i=$((i + 1)); do : >nights/2001-01-01T000000Z/$i; done) 2>/dev/null
exec "$@"
"""


# Notes the nights before tonight.
FAKE_TCPREPORT = """#!/bin/sh
[ "$1" = compare ] || exit 0
printf '%s\\n' "$@" | sed -n '/^--$/q; s,/run-.*,,p' | uniq >"$FAKE/compared"
echo "PASS: by the fake"
"""


def test_a_night_of_many_years_is_compared_with_the_first_and_the_last():
    """The results of all nights are more than a command line holds, 2 MiB."""
    name = "n" * 64
    nights = Nights(results=name, keep=9999, tcpreport="bin/tcpreport")
    nights.results = nights.file(name)
    write(f"{nights.bin}/tcpreport", FAKE_TCPREPORT)
    nights.queue(*valid_runs(2))
    first, _ = nights.run(2, "INCONCLUSIVE: first night")
    for number in range(200):
        old = f"{nights.results}/2001-01-01T{number:06}Z"
        os.mkdir(old)
        for kind in ("fingerprint", "reference"):
            os.link(f"{first}/{kind}", f"{old}/{kind}")
        for run in range(1, 100):
            os.link(f"{first}/run-01.json", f"{old}/run-{run:02}.json")
    nights.day(2)
    nights.queue(*valid_runs(2))
    _, err = nights.run(0, "PASS: ")
    compared = [os.path.basename(night) for night in read_text(nights.file("compared")).split()]
    expected = [f"2001-01-01T{number:06}Z" for number in (*range(10), *range(101, 200))] + [os.path.basename(first)]
    check_equal(compared, expected, f"nights compared with; stderr: {err}")


def test_old_nights_are_removed_from_a_full_disk():
    need_root()
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        skip("no mount namespaces here")
    nights = Nights(history=1, keep=2)
    nights.queue(*valid_runs(2))
    _, err = nights.run(2, prefix=("unshare", "--mount", "sh", "-c", ON_FULL_DISK, "sh"))
    check(err.startswith("INCONCLUSIVE: first night of a series"), err)


def test_verdict_is_reported_if_the_disk_is_full():
    need_root()
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode != 0:
        skip("no mount namespaces here")
    prefix = ("unshare", "--mount", "sh", "-c", 'mkdir nights && mount -t tmpfs -o size=1m tmpfs nights && exec "$@"', "sh")
    fill = "head -c 2M /dev/zero >nights/fill 2>/dev/null && exit 0"
    planning, running = "nothing measured: tcpclient --plan failed with exit code 5", "run-01: exit code 3; cannot write to "
    starting = judging = "cannot write to "
    for client, code, verdict, settings in (
            (f"{fill}; exit 5", 3, planning, {}), (f"{fill}; exit 5", 3, planning, {"mail_to": "someone@example.com", "sendmail": "bin/sendmail"}),
            (f'case "$*" in *--plan*) exit 0 ;; esac; {fill}; exit 3', 2, running, {}),
            ("exit 0", 2, starting, {"server": "bin/server"}),
            (f'case "$*" in *--plan*) exit 0 ;; esac; while [ "$1" != --json ]; do shift; done; : >"$2"; {fill}; exit 0', 2, judging, {})):
        nights = Nights(**settings)
        write(f"{nights.bin}/server", f"#!/bin/sh\n{fill}\n")
        write(f"{nights.bin}/tcpclient", f"#!/bin/sh\n{client}\n")
        _, err = nights.run(code, prefix=prefix)
        told = nights.mails() if "mail_to" in settings else err
        said = re.search(f"^INCONCLUSIVE: {re.escape(verdict)}.*$", told, re.M)
        check(said and said[0].endswith("Z': No space left on device"), f"told: {told}; stderr: {err}")
        check(f": {said[0]}\n\n" in told if told != err else err.startswith(said[0]), f"subject: {told}")


def test_retention_removes_only_old_nights():
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


def runs_with(options, seed):
    return [({**run, "options": {**run["options"], **options}}, code) for run, code in valid_runs(2, seed)]


def test_other_goals_and_outputs_begin_no_new_series():
    nights = Nights()
    for day, options, verdict in ((1, {"assert": "p99<1s", "quiet": True}, "first night of a series"),
                                  (2, {"assert": "p99<2s", "output": "rows.csv"}, "1 of 7 reference nights"),
                                  (3, {"assert": "p99<2s", "seed": 43}, "first night of a series")):  # the control
        nights.day(day)
        nights.queue(*runs_with(options, day))
        nights.run(2, f"INCONCLUSIVE: {verdict}")


def test_a_night_during_which_tcpclient_changed_is_no_reference():
    """As by an update of its package."""
    nights = Nights()
    write(f"{nights.bin}/tcpclient", FAKE_CLIENT.replace("arguments=$*\n", "arguments=$*\necho : >>\"$0\"\n"))
    nights.queue(*valid_runs(2))
    night, err = nights.run(2, "INCONCLUSIVE: tcpclient or the host changed during the night\n")
    check(re.search(r"^< tcpclient \d+ \d+\n---\n> tcpclient ", err, re.M), err)
    check(not os.path.exists(f"{night}/reference"), "a reference")


def test_another_content_of_a_file_of_the_settings_begins_a_new_series():
    directory = temp_directory()
    names = ("queries", r'a \"quoted\" class', "schedule", "connections")  # in the result, quotes and backslashes are escaped
    for name in names:
        write(f"{directory}/{name} 1", "example A\n")
    options = {"schedule": "@schedule 1", "query-file": "queries 1", "class": [{"name": "a", "query-file": f"{names[1]} 1"}],
               "conn-schedule": "@connections 1", "rate": 500}
    write(f"{directory}/run-01.json", json.dumps({"options": options, "version": "x"}, indent=2))

    def fingerprint(runs=10):
        run_command(["sh", "-euc", f"night=. series=1 runs={runs} tcpclient=sh; . {SOURCE_DIR}/scripts/nightly-nights.sh; write_fingerprint"],
                    cwd=directory)
        return read_text(f"{directory}/fingerprint")

    before = fingerprint()
    check('"rate": 500' in before and before == fingerprint(), f"the control: {before}")
    check(before != fingerprint(runs=11), "the number of runs")
    for name in names:
        write(f"{directory}/{name} 1", "example AAAA\n")
        after = fingerprint()
        check(after != before, f"the file of {name}: {after}")
        before = after


def test_first_nights_of_a_series_outlive_a_night_of_another():
    """As after a night with another kernel."""
    nights = Nights(history=2, keep=3)
    os.makedirs(nights.results)
    series = ["usual"] * 12 + ["other"]
    for day, name in enumerate(series, 1):
        os.mkdir(f"{nights.results}/2001-01-{day:02}T000000Z")
        write(f"{nights.results}/2001-01-{day:02}T000000Z/fingerprint", name)
        write(f"{nights.results}/2001-01-{day:02}T000000Z/reference", "")
    nights.queue(*[(real_result(), 3)] * 4)
    nights.run(2)
    kept = [os.path.basename(night)[8:10] for night in nights.all()]
    check_equal(kept[:-1], [f"{day:02}" for day in (*range(1, 11), 12, 13)], "the first 10, the last 2, and none between")


def test_mail_is_sent_only_if_a_night_does_not_pass():
    nights = Nights(runs=10, mail_to="someone@example.com", sendmail="bin/sendmail -f nobody")
    nights.queue(*valid_runs(10, 1))
    _, err = nights.run(2, "INCONCLUSIVE: first night")
    check_equal(err, "", "stderr in addition to the mail")
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


if __name__ == "__main__":
    main()
