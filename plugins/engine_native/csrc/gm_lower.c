#include "gm_lower.h"

#include "gm_lower_lex.h"

#include <string.h>

enum {
    HEAVY = 16,      /* leaves from which a second copy of a node becomes a rule instead */
    UNROLL = 64,     /* leaves up to which a counted repeat is written out */
    UNROLL_LOW = 8,  /* ... and the minimum of one without a maximum */
    WEIGHT_MAX = 1 << 24,
    LAZY = 1 << 16   /* beyond all contexts, in keys of rules */
};

static const int32_t *row_of(const GmNfa *nfa, uint32_t node) { return nfa->module.rows + 4 * (size_t)node; }

static GmStatus bad(GmError *err, uint32_t node)
{
    GmStatus status = gm_fail(err, GM_ARG, "node %u of the grammar is malformed", node);
    if (err != NULL) {
        err->detail = (int32_t)node;
    }
    return status;
}

/* -- facts about nodes -------------------------------------------------------------------------------- */

static bool list_of(const GmNfa *nfa, const int32_t *row, int64_t skip, int64_t n, const int32_t **out)
{
    if (row[1] < 0 || n < 0 || row[1] + skip + n > (int64_t)nfa->module.n_args) {
        return false;
    }
    *out = nfa->module.args + row[1] + skip;
    return true;
}

/* Node ids among the args of a syntactic node: where they start, how many, and their stride. */
static bool children_of(const GmNfa *nfa, uint32_t node, const int32_t **first, uint32_t *n, uint32_t *stride)
{
    const int32_t *row = row_of(nfa, node);
    *stride = 1;
    *n = 0;
    *first = row;
    switch (row[0]) {
    case IR_SEQ:
    case IR_CHOICE:
        *n = (uint32_t)row[2];
        return list_of(nfa, row, 0, row[2], first);
    case IR_REPEAT:
    case IR_SCOPE:
        *n = 1;
        *first = row + 1;
        return true;
    case IR_SEPARATED:
        *n = 2;
        return list_of(nfa, row, 0, 2, first);
    case IR_ANY_ORDER:
        *n = (uint32_t)row[2];
        *stride = 2;
        return list_of(nfa, row, 4, 2 * (int64_t)row[2], first);
    default:
        return true;
    }
}

static bool ascending_ids(const int32_t *list, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        if ((uint32_t)list[i] <= (uint32_t)list[i - 1]) {
            return false;
        }
    }
    return true;
}

/* A syntactic node, or one that is the same on both levels: no text at all, or the empty text. */
static bool is_syntactic(const GmNfa *nfa, uint32_t node)
{
    return row_of(nfa, node)[0] >= IR_TERMINAL || nfa->re[node] <= GM_RE_EPS;
}

