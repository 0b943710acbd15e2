# SPDX-License-Identifier: MIT
"""Unanswered queries count as slower than every answer, for whatever reason and wherever the percentile is read: summary,
JSON, .hlog and .hgrm (with HdrHistogram's libraries for Python and Java), metrics, rows, tcpreport. The expected values
are computed here, from the rows of the answers and the counts."""

import importlib
import math
import urllib.request

from helpers.faults import *
from helpers.hdr_java import *
from helpers.ranks import *

BEYOND_NS = 4398046511103  # where HdrHistogram's files count them
PERCENTILES = {"p50": 50, "p90": 90, "p99": 99}


def hdrh():
    """HdrHistogram for Python, from PyPI (scripts/install-deps.sh test)."""
    sys.path.insert(0, os.path.join(SOURCE_DIR, "build/python"))
    try:
        return importlib.import_module("hdrh.histogram"), importlib.import_module("hdrh.log")
    except ImportError:
        skip("hdrhistogram of PyPI is missing (scripts/install-deps.sh test)")


class Truth:
    """The samples of one metric: the values in ns, and the number of all samples."""

    def __init__(self, values, n):
        self.values, self.n = sorted(values), n

    def percentile(self, name):
        return at_rank(self.values, PERCENTILES[name] / 100, self.n)

    def check(self, what, got, neighbours=0):
        """{percentile: ns or inf}.  Some readers are off by a rank."""
        for name, value in got.items():
            near = [at_rank(self.values, PERCENTILES[name] / 100, self.n + d) for d in range(-neighbours, neighbours + 1)]
            check(any(value == right or abs(value - right) <= right / 500 for right in near),
                  f"{what}: {name} is {value}, expected {near}; {len(self.values)} of {self.n} have a value")


class Run:
    """A client's result with all its files, in a directory of its own."""

    def __init__(self, client, directory):
        self.result = client.wait()
        check_conservation(self.result)
        self.json, self.directory = self.result.json, directory
        shutil.copy(client.json_path, self.path("json"))
        rows = read_rows(self.path("csv"))
        answers = [row for row in rows if row["type"] == "A"]
        q = self.json["queries"]
        check_equal(len(answers), q["answered"], "rows of answers")
        response = [round(float(row["response_us"]) * 1000) for row in answers]
        service = [round((float(row["response_us"]) - float(row["send_lag_us"])) * 1000) for row in answers]
        self.truth = {"response": Truth(response, q["scheduled"]), "service": Truth(service, q["sent"])}
        self.sent_truth = Truth(response, q["sent"])

    def path(self, ending):
        return f"{self.directory}/run.{ending}"


def files_of(directory):
    return ["-o", f"{directory}/run.csv", "--raw-full", "block", "--hlog", f"{directory}/run.hlog", "--hgrm", f"{directory}/run.hgrm"]


def run_until_the_server_dies():
    """Of the first 1,000 queries or so one in 25 has no answer; then the server is gone."""
    directory, server = temp_directory(), FaultServer("--drop-every", 25)
    client = Client("-p", server.port, "-c", 20, "-r", 400, "-t", 4, "--timeout", "300ms", "--stats-interval",
                    "200ms", *files_of(directory), "127.0.0.1")
    wait_until_prints(client, r"running 3\.[4-9]")
    server.process.kill()
    return Run(client, directory)


def run_cut_short():
    """The server is stopped when the run ends, and the run does not wait for answers."""
    directory, server = temp_directory(), Server()
    client = Client("-p", server.port, "-c", 20, "-r", 400, "-t", 4, "--drain", 0, "--stats-interval", "200ms",
                    *files_of(directory), "127.0.0.1")
    wait_until_prints(client, r"running 3\.[3-9]")
    suspend(server.process)
    run = Run(client, directory)
    server.process.kill()
    return run


def finite(value_ns):
    return math.inf if value_ns == BEYOND_NS else value_ns


def percentiles_by_python(path):
    """{metric: {percentile: ns}} and {metric: count}."""
    histogram, log = hdrh()
    sums = {}
    reader = log.HistogramLogReader(path, histogram.HdrHistogram(1, 3600 * 10**9, 3))
    while (interval := reader.get_next_interval_histogram()) is not None:
        name = interval.get_tag() or "response"
        sums.setdefault(name, histogram.HdrHistogram(1, 3600 * 10**9, 3)).add(interval)
    return ({name: {p: finite(h.get_value_at_percentile(q)) for p, q in PERCENTILES.items()}
             for name, h in sums.items()}, {name: h.get_total_count() for name, h in sums.items()})


def percentiles_by_java(path, tag):
    totals = totals_by_java(path, tag)
    return {p: finite(int(float(totals[f"Total_{q}%"]))) for p, q in PERCENTILES.items()}, int(totals["Total_Count"])


