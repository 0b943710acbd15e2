/* SPDX-License-Identifier: MIT
 * fuzz_config: arbitrary configuration files, for both programs. */
#include "file.h"
#include "programs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    static struct fuzz_file file;
    char word[] = "fuzz", option[] = "--config";
    char *argv[] = {word, option, file.name, NULL};

    if (n_bytes > FUZZ_MOST_BYTES)
        return 0;
    fuzz_file_write(&file, data, n_bytes);
    fuzz_command_line(3, argv);
    return 0;
}
