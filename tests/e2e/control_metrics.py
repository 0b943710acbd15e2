# SPDX-License-Identifier: MIT
"""The metrics of both programs, and a Prometheus that scrapes them."""

import urllib.parse
import urllib.request

from helpers.authority import Authority
from helpers.identities import *

OPENMETRICS = "application/openmetrics-text; version=1.0.0"


def test_metrics_are_well_formed():
    need_program("promtool")
    run = Steered("-c", 50, "-r", 1000)
    for address in (run.at_client, run.at_server):
        text, _ = metrics(address)
        r = run_command(["promtool", "check", "metrics"], input=text)
        check_equal((r.returncode, r.stdout + r.stderr), (0, ""), "promtool on the text form")
        check("# EOF" not in text, "the text form has no end")
        check(metrics(address, "-H", f"Accept: {OPENMETRICS}")[0].endswith("# EOF\n"), "OpenMetrics has one")
    run.stop()


def total(values, name):
    """Over all threads."""
    return sum(value for key, value in values.items() if key.split("{")[0] == name)


def check_in_between(address, names, figures):
    """The metrics lie between the figures of /stats read before and after: they only grow."""
    least = figures(stats(address))
    values = metrics(address)[1]
    most = figures(stats(address))
    for key, name in names.items():
        check(any(of.split("{")[0] == name for of in values), f"{name} of {address}")
        check_between(total(values, name), least[key], most[key], name)


def test_pushed_messages_are_in_the_metrics_of_both_sides():
    run = Steered("--protocol", "listen", "-c", 20, server_arguments=["--push", 1000])
    wait_for(lambda: stats(run.at_client)["push"]["measured"] > 0, "a message")
    check_in_between(run.at_client, {key: f"tcpclient_messages_{key}_total" for key in
                                     ("before", "measured", "after", "lost", "duplicate", "damaged", "negative")},
                     lambda j: j["push"])
    check_in_between(run.at_server, {"pushed": "tcpserver_messages_pushed_total",
                                     "push_dropped": "tcpserver_messages_dropped_total"}, lambda j: j)
    check(total(metrics(run.at_server)[1], "tcpserver_messages_pushed_total") > 0, "the server counts its messages")
    check_equal(total(metrics(run.at_server)[1], "tcpserver_connections_active"), 20, "subscribers")
    ask(run.at_client, "/stop")
    check_equal(run.client.wait().json["broken_law"], None, "the program's own check")
    run.server.stop()


def test_handshakes_and_proxy_headers_are_in_the_metrics_of_both_sides():
    ca = Authority()
    cert, key = ca.sign()
    run = Steered("-c", 30, "-r", 300, "--tls", "--tls-ca", ca.cert, *naming("v2"),
                  server_arguments=["--proxy-protocol", "--tls-cert", cert, "--tls-key", key])
    run.wait_until_both_agree()
    wait_for(lambda: stats(run.at_server)["tls_handshakes"] == 30, "the server's last handshake")
    check_in_between(run.at_client, {"handshakes": "tcpclient_tls_handshakes_total",
                                     "resumed": "tcpclient_tls_handshakes_resumed_total"}, lambda j: j["tls"])
    check_in_between(run.at_client, {"headers": "tcpclient_proxy_headers_total",
                                     "header_bytes": "tcpclient_proxy_header_bytes_total"}, lambda j: j["proxy"])
    check_in_between(run.at_server, {"tls_handshakes": "tcpserver_tls_handshakes_total",
                                     "tls_resumed": "tcpserver_tls_handshakes_resumed_total",
                                     "proxy_headers": "tcpserver_proxy_headers_total",
                                     "proxy_headers_local": "tcpserver_proxy_headers_local_total",
                                     "proxy_header_bytes": "tcpserver_proxy_header_bytes_total"}, lambda j: j)
    values = metrics(run.at_client)[1]
    check_equal((values["tcpclient_tls_handshakes_total"], values["tcpclient_proxy_headers_total"]), (30, 30), "connections")
    run.stop()


def test_stray_answers_retransmits_and_connections_on_demand_are_in_the_metrics():
    run = Steered("-c", 20, "-r", 500, "--on-demand", "--idle-close", "50ms")
    wait_for(lambda: stats(run.at_client)["on_demand"]["opened"] > 20, "connections opened again")
    check_in_between(run.at_client, {key: f"tcpclient_demand_{key}_total" for key in ("requested", "opened")},
                     lambda j: j["on_demand"])
    check_in_between(run.at_client, {"unconnected": "tcpclient_queries_unconnected_total"} |
                     {key: f"tcpclient_answers_{key}_total" for key in ("late", "duplicate", "unknown_id")},
                     lambda j: j["queries"])
    check_in_between(run.at_client, {key: f"tcpclient_{key}_total" for key in ("syn_retransmits", "retransmits")},
                     lambda j: j["connections"])
    run.stop()