static GmStatus check_nodes(GmNfa *nfa, GmError *err)
{
    for (uint32_t node = 0; node < nfa->module.n_nodes; node++) {
        const int32_t *row = row_of(nfa, node), *child, *list;
        uint32_t n, stride;
        if (row[0] < IR_TERMINAL) {
            nfa->weight[node] = 1;
            continue;
        }
        if (row[0] > IR_ANY_ORDER || !children_of(nfa, node, &child, &n, &stride)) {
            return bad(err, node);
        }
        uint32_t weight = 0;
        for (uint32_t i = 0; i < n; i++) {
            int32_t c = child[i * stride];
            if (c < 0 || (uint32_t)c >= node || !is_syntactic(nfa, (uint32_t)c)) {
                return bad(err, node);
            }
            weight += nfa->weight[c];
            weight = weight > WEIGHT_MAX ? WEIGHT_MAX : weight;
        }
        weight = weight > 0 ? weight : 1;
        if (row[0] == IR_REPEAT || row[0] == IR_SEPARATED) { /* written out it weighs as much as its copies */
            uint64_t copies = row[3] < 0 ? (uint32_t)row[2] : (uint32_t)row[3];
            weight = copies > 0 && weight * copies <= UNROLL ? (uint32_t)(weight * copies) : weight;
        }
        nfa->weight[node] = weight;
        bool ok = true;
        switch (row[0]) {
        case IR_TERMINAL:
            ok = row[1] >= 0 && (uint32_t)row[1] < node && row_of(nfa, (uint32_t)row[1])[0] < IR_TERMINAL;
            break;
        case IR_CALL:
            ok = row[1] >= 0 && (uint32_t)row[1] < nfa->module.n_rules;
            break;
        case IR_REPEAT:
        case IR_SEPARATED:
            ok = row[2] >= 0 && (row[3] < 0 || row[3] >= row[2]);
            break;
        case IR_TOKEN_IDS:
            ok = row[2] > 0 && list_of(nfa, row, 0, row[2], &list) && ascending_ids(list, (uint32_t)row[2]);
            break;
        case IR_SCOPE:
            ok = row[2] < 0 || ((uint32_t)row[2] < node && row_of(nfa, (uint32_t)row[2])[0] < IR_TERMINAL);
            break;
        case IR_EXTERN_GRAMMAR:
        case IR_EXTERN_TOKEN:
            return gm_fail(err, GM_ARG, "the grammar has an open slot (node %u)", node);
        case IR_ANY_ORDER:
            ok = list_of(nfa, row, 0, 4, &list) && list[2] >= 0 && (list[3] < 0 || list[3] >= list[2]);
            for (uint32_t i = 0; ok && i < 2; i++) {
                ok = list[i] < 0 || ((uint32_t)list[i] < node && is_syntactic(nfa, (uint32_t)list[i]));
            }
            break;
        default:
            break;
        }
        if (!ok) {
            return bad(err, node);
        }
    }
    for (uint32_t r = 0; r < nfa->module.n_rules; r++) {
        int32_t body = nfa->module.rules[2 * r + 1];
        if (body < 0 || (uint32_t)body >= nfa->module.n_nodes || !is_syntactic(nfa, (uint32_t)body)) {
            return gm_fail(err, GM_ARG, "rule %u of the grammar is malformed", r);
        }
    }
    bool root_ok = nfa->module.root < nfa->module.n_nodes && is_syntactic(nfa, nfa->module.root);
    return root_ok ? GM_OK : bad(err, nfa->module.root);
}

/* Who waits for a node to turn out nullable: lists through `wait`, by node. */
typedef struct Nullables {
    GmNfa *nfa;
    uint32_t *head;   /* per node: position in `wait` + 1 */
    uint32_t *cursor; /* per SEQ: children known to be nullable */
    GM_VEC(uint32_t) wait; /* (waiting node, next) pairs */
    GM_VEC(uint32_t) todo;
} Nullables;

static GmStatus wait_for(Nullables *x, uint32_t node, uint32_t child, GmError *err)
{
    GM_PUSH(x->nfa->mem, x->wait, node);
    GM_PUSH(x->nfa->mem, x->wait, x->head[child]);
    x->head[child] = x->wait.len - 1;
    return GM_OK;
}

/* Is the node nullable by what is known? If not, it waits for a child that could change that. */
static GmStatus node_nullable(Nullables *x, uint32_t node, bool *out, GmError *err)
{
    const GmNfa *nfa = x->nfa;
    const int32_t *row = row_of(nfa, node), *child;
    const uint8_t *known = nfa->nullable;
    uint32_t n, stride, need = node;
    *out = false;
    (void)children_of(nfa, node, &child, &n, &stride);
    switch (row[0]) {
    case IR_TERMINAL:
        *out = gm_re_nullable(nfa->rx, nfa->re[row[1]]);
        return GM_OK;
    case IR_CALL:
        need = (uint32_t)nfa->module.rules[2 * row[1] + 1];
        break;
    case IR_SEQ:
        while (x->cursor[node] < n && known[child[x->cursor[node]]]) {
            x->cursor[node]++;
        }
        *out = x->cursor[node] == n;
        need = *out ? node : (uint32_t)child[x->cursor[node]];
        break;
    case IR_CHOICE:
        for (uint32_t i = 0; i < n && !*out; i++) {
            *out = known[child[i]];
        }
        for (uint32_t i = 0; i < n && !*out; i++) {
            GM_TRY(wait_for(x, node, (uint32_t)child[i], err));
        }
        return GM_OK;
    case IR_REPEAT:
    case IR_SCOPE:
        *out = row[0] == IR_REPEAT && row[2] == 0;
        need = (uint32_t)child[0];
        break;
    case IR_SEPARATED:
        *out = row[2] == 0;
        need = (uint32_t)(known[child[0]] && row[2] > 1 ? child[1] : child[0]);
        break;
    case IR_ANY_ORDER:
        *out = child[-2] <= 0;
        for (uint32_t i = 0; i < n; i++) {
            *out = *out && child[2 * i + 1] == 0;
        }
        return GM_OK;
    default:
        *out = row[0] < IR_TERMINAL && gm_re_nullable(nfa->rx, nfa->re[node]);
        return GM_OK;
    }
    if (!*out) {
        *out = known[need];
        return *out ? GM_OK : wait_for(x, node, need, err);
    }
    return GM_OK;
}

