# SPDX-License-Identifier: MIT
"""The first minutes: demo.sh on a noisy machine, with fake programs, to check how it reports their results; and what
CMake says on another system."""

from helpers.harness import *

FAKES = {
    "tcpserver": "#!/bin/sh\necho 'tcpserver: listening on [::]:4242, 2 threads' >&2\nexec sleep 3600\n",
    "tcpclient": """#!/bin/sh
while [ $# -gt 1 ]; do
    case $1 in
    --json) printf '{\\n  "reasons": [\\n    %s\\n  ],\\n  "live": 1}\\n' "$REASONS" >"$2" ;;
    -o) echo status >"$2" ;;
    esac
    shift
done
[ -z "$SIGNAL" ] || kill -"$SIGNAL" "$PPID"
exit "$CODE"
""",
    "gnuplot": """#!/bin/sh
for script; do :; done
[ -e "$script" ] || { echo "no $script" >&2; exit 1; }
eval "$3" && [ -s "$rows" ] || { echo "no rows: $3" >&2; exit 1; }
[ "${GNUTERM-unknown}" = unknown ] || { echo 'no such terminal' >&2; exit 1; }
""",
}


def demo(code, *reasons, number="", terminal="unknown"):
    """Its exit code and output, as installed: next to no source tree; run through a link; the shell of the user has CDPATH,
    and the directory of temporary files a name that takes quotes.
    number: of a signal that it gets. terminal: $GNUTERM."""
    directory = temp_directory()
    files = os.path.join(directory, "one's own (1)")
    os.mkdir(files)
    for name, text in FAKES.items():
        write_program(os.path.join(directory, name), text)
    for name in ("demo.sh", "plot-rtt.gp"):
        shutil.copy(os.path.join(SOURCE_DIR, "scripts", name), directory)
    environment = {**os.environ, "PATH": f"{directory}:{os.environ['PATH']}", "TMPDIR": files, "CODE": str(code),
                   "CDPATH": os.path.dirname(directory), "GNUTERM": terminal, "SIGNAL": str(number), "REASONS": ", ".join(f'"{reason}"' for reason in reasons)}
    link = temp_path("demo")
    os.symlink(os.path.join(directory, "demo.sh"), link)
    r = run_command(["sh", "demo"], cwd=os.path.dirname(link), env=environment)
    return r.returncode, r.stdout + r.stderr


def test_a_noisy_machine_is_reported_in_one_line_and_is_no_failure():
    need_program("gawk")
    code, text = demo(3, "generator-limited", "host-noise")
    check_equal(code, 0, f"exit code: {text}")
    check_equal(len(re.findall("^SUSPECT: .*$", text, re.M)), 1, f"lines about it: {text}")
    code, text = demo(0)
    check_equal((code, "SUSPECT" in text), (0, False), f"a quiet machine: {text}")


def test_failures_are_not_taken_for_noise():
    need_program("gawk")
    for code, reasons in ((3, ["host-noise", "connections-short"]), (3, []), (1, []), (2, [])):
        check_equal(demo(code, *reasons)[0], code, f"exit code with {reasons}")


def test_signal_ends_the_demo():
    need_program("gawk")
    code, text = demo(0, number=signal.SIGTERM.value)
    check_equal(code, 143, f"exit code: {text}")
    check("listening" not in text, f"it went on: {text}")
    check("listening" in demo(0)[1], "the control: what the server says comes in the end")


def test_terminal_that_gnuplot_lacks_does_not_end_the_demo():
    need_program("gawk")
    for terminal in ("x11", ""):
        code, text = demo(0, terminal=terminal)
        check_equal(code, 0, f"exit code with GNUTERM={terminal!r}: {text}")


def test_plot_works_in_any_locale_with_any_file_name():
    need_program("gawk")
    script = os.path.join(SOURCE_DIR, "scripts", "plot-rtt.gp")
    commands = re.findall(r'^(\w+) = "< (.*)" \. rows \. "(.*)"$', read_text(script).replace(r'\"', '"'), re.M)
    check_equal([name for name, _, _ in commands], ["answers", "sorted"], "what it reads")
    rows = os.path.join(temp_directory(), "my $rows; (1).csv")
    with open(rows, "w") as f:
        f.writelines(f"A,1,0,1,,,,{response_us},0\n" for response_us in ("3.123", "100.1", "12.5"))
    for (name, before, after), want in zip(commands, (["3.123", "100.1", "12.5"], ["3.123", "12.5", "100.1", "100.1"])):
        r = run_command(["sh", "-c", before + rows + after], env=german())
        check_equal([line.split(",")[1] for line in r.stdout.split()], want, f"{name}; {r.stderr}")


