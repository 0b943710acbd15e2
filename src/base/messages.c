/* SPDX-License-Identifier: MIT
 * messages: see base/messages.h. */
#include "base/messages.h"

#include "base/log.h"
#include "base/writing.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

enum { STREAM_BYTES = 1 << 16, LINE_BYTES = 128 };

static atomic_int current_wait;      /* enum messages_wait */
static _Atomic uint64_t waited_long; /* ns without progress while waiting briefly */

/* Protected by the lock of the stream; atomic, since ThreadSanitizer does not see that lock. */
static _Atomic uint64_t n_lost; /* lines */
static atomic_bool is_cut;      /* the last line on stderr is incomplete */

static bool may_wait(uint64_t waited_ns)
{
    switch ((enum messages_wait)atomic_load(&current_wait)) {
    case MESSAGES_BRIEFLY:
        return atomic_fetch_add(&waited_long, waited_ns) + waited_ns < MESSAGES_TIMEOUT_NS &&
               writing_until_shutdown(waited_ns);
    case MESSAGES_NEVER:
        return false;
    case MESSAGES_UNTIL_SHUTDOWN:
        break;
    }
    return writing_until_shutdown(waited_ns);
}

/* If the line does not fit, it is written later. */
static void say_what_was_lost(writing_may_wait *waits)
{
    const uint64_t n = atomic_load(&n_lost);
    char line[LINE_BYTES];
    int length, error;

    if (n == 0)
        return;
    length =
        snprintf(line, sizeof line, "%s%.60s: lines lost because nobody read stderr: %" PRIu64 "\n",
                 atomic_load(&is_cut) ? "\n" : "", program_invocation_short_name, n);
    if (writing_all(STDERR_FILENO, line, (size_t)length, waits, &error) == 0)
        return;
    atomic_store(&n_lost, 0);
    atomic_store(&is_cut, false);
}

static size_t write_text(const char *text, size_t n_bytes)
{
    size_t n_written;
    int error;

    say_what_was_lost(writing_never);
    n_written = writing_all(STDERR_FILENO, text, n_bytes, may_wait, &error);
    if (n_written > 0) {
        atomic_store(&waited_long, 0);
        atomic_store(&is_cut, text[n_written - 1] != '\n');
    }
    if (n_written == n_bytes)
        say_what_was_lost(may_wait); /* there may be no further message */
    return n_written;
}

static uint64_t n_lines(const char *text, size_t n_bytes)
{
    uint64_t n = 0;

    for (size_t i = 0; i < n_bytes; i++)
        n += text[i] == '\n';
    return n;
}

/* Never fails: the next message may succeed. */
static ssize_t write_stream(void *cookie, const char *text, size_t n_bytes)
{
    const size_t n_written = write_text(text, n_bytes);

    (void)cookie;
    atomic_fetch_add(&n_lost, n_lines(text + n_written, n_bytes - n_written));
    return (ssize_t)n_bytes;
}

void messages_take_stderr(void)
{
    static char line[STREAM_BYTES]; /* exists before the threads that write it */
    const int again = writing_open_again(STDERR_FILENO);
    FILE *stream;

    /* the number stays the same: workers keep it in their own tables */
    if (again >= 0) {
        (void)dup2(again, STDERR_FILENO);
        close(again);
    }
    stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_stream});
    if (stream == NULL)
        return;
    (void)setvbuf(stream, line, _IOLBF, sizeof line);
    log_set_stream(stream);
}

void messages_set_wait(enum messages_wait wait)
{
    atomic_store(&current_wait, (int)wait);
}

size_t messages_offer(const char *text, size_t n_bytes)
{
    size_t n_written;

    flockfile(log_stream());
    fflush(log_stream());
    n_written = write_text(text, n_bytes);
    funlockfile(log_stream());
    return n_written;
}
