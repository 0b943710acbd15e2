# SPDX-License-Identifier: MIT
"""The Grafana dashboard and the scrape example: every expression names metrics that the programs export."""

import urllib.error
import urllib.parse
import urllib.request

from helpers.control_api import *
from control_metrics import start_prometheus

DASHBOARD = os.path.join(SOURCE_DIR, "docs", "grafana-dashboard.json")
PAGE = os.path.join(SOURCE_DIR, "docs", "monitoring.md")
SCRAPE = os.path.join(SOURCE_DIR, "docs", "prometheus.example.yml")
# What Grafana takes for the scrape interval if neither a query ("Min step") nor the data source has one.
GRAFANA_INTERVAL = "15s"


def dashboard():
    return read_json(DASHBOARD)


def expressions(board):
    """The queries of all panels and variables."""
    found = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    return found + [v["query"]["query"] for v in board["templating"]["list"] if v["type"] == "query"]


def names(expression):
    return set(re.findall(r"\btcp(?:client|server)_\w+", expression))


def rate_interval(target):
    """$__rate_interval, as Grafana computes it unless points are further apart than scrapes."""
    return f"{4 * int(target.get('interval', GRAFANA_INTERVAL).removesuffix('s'))}s"


def query_of(target):
    """Its expression, with the variables replaced as Grafana does it."""
    query = re.sub(r"\$(client|server)\b", ".*", target["expr"].replace("$__rate_interval", rate_interval(target)))
    check("$" not in query, f"variables of {query}")
    return query


def exported(run):
    """Names of the samples and labels of both programs."""
    text = "".join(metrics(address)[0] for address in (run.at_client, run.at_server))
    found = set(re.findall(r"^(\w+)(?:\{.*\})? ", text, re.M)) | set(re.findall(r"^# TYPE (\w+) counter$", text, re.M))
    return found, {label for labels in re.findall(r"\{(.*)\}", text) for label in re.findall(r'(\w+)="', labels)}


def unknown(board, found):
    return {name for e in expressions(board) for name in names(e)} - found


def test_dashboard_names_only_metrics_that_exist():
    run = Steered("-c", 20, "-r", 500)
    found, labels = exported(run)
    board = dashboard()
    check(len(expressions(board)) > 20 and all(names(e) for e in expressions(board)), "each expression names a metric")
    check_equal(unknown(board, found), set(), "metrics that nobody exports")
    by = {label for e in expressions(board) for group in re.findall(r"by \(([^)]*)\)", e) for label in re.split(r", *", group)}
    check_equal(by - labels, {"outcome"} - labels, "labels that nobody exports")  # no connection need have ended yet
    board["panels"][0]["targets"][0]["expr"] = "rate(tcpclient_moons_total[1m])"
    check_equal(unknown(board, found), {"tcpclient_moons_total"}, "the control: a wrong name is noticed")
    run.stop()


def added_up(board, host_wide):
    """Metrics of a host that the dashboard adds up over its servers."""
    return {name for e in expressions(board) if "sum" in e for name in names(e) & host_wide}


def test_figures_of_a_host_are_not_added_up():
    """Two servers on one host both export them."""
    run = Steered("-c", 20, "-r", 500)
    text = metrics(run.at_server)[0]
    run.stop()
    host_wide = {name for name, words in re.findall(r"^# HELP (\w+) (.*)", text, re.M) if "this host" in words}
    board = dashboard()
    check(len(host_wide & {name for e in expressions(board) for name in names(e)}) >= 3, f"shown of {host_wide}")
    check_equal(added_up(board, host_wide), set(), "metrics of the host in a sum")
    board["panels"][0]["targets"][0]["expr"] = "sum(tcpserver_tcp_memory_bytes)"
    check_equal(added_up(board, host_wide), {"tcpserver_tcp_memory_bytes"}, "the control")


def test_token_of_the_page_is_accepted():
    need_program("openssl")
    command, = re.findall(r"`([^`]*openssl[^`]*)`", read_text(PAGE))
    directory = os.path.join(temp_directory(), "etc")
    r = run_command(["sh", "-c", command.replace("/etc/tcpscaler", directory)])
    check_equal((r.returncode, r.stderr), (0, ""), command)
    server = Server("--control", f"127.0.0.1:{free_port()}", "--control-token", f"{directory}/token")
    check_equal(server.stop(), 0, "tcpserver's exit code")


