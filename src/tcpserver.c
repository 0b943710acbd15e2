/* SPDX-License-Identifier: MIT
 * tcpserver: listens on one port with one listener per thread and echoes, or answers pings.
 * parse -> plan -> listen -> start workers -> wait -> stop -> report. */
#include "base/log.h"
#include "base/messages.h"
#include "base/standard_streams.h"
#include "net/worker.h"
#include "server/session.h"

#include <errno.h>
#include <signal.h>

int main(int argc, char **argv)
{
    static struct server server = SERVER_SESSION_INIT;
    char error[OPTIONS_ERROR_BYTES];
    int code = SERVER_EXIT_USAGE;

    standard_streams_open();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* of 'ulimit -f': write(2) fails with EFBIG */
    signal(SIGUSR1, SIG_IGN); /* a snapshot, of which there is none before the run */
    messages_take_stderr();
    worker_take_messages();
    server_opts_table()->program = program_invocation_short_name;
    server_opts_table()->version = worker_version();
    switch (server_opts_parse(&server.opts, argc, argv, stdout, error)) {
    case OPTIONS_EXIT:
        return output_flush_stdout() == 0 ? SERVER_EXIT_DONE : SERVER_EXIT_USAGE;
    case OPTIONS_USAGE:
        log_error("%s", error);
        return SERVER_EXIT_USAGE;
    case OPTIONS_RUN:
        break;
    }
    if (server_plan_make(&server.plan, &server.opts) == 0)
        code = server.opts.plan ? server_session_print_plan(&server) : server_session_run(&server);
    server_session_free(&server);
    return code;
}
