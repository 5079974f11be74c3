/* States of plain rules and their edges: positions of the NFA, closed under epsilon moves and, in left-recursive
 * groups, climbs. Lazy states are in gm_netlazy.c, all states at once in gm_netclose.c. */
#include "gm_netstates.h"

#include <stdlib.h>
#include <string.h>

#define POSITION_LEFT 0x40000000u /* a position that is a triple, by index into net->positions */

typedef struct PositionNode { /* what net->positions holds */
    GmPosition p;
    uint32_t mark; /* number of the closure that saw it last */
} PositionNode;

static GmStatus position_of(GmNet *net, uint32_t i, uint32_t j, uint32_t s, uint32_t *out, GmError *err)
{
    uint64_t hash = gm_mix(gm_mix(gm_pair(i, j)) + s);
    uint32_t at = (uint32_t)(hash >> 32), found;
    while ((found = gm_index_next(&net->position_index, hash, &at)) != GM_NONE) {
        const GmPosition *p = gm_pool_at(&net->positions, found);
        if (p->i == i && p->j == j && p->s == s) {
            *out = found | POSITION_LEFT;
            return GM_OK;
        }
    }
    void *p;
    GM_TRY(gm_pool_add(&net->positions, net->mem, &found, &p, err));
    ((PositionNode *)p)->p = (GmPosition){i, j, s};
    *out = found | POSITION_LEFT;
    return gm_index_add(&net->position_index, net->mem, hash, found, err);
}

bool gm_net_position(const GmNet *net, uint32_t entry, GmPosition *out)
{
    if (entry < POSITION_LEFT) {
        return false;
    }
    *out = ((PositionNode *)gm_pool_at(&net->positions, entry & ~POSITION_LEFT))->p;
    return true;
}

/* -- states ----------------------------------------------------------------------------------------- */

static uint64_t state_hash(const GmNetState *s)
{
    uint64_t h = gm_hash_words(s->list, s->n, s->kind | (uint64_t)s->phase << 8 | (uint64_t)s->start << 16);
    return gm_mix(gm_mix(h + gm_pair(s->low, s->high)) + s->rule);
}

static bool state_equal(const GmNetState *a, const GmNetState *b)
{
    return a->kind == b->kind && a->phase == b->phase && a->start == b->start && a->rule == b->rule && a->low == b->low &&
           a->high == b->high && a->n == b->n && gm_same(a->list, b->list, a->n * sizeof(uint32_t));
}

/* The state, or GM_NONE when nobody has made it. */
static uint32_t state_find(const GmNet *net, const GmNetState *proto)
{
    uint64_t hash = state_hash(proto);
    uint32_t at = (uint32_t)(hash >> 32), found;
    while ((found = gm_index_next(&net->state_index, hash, &at)) != GM_NONE) {
        if (state_equal(gm_net_at(net, found), proto)) {
            break;
        }
    }
    return found;
}

GmStatus gm_net_intern(GmNet *net, const GmNetState *proto, uint32_t *out, GmError *err)
{
    *out = state_find(net, proto);
    if (*out != GM_NONE) {
        return GM_OK;
    }
    if (net->states.len - net->taken >= net->max_states) {
        return gm_fail_limit(err, "states", "the grammar needs more than %u states (limit \"states\")", net->max_states);
    }
    void *p, *list = NULL;
    if (proto->n > 0) {
        GM_TRY(gm_arena_alloc(net->arena, proto->n * sizeof(uint32_t), &list, err));
        memcpy(list, proto->list, proto->n * sizeof(uint32_t));
    }
    uint32_t id;
    GM_TRY(gm_pool_add(&net->states, net->mem, &id, &p, err));
    GmNetState *state = p;
    *state = *proto;
    state->list = list;
    state->clamp = id;
    GM_TRY(gm_index_add(&net->state_index, net->mem, state_hash(proto), id, err));
    *out = id;
    return GM_OK;
}

