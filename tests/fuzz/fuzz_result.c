/* SPDX-License-Identifier: MIT
 * fuzz_result: an arbitrary JSON result.  It is rejected with an error; or its figures can be read,
 * it is unchanged when written and read again, and its counts double when it is merged with itself.
 */
#include "fuzz.h"
#include "report/merge.h"
#include "report/result.h"
#include "report/result_figures.h"

#include <json-c/json.h>
#include <string.h>

static void check_latency(void *arg, const char *name, const struct latency *l)
{
    (void)arg;
    REQUIRE(name != NULL && (l->count == 0 || l->min_ns <= l->max_ns));
}

static void check_key(void *arg, const char *key)
{
    REQUIRE(key != NULL && arg != NULL);
}

static void check_figures(const struct json_object *result)
{
    const enum result_verdict verdict = result_verdict(result);
    uint64_t begin_ns, end_ns, n;
    struct latency l;

    REQUIRE(verdict <= RESULT_INVALID && *result_verdict_name(verdict) != '\0');
    REQUIRE(result_u64(result, "queries.sent", &n) && result_string(result, "started") != NULL);
    (void)result_was_interrupted(result);
    result_span(result, &begin_ns, &end_ns);
    REQUIRE(begin_ns <= end_ns);
    (void)result_timeout_ns(result);
    if (result_latency(result, "response", &l))
        check_latency(NULL, "response", &l);
    result_each_metric(result, check_latency, NULL);
    result_each_key(result, check_key, &n);
    for (unsigned i = 0; result_item(result, "reasons", i) != NULL; i++)
        REQUIRE(i < FUZZ_MOST_BYTES);
}

static void require_again(const struct json_object *result)
{
    char error[RESULT_ERROR_BYTES], *text = strdup(result_text(result, ""));
    struct json_object *again;

    REQUIRE(text != NULL);
    again = result_parse(text, strlen(text), error);
    REQUIRE(again != NULL && strcmp(result_text(again, ""), text) == 0);
    result_free(again);
    free(text);
}

/* The sum of two equal counts; unknown if it overflows. */
static void check_merged(const struct json_object *result)
{
    struct json_object *sum = merge_first(result);
    uint64_t sent = 0, both = 0;

    REQUIRE(sum != NULL && merge_add(sum, result) == 0);
    REQUIRE(result_u64(result, "queries.sent", &sent));
    if (result_u64(sum, "queries.sent", &both))
        REQUIRE(both / 2 == sent && both % 2 == 0);
    else
        REQUIRE(sent > UINT64_MAX / 2);
    REQUIRE(result_verdict(sum) == result_verdict(result));
    REQUIRE(result_find(sum, "latency_ns") == NULL);
    result_free(sum);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
    char error[RESULT_ERROR_BYTES] = "", *text;
    struct json_object *result;

    if (n_bytes > FUZZ_MOST_BYTES)
        return 0;
    text = malloc(n_bytes + 1); /* separate memory: sanitizers detect overruns */
    REQUIRE(text != NULL);
    memcpy(text, data, n_bytes);
    text[n_bytes] = '\0'; /* as when read from a file (recording.c) */
    result = result_parse(text, n_bytes, error);
    free(text);
    if (result == NULL) {
        REQUIRE(error[0] != '\0' && strnlen(error, sizeof error) < sizeof error);
        return 0;
    }
    check_figures(result);
    require_again(result);
    check_merged(result);
    result_free(result);
    return 0;
}
