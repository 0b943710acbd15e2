# SPDX-License-Identifier: MIT
"""docs/result.schema.json against real results: they are valid, even if unknown keys are forbidden; altered ones are not."""

import copy

from helpers.faults import *
from helpers.harness import *
from helpers.authority import Authority

PATH = os.path.join(SOURCE_DIR, "docs", "result.schema.json")
# Debian's package is for Debian's interpreter, which need not be this one.
VALIDATE = """
import json, sys
import jsonschema
answers = []
for schema, results in json.load(sys.stdin):
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    answers.append([[f"{list(e.absolute_path)}: {e.message}"[:300] for e in validator.iter_errors(r)] for r in results])
print(json.dumps(answers))
"""


def errors_of(*questions):
    """Of each (schema, results): the errors of each result.  All in one process: to load the module takes 0.3 s of CPU time."""
    find = "import importlib.util, sys; sys.exit(importlib.util.find_spec('jsonschema') is None)"
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", find]).returncode == 0:
            break
    else:
        skip("the Python module jsonschema is not installed (Debian: python3-jsonschema)")
    r = run_command([python, "-c", VALIDATE], input=json.dumps(questions))
    check_equal(r.returncode, 0, r.stderr)
    return json.loads(r.stdout)


def schema():
    return read_json(PATH)


def closed(part):
    """The schema that allows no key but those it names."""
    if isinstance(part, list):
        return [closed(p) for p in part]
    if not isinstance(part, dict):
        return part
    part = {key: closed(value) for key, value in part.items()}
    if "properties" in part and "type" in part:
        part.setdefault("additionalProperties", False)
    return part


def real_results():
    """{what: result} of runs that have everything, nothing, losses, an interrupt."""
    source = ["--close", "rst", "--source", f"127.10.{RUN % 250}.1"]
    results = {}
    faulty = FaultServer("--drop-every", 3, "--reset-every", 50)
    with Server() as server:
        to_server = ["-p", server.port, *source]
        results["full"] = run_client(*to_server, "-c", 20, "-r", 2000, "-t", 1, "-R", "--kernel-ts",
                                     "--warmup", "100ms", "127.0.0.1").json
        results["search"] = run_client(*to_server, "-c", 5, "--find", "rate", "--find-range", "50-100", "--slo",
                                       "p50<100ms", "--find-time", "8s", "127.0.0.1").json
        results["watched"] = run_client(*to_server, "-c", 200, "-r", 500, "-t", "2500ms", "--watch", server.pid, "127.0.0.1").json
        results["sweep"] = run_client(*to_server, "--protocol", "echo", "--find", "rate", "--find-range", "50-100", "--sweep",
                                      "size=64,1k", "--find-time", "4s", "127.0.0.1").json
        results["arrivals"] = run_client(*to_server, "-c", 50, "-n", 5000, "--connect-arrival", "constant", "-t", "200ms",
                                         "127.0.0.1").json
        results["goals"] = run_client(*to_server, "-c", 5, "-r", 100, "-t", "300ms", "--assert", "p50<1ns,lost<0.1%",
                                      "127.0.0.1").json
        results["hold"] = run_client(*to_server, "-c", 5, "-t", "300ms", "127.0.0.1").json
        results["at a moment"] = run_client(*to_server, "-c", 5, "-r", 100, "-t", "300ms", "--start-at",
                                            f"{time.time() + 1:.3f}", "--late-max", "1m", "127.0.0.1").json
        results["echo"] = run_client(*to_server, "-c", 5, "-i", "50ms", "-t", "300ms", "--protocol", "echo",
                                     "127.0.0.1").json
        results["closed loop"] = run_client(*to_server, "-c", 5, "-i", "50ms", "--loop", "closed", "-t",
                                            "300ms", "127.0.0.1").json
        results["churn"] = run_client(*to_server, "-c", 5, "-r", 200, "--queries-per-conn", 5, "--reconnect",
                                      "-t", "500ms", "127.0.0.1").json
        results["on demand"] = run_client(*to_server, "-c", 5, "-r", 200, "--on-demand", "--idle-close", "10ms", "-t",
                                          "500ms", "127.0.0.1").json
        results["classes"] = run_client(*to_server, "-c", 10, "-r", 200, "-t", "500ms", "--class", "name=a,share=30%", "--class",
                                        "name=b,share=70%,interval=1s,edns=1232", "127.0.0.1").json
        client = Client(*to_server, "-c", 5, "-r", 100, "--stats-interval", "200ms", "127.0.0.1")
        wait_until_running(client)
        client.process.send_signal(signal.SIGINT)
        results["interrupted"] = client.wait().json
    with Server("--push", 500) as pushing:
        results["listen"] = run_client("-p", pushing.port, *source, "-c", 5, "--protocol", "listen", "-t", "300ms",
                                       "--drain", 0, "127.0.0.1").json
    ca = Authority()
    cert, key = ca.sign()
    with Server("--tls-cert", cert, "--tls-key", key) as tls_server:
        results["tls"] = run_client("-p", tls_server.port, *source, "--tls", "--tls-ca", ca.cert, "-c", 5, "-r",
                                    200, "-t", "300ms", "127.0.0.1").json
    datagrams = UdpServer("--drop-every", 10)
    results["datagrams"] = run_client("-p", datagrams.port, "--transport", "udp", "-c", 5, "-r", 300, "-t", "500ms", "--timeout",
                                      "500ms", "127.0.0.1").json
    datagrams.stop()
    results["losses"] = run_client("-p", faulty.port, *source, "-c", 10, "-r", 300, "-t", 1, "--timeout",
                                   "200ms", "127.0.0.1").json
    results["refused"] = run_client("-p", server.port, *source, "-c", 5, "-t", "200ms", "127.0.0.1").json
    faulty.stop()
    for what, result in results.items():
        check(result is not None, f"no result of the run {what}")
    check(results["at a moment"]["start"], "it has a start")
    check(results["watched"]["server_cost"]["user_bytes_per_connection"], "it has a cost")
    check(results["losses"]["queries"]["outcomes"] and results["refused"]["diagnosis"], "the runs failed")
    return results