/* Can the end of the rule be reached from these positions without a symbol? */
static bool positions_final(const GmNet *net, const uint32_t *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (list[i] < POSITION_LEFT && net->nfa.states.data[list[i]].ends) {
            return true;
        }
    }
    return false;
}

static GmStatus closure(GmNet *net, const uint32_t *list, uint32_t n, bool *final, GmError *err);

/* The state of n positions, sorted and distinct. */
static GmStatus subset_of(GmNet *net, const uint32_t *list, uint32_t n, bool start, uint32_t *out, GmError *err)
{
    GmNetState proto = gm_net_proto(GM_NET_SUBSET);
    proto.list = list;
    proto.n = n;
    proto.start = start;
    *out = state_find(net, &proto);
    if (*out != GM_NONE) {
        return GM_OK;
    }
    bool final = !start && positions_final(net, list, n);
    if (!start && !final && n > 0 && list[n - 1] >= POSITION_LEFT) {
        GM_TRY(closure(net, list, n, &final, err)); /* may fail, so the state is not there before */
    }
    proto.final = final;
    return gm_net_intern(net, &proto, out, err);
}

GmStatus gm_net_rule_start(GmNet *net, uint32_t rule, uint32_t *out, GmError *err)
{
    const GmRule *r = &net->nfa.rules.data[rule];
    if (net->starts[rule] != GM_NONE) {
        *out = net->starts[rule];
        return GM_OK;
    }
    if (r->kind == GM_RULE_REPEAT) {
        const GmLazy *lazy = &net->nfa.lazies.data[r->lazy];
        GM_TRY(gm_net_repeat_state(net, rule, 0, lazy->low, lazy->high, true, out, err));
    } else if (r->kind == GM_RULE_ANY_ORDER) {
        void *bits;
        uint32_t n = net->nfa.lazies.data[r->lazy].n_items;
        GM_TRY(gm_arena_zeroed(net->arena, (n + 31) / 32 + 1, sizeof(uint32_t), &bits, err));
        GM_TRY(gm_net_order_state(net, rule, 0, bits, 0, true, out, err));
    } else if (r->group != GM_NONE) {
        GmNetState proto = gm_net_proto(GM_NET_SUBSET);
        proto.start = 1;
        proto.rule = rule;
        GM_TRY(gm_net_intern(net, &proto, out, err));
    } else {
        GM_TRY(subset_of(net, &r->entry, 1, true, out, err));
    }
    net->starts[rule] = *out;
    return GM_OK;
}

/* -- closures --------------------------------------------------------------------------------------- */

static bool edge_skips(const GmNfa *nfa, const GmNfaEdge *e)
{
    return e->kind == GM_EDGE_EPS || (e->kind == GM_EDGE_CALL && nfa->rules.data[e->sym].nullable);
}

static bool edge_consumes(const GmNfa *nfa, const GmNfaEdge *e)
{
    return e->kind != GM_EDGE_EPS && nfa->states.data[e->to].alive &&
           (e->kind != GM_EDGE_CALL || nfa->rules.data[e->sym].useful);
}

static bool same_group(const GmNfa *nfa, uint32_t a, uint32_t b)
{
    return nfa->rules.data[a].group != GM_NONE && nfa->rules.data[a].group == nfa->rules.data[b].group;
}

/* NFA states reachable without a symbol from net->todo, into net->found. */
static GmStatus plain_closure(GmNet *net, uint32_t s, GmError *err)
{
    const GmNfa *nfa = &net->nfa;
    net->todo.len = 0;
    if (net->seen[s] == net->seen_no) {
        return GM_OK;
    }
    net->seen[s] = net->seen_no;
    GM_PUSH(net->mem, net->todo, s);
    while (net->todo.len > 0) {
        s = net->todo.data[--net->todo.len];
        GM_TRY(gm_mem_tick(net->mem, err));
        GM_PUSH(net->mem, net->found, s);
        for (uint32_t e = nfa->states.data[s].edges; e != GM_NONE; e = nfa->edges.data[e].next) {
            const GmNfaEdge *edge = &nfa->edges.data[e];
            if (edge_skips(nfa, edge) && net->seen[edge->to] != net->seen_no && nfa->states.data[edge->to].alive) {
                net->seen[edge->to] = net->seen_no;
                GM_PUSH(net->mem, net->todo, edge->to);
            }
        }
    }
    return GM_OK;
}

