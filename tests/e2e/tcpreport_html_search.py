# SPDX-License-Identifier: MIT
"""tcpreport html: what the page says of a capacity search, and of a sweep of searches."""

from helpers.html_page import *

OF_SEARCH = {"Response time by load": ("load, queries/s", "response time")}


def test_capacities_of_earlier_searches_are_shown_beside_this_one():
    paths = [temp_path(f"capacity{i}.json") for i in range(3)]
    for path, capacity in zip(paths, (21000, 20000, 10000)):
        shutil.copy(files(0)[0], path)
        change(path, search={"find": "rate", "unit": "q/s", "status": "found", "capacity": capacity, "trials": []})
    rows = rows_of(page_of(paths[0], earlier=paths[1:]), "This run and the earlier ones")
    check_equal({name: row[:6] for name, row in rows.items() if name != "metric"},
                {"capacity": ["21,000 q/s", "2", "15,000 q/s", "10,000 q/s", "20,000 q/s", "+40.00 %"]}, "capacities")
    check("No metric is known for both" in page_of(files(0)[0], earlier=paths[1:]), "a search and no search")
    change(paths[1], search={"find": "connections", "unit": "connections"})
    rows = rows_of(page_of(paths[0], earlier=paths[1:]), "This run and the earlier ones")
    check_equal(rows["capacity"][:6], ["21,000 q/s", "1", "10,000 q/s", "10,000 q/s", "10,000 q/s", "+110.00 %"], "without one in connections")


def test_capacity_is_on_the_first_screen():
    need_program("gnuplot")
    path = copy_of_run("search.json")
    answers = (({"status": "found", "capacity": 150000, "lower": 146000, "upper": 154000, "limited_by": "p99<5ms",
                 "bound_by": "server"}, "Capacity: 150,000 q/s: 146,000 q/s sustained, 154,000 q/s not (5.2 % apart); limited by p99<5ms."),
               ({"status": "at-least", "capacity": 1e6, "lower": 1e6}, "Capacity: at least 1,000,000 q/s, the end of the range."),
               ({"status": "at-least", "capacity": 9e5, "lower": 9e5, "max": 1e6},
                "Capacity: at least 900,000 q/s: no higher load was confirmed."),
               ({"status": "found", "capacity": 150000, "lower": 140000, "upper": 160000, "cut_by": "void-trials"},
                "Capacity: 150,000 q/s: 140,000 q/s sustained, 160,000 q/s not (12.5 % apart); ended early: trials stayed void."),
               ({"status": "less-than", "upper": 100}, "Capacity: less than 100 q/s, the lowest load tried."),
               ({"status": "less-than", "upper": 100, "limited_by": "p99<5ms", "bound_by": "accept-queue"},
                "Capacity: less than 100 q/s, the lowest load tried; limited by p99<5ms (the accept queue overflowed)."),
               ({"status": "inconclusive", "reason": "void-trials", "limited_by": "generator-limited", "bound_by": "max-connections"},
                "Capacity: inconclusive (connections that were due were not opened); limited by generator-limited (the "
                "--max-connections limit was reached)."),
               ({"status": "inconclusive", "reason": "time", "lower": 5000},
                "Capacity: inconclusive (not enough time was left for another trial); so far 5,000 q/s sustained."))
    for answer, sentence in answers:
        trial = {"step": "double", "load": 1000, "duration_s": 2, "class": "bad", "reason": "p99<5ms", "p50_ns": 1000000,
                 "p99_ns": 7000000, "lost": 3}
        later = {**trial, "step": "bisect", "load": 700, "class": "good", "reason": None, "p99_ns": 3000000}
        change(path, search=None)
        change(path, search={"find": "rate", "unit": "q/s", "slo": ["p99<5ms"], "trials": [trial, later], **answer})
        text = page_of(path)
        check_axes(text, OF_SEARCH)
        check("several trials at one load are averaged" in Page(text).text(), "what the curves are")  # gnuplot: smooth unique
        check(sentence in Page(text).texts("header")[0], f"{sentence!r} in {Page(text).texts('header')[0]}")
        check_equal(rows_of(text, "Trials in order of time")["double"],
                    ["1,000 q/s", "2.00 s", "1.00 ms", "7.00 ms", "3", "bad: p99<5ms"], "the trial")
    for recovers, recovery_s, words in ((True, 4, "p99<5ms; recovered from an overload within 5 s."),
                                        (False, None, "p99<5ms; did not recover from an overload in time."),
                                        (None, None, "p99<5ms.")):
        change(path, search={"recovers": recovers, "recovery_s": recovery_s})
        check(f"Service level: {words}" in Page(page_of(path)).text(), f"recovers: {recovers}")
    change(path, search=None)
    text = page_of(path)
    check("Capacity" not in text, "without a search")
    check_axes(text, {})


def test_long_searches_fit_on_a_page():
    """The longest one there is, and a sweep of ten usual ones, of a run that has much to explain: page_of() has the limit."""
    need_program("gnuplot")

    def search(n_trials):
        trials = [{"step": "bisect", "load": 12345.678 + i, "begin_s": 5.155956248 + i, "duration_s": 2.345678912, "ended_early": True, "class": "bad",
                   "reason": "p99<20ms", "scheduled": 123456 + i, "lost": 12345, "exceeding": [123456, 12345], "behind": 123, "grew": True,
                   "p50_ns": 603455487 + i, "p99_ns": 925892607 + i, "connect_p99_ns": None, "syn_retransmits": 0, "listen_overflows": 0,
                   "not_opened": 0, "handshakes": None, "resumed": None, "live": 10000, "drained": True} for i in range(n_trials)]
        return {"find": "rate", "unit": "q/s", "slo": ["p99<20ms"], "status": "found", "capacity": 12345.678, "lower": 12300.5,
                "upper": 12400.5, "limited_by": "p99<20ms", "trials": trials}

    path = copy_of_run("search.json", verdict="SUSPECT", reasons=["host-noise"], explanations=[f"{i}: " + 200 * "x" for i in range(8)])
    for changes in ({"search": search(512)},
                    {"search": None, "sweep": {"over": "connections", "points": [{"at": 4 ** i, "search": search(60)} for i in range(10)]}}):
        change(path, **changes)
        text = page_of(path)
        with open(path, encoding="utf-8") as f:
            check_equal(json.loads(Page(text).texts("pre")[-1]), json.load(f), "the result on the page")
        check_equal("The first 200 trials" in text, changes["search"] is not None, "what is left out is said")


def test_answers_of_a_sweep_are_on_the_first_screen():
    need_program("gnuplot")
    path = copy_of_run("sweep.json")
    answers = ({"status": "found", "capacity": 4987.6}, {"status": "at-least", "capacity": 9000, "lower": 9000},
               {"status": "less-than", "upper": 100}, {"status": "inconclusive", "reason": "time", "lower": 50}, None)
    change(path, search=None, sweep={"over": "connections", "points": [
        {"at": 10 ** i, "search": answer and {"find": "rate", "unit": "q/s", "trials": [], **answer}} for i, answer in enumerate(answers)]})
    sentence = ("Capacity by connections: 4,988 q/s at 1; at least 9,000 q/s at 10; less than 100 q/s at 100; inconclusive at 1,000; "
                "not reached at 10,000.")
    text = page_of(path)
    header = Page(text).texts("header")[0]
    check(sentence in header, f"{sentence!r} in {header}")
    check_equal(rows_of(text, "Searches; loads in q/s")["10"][1], "9,000", "the table says the unit")


if __name__ == "__main__":
    main()
