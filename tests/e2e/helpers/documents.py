# SPDX-License-Identifier: MIT
"""The documents: their sections and code blocks, the options of --help, and running an example."""

import shlex

from helpers.harness import *

PROGRAMS = {"tcpclient": [TCPCLIENT], "tcpserver": [TCPSERVER]}
COMMANDS = {f"tcpreport {name}": [TCPREPORT, name] for name in ("show", "merge", "compare", "plot", "html", "watch")
            if TCPREPORT}  # not built without json-c
FENCE = re.compile(r"^```(.*)\n((?:.*\n)*?)```$", re.M)
OPTION = re.compile(r"^(?:  (-\w), |      )--([a-z-]+)(?: (\S+))? +(.*)$")


def fences(text, kind):
    return [body for info, body in FENCE.findall(text) if info == kind]


def sections(text):
    """{heading: the text below it}, headings of every level but the title."""
    parts = re.split(r"^##+ (.*)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def options_of(program):
    """(short or None, long, argument or None, help) of each line of --help."""
    argv = {**PROGRAMS, **COMMANDS}[program]
    out = run_command([*argv, "--help"])
    check(max(map(len, out.stdout.splitlines())) <= 100, f"100 columns of {program} --help: {out.stdout}")
    lines = re.sub(r"\n {30}(?=\S)", "  ", out.stdout).splitlines()  # below a name that is too long
    found = [match.groups() for match in map(OPTION.match, lines) if match]
    check_equal([option[1] for option in found[-2:]], ["help", "version"], f"options in {out.stdout}")
    return found if program in PROGRAMS else found[:-2]


def run_example(script, port, directory, **options):
    """Runs the script with the real tcpclient, against this port; returns its output."""
    script = re.sub(r"\btcpclient ", f"{shlex.quote(os.path.abspath(TCPCLIENT))} -p {port} ", script)
    r = run_command(["sh", "-c", script], cwd=directory, **options)
    check(r.returncode in (0, 3), f"exit code {r.returncode} of: {script}")  # 3: SUSPECT, as machines are
    doubts = r"tcpclient: SUSPECT: [a-z, -]+\n(tcpclient: [\d,]+ connections?: .+: .+\n)*"
    goals = r"tcpclient: --assert: \S+ (undecided|missed): .+\n"
    check(re.fullmatch(f"({doubts})?({goals})*", r.stderr), f"errors of: {script}: {r.stderr}")
    return r.stdout
