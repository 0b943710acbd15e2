# SPDX-License-Identifier: MIT
""".ci/run, tests/deep and scripts/install-deps.sh, with stubs for the tools: no failure is ignored."""

import glob
import shlex

from helpers.harness import *


def stub(directory, name, text):
    path = os.path.join(directory, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    write_program(path, f"#!/bin/sh\n{text}\n")


def copy_ci(tree):
    """Without the lines of .ci/idle that lower its priority: it would wait for the tests that run at the same time."""
    os.makedirs(os.path.join(tree, ".ci"))
    for name, n_lowers in ((".ci/run", 0), (".ci/idle", 2)):
        text, n = re.subn(r"^(\(echo 19 >/proc/\$\$/autogroup|chrt -i ).*\n", "", read_source(name), flags=re.M)
        check_equal(n, n_lowers, f"lines of {name} that lower its priority")
        write_program(os.path.join(tree, name), text)


def tree_for_ci(cmake="exit 0", test="exit 0", xargs="exit 0"):
    """A tree of stubs for .ci/run, all of which succeed, except that cmake, scripts/test.sh and xargs do this; its environment."""
    tree = temp_path("tree")
    copy_ci(tree)
    lints = os.listdir(os.path.join(SOURCE_DIR, "tests/lint"))
    tools = ("git", "clang-format", "shellcheck", "mandoc", "clang-tidy", "xargs")
    for name in ("scripts/install-deps.sh", "tests/fleet/install-ansible", "build/installed/bin/tcpclient",
                 "build/installed/bin/tcpserver", "build/installed/bin/tcpreport", *(f"tests/lint/{lint}" for lint in lints),
                 *(f"bin/{tool}" for tool in tools)):
        stub(tree, name, "exit 0")
    stub(tree, "bin/cmake", cmake)
    stub(tree, "scripts/test.sh", test)
    stub(tree, "bin/xargs", xargs)
    return tree, {**os.environ, "PATH": os.path.join(tree, "bin") + ":" + os.environ["PATH"]}


def run_ci(**stubs):
    """The exit code and output of .ci/run with these stubs."""
    tree, env = tree_for_ci(**stubs)
    r = run_command([os.path.join(tree, ".ci/run")], env=env)
    return r.returncode, r.stdout


def test_scripts_refuse_unknown_arguments():
    tree = temp_path("tree")
    for name in ("coverage.sh", "demo.sh", "install-deps.sh", "test.sh", "valgrind.sh"):
        stub(tree, name, "")
        shutil.copy(os.path.join(SOURCE_DIR, "scripts", name), os.path.join(tree, name))  # where it can build nothing
        too_many = {"coverage.sh": ["report", "all"], "install-deps.sh": ["build", "ci"], "test.sh": ["unit", "release", "pacer"]}
        for arguments in ["--help"], *([too_many[name]] if name in too_many else []):
            r = run_command([os.path.join(tree, name), *arguments], cwd=tree)
            check_equal((r.returncode, r.stdout), (2, ""), f"{name} {arguments}: {r.stderr}")
            check(r.stderr.startswith("usage: ") and len(r.stderr.splitlines()) == 1, f"{name} {arguments}: {r.stderr}")


def test_programs_without_options_refuse_them():
    """In a tree where they find nothing to run, as what they run takes long."""
    tree = temp_path("tree")
    packaging = ("cross", "debian", "distributions", "image", "musl", "reproducible")
    programs = (".ci/run", "packaging/oci-image", "packaging/release", "tests/fleet/install-ansible",
                *(f"tests/packaging/{name}" for name in packaging))
    for name in (*programs, "tests/packaging/lib.sh"):
        stub(tree, name, "")
        shutil.copy(os.path.join(SOURCE_DIR, name), os.path.join(tree, name))
    for name in programs:
        for arguments in (["-h"], ["--help"], ["--help", "x"]):
            r = run_command([os.path.join(tree, name), *arguments], cwd=tree)
            check_equal((r.returncode, r.stdout), (2, ""), f"{name} {arguments}: {r.stderr}")
            check(r.stderr.startswith("usage: ") and name in r.stderr and len(r.stderr.splitlines()) == 1, f"{name} {arguments}: {r.stderr}")
    check_equal(sorted(os.listdir(tree)), [".ci", "packaging", "tests"], "what they made")


def test_programs_that_would_run_nothing_or_never_end_are_refused():
    for program, option, value in (("tests/torture/run", "--repeat", "0"), ("tests/torture/run", "--repeat", "-3"),
                                   ("tests/stall", "--every", "0.0"), ("tests/stall", "--every", "nan"),
                                   ("tests/stall", "--seconds", "-1.0")):
        r = run_command([os.path.join(SOURCE_DIR, program), option, value, *(["no.py"] if program == "tests/stall" else [])])
        check(r.returncode == 2 and f"invalid value '{value}' of {option}: expected " in r.stderr, f"{r.returncode}: {r.stderr}")
    for simulator in "sim", "sim_server":
        for arguments in ["--seeds", "0"], ["--minutes", "0"], ["--seeds", "many"]:
            r = run_command([os.path.join(os.path.dirname(os.path.abspath(TCPCLIENT)), "tests/sim", simulator), *arguments])
            check((r.returncode, r.stderr.startswith("usage: ")) == (2, True), f"{simulator} {arguments}: {r.returncode}: {r.stderr}")


def test_scenario_that_injects_nothing_does_not_pass():
    scenarios = {"injects_nothing": ["row.expect('n', 1, 1)"], "injects_none": ["row.injected('faults', 0)", "row.expect('n', 1, 1)"],
                 "lacks_something": ["skip('a reason')"], "passes": ["row.injected('faults', 1)", "row.expect('n', 1, 1)"]}
    lines = ["from table import *"]
    for name, body in scenarios.items():
        lines += ["@scenario()", f"def {name}(row):", *(f"    {line}" for line in body)]
    lines += [f"print({', '.join(f'run_scenario({name!r}).verdict' for name in scenarios)}, sep=', ')"]
    r = run_command([sys.executable, write_text(temp_path("some.py"), "\n".join(lines))],
                    env={**os.environ, "PYTHONPATH": ":".join(os.path.join(SOURCE_DIR, "tests", name) for name in ("e2e", "torture"))})
    check_equal(r.stdout, "NOT INJECTED, NOT INJECTED, SKIP, ok\n", f"verdicts; {r.stderr}")


def test_failing_build_ends_the_run():
    _, goes_on = run_ci(cmake="echo built")  # the control: all succeed
    code, out = run_ci(cmake='case $* in *--build*) echo "an error of the compiler"; exit 1 ;; esac')
    check(code != 0 and "an error of the compiler" in out and "=== release" not in out, f"{code}: {out}")
    check("=== release" in goes_on, f"the run goes on: {goes_on}")


def test_programs_show_why_their_build_fails():
    for program in ("scripts/demo.sh", "scripts/valgrind.sh", "tests/deep"):
        tree = temp_path("tree")
        for name, text in (("scripts/install-deps.sh", "exit 0"), ("CMakeLists.txt", ""), ("bin/cmake", """mkdir -p build
                case $* in *--build*) printf 'FAILED: a.c.o\\nan error of the compiler\\n'; exit 1 ;; esac""")):
            stub(tree, name, text)
        os.makedirs(os.path.join(tree, "tests"))
        shutil.copy(os.path.join(SOURCE_DIR, program), os.path.join(tree, program))
        r = run_command([os.path.join(tree, program)], env={**os.environ, "PATH": os.path.join(tree, "bin") + ":" + os.environ["PATH"]})
        check_equal((r.returncode, r.stdout), (1, ""), f"{program}: {r.stderr}")
        check(r.stderr.startswith("FAILED: a.c.o\nan error of the compiler\n"), f"{program}: {r.stderr}")


def test_failing_linter_fails_the_run():
    for tool, next_step in (("clang-format", "release; parts"), ("clang-tidy", "count")):
        code, out = run_ci(xargs=f'case $* in *{tool}*) echo "a finding"; exit 123 ;; esac')
        check(code != 0 and "a finding" in out and f"=== {next_step}" not in out, f"{tool}: {code}: {out}")
    _, out = run_ci()  # the control: without a finding
    for next_step in ("release; parts", "count"):
        check(f"=== {next_step}" in out, f"the run goes on: {out}")


def processes_in(directory):
    """The processes that have it as their working directory."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if os.readlink(f"/proc/{pid}/cwd") == os.path.realpath(directory):
                found.append(pid)
    return found


def test_interrupted_run_ends_what_runs_in_the_background():
    """With the real scripts/test.sh. The first one gets a signal while clang-tidy waits for the parts of asan."""
    for hang, n_hanging, number, code in (("*release*--label-exclude* | *asan*--tests-regex*", 2, signal.SIGTERM, 143),
                                          ("*--exclude-regex* | *--label-regex*scripts*", 3, signal.SIGINT, 130)):
        tree, env = tree_for_ci()
        shutil.copy(os.path.join(SOURCE_DIR, "scripts/test.sh"), os.path.join(tree, "scripts/test.sh"))
        stub(tree, "bin/renice", "exit 1")
        stub(tree, "bin/sed", "exit 1")  # of the session's nice value
        stub(tree, "bin/ctest", f"""mkdir -p build/$2/Testing/Temporary
            : >build/$2/Testing/Temporary/LastTest.log
            case $* in {hang}) echo "$*" >>hanging; exec sleep 1000 ;; esac""")
        # of a background job, which the runner of this test may be, SIGINT is ignored
        run = spawn(["env", "--default-signal=INT", os.path.join(tree, ".ci/run")], env=env, start_new_session=True,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        hanging = os.path.join(tree, "hanging")
        wait_for(lambda: os.path.exists(hanging) and len(read_text(hanging).splitlines()) == n_hanging, "what hangs")
        check(len(processes_in(tree)) > n_hanging, "the control: processes that are found")
        os.killpg(run.pid, number)
        check_equal(run.wait(HANGS_S), code, f"exit code after signal {number}")
        wait_for(lambda: not processes_in(tree), f"the end of {processes_in(tree)}")


LOG = "1 passed, {} failed, {} skipped"


def write_logs(counts):
    """A scripts/test.sh that writes the log of each suite; counts: that of one."""
    return f"""case $* in truth | scripts) log=build/release/$1.log ;; release) log=build/release/code.log ;; *) log=build/$1/$2.log ;; esac
        mkdir -p "$(dirname "$log")"
        case $* in "{counts[0]}") echo '{LOG.format(*counts[1:])}' ;; *) echo '{LOG.format(0, 0)}' ;; esac >$log"""


def test_failing_or_skipping_suite_fails_the_run():
    for suite in ("release", "truth", "scripts", "asan parts", "asan programs", "tsan parts", "tsan programs"):
        code, out = run_ci(test=f'[ "$*" != "{suite}" ] || {{ echo "a failure"; exit 1; }}')
        check(code != 0 and "a failure" in out and "=== count" not in out, f"{suite}: {code}: {out}")
        for n_failed, n_skipped in ((1, 0), (0, 1)):
            code, out = run_ci(test=write_logs((suite, n_failed, n_skipped)))
            check(code != 0 and f"7 tests passed, {n_failed} failed, {n_skipped} skipped" in out, f"{suite}: {code}: {out}")
    code, out = run_ci(test=write_logs(("none", 0, 0)))
    check(code == 0 and "7 tests passed, 0 failed, 0 skipped" in out, f"the control: {code}: {out}")


def run_suite(*suite, sed="exit 0", ctest="exit 0", cmake="exit 0", configured=None, **environment):
    """The exit code and output of scripts/test.sh in a tree of stubs; what sed prints is the session's nice value.
    configured: what the cache of a build for unit tests has."""
    tree = temp_path("tree")
    if configured is not None:
        stub(tree, f"build/{suite[1]}/build.ninja", "")
        write_text(os.path.join(tree, f"build/{suite[1]}/CMakeCache.txt"), configured)
    logs = f"build/{'release' if suite == ('truth',) else suite[0]}/Testing/Temporary"
    os.makedirs(os.path.join(tree, logs))
    os.makedirs(os.path.join(tree, "scripts"))
    shutil.copy(os.path.join(SOURCE_DIR, "scripts/test.sh"), os.path.join(tree, "scripts/test.sh"))
    for name, text in (("scripts/install-deps.sh", "exit 0"), ("bin/cmake", cmake), ("bin/renice", "exit 1"), ("bin/sed", sed),
                       ("bin/ctest", f"echo a test >{logs}/LastTest.log; {ctest}")):
        stub(tree, name, text)
    r = run_command([os.path.join(tree, "scripts/test.sh"), *suite], start_new_session=True,
                    env={**os.environ, **environment, "PATH": os.path.join(tree, "bin") + ":" + os.environ["PATH"]})
    return r.returncode, r.stdout + r.stderr


def test_result_of_the_truth_suite_does_not_depend_on_its_priority():
    for sed in ("exit 0", "exit 1", "echo not-a-number", "echo 0"):
        code, out = run_suite("truth", sed=sed)
        check(code == 0 and "truth, release: " in out, f"sed: {sed}: {code}: {out}")
        code, out = run_suite("truth", sed=sed, ctest="exit 8")
        check_equal(code, 8, f"tests that fail; sed: {sed}: {out}")


def test_files_of_tests_for_deep_run_with_every_test_only():
    for every, left_out in ("", "^(scripts|truth|covered|one-thread)$"), ("yes", "^(scripts|truth)$"):
        code, out = run_suite("asan", "programs", ctest='echo "$*"', EVERY_TEST=every)
        check(code == 0 and f"--label-exclude {left_out} " in out, f"EVERY_TEST={every}: {code}: {out}")


def test_suite_fails_if_its_build_fails():
    for suite in (["release"], ["truth"], ["asan", "parts"], ["tsan", "programs"]):
        code, out = run_suite(*suite, cmake='case $* in *--build*) echo "an error of the compiler"; exit 1 ;; esac')
        check(code != 0 and "an error of the compiler" in out, f"{suite}: {code}: {out}")
        code, out = run_suite(*suite)
        check_equal(code, 0, f"the control: {suite}: {out}")


def test_no_test_may_be_left_out_for_lack_of_a_library():
    cmake = ('case $* in *--build* | --install* | "--preset release-clang" | *-DTCPSCALER_ALL_TESTS=ON*) ;; '
             '*) echo "no tests: $*"; exit 1 ;; esac')
    code, out = run_ci(cmake=cmake)
    check("no tests" not in out and "=== count" in out, f"{code}: {out}")
    for suite in (["release"], ["truth"], ["asan", "parts"], ["tsan", "programs"], ["unit", "asan"]):
        code, out = run_suite(*suite, cmake=cmake)
        check_equal(code, 0, f"{suite}: {out}")
    code, out = run_suite("release", cmake=cmake.replace("ALL_TESTS=ON", "NO_TESTS=ON"))
    check_equal(code, 1, f"the control: {out}")


def test_run_without_a_test_fails():
    """With each preset, as when the tests that a script names have other names now."""
    tree = temp_path("tree")
    for name, text in (("CMakePresets.json", read_source("CMakePresets.json")),
                       ("CMakeLists.txt", "cmake_minimum_required(VERSION 3.22)\nproject(x NONE)\nenable_testing()\nadd_test(NAME a COMMAND true)\n")):
        os.makedirs(tree, exist_ok=True)
        write_text(os.path.join(tree, name), text)
    presets = [preset["name"] for preset in json.loads(read_source("CMakePresets.json"))["testPresets"]]
    check("release" in presets, f"presets: {presets}")
    for preset in presets:
        r = run_command(["cmake", "--preset", preset], cwd=tree)
        check_equal(r.returncode, 0, f"{preset}: {r.stderr}")
        for name, succeeds in (("^a$", True), ("^b$", False)):  # the first is the control
            r = run_command(["ctest", "--preset", preset, "--tests-regex", name], cwd=tree)
            check_equal(r.returncode == 0, succeeds, f"{preset}, {name}: {r.stdout}{r.stderr}")
    for path, run in ("debian/rules", "dh_auto_test "), ("packaging/tcpscaler.spec", "%ctest "):
        check_equal(["--no-tests=error" in line for line in read_source(path).splitlines() if run in line], [True], path)
    paths = [*glob.glob(os.path.join(SOURCE_DIR, "tests/packaging/*")), os.path.join(SOURCE_DIR, "tests/covered")]
    without_presets = {path: text for path, text in zip(paths, map(read_text, paths)) if " ctest " in text}
    check(len(without_presets) > 3, f"{without_presets.keys()}")
    for path, text in without_presets.items():
        check_equal([line for line in text.splitlines() if " ctest " in line and " ctest --no-tests=error " not in line], [], path)
        check(" -DTCPSCALER_ALL_TESTS=ON" in text, f"{path}: tests may be left out for lack of a library")


def test_unit_tests_are_configured_anew_if_some_may_have_been_left_out():
    for configured, anew in (("", True), ("TCPSCALER_ALL_TESTS:BOOL=OFF\n", True), ("A:BOOL=ON\nTCPSCALER_ALL_TESTS:BOOL=ON\n", False)):
        code, out = run_suite("unit", "asan", cmake='echo "cmake $*" >&2', configured=configured)
        check_equal((code, "cmake --preset asan -DTCPSCALER_ALL_TESTS=ON\n" in out), (0, anew), f"{configured!r}: {out}")
        check("cmake --build --preset asan --target unit_tests -- -k 20\n" in out, f"{configured!r}: {out}")
        code, out = run_suite("unit", "asan", cmake='case $* in *--build*) ;; *) exit 1 ;; esac', configured=configured)
        check_equal(code, int(anew), f"configuring fails; {configured!r}: {out}")


def run_file_of_tests(name, text, part="1/1"):
    """The exit code and output of a file with these tests."""
    path = temp_path(name)
    write_text(path, f"from helpers.harness import *\n{text}\nmain(own_network=False)\n")
    r = run_command([sys.executable, path], env={**os.environ, "PYTHONPATH": os.path.join(SOURCE_DIR, "tests/e2e"),
                                                 "TCPSCALER_SUITE": "", "TCPSCALER_PART": part})
    return r.returncode, r.stdout


def test_file_of_tests_is_skipped_only_if_a_test_says_so():
    for name, text, part, want in (
            ("passes.py", "def test_a(): pass", "1/1", 0),
            ("empty.py", "def test_a(): pass", "2/2", 0),
            ("skips.py", "def test_a(): skip('a reason')", "1/1", 77),
            ("skips_one.py", "def test_a(): skip('a reason')\ndef test_b(): pass", "1/1", 0),
            ("fails.py", "def test_a(): skip('a reason')\ndef test_b(): check(False, 'a failure')", "1/1", 1)):
        code, out = run_file_of_tests(name, text, part)
        check_equal(code, want, f"{name}: {out}")
        check_equal(out.count("SKIP test_a: a reason\n"), text.count("skip("), f"{name}: {out}")


def run_deep(*arguments, fleet="exit 0"):
    """The exit code, output and tree of tests/deep in a tree of stubs, all of which succeed, except that tests/fleet/run does
    this."""
    tree = temp_path("tree")
    for name in ("scripts/install-deps.sh", "bin/cmake", "bin/ctest", *sum(map(programs_in, deep_checks().values()), [])):
        stub(tree, name, "exit 0")
    stub(tree, "tests/fleet/run", fleet)
    shutil.copy(os.path.join(SOURCE_DIR, "tests/deep"), os.path.join(tree, "tests/deep"))
    r = run_command([os.path.join(tree, "tests/deep"), *arguments],
                    env={**os.environ, "PATH": os.path.join(tree, "bin") + ":" + os.environ["PATH"]})
    return r.returncode, r.stdout, tree


def deep_checks():
    """Name to command."""
    r = run_command([os.path.join(SOURCE_DIR, "tests/deep"), "--list"])
    return dict(line.split(None, 1) for line in r.stdout.splitlines())


def programs_in(command):
    """The programs of the repository that a command runs."""
    return re.findall(r"(?:^| )((?:tests|scripts|bench|build/release/tests)/\S+)", command)


def test_deep_checks_go_on_after_a_failure():
    names = list(deep_checks())
    code, out, tree = run_deep(fleet="echo a loss; exit 3")
    check_equal([line.split(":")[0] for line in out.splitlines()], names, "all ran")
    check(code == 1 and "fleet: failed (exit code 3, see build/deep/fleet.log)" in out, f"{code}: {out}")
    check_equal(read_text(os.path.join(tree, "build/deep/fleet.log")), "a loss\n", "what it printed")
    check_equal(out.count(": ok, "), len(names) - 1, out)
    code, out, _ = run_deep("torture", "fleet")  # the control
    check_equal((code, re.findall(r"^\w+: ok", out, re.M)), (0, ["torture: ok", "fleet: ok"]), out)


def test_deep_runs_programs_that_exist():
    for name, command in deep_checks().items():
        programs = programs_in(command)
        check(programs or " ctest " in command, f"{name}: {command}")
        for program in programs:
            check(os.access(os.path.join(SOURCE_DIR, program), os.X_OK), f"{name}: {program}")


def test_deep_refuses_unknown_checks():
    for name in ("fleets", ".*", "--help"):
        code, out, tree = run_deep("fleet", name)
        check_equal((code, out, os.path.exists(os.path.join(tree, "build/deep"))), (2, "", False), name)


def run_coverage(*lines, ctest="exit 0"):
    """scripts/coverage.sh with stubs, of which gcovr prints these lines, and with the headers of this tree."""
    tree = temp_path("tree")
    os.makedirs(os.path.join(tree, "build/coverage"))
    os.symlink(os.path.join(SOURCE_DIR, "include"), os.path.join(tree, "include"))
    for name, text in (("scripts/install-deps.sh", "exit 0"), ("bin/cmake", "exit 0"), ("bin/ctest", ctest),
                       ("bin/gcovr", f"printf '%s\\n' {shlex.join(lines)}")):
        stub(tree, name, text)
    shutil.copy(os.path.join(SOURCE_DIR, "scripts/coverage.sh"), os.path.join(tree, "scripts/coverage.sh"))
    return run_command([os.path.join(tree, "scripts/coverage.sh")],
                       env={**os.environ, "PATH": os.path.join(tree, "bin") + ":" + os.environ["PATH"]})


def test_coverage_fails_with_one_if_a_test_fails():
    for ctest, code in (("exit 8", 1), ("exit 0", 0)):
        r = run_coverage("src/base/units.c 10 10 100%", ctest=ctest)
        check_equal((r.returncode, "1 pure parts" in r.stdout), (code, code == 0), f"ctest: {ctest}: {r.stdout}{r.stderr}")


def test_coverage_leaves_out_what_it_disturbs():
    """All parts of these files, in both suites, and no others."""
    said = run_command(["ctest", "--test-dir", os.path.dirname(os.path.abspath(TCPCLIENT)), "-N"]).stdout
    names = re.findall(r"^ +Test +#\d+: (\S+)$", said, re.M)
    pattern = re.search(r"^disturbed='(.*)'$", read_source("scripts", "coverage.sh"), re.M)[1]
    left_out = {name for name in names if re.search(pattern, name)}
    for file in "package", "memory", "scale", "wire_truth", "truth", "nightly", "security":
        of_file = {name for name in names if re.fullmatch(rf"(e2e|truth)/{file}(/\d+)?", name)}
        check(of_file and of_file <= left_out, f"tests of {file}: {of_file}, left out {left_out}")
        left_out -= of_file
    check_equal(left_out, set(), "others that are left out")


def test_coverage_is_higher_of_parts_that_make_no_system_calls():
    """Those are the parts whose header says so, and the rooms whose other files only print."""
    for part, is_pure in (("client/search/search", True), ("host/preflight_memory", True), ("report/html_cost", True),
                          ("base/outputs", False), ("client/run", False)):
        r = run_coverage("src/base/units.c 1000 1000 100%", f"src/{part}.c 100 89 89%")
        check_equal((r.returncode, f"less than 90 %: {part}\n" in r.stdout), (int(is_pure), is_pure), f"{part}: {r.stdout}{r.stderr}")


def run_covered(n_only, ctest="exit 0", n_others=100):
    """The exit code and last line of tests/covered with stubs: the tests that are left out run n_only lines more."""
    tree = temp_path("tree")
    stub(tree, "bin/cmake", "mkdir -p build/covered-asan")
    stub(tree, "bin/ctest", f"""counts=$(dirname "$LLVM_PROFILE_FILE"); : >"$counts/x.profraw"
        echo $(({n_others} + ${{EVERY_TEST:+{n_only} + }} 0)) >"$counts/lines"; {ctest}""")
    stub(tree, "bin/llvm-profdata", "exit 0")
    stub(tree, "bin/llvm-cov", 'echo "SF:$PWD/src/a.c"; echo "DA:7,0"; seq -f "DA:1%.0f,2" "$(cat "$(dirname "$4")/lines")"')
    os.makedirs(os.path.join(tree, "tests"))
    shutil.copy(os.path.join(SOURCE_DIR, "tests/covered"), os.path.join(tree, "tests/covered"))
    r = run_command([os.path.join(tree, "tests/covered"), "asan"],
                    env={**os.environ, "EVERY_TEST": "yes", "PATH": os.path.join(tree, "bin") + ":" + os.environ["PATH"]})
    return r.returncode, r.stdout.splitlines()[-1]


def test_lines_that_only_tests_left_out_run_are_counted():
    said = "asan: {} lines, of which only tests that are left out run {}"
    for arguments, code, lines in (({"n_only": 100}, 0, (200, 100)), ({"n_only": 101}, 1, (201, 101)),
                                   ({"n_only": 0, "ctest": "exit 8"}, 1, (100, 0)), ({"n_only": 0, "n_others": 0}, 1, (0, 0))):
        check_equal(run_covered(**arguments), (code, said.format(*lines)), f"{arguments}")


# --- scripts/install-deps.sh ---

CLANG = "[ $1 = madison ] || { printf 'clang\\n  Depends: clang-%s\\n  Breaks: clang-3.2\\n'; exit; }"


def install_deps(kind, **stubs):
    """Its exit code and output with these programs and the tools it needs, but no other."""
    directory = temp_path("bin")
    for tool in ("sh", "sed", "grep", "head", "dirname", "env", "tr", "cat"):
        os.makedirs(directory, exist_ok=True)
        os.symlink(shutil.which(tool), os.path.join(directory, tool))
    for name, text in {"id": "echo 0", "tee": "cat >/dev/null", "chmod": "exit 0", "rm": "exit 0", "python3": "exit 0", **stubs}.items():
        stub(directory, name.replace("_", "-"), text)
    r = run_command([os.path.join(SOURCE_DIR, "scripts/install-deps.sh"), kind], env={"PATH": directory, "PYTHON": "python3"})
    return r.returncode, r.stdout + r.stderr


def test_packages_match_the_clang_of_the_system():
    for version, names, wanted in ((19, ".", "libclang-rt-19-dev"), (14, "^libclang-rt", "libclang-common-14-dev")):
        known = f"{CLANG % version}\necho $2 | grep -v '{names}' || [ '{names}' != . ] || echo $2"
        code, said = install_deps("ci", apt_cache=known, dpkg_query="exit 1", apt_get='echo "$@"')
        check(code == 0 and wanted in said, f"{wanted}: {code}: {said}")
        check(len(re.findall("libclang-(?:rt|common)", said)) == 1, f"one of both: {said}")


def test_an_error_names_the_package():
    code, said = install_deps("demo", apt_cache='[ "$2" = gnuplot-nox ] || echo $2', dpkg_query="exit 1", apt_get="exit 0")
    check(code == 1 and re.search(r"no such package in .*: gnuplot-nox$", said), f"unknown: {code}: {said}")
    code, said = install_deps("demo", apt_cache="echo $2", dpkg_query='[ "$4" = gawk ] || echo install ok installed',
                              apt_get="exit 100")
    check((code, said.splitlines()[-1].endswith("apt-get cannot install: gawk")) == (1, True), f"refused: {code}: {said}")
    code, said = install_deps("demo", apt_cache="exit 1", dpkg_query="echo install ok installed")
    check(code == 1 and "please install: gcc" in said, f"neither apt nor dnf: {code}: {said}")


def test_pip_of_the_oldest_system_installs_hdrhistogram():
    """Ubuntu 22.04 has pip 22.0."""
    pip_22_0 = """case $* in
        *root-user-action*) echo no such option: --root-user-action; exit 2 ;;
        *"pip install "*) echo "$PIP_ROOT_USER_ACTION, $*" ;;
        *) exit 1 ;; # not installed yet
        esac"""
    code, said = install_deps("test", dpkg_query="echo install ok installed", apt_get="exit 100", python3=pip_22_0)
    check(code == 0 and said.startswith("ignore, -m pip install ") and "hdrhistogram==" in said, f"{code}: {said}")


def test_fedora_gets_what_the_build_needs_and_is_told_what_is_missing():
    code, said = install_deps("demo", rpm='[ "$4" = gcc ]', dnf='echo "$@"')
    check(code == 0 and "install -y -q glibc-devel" in said and "gnuplot" in said and "libc6-dev" not in said, f"{code}: {said}")
    code, said = install_deps("build", rpm="exit 1", dnf="exit 1")
    check(code == 1 and "dnf cannot install: gcc" in said, f"{code}: {said}")
    code, said = install_deps("test", rpm="exit 1", dnf="exit 1")
    check(code == 1 and "libcmocka-devel" in said, f"{code}: {said}")


if __name__ == "__main__":
    main()