def merged(*results):
    directory = temp_directory()
    for i, result in enumerate(results):
        write_json(f"{directory}/{i}.json", result)
    r = run_command([TCPREPORT, "merge", "--json", "-", *[f"{directory}/{i}.json" for i in range(len(results))]])
    check(r.returncode in (0, 3), r.stderr)
    return json.loads(r.stdout)


def changed(result):
    """{what: a result that is none}."""
    changes = {"a count below 0": lambda r: r["queries"].update(sent=-1),
               "a key less": lambda r: r["queries"].pop("sent"),
               "no verdict": lambda r: r.pop("verdict"),
               "another verdict": lambda r: r.update(verdict="GREAT"),
               "another schema": lambda r: r.update(schema=2),
               "a figure as text": lambda r: r["latency_ns"]["response"].update(p50="5"),
               "an unknown doubt": lambda r: r.update(reasons=["moon"]),
               "an unknown phase": lambda r: r["queries"].update(outcomes={"moon/refused": 1}),
               "tcpclient with instances": lambda r: r.update(instances=[])}
    wrong = {}
    for what, change in changes.items():
        wrong[what] = copy.deepcopy(result)
        change(wrong[what])
    return wrong


def test_results_match_the_schema():
    results = real_results()
    results["merged"] = merged(results["full"], results["losses"])
    results["merged at a moment"] = merged(results["at a moment"], results["full"])
    for what, name in (("on demand", "on demand"), ("classes", "classes"), ("datagrams", "datagrams"), ("listeners", "listen")):
        results[f"merged {what}"] = merged(results[name], {**results[name], "seed": 99})
    wrong, added = changed(results["full"]), {**results["full"], "moon": 1}
    of_open, of_closed = errors_of((schema(), [*results.values(), added, *wrong.values()]), (closed(schema()), [*results.values(), added]))
    n = len(results)
    for what, errors in (("the schema", of_open), ("the closed schema", of_closed)):
        check_equal({name: e for name, e in zip(results, errors) if e}, {}, f"errors against {what}")
    check_equal(of_open[n], [], "keys may be added")
    check(of_closed[n], "the control of the closed one: a key more is noticed")
    for what, errors in zip(wrong, of_open[n + 1:], strict=True):
        check(errors, f"the control: {what} is noticed")


def test_schema_names_every_doubt_and_phase():
    doubts = re.findall(r'X\(\w+,\s*"([^"]+)"', read_source("include", "measure/verdict.h"))
    check_equal(schema()["properties"]["reasons"]["items"]["enum"], doubts, "doubts")
    phases = re.findall(r'X\(\w+,\s*"([^"]+)"\)', read_source("include", "measure/outcome.h"))
    check_equal(schema()["$defs"]["outcomes"]["propertyNames"]["pattern"], f"^({'|'.join(phases)})/.", "phases")


def names_in(path, begin, end="};"):
    """The strings of a table, from the text `begin` on."""
    found = re.findall(r'"([a-z-]+)"', read_source(path).split(begin)[1].split(end)[0])
    check(len(found) > 1, f"names in {path}: {found}")
    return found


def choices_in(path, name):
    choices, = re.findall(rf'#define {name} +"([^"]+)"', read_source(path))
    return choices.split("|")


def test_schema_lists_the_names_of_every_state():
    names = "src/client/search/search_names.c"
    of_search = schema()["$defs"]["search"]["properties"]
    of_trial = of_search["trials"]["items"]["properties"]
    of_run = schema()["properties"]
    for what, part, found in (
            ("state", of_run["state"], names_in("src/client/report_json.c", "states[] = {")),
            ("pacing", of_run["host"]["properties"]["pacing"], choices_in("include/client/worker/config.h", "CLIENT_PACES")),
            ("over", of_run["sweep"]["properties"]["over"], names_in("src/client/opts_sweep.c", "axes[] = {")),
            ("find", of_search["find"], choices_in("include/client/opts_table.h", "CLIENT_FINDS")[1:]),
            ("status", of_search["status"], names_in(names, "search_status_name(")),
            ("reason", of_search["reason"], names_in(names, "search_reason_name(")),
            ("bound_by", of_search["bound_by"], names_in("src/client/find_bound.c", "client_find_bound_name(")),
            ("step", of_trial["step"], names_in(names, "search_step_name(")[:-1]),  # without "recover", which is no trial
            ("class", of_trial["class"], names_in("src/client/search/trial.c", "trial_class_name("))):
        check_equal({value for value in part["enum"] if value}, set(found), f"values of {what}")


if __name__ == "__main__":
    main()
