/* Building the rules: states of (node, what follows it, context), from a stack of frames, backwards. What the
 * nodes are is in gm_lower_nodes.c; rules of counted repeats and any_order are in gm_lower_lazy.c, what is
 * taken over from a prefix in gm_lower_prefix.c. */
#include "gm_lower_build.h"

#include <string.h>

enum {
    HEAVY = 16,    /* leaves from which a second copy of a node becomes a rule instead */
    UNROLL_LOW = 8 /* minimum up to which a repeat without a maximum is written out, if GM_LOWER_UNROLL allows */
};

/* -- states and rules --------------------------------------------------------------------------------- */

GmStatus gm_lower_state(GmNfa *nfa, uint32_t *out, GmError *err)
{
    if (nfa->states.len >= nfa->max_states) {
        return gm_fail_limit(err, "states", "the grammar needs more than %u states (limit \"states\")", nfa->max_states);
    }
    *out = nfa->states.len;
    GM_PUSH(nfa->mem, nfa->states, ((GmNfaState){GM_NONE, 0, 0, 0}));
    return GM_OK;
}

GmStatus gm_lower_edge(GmNfa *nfa, uint32_t from, GmEdgeKind kind, uint32_t sym, uint32_t to, GmError *err)
{
    uint32_t id = nfa->edges.len;
    GM_PUSH(nfa->mem, nfa->edges, ((GmNfaEdge){sym, to, nfa->states.data[from].edges, (uint8_t)kind}));
    nfa->states.data[from].edges = id;
    return GM_OK;
}

GmStatus gm_lower_rule(GmNfa *nfa, GmRuleKind kind, uint32_t node, uint32_t ctx, uint32_t *out, GmError *err)
{
    *out = nfa->rules.len;
    GmRule rule = {(uint8_t)kind, 0, 0, node, ctx, GM_NONE, GM_NONE, GM_NONE};
    GM_PUSH(nfa->mem, nfa->rules, rule);
    return GM_OK;
}

static uint64_t memo_key(uint32_t node, uint32_t cont, uint32_t ctx)
{
    return (uint64_t)ctx << 52 | (uint64_t)cont << 26 | node;
}

/* The state of (node, cont, ctx), or GM_NONE. */
static uint32_t memo_get(GmNfa *nfa, uint32_t node, uint32_t cont, uint32_t ctx)
{
    uint64_t key = memo_key(node, cont, ctx);
    if (node >= gm_nfa_old_nodes(nfa)) {
        const GmBuilt *built = &nfa->built[node - gm_nfa_old_nodes(nfa)];
        if (built->key == key + 1 || built->key == 0) {
            return built->key == 0 ? GM_NONE : built->state;
        }
    }
    return gm_map_get(&nfa->memo, key);
}

static GmStatus memo_put(GmNfa *nfa, uint32_t node, uint32_t cont, uint32_t ctx, uint32_t state, GmError *err)
{
    uint64_t key = memo_key(node, cont, ctx);
    GmBuilt *built = node >= gm_nfa_old_nodes(nfa) ? &nfa->built[node - gm_nfa_old_nodes(nfa)] : NULL;
    if (built != NULL && built->key == 0) {
        built->key = key + 1;
        built->state = state;
        return GM_OK;
    }
    return gm_map_put(&nfa->memo, nfa->mem, key, state, err);
}

GmStatus gm_lower_rule_for(GmNfa *nfa, uint32_t node, uint32_t ctx, uint32_t *out, GmError *err)
{
    *out = gm_map_get(&nfa->rule_of, gm_lower_key(node, ctx));
    if (*out != GM_NONE) {
        return GM_OK;
    }
    GM_TRY(gm_lower_rule(nfa, GM_RULE_PLAIN, node, ctx, out, err));
    return gm_map_put(&nfa->rule_of, nfa->mem, gm_lower_key(node, ctx), *out, err);
}

