# SPDX-License-Identifier: MIT
"""The configuration, crontab and units of nightly.sh, and the mail about a night that failed."""

import glob

from helpers.nights import *

FAILED = os.path.join(SOURCE_DIR, "scripts/nightly-failed.sh")


def test_bad_configurations_get_one_line_and_nothing_is_started():
    nights = Nights()
    good = read_text(nights.file("nightly.conf"))
    for line, text in (("speed = 5", "unknown key 'speed'"), ("nonsense", "invalid line 'nonsense'"),
                       ("runs = many", "runs: invalid value 'many'"), ("runs = 0", "from 1 to 99"),
                       ("deadline = 08m", "deadline: invalid value '08m': expected a time such as 90s, 45m or 2h"), ("keep = 3", "keep: invalid value '3'"),
                       ("deadline = 2d", "deadline: invalid value '2d'"), ("repeat-wait = soon", "repeat-wait: invalid value 'soon'"),
                       ("lock = none", "lock: cannot read 'none'"),
                       ("require = p42", "require: invalid value 'p42'"), ("any-answers = 1", "any-answers: invalid value '1': expected yes or no"), ("reference-server = true", "reference-server: requires server"),
                       ("reference-client = none", "cannot find 'none'"), ("client-options = none", f"client-options: cannot read 'none' in {os.path.realpath(nights.directory)}"),
                       ("tcpclient = none", "cannot find 'none'"), ("runs = $(touch evaluated)", "runs: invalid value '$(")):
        write(nights.file("nightly.conf"), f"{good}{line}\n")
        night, err = nights.run(3)
        check(text in err and len(err.splitlines()) == 1, f"{text!r} in {err}")
        check(err.startswith(f"nightly.sh: {nights.file('nightly.conf')}:"), f"a host may have several: {err}")
        check_equal(night, None, f"a night with {line}")
    check_equal(glob.glob(f"{nights.directory}/**/evaluated", recursive=True), [], "evaluated values")
    for arguments in ((), ("a.conf", "b.conf")):
        r = run_command([NIGHTLY, *arguments])
        check_equal((r.returncode, r.stdout, r.stderr), (3, "", "nightly.sh: expected one CONFIG: see --help\n"), str(arguments))


def test_a_configuration_edited_on_windows_is_read():
    """With a byte order mark, and CR LF at the end of each line."""
    nights = Nights()
    path = nights.file("nightly.conf")
    write(path, "\ufeff" + read_text(path).replace("\n", "\r\n"))
    write(nights.file("plan"), "2")
    nights.run(3, "INCONCLUSIVE: nothing measured")


def test_the_example_names_every_key_with_its_default():
    example = read_source("docs", "nightly.conf.example")
    script = read_text(NIGHTLY.replace(".sh", "-config.sh"))
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
    text = read_text(path)
    r = run_command(["crontab", "-n", path])
    check_equal(r.returncode, 0, f"crontab -n: {r.stderr}")
    bad = write(temp_path("crontab"), text.replace("17 3 ", "17 25 "))
    r = run_command(["crontab", "-n", bad])
    check(r.returncode != 0 and "bad hour" in r.stderr, f"the control: {r.stderr}")
    check(" tcpscaler-nightly /" in text.splitlines()[-1], text)


UNITS = "tcpscaler-nightly.service", "tcpscaler-nightly.timer", "tcpscaler-nightly-failed.service"


def verify_units(changes):
    """The output of systemd-analyze for the units, with some text replaced."""
    directory = temp_directory()
    for name in UNITS:
        text = re.sub("^ExecStart=tcpscaler-(\\S+)", rf"ExecStart={os.path.dirname(NIGHTLY)}/\1.sh", read_source("docs", name), flags=re.M)
        for old, new in changes.items():
            text = text.replace(old, new)
        write(f"{directory}/{name}", text)
    r = run_command(["systemd-analyze", "verify", "--man=no", *sorted(glob.glob(f"{directory}/*"))])
    return r.returncode, r.stdout + r.stderr


def test_the_units_are_accepted():
    need_program("systemd-analyze")
    check_equal(verify_units({}), (0, ""), "systemd-analyze verify")
    for changes in ({"LimitNOFILE": "LimitFiles"}, {"OnCalendar=": "OnCalendar=some day "},
                    {"nightly-failed.sh": "nightly-fails.sh"}):
        code, text = verify_units(changes)
        check(code != 0 or text, f"the control, {changes}: {text}")


