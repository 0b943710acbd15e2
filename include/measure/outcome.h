/* SPDX-License-Identifier: MIT
 * outcome: how a connection or query ended: a phase and a reason.
 *
 * Pure.  Both lists are X-macros; the enums, the texts, the remedies and a test of docs/limits.md
 * are generated from them.  Names are stable: they are keys in the JSON result. */
#ifndef TCPSCALER_MEASURE_OUTCOME_H
#define TCPSCALER_MEASURE_OUTCOME_H

/* id, name.  In the order a connection passes through them. */
#define OUTCOME_PHASES(X)                                                                          \
    X(SOCKET, "socket")                                                                            \
    X(BIND, "bind")                                                                                \
    X(CONNECT, "connect")                                                                          \
    X(TLS, "tls")                                                                                  \
    X(SEND, "send")                                                                                \
    X(RECEIVE, "receive")                                                                          \
    X(PROTOCOL, "protocol")                                                                        \
    X(RUN, "run")

/* id, name, remedy (one line; NULL if nothing is wrong). */
#define OUTCOME_REASONS(X)                                                                         \
    X(FINISHED, "finished", NULL)                                                                  \
    X(CANCELLED, "cancelled", NULL)                                                                \
    X(IDLE, "idle", NULL)                                                                          \
    X(KEEPALIVE, "keepalive timeout", NULL)                                                        \
    X(PORTS, "source ports exhausted",                                                             \
      "add source tuples: --source with more addresses, or a wider --sport range")                 \
    X(FDS, "fd limit", "raise the hard limit (ulimit -Hn)")                                        \
    X(MEMORY, "no memory",                                                                         \
      "raise what was exhausted: the machine's memory, the cgroup's limit, net.ipv4.tcp_mem "      \
      "(compare 'mem' in /proc/net/sockstat), ulimit -v or -d")                                    \
    X(WATCHES, "epoll limit",                                                                      \
      "raise fs.epoll.max_user_watches: all processes of the user share it")                       \
    X(REFUSED, "refused", "nothing listens on that port, or a firewall rejects the connection")    \
    X(ROUTE, "no route",                                                                           \
      "check this host's routes (ip route get ADDRESS), and that its link is up")                  \
    X(UNREACHABLE, "unreachable",                                                                  \
      "check the routes, the firewall and that the source address is local")                       \
    X(PERMISSION, "not permitted",                                                                 \
      "denied by a firewall rule, or a privileged port (net.ipv4.ip_unprivileged_port_start)")     \
    X(TIMEOUT, "timed out", "no answer in time: see --connect-timeout and --timeout")              \
    X(RESET, "reset", "the peer or a middlebox reset the connection: see the peer's log")          \
    X(PEER, "closed by peer",                                                                      \
      "the server closed the connection: it stopped, or a limit or its idle timeout was reached")  \
    X(HALF_OPEN, "half-open",                                                                      \
      "connected, but never answered: if other connections were, raise a TCP server's backlog "    \
      "and net.core.somaxconn, or its limit of connections or open files")                         \
    X(MALFORMED, "malformed reply",                                                                \
      "the peer does not speak this --protocol, or does not use TLS")                              \
    X(CERT_EXPIRED, "certificate expired",                                                         \
      "renew the server's certificate, check both clocks, or use --tls-insecure")                  \
    X(CERT_NAME, "certificate of another name",                                                    \
      "use --tls-name with a name in the certificate, or --tls-insecure")                          \
    X(CERT_UNTRUSTED, "certificate not trusted",                                                   \
      "use --tls-ca with the CA that signed it, or --tls-insecure")                                \
    X(NO_AGREEMENT, "no common version or cipher",                                                 \
      "compare --tls-min and --tls-ciphers with what the server accepts")                          \
    X(ALERT, "tls alert", "the peer sent a fatal TLS alert: see its log")                          \
    X(SELF, "connected to itself",                                                                 \
      "nothing listens there and the source port equalled the target's: start the server first")   \
    X(OTHER, "other error", "see the first error on stderr")

#define OUTCOME_ENUM_PHASE(id, name)          PHASE_##id,
#define OUTCOME_ENUM_REASON(id, name, remedy) REASON_##id,

enum outcome_phase { OUTCOME_PHASES(OUTCOME_ENUM_PHASE) OUTCOME_N_PHASES };
enum outcome_reason { OUTCOME_REASONS(OUTCOME_ENUM_REASON) OUTCOME_N_REASONS };

struct outcome {
    enum outcome_phase phase;
    enum outcome_reason reason;
};

const char *outcome_phase_name(enum outcome_phase phase);
const char *outcome_reason_name(enum outcome_reason reason);
const char *outcome_remedy(enum outcome_reason reason); /* NULL when nothing is wrong */

/* The reason for an errno of socket(2), bind(2), connect(2), send(2), recv(2) or accept(2):
 * EADDRINUSE and EADDRNOTAVAIL are "source ports exhausted"; ECONNRESET, EPIPE and ECONNABORTED (of
 * `ss -K` on this host) are "reset"; ENOBUFS and ENOMEM are "no memory"; ENOSPC, of epoll_ctl(2),
 * is "epoll limit"; EINVAL, of a route that discards packets (ip-route(8), blackhole), is
 * "unreachable".  Everything unknown is REASON_OTHER. Note: bind() to an address that is not
 * local also fails with EADDRNOTAVAIL; the caller, who knows the phase, turns that into
 * REASON_UNREACHABLE, and REASON_UNREACHABLE of connect(2) itself into REASON_ROUTE. */
enum outcome_reason outcome_reason_of_errno(int error);

#endif