/* `to`, with the ignore of the context before it. */
static GmStatus with_ignore(GmNfa *nfa, uint32_t to, uint32_t ctx, uint32_t *out, GmError *err)
{
    if (nfa->ignores.data[ctx] == GM_RE_EMPTY) {
        *out = to;
        return GM_OK;
    }
    uint64_t key = memo_key((1u << 26) - 1, to, ctx); /* no node has this number */
    *out = gm_map_get(&nfa->memo, key);
    if (*out != GM_NONE) {
        return GM_OK;
    }
    GM_TRY(gm_lower_state(nfa, out, err));
    GM_TRY(gm_lower_edge(nfa, *out, GM_EDGE_EPS, 0, to, err));
    GM_TRY(gm_lower_edge(nfa, *out, GM_EDGE_TERM, gm_lex(nfa->ignores.data[ctx], true), to, err));
    return gm_map_put(&nfa->memo, nfa->mem, key, *out, err);
}

static GmStatus context_of(GmNfa *nfa, uint32_t node, int32_t ignore, uint32_t *out, GmError *err)
{
    GmRe re = GM_RE_EMPTY;
    if (ignore >= 0) {
        GM_TRY(gm_re_rep(nfa->rx, nfa->re[ignore], 1, GM_INF, &re, err));
        if (re == GM_RE_EPS) {
            re = GM_RE_EMPTY;
        }
    }
    for (*out = 0; *out < nfa->ignores.len; (*out)++) {
        if (nfa->ignores.data[*out] == re) {
            return GM_OK;
        }
    }
    if (*out >= 4095) {
        return gm_fail_limit(err, "states", "more than 4095 different ignores (node %u)", node);
    }
    GM_PUSH(nfa->mem, nfa->ignores, re);
    return GM_OK;
}

static GmStatus id_set_of(GmNfa *nfa, uint32_t node, uint32_t *out, GmError *err)
{
    *out = gm_map_get(&nfa->set_of, node);
    if (*out != GM_NONE) {
        return GM_OK;
    }
    const int32_t *row = gm_lower_row(nfa, node);
    *out = nfa->id_sets.len;
    GmIdSet set = {(const uint32_t *)nfa->module.args + row[1], (uint32_t)row[2]};
    for (uint32_t i = 0; i < set.n; i++) {
        if (set.ids[i] >= nfa->max_exact) {
            nfa->max_exact = (uint64_t)set.ids[i] + 1;
        }
    }
    GM_PUSH(nfa->mem, nfa->id_sets, set);
    return gm_map_put(&nfa->set_of, nfa->mem, node, *out, err);
}

/* -- building ----------------------------------------------------------------------------------------- */

/* The state of (node, cont) if it exists or is made without its children; else a frame is pushed and *out
 * is GM_NONE: the caller keeps its cursor and asks again when the frame is done. */
