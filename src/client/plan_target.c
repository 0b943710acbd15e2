/* SPDX-License-Identifier: MIT
 * client_plan_target: see client/plan_target.h. */
#include "client/plan_target.h"

#include "base/log.h"
#include "client/opts_class.h"
#include "client/opts_classes.h"
#include "client/worker/proxy.h"
#include "host/netdev.h"
#include "net/sock.h"
#include "net/tls_context.h"
#include "protocol/query_dns.h"

#include <sys/socket.h>

/* Returns a port that connections go to: that of the run, unless all classes have their own. */
static uint16_t port_of(const struct client_opts *o)
{
    for (unsigned k = 0; k < o->n_classes; k++)
        if (o->classes[k].opts.server.port == 0)
            return o->server.port;
    return o->n_classes > 0 ? o->classes[0].opts.server.port : o->server.port;
}

/* Over UDP no address can be tested, so the first of several is taken. */
static int resolve(struct client_config *config, const struct client_opts *o, char *error)
{
    const struct sock_greeting greeting = client_proxy_greeting(config);
    const int family = srcplan_family(&config->plan);
    struct endpoint server = o->server;
    int failed;

    if (config->socket.datagrams)
        return sock_resolve(&server, family, &config->target, error);
    server.port = port_of(o);
    failed = sock_resolve_server(&server, family, &greeting, &config->target, error);
    if (!failed)
        sock_set_port(&config->target, o->server.port);
    return failed;
}

static bool lacks_interface(const struct client_config *config)
{
    const struct srcplan *sources = &config->plan;

    return sock_lacks_interface(&config->target) &&
           (sources->n_ranges == 0 || sources->ranges[0].first.scope == 0);
}

int client_plan_target(struct client_config *config, char text[SOCK_TEXT_BYTES],
                       const struct client_opts *o)
{
    char error[SOCK_ERROR_BYTES];

    if (resolve(config, o, error) != 0)
        return log_error("HOST: %s", error);
    if (lacks_interface(config))
        return log_error("HOST: invalid value '%.100s': expected a link-local address with its "
                         "interface, such as fe80::1%%eth0",
                         o->server.host);
    sock_format(text, &config->target);
    if (sock_is_of_group(&config->target))
        return log_error("HOST: cannot connect to '%s': expected the address of a host, not "
                         "multicast or broadcast",
                         text);
    config->target_is_here = netdev_target_is_here(&config->target);
    if (!sock_has_local_address(&config->target))
        return log_error("HOST: cannot reach '%s': this host has no suitable %s address", text,
                         config->target.ss.ss_family == AF_INET6 ? "IPv6" : "IPv4");
    return 0;
}

int client_plan_tls(struct client_config *config, const struct client_opts *o)
{
    const struct tls_client_options options = {
        .name = o->tls_name != NULL ? o->tls_name : o->server.host,
        .ca_file = o->tls_ca,
        .ciphers = o->tls_ciphers,
        .alpn = config->query.protocol == &query_dns_protocol ? "dot" : NULL,
        .min = o->tls_min,
        .insecure = o->tls_insecure,
        .resume = o->tls_resume == CLIENT_YES,
    };
    char error[TLS_ERROR_BYTES];

    if (!client_opts_uses_tls(o))
        return 0;
    config->tls = tls_client_context(&options, error);
    return config->tls != NULL ? 0 : log_error("%s", error);
}
