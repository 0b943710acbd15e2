# SPDX-License-Identifier: MIT
"""tcpreport html: a page that needs nothing else and has every figure of the result."""

import functools
import shlex

from helpers.html_page import *

# The rates of one run and of two: requested, sent.
RATES = [("100 q/s", "80 q/s"), ("200 q/s", "160 q/s")]


@covered_by_others
def test_page_of_a_run_has_its_figures_and_pictures():
    need_program("gnuplot")
    text = page_of(*files(0))
    page = Page(text)
    result = read_json(files(0)[0])
    check_axes(text, PICTURES)
    check_equal(result["command"][0], TCPCLIENT, "the program")
    check({"-n", "50", "-r", "1000"} < set(result["command"]), f"command: {result['command']}")
    head, = page.texts("header")
    check_equal(page.texts("h1", "strong")[:2], [f"tcpclient to {result['target']}", result["verdict"]], "title and verdict")
    for words in (result["host"]["kernel"], *result["explanations"], shlex.join(result["command"])):
        check(words in head, f"{words!r} in {head}")
    finished = result["connections"]["outcomes"]["run/finished"]
    check_equal(rows_of(text, "How connections ended")["run: finished"], [f"{finished}", ""], "how connections ended")
    check_equal(rows_of(text, "Times of queries")["values"][0], f"{result['queries']['answered']:,}", "values of the response time")
    check_equal(rows_of(text, "Options as given or by default; times in seconds")["connections"], ["20"], "a setting")
    for name, words in (("summary", "All settings"), ("th", "send lag")):
        check(words in page.texts(name), f"{words!r} in {page.texts(name)}")
    embedded, = ("".join(parts) for _, attributes, parts in page.elements if attributes.get("id") == "result")
    check_equal(json.loads(embedded), result, "the JSON in the page")


def test_program_and_host_are_on_the_first_screen():
    host = {"kernel": "6.1.0-9", "cpus": 1, "threads": 3, "pacing": "sleep", "libevent": "2.1.12-stable", "backend": "epoll"}
    about = {"program": "tcpclient", "version": "0.1.0", "started": "2026-03-01T10:00:00.000Z", "seed": 7, "host": host}
    of_all = ("tcpclient 0.1.0, started 2026-03-01T10:00:00.000Z; Linux 6.1.0-9, 1 CPU; threads: 3, pacing sleep, "
              "libevent 2.1.12-stable (epoll); seed 7")
    for transport, words in (({}, ""), ({"tls": {"version": "TLSv1.3", "cipher": "TLS_AES_256"}}, "; TLSv1.3 TLS_AES_256"),
                             ({"udp": {}}, "; over UDP")):
        page = Page(page_of(copy_of_run("about.json", **about, **transport)))
        check(of_all + words in page.texts("p"), f"{of_all + words!r} in {page.texts('p')}")


def test_first_screen_has_the_figures_of_the_result():
    page = Page(page_of(copy_of_run("counts.json", queries={"sent": 9000, "answered": 8000},
                                    connections={"asked": 70, "live_at_end": 60})))
    figures = dict(zip(page.texts("dt"), page.texts("dd"), strict=True))
    names = ("queries sent", "queries answered", "connections requested", "connections live at the end")
    check_equal([figures[name] for name in names], ["9,000", "8,000", "70", "60"], "figures")


def test_time_of_a_later_version_is_ignored():
    path = files(0)[0]
    times = read_json(path)["latency_ns"]["service"]
    later = copy_of_run("later.json", started=read_json(path)["started"], latency_ns={"a_new_time_with_a_name_of_32_byt": times})
    check_equal(report("show", later).stdout.replace(later[:-5], ""), report("show", path).stdout.replace(path[:-5], ""), "what is shown")
    page_of(later)


