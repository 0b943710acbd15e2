/* SPDX-License-Identifier: MIT
 * client_record: see client/worker/record.h. */
#include "client/worker/record.h"

#include "measure/outcome.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <sys/socket.h>

/* Prints nothing if the time is unknown. */
static void print_us(FILE *out, uint64_t time_ns)
{
    if (time_ns > 0)
        fprintf(out, "%" PRIu64 ".%03u", time_ns / 1000, (unsigned)(time_ns % 1000));
}

/* Since origin_ns.  Prints nothing if the time is unknown. */
static void print_s(FILE *out, uint64_t time_ns, uint64_t origin_ns)
{
    if (time_ns == 0)
        return;
    time_ns -= origin_ns;
    fprintf(out, "%" PRIu64 ".%06u", time_ns / 1000000000, (unsigned)(time_ns / 1000 % 1000000));
}

/* The columns of --connect-arrival, without times of earlier connections of the slot. */
static void print_arrival(FILE *out, const struct client_record *r, uint64_t origin_ns)
{
    const bool is_established = r->due_ns > 0 && r->established_ns >= r->due_ns;

    print_s(out, r->due_ns, origin_ns);
    fputc(',', out);
    if (is_established)
        print_us(out, r->established_ns - r->due_ns);
    fputc(',', out);
    if (is_established && r->handshake_ns > 0)
        print_us(out, r->established_ns + r->handshake_ns - r->due_ns);
    fputc(',', out);
    if (r->due_ns > 0 && r->answered_ns > 0)
        print_us(out, r->answered_ns - r->due_ns);
    fputc(',', out);
}

/* Address and port; empty for AF_UNSPEC. */
static void print_tuple(FILE *out, const struct srcplan_tuple *tuple)
{
    char address[INET6_ADDRSTRLEN] = "";

    if (tuple->address.family == AF_UNSPEC) {
        fputc(',', out);
        return;
    }
    inet_ntop(tuple->address.family, tuple->address.bytes, address, sizeof address);
    fprintf(out, "%s,%u", address, tuple->port);
}

static void print_tcp(FILE *out, const struct client_record *r)
{
    fprintf(out, "%" PRIu32 ",%" PRIu32 ",", r->syn_retransmits, r->retransmits);
    if (r->min_rtt_us > 0)
        fprintf(out, "%" PRIu32, r->min_rtt_us);
}

void client_record_print(FILE *out, const struct client_record *r,
                         const struct client_record_about *about)
{
    static const struct srcplan_tuple nobody = {.address.family = AF_UNSPEC};

    fprintf(out, "%" PRIu64 ",", about->connection_id);
    print_tuple(out, &r->source);
    fputc(',', out);
    print_us(out, r->connect_ns);
    fprintf(out, ",%d,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", r->proven, r->queries,
            r->answers, r->bytes_sent, r->bytes_received);
    if (about->udp)
        fputs(",,", out);
    else
        print_tcp(out, r);
    fprintf(out, ",%s/%s,%" PRIu32 ",", outcome_phase_name((enum outcome_phase)r->ended_phase),
            outcome_reason_name((enum outcome_reason)r->ended_reason), r->connections);
    print_s(out, r->established_ns, about->origin_ns);
    fputc(',', out);
    print_us(out, r->handshake_ns);
    fputs(r->handshake_ns == 0 ? ",," : r->resumed ? ",1," : ",0,", out);
    print_arrival(out, r, about->origin_ns);
    print_tuple(out, about->identity != NULL ? about->identity : &nobody);
    fputc(',', out);
    print_s(out, r->lost_ns, about->origin_ns);
    fputc(',', out);
    print_s(out, r->back_ns, about->origin_ns);
    fprintf(out, ",%s\n", about->class_name != NULL ? about->class_name : "");
}
