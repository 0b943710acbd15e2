/* SPDX-License-Identifier: MIT
 * client_record: see client/worker/record.h. */
#include "client/worker/record.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <sys/socket.h>

/* Prints nothing if the time is unknown. */
static void print_us(FILE *out, uint64_t time_ns)
{
    if (time_ns > 0)
        fprintf(out, "%" PRIu64 ".%03u", time_ns / 1000, (unsigned)(time_ns % 1000));
}

static void print_s(FILE *out, uint64_t time_ns)
{
    fprintf(out, "%" PRIu64 ".%06u", time_ns / 1000000000, (unsigned)(time_ns / 1000 % 1000000));
}

/* Of --connect-arrival.  The times of an earlier connection of the slot are left out. */
static void print_arrival(FILE *out, const struct client_record *r, uint64_t origin_ns)
{
    const bool is_established = r->due_ns > 0 && r->established_ns >= r->due_ns;

    if (r->due_ns > 0)
        print_s(out, r->due_ns - origin_ns);
    fputc(',', out);
    if (is_established)
        print_us(out, r->established_ns - r->due_ns);
    fputc(',', out);
    if (is_established && r->handshake_ns > 0)
        print_us(out, r->established_ns + r->handshake_ns - r->due_ns);
    fputc(',', out);
    if (r->due_ns > 0 && r->answered_ns > 0)
        print_us(out, r->answered_ns - r->due_ns);
    fputc('\n', out);
}

void client_record_print(FILE *out, const struct client_record *r, uint64_t connection_id,
                         uint64_t origin_ns)
{
    char address[INET6_ADDRSTRLEN] = "";

    fprintf(out, "%" PRIu64 ",", connection_id);
    if (r->source.address.family != AF_UNSPEC) {
        inet_ntop(r->source.address.family, r->source.address.bytes, address, sizeof address);
        fprintf(out, "%s,%u,", address, r->source.port);
    } else {
        fputs(",,", out);
    }
    print_us(out, r->connect_ns);
    fprintf(out,
            ",%d,%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32
            ",%s/%s,%" PRIu32 ",",
            r->proven, r->queries, r->answers, r->bytes_sent, r->bytes_received, r->syn_retransmits,
            r->retransmits, r->min_rtt_us, outcome_phase_name((enum outcome_phase)r->ended_phase),
            outcome_reason_name((enum outcome_reason)r->ended_reason), r->connections);
    if (r->established_ns > 0)
        print_s(out, r->established_ns - origin_ns);
    fputc(',', out);
    print_us(out, r->handshake_ns);
    fputs(r->handshake_ns == 0 ? ",," : r->resumed ? ",1," : ",0,", out);
    print_arrival(out, r, origin_ns);
}