def test_only_queries_count_as_unanswered():
    text = page_of(files(0)[0])
    queries, others = text.split("Times of queries", 1)[1].split("Delays of the client", 1)
    rows = [re.findall(r"<th scope=\"row\">(unanswered|never)<", part.split("</table>", 1)[0]) for part in (queries, others)]
    check_equal(rows, [["unanswered"], ["never"]], "what is said of times that never came")


def test_percentiles_of_answers_that_never_came_are_shown():
    """Nobody answered, and no connection came back: there is no value, but there are percentiles."""
    never = {"count": 0, "over": 300, "clamped": 0, "min": None, "mean": None, "mean_error_90": None, "mean_error_95": None, "stddev": None,
             "max": None, "p50": "beyond", "p90": "beyond", "p95": "beyond", "p99": None, "p999": None, "p9999": None}
    text = page_of(copy_of_run("silent.json", options={"timeout": 5}, valid_to="max", broken_law=None,
                               latency_ns={name: never for name in ("response", "service", "net", "recovery")}))
    queries = rows_of(text, "Times of queries")
    check_equal([queries[name][0] for name in ("min", "p50", "p99", "max", "mean", "values", "unanswered")],
                ["-", ">5.00 s", "-", "-", "-", "0", "300"], "the response time")
    others = rows_of(text, "Delays of the client's host, and times of connections")
    recovery = others[""].index("recovery")
    check_equal((others["p50"][recovery], others["never"][recovery]), ("never", "300"), "the recovery")
    page = Page(text)
    figures = dict(zip(page.texts("dt"), page.texts("dd"), strict=True))
    check_equal((figures["response p50"], figures["slowest answer"]), (">5.00 s", "-"), "the first screen")
    check("all percentiles of the response time reflect the server" in page.texts("header")[0], "what holds")
    check("No curve: no query was answered." in page.text(), "why there is no curve")


@covered_by_others
def test_problems_are_noticed():
    """The controls of the checks above."""
    need_program("gnuplot")
    text = page_of(*files(0))
    for bad, what in (("<script>1</script>", "script"), ("<img src=http://x/>", "img"), ("<p onclick='x'>", "onclick"),
                      ("<b>", "b"), ("</p>", "closes nothing"), ("<table><th>x</th></table>", "scope"),
                      ("<svg></svg>", "label"), ("<div class='scroll'></div>", "no key can scroll"), ("<pre id='result'></pre>", "twice"),
                      ("<style>@import 'x'</style>", "import")):
        found = problems(text.replace("</header>", f"{bad}</header>"))
        check(any(what in problem for problem in found), f"{what!r} in {found}")


def test_page_of_several_instances_adds_them_up():
    need_program("gnuplot")
    text = page_of(*files(0), *files(1))
    page = Page(text)
    check_axes(text, PICTURES)
    sent = []
    for i in range(2):
        sent.append(read_json(files(i)[0])["queries"]["sent"])
    check("2 instances" in page.texts("h1")[0], page.texts("h1")[0])
    for n in (*sent, sum(sent)):
        check(f"{n:,}" in page.text(), f"{n:,} queries")
    embedded, = ("".join(parts) for _, attributes, parts in page.elements if attributes.get("id") == "result")
    check_equal(json.loads(embedded)["queries"]["sent"], sum(sent), "sent by both, in the JSON")


@covered_by_others
def test_page_of_runs_that_are_no_instances_says_so():
    """Runs one after the other are easily taken for instances."""
    instance = read_json(files(0)[0])
    names = []

    def add(**changes):
        names.append(f"{temp_directory()}/run.json")
        with open(names[-1], "w") as f:
            json.dump({**instance, **changes}, f)

    def head():
        return "\n".join(Page(page_of(*names)).texts("header"))

    add(seed=1)
    add(seed=2)
    for text in ("same seed", "different settings", "do not add up"):
        check(text not in head(), f"the control: {text}")
    add(seed=2, options={**instance["options"], "rate": 7}, started="2026-01-31T23:59:59.023Z", measured_from="2026-01-31T23:59:59.123Z")
    for text in ("have the same seed", "different settings: rate ", "did not overlap in time: their rates do not add up"):
        check(text in head(), f"{text}: {head()}")


