/* SPDX-License-Identifier: MIT
 * client_opts_sweep: see client/opts_sweep.h. */
#include "client/opts_sweep.h"

#include "base/units.h"
#include "client/opts_check.h"

#include <string.h>

/* Connections are opened faster than the default of a request: 100,000 in 20 s. */
#define CONNECT_PER_S 5000

static const struct {
    const char *name; /* also of the option for a single value */
    enum client_sweep_axis axis;
    uint64_t most;
} axes[] = {
    {"connections", CLIENT_SWEEP_CONNECTIONS, CLIENT_OPTS_MOST_CONNECTIONS},
    {"queries-per-conn", CLIENT_SWEEP_QUERIES_PER_CONN, UINT32_MAX},
    {"size", CLIENT_SWEEP_SIZE, QUERY_MAX_BYTES},
};

#define EXPECTED                                                                                   \
    "connections, queries-per-conn or size, '=' and increasing values such as 100,1k,10k"

const char *client_opts_sweep_name(enum client_sweep_axis axis)
{
    for (size_t i = 0; i < N(axes); i++)
        if (axes[i].axis == axis)
            return axes[i].name;
    return NULL;
}

/* "100,1k,10k" */
static int parse_values(struct client_opts *o, const char *text, uint64_t most)
{
    char value[UNITS_TEXT_BYTES];

    for (;;) {
        const size_t n_bytes = strcspn(text, ",");
        uint64_t *into = &o->sweep_values[o->n_sweep];

        if (n_bytes >= sizeof value || o->n_sweep == CLIENT_SWEEP_MOST)
            return -1;
        memcpy(value, text, n_bytes);
        value[n_bytes] = '\0';
        if (units_parse_count(value, into) != 0 || *into == 0 || *into > most ||
            (o->n_sweep > 0 && *into <= into[-1]))
            return -1;
        o->n_sweep++;
        if (text[n_bytes] == '\0')
            return 0;
        text += n_bytes + 1;
    }
}

static int check_conflicts(const struct client_opts *o, size_t axis, char *error)
{
    if (o->find != CLIENT_FIND_RATE)
        return REFUSE("--sweep: requires --find rate");
    if (was_given(axes[axis].name))
        return REFUSE("--sweep: conflicts with --%s: the sweep sets it", axes[axis].name);
    if (axes[axis].axis == CLIENT_SWEEP_CONNECTIONS && was_given("max-connections"))
        return REFUSE("--sweep: conflicts with --max-connections: the last value is the maximum");
    if (axes[axis].axis == CLIENT_SWEEP_SIZE && o->protocol != QUERY_ECHO)
        return REFUSE("--sweep: 'size' requires --protocol echo");
    return 0;
}

static void set_first(struct client_opts *o)
{
    const uint64_t first = o->sweep_values[0], last = o->sweep_values[o->n_sweep - 1];

    if (o->sweep_axis == CLIENT_SWEEP_CONNECTIONS) {
        o->connections = first;
        o->max_connections = last;
        if (!was_given("connect-rate"))
            o->connect_rate_per_s = CONNECT_PER_S;
    } else if (o->sweep_axis == CLIENT_SWEEP_QUERIES_PER_CONN) {
        o->queries_per_conn = first;
    } else {
        o->size_bytes = first;
    }
}

int client_opts_check_sweep(struct client_opts *o, char *error)
{
    const char *equals = o->sweep != NULL ? strchr(o->sweep, '=') : NULL;
    char most[UNITS_TEXT_BYTES];

    if (o->sweep == NULL)
        return was_given("sweep-out") && !o->print_config ? REFUSE("--sweep-out: requires --sweep")
                                                          : 0;
    for (size_t i = 0; equals != NULL && i < N(axes); i++) {
        if (strlen(axes[i].name) != (size_t)(equals - o->sweep) ||
            strncmp(o->sweep, axes[i].name, strlen(axes[i].name)) != 0)
            continue;
        if (parse_values(o, equals + 1, axes[i].most) != 0)
            return REFUSE(
                "--sweep: invalid value '%.160s': expected up to %u increasing values from 1 "
                "to %s",
                o->sweep, CLIENT_SWEEP_MOST, units_format_count(most, axes[i].most));
        o->sweep_axis = (int)axes[i].axis;
        if (check_conflicts(o, i, error) != 0)
            return -1;
        set_first(o);
        return 0;
    }
    return REFUSE("--sweep: invalid value '%.100s': expected " EXPECTED, o->sweep);
}