static GmStatus want(GmNfa *nfa, uint32_t node, uint32_t cont, uint32_t ctx, uint32_t *out, GmError *err)
{
    const int32_t *row = gm_lower_row(nfa, node);
    if (row[0] < IR_TERMINAL) {
        if (nfa->re[node] == GM_RE_EPS) {
            *out = cont;
            return GM_OK;
        }
        *out = GM_NFA_DEAD;
        return GM_OK;
    }
    *out = memo_get(nfa, node, cont, ctx);
    if (*out != GM_NONE) {
        return GM_OK;
    }
    uint32_t sym, to, rule;
    if (row[0] == IR_TERMINAL) {
        GmRe re = nfa->re[row[1]];
        GM_TRY(with_ignore(nfa, cont, ctx, &to, err));
        GM_TRY(gm_lower_state(nfa, out, err));
        if (re != GM_RE_EMPTY && re != GM_RE_EPS) {
            GM_TRY(gm_lower_edge(nfa, *out, GM_EDGE_TERM, gm_lex(re, row[2] & 1), to, err));
        }
        if (gm_re_nullable(nfa->rx, re)) {
            GM_TRY(gm_lower_edge(nfa, *out, GM_EDGE_EPS, 0, cont, err));
        }
        return memo_put(nfa, node, cont, ctx, *out, err);
    }
    if (row[0] == IR_TOKEN_IDS) {
        GM_TRY(id_set_of(nfa, node, &sym, err));
        GM_TRY(with_ignore(nfa, cont, ctx, &to, err));
        GM_TRY(gm_lower_state(nfa, out, err));
        GM_TRY(gm_lower_edge(nfa, *out, GM_EDGE_EXACT, sym, to, err));
        return memo_put(nfa, node, cont, ctx, *out, err);
    }
    uint32_t body = row[0] == IR_CALL ? (uint32_t)nfa->module.rules[2 * row[1] + 1] : node;
    bool call = row[0] == IR_CALL || gm_nfa_is_prefix(nfa, node); /* a prefix is not built again */
    if (!call && nfa->weight[node] >= HEAVY) {
        uint32_t first = gm_map_get(&nfa->first, gm_lower_key(node, ctx));
        if (first == GM_NONE) {
            GM_TRY(gm_map_put(&nfa->first, nfa->mem, gm_lower_key(node, ctx), cont, err));
        } else {
            call = first != cont && cont != GM_NFA_END; /* at the end stands the body of the rule itself */
        }
    }
    if (call) {
        GM_TRY(gm_lower_rule_for(nfa, body, ctx, &rule, err));
        GM_TRY(gm_lower_state(nfa, out, err));
        GM_TRY(gm_lower_edge(nfa, *out, GM_EDGE_CALL, rule, cont, err));
        return memo_put(nfa, node, cont, ctx, *out, err);
    }
    GM_PUSH(nfa->mem, nfa->frames, ((GmFrame){node, cont, ctx, 0, GM_NONE, GM_NONE}));
    return GM_OK;
}

/* want() inside a build step: when a frame was pushed, leave and come back later. */
#define WANT(node, cont, ctx, out)                        \
    do {                                                  \
        GM_TRY(want(nfa, (node), (cont), (ctx), (out), err)); \
        if (*(out) == GM_NONE) {                          \
            return GM_OK;                                 \
        }                                                 \
    } while (0)

static GmStatus finish(GmNfa *nfa, uint32_t at, uint32_t state, GmError *err)
{
    const GmFrame f = nfa->frames.data[at];
    GM_CHECK(at + 1 == nfa->frames.len, err);
    nfa->frames.len--;
    GM_CHECK(memo_get(nfa, f.node, f.cont, f.ctx) == GM_NONE, err);
    return memo_put(nfa, f.node, f.cont, f.ctx, state, err);
}

/* The node of the frame becomes a call of a lazy rule. */
static GmStatus finish_lazy(GmNfa *nfa, uint32_t at, GmError *err)
{
    GmFrame f = nfa->frames.data[at];
    uint32_t rule, state;
    GM_TRY(gm_lower_lazy(nfa, f.node, f.ctx, &rule, err));
    GM_TRY(gm_lower_state(nfa, &state, err));
    GM_TRY(gm_lower_edge(nfa, state, GM_EDGE_CALL, rule, f.cont, err));
    return finish(nfa, at, state, err);
}

static GmStatus build_list(GmNfa *nfa, uint32_t at, GmError *err)
{
    const int32_t *row = gm_lower_row(nfa, nfa->frames.data[at].node);
    const int32_t *child = nfa->module.args + row[1];
    uint32_t n = (uint32_t)row[2], state;
    if (row[0] == IR_SEQ) {
        for (;;) {
            GmFrame f = nfa->frames.data[at];
            uint32_t acc = f.cursor == 0 ? f.cont : f.acc;
            if (f.cursor == n) {
                return finish(nfa, at, acc, err);
            }
            WANT((uint32_t)child[n - 1 - f.cursor], acc, f.ctx, &state);
            nfa->frames.data[at].acc = state;
            nfa->frames.data[at].cursor++;
        }
    }
    if (nfa->frames.data[at].acc == GM_NONE) {
        GM_TRY(gm_lower_state(nfa, &state, err));
        nfa->frames.data[at].acc = state;
    }
    for (;;) { /* backwards, so that the list of edges is in order */
        GmFrame f = nfa->frames.data[at];
        if (f.cursor == n) {
            return finish(nfa, at, f.acc, err);
        }
        WANT((uint32_t)child[n - 1 - f.cursor], f.cont, f.ctx, &state);
        GM_TRY(gm_lower_edge(nfa, f.acc, GM_EDGE_EPS, 0, state, err));
        nfa->frames.data[at].cursor++;
    }
}

