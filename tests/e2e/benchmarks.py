# SPDX-License-Identifier: MIT
"""bench/: what its programs print without a build, their arguments, the names they use, how they recognize a quiet machine; and that the
README quotes docs/performance.md."""

import ast
import builtins
import dis
import importlib
import types

from helpers.bench_programs import *
import blocks
import minute
import occupy
import quiet
import usage
from programs import APART, BENCHMARKS

PAGE = "About it.\n<!-- a -->\n`old`:\n\n```\n1\n```\nBetween.\n\n<!-- b -->\n```\n2\n```\nAfter.\n"

# --- without a build ---

def executables():
    return sorted(name for name in os.listdir(BENCH) if os.access(os.path.join(BENCH, name), os.X_OK)
                  and os.path.isfile(os.path.join(BENCH, name)))


def says_how_to_build(path):
    r = run_program(path, env={"TCPSERVER": "/none/tcpserver"})
    return (r.returncode == 1 and r.stderr.startswith(f"{os.path.basename(path)}: cannot find /none/tcpserver") and
            "cmake --build" in r.stderr)


def test_bench_without_a_build_says_how_to_build():
    check(len(executables()) >= 11, f"programs: {executables()}")
    for name in executables():
        check(says_how_to_build(os.path.join(BENCH, name)), f"{name} says how to build")


def test_bench_that_does_not_check_for_the_programs_is_detected():
    """The control."""
    path = write_program(temp_path("connect"), read_source("bench", "connect").split("import built")[0])
    check_equal(says_how_to_build(path), False, "a program that does not import built says how to build")


