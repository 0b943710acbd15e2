/* SPDX-License-Identifier: MIT
 * fuzz_main: see fuzz.h. */
#include "fuzz.h"

int main(int argc, char **argv)
{
    static uint8_t data[FUZZ_MOST_BYTES];

    for (int i = 1; i < argc; i++) {
        FILE *f = fopen(argv[i], "rb");

        REQUIRE(f != NULL);
        LLVMFuzzerTestOneInput(data, fread(data, 1, sizeof data, f));
        fclose(f);
    }
    printf("%d passed, 0 failed, 0 skipped\n", argc - 1);
    return argc > 1 ? 0 : 1;
}