static bool may_unroll(const GmNfa *nfa, uint32_t node, uint32_t leaves, uint32_t low, uint32_t high)
{
    uint64_t copies = high == GM_INF ? low : high;
    if (nfa->expand[node]) {
        return true;
    }
    bool small = leaves * copies <= GM_LOWER_UNROLL;
    return high == GM_INF ? low <= 1 || (low <= UNROLL_LOW && small) : small;
}

static GmStatus check_unroll(const GmNfa *nfa, uint32_t node, uint32_t low, uint32_t high, GmError *err)
{
    uint64_t copies = high == GM_INF ? low : high;
    uint64_t each = nfa->weight[node] < HEAVY ? nfa->weight[node] : HEAVY; /* heavier bodies become calls */
    if (copies > 1 && copies * each > nfa->max_expansion) {
        GmStatus status = gm_fail_limit(err, "expansion",
                                        "a counted repeat that is left-recursive through its own body (or has an empty "
                                        "item or separator) needs more than %u states written out (limit \"expansion\")",
                                        nfa->max_expansion);
        if (err != NULL) {
            err->detail = (int32_t)node;
        }
        return status;
    }
    return GM_OK;
}

/* acc counts down the copies: after the last one comes cont. `extra` is the loop of an unbounded repeat. */
static GmStatus build_repeat(GmNfa *nfa, uint32_t at, GmError *err)
{
    GmFrame f = nfa->frames.data[at];
    const int32_t *row = gm_lower_row(nfa, f.node);
    uint32_t body = (uint32_t)row[1], low = (uint32_t)row[2], high = row[3] < 0 ? GM_INF : (uint32_t)row[3], state;
    if (f.acc == GM_NONE) {
        if (!may_unroll(nfa, f.node, nfa->weight[body], low, high)) {
            return finish_lazy(nfa, at, err);
        }
        GM_TRY(check_unroll(nfa, f.node, low, high, err));
        f.acc = f.cont;
        if (high == GM_INF) {
            GM_TRY(gm_lower_state(nfa, &f.acc, err));
            GM_TRY(gm_lower_edge(nfa, f.acc, GM_EDGE_EPS, 0, f.cont, err));
            f.extra = f.acc;
        }
        nfa->frames.data[at] = f;
    }
    if (f.extra != GM_NONE && f.cursor == 0) {
        WANT(body, f.extra, f.ctx, &state);
        GM_TRY(gm_lower_edge(nfa, f.extra, GM_EDGE_EPS, 0, state, err));
        f.cursor = 1;
        nfa->frames.data[at] = f;
    }
    uint32_t copies = high == GM_INF ? low : high, done = f.cursor - (f.extra != GM_NONE);
    while (done < copies) { /* from the last copy to the first */
        WANT(body, nfa->frames.data[at].acc, f.ctx, &state);
        uint32_t number = copies - done; /* 1 is the first */
        if (number > low) {
            uint32_t optional;
            GM_TRY(gm_lower_state(nfa, &optional, err));
            GM_TRY(gm_lower_edge(nfa, optional, GM_EDGE_EPS, 0, f.cont, err));
            GM_TRY(gm_lower_edge(nfa, optional, GM_EDGE_EPS, 0, state, err));
            state = optional;
        }
        nfa->frames.data[at].acc = state;
        nfa->frames.data[at].cursor++;
        done++;
    }
    return finish(nfa, at, nfa->frames.data[at].acc, err);
}

