/* SPDX-License-Identifier: MIT
 * fuzz_openmetrics: an arbitrary response of a server to GET /metrics.  A value that is found is a
 * word of the text that begins with a digit; a sample that is appended is found, and adds its value
 * to the sum. */
#include "measure/openmetrics.h"
#include "text.h"

#define NAME "n"

enum { APPENDED = 7 };

static void require_value(const char *text)
{
    char value[OPENMETRICS_VALUE_BYTES];

    if (openmetrics_value(text, NAME, value) != 0)
        return;
    REQUIRE(value[0] >= '0' && value[0] <= '9' && strpbrk(value, " \n") == NULL);
    REQUIRE(strstr(text, value) != NULL);
}

/* Returns the text, then the sample as a server writes it; the caller frees it. */
static char *append_sample(const char *text)
{
    struct openmetrics m;
    char *appended;
    size_t n_bytes;
    FILE *out = open_memstream(&appended, &n_bytes);

    REQUIRE(out != NULL);
    fprintf(out, "%s\n", text);
    openmetrics_init(&m, out, NULL);
    openmetrics_gauge(&m, NAME, "appended", APPENDED);
    openmetrics_end(&m);
    REQUIRE(fclose(out) == 0);
    return appended;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    uint64_t before = 0, after;
    char *text, *appended, value[OPENMETRICS_VALUE_BYTES];

    if (n_bytes > FUZZ_MOST_BYTES || (text = fuzz_text(data, n_bytes)) == NULL)
        return 0;
    require_value(text);
    if (openmetrics_sum(text, NAME, &before) != 0)
        REQUIRE(before == 0);
    appended = append_sample(text);
    require_value(appended);
    REQUIRE(openmetrics_value(appended, NAME, value) == 0);
    REQUIRE(openmetrics_sum(appended, NAME, &after) == 0 && after == before + APPENDED);
    free(appended);
    free(text);
    return 0;
}
