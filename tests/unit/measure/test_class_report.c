/* SPDX-License-Identifier: MIT
 * test_class_report: the table of the classes, and that of their response times. */
#include "measure/class_report.h"

#include "print_steps.h"

#include <math.h>
#include <stdlib.h>

static char *text_of(const struct class_report *classes, size_t n)
{
    class_report_text(print_open(), classes, n, 5000000000);
    return print_close();
}

static void classes_have_their_counts(void **state)
{
    static const struct class_report classes[2] = {
        {.name = "stub",
         .clients = 7000,
         .connected = 6001,
         .proven = 5002,
         .live = 4003,
         .scheduled = 3004,
         .answered = 2005,
         .achieved_qps = 200.5},
        {.name = "idle",
         .clients = 3,
         .connected = 2,
         .proven = UINT64_MAX,
         .live = 1,
         .achieved_qps = NAN},
    };
    char *text = text_of(classes, 2);

    (void)state;
    assert_string_equal(
        text,
        "\n"
        "Class                clients   connected      proven        live   scheduled    answered"
        "         q/s\n"
        "stub                   7,000       6,001       5,002       4,003       3,004       2,005"
        "       200.5\n"
        "idle                       3           2           -           1           0           0"
        "           -\n");
    free(text);
}

/* One of them has none, and the name of the other makes the column wide. */
static void classes_with_response_times_have_a_row_of_them(void **state)
{
    static const struct class_report classes[2] = {
        {.name = "a"},
        {.name = "sixteen-letters-", .response = {.over = 1}},
    };
    char *text = text_of(classes, 2);

    (void)state;
    assert_has(text, "\n\nResponse               min ");
    assert_has(text, "\nsixteen-letters-         - ");
    assert_null(strstr(strstr(text, "\nResponse"), "\na "));
    free(text);
}

static void without_classes_there_is_no_table(void **state)
{
    char *text = text_of(NULL, 0);

    (void)state;
    assert_string_equal(text, "");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_have_their_counts),
        cmocka_unit_test(classes_with_response_times_have_a_row_of_them),
        cmocka_unit_test(without_classes_there_is_no_table),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
