/* SPDX-License-Identifier: MIT
 * fuzz_options: arbitrary command lines, one argument per line, for both programs. */
#include "client/opts.h"
#include "config/options_parse.h"
#include "programs.h"
#include "server/opts.h"
#include "text.h"

enum { MOST_ARGUMENTS = 64 };

/* Excludes input that reads other files. */
static bool names_a_file(int argc, char **argv)
{
    return options_find(client_opts_table(), OPTION_CONFIG, argc, argv) != NULL ||
           options_find(server_opts_table(), OPTION_CONFIG, argc, argv) != NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    char *argv[MOST_ARGUMENTS + 2] = {strdup("fuzz")}, *text = fuzz_text(data, n_bytes), *rest,
                                *word;
    int argc = 1;

    REQUIRE(argv[0] != NULL);
    for (rest = text; argc <= MOST_ARGUMENTS && (word = strsep(&rest, "\n")) != NULL; argc++)
        REQUIRE((argv[argc] = strdup(word)) != NULL);
    if (text != NULL && !names_a_file(argc, argv))
        fuzz_command_line(argc, argv);
    for (int i = 0; i < argc; i++)
        free(argv[i]);
    free(text);
    return 0;
}