def test_interrupted_benchmark_prints_one_line_and_leaves_nothing_behind():
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        pid = temp_path("pid")
        server = write_program(temp_path("server"), f"#!/bin/sh\necho $$ >{pid}.new && mv {pid}.new {pid} && exec sleep 3600\n")
        with open(temp_path("err"), "w+") as err:
            process = spawn([os.path.join(BENCH, "wire_truth"), "1"], stdout=subprocess.DEVNULL, stderr=err,
                            env={**os.environ, "TCPSERVER": server, "TCPCLIENT": "/bin/true", "PYTHONDONTWRITEBYTECODE": "1"},
                            preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
            wait_for(lambda: os.path.exists(pid), "its server")
            check_equal(stop(process, number), 1, "exit code")
            check_equal(read_text(err.name), "wire_truth: interrupted\n", "messages")
        wait_for(lambda: has_ended(int(read_text(pid))), "the end of its server")


def test_interrupted_benchmark_ends_what_it_is_about_to_list():
    """The signal comes before spawn() has the process in its list."""
    path = write_program(os.path.join(temp_directory(), "starting"), "#!/usr/bin/env python3\nimport sys\n"
                         f"sys.path.insert(0, {BENCH!r})\n"
                         "import built, os, signal, subprocess, time\n"
                         "print(subprocess.Popen(['sleep', '3600'], stdout=subprocess.DEVNULL).pid, flush=True)\n"
                         "os.kill(os.getpid(), signal.SIGTERM)\n"
                         "time.sleep(3600)\n")
    r = run_program(path, env={"TCPSERVER": "/bin/true", "TCPCLIENT": "/bin/true"})
    check_equal((r.returncode, r.stderr), (1, "starting: interrupted\n"), "exit code and messages")
    wait_for(lambda: has_ended(int(r.stdout)), "the end of its process")


def test_benchmark_that_cannot_run_says_why_in_one_line():
    for statement, message in (("checks.skip('not root')", "fails: not root\n"),
                               ("raise AssertionError('expected 2:\\n 1')", "fails: expected 2: 1\n")):
        path = write_program(os.path.join(temp_directory(), "fails"), "#!/usr/bin/env python3\nimport sys\n"
                             f"sys.path.insert(0, {BENCH!r})\nimport built\nfrom helpers import checks\n{statement}\n")
        r = run_program(path, env={"TCPSERVER": "/bin/true", "TCPCLIENT": "/bin/true"})
        check_equal((r.returncode, r.stderr), (1, message), "exit code and messages")
    write_text(path, read_text(path).replace(statement, "1 / 0"))  # the control: a bug says where it is
    check("line 6" in run_program(path, env={"TCPSERVER": "/bin/true", "TCPCLIENT": "/bin/true"}).stderr, "where a bug is")


def test_program_that_is_found_can_be_started():
    """With the PATH of a user: ldconfig is where nginx and named are, too."""
    path = write_program(os.path.join(temp_directory(), "starts"), "#!/usr/bin/env python3\nimport sys\n"
                         f"sys.path.insert(0, {BENCH!r})\nimport built, subprocess\nfrom helpers import checks\n"
                         "checks.need_program('ldconfig')\nsubprocess.run(['ldconfig', '--version'], check=True)\n")
    r = run_program(path, env={"PATH": "/usr/bin:/bin", "TCPSERVER": "/bin/true", "TCPCLIENT": "/bin/true"})
    check_equal((r.returncode, r.stderr), (0, ""), "exit code and messages")


# --- names ---

def globals_read(code):
    """The names in this code and in the functions that it defines."""
    names = {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return names.union(*(globals_read(part) for part in code.co_consts if isinstance(part, types.CodeType)))


def names_of(text):
    """The names that it assigns and imports, including all names of a module from which it imports *."""
    code = compile(text, "", "exec")
    names = {i.argval for i in dis.get_instructions(code) if i.opname in ("STORE_NAME", "STORE_GLOBAL")} | set(dir(builtins))
    for module in re.findall(r"^from ([\w.]+) import \*$", text, re.M):
        names.update(dir(importlib.import_module(module)))
    return names


def unknown_names(text):
    return globals_read(compile(text, "", "exec")) - names_of(text) - {"__name__", "__file__", "__doc__"}


def test_programs_use_names_that_exist():
    """A program may run for minutes before it uses a wrong name."""
    for name in executables():
        check_equal(unknown_names(read_source("bench", name)), set(), f"unknown names in {name}")
    check_equal(unknown_names("from helpers.harness import *\ndef f():\n    return free_port(), nothing.x\n"), {"nothing"}, "the control")


# --- the page ---

def test_every_benchmark_is_run_or_listed_as_separate():
    run = {benchmark.command.split()[0] for benchmark in BENCHMARKS.values()}
    check_equal(run | {f"bench/{name}" for name in APART} | {"bench/all"}, {f"bench/{name}" for name in executables()}, "programs")


def test_page_has_a_block_for_every_benchmark():
    performance = read_source("docs", "performance.md")
    check_equal(sorted(re.findall(r"^<!-- (\w+) -->$", performance, re.M)), sorted(BENCHMARKS), "blocks")
    for name in BENCHMARKS:
        check(blocks.block(performance, name) and f"`{BENCHMARKS[name].command.split()[0]}" in blocks.about(performance, name), name)


def test_only_the_block_is_replaced():
    got = blocks.with_block(PAGE, "a", "bench/a", "a machine", "\n3\n4\n")
    check_equal(got, "About it.\n<!-- a -->\n`bench/a` on a machine:\n\n```\n3\n4\n```\nBetween.\n\n<!-- b -->\n```\n2\n```\nAfter.\n",
                "the page")
    check_equal((blocks.block(got, "a"), blocks.block(got, "b"), blocks.about(got, "b")), ("3\n4\n", "2\n", ""), "blocks")
    for text in (PAGE.replace("<!-- a -->", ""), PAGE + PAGE, PAGE.replace("```\n1\n```\n", "")):
        try:
            blocks.with_block(text, "a", "bench/a", "a machine", "3")
        except ValueError:
            continue
        raise AssertionError(f"accepted: {text}")


def test_table_is_read_by_its_columns():
    check_equal(blocks.table(SCALE), [{
        "N": "10,000", "proven": "10,000", "seconds": "0.20", "conn/s": "49,911", "us each": "20.0", "client B": "544",
        "server B": "209", "kernel B": "8,349", "plan": "+0.5 %", "client us/query": "12.4 + 39.8", "teardown s": "0.1"}], "rows")


def test_columns_of_scale_have_two_spaces_between_them():
    names_and_widths = re.findall(r'^(?:COLUMNS = \(| +)\("([^"]+)", (\d+), lambda', read_source("bench", "scale"), re.M)
    check(len(names_and_widths) >= 15, f"columns: {names_and_widths}")
    header = "".join(f" {name:>{width}}" for name, width in names_and_widths)
    check_equal(re.findall(r"\S+(?: \S+)*", header), [name for name, _ in names_and_widths], "columns that can be told apart")


def test_readme_quotes_the_page():
    readme, performance = read_source("README.md"), read_source("docs", "performance.md")
    check_equal(blocks.with_quote(readme, performance), readme, "the README, with what it quotes replaced by what the page has")
    measured = blocks.block(performance, "scale")
    last = blocks.table(measured)[-1]
    for name in blocks.QUOTED:
        other = performance.replace(measured, measured.replace(last[name], "9" * len(last[name])))
        check(blocks.with_quote(readme, other) != readme, f"the control: another value of {name} is found")


def test_cost_of_a_trial_comes_from_its_own_samples():
    """The search ends at 100 s; 10 us of CPU time per query, and 20 us from 30 to 60 s."""
    samples, used_us = [], 0
    for s in range(101):
        samples.append([s * 10 ** 9, 1000 * s, used_us // 2, used_us // 2])
        used_us += 20000 if 30 <= s < 60 else 10000
    result = {"search": {"elapsed_s": 100},
              "server_cost": {"columns": ["epoch_ns", "queries", "user_us", "system_us"], "samples": samples}}
    for begin_s, duration_s, expected_us in ((0, 28, 10), (30, 30, 20), (20, 20, 15), (10, 2.5, 0)):
        check_equal(minute.cost_in_us(result, {"begin_s": begin_s, "duration_s": duration_s}), expected_us, f"from {begin_s} s on")


# --- a quiet machine ---

def need_real_time():
    """Skips the test without real-time priority. Tries it in another process, because this one would keep it."""
    need_program("chrt")
    if subprocess.run(["chrt", "-f", "1", "true"], stderr=subprocess.DEVNULL).returncode != 0:
        skip("no right to real-time priorities")


def test_requested_share_of_a_cpu_is_occupied():
    need_real_time()
    with occupy.occupied(max(os.sched_getaffinity(0)), 30) as pid:
        begin_s, used_s = time.monotonic(), cpu_seconds(pid)
        time.sleep(1)
        share = (cpu_seconds(pid) - used_s) / (time.monotonic() - begin_s)
    check(has_ended(pid), "it ends with the block")
    with stall_may_spoil():
        check_between(share, 0.25, 0.35, "share of the CPU")


def test_occupied_cpu_is_free_again_after_a_crash():
    need_real_time()
    crash = (f"import os, signal, sys; sys.path.append({BENCH!r}); import occupy\n"
             "with occupy.occupied(max(os.sched_getaffinity(0)), 1) as pid:\n"
             "    print(pid, flush=True); os.kill(os.getpid(), signal.SIGKILL)")
    r = subprocess.run([sys.executable, "-c", crash], stdout=subprocess.PIPE, text=True, timeout=HANGS_S)
    wait_for(lambda: has_ended(int(r.stdout)), "its end")


def test_busy_machine_is_refused():
    loops = busy_loops()
    why = quiet.disturbance(1)
    for loop in loops:
        stop(loop, signal.SIGKILL)
    check(why is not None and "other programs used" in why, f"what it says: {why}")


# --- their arguments ---

def test_wrong_arguments_are_refused_in_one_line():
    """Before anything is measured."""
    for name, *words, message in (
            ("all", "--watch", "0", "invalid value '0': expected a number from 1 on"),
            ("compare", "x", "invalid section 'x': expected clients, "), ("compare", "--quickly", "unrecognized arguments: --quickly"),
            ("connect", "0", "invalid value '0': expected a whole number from 1 on"),
            ("control", "fast", "invalid value 'fast': expected a whole number from 1 to 5000"),
            ("control", "5001", "invalid value '5001': expected a whole number from 1 to 5000"),
            ("curves", "--servers", "x", "y", "invalid value 'x': expected unbound, knot, nsd, bind, tcpserver"),
            ("curves", "--connections", "100,x", "y", "invalid value 'x': expected a number from 1 on"),
            ("curves", "--transports", "tcp,x", "y", "invalid value 'x': expected udp, tcp, tls"),
            ("handshakes", "--rounds", "0", "invalid value '0': expected a whole number from 1 on"),
            ("handshakes", "--keys", "x", "invalid value 'x': expected rsa2048, p256, ed25519"),
            ("minutes", "--servers", "tcpserver", "y", "invalid value 'tcpserver': expected SERVER=QPS"),
            ("pacing", "x", "invalid value 'x': expected a whole number from 1 on"),
            ("push", "200k", "x", "invalid value 'x': expected a number from 1 on"),
            ("repeat", "--servers", "tcpserver", "--slo", "p99<1s", "y", "invalid value 'p99<1s': expected p50, "),
            ("repeat", "--servers", "tcpserver", "-n", "0", "y", "invalid value '0': expected a whole number from 1 on"),
            ("saturation", "200k", "invalid value '200k': expected a whole number from 1 on"),
            ("saturation", "200", "400", "expected three rates or more"),
            ("scale", "10k", "0", "invalid value '0': expected a number from 1 on"),
            ("shares", "0", "invalid value '0': expected a number from 1 on"),
            ("soak", "--rate", "0", "invalid value '0': expected a number from 1 on"),
            ("wire_truth", "0", "invalid value '0': expected a whole number from 1 on")):
        r = run_program(os.path.join(BENCH, name), *words, env={"TCPSERVER": "/bin/true", "TCPCLIENT": "/bin/true"})
        check_equal((r.returncode, r.stdout), (2, ""), f"exit code and output of {name} {words}: {r.stderr}")
        check(re.fullmatch(rf"bench/{name}: .*{re.escape(message)}.*\n", r.stderr), r.stderr)


def test_counts_are_those_of_the_options():
    counts = {"500": 500, "10k": 10000, "1.5M": 1500000, "32.3k": 32300, "2.01M": 2010000,  # the product of floats is smaller
              "1.0005k": None, "1.5": None, "k": None, "": None, "-1": None}
    check_equal({text: usage.parse_count(text) for text in counts}, counts, "counts")


def test_every_program_says_what_it_does():
    for name in executables():
        r = run_program(os.path.join(BENCH, name), "--help", env={"TCPSERVER": "/none/tcpserver"})
        check_equal((r.returncode, r.stderr), (0, ""), f"exit code and messages of {name} --help")
        about = ast.get_docstring(ast.parse(read_source("bench", name))).splitlines()[0]
        check(about in r.stdout and f"\n    bench/{name} [" in r.stdout, f"what {name} does, and how to call it: {r.stdout}")


if __name__ == "__main__":
    main()
