/* SPDX-License-Identifier: MIT
 * classes: see classes.h. */
#include "classes.h"

#include "client/worker/config.h"

#include <netinet/in.h>

static const struct client_config *config;
static uint16_t ports[CLIENT_CLASS_MOST];
static bool have_ports;

static uint16_t port_of(const struct client_class *class)
{
    /* of IPv6, it is at the same offset */
    return ntohs(((const struct sockaddr_in *)&class->target.ss)->sin_port);
}

void classes_begin(const struct client_config *of)
{
    config = of;
    have_ports = true;
    for (uint32_t k = 0; k < config->n_classes; k++) {
        ports[k] = port_of(&config->classes[k]);
        for (uint32_t j = 0; j < k; j++)
            have_ports &= ports[j] != ports[k];
    }
}

uint32_t classes_n(void)
{
    return config->n_classes > 0 ? config->n_classes : 1;
}

bool classes_have_ports(void)
{
    return have_ports;
}

uint32_t classes_of(const struct tcp *t)
{
    uint32_t k = 0;

    while (k + 1 < config->n_classes && ports[k] != t->peer_port)
        k++;
    return k;
}

const struct query *classes_query(const struct tcp *t)
{
    return config->class_queries != NULL ? &config->class_queries[classes_of(t)] : &config->query;
}

uint32_t classes_queries_per_conn(const struct tcp *t)
{
    return config->n_classes > 0 ? config->classes[classes_of(t)].queries_per_conn
                                 : config->queries_per_conn;
}

bool classes_prove(const struct tcp *t)
{
    return config->n_classes > 0 ? config->classes[classes_of(t)].prove : config->prove;
}

static size_t longest_of(const struct query *q)
{
    size_t longest = 0, at = 0;

    for (size_t i = 0; i < q->n_queries; i++, at = query_after(q, at))
        longest = query_size(q, at) > longest ? query_size(q, at) : longest;
    return longest;
}

size_t classes_longest_query(void)
{
    size_t longest = config->listens ? 0 : longest_of(&config->query);

    for (uint32_t k = 0; config->class_queries != NULL && k < config->n_classes; k++)
        longest = longest_of(&config->class_queries[k]) > longest
                      ? longest_of(&config->class_queries[k])
                      : longest;
    return longest;
}