/* acc is the state after k items, for k = copies first and going down; cursor counts the steps done. The
 * last state of an unbounded repeat also leads back to itself over separator and item (`extra`: done). */
static GmStatus build_separated(GmNfa *nfa, uint32_t at, GmError *err)
{
    GmFrame f = nfa->frames.data[at];
    const int32_t *row = gm_lower_row(nfa, f.node), *args = nfa->module.args + row[1];
    uint32_t item = (uint32_t)args[0], sep = (uint32_t)args[1], low = (uint32_t)row[2], first, before, state;
    uint32_t high = row[3] < 0 ? GM_INF : (uint32_t)row[3];
    uint32_t copies = high == GM_INF ? (low > 1 ? low : 1) : high;
    if (f.acc == GM_NONE) {
        if (high == 0) {
            return finish(nfa, at, f.cont, err);
        }
        uint32_t leaves = nfa->weight[item] + nfa->weight[sep];
        if (!may_unroll(nfa, f.node, leaves, low, high) && !nfa->nullable[item] && !nfa->nullable[sep]) {
            return finish_lazy(nfa, at, err);
        }
        GM_TRY(check_unroll(nfa, f.node, low, high, err));
        GM_TRY(gm_lower_state(nfa, &f.acc, err));
        GM_TRY(gm_lower_edge(nfa, f.acc, GM_EDGE_EPS, 0, f.cont, err));
        f.extra = high == GM_INF ? GM_NONE : 1;
        nfa->frames.data[at] = f;
    }
    while (f.extra == GM_NONE || f.cursor < copies - 1) {
        WANT(item, f.acc, f.ctx, &first);
        WANT(sep, first, f.ctx, &before);
        if (f.extra == GM_NONE) {
            GM_TRY(gm_lower_edge(nfa, f.acc, GM_EDGE_EPS, 0, before, err));
            f.extra = 1;
        } else {
            GM_TRY(gm_lower_state(nfa, &state, err));
            f.cursor++;
            if (copies - f.cursor >= low) {
                GM_TRY(gm_lower_edge(nfa, state, GM_EDGE_EPS, 0, f.cont, err));
            }
            GM_TRY(gm_lower_edge(nfa, state, GM_EDGE_EPS, 0, before, err));
            f.acc = state;
        }
        nfa->frames.data[at] = f;
    }
    WANT(item, f.acc, f.ctx, &first);
    if (low == 0) {
        GM_TRY(gm_lower_state(nfa, &state, err));
        GM_TRY(gm_lower_edge(nfa, state, GM_EDGE_EPS, 0, f.cont, err));
        GM_TRY(gm_lower_edge(nfa, state, GM_EDGE_EPS, 0, first, err));
        first = state;
    }
    return finish(nfa, at, first, err);
}

static GmStatus build_scope(GmNfa *nfa, uint32_t at, GmError *err)
{
    GmFrame f = nfa->frames.data[at];
    const int32_t *row = gm_lower_row(nfa, f.node);
    uint32_t inner, cont, state;
    GM_TRY(context_of(nfa, f.node, row[2], &inner, err));
    GM_TRY(with_ignore(nfa, f.cont, f.ctx, &cont, err)); /* the outer ignore, after the subgrammar */
    WANT((uint32_t)row[1], cont, inner, &state);
    GM_TRY(with_ignore(nfa, state, inner, &state, err));
    return finish(nfa, at, state, err);
}