@covered_by_others
def test_page_of_a_merged_file_has_a_line_for_each_instance():
    """As that of the files themselves."""
    push = {"measured": 1474, "before": 83, "after": 466, "lost": 12, "duplicate": 0, "damaged": 0, "unfinished_connections": 0}
    silent = {"count": 10, "over": 20, "min": 1, "max": 5, "mean": 3, "stddev": 1, "p50": "beyond", "p99": "beyond"}
    runs = [copy_of_run("a.json", options={"timeout": 2}, latency_ns={"response": silent}, verdict="SUSPECT"),
            copy_of_run("b.json", options={"timeout": 3}, latency_ns={"response": silent}, started="2026-03-01T10:00:00.000Z")]
    listeners = [copy_of_run(name, push=push, latency_ns={"response": silent}) for name in ("c.json", "d.json")]
    for names, head, counts, slow in ((runs, "sent", ("queries.sent", "queries.answered"), (">2.00 s", ">3.00 s")),
                                      (listeners, "received", ("push.measured", "push.lost"), ("never", "never"))):
        merged = temp_path("merged.json")
        report("merge", "--json", merged, *names, code=None)
        text = page_of(merged)
        rows = rows_of(text, "The instances")
        check_equal(rows, rows_of(page_of(*names), "The instances"), "a merged file, and the files")
        check("2 instances of tcpclient" in Page(text).texts("h1")[0], Page(text).texts("h1"))
        check_equal(rows["run"][1:3], [head, counts[1].split(".")[1]], "columns")
        for name, never in zip(names, slow, strict=True):
            r = read_json(name)
            n = [f"{functools.reduce(dict.get, path.split('.'), r):,}" for path in counts]
            check_equal(rows[name.removesuffix(".json")], [r["started"], *n, never, never, "5 ns", r["verdict"]], "an instance")
        report("merge", "--json", merged, names[0], code=None)
        check("The instances" not in page_of(merged), "the control: one instance")


def test_page_names_the_instances_that_are_in_doubt():
    doubt = copy_of_run("doubt.json", verdict="SUSPECT", reasons=["unsent"], explanations=["5 unsent"],
                        diagnosis=[{"limit": "backlog", "connections": 45, "evidence": "45 overflows", "remedy": "raise it"}])
    text = page_of(copy_of_run("fine.json", verdict="VALID", reasons=[], explanations=[]), doubt)
    name = doubt.removesuffix(".json")
    check_equal(Page(text).texts("li")[:1], [f"{name}: 5 unsent"], "the reason")
    check_equal(rows_of(text, "What limited the connections")["backlog"], ["45", "45 overflows", "raise it", name], "the limit")


def test_pictures_over_time_cover_all_instances():
    """One of the two has no log: the other alone would be taken for both."""
    need_program("gnuplot")
    text = page_of(*files(0)[:2], files(1)[0])
    check_equal(pictures(text), {}, "pictures")
    check("Latency and rate over time need the histogram log (--hlog), with intervals, of each run." in Page(text).text(), "why there is none")
    check(len(pictures(page_of(*files(0)[:2], *files(1)[:2]))) >= 3, "the control: both logs")


def test_a_picture_over_time_needs_values():
    """It needs values of more than one second."""
    need_program("gnuplot")
    directory = temp_directory()
    runs_of(directory, ["-r", 100, "-t", 0.2])
    text = page_of(*[f"{directory}/0.{ending}" for ending in ("json", "hlog")])
    section = text.split("<h2>Latency over time</h2>")[1].split("</section>")[0]
    with stall_may_spoil():  # answers a second later are in a second column
        check_equal(section.strip(), '<p class="soft">Too few values for a picture.</p>', "instead of the heat map")


