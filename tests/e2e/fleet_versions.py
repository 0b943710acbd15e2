# SPDX-License-Identifier: MIT
"""fleet/run.yml with the Ansible that is installed and with PyPI's newest."""

from helpers.testbed import *


def form(report):
    """A report without what differs from run to run: times, verdicts, how far apart the starts were, whether the hosts
    were told in good time, and its directory."""
    report = re.sub(r"\b\d{4}-\d\d-\d\dT\d{6}Z/", "DATE/", report)
    lines = [re.sub(r"[\d.,]+ (ns|us|ms|s)\b", "TIME", line) for line in report.splitlines()]
    return [re.sub(r"VALID|SUSPECT", "VERDICT", " ".join(line.split())) for line in lines
            if line.strip() and "raise lead" not in line]


def test_newest_ansible_gives_the_same_report():
    newest = newest_ansible()
    with Testbed(2) as testbed:
        testbed.forget_python()
        before = testbed.states()
        reports, versions = [], []
        for use in (lambda: None, lambda: testbed.use_ansible(newest)):
            use()
            version = subprocess.run(["env", *testbed.ansible, "ansible", "--version"], capture_output=True, text=True)
            versions.append(re.search(r"core ([\d.]+)", version.stdout).group(1))
            r = testbed.run(connections=500, rate=500, duration=3, client_options="--arrival constant")
            check_equal(r.code, 0, f"exit code: {r.out}")
            testbed.check_states(before, "the hosts, afterwards")
            reports.append(form(read_text(r.results + "/report.txt")))
    print(f"     {versions}", flush=True)
    check(versions[0] != versions[1], "two versions")
    check_equal(reports[1], reports[0], "the report")
    check(any(re.match("c2 12 1,500 1,500 ", line) for line in reports[0]), f"c2 in {reports[0]}")


if __name__ == "__main__":
    main()