static GmStatus left_push(GmNet *net, uint32_t i, uint32_t j, uint32_t s, GmError *err)
{
    uint32_t position;
    if (!net->nfa.states.data[s].alive) {
        return GM_OK;
    }
    GM_TRY(position_of(net, i, j, s, &position, err));
    PositionNode *node = gm_pool_at(&net->positions, position & ~POSITION_LEFT);
    if (node->mark != net->seen_no) {
        node->mark = net->seen_no;
        GM_PUSH(net->mem, net->todo, position);
    }
    return GM_OK;
}

/* Sort the edges that the rules of each group may start with: calls of the group itself, over which a
 * completed left corner climbs, and all others, with which a left corner begins. */
static GmStatus prepare_groups(GmNet *net, GmError *err)
{
    const GmNfa *nfa = &net->nfa;
    for (uint32_t g = 0; g + 1 < net->groups.off.len; g++) {
        GM_PUSH(net->mem, net->climb_off, net->climbs.len);
        GM_PUSH(net->mem, net->seed_off, net->seeds.len);
        for (uint32_t k = net->groups.off.data[g]; k < net->groups.off.data[g + 1]; k++) {
            uint32_t m = net->groups.member.data[k];
            net->found.len = 0;
            net->seen_no++;
            GM_TRY(plain_closure(net, nfa->rules.data[m].entry, err));
            for (uint32_t f = 0; f < net->found.len; f++) {
                for (uint32_t e = nfa->states.data[net->found.data[f]].edges; e != GM_NONE; e = nfa->edges.data[e].next) {
                    const GmNfaEdge *edge = &nfa->edges.data[e];
                    if (!edge_consumes(nfa, edge)) {
                        continue;
                    }
                    GmSeed seed = {edge->kind, edge->sym, m, edge->to};
                    if (edge->kind == GM_EDGE_CALL && same_group(nfa, edge->sym, m)) {
                        GM_PUSH(net->mem, net->climbs, seed);
                    } else {
                        GM_PUSH(net->mem, net->seeds, seed);
                    }
                }
            }
        }
    }
    GM_PUSH(net->mem, net->climb_off, net->climbs.len);
    GM_PUSH(net->mem, net->seed_off, net->seeds.len);
    return GM_OK;
}

/* Positions reachable without a symbol from the triple; *final when rule i completes. */
static GmStatus left_closure(GmNet *net, uint32_t position, bool *final, GmError *err)
{
    const GmNfa *nfa = &net->nfa;
    GmPosition p = ((PositionNode *)gm_pool_at(&net->positions, position & ~POSITION_LEFT))->p;
    uint32_t group = nfa->rules.data[p.i].group;
    net->todo.len = 0;
    GM_TRY(left_push(net, p.i, p.j, p.s, err));
    while (net->todo.len > 0) {
        position = net->todo.data[--net->todo.len];
        GM_TRY(gm_mem_tick(net->mem, err));
        GM_PUSH(net->mem, net->found, position);
        p = ((PositionNode *)gm_pool_at(&net->positions, position & ~POSITION_LEFT))->p;
        for (uint32_t e = nfa->states.data[p.s].edges; e != GM_NONE; e = nfa->edges.data[e].next) {
            const GmNfaEdge *edge = &nfa->edges.data[e];
            if (edge_skips(nfa, edge)) {
                GM_TRY(left_push(net, p.i, p.j, edge->to, err));
            }
        }
        if (p.s != GM_NFA_END) {
            continue;
        }
        *final = *final || p.j == p.i;
        for (uint32_t c = net->climb_off.data[group]; c < net->climb_off.data[group + 1]; c++) {
            const GmSeed climb = net->climbs.data[c];
            if (climb.sym == p.j) {
                GM_TRY(left_push(net, p.i, climb.m, climb.to, err));
            }
        }
    }
    return GM_OK;
}