def test_memory_per_connection_needs_many_connections():
    """As in the summary of tcpclient: with fewer, what any run allocates decides it."""
    per_connection = {"rss_bytes_per_connection": 512, "slab_bytes_per_connection": 2048}
    for n_live, n_half_open, expected in ((999, 0, ["-", "-"]), (1000, 0, ["512 B", "2.00 KiB"]), (600, 400, ["512 B", "2.00 KiB"])):
        run = copy_of_run("memory.json", connections={"live_at_end": n_live, "half_open": n_half_open}, resources=per_connection)
        rows = rows_of(page_of(run), "The client's host")
        check_equal([rows[f"{what} memory per connection"][0] for what in ("resident", "kernel slab")], expected,
                    f"{n_live} live, {n_half_open} half-open")


def test_a_server_that_seems_idle_is_drawn():
    """CPU time is in steps of 10 ms, and a server of another network namespace has no connections; gnuplot warns of an empty range."""
    need_program("gnuplot")
    samples = [[i * 10**9, 0, 20000, 30000, 10**6] for i in range(3)]
    cost = {"watched": "server", "columns": ["epoch_ns", "connections", "user_us", "system_us", "rss_bytes"], "samples": samples}
    check_equal(list(pictures(page_of(copy_of_run("idle.json", server_cost=cost)))),
                ["Memory of the server by number of connections.", "CPU time of the server over time."], "pictures")


def test_cpus_busy_are_those_of_the_summary():
    run = copy_of_run("busy.json", server_cost={"watched": "server", "user_ns_per_query": 2e3, "system_ns_per_query": 1e3, "cpus": 0.121349})
    check("; 0.12 CPUs busy\n" in report("show", run).stdout, "the summary")
    check_equal(rows_of(page_of(run), "What the run cost the server")["CPUs busy under load"], ["0.12"], "the page")


def test_a_run_that_sent_nothing_does_not_lack_a_log():
    over_time = "Latency and rate over time need the histogram log"
    silent = copy_of_run("silent.json", queries={"scheduled": 0, "sent": 0, "answered": 0})
    push = {"measured": 0, "before": 0, "after": 0, "lost": 0, "duplicate": 0, "damaged": 0}
    unpushed = copy_of_run("unpushed.json", push=push)
    for path, words in ((silent, "No query of the measurement was sent."), (unpushed, "No message of the measurement was received.")):
        text = page_of(path)
        check(f'<p class="soft">{words}</p>' in text and over_time not in text, f"{words!r} in the page")
    check(over_time in page_of(files(0)[0]), "the control: a run with queries")


def test_rates_sent_and_answered_cover_the_same_time():
    """The schedule lasted 10 s, sending 12.5 s: what was sent and answered cannot have come at the rate of the schedule."""
    counts = {"scheduled": 1000, "sent": 1000, "answered": 1000, "timeout": 0, "error": 0, "cancelled": 0, "unsent": 0}
    paths = [copy_of_run(f"late{i}.json", queries=counts, rate={"asked_qps": 100, "achieved_qps": 80, "duration_s": 10})
             for i in range(2)]
    for n in (1, 2):
        page = page_of(*paths[:n])
        rows = rows_of(page, "Queries over the whole run")
        check("The client was late" in page, "why the rates do not add up")
        check_equal({name: rows[name][1] for name in ("requested", "scheduled", "sent", "answered")},
                    {"requested": RATES[n - 1][0], "scheduled": RATES[n - 1][0], "sent": RATES[n - 1][1],
                     "answered": RATES[n - 1][1]}, f"rates of {n}")


