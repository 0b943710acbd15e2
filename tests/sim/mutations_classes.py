# SPDX-License-Identifier: MIT
"""Hand-made bugs in the code of classes of clients, for mutations.py."""

# name: file, what is replaced, by what
MUTATIONS_OF_CLASSES = {
    "another_connection_of_any_class": (
        "src/client/worker/dispatch.c",
        "    const uint32_t k = t->conns[slot].class_index;\n",
        "    const uint32_t k = 0;\n",
    ),
    "answers_of_the_first_class": (
        "src/client/worker/answer.c",
        "client_query_class(a->queries, q));\n",
        "0 * client_query_class(a->queries, q));\n",
    ),
    "class_takes_arrivals_of_the_next_one": (
        "src/client/worker/due.c",
        "        if (client_due_next_of_ns(d, &d->classes[k]) < client_due_next_of_ns(d, d->next))\n",
        "        if (client_due_next_of_ns(d, &d->classes[k]) != PACER_NEVER)\n",
    ),
    "idle_close_of_the_run_in_all_classes": (
        "src/client/worker/idle.c", "class != NULL ? class->idle_close_ns : idle->transport->config->idle_close_ns;",
        "((void)class, idle->transport->config->idle_close_ns);"),
    "idle_close_of_the_first_class_in_all": (
        "src/client/worker/idle.c",
        "        class != NULL ? class->idle_close_ns :",
        "        class != NULL ? idle->transport->config->classes[0].idle_close_ns :",
    ),
    "response_of_a_class_from_the_send": (
        "src/client/worker/answer.c",
        "    hist_record(&times->response, received_ns - q->intended_ns);\n    hist_record(&times->service",
        "    hist_record(&times->response, received_ns - q->sent_ns);\n    hist_record(&times->service",
    ),
    "queries_of_the_class_before": (
        "src/client/worker/due.c",
        "d->classes[k].query = &config->class_queries[k];",
        "d->classes[k].query = &config->class_queries[k > 0 ? k - 1 : 0];",
    ),
    "queries_per_connection_of_the_first_class": (
        "src/client/worker/turnover.c",
        "class != NULL ? class->queries_per_conn : to->queries_per_conn;",
        "class != NULL ? to->transport->config->classes[0].queries_per_conn : to->queries_per_conn;",
    ),
    "last_connection_of_a_class_in_the_next_one": (
        "src/client/worker/transport.c",
        "            t->conns[first + i].class_index = k & (CLIENT_CLASS_MOST - 1);",
        "            t->conns[first + i].class_index = (k + (i > 1 && i + 1 == n && k + 1 < config->n_classes)) & (CLIENT_CLASS_MOST - 1);",
    ),
}
