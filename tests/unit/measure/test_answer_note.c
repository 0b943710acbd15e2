/* SPDX-License-Identifier: MIT
 * test_answer_note: answers of a server that did not do its work, and truncated ones. */
#include "measure/answer_note.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char text[ANSWER_NOTE_BYTES];

/* Returns the note on the errors among these answers; "": none. */
static const char *note_on(double noerror, const char *kind, double n, const char *other_kind,
                           double n_others)
{
    struct answer_counts c = {0};

    answer_counts_add(&c, "NOERROR", noerror);
    answer_counts_add(&c, kind, n);
    answer_counts_add(&c, other_kind, n_others);
    return answer_note(text, &c, ANSWER_NOTE_ERRORS) != NULL ? text : "";
}

static void a_server_that_refuses_everything_is_noticed(void **state)
{
    (void)state;
    assert_string_equal(note_on(0, "REFUSED", 998, "SERVFAIL", 0),
                        "100 % of the answers were REFUSED, which may cost the server less than "
                        "other answers: check its access list, its zones and the names of the "
                        "queries");
}

static void each_error_has_its_own_advice(void **state)
{
    static const struct {
        const char *kind, *check;
    } advice[] = {{"FORMERR", ": check whether it supports the queries' EDNS options"},
                  {"SERVFAIL", ": check whether its zones are loaded or, if it is a resolver, "},
                  {"NOTIMP", ": check the types of the queries"},
                  {"REFUSED", ": check its access list, "}};

    (void)state;
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++) {
        assert_non_null(strstr(note_on(1, advice[i].kind, 1, "NXDOMAIN", 0), advice[i].kind));
        assert_non_null(strstr(text, "50 % of the answers were "));
        assert_non_null(strstr(text, advice[i].check));
    }
}

static void several_errors_add_up(void **state)
{
    (void)state;
    assert_non_null(strstr(note_on(88, "REFUSED", 5, "SERVFAIL", 7),
                           "12 % of the answers were errors, most often SERVFAIL, which "));
}

static void up_to_a_tenth_may_be_errors(void **state)
{
    (void)state;
    assert_string_equal(note_on(900, "SERVFAIL", 60, "REFUSED", 40), "");
    assert_string_not_equal(note_on(899, "SERVFAIL", 61, "REFUSED", 40), "");
    assert_string_equal(note_on(0, "SERVFAIL", 0, "REFUSED", 0), "");
}

/* All but one of them. */
static void share_is_rounded_down(void **state)
{
    (void)state;
    assert_non_null(strstr(note_on(1, "SERVFAIL", 9999999, "REFUSED", 0), "99.9 % of the"));
}

static void other_kinds_are_no_errors(void **state)
{
    (void)state;
    assert_string_equal(note_on(0, "NXDOMAIN", 998, "echoed", 1), "");
    assert_string_equal(note_on(0, "NOERROR", 9, "YXDOMAIN", 1), "");
}

static void truncated_answers_are_noticed_over_udp(void **state)
{
    struct answer_counts c = {.over_udp = true, .n_truncated = 100};

    (void)state;
    answer_counts_add(&c, "NOERROR", 1000);
    assert_null(answer_note(text, &c, ANSWER_NOTE_TRUNCATED));
    c.n_truncated = 101;
    assert_null(answer_note(text, &c, ANSWER_NOTE_ERRORS));
    assert_string_equal(answer_note(text, &c, ANSWER_NOTE_TRUNCATED),
                        "10.1 % of the answers were truncated: a resolver would repeat these "
                        "queries over TCP; check --edns and the server's rate limit");
    c.over_udp = false;
    assert_null(answer_note(text, &c, ANSWER_NOTE_TRUNCATED));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_server_that_refuses_everything_is_noticed),
        cmocka_unit_test(each_error_has_its_own_advice),
        cmocka_unit_test(several_errors_add_up),
        cmocka_unit_test(up_to_a_tenth_may_be_errors),
        cmocka_unit_test(share_is_rounded_down),
        cmocka_unit_test(other_kinds_are_no_errors),
        cmocka_unit_test(truncated_answers_are_noticed_over_udp),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