def test_rates_of_instances_add_up_even_if_one_ended_earlier():
    counts = {"scheduled": 1000, "sent": 1000, "answered": 1000, "timeout": 0, "error": 0, "cancelled": 0, "unsent": 0}
    paths = [copy_of_run(f"of_{seconds}.json", queries=counts,
                         rate={"asked_qps": 1000 / seconds, "achieved_qps": 1000 / seconds, "duration_s": seconds})
             for seconds in (10, 5)]
    page = page_of(*paths)
    rows = rows_of(page, "Queries over the whole run")
    check("The client was late" not in page, "the rates add up")
    check_equal([rows[name][1] for name in ("requested", "scheduled", "sent", "answered")], ["300 q/s"] * 4, "rates")


def test_connect_time_of_instances_is_that_of_the_slowest():
    paths = [copy_of_run(f"opened_in_{seconds}.json",
                         connections={"connected": 1000, "connect_elapsed_s": seconds, "connect_rate_per_s": 1000 / seconds})
             for seconds in (1, 10)]
    for files_of, words in ((paths[:1], "1,000 connections established; the 1,000 before the load took 1.00 s, 1,000 per second."),
                            (paths, "2,000 connections established; the 2,000 before the load took 10.0 s, 200 per second.")):
        text = Page(page_of(*files_of)).text()
        check(words in text, f"{words!r} in {text}")


def test_requested_rate_is_drawn_if_it_was_constant():
    need_program("gnuplot")
    dashed = "The dashed line is the rate requested"
    run, log, _ = files(0)
    check(dashed in page_of(run, log), "the control: a constant rate")
    for changes in ({"options": {"stdin-rateslope": True}}, {"options": {"conn-schedule": "100 1s"}},
                    {"rate": {"asked_qps": 7}}):
        path = copy_of_run("changed.json", **changes)
        check(dashed not in page_of(path, shutil.copy(log, path.replace(".json", ".hlog"))), f"{changes}")
    check(dashed in page_of(*files(0)[:2], *files(1)[:2]), "the control: two instances at a constant rate")
    both = []
    for i, schedule in enumerate(("1s:500,2s:1250", "2s:1250,1s:500")):
        both.append(temp_path(f"instance{i}.json"))
        shutil.copy(files(i)[0], both[-1])
        change(both[-1], options={"schedule": schedule})
        both.append(shutil.copy(files(i)[1], both[-1].replace(".json", ".hlog")))
    check(dashed not in page_of(*both), "instances with a schedule each")


def start_of_curve(text, name):
    """Where a curve of the page begins, in pixels from the top left."""
    after = text.split(f"<text>{name}</text>")[1]
    return [float(n) for n in re.findall(r"M([\d.]+),([\d.]+)", re.search(r" d='([^']*)'", after)[1])[1]]


@covered_by_others
def test_rates_begin_with_the_measurement():
    """The first interval of the log is a second of which the measurement had half: its queries came at twice the rate."""
    need_program("gnuplot")
    run = copy_of_run("begins.json")
    log = run.replace(".json", ".hlog")
    text = re.sub(r"^((?:Tag=\w+,)?)\d\.\d+,[\d.]+,", r"\g<1>0.000,1.000,", read_text(files(0)[1]), count=5, flags=re.M)
    write_text(log, re.sub(r"StartTime: [\d.]+", "StartTime: 1800000000.000", text))
    at = {}
    for ms in (0, 500):
        change(run, measured_from=f"2027-01-15T08:00:00.{ms:03}Z")
        page = page_of(run, log)
        at[ms] = [start_of_curve(page, name) for name in ("sent", "answered")]
    for before, after in zip(at[0], at[500]):
        check(after[0] > before[0] and after[1] < before[1], f"later and higher: {at}")