def query(port, expression):
    """The sum that Prometheus has."""
    url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": f"sum({expression})"})
    with urllib.request.urlopen(url, timeout=HANGS_S) as answer:
        result = json.load(answer)["data"]["result"]
    return float(result[0]["value"][1]) if result else None


def value_of(port, expression):
    """The sum that Prometheus has after a scrape that was in time."""
    return wait_for(lambda: (value := query(port, expression)) is not None and [value], expression)[0]


def start_prometheus(targets):
    port, directory = free_port(), temp_directory()
    config = os.path.join(directory, "prometheus.yml")
    write_json(config, {"global": {"scrape_interval": "500ms"},  # JSON is YAML, too
                        "scrape_configs": [{"job_name": name, "static_configs": [{"targets": [target]}]}
                                           for name, target in targets.items()]})
    log = open(os.path.join(directory, "log"), "w")
    spawn(["prometheus", f"--config.file={config}", f"--storage.tsdb.path={directory}/data",
           f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
    return port


@plain_build_only
def test_prometheus_scrapes_the_counters_of_the_final_results():
    need_program("prometheus")
    targets = {"client": f"127.0.0.1:{free_port()}", "server": f"127.0.0.1:{free_port()}"}
    port = start_prometheus(targets)
    run = Steered("-c", 200, "-r", 2000, "--max-connections", 300, control=targets["client"],
                  server_control=targets["server"])
    ask(run.at_client, "/pause")
    ask(run.at_client, "/connections/start?n=100")
    wait_for(lambda: stats(run.at_client)["connections"]["live_at_end"] == 300, "300 live")
    ask(run.at_client, "/connections/stop?n=50")
    run.wait_until_both_agree()  # each thread has opened its connections after the pause began: it has sent what was due
    wait_for(lambda: stats(run.at_client)["queries"]["in_flight"] == 0, "quiet")
    last = metrics(run.at_client)[1]["tcpclient_queries_answered_total"]

    def scraped(expression, value):
        try:
            return query(port, expression) == value
        except OSError:
            return False

    # the histograms of the last second are collected a second later
    wait_for(lambda: scraped("tcpclient_response_seconds_count", last), "the last scrape of the client")
    wait_for(lambda: scraped("tcpclient_connections_proven_total", 300), "its connections")
    wait_for(lambda: scraped("tcpserver_connections_closed_total", 50), "the last scrape of the server")
    for key in ("received", "sent"):
        wait_for(lambda: scraped(f"tcpserver_{key}_bytes_total", stats(run.at_server)[f"bytes_{key}"]), "its bytes")
    names = {"client": ("queries_scheduled", "queries_sent", "queries_unsent", "queries_answered",
                        "queries_timeout", "queries_error", "connections_asked", "connections_attempted",
                        "connections_connected", "connections_proven", "sent_bytes", "received_bytes"),
             "server": ("connections_accepted", "connections_refused", "connections_closed", "received_bytes",
                        "sent_bytes", "accept_pauses", "back_pressure_pauses", "listen_overflows")}
    got = {name: {n: value_of(port, f"tcp{name}_{n}_total") for n in names[name]} for name in names}
    server = stats(run.at_server)
    r, _ = run.stop()
    j = r.json
    want = {f"queries_{n}": j["queries"][n]
            for n in ("scheduled", "sent", "unsent", "answered", "timeout", "error")}
    want |= {f"connections_{n}": j["connections"][n] for n in ("asked", "attempted", "connected", "proven")}
    want |= {f"{n}_bytes": j["resources"][f"bytes_{n}"] for n in ("sent", "received")}
    check_equal(got["client"], want, "what Prometheus has of the client, and the final JSON")
    want = {f"connections_{n}": server[n] for n in ("accepted", "refused")}
    want |= {"connections_closed": sum(server["closed"].values())}
    want |= {f"{n}_bytes": server[f"bytes_{n}"] for n in ("received", "sent")}
    want |= {n: server[n] for n in ("accept_pauses", "back_pressure_pauses", "listen_overflows")}
    check_equal(got["server"], want, "what Prometheus has of the server, and its JSON")
    check_equal((j["connections"]["proven"], server["active"]), (300, 250), "connections")
    for key in ("accepted", "bytes_received", "bytes_sent"):
        check_equal(run.server.result[key], server[key], f"{key} at the end")


if __name__ == "__main__":
    main()