/* Each node is looked at when it comes, and again when what it waits for turned out nullable: linear. */
static GmStatus settle_nullable(Nullables *x, uint32_t n_nodes, GmError *err)
{
    for (uint32_t node = 0; node < n_nodes; node++) {
        GM_PUSH(x->nfa->mem, x->todo, node);
        while (x->todo.len > 0) {
            uint32_t at = x->todo.data[--x->todo.len];
            bool yes = false;
            if (!x->nfa->nullable[at]) {
                GM_TRY(node_nullable(x, at, &yes, err));
            }
            if (!yes) {
                continue;
            }
            x->nfa->nullable[at] = 1;
            for (uint32_t w = x->head[at]; w != 0; w = x->wait.data[w]) {
                GM_PUSH(x->nfa->mem, x->todo, x->wait.data[w - 1]);
            }
        }
    }
    return GM_OK;
}

static GmStatus find_nullable(GmNfa *nfa, GmError *err)
{
    Nullables x;
    GmArena scratch;
    void *p;
    memset(&x, 0, sizeof x);
    x.nfa = nfa;
    gm_arena_init(&scratch, nfa->mem);
    GmStatus status = gm_arena_zeroed(&scratch, 2 * (size_t)nfa->module.n_nodes, sizeof(uint32_t), &p, err);
    if (status == GM_OK) {
        x.head = p;
        x.cursor = x.head + nfa->module.n_nodes;
        status = settle_nullable(&x, nfa->module.n_nodes, err);
    }
    GM_VEC_FREE(nfa->mem, x.wait);
    GM_VEC_FREE(nfa->mem, x.todo);
    gm_arena_deinit(&scratch);
    return status;
}

/* -- states and rules --------------------------------------------------------------------------------- */

static GmStatus new_state(GmNfa *nfa, uint32_t *out, GmError *err)
{
    if (nfa->states.len >= nfa->max_states) {
        return gm_fail_limit(err, "states", "the grammar needs more than %u states (limit \"states\")", nfa->max_states);
    }
    *out = nfa->states.len;
    GM_PUSH(nfa->mem, nfa->states, ((GmNfaState){GM_NONE, 0, 0, 0}));
    return GM_OK;
}

static GmStatus add_edge(GmNfa *nfa, uint32_t from, GmEdgeKind kind, uint32_t sym, uint32_t to, GmError *err)
{
    uint32_t id = nfa->edges.len;
    GM_PUSH(nfa->mem, nfa->edges, ((GmNfaEdge){sym, to, nfa->states.data[from].edges, (uint8_t)kind}));
    nfa->states.data[from].edges = id;
    return GM_OK;
}

static GmStatus new_rule(GmNfa *nfa, GmRuleKind kind, uint32_t node, uint32_t ctx, uint32_t *out, GmError *err)
{
    *out = nfa->rules.len;
    GmRule rule = {(uint8_t)kind, 0, 0, node, ctx, GM_NONE, GM_NONE, GM_NONE, GM_NONE};
    GM_PUSH(nfa->mem, nfa->rules, rule);
    return GM_OK;
}

static uint64_t node_key(uint32_t node, uint32_t ctx) { return gm_pair(ctx, node); }
static uint64_t memo_key(uint32_t node, uint32_t cont, uint32_t ctx)
{
    return (uint64_t)ctx << 52 | (uint64_t)cont << 26 | node;
}

/* The state of (node, cont, ctx), or GM_NONE. */
static uint32_t memo_get(GmNfa *nfa, uint32_t node, uint32_t cont, uint32_t ctx)
{
    const GmBuilt *built = &nfa->built[node];
    uint64_t key = memo_key(node, cont, ctx);
    if (built->key == key + 1) {
        return built->state;
    }
    return built->key == 0 ? GM_NONE : gm_map_get(&nfa->memo, key);
}

