# SPDX-License-Identifier: MIT
"""The recipes of the guide, on the rows of a real run: their results match those computed here."""

import math
from collections import Counter

from helpers.documents import fences, run_example, sections
from helpers.harness import *


# --- recipes: what a section prints, by its heading ---

def rows_of(directory):
    rows = read_rows(os.path.join(directory, "rows.csv"))
    return [r for r in rows if r["type"] == "Q"], [r for r in rows if r["type"] == "A"]


def numbers(out):
    return [[float(word) for word in line.split()] for line in out.splitlines()]


def check_percentiles(out, queries, answers, directory):
    response = sorted(float(a["response_us"]) for a in answers)
    wanted = [response[math.ceil(len(response) * p / 100) - 1] for p in (50, 90, 99)]
    check_equal(re.findall(r"^p(\d+) (\S+) us$", out, re.M),
                [(str(p), f"{v:.3f}") for p, v in zip((50, 90, 99), wanted)], "percentiles")
    of_histogram = read_json(os.path.join(directory, "run.json"))["latency_ns"]["response"]["p50"] / 1000
    check_between(wanted[0], of_histogram * 0.99, of_histogram * 1.01, "p50, compared with the histogram's")


def check_per_second(out, queries, answers, directory):
    wanted = Counter(int(float(q["timestamp"])) for q in queries)
    check_equal(numbers(out), [[s, n] for s, n in sorted(wanted.items())], "queries per second")


def check_over_time(out, queries, answers, directory):
    found = numbers(out)
    tenths = {int(float(a["timestamp"]) * 10) for a in answers}  # fewer than 30 where the machine stalled
    check(found == sorted(found), f"lines in their order: {out}")
    check_between(len(found), len(tenths) - 1, len(tenths) + 1, "lines, one for each 0.1 s")
    check_equal(sum(n for _, n, _, _ in found), len(answers), "answers in all")
    check_equal(max(m for *_, m in found), round(max(float(a["response_us"]) for a in answers), 1), "the slowest")


def check_slowest_connections(out, queries, answers, directory):
    of_connection = {}
    for a in answers:
        of_connection.setdefault(int(a["connection_id"]), []).append(float(a["response_us"]))
    means = {c: sum(v) / len(v) for c, v in of_connection.items()}
    found = numbers(out)
    check_equal([n for _, n, _ in found], [len(of_connection[c]) for c, *_ in found], "their answers")
    for (c, _, mean), want in zip(found, sorted(means.values(), reverse=True)[:5], strict=True):
        check_between(mean, want - 0.1, want + 0.1, "mean of a slow connection")
        check_between(mean, means[c] - 0.1, means[c] + 0.1, f"and that is connection {c:.0f}")


def check_unanswered(out, queries, answers, directory):
    check_equal(out, f"{len(queries) - len(answers)} of {len(queries)} unanswered\n", "queries")


def check_in_flight(out, queries, answers, directory):
    changes = sorted([(q["timestamp"], 1) for q in queries] + [(a["timestamp"], -1) for a in answers])
    now = most = 0
    for _, change in changes:
        now += change
        most = max(most, now)
    found = int(out.split()[0])
    check_between(found, max(1, most), most + 1, "the most in flight")  # equal times may stand either way


def check_gaps(out, queries, answers, directory):
    mean, ratio = (float(x) for x in re.findall(r"[\d.]+", out))
    gaps = [int(q["poisson_interval_us"]) for q in queries]
    check_between(mean, sum(gaps) / len(gaps) * 0.999, sum(gaps) / len(gaps) * 1.001, "mean gap")
    check_between(ratio, 0.9, 1.1, "of Poisson arrivals")


def check_picture(name):
    def check_it(out, queries, answers, directory):
        with open(os.path.join(directory, name), "rb") as f:
            picture = f.read()
        check(picture.startswith(b"\x89PNG") and len(picture) > 4000, f"{name}: {len(picture)} bytes")
    return check_it


def check_heat(out, queries, answers, directory):
    check_picture("heat.png")(out, queries, answers, directory)
    check_equal(sum(n for *_, n in numbers(read_text(os.path.join(directory, "heat.txt")))), len(answers), "answers in the map")
    # as text, the axis has times in their units, and no other than there are
    recipe, = fences(sections(read_source("docs", "recipes.md"))["Heat map"], "sh")
    plot = re.sub("set terminal .*", "set terminal dumb 120 60", recipe[recipe.index("gnuplot"):])
    run_example(plot.replace("heat.png", "heat.text"), 0, directory)
    labels = [float(n) * {"us": 1, "ms": 1e3, "s": 1e6}[unit]
              for n, unit in re.findall(r"^ +(\d+) (us|ms|s) [|+]", read_text(os.path.join(directory, "heat.text")), re.M)]
    check(labels and labels == sorted(labels, reverse=True), f"labels of the axis: {labels}")
    response = [float(a["response_us"]) for a in answers]
    check_between(labels[-1], min(response) / 10 ** 0.1, min(response) * 3, "the lowest label, us")
    check_between(labels[0], max(response) / 3, max(response) * 10 ** 0.1, "the highest label, us")


def check_codes(out, queries, answers, directory):
    check_equal(out, f"{len(answers)} echoed\n", "answers of tcpserver")