static GmStatus closure(GmNet *net, const uint32_t *list, uint32_t n, bool *final, GmError *err)
{
    net->found.len = 0;
    net->seen_no++;
    *final = false;
    for (uint32_t i = 0; i < n; i++) {
        if (list[i] < POSITION_LEFT) {
            GM_TRY(plain_closure(net, list[i], err));
        } else {
            GM_TRY(left_closure(net, list[i], final, err));
        }
    }
    return GM_OK;
}

/* -- edges -------------------------------------------------------------------------------------------- */

int gm_net_compare_edges(const void *x, const void *y)
{
    const GmNetEdge *a = x, *b = y;
    if (a->kind != b->kind) {
        return a->kind < b->kind ? -1 : 1;
    }
    if (a->sym != b->sym) {
        return a->sym < b->sym ? -1 : 1;
    }
    return a->to < b->to ? -1 : a->to > b->to;
}

GmStatus gm_net_publish(GmNet *net, uint32_t state, GmNetEdge *e, uint32_t n, const GmNetEdges **out, GmError *err)
{
    void *p;
    GM_TRY(gm_arena_alloc(net->arena, sizeof(GmNetEdges) + n * sizeof(GmNetEdge), &p, err));
    GmNetEdges *edges = p;
    edges->n = n;
    if (n > 0) {
        qsort(e, n, sizeof *e, gm_net_compare_edges);
        memcpy(edges->e, e, n * sizeof *e);
    }
    gm_store(&((GmNetState *)gm_pool_at(&net->states, state))->edges, edges);
    *out = edges;
    return GM_OK;
}

GmStatus gm_net_add_raw(GmNet *net, uint32_t kind, uint32_t sym, uint32_t to, GmError *err)
{
    GM_PUSH(net->mem, net->raw, ((GmNetEdge){kind, sym, to}));
    return GM_OK;
}

/* Edges of the positions in net->found into net->raw; `to` is a position, the symbol of a call its rule. */
static GmStatus raw_edges(GmNet *net, GmError *err)
{
    const GmNfa *nfa = &net->nfa;
    for (uint32_t f = 0; f < net->found.len; f++) {
        uint32_t position = net->found.data[f], s = position;
        GmPosition p = {0, 0, 0};
        if (position >= POSITION_LEFT) {
            p = ((PositionNode *)gm_pool_at(&net->positions, position & ~POSITION_LEFT))->p;
            s = p.s;
        }
        for (uint32_t e = nfa->states.data[s].edges; e != GM_NONE; e = nfa->edges.data[e].next) {
            const GmNfaEdge *edge = &nfa->edges.data[e];
            uint32_t to = edge->to;
            if (!edge_consumes(nfa, edge)) {
                continue;
            }
            if (position >= POSITION_LEFT) {
                GM_TRY(position_of(net, p.i, p.j, to, &to, err));
            }
            GM_TRY(gm_net_add_raw(net, edge->kind, edge->sym, to, err));
        }
    }
    return GM_OK;
}

