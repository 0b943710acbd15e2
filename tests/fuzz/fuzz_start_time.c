/* SPDX-License-Identifier: MIT
 * fuzz_start_time: arbitrary times, and files that contain one.  Accepted input, written out,
 * parses to the same; a file is incomplete until its line ends, and invalid if anything follows. */
#include "client/start_time.h"
#include "text.h"

#include <math.h>

enum { MOST_BYTES = 256, WRITTEN_BYTES = 40 };

static void require_again(const char *from, uint64_t epoch_ns)
{
    char text[WRITTEN_BYTES];
    uint64_t again_ns = 0;

    REQUIRE(fabs(strtod(from, NULL) - (double)epoch_ns / 1e9) < 1e-5);
    snprintf(text, sizeof text, "%llu.%09llu", (unsigned long long)(epoch_ns / 1000000000),
             (unsigned long long)(epoch_ns % 1000000000));
    REQUIRE(start_time_parse(text, &again_ns) == 0 && again_ns == epoch_ns);
}

/* Reads the file as it grows. */
static void read_growing(const uint8_t *data, size_t n_bytes)
{
    enum start_time_text before = START_TIME_UNFINISHED;

    for (size_t n = 0; n <= n_bytes; n++) {
        char *text = calloc(1, n + 1); /* separate memory: sanitizers detect overruns */
        uint64_t epoch_ns = 0;
        enum start_time_text is;

        REQUIRE(text != NULL);
        memcpy(text, data, n);
        is = start_time_read(text, n, &epoch_ns);
        REQUIRE(is != START_TIME_COMPLETE || memchr(data, '\n', n) != NULL);
        if (before == START_TIME_COMPLETE)
            REQUIRE(is == START_TIME_WRONG);
        if (is == START_TIME_COMPLETE)
            require_again(text, epoch_ns);
        before = is;
        free(text);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    uint64_t epoch_ns = 7;
    char *text;

    if (n_bytes > MOST_BYTES)
        return 0;
    read_growing(data, n_bytes);
    text = fuzz_text(data, n_bytes);
    if (text == NULL)
        return 0;
    if (start_time_parse(text, &epoch_ns) == 0)
        require_again(text, epoch_ns);
    else
        REQUIRE(epoch_ns == 7);
    free(text);
    return 0;
}