static GmStatus memo_put(GmNfa *nfa, uint32_t node, uint32_t cont, uint32_t ctx, uint32_t state, GmError *err)
{
    GmBuilt *built = &nfa->built[node];
    uint64_t key = memo_key(node, cont, ctx);
    if (built->key == 0) {
        built->key = key + 1;
        built->state = state;
        return GM_OK;
    }
    return gm_map_put(&nfa->memo, nfa->mem, key, state, err);
}

/* The rule whose body is `node` in context `ctx`; its states are built later. */
static GmStatus rule_for(GmNfa *nfa, uint32_t node, uint32_t ctx, uint32_t *out, GmError *err)
{
    *out = gm_map_get(&nfa->rule_of, node_key(node, ctx));
    if (*out != GM_NONE) {
        return GM_OK;
    }
    GM_TRY(new_rule(nfa, GM_RULE_PLAIN, node, ctx, out, err));
    return gm_map_put(&nfa->rule_of, nfa->mem, node_key(node, ctx), *out, err);
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
    GM_TRY(new_state(nfa, out, err));
    GM_TRY(add_edge(nfa, *out, GM_EDGE_EPS, 0, to, err));
    GM_TRY(add_edge(nfa, *out, GM_EDGE_TERM, gm_lex(nfa->ignores.data[ctx], true), to, err));
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
    const int32_t *row = row_of(nfa, node);
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
    const int32_t *row = row_of(nfa, node);
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
        GM_TRY(new_state(nfa, out, err));
        if (re != GM_RE_EMPTY && re != GM_RE_EPS) {
            GM_TRY(add_edge(nfa, *out, GM_EDGE_TERM, gm_lex(re, row[2] & 1), to, err));
        }
        if (gm_re_nullable(nfa->rx, re)) {
            GM_TRY(add_edge(nfa, *out, GM_EDGE_EPS, 0, cont, err));
        }
        return memo_put(nfa, node, cont, ctx, *out, err);
    }
    if (row[0] == IR_TOKEN_IDS) {
        GM_TRY(id_set_of(nfa, node, &sym, err));
        GM_TRY(with_ignore(nfa, cont, ctx, &to, err));
        GM_TRY(new_state(nfa, out, err));
        GM_TRY(add_edge(nfa, *out, GM_EDGE_EXACT, sym, to, err));
        return memo_put(nfa, node, cont, ctx, *out, err);
    }
    bool call = row[0] == IR_CALL;
    uint32_t body = call ? (uint32_t)nfa->module.rules[2 * row[1] + 1] : node;
    if (!call && nfa->weight[node] >= HEAVY) {
        uint32_t first = gm_map_get(&nfa->first, node_key(node, ctx));
        if (first == GM_NONE) {
            GM_TRY(gm_map_put(&nfa->first, nfa->mem, node_key(node, ctx), cont, err));
        } else {
            call = first != cont && cont != GM_NFA_END; /* at the end stands the body of the rule itself */
        }
    }
    if (call) {
        GM_TRY(rule_for(nfa, body, ctx, &rule, err));
        GM_TRY(new_state(nfa, out, err));
        GM_TRY(add_edge(nfa, *out, GM_EDGE_CALL, rule, cont, err));
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

static GmStatus lazy_rule(GmNfa *nfa, uint32_t node, uint32_t ctx, uint32_t *out, GmError *err);

/* The node of the frame becomes a call of a lazy rule. */
static GmStatus finish_lazy(GmNfa *nfa, uint32_t at, GmError *err)
{
    GmFrame f = nfa->frames.data[at];
    uint32_t rule, state;
    GM_TRY(lazy_rule(nfa, f.node, f.ctx, &rule, err));
    GM_TRY(new_state(nfa, &state, err));
    GM_TRY(add_edge(nfa, state, GM_EDGE_CALL, rule, f.cont, err));
    return finish(nfa, at, state, err);
}

static GmStatus build_list(GmNfa *nfa, uint32_t at, GmError *err)
{
    const int32_t *row = row_of(nfa, nfa->frames.data[at].node);
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
        GM_TRY(new_state(nfa, &state, err));
        nfa->frames.data[at].acc = state;
    }
    for (;;) { /* backwards, so that the list of edges is in order */
        GmFrame f = nfa->frames.data[at];
        if (f.cursor == n) {
            return finish(nfa, at, f.acc, err);
        }
        WANT((uint32_t)child[n - 1 - f.cursor], f.cont, f.ctx, &state);
        GM_TRY(add_edge(nfa, f.acc, GM_EDGE_EPS, 0, state, err));
        nfa->frames.data[at].cursor++;
    }
}

