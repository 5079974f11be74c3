/* gm_explain: questions about a state that no decoding loop asks: which terminals are possible, and whether
 * two states have the same future. Part of gm_state (declared in gm.h).
 *
 * Cost     gm_state_expected: all rules that the boundary may start, and one pass over the grammar's nodes. */
#include "gm_lower_lex.h"
#include "gm_state.h"

#include <string.h>

typedef struct Found { /* distinct numbers, in order */
    GM_VEC(uint32_t) list;
    GmIndex index;
} Found;

typedef struct Expected {
    Found lexes, sets, states; /* terminals, exact id sets, network states looked at */
} Expected;

static bool has(const Found *found, uint32_t value)
{
    uint64_t hash = gm_mix(value + 1u);
    uint32_t at = (uint32_t)(hash >> 32), k;
    while ((k = gm_index_next(&found->index, hash, &at)) != GM_NONE && found->list.data[k] != value) {
    }
    return k != GM_NONE;
}

static GmStatus add_once(GmMem *mem, Found *found, uint32_t value, GmError *err)
{
    if (has(found, value)) {
        return GM_OK;
    }
    GM_PUSH(mem, found->list, value);
    return gm_index_add(&found->index, mem, gm_mix(value + 1u), found->list.len - 1, err);
}

static void found_deinit(GmMem *mem, Found *found)
{
    GM_VEC_FREE(mem, found->list);
    gm_index_deinit(&found->index, mem);
}

/* What may start in the states of the boundary and in the rules they call. Locked. */
static GmStatus starts_of(GmState *s, Expected *x, GmError *err)
{
    GmNet *net = &s->c->core.net;
    for (uint32_t i = 0; i < x->states.list.len; i++) {
        const GmNetEdges *edges;
        GM_TRY(gm_net_edges(net, x->states.list.data[i], &edges, err));
        for (uint32_t e = 0; e < edges->n; e++) {
            Found *found = edges->e[e].kind == GM_EDGE_TERM ? &x->lexes
                         : edges->e[e].kind == GM_EDGE_EXACT ? &x->sets : &x->states;
            GM_TRY(add_once(&s->mem, found, edges->e[e].sym, err));
        }
    }
    return GM_OK;
}

static GmStatus gather(GmState *s, Expected *x, GmError *err)
{
    for (uint32_t i = 0; i < s->now.threads.len; i++) {
        GM_TRY(add_once(&s->mem, &x->lexes, s->now.threads.data[i].origin, err));
    }
    if (s->c->foci != NULL) { /* a parser program: what starts depends on whole stacks */
        return GM_OK;
    }
    GM_TRY(gm_state_close(s, err));
    for (uint32_t i = 0; i < s->closed.len; i++) {
        GM_TRY(add_once(&s->mem, &x->states, s->closed.data[i].state, err));
    }
    gm_core_lock(&s->c->core);
    GmStatus status = starts_of(s, x, err);
    gm_core_unlock(&s->c->core);
    return status;
}

static int64_t nodes_of(GmState *s, const Expected *x, uint32_t *nodes, uint32_t cap)
{
    GmNfa *nfa = &s->c->core.net.nfa;
    int64_t n = 0;
    for (uint32_t node = 0; node < nfa->module.n_nodes && n < cap; node++) {
        const int32_t *row = nfa->module.rows + 4 * (size_t)node;
        bool here = false;
        if (row[0] == IR_TERMINAL) {
            here = has(&x->lexes, gm_lex(nfa->re[row[1]], (row[2] & 1) != 0));
        } else if (row[0] == IR_TOKEN_IDS) {
            here = has(&x->sets, gm_map_get(&nfa->set_of, node));
        }
        if (here) {
            nodes[n++] = node;
        }
    }
    return n;
}

int64_t gm_state_expected(GmState *s, uint32_t *nodes, uint32_t cap, GmError *err)
{
    if (atomic_flag_test_and_set_explicit(&s->busy, memory_order_acquire)) {
        (void)gm_fail(err, GM_ARG, "another thread is using this state");
        return -1;
    }
    Expected x;
    memset(&x, 0, sizeof x);
    int64_t n = gather(s, &x, err) == GM_OK ? nodes_of(s, &x, nodes, cap) : -1;
    found_deinit(&s->mem, &x.lexes);
    found_deinit(&s->mem, &x.sets);
    found_deinit(&s->mem, &x.states);
    atomic_flag_clear_explicit(&s->busy, memory_order_release);
    return n;
}

int gm_state_key(GmState *s, uint64_t out[2], GmError *err)
{
    if (atomic_flag_test_and_set_explicit(&s->busy, memory_order_acquire)) {
        (void)gm_fail(err, GM_ARG, "another thread is using this state");
        return -1;
    }
    Hash128 sum = {0, 0};
    for (uint32_t i = 0; i < s->now.threads.len; i++) {
        const GmThread *t = &s->now.threads.data[i];
        Hash128 h = gm_hash_join((Hash128){1, t->origin & 1}, gm_pair(t->re, t->debt));
        sum = gm_hash_sum(sum, gm_hash_join2(gm_hash_join(h, t->to), s->stack.sets.data[t->set].exact));
    }
    for (uint32_t i = 0; i < s->now.tops.len; i++) {
        const GmTop *t = &s->now.tops.data[i];
        Hash128 h = gm_hash_join((Hash128){2, 0}, gm_pair(t->state, t->debt));
        sum = gm_hash_sum(sum, gm_hash_join2(h, s->stack.sets.data[t->set].exact));
    }
    Hash128 key = gm_hash_join(sum, (uint64_t)s->now.empty | (uint64_t)s->now.rejected << 8 | (uint64_t)s->now.terminated << 16);
    out[0] = key.a;
    out[1] = key.b;
    atomic_flag_clear_explicit(&s->busy, memory_order_release);
    return 0;
}