static GmStatus build_frame(GmNfa *nfa, GmError *err)
{
    uint32_t at = nfa->frames.len - 1;
    GmFrame f = nfa->frames.data[at];
    switch (gm_lower_row(nfa, f.node)[0]) {
    case IR_SEQ:
    case IR_CHOICE:
        return build_list(nfa, at, err);
    case IR_REPEAT:
        return build_repeat(nfa, at, err);
    case IR_SEPARATED:
        return build_separated(nfa, at, err);
    case IR_SCOPE:
        return build_scope(nfa, at, err);
    case IR_ANY_ORDER:
        return finish_lazy(nfa, at, err);
    default:
        return gm_lower_bad(err, f.node);
    }
}

/* -- outside ------------------------------------------------------------------------------------------ */

static void clear_build(GmNfa *nfa)
{
    nfa->states.len = nfa->edges.len = nfa->rules.len = nfa->lazies.len = nfa->items.len = nfa->id_sets.len = 0;
    nfa->ignores.len = nfa->frames.len = 0;
    gm_map_deinit(&nfa->memo, nfa->mem);
    gm_map_deinit(&nfa->first, nfa->mem);
    gm_map_deinit(&nfa->rule_of, nfa->mem);
    gm_map_deinit(&nfa->set_of, nfa->mem);
}

GmStatus gm_nfa_init(GmNfa *nfa, GmMem *mem, GmArena *arena, GmRegex *rx, const GmModule *module, const GmNfa *prefix,
                     uint32_t max_states, uint32_t max_expansion, GmError *err)
{
    memset(nfa, 0, sizeof *nfa);
    nfa->mem = mem;
    nfa->arena = arena;
    nfa->rx = rx;
    nfa->module = *module;
    nfa->prefix = prefix;
    nfa->max_states = max_states < (1u << 26) - 1 ? max_states : (1u << 26) - 1;
    nfa->max_expansion = max_expansion;
    gm_map_init(&nfa->memo);
    gm_map_init(&nfa->first);
    gm_map_init(&nfa->rule_of);
    gm_map_init(&nfa->set_of);
    nfa->memo.alone = nfa->first.alone = nfa->rule_of.alone = nfa->set_of.alone = true;
    if (module->n_nodes >= (1u << 26) - 1) {
        return gm_fail_limit(err, "states", "the grammar has too many nodes (%u)", module->n_nodes);
    }
    void *p;
    GM_TRY(gm_arena_zeroed(arena, module->n_nodes, sizeof(GmRe), &p, err));
    nfa->re = p;
    GM_TRY(gm_arena_zeroed(arena, gm_nfa_new_nodes(nfa), sizeof(GmBuilt), &p, err));
    nfa->built = p;
    GM_TRY(gm_arena_zeroed(arena, module->n_nodes, sizeof(uint32_t), &p, err));
    nfa->weight = p;
    GM_TRY(gm_arena_zeroed(arena, module->n_nodes, 1, &p, err));
    nfa->nullable = p;
    GM_TRY(gm_arena_zeroed(arena, module->n_nodes, 1, &p, err));
    nfa->expand = p;
    if (prefix != NULL) {
        gm_lower_take_nodes(nfa);
    }
    GM_TRY(gm_lower_lexical(nfa, err));
    GM_TRY(gm_lower_check(nfa, err));
    return gm_lower_nullable(nfa, err);
}

void gm_nfa_deinit(GmNfa *nfa)
{
    clear_build(nfa);
    GM_VEC_FREE(nfa->mem, nfa->states);
    GM_VEC_FREE(nfa->mem, nfa->edges);
    GM_VEC_FREE(nfa->mem, nfa->rules);
    GM_VEC_FREE(nfa->mem, nfa->lazies);
    GM_VEC_FREE(nfa->mem, nfa->items);
    GM_VEC_FREE(nfa->mem, nfa->id_sets);
    GM_VEC_FREE(nfa->mem, nfa->ignores);
    GM_VEC_FREE(nfa->mem, nfa->frames);
}