def check_of_log(out, queries, answers, directory):
    found = numbers(out)
    check_between(len(found), 3, 5, "seconds")
    slowest_ms = max(float(a["response_us"]) for a in answers) / 1000
    check_between(max(ms for _, ms in found), slowest_ms * 0.99, slowest_ms * 1.01, "the slowest answer")


def check_used_up(out, queries, answers, directory):
    n_queries, n, each = (float(x) for x in re.findall(r"[\d.]+", out))
    slots = read_rows(os.path.join(directory, "slots.csv"))
    check_equal((n_queries, n), tuple(sum(int(slot[column]) for slot in slots)
                                      for column in ("queries", "connections")), "queries and connections")
    # 1000 of them unless the machine stalled; the last connection of each of 20 slots may not be used up
    check_between(n_queries, 400, 1200, "queries in 1 s at 1000/s")
    check_between(n, n_queries / 10, n_queries / 10 + 20, "connections")
    check_between(each, n_queries / n * 0.999, n_queries / n * 1.001, "queries of a connection")


def check_goals(out, queries, answers, directory):
    r = read_json(os.path.join(directory, "goals.json"))
    results = {goal["result"] for goal in r["goals"]}
    code = 1 if "missed" in results else 3 if r["reasons"] or "undecided" in results else 0
    check_equal(out, f"exit code {code}: not proven to be within the service level\n" if code else "", f"goals {r['goals']}, {r['reasons']}")


RECIPES = {
    "The run": lambda out, *_: check_equal(out, "", "rows are in their file"),
    "Percentiles": check_percentiles,
    "Queries per second": check_per_second,
    "Latency over time": check_over_time,
    "The slowest connections": check_slowest_connections,
    "Unanswered queries": check_unanswered,
    "Queries in flight": check_in_flight,
    "Are the arrivals Poisson?": check_gaps,
    "Cumulative distribution": check_picture("cdf.png"),
    "Heat map": check_heat,
    "Response codes": check_codes,
    "The slowest answer of each second, without rows": check_of_log,
    "Connections used up": check_used_up,
    "A service level as the exit code": check_goals,
}


def recipes():
    """{heading: script}, each as run in the shell that the first one sets up."""
    found = {title: fences(text, "sh")[0] for title, text in sections(read_source("docs", "recipes.md")).items()}
    first = found["The run"].splitlines()[0]
    check(first.startswith("export "), f"the shell: {first}")
    return {title: f"{first}\n{script}" for title, script in found.items()}


def german_with_mawk():
    """The environment of a locale that mawk obeys, unlike gawk, in which awk is mawk."""
    need_program("mawk")
    directory = temp_directory()
    os.symlink(shutil.which("mawk"), os.path.join(directory, "awk"))
    environment = german()
    return {**environment, "PATH": f"{directory}:{environment['PATH']}"}


def test_recipes_agree_with_the_rows():
    need_program("gnuplot", "awk", "python3")
    found, environment = recipes(), german_with_mawk()
    check_equal(list(found), list(RECIPES), "recipes")
    half = run_command(["sh", "-c", "awk 'BEGIN {print 1 / 2}'"], env=environment).stdout
    check_equal(half, "0,5\n", "the control: what awk prints without LC_ALL=C")
    directory = temp_directory()
    with Server() as server:
        for title, script in found.items():
            out = run_example(script, server.port, directory, env=environment)
            with stall_may_spoil():
                RECIPES[title](out, *rows_of(directory), directory)
        hard = found["A service level as the exit code"].replace("p99<50ms", "p99<1us").replace("-t 3", "-t 1")
        out = run_example(hard, server.port, directory, env=environment)
        check(out.startswith("exit code "), f"the control: a goal that is not met: {out!r}")
        check_goals(out, [], [], directory)
        # control: with fewer answers in the file the recipes see it
        path = os.path.join(directory, "rows.csv")
        with open(path) as f:
            lines = f.readlines()
        lost = [line for line in lines if line.startswith("A")][100:107]
        with open(path, "w") as f:
            f.writelines(line for line in lines if line not in lost)
        n_open = len(rows_of(directory)[0]) - len(rows_of(directory)[1])
        check(n_open >= 7, "the control takes answers away")
        check_equal(int(run_example(found["Unanswered queries"], server.port, directory).split()[0]), n_open, "the control: unanswered")


# what the recipes for rows.csv print without any row, but for the pictures; the others print nothing
OF_NO_ROWS = {"Unanswered queries": "0 of 0 unanswered\n", "Queries in flight": "0 in flight at most\n"}
PICTURES = "Cumulative distribution", "Heat map"


def test_recipes_need_no_rows():
    need_program("awk")
    directory = temp_directory()
    write_text(os.path.join(directory, "rows.csv"), "type,timestamp\n")
    for title, script in recipes().items():
        if "rows.csv" in script and title not in ("The run", *PICTURES):
            check_equal(run_example(script, 0, directory), OF_NO_ROWS.get(title, ""), title)


def test_a_second_without_an_answer_has_no_slowest_one():
    need_program("awk")
    directory = temp_directory()
    write_text(os.path.join(directory, "run.hlog"), "0.004,0.996,0.000000,H\n1.003,1.000,2.598932,H\nTag=net,1.003,1.000,1.5,H\n")
    check_equal(run_example(recipes()["The slowest answer of each second, without rows"], 0, directory), "1.003 2.598932\n", "seconds")


if __name__ == "__main__":
    main()