def test_page_of_a_listener_shows_messages():
    """On its page, nothing is called a query or an answer but what is not of the run: settings, and keys of the result."""
    need_program("gnuplot")
    push = {"measured": 1474, "before": 83, "after": 466, "lost": 12, "duplicate": 0, "damaged": 0, "unfinished_connections": 0,
            "messages_per_s": 491.3, "clock": "monotonic", "negative": 0, "least_ns": None}
    path = copy_of_run("listener.json", push=push, verdict="VALID", valid_to="p99", explanations=[], queries={"scheduled": 0, "sent": 0, "answered": 0})
    text = page_of(path, shutil.copy(files(0)[1], path.replace(".json", ".hlog")), earlier=[files(1)[0]])
    shown = " ".join(Page(re.sub(r"(?s)<pre.*?</pre>|<caption>Options.*|<title>[^<]*</title>", "", text)).texts("main", "body"))
    for words in ("1,474", "Messages received per second, of those due during the measurement", "Times of messages", "messages/s", "slowest message",
                  "holds: send lag and the delays of the client's host hardly affect the percentile.", "hardly affect the response times up to p99."):
        check(words in text, f"{words!r} in the page")
    check_equal(rows_of(text, "Messages over the whole run")["received"], ["1,474", "491.3"], "received")
    # damaged ones count in service and net, too
    check("lost or damaged" in rows_of(text, "Times of messages"), "which messages have no time")
    check_equal(re.findall(r"(?i)\b\w*(?:quer|answer)\w*", shown), [], "words of queries")
    r = report("merge", path)
    check("received" in r.stdout and "1,474" in r.stdout and "sent" not in r.stdout.split("\n")[0], r.stdout)


def test_goals_are_shown_beside_the_verdict():
    goals = [{"goal": "p99<5ms", "result": "missed", "why": None, "exceeding": 1204, "of": 100827, "own": 3},
             {"goal": "lost<0.1%", "result": "undecided", "why": "too-few", "exceeding": 0, "of": 50, "own": 0},
             {"goal": "p50<1s", "result": "met", "why": None, "exceeding": 1, "of": 50, "own": 0},
             {"goal": "max<1s", "result": "met", "why": None, "exceeding": 0, "of": 1, "own": 0}]
    header = Page(page_of(copy_of_run("goals.json", verdict="VALID", explanations=[], goals=goals))).texts("header")[0]
    for words in ("p99<5ms missed: 1,204 of 100,827 queries took longer or were lost",
                  "lost<0.1% undecided: 0 of 50 queries were lost; too few to tell",
                  "p50<1s met: 1 of 50 queries took longer or was lost", "max<1s met: 0 of 1 query took longer or was lost"):
        check(words in header, f"{words!r} in {header}")


def test_page_says_how_far_the_response_times_hold():
    for valid_to, of_max, words in (("none", False, "no percentile of the response time reflects the server alone."),
                                    ("none", True, "the median of the response time does not reflect the server alone."),
                                    ("p99", False, "percentiles of the response time up to p99 reflect the server, not the client's host."),
                                    ("max", True, "all percentiles of the response time reflect the server, not the client's host."),
                                    (None, False, "whether the response times reflect the server or the client's host is unknown.")):
        run = copy_of_run("holds.json", holds=None)
        change(run, valid_to=valid_to, holds={"p50": valid_to not in ("none", None), "max": of_max})
        header = Page(page_of(run)).texts("header")[0]
        check(words in header, f"{words!r} in {header}")
    check("% of the answers" not in header, "the answers were echoes")
    change(run, answers={"rcodes": {"REFUSED": 10**9}})
    check(" % of the answers were REFUSED, " in Page(page_of(run)).texts("header")[0], "the note")
    check("holds: the percentile reflects the server, not the client's host." in Page(page_of(run)).text(), "what holds")


def test_connections_on_demand_are_those_requested():
    path = copy_of_run("on_demand.json", on_demand={"requested": 4321})
    check("4,321" in Page(page_of(path)).texts("header")[0], "connections requested on demand")


