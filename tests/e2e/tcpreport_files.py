# SPDX-License-Identifier: MIT
"""The files and command lines of tcpreport: what it cannot use is refused with one line, and no input is overwritten or
counted twice."""

import fcntl

from helpers.reports import *


@covered_by_others
def test_bad_files_get_one_line_with_their_name():
    directory = temp_directory()
    runs_of(directory, ["-r", 500, "-t", 1], ["-r", 400, "-t", 1])

    def written(name, text):
        path = f"{directory}/{name}"
        with open(path, "wb") as f:
            f.write(text)
        return path

    def cut_off(name):
        """Cuts a file off in its last line, after the columns of a log: elsewhere it would be a shorter file or another error."""
        with open(f"{directory}/{name}", "rb") as f:
            return written(f"cut.{name}", f.read()[:-9])

    with open(f"{directory}/0.hlog") as f:
        tag = next(line for line in f if line.startswith("Tag="))

    cases = [(f"{directory}/nothing", "cannot read"), (written("tag.hlog", tag[:6].encode()), "truncated"), (directory, "cannot read"),
             (written("empty", b""), "empty"), (written("foreign", b"hello\n"), "unknown format"),
             (written("zeros", bytes(1000)), "unknown format"),
             (written("server.json", b'{"schema": 1, "program": "tcpserver"}'), "a result of tcpserver"),
             (written("new.json", b'{"schema": 2, "program": "tcpclient"}'), "schema 2"),
             (cut_off("0.json"), "truncated"), (cut_off("0.hlog"), "truncated"), (cut_off("0.csv"), "truncated"),
             (written("wrong.csv", b"type,timestamp,connection_id,query_id,poisson_id,poisson_interval_us,"
                      b"rtt_us,response_us,send_lag_us\nQ,1.0,0,0,0,0,,,1.000\nQ,1.0\n"), "line 3")]
    for path, text in cases:
        r = report("merge", path, code=2)
        check_equal((r.stdout, len(r.stderr.splitlines())), ("", 1), f"output for {path}: {r.stderr}")
        check(path in r.stderr and text in r.stderr, f"{text!r} in {r.stderr}")
    shutil.copy(f"{directory}/1.hlog", f"{directory}/mixed.hlog")
    shutil.copy(f"{directory}/0.json", f"{directory}/mixed.json")
    r = report("merge", f"{directory}/mixed.json", f"{directory}/mixed.hlog", code=2)
    check("from different runs" in r.stderr, r.stderr)
    shutil.copy(f"{directory}/0.hlog", f"{directory}/mixed.hlog")
    response = read_json(f"{directory}/0.json")["latency_ns"]["response"]
    change(f"{directory}/mixed.json", latency_ns={"response": {**response, "max": 4_000_000_000}})
    r = report("merge", f"{directory}/mixed.json", f"{directory}/mixed.hlog", code=2)
    check(re.search(r"mixed: response is from .* in the log or rows, from .* to 4\.00 s in the result: they are from different runs\n$", r.stderr), r.stderr)
    with open(f"{directory}/0.hlog") as f:
        head = "".join(line for line in f if line[0] in "#\"")
    written("headless.hlog", head.encode())
    shutil.copy(f"{directory}/0.json", f"{directory}/headless.json")
    r = report("merge", f"{directory}/headless.json", f"{directory}/headless.hlog", code=2)
    check("have 0 values of response" in r.stderr, r.stderr)


@plain_build_only
def test_memory_that_runs_out_is_named():
    """Under each limit with which tcpreport starts, but cannot show the run."""
    directory, said = temp_directory(), []
    runs_of(directory, ["-r", 100, "-t", 0.3])
    for kib in range(4000, 40000, 500):
        r = run_command(["sh", "-c", f'ulimit -v {kib}; exec "$@"', "sh", TCPREPORT, "show", f"{directory}/0.json"])
        if r.returncode == 0:
            break
        said += [line for line in r.stderr.splitlines() if line.startswith("tcpreport: ")]
    check_equal(r.returncode, 0, f"exit code under the highest limit: {r.stderr}")
    check(said and all("out of memory" in line for line in said), f"{said}")


@covered_by_others
def test_files_edited_on_windows_are_read():
    """With a byte order mark, and CR LF at the end of each line."""
    before, after = (temp_directory() for _ in range(2))
    names = ("run.json", "run.csv", "run.hlog", "connections.csv")
    with Server() as server:
        run_client("-p", server.port, "-c", 5, "-r", 500, "-t", 1, "--json", f"{before}/run.json", "--output", f"{before}/run.csv",
                   "--hlog", f"{before}/run.hlog", "--connections-out", f"{before}/connections.csv", "127.0.0.1")
    for name in names:
        with open(f"{before}/{name}", "rb") as source, open(f"{after}/{name}", "wb") as edited:
            edited.write(b"\xef\xbb\xbf" + source.read().replace(b"\n", b"\r\n"))
    for files in (names[0:1], names[0:2], (names[0], names[2])):
        same, shown = (report("show", *(f"{directory}/{name}" for name in files)).stdout.replace(directory, "")
                       for directory in (before, after))
        check_equal(shown, same, f"{files}")
    text, edited = (report("html", f"{directory}/run.json", f"{directory}/connections.csv", code=None)
                    for directory in (before, after))
    check_equal((edited.returncode, edited.stderr.replace(after, "")), (text.returncode, text.stderr.replace(before, "")), "connections")


