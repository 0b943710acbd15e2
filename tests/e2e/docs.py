# SPDX-License-Identifier: MIT
"""What the documents say is what the programs do: option tables, man pages, examples."""

import re
import shlex

from harness import *

PROGRAMS = {"tcpclient": [TCPCLIENT], "tcpserver": [TCPSERVER]}
COMMANDS = {f"tcpreport {name}": [TCPREPORT, name] for name in ("show", "merge", "compare", "plot")
            if TCPREPORT}  # not built without json-c
OPTION = re.compile(r"^(?:  (-\w), |      )--([a-z-]+)(?: (\S+))? +(.*)$")


def read(*path):
    with open(os.path.join(SOURCE_DIR, *path)) as f:
        return f.read()


def options_of(program):
    """(short or None, long, argument or None, help) of each line of --help."""
    argv = {**PROGRAMS, **COMMANDS}[program]
    out = subprocess.run([*argv, "--help"], capture_output=True, text=True, timeout=20)
    lines = re.sub(r"\n {30}(?=\S)", "  ", out.stdout).splitlines()  # below a name that is too long
    found = [match.groups() for match in map(OPTION.match, lines) if match]
    check_equal([option[1] for option in found[-2:]], ["help", "version"], f"options in {out.stdout}")
    return found if program in PROGRAMS else found[:-2]


def test_tables_of_the_readme_are_those_of_help():
    readme = read("README.md")
    for program in {**PROGRAMS, **COMMANDS}:
        if not options_of(program):
            continue
        section = re.split("\n##+ ", readme.split(f"## Options of {program}\n")[1])[0]
        rows = [line for line in section.splitlines() if line.startswith("| `")]
        wanted = []
        for short, name, argument, text in options_of(program):
            option = f"--{name}" + (f" {argument}" if argument else "")
            option = option.replace("|", "\\|")
            wanted.append(f"| {f'`{short}`, ' if short else ''}`{option}` | {text} |")
        check_equal(rows, wanted, f"README's table of {program}")


def test_man_pages_have_a_paragraph_for_every_option():
    for program in PROGRAMS:
        page = read("docs", f"{program}.1").replace("\\-", "-")
        headings = re.findall(r"^\.TP\n\.B (?:(-\w), )?--([a-z-]+)(?: \\fI(\S+)\\fP)?\n(.+)", page, re.M)
        check_equal([h[:3] for h in headings],
                    [(short or "", name, argument or "")
                     for short, name, argument, _ in options_of(program)], f"options in {program}.1")


def test_man_page_of_tcpreport_has_a_section_for_every_command():
    if not TCPREPORT:
        skip("tcpreport was not built: it needs zlib and json-c")
    page = read("docs", "tcpreport.1").replace("\\-", "-").split(".SH COMMANDS\n")[1].split("\n.SH ")[0]
    for program in COMMANDS:
        section = page.split(f".SS {program}\n")[1].split("\n.SS ")[0]
        headings = re.findall(r"^\.TP\n\.B (?:(-\w), )?--([a-z-]+)(?: \\fI(\S+)\\fP)?\n(.+)", section, re.M)
        check_equal([h[:3] for h in headings],
                    [(short or "", name, argument or "")
                     for short, name, argument, _ in options_of(program)], f"options of {program}")
    help_text = subprocess.run([TCPREPORT, "--help"], capture_output=True, text=True, timeout=20).stdout
    check_equal(re.findall(r"^  (\w+) ", help_text, re.M), [name.split()[1] for name in COMMANDS],
                "commands of --help")


def examples():
    """The shell examples of the README."""
    return re.findall(r"```sh\n(.*?)```", read("README.md"), re.S)


def run_example(script, port, directory):
    """Its output, run with the real tcpclient towards this port."""
    script = re.sub(r"\btcpclient ", f"{shlex.quote(os.path.abspath(TCPCLIENT))} -p {port} ", script)
    r = subprocess.run(["sh", "-c", script], cwd=directory, capture_output=True, text=True, timeout=60)
    check(r.returncode in (0, 3), f"exit code {r.returncode} of: {script}")  # 3: SUSPECT, as machines are
    check(re.fullmatch(r"(tcpclient: SUSPECT: [a-z, -]+\n)?", r.stderr), f"errors of: {script}: {r.stderr}")
    return r.stdout


def test_table_of_verdicts_has_all_of_them():
    names = re.findall(r'"([A-Z]+)"', read("src", "result.c").split("result_verdict_name(")[1].split("\n}")[0])
    check(len(names) == 3, f"verdicts of tcpreport: {names}")
    rows = re.findall(r"^\| `([A-Z]+)` \| \d \|", read("docs", "report.md"), re.M)
    check_equal(rows, names, "table of verdicts")


def test_page_of_faults_has_every_scenario():
    listed = subprocess.run([os.path.join(SOURCE_DIR, "tests/torture/run"), "--list", "--machine-wide"],
                            capture_output=True, text=True, check=True).stdout.split()
    rows = [line.split(" | ")[0] for line in read("docs", "faults.md").splitlines() if line.startswith("| `")]
    check_equal(sorted(re.findall(r"`(\w+)`", " ".join(rows))), sorted(listed), "scenarios in docs/faults.md")


def test_tuning_page_explains_every_limit_of_the_plans():
    limits = set(re.findall(r'\badd(?:_short|_sysctl)?\(p, "([^"]+)"', read("src", "preflight.c")))
    check(len(limits) > 15, f"limits in preflight.c: {limits}")
    page = read("docs", "tcpscaler.7").replace("\\-", "-")
    # of what there is nothing to tune: it is only said
    check_equal({limit for limit in limits if limit not in page}, {"sockets in TIME_WAIT now"},
                "limits that tcpscaler(7) leaves out")


def test_examples_of_the_readme_run():
    need_program("python3")
    directory = os.path.dirname(temp_path("x"))
    with Server() as server:
        example, = examples()
        check(re.fullmatch(r"\d+ ns\n", run_example(example, server.port, directory)), "a p99")


@needs_own_fd_tables
def test_session_of_the_readme_has_the_form_of_a_real_one():
    """Every line but for its numbers and its verdict, which this machine may spoil."""
    session = read("README.md").split("$ tcpclient -c 10000 -r 20000 -t 10 127.0.0.1\n")[1].split("```")[0]
    with Server() as server:
        r = run_client("-p", server.port, "-c", 100, "-r", 2000, "-t", 10, "127.0.0.1")

    def form(text):
        lines = [re.sub(r"[\d.,:]+|\[::\]|\b[num]?s\b|#|-", "", line).split()
                 for line in text.splitlines()]
        return [line for line in lines if line and line[0].isalpha() and "running" not in line]

    wanted, got = form(session), form(re.sub("SUSPECT", "VALID", r.err))
    heads = [line[:2] for line in got]
    for line in wanted:
        check(line[:2] in heads or line[0] in ("us", "ms", "holds"), f"a line as {line} in {heads}")


if __name__ == "__main__":
    main()