def test_earlier_runs_are_shown_beside_this_one():
    earlier = []
    for i, p50 in enumerate((100_000, 300_000, 200_000)):
        earlier.append(temp_path(f"earlier{i}.json"))
        shutil.copy(files(0)[0], earlier[-1])
        change(earlier[-1], latency_ns={"response": {**read_json(earlier[-1])["latency_ns"]["response"], "p50": p50}})
    now = temp_path("now.json")
    shutil.copy(files(0)[0], now)
    change(now, latency_ns={"response": {**read_json(now)["latency_ns"]["response"], "p50": 220_000}})
    text = page_of(now, earlier=earlier)
    row = rows_of(text, "This run and the earlier ones")["response p50"]
    check_equal(row[:6], ["220 us", "3", "200 us", "100 us", "300 us", "+10.00 %"], "response p50")
    change(earlier[0], latency_ns={"response": {**read_json(earlier[0])["latency_ns"]["response"], "p50": None}})
    row = rows_of(page_of(now, earlier=earlier), "This run and the earlier ones")["response p50"]
    check_equal(row[:3], ["220 us", "2", "250 us"], "response p50, which one of the earlier runs lacks")
    check_equal(len(rows_of(text, "The earlier runs")), 4, "header and earlier runs")
    check("Not comparable" not in text, "the control: the same settings")
    change(earlier[1], options={"rate": 7})
    check("differ: rate 7 and 1000" in page_of(now, earlier=earlier), "another rate")


def test_recovery_of_lost_connections_is_drawn():
    need_program("gnuplot")
    directory = temp_directory()
    result, connections = f"{directory}/storm.json", f"{directory}/storm.csv"
    shutil.copy(files(0)[0], result)
    rows = read_rows(files(0)[2])

    def page_with(n_per_slot):
        change(result, connections={"attempted": n_per_slot * len(rows)})
        with open(connections, "w", newline="") as f:
            out = csv.DictWriter(f, rows[0], lineterminator="\n")
            out.writeheader()
            out.writerows({**row, "lost_s": "1.5", "back_s": "2.5", "connections": n_per_slot} for row in rows)
        return page_of(result, connections)

    recovery = {"Recovery": ("time since the first loss, s", "connections", "lost", "back")}
    check_axes(page_with(1), {"Connect ramp": PICTURES["Connect ramp"], **recovery})
    text = page_with(2)
    check_axes(text, recovery)
    check("No connect ramp: most slots had several connections" in text, "why there is no ramp")
    r = report("plot", "--kind", "connect", "-o", temp_path("ramp.svg"), connections)
    check("most slots had several connections, and only the last one of each is drawn" in r.stderr, f"a warning, not {r.stderr}")


def test_connections_of_another_run_are_refused():
    directory = temp_directory()
    rows = read_text(files(0)[2]).splitlines(keepends=True)
    shutil.copy(files(0)[0], f"{directory}/other.json")
    for connections, n in ((rows[:-1], 19), ([*rows, rows[-1]], 21)):
        write_text(f"{directory}/other.csv", "".join(connections))
        r = report("html", "-o", f"{directory}/page.html", f"{directory}/other.json", f"{directory}/other.csv", code=2)
        check_equal(r.stderr, f"tcpreport: {directory}/other: the file of --connections-out has {n} connections, the result has 20: "
                              "they are from different runs or incomplete\n", "connections")


def test_outcomes_have_remedies():
    path = copy_of_run("outcomes.json", connections={"outcomes": {"run/finished": 5, "connect/refused": 45}},
                       diagnosis=[{"limit": "backlog", "connections": 45, "evidence": "45 overflows", "remedy": "raise it"}])
    text = page_of(path)
    rows = rows_of(text, "How connections ended")
    check_equal(rows["run: finished"], ["5", ""], "nothing is wrong")
    check_equal(rows["connect: refused"], ["45", "nothing listens on that port, or a firewall rejects the connection"], "refused")
    check_equal(rows_of(text, "What limited the connections")["backlog"], ["45", "45 overflows", "raise it"], "limit")