def percentiles_of_hgrm(path):
    """As a plotter reads it: the first line at or above the percentile."""
    with open(path) as f:
        lines = [line.split() for line in f if re.match(r" *\d", line)]
    points = [(float(quantile), round(float(us) * 1000), int(n)) for us, quantile, n, *_ in lines]
    return points[-1][2], {p: finite(next(ns for quantile, ns, _ in points if quantile >= q / 100 - 1e-9))
                           for p, q in PERCENTILES.items()}


def duration_ns(text):
    """12.3 us; >300 ms and >timeout are infinity."""
    if text.startswith(">"):
        return math.inf
    value, unit = text.split()
    return float(value) * {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[unit]


def percentiles_of_table(text, name):
    line = next(line for line in text.splitlines() if line.startswith(name + " "))
    columns = re.findall(r">?[\d.]+ [num]?s\b|>timeout|-", line[len(name):])
    return {p: duration_ns(columns[i]) for i, p in enumerate(PERCENTILES, 1)}


def check_rounded(truth, what, got):
    """Texts have three digits."""
    for p, value in got.items():
        right = truth.percentile(p)
        check(value == right or abs(value - right) <= right / 100, f"{what}: {p} is {value}, expected {right}")


def percentiles_of_json(metric):
    return {p: math.inf if metric[p] == "beyond" else metric[p] for p in PERCENTILES}


def show(*files):
    r = run_command([TCPREPORT, "show", *files])
    check_equal(r.returncode, 0, r.stderr)
    return r.stdout


def check_json_and_summary(run):
    latency = run.json["latency_ns"]
    for name, truth in run.truth.items():
        truth.check(f"JSON, {name}", percentiles_of_json(latency[name]))
        check_equal(latency[name]["over"], truth.n - len(truth.values), f"JSON, {name}: unanswered")
        check_equal(latency[name]["max"], truth.values[-1], f"JSON, {name}: slowest answer")
        check_rounded(truth, f"summary, {name}", percentiles_of_table(run.result.err, name))


def check_histogram_files(run):
    by_python, counts = percentiles_by_python(run.path("hlog"))
    for name, truth in run.truth.items():
        truth.check(f"Python, {name}", by_python[name], neighbours=1)
        check_equal(counts[name], truth.n, f"Python, {name}: samples")
        by_java, n = percentiles_by_java(run.path("hlog"), None if name == "response" else name)
        truth.check(f"Java, {name}", by_java, neighbours=1)
        check_equal(n, truth.n, f"Java, {name}: samples")
    response = run.truth["response"]
    n, percentiles = percentiles_of_hgrm(run.path("hgrm"))
    check_equal(n, response.n, ".hgrm: samples")
    for p, value in percentiles.items():
        check_equal(value == math.inf, response.percentile(p) == math.inf, f".hgrm: {p} is beyond")
    check(f"#[Max     = {response.values[-1] / 1000:12.3f}," in read_text(run.path("hgrm")), ".hgrm: the slowest answer")
    with open(run.path("hlog")) as f:
        most_ms = max(float(line.split(",")[2]) for line in f if line[0].isdigit())
    check_equal(round(most_ms * 1e6), response.values[-1], ".hlog: the slowest answer")


def check_tcpreport(run):
    for files in (["json"], ["hlog"], ["json", "hlog"], ["json", "csv"]):
        if files == ["json", "csv"] and run.json["output"]["dropped_rows"] > 0:
            continue
        text = show(*[run.path(ending) for ending in files])
        for name, truth in run.truth.items():
            check_rounded(truth, f"show {files}, {name}", percentiles_of_table(text, name))
    text = show(run.path("csv"))
    check_rounded(run.sent_truth, "show rows, response", percentiles_of_table(text, "response"))
    check("queries never sent have no rows" in text, text)
    merged, out = temp_path("merged.json"), temp_path("merged.hlog")
    subprocess.run([TCPREPORT, "merge", "--json", merged, "--hlog", out, run.path("json"), run.path("hlog")],
                   capture_output=True, timeout=HANGS_S)
    latency = read_json(merged)["latency_ns"]
    by_python, counts = percentiles_by_python(out)
    for name, truth in run.truth.items():
        truth.check(f"merged, {name}", percentiles_of_json(latency[name]))
        check_equal(latency[name]["over"], truth.n - len(truth.values), f"merged, {name}: counted once")
        truth.check(f"merged log, {name}", by_python[name], neighbours=1)
        check_equal(counts[name], truth.n, f"merged log, {name}: samples")


def check_all(run):
    hdrh()
    response = run.truth["response"]
    with stall_may_spoil():
        # the control: the answers alone have a p99
        check(Truth(response.values, len(response.values)).percentile("p99") < math.inf and
              response.percentile("p99") == math.inf, "the run tells the two apart")
    check_json_and_summary(run)
    check_histogram_files(run)
    check_tcpreport(run)


@covered_by_others
def test_every_output_counts_failed_and_unsent_queries_as_slowest():
    run = run_until_the_server_dies()
    q = run.json["queries"]
    with stall_may_spoil():
        check(q["timeout"] > 20 and q["unsent"] > 50, f"losses of each kind: {q}")
    check_all(run)


@covered_by_others
def test_every_output_counts_cancelled_queries_as_slowest():
    run = run_cut_short()
    with stall_may_spoil():
        check(run.json["queries"]["cancelled"] > 50, f"cancelled: {run.json['queries']}")
    check("cut-short" in run.json["reasons"], f"doubts: {run.json['reasons']}")
    check_all(run)


def test_interrupted_run_counts_queries_in_flight_as_slowest_without_doubt():
    server = FaultServer("--drop-every", 2)
    client = Client("-p", server.port, "-c", 10, "-r", 200, "--stats-interval", "200ms", "127.0.0.1")
    wait_until_prints(client, r" ([2-9]\d|\d{3}) in flight")
    client.process.send_signal(signal.SIGINT)
    r = client.wait()
    check_conservation(r)
    did = server.stop()
    check(r.json["queries"]["cancelled"] >= did["dropped"], f"cancelled: {r.json['queries']}, {did}")
    with stall_may_spoil():  # those in flight were perhaps on their way
        check(did["dropped"] >= 10, f"the server dropped: {did}")
    check_equal(r.json["latency_ns"]["response"]["over"], r.json["queries"]["scheduled"] -
                r.json["queries"]["answered"], "unanswered")
    check("cut-short" not in r.json["reasons"], f"doubts: {r.json['reasons']}")


def test_run_that_measured_nothing_is_not_valid():
    with Server() as server:
        r = run_client("-p", server.port, "-c", 2, "-r", 10, "-t", "10ns", "127.0.0.1")
        control = run_client("-p", server.port, "-c", 2, "-r", 0, "-t", "10ns", "127.0.0.1")
    check_equal((r.json["queries"]["scheduled"], r.code), (0, 3), f"queries, exit code; {r.err}")
    check("nothing-measured" in r.json["reasons"], f"doubts: {r.json['reasons']}")
    check("Queries      0 scheduled, 0 sent, 0 answered\n" in r.err, r.err)
    check("nothing-measured" not in control.json["reasons"], "no queries were asked for")


@covered_by_others
def test_compare_uses_the_share_of_scheduled_queries_answered():
    with Server() as server:
        client = Client("-q", "-p", server.port, "-c", 5, "-r", 500, "-t", 1, "127.0.0.1")
        check_conservation(client.wait())
    result = {**read_json(client.json_path), "verdict": "VALID", "reasons": []}
    names = {"good": [], "unsent": []}
    for group, n_unsent in (("good", 0), ("unsent", result["queries"]["sent"])):
        result["queries"].update(unsent=n_unsent, scheduled=result["queries"]["sent"] + n_unsent)
        for i in range(9):
            names[group].append(temp_path(f"{group}{i}.json"))
            write_json(names[group][-1], result)
    r = run_command([TCPREPORT, "compare", "--min-runs", "9", *names["good"], "--", *names["unsent"]])
    check(r.returncode == 1 and "REGRESSION: answered -50.0 %" in r.stdout, r.stdout + r.stderr)


@covered_by_others
def test_metrics_have_unanswered_queries_in_the_last_bucket_alone():
    server, port = FaultServer("--drop-every", 10), free_port()
    client = Client("-q", "-p", server.port, "-c", 10, "-r", 500, "--timeout", "200ms", "--prove", "no", "--control",
                    f"127.0.0.1:{port}", "127.0.0.1")

    def post(target):
        urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{port}{target}", method="POST"), timeout=HANGS_S)

    def metrics():
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=HANGS_S) as answer:
            lines = [line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if line[0] != "#"]
        return {name: float(value) for name, value in lines}

    wait_for(lambda: "control at" in client.stderr() or listens(port), "the control port")
    wait_for(lambda: metrics().get("tcpclient_queries_timeout_total", 0) >= 30, "30 queries that timed out")
    post("/pause")
    wait_for(lambda: metrics()["tcpclient_queries_in_flight"] == 0, "the last outcome")

    def agree():
        m = metrics()
        return m if m["tcpclient_response_seconds_count"] == m["tcpclient_queries_scheduled_total"] else None

    m = wait_for(agree, "a histogram of all queries")  # it is collected second by second
    check_equal(m['tcpclient_response_seconds_bucket{le="10.0"}'], m["tcpclient_queries_answered_total"],
                "queries within 10 s")
    check_equal(m['tcpclient_response_seconds_bucket{le="+Inf"}'], m["tcpclient_queries_scheduled_total"], "all queries")
    check_equal(m['tcpclient_service_seconds_bucket{le="+Inf"}'], m["tcpclient_queries_sent_total"], "queries sent")
    seconds = time.monotonic() - client.begin  # no answer took longer, however late its query was sent
    check(m["tcpclient_response_seconds_sum"] < seconds * m["tcpclient_queries_answered_total"], "the sum is of answers")
    post("/stop")
    check_conservation(client.wait())
    server.stop()


if __name__ == "__main__":
    main()
