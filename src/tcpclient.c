/* SPDX-License-Identifier: MIT
 * tcpclient: opens many TCP connections to one server, sends queries over them at a fixed rate and
 * measures each.  parse -> plan -> run -> judge -> report -> exit code. */
#include "base/log.h"
#include "base/messages.h"
#include "base/standard_streams.h"
#include "client/session.h"
#include "net/worker.h"

#include <errno.h>
#include <signal.h>

int main(int argc, char **argv)
{
    static struct client_session session = CLIENT_SESSION_INIT;
    char error[OPTIONS_ERROR_BYTES];
    int code = CLIENT_EXIT_USAGE;

    standard_streams_open();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* of 'ulimit -f': write(2) fails with EFBIG */
    signal(SIGUSR1, SIG_IGN); /* a snapshot, of which there is none before the run */
    signal(SIGCHLD, SIG_DFL); /* if it is ignored, no child can be waited for */
    messages_take_stderr();
    worker_take_messages();
    session.command = argv;
    client_opts_table()->program = program_invocation_short_name;
    client_opts_table()->version = worker_version();
    switch (client_opts_parse(&session.opts, argc, argv, stdout, error)) {
    case OPTIONS_EXIT:
        return output_flush_stdout() == 0 ? CLIENT_EXIT_VALID : CLIENT_EXIT_USAGE;
    case OPTIONS_USAGE:
        log_error("%s", error);
        return CLIENT_EXIT_USAGE;
    case OPTIONS_RUN:
        break;
    }
    if (client_plan_make(&session.plan, &session.opts) == 0)
        code =
            session.opts.plan ? client_session_print_plan(&session) : client_session_run(&session);
    client_session_free(&session);
    return code;
}
