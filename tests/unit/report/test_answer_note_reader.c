/* SPDX-License-Identifier: MIT
 * test_answer_note_reader: the notes on the answers of a result. */
#include "report/answer_note_reader.h"

#include <json-c/json.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char text[ANSWER_NOTE_BYTES];

/* Returns the note; "": none. */
static const char *note_on(const char *json, enum answer_note_kind kind)
{
    struct json_object *result = json_tokener_parse(json);

    assert_non_null(result);
    if (answer_note_read(text, result, kind) == NULL)
        text[0] = '\0';
    json_object_put(result);
    return text;
}

static void errors_are_a_share_of_all_answers(void **state)
{
    static const char json[] = "{\"answers\": {\"rcodes\": {\"NXDOMAIN\": 3, \"REFUSED\": 4}, "
                               "\"echoed\": 1, \"truncated\": 8}, \"udp\": null}";

    (void)state;
    assert_non_null(
        strstr(note_on(json, ANSWER_NOTE_ERRORS), "50 % of the answers were REFUSED, "));
    assert_string_equal(note_on(json, ANSWER_NOTE_TRUNCATED), "");
}

static void truncated_answers_matter_over_udp(void **state)
{
    static const char json[] = "{\"answers\": {\"rcodes\": {\"NOERROR\": 8}, \"echoed\": 0, "
                               "\"truncated\": 2}, \"udp\": {\"malformed\": 0}}";

    (void)state;
    assert_non_null(
        strstr(note_on(json, ANSWER_NOTE_TRUNCATED), "25 % of the answers were truncated: "));
    assert_string_equal(note_on(json, ANSWER_NOTE_ERRORS), "");
}

static void run_without_dns_answers_has_no_note(void **state)
{
    (void)state;
    assert_string_equal(note_on("{\"answers\": null}", ANSWER_NOTE_ERRORS), "");
    assert_string_equal(note_on("{\"udp\": {}}", ANSWER_NOTE_TRUNCATED), "");
}

/* As another program may write it. */
static void impossible_counts_are_harmless(void **state)
{
    static const char json[] = "{\"answers\": {\"rcodes\": {\"REFUSED\": 18446744073709551615, "
                               "\"SERVFAIL\": 18446744073709551615, \"NOTIMP\": -1}}}";

    (void)state;
    note_on(json, ANSWER_NOTE_ERRORS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_a_share_of_all_answers),
        cmocka_unit_test(truncated_answers_matter_over_udp),
        cmocka_unit_test(run_without_dns_answers_has_no_note),
        cmocka_unit_test(impossible_counts_are_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
