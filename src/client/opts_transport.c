/* SPDX-License-Identifier: MIT
 * client_opts_transport: see client/opts_transport.h. */
#include "client/opts_transport.h"

#include "client/opts_check.h"
#include "client/opts_classes.h"
#include "client/worker/config.h"
#include "config/options_conflict.h"

#include <stddef.h>

int client_opts_check_transport(const struct client_opts *o, char *error)
{
    const struct options_conflict of_tcp[] = {
        {"--tls", o->tls || client_opts_uses_tls(o), "TLS runs over TCP"},
        {"--proxy-protocol", o->proxy != PROXY_HEADER_NONE, "its header begins a TCP connection"},
        {"--proxy-source", o->proxy_source != NULL, "a PROXY header begins a TCP connection"},
        {"--on-demand", o->on_demand, "a UDP socket has no handshake to save"},
        {"--idle-close", o->idle_close_ns > 0, "a UDP socket has no handshake to save"},
        {"--keepalive", o->keepalive, "edns-tcp-keepalive is for TCP"},
        {"--connect-arrival", o->connect_arrival != CLIENT_CONNECT_WINDOW,
         "a UDP socket has no handshake to time"},
        {"--find connections", o->find == CLIENT_FIND_CONNECTIONS,
         "a server holds no UDP connections"},
        {"--find connect-rate", o->find == CLIENT_FIND_CONNECT_RATE,
         "a UDP socket has no handshake to time"},
        {"--close", was_given("close"), "a UDP socket sends nothing when it is closed"},
        {"--quickack", o->quickack, "UDP has no acknowledgements"},
        {"--server-control", o->server_control != NULL, "tcpserver does not answer over UDP"},
    };

    if (o->transport == CLIENT_UDP && o->protocol != QUERY_DNS)
        return REFUSE("--transport: 'udp' requires --protocol dns");
    if (o->transport != CLIENT_UDP)
        return 0;
    return options_refuse_conflicts("--transport: 'udp'", of_tcp, N(of_tcp), error);
}
