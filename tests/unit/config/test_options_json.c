/* SPDX-License-Identifier: MIT
 * test_options_json: every kind of setting has the value and the type of its key. */
#include "config/options_json.h"

#include "base/json.h"
#include "config/options_section.h"
#include "options_steps.h"

static void assert_json(const struct options *o, const void *settings, const char *expected)
{
    struct json j;
    char *text;

    json_init(&j, print_open());
    json_object_begin(&j, NULL);
    options_json(o, settings, &j, "options");
    json_object_end(&j);
    text = print_close();
    assert_string_equal(text, expected);
    free(text);
}

static void settings_are_printed_by_kind(void **state)
{
    struct run r;

    (void)state;
    init(&r);
    parse(&r, "-c 8 --unlimited 9 -b 2KiB -d 1500ms -r 0.5 -p 53 -f -v -t a\"b "
              "--choice-with-quite-a-long-name first x");
    assert_int_equal(r.result, OPTIONS_RUN);
    assert_json(&r.options, &r.settings,
                "{\n  \"options\": {\n    \"count\": 8,\n    \"unlimited\": 9,\n"
                "    \"automatic\": 3,\n    \"bytes\": 2048,\n    \"duration\": 1.5,\n"
                "    \"rate\": 0.5,\n    \"port\": 53,\n    \"flag\": true,\n    \"counter\": 41,\n"
                "    \"text\": \"a\\\"b\",\n"
                "    \"choice-with-quite-a-long-name\": \"first\"\n  }\n}\n");
    free(r.output);
}

static void what_is_not_set_is_null(void **state)
{
    struct run r;

    (void)state;
    init(&r);
    parse(&r, "-a auto x");
    assert_int_equal(r.result, OPTIONS_RUN);
    assert_json(&r.options, &r.settings,
                "{\n  \"options\": {\n    \"count\": 7,\n    \"unlimited\": 0,\n"
                "    \"automatic\": \"auto\",\n    \"bytes\": 0,\n    \"duration\": 0,\n"
                "    \"rate\": 0,\n    \"port\": 0,\n    \"flag\": false,\n    \"counter\": 40,\n"
                "    \"text\": null,\n"
                "    \"choice-with-quite-a-long-name\": \"third\"\n  }\n}\n");
    free(r.output);
}

/* A section has its settings as they were given: of the command line, and of a file. */
static void shares_and_sections_are_texts(void **state)
{
    static const struct special {
        uint64_t share;
        uint16_t port;
        int without, with;
        struct options_sections none, classes;
    } settings = {
        .share = 100,
        .port = 65535,
        .with = 1,
        .classes = {
            .n = 2,
            .items = {{.text = "name=a,share=5%,tls"},
                      {.name = "b", .text = "# all others\nshare = 95%\n", .file = "settings"}}}};
    static const struct option_row special_rows[] = {
        {"share", 0, OPTION_SHARE, offsetof(struct special, share), "S", "", 0, 0, NULL},
        {"port", 0, OPTION_ANY_PORT, offsetof(struct special, port), "PORT", "", 0, 0, NULL},
        {"without", 0, OPTION_CHOICE, offsetof(struct special, without), NULL, "", 0, 0, "|yes"},
        {"with", 0, OPTION_CHOICE, offsetof(struct special, with), NULL, "", 0, 0, "|yes"},
        {"none", 0, OPTION_SECTION, offsetof(struct special, none), "S", "", 0, 0, NULL},
        {"class", 0, OPTION_SECTION, offsetof(struct special, classes), "S", "", 0, 0, NULL},
    };
    const struct options options = {.rows = special_rows, .n_rows = N_OF(special_rows)};

    (void)state;
    assert_json(&options, &settings,
                "{\n  \"options\": {\n    \"share\": \"1/100\",\n    \"port\": 65535,\n"
                "    \"without\": null,\n    \"with\": \"yes\",\n    \"none\": null,\n"
                "    \"class\": [\n      {\n        \"name\": \"a\",\n"
                "        \"share\": \"5%\",\n        \"tls\": \"yes\"\n      },\n"
                "      {\n        \"name\": \"b\",\n        \"share\": \"95%\"\n      }\n"
                "    ]\n  }\n}\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(settings_are_printed_by_kind),
        cmocka_unit_test(what_is_not_set_is_null),
        cmocka_unit_test(shares_and_sections_are_texts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
