# SPDX-License-Identifier: MIT
"""The connections of classes: TLS and ports of their own, how long they are used, and whom the run blames for those that
fail."""

from helpers.authority import *
from helpers.class_runs import *
from helpers.control_api import control_path, stats
from helpers.faults import *


@covered_by_others
def test_one_class_may_use_tls_on_a_port_of_its_own():
    ca = Authority()
    cert, key = ca.sign()
    plain, secure = Server(), Server("--tls-cert", cert, "--tls-key", key)
    r = run_classes(plain.port, "-t", 1, "-i", "100ms", "--threads", 2, "--tls-ca", ca.cert, connections=20,
                    classes=("name=plain,share=60%", f"name=secure,share=40%,tls=yes,port={secure.port}"))
    classes = check_classes(r)
    check_equal([c["connections"]["secured"] for c in classes.values()], [0, 8], "secured")
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")
    for server, name, n in ((plain, "plain", 12), (secure, "secure", 8)):
        server.stop()
        check_equal((server.result["accepted"], server.result["tls_handshakes"]), (n, n if name == "secure" else 0), name)
    check_complete(r)


def test_one_class_may_do_without_the_tls_of_the_others():
    ca = Authority()
    cert, key = ca.sign()
    plain, secure = Server(), Server("--tls-cert", cert, "--tls-key", key)
    r = run_classes(secure.port, "-t", "500ms", "-r", 100, "--tls", "--tls-ca", ca.cert, connections=10, classes=(
        f"name=plain,share=50%,tls=no,port={plain.port}", "name=secure,share=50%"))
    check_equal([c["connections"]["secured"] for c in check_classes(r).values()], [0, 5], "secured")
    check_equal(r.json["queries"]["answered"], r.json["queries"]["scheduled"], "answered")


@covered_by_others
def test_tickets_are_those_of_the_port():
    """Two servers, each with keys of its own; two of the classes have a port in common. Their connections alternate."""
    ca = Authority()
    cert, key = ca.sign()
    controls = [control_path() for _ in range(2)]
    one, two = (Server("--tls-cert", cert, "--tls-key", key, "--control", at) for at in controls)
    churn = ("--queries-per-conn", 1, "-r", 100, "--threads", 1, "--connect-window", 1, "--prove", "yes")
    client = Client(*class_arguments(one.port, "--tls", "--tls-ca", ca.cert, *churn, connections=3, classes=(
        "name=a,share=33%", f"name=b,share=33%,port={two.port}", "name=c,share=34%")))
    wait_for_client(client, lambda: all(stats(at)["tls_handshakes"] > 10 for at in controls), "handshakes with both")
    client.process.send_signal(signal.SIGINT)
    r = client.wait()
    check_classes(r)
    n_resumed = 0
    for server in (one, two):
        server.stop()
        n = server.result["tls_handshakes"]
        check_equal(server.result["tls_resumed"], n - 1, f"resumed of {n}: all but the first")
        n_resumed += n - 1
    check_equal(r.json["tls"]["resumed"], n_resumed, "the client's count")


def test_connections_carry_as_many_queries_as_their_class_says():
    server = Server()
    r = run_classes(server.port, "-t", 1, "-i", "50ms", connections=20,
                    classes=("name=short,share=50%,queries-per-conn=4", "name=long,share=50%"))
    classes = check_classes(r)
    server.stop()
    short, long = classes["short"], classes["long"]
    check_equal(long["connections"]["attempted"], 10, "connections that carry all queries")
    check_equal((short["probes"]["sent"], long["probes"]["sent"]), (0, 10), "the first query proves the short ones")
    n, sent = short["connections"]["attempted"], short["queries"]["sent"]
    check_between(n, sent / 4, sent / 4 + 10, f"connections of 4 queries, for {sent}")
    check_equal(server.result["accepted"], r.json["connections"]["connected"], "accepted by the server")


@covered_by_others
def test_each_class_closes_after_its_own_idle_time():
    server = Server()
    r = run_classes(server.port, "-t", 2, "-i", "300ms", "--on-demand", connections=20,
                    classes=("name=stub,share=50%,idle-close=20ms", "name=forwarder,share=50%,idle-close=10m"))
    classes = check_classes(r)
    check_equal(classes["forwarder"]["connections"]["attempted"], 10, "connections that are never idle for so long")
    with stall_may_spoil():  # the next query may be due first
        check(classes["stub"]["connections"]["attempted"] > 20, "connections that are closed when idle")