def explained(page):
    """The metrics that a page names, also as `x_*_total` (`a`, `b`) or `x_*_total`: `a`, `b`."""
    found = names(page)
    for pattern, parts in re.findall(r"`(tcp\w+\*\w+)`(?: \(|: )((?:`\w+`(?:,\s+)?)+)", page):
        found |= {pattern.replace("*", part) for part in re.findall(r"`(\w+)`", parts)}
    return found


def test_page_names_every_metric_that_the_dashboard_does_not_show():
    run = Steered("-c", 20, "-r", 500)
    text = "".join(metrics(address)[0] for address in (run.at_client, run.at_server))
    run.stop()
    found = set(re.findall(r"^# TYPE (\w+) ", text, re.M))
    shown = {re.sub("_bucket$", "", name) for e in expressions(dashboard()) for name in names(e)}
    with open(PAGE) as f:
        page = f.read()
    check_equal(found - shown - explained(page), set(), "metrics that nobody explains")
    check_equal(found - shown - explained(page.replace("`tcpserver_paused`", "")), {"tcpserver_paused"}, "the control")


def test_dashboard_can_be_imported():
    board = dashboard()
    check_equal((board["uid"], "id" in board), ("tcpscaler", False), "an identity of its own, none of an instance")
    ids = [panel["id"] for panel in board["panels"]]
    check_equal(len(set(ids)), len(ids), "panels with the same id")
    for panel in board["panels"]:
        check(panel["title"] and panel["fieldConfig"]["defaults"]["unit"], f"title and unit of {panel['title']}")
        place = panel["gridPos"]
        check(place["x"] + place["w"] <= 24, f"place of {panel['title']}: {place}")
        refs = [target["refId"] for target in panel["targets"]]
        check_equal(len(set(refs)), len(refs), f"queries of {panel['title']}")


def test_rates_cover_four_scrapes():
    scrape, = re.findall(r"^  scrape_interval: (\d+)s$", read_text(SCRAPE), re.M)
    for panel in dashboard()["panels"]:
        for target in panel["targets"]:
            check_equal(rate_interval(target), f"{4 * int(scrape)}s", f"time that {target['expr']} covers")
    check_equal(rate_interval({}), "60s", "the control: without a step of its own")


def test_scrape_example_is_valid():
    need_program("promtool")
    r = run_command(["promtool", "check", "config", "--syntax-only", SCRAPE])
    check_equal(r.returncode, 0, r.stdout + r.stderr)
    wrong = temp_path("wrong.yml")
    with open(SCRAPE) as f, open(wrong, "w") as g:
        g.write(f.read().replace("static_configs", "static_config"))
    r = run_command(["promtool", "check", "config", "--syntax-only", wrong])
    check(r.returncode != 0, "the control: a wrong key is noticed")


def answer(port, expression):
    """What Prometheus says: its status, and how many series there are."""
    url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
    try:
        with urllib.request.urlopen(url, timeout=HANGS_S) as response:
            return "success", len(json.load(response)["data"]["result"])
    except urllib.error.HTTPError as error:
        if error.code == 503:  # it still opens its database, and says so in plain text
            return None, 0
        return json.load(error)["status"], 0
    except OSError:
        return None, 0


@plain_build_only
def test_prometheus_answers_every_query_of_the_dashboard():
    need_program("prometheus")
    targets = {"tcpclient": f"127.0.0.1:{free_port()}", "tcpserver": f"127.0.0.1:{free_port()}"}
    port = start_prometheus(targets)
    run = Steered("-c", 50, "-r", 1000, "--queries-per-conn", 50, control=targets["tcpclient"],
                  server_control=targets["tcpserver"])
    for panel in dashboard()["panels"]:
        for target in panel["targets"]:
            expression = query_of(target)
            check_equal(wait_for(lambda: answer(port, expression)[0], "Prometheus"), "success", expression)
            wait_for(lambda: answer(port, expression)[1] > 0, f"a series of {expression}")
    check_equal(answer(port, "rate(tcpclient_queries_sent_total")[0], "error", "the control: a bad expression")
    run.stop()


if __name__ == "__main__":
    main()
