/* SPDX-License-Identifier: MIT
 * fuzz_confline: arbitrary lines of a configuration.  What is parsed lies within the line and, when
 * printed, parses to the same. */
#include "config/confline.h"
#include "fuzz.h"

#include <string.h>

enum { MOST_BYTES = 1 << 16 };

static void require_again(const struct confline *parts)
{
    char error[CONFLINE_ERROR_BYTES], *printed = NULL;
    size_t n_bytes = 0;
    FILE *out = open_memstream(&printed, &n_bytes);
    struct confline again;

    REQUIRE(out != NULL);
    confline_print(out, parts->name, parts->value);
    REQUIRE(fclose(out) == 0 && strchr(printed, '\n') == printed + n_bytes - 1);
    printed[n_bytes - 1] = '\0';
    REQUIRE(confline_cut(printed, &again, error) == 0);
    REQUIRE(strcmp(again.name, parts->name) == 0 && strcmp(again.value, parts->value) == 0);
    free(printed);
}

static void try_line(const char *text)
{
    /* Allocates the exact size, so that sanitizers detect overruns. */
    char error[CONFLINE_ERROR_BYTES] = "", *line = strdup(text);
    const char *end = line + strlen(text);
    struct confline parts;

    REQUIRE(line != NULL);
    if (confline_cut(line, &parts, error) != 0) {
        REQUIRE(error[0] != '\0');
    } else if (parts.name != NULL) {
        REQUIRE(parts.name >= line && parts.name < end && *parts.name != '\0');
        REQUIRE(parts.value == NULL || (parts.value > parts.name && parts.value <= end));
        if (parts.value != NULL)
            require_again(&parts);
    }
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static char text[MOST_BYTES + 1];
    char *rest = text, *line;

    if (n_bytes > MOST_BYTES || memchr(data, 0, n_bytes) != NULL)
        return 0;
    memcpy(text, data, n_bytes);
    text[n_bytes] = '\0';
    while ((line = strsep(&rest, "\n")) != NULL)
        try_line(line);
    return 0;
}