static GmStatus subset_edges(GmNet *net, uint32_t id, const GmNetEdges **out, GmError *err)
{
    GmNetState *state = gm_pool_at(&net->states, id);
    net->raw.len = 0;
    if (state->rule != GM_NONE) { /* the start of a left-recursive rule */
        uint32_t group = net->nfa.rules.data[state->rule].group;
        for (uint32_t k = net->seed_off.data[group]; k < net->seed_off.data[group + 1]; k++) {
            const GmSeed seed = net->seeds.data[k];
            uint32_t to;
            GM_TRY(position_of(net, state->rule, seed.m, seed.to, &to, err));
            GM_TRY(gm_net_add_raw(net, seed.kind, seed.sym, to, err));
        }
    } else {
        bool final;
        GM_TRY(closure(net, state->list, state->n, &final, err));
        GM_TRY(raw_edges(net, err));
    }
    GmNetEdge *raw = net->raw.data;
    uint32_t n = net->raw.len, kept = 0;
    if (n > 1) {
        qsort(raw, n, sizeof *raw, gm_net_compare_edges);
    }
    for (uint32_t i = 0; i < n;) {
        net->targets.len = 0;
        uint32_t j = i;
        for (; j < n && raw[j].kind == raw[i].kind && raw[j].sym == raw[i].sym; j++) {
            if (net->targets.len == 0 || net->targets.data[net->targets.len - 1] != raw[j].to) {
                GM_PUSH(net->mem, net->targets, raw[j].to);
            }
        }
        GmNetEdge made = raw[i];
        /* subset_of may run a closure, which does not touch net->raw. */
        GM_TRY(subset_of(net, net->targets.data, net->targets.len, false, &made.to, err));
        if (made.kind == GM_EDGE_CALL) {
            GM_TRY(gm_net_rule_start(net, made.sym, &made.sym, err));
        }
        raw[kept++] = made;
        i = j;
    }
    return gm_net_publish(net, id, raw, kept, out, err);
}

GmStatus gm_net_edges(GmNet *net, uint32_t state, const GmNetEdges **out, GmError *err)
{
    *out = gm_net_find(net, state);
    if (*out != NULL) {
        return GM_OK;
    }
    switch ((GmNetKind)gm_net_at(net, state)->kind) {
    case GM_NET_REPEAT:
        return gm_net_repeat_edges(net, state, out, err);
    case GM_NET_ORDER:
        return gm_net_order_edges(net, state, out, err);
    default:
        return subset_edges(net, state, out, err);
    }
}

/* -- outside -------------------------------------------------------------------------------------------- */

/* Counted repeats that are left-recursive through their own body are to be written out instead, all that are
 * known so far at once. */
static GmStatus expand_lazy(GmNet *net, bool *again, GmError *err)
{
    enum { EXPANDED = 1, EXPAND_NOW = 2 };
    for (uint32_t i = 0; i < net->groups.member.len; i++) {
        const GmRule *rule = &net->nfa.rules.data[net->groups.member.data[i]];
        if (rule->kind == GM_RULE_PLAIN) {
            continue;
        }
        if (rule->kind == GM_RULE_ANY_ORDER) {
            GmStatus status = gm_fail(err, GM_ARG, "a free-order group is left-recursive through one of its own items");
            if (err != NULL) {
                err->detail = (int32_t)rule->node;
            }
            return status;
        }
        GM_CHECK(net->nfa.expand[rule->node] != EXPANDED, err);
        net->nfa.expand[rule->node] = EXPAND_NOW; /* perhaps for several contexts */
        *again = true;
    }
    for (uint32_t i = 0; i < net->groups.member.len; i++) {
        uint8_t *expand = &net->nfa.expand[net->nfa.rules.data[net->groups.member.data[i]].node];
        *expand = *expand == EXPAND_NOW ? EXPANDED : *expand;
    }
    return GM_OK;
}