def check_silent_port(r, says):
    """Half of 20 connections are to this port."""
    lines = [(line["limit"], line["connections"], line["evidence"]) for line in r.json["diagnosis"]]
    with stall_may_spoil():  # an answer may come after the timeout
        check_equal(lines, [("nobody answers", 10, says)], "limiting factors")


def test_a_port_that_answers_nothing_is_not_taken_for_a_full_one():
    """Its server speaks another protocol."""
    server, other = Server(), Server("--protocol", "ping")
    r = run_classes(server.port, "-t", 1, "-i", "100ms", "--timeout", "500ms", connections=20, classes=(
        "name=good,share=50%", f"name=bad,share=50%,port={other.port}"))
    check_classes(r)
    check_silent_port(r, f"no connection to 127.0.0.1:{other.port} ever got an answer; all others that were established did")


def test_a_port_that_closes_before_an_answer_is_named():
    """Its server has reached its limit of connections."""
    server, other = Server(), Server("--max-connections", 1)
    with socket.create_connection(("127.0.0.1", other.port)) as only:
        only.sendall(b"\0\2hi")
        check_equal(only.recv(4, socket.MSG_WAITALL), b"\0\2hi", "the one that is served")
        r = run_classes(server.port, "-t", 1, "-i", "100ms", connections=20, classes=(
            "name=good,share=50%", f"name=bad,share=50%,port={other.port}"))
    check_classes(r)
    check_silent_port(r, f"no connection to 127.0.0.1:{other.port} ever got an answer (10 closed or reset); all others that were "
                         "established did")


def test_a_class_that_cannot_connect_does_not_take_queries_from_others():
    server, nobody = Server(), Server(port=free_port())
    nobody.stop()
    r = run_classes(server.port, "-t", 1, "-i", "100ms", connections=20, classes=(
        "name=good,share=50%", f"name=bad,share=50%,port={nobody.port}"))
    classes = check_classes(r)
    line = r.json["diagnosis"][0]
    check_equal((line["limit"], line["connections"]), ("nobody listens", 10), "limiting factor")
    check(line["evidence"].endswith(f"nothing listens on 127.0.0.1:{nobody.port}"), line["evidence"])
    bad, good = classes["bad"], classes["good"]
    check_equal((bad["connections"]["connected"], bad["queries"]["unsent"]), (0, bad["queries"]["scheduled"]), "bad")
    check_equal((good["queries"]["answered"], good["queries"]["rerouted"]), (good["queries"]["scheduled"], 0), "good")
    check_near(bad["queries"]["scheduled"], good["queries"]["scheduled"], 1, "queries of both")


def test_a_name_resolves_to_the_address_that_serves_the_classes():
    """Nothing listens on the port of the run, which no class uses."""
    need_root()
    server, nobody = Server(bind="127.0.0.2"), Server(port=free_port())
    nobody.stop()
    r = run_client("-p", nobody.port, "-c", 4, "-t", "300ms", "-i", "100ms", "--class", f"name=a,share=100%,port={server.port}", "two.example",
                   prefix=knowing("127.0.0.1 two.example", "127.0.0.2 two.example"))
    check_equal(check_classes(r)["a"]["connections"]["connected"], 4, f"connections: {r.err}")


def test_a_server_that_still_accepts_is_not_reported_as_gone():
    """It ends each connection after its proof. The port of the run, which no class uses, accepts nothing."""
    server, nobody = FaultServer("--close-every", 1), Server(port=free_port())
    nobody.stop()
    r = run_client("-p", nobody.port, "-c", 10, "-t", "500ms", "-i", "50ms", "--class", f"name=a,share=100%,port={server.port}", "127.0.0.1")
    check_conservation(r)
    server.stop()
    check_equal([(d["limit"], d["connections"]) for d in r.json["diagnosis"]], [("the server's limits", 10)], "diagnosis")
    with stall_may_spoil():  # a client that is late finds them idle
        check("10 that had answered, after 1 query each" in r.json["diagnosis"][0]["evidence"], r.err)


if __name__ == "__main__":
    main()
