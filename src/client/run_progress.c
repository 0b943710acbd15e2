/* SPDX-License-Identifier: MIT
 * client_run_progress: see client/run_progress.h. */
#include "client/run_progress.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/text_stream.h"
#include "client/run_result.h"
#include "client/sweep.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* Returns the width of the terminal; 80 if unknown. */
static unsigned columns(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void show_progress(struct client_run_state *r, const struct tally *now, bool in_place)
{
    struct text_stream t;
    size_t n_bytes;
    char *text;

    if (text_stream_open(&t) == 0)
        progress_print(t.out, &r->progress, now);
    text = text_stream_close(&t, &n_bytes);
    if (text != NULL && in_place)
        progress_show_in_place(log_stream(), text, columns() - 1);
    else if (text != NULL)
        fprintf(log_stream(), "%s\n", text);
    free(text);
}

/* Until the start that was requested; 0: none, or it is not known. */
static uint64_t wait_ns(const struct client_start *start, uint64_t now_ns)
{
    const uint64_t epoch_ns = now_ns + clock_realtime_offset_ns();

    return start->at_epoch_ns > epoch_ns ? start->at_epoch_ns - epoch_ns : 0;
}

void client_run_show_progress(struct client_run_state *r, bool in_place)
{
    struct progress *p = &r->progress;
    struct tally *now = calloc(1, sizeof *now);
    char search[CLIENT_FIND_TEXT_BYTES];

    if (now == NULL)
        return;
    client_workers_tally(&r->workers, now);
    p->now_ns = clock_now_ns();
    p->live = CLIENT_WORKERS_GAUGE(&r->workers, n_live);
    p->response = &r->intervals.recent;
    p->begin_ns = r->started ? r->begin_ns : 0;
    p->end_ns = client_run_end_of_load_ns(r);
    p->wait_ns = wait_ns(&r->result->start, p->now_ns);
    p->search =
        r->settings->sweep != NULL ? client_sweep_describe(r->settings->sweep, search) : NULL;
    if (r->started && r->config->loop == CLIENT_LOOP_OPEN && p->now_ns >= p->begin_ns)
        p->n_due = client_steer_n_due(&r->steer, p->now_ns);
    if (p->interface != NULL && netdev_read(p->interface, &p->net) != 0)
        p->interface = NULL;
    show_progress(r, now, in_place);
    free(now);
}

void client_run_prepare_progress(struct client_run_state *r, uint64_t now_ns)
{
    const struct client_config *config = r->config;
    struct client_result *result = r->result;
    struct srcplan_tuple source = {.address.family = AF_UNSPEC};

    if (config->plan.n_addresses > 0)
        srcplan_at(&config->plan, 0, &source);
    result->has_interface =
        netdev_towards(&config->target, &source, config->socket.datagrams, result->interface) == 0;
    r->progress = (struct progress){
        .n_requested = result->connections_at_begin,
        .listens = config->listens,
        .timeout_ns = config->timeout_ns,
        .start_ns = now_ns,
        .previous_ns = now_ns,
        .interface = result->has_interface ? result->interface : NULL,
    };
    if (result->has_interface)
        result->has_interface = netdev_read(result->interface, &r->progress.previous_net) == 0;
}