GmStatus gm_net_build(GmNet *net, GmMem *mem, GmArena *arena, GmRegex *rx, const GmModule *module, const GmNet *prefix,
                      uint32_t horizon, uint32_t max_states, uint32_t max_expansion, GmError *err)
{
    memset(net, 0, sizeof *net);
    net->mem = mem;
    net->arena = arena;
    net->horizon = horizon;
    net->max_states = max_states;
    gm_pool_init(&net->states, sizeof(GmNetState));
    gm_pool_init(&net->positions, sizeof(PositionNode));
    const GmNfa *prefix_nfa = prefix != NULL ? &prefix->nfa : NULL;
    GM_TRY(gm_nfa_init(&net->nfa, mem, arena, rx, module, prefix_nfa, max_states, max_expansion, err));
    for (;;) {
        GM_TRY(gm_nfa_build(&net->nfa, err));
        GM_TRY(gm_analyse(&net->nfa, net->nfa.prefix != NULL ? &prefix->groups : NULL, &net->groups, err));
        bool again = false;
        GM_TRY(expand_lazy(net, &again, err));
        if (!again) {
            break;
        }
    }
    net->has_prefix = net->nfa.prefix != NULL;
    net->nfa.prefix = NULL;
    gm_re_set_lowered(rx);
    void *p;
    GM_TRY(gm_arena_zeroed(arena, net->nfa.states.len, sizeof(uint32_t), &p, err));
    net->seen = p;
    GM_TRY(gm_arena_alloc(arena, net->nfa.rules.len * sizeof(uint32_t), &p, err));
    net->starts = p;
    for (uint32_t r = 0; r < net->nfa.rules.len; r++) {
        net->starts[r] = GM_NONE;
    }
    return prepare_groups(net, err);
}

GmStatus gm_net_take(GmNet *net, const GmNet *prefix, GmError *err)
{
    enum { TAKE_ALWAYS = 4096 }; /* about 0.1 ms */
    uint32_t states = prefix->states.len;
    bool many = states > TAKE_ALWAYS && states / 4 > prefix->nfa.states.len;
    bool dear = states * sizeof(GmNetState) > (net->mem->limit - net->mem->used) / 8;
    if (many || dear || states >= net->max_states || !net->has_prefix || net->groups.member.len > 0) {
        return GM_OK;
    }
    GM_TRY(gm_pool_copy(&net->states, net->mem, &prefix->states, states, err));
    GM_TRY(gm_index_reserve(&net->state_index, net->mem, states, err));
    for (uint32_t id = 0; id < states; id++) {
        GM_TRY(gm_index_add(&net->state_index, net->mem, state_hash(gm_net_at(net, id)), id, err));
    }
    net->taken = states;
    return GM_OK;
}

GmStatus gm_net_open(GmNet *net, GmError *err)
{
    uint32_t end, position = GM_NFA_END;
    GM_TRY(subset_of(net, &position, 1, false, &end, err));
    GM_CHECK(end == GM_NET_END, err);
    net->has_exact = net->nfa.id_sets.len > 0;
    const GmRule *root = &net->nfa.rules.data[net->nfa.root];
    net->root_nullable = root->nullable;
    net->root = GM_NONE;
    if (root->useful) {
        GM_TRY(gm_net_rule_start(net, net->nfa.root, &net->root, err));
    } else if (!root->nullable) {
        return gm_fail(err, GM_ARG, "the language is empty: no text can complete the start rule");
    }
    return net->groups.member.len > 0 ? gm_net_close(net, 200000, err) : GM_OK;
}

void gm_net_deinit(GmNet *net)
{
    gm_nfa_deinit(&net->nfa);
    gm_pool_deinit(&net->states, net->mem);
    gm_pool_deinit(&net->positions, net->mem);
    gm_index_deinit(&net->state_index, net->mem);
    gm_index_deinit(&net->position_index, net->mem);
    GM_VEC_FREE(net->mem, net->groups.member);
    GM_VEC_FREE(net->mem, net->groups.off);
    GM_VEC_FREE(net->mem, net->climbs);
    GM_VEC_FREE(net->mem, net->climb_off);
    GM_VEC_FREE(net->mem, net->seeds);
    GM_VEC_FREE(net->mem, net->seed_off);
    GM_VEC_FREE(net->mem, net->todo);
    GM_VEC_FREE(net->mem, net->found);
    GM_VEC_FREE(net->mem, net->raw);
    GM_VEC_FREE(net->mem, net->targets);
}
