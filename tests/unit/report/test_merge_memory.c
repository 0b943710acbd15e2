/* SPDX-License-Identifier: MIT
 * test_merge_memory: memory that runs out while results are merged.  Linked with
 * --wrap=json_object_deep_copy,
 * --wrap=json_object_new_object,
 * --wrap=json_object_new_array,
 * --wrap=json_object_new_boolean,
 * --wrap=json_object_object_add,
 * --wrap=json_object_array_add. */
#include "report/merge.h"

#include "report/result.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const char result[] =
    "{\"schema\":1,\"program\":\"tcpclient\",\"latency_ns\":{\"response\":{\"count\":1}},"
    "\"queries\":{\"scheduled\":9,\"sent\":9,\"unsent\":0,\"answered\":9,\"timeout\":0,\"error\":0,"
    "\"cancelled\":0,\"outcomes\":{}},\"version\":\"0.1.0\",\"target\":\"a:1\","
    "\"started\":\"2026-01-31T23:59:59.123Z\",\"seed\":1,\"options\":{\"rate\":100},"
    "\"connections\":{\"asked\":5,\"live_at_end\":4},"
    "\"rate\":{\"asked_qps\":100,\"achieved_qps\":99.5,\"duration_s\":2},\"holds\":{\"p50\":true},"
    "\"interrupted\":false,\"verdict\":\"VALID\",\"reasons\":[\"host-noise\"]}";

static int n_until_failure = -1; /* allocations; -1: none fails */

static bool fails(void)
{
    return n_until_failure >= 0 && n_until_failure-- == 0;
}

int __real_json_object_deep_copy(struct json_object *from, struct json_object **to,
                                 json_c_shallow_copy_fn *copy);
int __wrap_json_object_deep_copy(struct json_object *from, struct json_object **to,
                                 json_c_shallow_copy_fn *copy);
struct json_object *__real_json_object_new_object(void);
struct json_object *__wrap_json_object_new_object(void);
struct json_object *__real_json_object_new_array(void);
struct json_object *__wrap_json_object_new_array(void);
struct json_object *__real_json_object_new_boolean(json_bool value);
struct json_object *__wrap_json_object_new_boolean(json_bool value);
int __real_json_object_object_add(struct json_object *to, const char *key,
                                  struct json_object *value);
int __wrap_json_object_object_add(struct json_object *to, const char *key,
                                  struct json_object *value);
int __real_json_object_array_add(struct json_object *to, struct json_object *value);
int __wrap_json_object_array_add(struct json_object *to, struct json_object *value);

int __wrap_json_object_deep_copy(struct json_object *from, struct json_object **to,
                                 json_c_shallow_copy_fn *copy)
{
    return fails() ? -1 : __real_json_object_deep_copy(from, to, copy);
}

struct json_object *__wrap_json_object_new_object(void)
{
    return fails() ? NULL : __real_json_object_new_object();
}

struct json_object *__wrap_json_object_new_array(void)
{
    return fails() ? NULL : __real_json_object_new_array();
}

struct json_object *__wrap_json_object_new_boolean(json_bool value)
{
    return fails() ? NULL : __real_json_object_new_boolean(value);
}

int __wrap_json_object_object_add(struct json_object *to, const char *key,
                                  struct json_object *value)
{
    return fails() ? -1 : __real_json_object_object_add(to, key, value);
}

int __wrap_json_object_array_add(struct json_object *to, struct json_object *value)
{
    return fails() ? -1 : __real_json_object_array_add(to, value);
}

/* A null in its place would look like a figure that cannot be added up. */
static void a_sum_without_a_figure_for_lack_of_memory_fails(void **state)
{
    char error[RESULT_ERROR_BYTES];
    struct json_object *one = result_parse(result, strlen(result), error);
    int n = 0;

    (void)state;
    if (one == NULL)
        fail_msg("%s", error);
    for (int code = -1; code != 0; n++) {
        struct json_object *sum = merge_first(one);

        assert_non_null(sum);
        n_until_failure = n;
        code = merge_add(sum, one);
        assert_int_equal(code, n_until_failure < 0 ? -1 : 0);
        n_until_failure = -1;
        result_free(sum);
    }
    assert_in_range(n, 30, 200);
    n_until_failure = 0;
    assert_null(merge_first(one));
    result_free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sum_without_a_figure_for_lack_of_memory_fails),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
