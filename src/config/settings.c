/* SPDX-License-Identifier: MIT
 * settings: see config/settings.h. */
#include "config/settings.h"

#include "base/inputs.h"
#include "base/textfile.h"
#include "config/options_parse.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_TEXT_BYTES = 1 << 16 };

#define LIST "list"

static enum options_result refuse_profile(const char *name, char *error)
{
    char names[OPTIONS_ERROR_BYTES / 2];

    profile_names(names, sizeof names);
    snprintf(error, OPTIONS_ERROR_BYTES, "--profile: invalid value '%.60s': expected " LIST ", %s",
             name, names);
    return OPTIONS_USAGE;
}

static enum options_result take_profile(struct options_text *t, enum profile_program program,
                                        const char *name, FILE *out, char *error)
{
    const struct profile *profile = profile_find(name);

    if (strcmp(name, LIST) == 0) {
        profile_list(out);
        return OPTIONS_EXIT;
    }
    if (profile == NULL)
        return refuse_profile(name, error);
    *t = (struct options_text){profile->name, strdup(profile->texts[program])};
    if (t->text != NULL)
        return OPTIONS_RUN;
    snprintf(error, OPTIONS_ERROR_BYTES, "out of memory");
    return OPTIONS_USAGE;
}

static enum options_result take_file(struct options_text *t, const char *name, char *error)
{
    size_t n_bytes;
    char *text = textfile_read(name, MOST_TEXT_BYTES, &n_bytes);

    *t = (struct options_text){name, text};
    inputs_add(name);
    if (text != NULL && memchr(text, 0, n_bytes) == NULL)
        return OPTIONS_RUN;
    snprintf(error, OPTIONS_ERROR_BYTES, "--config: cannot read '%.100s': %.60s", name,
             text != NULL ? "not a text file" : strerror(errno));
    return OPTIONS_USAGE;
}

enum options_result settings_parse(struct options *o, enum profile_program program, void *settings,
                                   int argc, char **argv, int *first_operand, FILE *out,
                                   char *error)
{
    const char *profile = options_find(o, OPTION_PROFILE, argc, argv);
    const char *file = options_find(o, OPTION_CONFIG, argc, argv);
    enum options_result result = OPTIONS_RUN;

    for (int source = 0; source < OPTIONS_COMMAND_LINE; source++) {
        free(o->texts[source].text);
        o->texts[source].text = NULL;
    }
    if (profile != NULL)
        result = take_profile(&o->texts[OPTIONS_PROFILE], program, profile, out, error);
    if (result == OPTIONS_RUN && file != NULL)
        result = take_file(&o->texts[OPTIONS_FILE], file, error);
    if (result != OPTIONS_RUN)
        return result;
    return options_parse(o, settings, argc, argv, first_operand, out, error);
}
