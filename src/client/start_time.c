/* SPDX-License-Identifier: MIT
 * start_time: see client/start_time.h. */
#include "client/start_time.h"

#include "base/units.h"

#include <stdbool.h>
#include <string.h>

#define MOST_SECONDS  9214646400u /* 2262-01-01, near the limit of signed 64-bit nanoseconds */
#define MOST_DECIMALS 9

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

int start_time_parse(const char *text, uint64_t *epoch_ns)
{
    uint64_t seconds = 0, ns = 0;
    int n_decimals = 0;

    if (!is_digit(*text))
        return -1;
    for (; is_digit(*text) && seconds < MOST_SECONDS; text++)
        seconds = seconds * 10 + (uint64_t)(*text - '0');
    if (*text == '.')
        for (text++; is_digit(*text) && n_decimals < MOST_DECIMALS; text++, n_decimals++)
            ns = ns * 10 + (uint64_t)(*text - '0');
    if (*text != '\0' || text[-1] == '.' || seconds >= MOST_SECONDS)
        return -1;
    for (; n_decimals < MOST_DECIMALS; n_decimals++)
        ns *= 10;
    *epoch_ns = seconds * UNITS_NS_PER_S + ns;
    return 0;
}

enum start_time_text start_time_read(const char *text, size_t n_bytes, uint64_t *epoch_ns)
{
    char line[32];
    const char *end = memchr(text, '\n', n_bytes);
    const size_t n = end != NULL ? (size_t)(end - text) : n_bytes;

    if (n >= sizeof line)
        return START_TIME_WRONG;
    if (end == NULL)
        return START_TIME_UNFINISHED;
    memcpy(line, text, n);
    line[n] = '\0';
    return n + 1 == n_bytes && strlen(line) == n && start_time_parse(line, epoch_ns) == 0
               ? START_TIME_COMPLETE
               : START_TIME_WRONG;
}

enum start_time_is start_time_judge(uint64_t epoch_ns, uint64_t now_epoch_ns, uint64_t ahead_ns,
                                    uint64_t late_max_ns)
{
    if (now_epoch_ns < epoch_ns)
        return epoch_ns - now_epoch_ns > ahead_ns ? START_TIME_AHEAD : START_TIME_NOW;
    return now_epoch_ns - epoch_ns > late_max_ns ? START_TIME_MISSED : START_TIME_NOW;
}
