/* SPDX-License-Identifier: MIT
 * outcome: how a connection or a query ends: a phase and a reason.
 *
 * Pure.  Both lists are one X-macro each; the enums, the texts, the remedies and a
 * test of docs/limits.md come from them.  Names are stable: they are keys in the JSON result. */
#ifndef TCPSCALER_MEASURE_OUTCOME_H
#define TCPSCALER_MEASURE_OUTCOME_H

#include <stdint.h>

/* id, name.  In the order a connection lives through them. */
#define OUTCOME_PHASES(X)                                                                          \
    X(RESOLVE, "resolve")                                                                          \
    X(SOCKET, "socket")                                                                            \
    X(BIND, "bind")                                                                                \
    X(CONNECT, "connect")                                                                          \
    X(TLS, "tls")                                                                                  \
    X(SEND, "send")                                                                                \
    X(RECEIVE, "receive")                                                                          \
    X(PROTOCOL, "protocol")                                                                        \
    X(RUN, "run")

/* id, name, remedy (one line, NULL where nothing is wrong). */
#define OUTCOME_REASONS(X)                                                                         \
    X(FINISHED, "finished", NULL)                                                                  \
    X(CANCELLED, "cancelled", NULL)                                                                \
    X(PORTS, "source ports exhausted",                                                             \
      "give more tuples: --source with more addresses, or a wider --sport range")                  \
    X(FDS, "fd limit", "raise the hard limit (ulimit -Hn)")                                        \
    X(MEMORY, "no memory",                                                                         \
      "there is none left: of the machine, of the cgroup's limit, of net.ipv4.tcp_mem (compare "   \
      "/proc/net/sockstat 'mem') or of ulimit -v")                                                 \
    X(REFUSED, "refused", "nothing listens there, or it answers with a reset")                     \
    X(UNREACHABLE, "unreachable", "check routes, firewall and that the source address is local")   \
    X(PERMISSION, "not permitted",                                                                 \
      "a firewall rule or a privileged port (net.ipv4.ip_unprivileged_port_start) forbids it")     \
    X(TIMEOUT, "timed out", "no answer in time: see --connect-timeout and --timeout")              \
    X(RESET, "reset", "the peer or something between reset the connection: look in its log")       \
    X(PEER, "closed by peer",                                                                      \
      "the server ended it: it stopped, or a limit or an idle timeout of its")                     \
    X(HALF_OPEN, "half-open",                                                                      \
      "established here, never answered: raise the server's backlog and net.core.somaxconn, or "   \
      "its "                                                                                       \
      "connection limit")                                                                          \
    X(MALFORMED, "malformed reply", "the peer does not speak this --protocol, or not over TLS")    \
    X(CERT_EXPIRED, "certificate expired",                                                         \
      "renew the server's certificate and compare the clocks, or --tls-insecure")                  \
    X(CERT_NAME, "certificate of another name",                                                    \
      "--tls-name with a name that stands in it, or --tls-insecure")                               \
    X(CERT_UNTRUSTED, "certificate not trusted",                                                   \
      "--tls-ca with the CA that signed it, or --tls-insecure")                                    \
    X(NO_AGREEMENT, "no common version or cipher",                                                 \
      "compare --tls-min and --tls-ciphers with what the server allows")                           \
    X(ALERT, "tls alert", "the peer's TLS ended it: look in its log")                              \
    X(SELF, "connected to itself",                                                                 \
      "nothing listens there and the source port was the target's own: start the server first")    \
    X(OTHER, "other error", "the first error's text is on stderr")

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

/* The reason behind an errno of socket(2), bind(2), connect(2), send(2), recv(2) or accept(2):
 * EADDRINUSE and EADDRNOTAVAIL are one class, "source ports exhausted"; ECONNRESET, EPIPE and
 * ECONNABORTED (of `ss -K` on this host) are one, "reset"; ENOBUFS and ENOMEM are "no memory".
 * Anything unknown is REASON_OTHER.
 * Note: bind() to an address that is not local also gives EADDRNOTAVAIL; the caller, who knows
 * the phase, turns that into REASON_UNREACHABLE. */
enum outcome_reason outcome_reason_of_errno(int error);

#endif
