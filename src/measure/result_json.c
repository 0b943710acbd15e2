/* SPDX-License-Identifier: MIT
 * result_json: see measure/result_json.h. */
#include "measure/result_json.h"

#include "base/clock.h"

void result_json_begin(struct json *j, FILE *out, const char *program, const char *version)
{
    json_init(j, out);
    json_object_begin(j, NULL);
    json_u64(j, "schema", RESULT_JSON_SCHEMA);
    json_string(j, "program", program);
    json_string(j, "version", version);
}

void result_json_run(struct json *j, const char *state, uint64_t started_epoch_ns)
{
    char started[CLOCK_RFC3339_BYTES];

    json_string(j, "state", state);
    json_string(j, "started", clock_rfc3339(started, started_epoch_ns));
}