def test_connections_of_a_run_without_queries_have_their_times():
    need_program("gnuplot")
    stem = temp_path("connections")
    with Server() as server:
        run_client("-p", server.port, "-c", 20, "-n", 20, "--connect-arrival", "constant", "-t", 1, "--json", f"{stem}.json",
                   "--hlog", f"{stem}.hlog", "--connections-out", f"{stem}.csv", "127.0.0.1")
    text = page_of(*(f"{stem}.{ending}" for ending in ("json", "hlog", "csv")))
    check("values" in rows_of(text, "Times of connections since they were due"), "since due")
    check("values" in rows_of(text, "Delays of the client's host, and times of connections"), "connect")
    check(any(caption.startswith("Connect ramp") for caption in pictures(text)), "the ramp is drawn")
    check("Pictures are missing" not in text, "and nothing failed")
    # intervals of a second, as of slow connecting, have a rate: of queries, of which there are none
    write_text(f"{stem}.hlog", re.sub(r"^(Tag=\w+,[\d.]+),[\d.]+,", r"\1,1.000,", read_text(f"{stem}.hlog"), flags=re.M))
    check_equal(pictures(page_of(*(f"{stem}.{ending}" for ending in ("json", "hlog", "csv")))).keys(), pictures(text).keys(), "pictures")


def test_users_settings_of_gnuplot_change_nothing():
    need_program("gnuplot")
    home = temp_path("home")
    os.makedirs(home)
    write_text(f"{home}/.gnuplot", "set datafile separator ','\nset print '-'\nprint 'junk'\n")
    path = temp_path("own.svg")
    for terminal in ("no terminal of gnuplot", ""):
        r = run_command([os.path.abspath(TCPREPORT), "plot", "-o", path, *files(0)[:2]],
                        env={**os.environ, "HOME": home, "GNUTERM": terminal})
        check_equal((r.returncode, r.stderr), (0, ""), f"plot with GNUTERM={terminal!r}")
        check(read_text(path).startswith("<?xml"), "the picture alone")


def test_a_single_connection_is_singular():
    path = copy_of_run("one.json", connections={"connected": 1})
    check("1 connection established" in page_of(path), "the number and its noun")


def test_page_without_gnuplot_or_log_has_tables():
    path = temp_path("tables.html")
    r = run_command([os.path.abspath(TCPREPORT), "html", "-o", path, *files(0)], env={"PATH": "/nonexistent"})
    check_equal((r.returncode, r.stderr), (0, "tcpreport: gnuplot is not installed (Debian: gnuplot-nox)\n"),
                "without gnuplot")
    text = read_text(path)
    check_equal((problems(text), pictures(text)), ([], {}), "no pictures")
    check("Pictures are missing" in text and "Times of queries" in text, "tables, and why there is no more")
    text = page_of(files(0)[0])
    check_equal(pictures(text), {}, "pictures of the result alone")
    check("--hlog" in text and "Pictures are missing" not in text, "what the pictures need")


def test_command_line_of_html_is_checked():
    path = temp_path("no.html")
    for arguments, words in (([files(0)[0]], "--output"), (["-o", path], "missing FILE"),
                             (["-o", files(0)[0], files(0)[0]], "is one of the input files"),
                             (["-o", path, files(0)[1]], f"{files(0)[1][:-5]} has no result: expected {files(0)[0]}, too"),
                             (["-o", path, files(0)[0], "--", files(0)[1]], f"expected {files(0)[0]}, too"),
                             (["-o", path, "/nonexistent.json"], "/nonexistent.json: cannot read"),
                             (["-o", "/nonexistent/x.html", files(0)[0]], "/nonexistent/x.html")):
        r = report("html", *arguments, code=2)
        check(words in r.stderr and len(r.stderr.splitlines()) == 1, f"{words!r} in {r.stderr}")
    check(not os.path.exists(path), "no page is left behind")
    page = report("html", "-o", "-", files(0)[0]).stdout
    check_equal(problems(page), [], "on stdout")


if __name__ == "__main__":
    main()
