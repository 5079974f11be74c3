/* Lazy rules: counted repeats that are not written out, and any_order. Their states are made at run time
 * (gm_netlazy.c); the NFA only holds an approximation, for the analysis of left recursion and emptiness. */
#include "gm_lower_build.h"

enum { LAZY = 1 << 16 }; /* beyond all contexts, in keys of rules */

static GmStatus rule_or_none(GmNfa *nfa, int32_t node, uint32_t ctx, uint32_t *out, GmError *err)
{
    *out = GM_NONE;
    return node < 0 ? GM_OK : gm_lower_rule_for(nfa, (uint32_t)node, ctx, out, err);
}

/* A chain of calls from `from`; the new end replaces *from. */
static GmStatus call_chain(GmNfa *nfa, uint32_t *from, uint32_t rule, GmError *err)
{
    uint32_t to;
    GM_TRY(gm_lower_state(nfa, &to, err));
    GM_TRY(gm_lower_edge(nfa, *from, GM_EDGE_CALL, rule, to, err));
    *from = to;
    return GM_OK;
}

static GmStatus approximate_repeat(GmNfa *nfa, const GmLazy *lazy, uint32_t entry, GmError *err)
{
    uint32_t at = entry;
    if (lazy->low == 0) {
        GM_TRY(gm_lower_edge(nfa, entry, GM_EDGE_EPS, 0, GM_NFA_END, err));
    }
    GM_TRY(call_chain(nfa, &at, lazy->body, err));
    if (lazy->separator != GM_NONE && lazy->low > 1) {
        GM_TRY(call_chain(nfa, &at, lazy->separator, err));
    }
    return gm_lower_edge(nfa, at, GM_EDGE_EPS, 0, GM_NFA_END, err);
}

/* The analysis asks two things of an approximation: can it complete, and what may it start with. */
static GmStatus approximate_any_order(GmNfa *nfa, const GmLazy *lazy, uint32_t entry, GmError *err)
{
    uint32_t members = 0, required, at;
    GM_TRY(gm_lower_state(nfa, &required, err));
    at = required;
    for (uint32_t i = 0; i < lazy->n_items; i++) {
        GmItem item = nfa->items.data[lazy->items + i];
        if (item.required) {
            members++;
            GM_TRY(call_chain(nfa, &at, item.rule, err));
        }
    }
    bool possible = lazy->high == GM_INF || lazy->high >= members;
    possible = possible && (lazy->extra != GM_NONE || lazy->low <= lazy->n_items);
    if (!possible) {
        return GM_OK;
    }
    GM_TRY(gm_lower_edge(nfa, at, GM_EDGE_EPS, 0, GM_NFA_END, err));
    if (members == 0 && lazy->low == 0) {
        GM_TRY(gm_lower_edge(nfa, entry, GM_EDGE_EPS, 0, GM_NFA_END, err));
    }
    for (uint32_t i = 0; i < lazy->n_items; i++) {
        GM_TRY(gm_lower_edge(nfa, entry, GM_EDGE_CALL, nfa->items.data[lazy->items + i].rule, required, err));
    }
    return lazy->extra == GM_NONE ? GM_OK : gm_lower_edge(nfa, entry, GM_EDGE_CALL, lazy->extra, required, err);
}

static GmStatus check_members(GmNfa *nfa, uint32_t node, GmError *err)
{
    const int32_t *row = gm_lower_row(nfa, node), *args = nfa->module.args + row[1];
    bool empty = (args[0] >= 0 && nfa->nullable[args[0]]) || (args[1] >= 0 && nfa->nullable[args[1]]);
    for (int32_t i = 0; i < row[2]; i++) {
        empty = empty || nfa->nullable[args[4 + 2 * i]];
    }
    if (empty) {
        GmStatus status = gm_fail(err, GM_ARG, "any_order: an item, the extra member or the separator matches the empty text");
        if (err != NULL) {
            err->detail = (int32_t)node;
        }
        return status;
    }
    return GM_OK;
}

GmStatus gm_lower_lazy(GmNfa *nfa, uint32_t node, uint32_t ctx, uint32_t *out, GmError *err)
{
    const int32_t *row = gm_lower_row(nfa, node), *args = nfa->module.args + row[1];
    uint64_t key = gm_lower_key(node, ctx | LAZY); /* a plain rule may have the same node as its body */
    *out = gm_map_get(&nfa->rule_of, key);
    if (*out != GM_NONE) {
        return GM_OK;
    }
    GmLazy lazy = {GM_NONE, GM_NONE, GM_NONE, (uint32_t)row[2], row[3] < 0 ? GM_INF : (uint32_t)row[3], 0, 0};
    if (row[0] == IR_REPEAT) {
        GM_TRY(rule_or_none(nfa, row[1], ctx, &lazy.body, err));
        if (nfa->nullable[row[1]]) {
            lazy.low = 0;
        }
    } else if (row[0] == IR_SEPARATED) {
        GM_TRY(rule_or_none(nfa, args[0], ctx, &lazy.body, err));
        GM_TRY(rule_or_none(nfa, args[1], ctx, &lazy.separator, err));
    } else {
        GM_TRY(check_members(nfa, node, err));
        GM_TRY(rule_or_none(nfa, args[0], ctx, &lazy.separator, err));
        GM_TRY(rule_or_none(nfa, args[1], ctx, &lazy.extra, err));
        lazy.low = (uint32_t)args[2];
        lazy.high = args[3] < 0 ? GM_INF : (uint32_t)args[3];
        lazy.items = nfa->items.len;
        lazy.n_items = (uint32_t)row[2];
        for (uint32_t i = 0; i < lazy.n_items; i++) {
            GmItem item = {0, (uint8_t)(args[5 + 2 * i] != 0)};
            GM_TRY(gm_lower_rule_for(nfa, (uint32_t)args[4 + 2 * i], ctx, &item.rule, err));
            GM_PUSH(nfa->mem, nfa->items, item);
        }
    }
    GM_TRY(gm_lower_rule(nfa, row[0] == IR_ANY_ORDER ? GM_RULE_ANY_ORDER : GM_RULE_REPEAT, node, ctx, out, err));
    GM_TRY(gm_map_put(&nfa->rule_of, nfa->mem, key, *out, err));
    uint32_t entry;
    GM_TRY(gm_lower_state(nfa, &entry, err));
    nfa->rules.data[*out].lazy = nfa->lazies.len;
    nfa->rules.data[*out].entry = entry;
    GM_PUSH(nfa->mem, nfa->lazies, lazy);
    return row[0] == IR_ANY_ORDER ? approximate_any_order(nfa, &lazy, entry, err)
                                  : approximate_repeat(nfa, &lazy, entry, err);
}