def test_plot_labels_times_with_their_units():
    need_program("gawk")
    need_program("gnuplot")
    rows, picture, plot = temp_path("rows.csv"), temp_path("rtt.svg"), temp_path("rtt.gp")
    script = read_source("scripts", "plot-rtt.gp")
    check("set terminal pngcairo" in script, "the terminal")
    write_text(plot, re.sub("set terminal .*", "set terminal svg", script))
    with open(rows, "w") as f:
        f.writelines(f"A,{i},0,{i},,,,{response_us},0\n" for i, response_us in enumerate((12, 450, 900_000)))
    r = run_command(["gnuplot", "-d", "-e", f"rows='{rows}'; picture='{picture}'", plot])
    labels = [label.strip() for label in re.findall(r"<text><tspan[^>]*>([^<]*)</tspan></text>", read_text(picture))]
    for label in ("10 us", "100 us", "1 ms", "10 ms", "100 ms", "1 s"):
        check_equal(labels.count(label), 2, f"{label} in {labels}; {r.stderr}")


def test_plot_of_rows_without_answers_says_so_and_leaves_no_picture():
    need_program("gawk")
    need_program("gnuplot")
    picture = temp_path("rtt.png")
    rows = write_text(temp_path("rows.csv"), "Q,1,0,1,0,80,,,1.000\n")
    r = run_command(["gnuplot", "-d", "-e", f"rows='{rows}'; picture='{picture}'", os.path.join(SOURCE_DIR, "scripts", "plot-rtt.gp")])
    check(r.returncode != 0 and f"no answers in {rows}" in r.stderr, f"{r.returncode}: {r.stderr}")
    check(not os.path.exists(picture), "a picture of nothing")


def test_cmake_says_that_only_linux_is_supported():
    need_program("cmake")
    r = run_command(["cmake", "-S", SOURCE_DIR, "-B", temp_path("build"), "-DCMAKE_SYSTEM_NAME=FreeBSD"])
    check(r.returncode != 0 and "Linux only, not for FreeBSD" in " ".join(r.stderr.split()), f"{r.returncode}: {r.stderr}")


def test_cmake_says_that_only_64_bit_cpus_are_supported():
    need_program("cmake")
    after_project = write_text(temp_path("32-bit.cmake"), "set(CMAKE_SIZEOF_VOID_P 4)\n")
    r = run_command(["cmake", "-S", SOURCE_DIR, "-B", temp_path("build"), f"-DCMAKE_PROJECT_tcpscaler_INCLUDE={after_project}"])
    check(r.returncode != 0 and "64-bit CPUs only" in " ".join(r.stderr.split()), f"{r.returncode}: {r.stderr}")


def test_cmake_leaves_out_what_lacks_a_library_unless_every_test_is_wanted():
    need_program("cmake")
    pkg_config = temp_path("pkg-config")
    write_program(pkg_config, '#!/bin/sh\ncase "$*" in *cmocka* | *json-c*) exit 1 ;; esac\nexec pkg-config "$@"\n')
    configure = ["cmake", "-S", SOURCE_DIR, "-B", temp_path("build"), "-DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON",
                 f"-DPKG_CONFIG_EXECUTABLE={pkg_config}"]
    for wanted in ("ON", "OFF"):
        r = run_command([*configure, f"-DTCPSCALER_ALL_TESTS={wanted}"])
        check_equal(r.returncode != 0, wanted == "ON", f"{wanted}: {r.stderr}")
        for lack in ("no tcpreport: it needs", "zlib: not found", "cmocka: not found"):
            check(lack in " ".join((r.stderr if wanted == "ON" else r.stdout).split()), f"{wanted}: {lack}: {r.stdout}{r.stderr}")


if __name__ == "__main__":
    main()