static bool may_unroll(const GmNfa *nfa, uint32_t node, uint32_t leaves, uint32_t low, uint32_t high)
{
    uint64_t copies = high == GM_INF ? low : high;
    if (nfa->expand[node]) {
        return true;
    }
    return high == GM_INF ? low <= 1 || (low <= UNROLL_LOW && leaves * copies <= UNROLL) : leaves * copies <= UNROLL;
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
    const int32_t *row = row_of(nfa, f.node);
    uint32_t body = (uint32_t)row[1], low = (uint32_t)row[2], high = row[3] < 0 ? GM_INF : (uint32_t)row[3], state;
    if (f.acc == GM_NONE) {
        if (!may_unroll(nfa, f.node, nfa->weight[body], low, high)) {
            return finish_lazy(nfa, at, err);
        }
        GM_TRY(check_unroll(nfa, f.node, low, high, err));
        f.acc = f.cont;
        if (high == GM_INF) {
            GM_TRY(new_state(nfa, &f.acc, err));
            GM_TRY(add_edge(nfa, f.acc, GM_EDGE_EPS, 0, f.cont, err));
            f.extra = f.acc;
        }
        nfa->frames.data[at] = f;
    }
    if (f.extra != GM_NONE && f.cursor == 0) {
        WANT(body, f.extra, f.ctx, &state);
        GM_TRY(add_edge(nfa, f.extra, GM_EDGE_EPS, 0, state, err));
        f.cursor = 1;
        nfa->frames.data[at] = f;
    }
    uint32_t copies = high == GM_INF ? low : high, done = f.cursor - (f.extra != GM_NONE);
    while (done < copies) { /* from the last copy to the first */
        WANT(body, nfa->frames.data[at].acc, f.ctx, &state);
        uint32_t number = copies - done; /* 1 is the first */
        if (number > low) {
            uint32_t optional;
            GM_TRY(new_state(nfa, &optional, err));
            GM_TRY(add_edge(nfa, optional, GM_EDGE_EPS, 0, f.cont, err));
            GM_TRY(add_edge(nfa, optional, GM_EDGE_EPS, 0, state, err));
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
    const int32_t *row = row_of(nfa, f.node), *args = nfa->module.args + row[1];
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
        GM_TRY(new_state(nfa, &f.acc, err));
        GM_TRY(add_edge(nfa, f.acc, GM_EDGE_EPS, 0, f.cont, err));
        f.extra = high == GM_INF ? GM_NONE : 1;
        nfa->frames.data[at] = f;
    }
    while (f.extra == GM_NONE || f.cursor < copies - 1) {
        WANT(item, f.acc, f.ctx, &first);
        WANT(sep, first, f.ctx, &before);
        if (f.extra == GM_NONE) {
            GM_TRY(add_edge(nfa, f.acc, GM_EDGE_EPS, 0, before, err));
            f.extra = 1;
        } else {
            GM_TRY(new_state(nfa, &state, err));
            f.cursor++;
            if (copies - f.cursor >= low) {
                GM_TRY(add_edge(nfa, state, GM_EDGE_EPS, 0, f.cont, err));
            }
            GM_TRY(add_edge(nfa, state, GM_EDGE_EPS, 0, before, err));
            f.acc = state;
        }
        nfa->frames.data[at] = f;
    }
    WANT(item, f.acc, f.ctx, &first);
    if (low == 0) {
        GM_TRY(new_state(nfa, &state, err));
        GM_TRY(add_edge(nfa, state, GM_EDGE_EPS, 0, f.cont, err));
        GM_TRY(add_edge(nfa, state, GM_EDGE_EPS, 0, first, err));
        first = state;
    }
    return finish(nfa, at, first, err);
}

static GmStatus build_scope(GmNfa *nfa, uint32_t at, GmError *err)
{
    GmFrame f = nfa->frames.data[at];
    const int32_t *row = row_of(nfa, f.node);
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
    switch (row_of(nfa, f.node)[0]) {
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
        return bad(err, f.node);
    }
}

/* -- lazy rules --------------------------------------------------------------------------------------- */

static GmStatus rule_or_none(GmNfa *nfa, int32_t node, uint32_t ctx, uint32_t *out, GmError *err)
{
    *out = GM_NONE;
    return node < 0 ? GM_OK : rule_for(nfa, (uint32_t)node, ctx, out, err);
}

/* A chain of calls from `from`; the new end replaces *from. */
static GmStatus call_chain(GmNfa *nfa, uint32_t *from, uint32_t rule, GmError *err)
{
    uint32_t to;
    GM_TRY(new_state(nfa, &to, err));
    GM_TRY(add_edge(nfa, *from, GM_EDGE_CALL, rule, to, err));
    *from = to;
    return GM_OK;
}

static GmStatus approximate_repeat(GmNfa *nfa, const GmLazy *lazy, uint32_t entry, GmError *err)
{
    uint32_t at = entry;
    if (lazy->low == 0) {
        GM_TRY(add_edge(nfa, entry, GM_EDGE_EPS, 0, GM_NFA_END, err));
    }
    GM_TRY(call_chain(nfa, &at, lazy->body, err));
    if (lazy->separator != GM_NONE && lazy->low > 1) {
        GM_TRY(call_chain(nfa, &at, lazy->separator, err));
    }
    return add_edge(nfa, at, GM_EDGE_EPS, 0, GM_NFA_END, err);
}

/* The analysis asks two things of an approximation: can it complete, and what may it start with. */
static GmStatus approximate_any_order(GmNfa *nfa, const GmLazy *lazy, uint32_t entry, GmError *err)
{
    uint32_t members = 0, required, at;
    GM_TRY(new_state(nfa, &required, err));
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
    GM_TRY(add_edge(nfa, at, GM_EDGE_EPS, 0, GM_NFA_END, err));
    if (members == 0 && lazy->low == 0) {
        GM_TRY(add_edge(nfa, entry, GM_EDGE_EPS, 0, GM_NFA_END, err));
    }
    for (uint32_t i = 0; i < lazy->n_items; i++) {
        GM_TRY(add_edge(nfa, entry, GM_EDGE_CALL, nfa->items.data[lazy->items + i].rule, required, err));
    }
    return lazy->extra == GM_NONE ? GM_OK : add_edge(nfa, entry, GM_EDGE_CALL, lazy->extra, required, err);
}

static GmStatus check_members(GmNfa *nfa, uint32_t node, GmError *err)
{
    const int32_t *row = row_of(nfa, node), *args = nfa->module.args + row[1];
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

static GmStatus lazy_rule(GmNfa *nfa, uint32_t node, uint32_t ctx, uint32_t *out, GmError *err)
{
    const int32_t *row = row_of(nfa, node), *args = nfa->module.args + row[1];
    uint64_t key = node_key(node, ctx | LAZY); /* a plain rule may have the same node as its body */
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
            GM_TRY(rule_for(nfa, (uint32_t)args[4 + 2 * i], ctx, &item.rule, err));
            GM_PUSH(nfa->mem, nfa->items, item);
        }
    }
    GM_TRY(new_rule(nfa, row[0] == IR_ANY_ORDER ? GM_RULE_ANY_ORDER : GM_RULE_REPEAT, node, ctx, out, err));
    GM_TRY(gm_map_put(&nfa->rule_of, nfa->mem, key, *out, err));
    uint32_t entry;
    GM_TRY(new_state(nfa, &entry, err));
    nfa->rules.data[*out].lazy = nfa->lazies.len;
    nfa->rules.data[*out].entry = entry;
    GM_PUSH(nfa->mem, nfa->lazies, lazy);
    return row[0] == IR_ANY_ORDER ? approximate_any_order(nfa, &lazy, entry, err)
                                  : approximate_repeat(nfa, &lazy, entry, err);
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

GmStatus gm_nfa_init(GmNfa *nfa, GmMem *mem, GmArena *arena, GmRegex *rx, const GmModule *module, uint32_t max_states,
                     uint32_t max_expansion, GmError *err)
{
    memset(nfa, 0, sizeof *nfa);
    nfa->mem = mem;
    nfa->arena = arena;
    nfa->rx = rx;
    nfa->module = *module;
    nfa->max_states = max_states < (1u << 26) - 1 ? max_states : (1u << 26) - 1;
    nfa->max_expansion = max_expansion;
    gm_map_init(&nfa->memo);
    gm_map_init(&nfa->first);
    gm_map_init(&nfa->rule_of);
    gm_map_init(&nfa->set_of);
    if (module->n_nodes >= (1u << 26) - 1) {
        return gm_fail_limit(err, "states", "the grammar has too many nodes (%u)", module->n_nodes);
    }
    void *p;
    GM_TRY(gm_arena_zeroed(arena, module->n_nodes, sizeof(GmRe), &p, err));
    nfa->re = p;
    GM_TRY(gm_arena_zeroed(arena, module->n_nodes, sizeof(GmBuilt), &p, err));
    nfa->built = p;
    GM_TRY(gm_arena_zeroed(arena, module->n_nodes, sizeof(uint32_t), &p, err));
    nfa->weight = p;
    GM_TRY(gm_arena_zeroed(arena, module->n_nodes, 1, &p, err));
    nfa->nullable = p;
    GM_TRY(gm_arena_zeroed(arena, module->n_nodes, 1, &p, err));
    nfa->expand = p;
    GM_TRY(gm_lower_lexical(nfa, err));
    GM_TRY(check_nodes(nfa, err));
    return find_nullable(nfa, err);
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

GmStatus gm_nfa_build(GmNfa *nfa, GmError *err)
{
    if (nfa->states.len > 0) {
        memset(nfa->built, 0, nfa->module.n_nodes * sizeof *nfa->built);
    }
    clear_build(nfa);
    uint32_t end, state, n = nfa->module.n_nodes;
    if (n > 256) { /* about what the schemas of real use come to; too little only costs growing */
        GM_RESERVE(nfa->mem, nfa->states, n);
        GM_RESERVE(nfa->mem, nfa->edges, n);
        GM_TRY(gm_map_reserve(&nfa->memo, nfa->mem, n / 4, err));
    }
    GM_TRY(new_state(nfa, &end, err));
    GM_TRY(new_state(nfa, &state, err));
    GM_CHECK(end == GM_NFA_END && state == GM_NFA_DEAD, err);
    GM_PUSH(nfa->mem, nfa->ignores, GM_RE_EMPTY);
    GM_TRY(rule_for(nfa, nfa->module.root, 0, &nfa->root, err));
    for (uint32_t r = 0; r < nfa->rules.len; r++) {
        GmRule rule = nfa->rules.data[r];
        if (rule.entry != GM_NONE) {
            continue; /* lazy: made with its approximation */
        }
        /* A body that is itself heavy must not call itself: its first continuation is the end. */
        if (gm_map_get(&nfa->first, node_key(rule.node, rule.ctx)) == GM_NONE) {
            GM_TRY(gm_map_put(&nfa->first, nfa->mem, node_key(rule.node, rule.ctx), GM_NFA_END, err));
        }
        state = memo_get(nfa, rule.node, GM_NFA_END, rule.ctx);
        const int32_t *row = row_of(nfa, rule.node);
        bool leaf = row[0] < IR_TERMINAL || row[0] == IR_TERMINAL || row[0] == IR_TOKEN_IDS || row[0] == IR_CALL;
        if (state == GM_NONE && leaf) {
            GM_TRY(want(nfa, rule.node, GM_NFA_END, rule.ctx, &state, err));
        } else if (state == GM_NONE) {
            uint32_t depth = nfa->frames.len;
            GM_PUSH(nfa->mem, nfa->frames, ((GmFrame){rule.node, GM_NFA_END, rule.ctx, 0, GM_NONE, GM_NONE}));
            while (nfa->frames.len > depth) {
                GM_TRY(build_frame(nfa, err));
            }
            state = memo_get(nfa, rule.node, GM_NFA_END, rule.ctx);
        }
        GM_CHECK(state != GM_NONE, err);
        nfa->rules.data[r].entry = state;
    }
    return GM_OK;
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