def settings_of(unit):
    return dict(re.findall(r"^(\w+)=(.*)$", read_source("docs", unit), re.M))


def test_mail_is_sent_without_the_restrictions_of_the_night():
    night = settings_of("tcpscaler-nightly.service")
    check_equal(night["OnFailure"], "tcpscaler-nightly-failed.service", "OnFailure=")
    check({"NoNewPrivileges", "DynamicUser"} <= night.keys(), "the control: restrictions of the night")
    failed = settings_of(night["OnFailure"])
    check_equal(failed.keys() & {"NoNewPrivileges", "DynamicUser", "User", "ProtectSystem", "CapabilityBoundingSet"}, set(),
                "those of what mails")
    check_equal(failed["ExecStart"], "tcpscaler-nightly-failed ${MAILTO}", "what mails")


FAKE_JOURNALCTL = """#!/bin/sh
[ "$1" != --sync ] || exit 0
echo "$@" >>"$FAKE/journalctl"
cat "$FAKE/journal"
"""

FAKE_SYSTEMCTL = """#!/bin/sh
[ "$*" != "show --property=InvocationID --value tcpscaler-nightly.service" ] || echo decaf
"""


def mail_failure(nights, *arguments, **environment):
    return run_command([FAILED, *arguments],
                       env={**os.environ, "FAKE": nights.directory, "PATH": f"{nights.bin}:{os.environ['PATH']}", **environment})


def test_a_night_that_failed_is_mailed_from_the_journal():
    nights = Nights()
    write(f"{nights.bin}/journalctl", FAKE_JOURNALCTL)
    write(f"{nights.bin}/systemctl", FAKE_SYSTEMCTL)
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
    write(f"{nights.bin}/systemctl", "#!/bin/sh\nexit 1\n")
    mail_failure(nights, "root")
    with open(nights.file("journalctl")) as f:
        matches = [line.split()[-1] for line in f]
    check_equal(matches, ["_SYSTEMD_INVOCATION_ID=c0ffee", "_SYSTEMD_INVOCATION_ID=decaf",
                          "_SYSTEMD_UNIT=tcpscaler-nightly.service"], "what was looked for")


def test_a_night_that_failed_is_mailed_without_a_journal():
    """It may be damaged, and a night that the kernel killed wrote nothing."""
    nights = Nights()
    for fake in ("#!/bin/sh\necho 'Failed to open journal' >&2; exit 1\n", "#!/bin/sh\n"):
        write(f"{nights.bin}/journalctl", fake)
        r = mail_failure(nights, "root", MONITOR_INVOCATION_ID="c0ffee", MONITOR_EXIT_STATUS="KILL")
        check_equal((r.returncode, r.stdout), (0, ""), f"exit code and stdout; stderr: {r.stderr}")
    mails = re.findall(r"^Subject: .*: no message in the journal\n\nno message in the journal\n\n"
                       r"tcpscaler-nightly.service: exit status KILL\n", nights.mails(), re.M)
    check_equal(len(mails), 2, f"mails in {nights.mails()}")


def test_a_mail_that_cannot_be_sent_fails_its_unit():
    nights = Nights()
    write(f"{nights.bin}/journalctl", FAKE_JOURNALCTL)
    write(nights.file("journal"), "REGRESSION: response p50\n")
    write(f"{nights.bin}/sendmail", "#!/bin/sh\ncat >/dev/null; exit 75\n")
    check_equal(mail_failure(nights, "root").returncode, 75, "exit code when sendmail fails")
    check_equal(mail_failure(nights).returncode, 2, "exit code without an address")
    check_equal(mail_failure(nights, "").returncode, 2, "exit code with MAILTO= empty")
    for option, code in (("-h", 0), ("--no-such", 2)):
        check_equal(mail_failure(nights, option).returncode, code, f"exit code with {option}")
    os.unlink(f"{nights.bin}/sendmail")
    if shutil.which("sendmail") is None:
        r = mail_failure(nights, "root")
        check_equal((r.returncode, r.stderr), (1, "nightly-failed.sh: no mail to root: cannot find 'sendmail'\n"), "without one")


if __name__ == "__main__":
    main()
