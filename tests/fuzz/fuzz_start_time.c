/* SPDX-License-Identifier: MIT
 * fuzz_start_time: moments, and files that hold one, made of anything.  What is accepted is found
 * again written out; a file is no moment before its line is ended, and from then on always the
 * same. */
#include "start_time.h"
#include "text.h"

enum { MOST_BYTES = 256, WRITTEN_BYTES = 40 };

static void require_again(uint64_t epoch_ns)
{
    char text[WRITTEN_BYTES];
    uint64_t again_ns = 0;

    snprintf(text, sizeof text, "%llu.%09llu", (unsigned long long)(epoch_ns / 1000000000),
             (unsigned long long)(epoch_ns % 1000000000));
    REQUIRE(start_time_parse(text, &again_ns) == 0 && again_ns == epoch_ns);
}

/* As it grows while somebody reads it. */
static void read_growing(const uint8_t *data, size_t n_bytes)
{
    enum start_time_text before = START_TIME_UNFINISHED;
    uint64_t first_ns = 0;

    for (size_t n = 0; n <= n_bytes; n++) {
        char *text = malloc(n + 1); /* its own: a sanitizer sees every overrun */
        uint64_t epoch_ns = 0;
        enum start_time_text is;

        REQUIRE(text != NULL);
        memcpy(text, data, n);
        is = start_time_read(text, n, &epoch_ns);
        REQUIRE(is != START_TIME_COMPLETE || memchr(data, '\n', n) != NULL);
        if (before == START_TIME_COMPLETE)
            REQUIRE(is == START_TIME_WRONG || (is == START_TIME_COMPLETE && epoch_ns == first_ns));
        if (is == START_TIME_COMPLETE && before != START_TIME_COMPLETE)
            require_again(first_ns = epoch_ns);
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
        require_again(epoch_ns);
    else
        REQUIRE(epoch_ns == 7);
    free(text);
    return 0;
}