static GmStatus build_rules(GmNfa *nfa, GmError *err)
{
    uint32_t end, state, n = gm_nfa_new_nodes(nfa);
    if (nfa->states.len > 0) {
        memset(nfa->built, 0, n * sizeof *nfa->built);
    }
    clear_build(nfa);
    if (n > 256) { /* about what the schemas of real use come to; too little only costs growing */
        GM_RESERVE(nfa->mem, nfa->states, n);
        GM_RESERVE(nfa->mem, nfa->edges, n);
        GM_TRY(gm_map_reserve(&nfa->memo, nfa->mem, n / 4, err));
        GM_TRY(gm_map_reserve(&nfa->first, nfa->mem, n / 4, err));
    }
    if (nfa->prefix != NULL) {
        GM_TRY(gm_lower_take_build(nfa, err));
    } else {
        GM_TRY(gm_lower_state(nfa, &end, err));
        GM_TRY(gm_lower_state(nfa, &state, err));
        GM_CHECK(end == GM_NFA_END && state == GM_NFA_DEAD, err);
        GM_PUSH(nfa->mem, nfa->ignores, GM_RE_EMPTY);
    }
    GM_TRY(gm_lower_rule_for(nfa, nfa->module.root, 0, &nfa->root, err));
    for (uint32_t r = gm_nfa_old_rules(nfa); r < nfa->rules.len; r++) {
        GmRule rule = nfa->rules.data[r];
        if (rule.entry != GM_NONE) {
            continue; /* lazy: made with its approximation */
        }
        /* A body that is itself heavy must not call itself: its first continuation is the end. */
        if (gm_map_get(&nfa->first, gm_lower_key(rule.node, rule.ctx)) == GM_NONE) {
            GM_TRY(gm_map_put(&nfa->first, nfa->mem, gm_lower_key(rule.node, rule.ctx), GM_NFA_END, err));
        }
        state = memo_get(nfa, rule.node, GM_NFA_END, rule.ctx);
        const int32_t *row = gm_lower_row(nfa, rule.node);
        bool leaf = row[0] < IR_TERMINAL || row[0] == IR_TERMINAL || row[0] == IR_TOKEN_IDS || row[0] == IR_CALL;
        if (state == GM_NONE && leaf) {
            GM_TRY(want(nfa, rule.node, GM_NFA_END, rule.ctx, &state, err));
        } else if (state == GM_NONE) {
            uint32_t depth = nfa->frames.len;
            GM_PUSH(nfa->mem, nfa->frames, ((GmFrame){rule.node, GM_NFA_END, rule.ctx, 0, GM_NONE, GM_NONE}));
            while (nfa->frames.len > depth) {
                GM_TRY(gm_mem_tick(nfa->mem, err));
                GM_TRY(build_frame(nfa, err));
            }
            state = memo_get(nfa, rule.node, GM_NFA_END, rule.ctx);
        }
        GM_CHECK(state != GM_NONE, err);
        nfa->rules.data[r].entry = state;
    }
    return GM_OK;
}

GmStatus gm_nfa_build(GmNfa *nfa, GmError *err)
{
    GmStatus status = build_rules(nfa, err);
    if (nfa->prefix == NULL || (status == GM_OK && gm_lower_reaches_prefix(nfa)) || (status != GM_OK && status != GM_LIMIT)) {
        return status;
    }
    /* Rules and exact tokens of a prefix that is not reached are none of the grammar; and a prefix is called where its nodes
     * are written in line otherwise, which takes some states more. What is known of its nodes still holds. */
    void *p;
    GM_TRY(gm_arena_zeroed(nfa->arena, nfa->module.n_nodes, sizeof(GmBuilt), &p, err));
    nfa->built = p;
    nfa->prefix = NULL;
    nfa->max_exact = 0;
    return build_rules(nfa, err);
}

uint32_t gm_nfa_ir_rule(const GmNfa *nfa, uint32_t rule)
{
    for (uint32_t r = 0; r < nfa->module.n_rules; r++) {
        if ((uint32_t)nfa->module.rules[2 * r + 1] == nfa->rules.data[rule].node) {
            return r;
        }
    }
    return GM_NONE;
}
