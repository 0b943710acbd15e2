/* SPDX-License-Identifier: MIT
 * test_suggest: distances between words, and the nearest name. */
#include "config/suggest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static unsigned distance(const char *a, const char *b)
{
    return suggest_distance(a, strlen(a), b, strlen(b));
}

static void distances_are_those_of_the_definition(void **state)
{
    static const struct {
        const char *a, *b;
        unsigned distance;
    } cases[] = {
        {"", "", 0},        {"", "rate", 4},       {"rate", "rate", 0}, {"raet", "rate", 1},
        {"rat", "rate", 1}, {"rates", "rate", 1},  {"rote", "rate", 1}, {"kitten", "sitting", 3},
        {"ca", "abc", 3},   {"tset", "settle", 4}, {"Rate", "rate", 1}, {"arte", "rate", 1},
        {"ar", "ra", 1},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(distance(cases[i].a, cases[i].b), cases[i].distance);
        assert_int_equal(distance(cases[i].b, cases[i].a), cases[i].distance);
    }
}

static void words_of_any_length_are_taken(void **state)
{
    char word[1000];

    (void)state;
    memset(word, 'x', sizeof word);
    assert_int_equal(suggest_distance(word, sizeof word, "rate", 4), sizeof word);
    assert_int_equal(suggest_distance("rate", 4, word, sizeof word), sizeof word);
    assert_int_equal(suggest_distance(word, SUGGEST_NAME_BYTES, "x", 1), SUGGEST_NAME_BYTES - 1);
}

static const char *nearest(const char *word)
{
    static const char *const names[] = {"rate",    "connections", "connect-rate", "connect-window",
                                        "timeout", "json",        "hlog",         "tls"};
    struct suggest s = {.word = word, .n_word = strlen(word)};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        suggest_consider(&s, names[i]);
    return s.name != NULL ? s.name : "none";
}

static void the_nearest_name_is_suggested_when_it_is_near(void **state)
{
    (void)state;
    assert_string_equal(nearest("raet"), "rate");
    assert_string_equal(nearest("conections"), "connections");
    assert_string_equal(nearest("connectrate"), "connect-rate");
    assert_string_equal(nearest("time-out"), "timeout");
    assert_string_equal(nearest("connect-wintw"), "connect-window"); /* of two that are near */
    assert_string_equal(nearest("jsno"), "json");
    assert_string_equal(nearest("tl"), "tls");
    assert_string_equal(nearest("bogus"), "none");
    assert_string_equal(nearest("x"), "none");
    assert_string_equal(nearest(""), "none");
}

static void a_third_of_the_letters_may_differ_but_at_least_one(void **state)
{
    static const struct {
        const char *word, *name;
        bool near;
    } cases[] = {
        {"a", "x", true},
        {"ab", "xy", false},
        {"abcde", "abcdx", true},
        {"abcde", "abcxx", false},
        {"abcdef", "abcdxx", true},
        {"abcdefgh", "abcdexxx", false},
        {"abcdefghi", "abcdefxxx", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct suggest s = {.word = cases[i].word, .n_word = strlen(cases[i].word)};

        suggest_consider(&s, cases[i].name);
        if ((s.name != NULL) != cases[i].near)
            fail_msg("%s", cases[i].word);
    }
}

static void the_first_of_two_that_are_equally_near_stays(void **state)
{
    struct suggest s = {.word = "rate", .n_word = 4};

    (void)state;
    suggest_consider(&s, "ratx");
    suggest_consider(&s, "raty");
    assert_string_equal(s.name, "ratx");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(distances_are_those_of_the_definition),
        cmocka_unit_test(words_of_any_length_are_taken),
        cmocka_unit_test(the_nearest_name_is_suggested_when_it_is_near),
        cmocka_unit_test(a_third_of_the_letters_may_differ_but_at_least_one),
        cmocka_unit_test(the_first_of_two_that_are_equally_near_stays),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