def test_sampled_rows_are_refused_as_a_log():
    directory = temp_directory()
    runs_of(directory, ["-r", 500, "-t", 1, "--sample", "1/2"])
    r = report("show", f"{directory}/0.json", f"{directory}/0.csv", code=2)
    check("the rows are a sample (--sample)" in r.stderr and len(r.stderr.splitlines()) == 1, r.stderr)
    report("show", f"{directory}/0.json", f"{directory}/0.hlog")


def test_a_file_without_rows_is_not_taken_for_one_of_messages():
    rows = write_text(temp_path("none.csv"),
                      "type,timestamp,connection_id,query_id,poisson_id,poisson_interval_us,rtt_us,response_us,send_lag_us\n")
    r = run_command([TCPREPORT, "show", rows])
    check_equal((r.returncode, r.stderr), (0, ""), "exit code and stderr")
    check_equal(r.stdout, f"{rows[:-4]}: no result (--json): counts and verdict are unknown\n  no rows\n", "stdout")


def test_command_line_is_checked():
    for arguments, text in (([], "missing COMMAND"), (["merg"], "unknown command 'merg': expected show|merge|"),
                            (["merge"], "missing FILE"), (["merge", "--jso"], "--json"),
                            (["merge", "--nonsense", "x"], "unknown"),
                            (["compare", "x", "y"], "missing -- between"), (["compare", "x", "--"], "missing FILE"),
                            (["compare", "--", "x"], "missing FILE"),
                            (["show", "--", "--watch"], "--watch: cannot read: No such file or directory: options must precede --\n"),
                            (["show", "-"], "-: cannot read: No such file or directory\n"),
                            (["compare", "--min-runs", "0", "x", "--", "x"], "--min-runs")):
        r = report(*arguments, code=2)
        check(text in r.stderr and len(r.stderr.splitlines()) == 1, f"{text!r} in {r.stderr}")
    check("merge" in report("--help").stdout, "commands in --help")
    check(report("--version").stdout.startswith("tcpreport "), "version")


def named(*names):
    """These files, in a directory of their own; their content is never read."""
    directory = os.path.join(temp_directory(), f"inputs{len(names)}{names[0]}")
    os.makedirs(directory, exist_ok=True)
    paths = [f"{directory}/{name}" for name in names]
    for path in paths:
        write_text(path, path)
    return paths


def test_outputs_never_overwrite_inputs():
    a, b, png, temporary = paths = named("a.json", "b.json", "c.png", "d.json.tmp")
    link, other_name = f"{os.path.dirname(a)}/link", f"{os.path.dirname(a)}/./b.json"
    os.symlink(a, link)
    os.link(b, hard := f"{os.path.dirname(a)}/hard")
    for arguments, name in ((["compare", "--json", a, a, "--", b], a), (["compare", "--json", b, a, "--", b], b),
                            (["compare", "--nights", "--json", other_name, a, "--", b], other_name),
                            (["compare", "--json", link, a, "--", b], link),
                            (["compare", "--json", temporary[:-4], a, "--", temporary], temporary[:-4]),
                            (["merge", "--json", hard, a, b], hard), (["merge", "--hlog", a, a, b], a),
                            (["plot", "-o", png, png, a], png),
                            (["html", "-o", a, a], a), (["html", "-o", b, a, "--", b], b),
                            (["html", "-o", b, "--watch", b, a], b)):
        r = report(*arguments, code=2)
        option = next(word.lstrip("-") for word in arguments if word in ("--json", "--hlog", "-o"))
        option = "output" if option == "o" else option
        check_equal((r.stdout, r.stderr), ("", f"tcpreport: --{option}: '{name}' is one of the input files\n"), arguments)
    for path in paths:
        check_equal(read_text(path), path, "the input is as it was")


def test_nothing_is_written_to_a_file_that_cannot_be_emptied():
    directory = temp_directory()
    runs_of(directory, ["-r", 500, "-t", 1])
    run = [f"{directory}/0.{ending}" for ending in ("json", "hlog")]
    for option in ("json", "hlog"):
        fd = os.memfd_create("sealed", os.MFD_ALLOW_SEALING)
        os.write(fd, b"old")
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK)
        name, other = f"/proc/{os.getpid()}/fd/{fd}", temp_path("other")
        r = report("merge", f"--{option}", name, "--hlog" if option == "json" else "--json", other, *run, code=3)
        check_equal(r.stderr, f"tcpreport: --{option}: cannot write '{name}': Operation not permitted\n", "stderr")
        check_equal(os.pread(fd, 10, 0), b"old", "what it had")
        check(os.path.getsize(other) > 100, "the other file is written")
        os.close(fd)


def test_no_input_counts_twice():
    a, b, csv, bare = named("a.json", "b.json", "conn.csv", "conn")
    link = f"{os.path.dirname(a)}/again.json"
    os.symlink(a, link)
    for arguments, name in ((["merge", a, b, a], a), (["merge", "--json", "-", a, link], link),
                            (["compare", a, link, "--", b], link), (["compare", b, "--", a, link], link),
                            (["html", "-o", "-", a, link], link), (["plot", "--term", csv, csv], csv)):
        r = report(*arguments, code=2)
        check(r.stderr.endswith("are the same file: expected each file once\n") and f"'{name}'" in r.stderr, r.stderr)
        check_equal((r.stdout, len(r.stderr.splitlines())), ("", 1), arguments)
    for path in (csv, bare):
        write_text(path, "connection_id,source,established_s\n0,127.0.0.1:1,0.5\n")
    r = report("plot", "--kind", "connect", "--term", csv, bare, code=2)
    check_equal(r.stderr, f"tcpreport: {bare}: '{bare}' already has connections\n", "two files of one run")


if __name__ == "__main__":
    main()
