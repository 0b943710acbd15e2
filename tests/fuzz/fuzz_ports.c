/* SPDX-License-Identifier: MIT
 * fuzz_ports: arbitrary lists of ports and of CPUs.  A list is rejected, or its numbers are in
 * range and unique, and written out one by one they parse to the same list. */
#include "base/cpulist.h"
#include "text.h"
#include "workload/srcplan.h"

#include <stdbool.h>

enum { N_PORTS = 65536 };

/* "7,9,8" */
static char *write_out(const uint16_t *numbers, uint32_t n_numbers)
{
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    REQUIRE(out != NULL);
    for (uint32_t i = 0; i < n_numbers; i++)
        fprintf(out, "%s%u", i > 0 ? "," : "", numbers[i]);
    REQUIRE(fclose(out) == 0);
    return text;
}

static void require_each_once(const uint16_t *numbers, uint32_t n, uint32_t least, uint32_t most)
{
    static bool seen[N_PORTS];

    for (uint32_t i = 0; i < n; i++) {
        REQUIRE(numbers[i] >= least && numbers[i] <= most && !seen[numbers[i]]);
        seen[numbers[i]] = true;
    }
    for (uint32_t i = 0; i < n; i++)
        seen[numbers[i]] = false;
}

static void take_ports(const char *text)
{
    char error[SRCPLAN_ERROR_BYTES] = "", *written;
    struct srcplan p, again;
    uint16_t port;

    srcplan_init(&p);
    srcplan_init(&again);
    if (srcplan_add_ports(&p, text, error) != 0) {
        fuzz_require_error(error, sizeof error);
        REQUIRE(p.ports == NULL && p.n_ports == 0);
        return;
    }
    REQUIRE(p.n_ports > 0 && srcplan_capacity(&p) == p.n_ports);
    require_each_once(p.ports, p.n_ports, 1, N_PORTS - 1);
    written = write_out(p.ports, p.n_ports);
    REQUIRE(srcplan_add_ports(&again, written, error) == 0 && again.n_ports == p.n_ports);
    REQUIRE(memcmp(again.ports, p.ports, p.n_ports * sizeof *p.ports) == 0);
    port = again.ports[again.n_ports / 2];
    REQUIRE(srcplan_exclude_ports(&p, port, port) == 1);
    REQUIRE(srcplan_exclude_ports(&p, port, port) == 0);
    REQUIRE(srcplan_exclude_ports(&p, 0, UINT16_MAX) == again.n_ports - 1 && p.n_ports == 0);
    free(written);
    srcplan_free(&p);
    srcplan_free(&again);
}

static void take_cpus(const char *text)
{
    char error[CPULIST_ERROR_BYTES] = "", *written;
    struct cpulist list, again;

    if (cpulist_parse(text, &list, error) != 0) {
        fuzz_require_error(error, sizeof error);
        REQUIRE(list.n == 0);
        return;
    }
    REQUIRE(list.n > 0 && list.n <= CPULIST_MOST);
    require_each_once(list.cpus, list.n, 0, CPULIST_MOST - 1);
    written = write_out(list.cpus, list.n);
    REQUIRE(cpulist_parse(written, &again, error) == 0 && again.n == list.n);
    REQUIRE(memcmp(again.cpus, list.cpus, list.n * sizeof *list.cpus) == 0);
    free(written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    char *text = fuzz_text(data, n_bytes);

    if (text != NULL) {
        take_ports(text);
        take_cpus(text);
    }
    free(text);
    return 0;
}
