/* SPDX-License-Identifier: MIT
 * fuzz_sources: arbitrary lists of source addresses.  A list is rejected and leaves the plan
 * unchanged, or its ranges, written out, give the same plan; a source list has no address twice;
 * memory is bounded. */
#include "host/source_list.h"
#include "text.h"

#include <arpa/inet.h>
#include <stdbool.h>

enum { MOST_WRITTEN = 64, MOST_COMPARED = 1024 };

#define BEFORE "192.0.2.7"

static void check_sums(const struct srcplan *p)
{
    uint64_t n = 0;

    for (size_t i = 0; i < p->n_ranges; i++) {
        REQUIRE(p->ranges[i].before == n && p->ranges[i].count > 0);
        REQUIRE(p->ranges[i].first.family == srcplan_family(p));
        n += p->ranges[i].count;
        REQUIRE(n >= p->ranges[i].count);
    }
    REQUIRE(n == p->n_addresses);
}

static bool same_address(const struct srcplan *a, const struct srcplan *b, uint64_t i)
{
    struct srcplan_tuple x, y;

    srcplan_at(a, i, &x);
    srcplan_at(b, i, &y);
    REQUIRE(x.address.family == srcplan_family(a) && x.port == 0);
    return memcmp(&x.address, &y.address, sizeof x.address) == 0;
}

static const uint8_t *bytes_of(const struct srcplan *p, uint64_t i, struct srcplan_tuple *t)
{
    srcplan_at(p, i, t);
    return t->address.bytes;
}

static bool ranges_overlap(const struct srcplan *p, const struct srcplan_range *a,
                           const struct srcplan_range *b)
{
    struct srcplan_tuple first, last;
    const size_t n = sizeof first.address.bytes;

    return a->first.scope == b->first.scope &&
           memcmp(bytes_of(p, a->before, &first), bytes_of(p, b->before + b->count - 1, &last),
                  n) <= 0 &&
           memcmp(bytes_of(p, b->before, &first), bytes_of(p, a->before + a->count - 1, &last),
                  n) <= 0;
}

static bool has_repeat(const struct srcplan *p)
{
    for (size_t i = 0; i < p->n_ranges; i++)
        for (size_t j = 0; j < i; j++)
            if (ranges_overlap(p, &p->ranges[i], &p->ranges[j]))
                return true;
    return false;
}

static void put_address(FILE *out, const struct srcplan *p, uint64_t i)
{
    char text[INET6_ADDRSTRLEN];
    struct srcplan_tuple t;

    srcplan_at(p, i, &t);
    REQUIRE(inet_ntop(t.address.family, t.address.bytes, text, sizeof text) != NULL);
    fputs(text, out);
}

/* "FIRST-LAST,..." */
static char *write_out(const struct srcplan *p)
{
    char *text;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    REQUIRE(out != NULL);
    for (size_t i = 0; i < p->n_ranges; i++) {
        fputs(i > 0 ? "," : "", out);
        put_address(out, p, p->ranges[i].before);
        fputc('-', out);
        put_address(out, p, p->ranges[i].before + p->ranges[i].count - 1);
    }
    REQUIRE(fclose(out) == 0);
    return text;
}

static void require_again(const struct srcplan *p)
{
    char error[SRCPLAN_ERROR_BYTES], *text = write_out(p);
    struct srcplan again;

    srcplan_init(&again);
    REQUIRE(srcplan_add_sources(&again, text, error) == 0);
    REQUIRE(again.n_ranges == p->n_ranges && again.n_addresses == p->n_addresses);
    for (size_t i = 0; i < p->n_ranges; i++) {
        const struct srcplan_range *r = &p->ranges[i];

        REQUIRE(same_address(p, &again, r->before));
        REQUIRE(same_address(p, &again, r->before + r->count / 2));
        REQUIRE(same_address(p, &again, r->before + r->count - 1));
    }
    srcplan_free(&again);
    free(text);
}

/* A rejected list, added to an existing address, leaves the plan unchanged. */
static void require_untouched(const char *text)
{
    char error[SRCPLAN_ERROR_BYTES];
    struct srcplan p;

    srcplan_init(&p);
    REQUIRE(srcplan_add_sources(&p, BEFORE, error) == 0);
    REQUIRE(srcplan_add_sources(&p, text, error) != 0);
    REQUIRE(p.n_ranges == 1 && p.n_addresses == 1);
    srcplan_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    char error[SOURCE_LIST_ERROR_BYTES] = "", *text = fuzz_text(data, n_bytes);
    struct srcplan p;
    bool is_compared, repeats;

    /* excludes input that reads files and interfaces */
    if (text == NULL || strchr(text, '@') != NULL || strstr(text, "iface:") != NULL) {
        free(text);
        return 0;
    }
    srcplan_init(&p);
    if (srcplan_add_sources(&p, text, error) == 0) {
        REQUIRE(p.n_ranges >= 1 && p.n_ranges <= SRCPLAN_MOST_RANGES);
        check_sums(&p);
        if (p.n_ranges <= MOST_WRITTEN)
            require_again(&p);
        is_compared = p.n_ranges <= MOST_COMPARED;
        repeats = is_compared && has_repeat(&p);
        srcplan_free(&p);
        REQUIRE((source_list_add(&p, text, error) != 0) == repeats || !is_compared);
    } else {
        fuzz_require_error(error, sizeof error);
        REQUIRE(p.n_ranges == 0 && p.n_addresses == 0);
        srcplan_free(&p);
        require_untouched(text);
        REQUIRE(source_list_add(&p, text, error) != 0);
    }
    srcplan_free(&p);
    free(text);
    return 0;
}
