#include "gm_core.h"

#include "gm_view_entries.h"

#include <string.h>

void gm_core_init(GmCore *core, const GmTrie *trie, GmShared *shared, const GmMem *owner, size_t memory)
{
    memset(core, 0, sizeof *core);
    core->trie = trie;
    core->shared = shared;
    gm_mem_init_like(&core->mem, owner, memory, "memory_bytes");
    gm_arena_init(&core->arena, &core->mem);
    gm_mutex_init(&core->lock);
    atomic_init(&core->wanted, 0);
    atomic_init(&core->asked, 0);
    gm_pool_init(&core->summaries, sizeof(GmSummary));
    gm_pool_init(&core->plans, sizeof(const GmPlan *));
    gm_map_init(&core->summary_map);
    gm_map_init(&core->plan_map);
    gm_pool_init(&core->locals, sizeof(const GmLocalPlan *));
    gm_map_init(&core->local_map);
}

bool gm_core_may_take(const GmModule *module, const GmCore *prefix, uint32_t max_states, uint32_t max_lexer_states,
                      uint32_t max_expansion)
{
    return prefix->rx.max_nodes <= max_lexer_states && gm_nfa_may_take(module, &prefix->net.nfa, max_states, max_expansion);
}

GmStatus gm_core_build(GmCore *core, const GmModule *module, GmCore *prefix, uint32_t max_states, uint32_t max_lexer_states,
                       uint32_t max_expansion, GmError *err)
{
    const GmTrie *trie = core->trie;
    if (prefix != NULL) {
        gm_core_lock(prefix);
        GmStatus status = gm_re_init_like(&core->rx, &core->mem, &core->arena, max_lexer_states, &prefix->rx, err);
        gm_core_unlock(prefix);
        GM_TRY(status);
    } else {
        GM_TRY(gm_re_init(&core->rx, &core->mem, &core->arena, trie->longest, max_lexer_states, err));
    }
    GM_TRY(gm_views_init(&core->views, &core->mem, &core->arena, &core->rx, trie, core->shared, err));
    GM_TRY(gm_net_build(&core->net, &core->mem, &core->arena, &core->rx, module, prefix != NULL ? &prefix->net : NULL,
                        trie->longest, max_states, max_expansion, err));
    if (prefix != NULL) {
        core->prefix = prefix;
        gm_core_lock(prefix);
        GmStatus status = gm_net_take(&core->net, &prefix->net, err);
        gm_core_unlock(prefix);
        GM_TRY(status);
    }
    return gm_net_open(&core->net, err);
}

void gm_core_set_alone(GmCore *core, bool alone)
{
    core->summary_map.alone = core->plan_map.alone = core->local_map.alone = alone;
    core->views.step_map.alone = core->views.whole_map.alone = alone;
}

void gm_core_deinit(GmCore *core)
{
    for (uint32_t i = 0; i < core->work.len; i++) {
        gm_gather_deinit(&core->work.data[i].gather, &core->mem);
        GM_VEC_FREE(&core->mem, core->work.data[i].rest);
    }
    GM_VEC_FREE(&core->mem, core->work);
    GM_VEC_FREE(&core->mem, core->order);
    GM_VEC_FREE(&core->mem, core->visit);
    GM_VEC_FREE(&core->mem, core->steps);
    if (core->net.mem != NULL) {
        gm_net_deinit(&core->net);
    }
    if (core->views.mem != NULL) {
        gm_views_deinit(&core->views);
    }
    if (core->rx.mem != NULL) {
        gm_re_deinit(&core->rx);
    }
    gm_pool_deinit(&core->summaries, &core->mem);
    gm_pool_deinit(&core->plans, &core->mem);
    gm_map_deinit(&core->summary_map, &core->mem);
    gm_map_deinit(&core->plan_map, &core->mem);
    gm_pool_deinit(&core->locals, &core->mem);
    gm_map_deinit(&core->local_map, &core->mem);
    gm_arena_deinit(&core->arena);
    gm_mutex_deinit(&core->lock);
}

void gm_core_lock_idle(GmCore *core)
{
    gm_mutex_lock(&core->lock);
    core->rx.scratch.len = core->rx.search.len = core->rx.pending.len = 0;
    core->views.after.len = 0;
    core->work_len = 0;
}

void gm_core_lock(GmCore *core)
{
    (void)atomic_fetch_add_explicit(&core->wanted, 1, memory_order_relaxed);
    (void)atomic_fetch_add_explicit(&core->asked, 1, memory_order_relaxed);
    gm_core_lock_idle(core);
    (void)atomic_fetch_sub_explicit(&core->wanted, 1, memory_order_relaxed);
}

void gm_core_unlock(GmCore *core) { gm_mutex_unlock(&core->lock); }

/* -- summaries ------------------------------------------------------------------------------------- */

static GmStatus work_push(GmCore *core, uint32_t base, uint32_t state, GmError *err)
{
    if (core->work_len == core->work.len) {
        GmWork fresh;
        memset(&fresh, 0, sizeof fresh);
        GM_PUSH(&core->mem, core->work, fresh);
    }
    GmWork *w = &core->work.data[core->work_len++];
    w->base = base;
    w->state = state;
    w->edge = w->k = 0;
    w->open = false;
    w->gather.ids.len = w->gather.dense.len = 0;
    w->rest.len = 0;
    return GM_OK;
}

static GmStatus add_rest(GmCore *core, GmWork *w, uint32_t view, GmError *err)
{
    const GmView *v = gm_view_at(&core->views, view);
    for (uint32_t i = 0; i < v->n; i++) {
        GM_PUSH(&core->mem, w->rest, v->bases[i]);
    }
    return GM_OK;
}

static uint32_t summary_find(GmCore *core, uint32_t base, uint32_t state)
{
    return gm_map_get(&core->summary_map, gm_pair(base, state));
}

static GmStatus summary_add(GmCore *core, uint32_t base, uint32_t state, const GmSummary *made, uint32_t *id, GmError *err)
{
    void *p;
    GM_TRY(gm_pool_add(&core->summaries, &core->mem, id, &p, err));
    *(GmSummary *)p = *made;
    return gm_map_put(&core->summary_map, &core->mem, gm_pair(base, state), *id, err);
}

/* A summary that is there or that the prefix has made; or GM_NONE. It does not look below its state, so it holds wherever
 * the prefix is called. */
static GmStatus summary_get(GmCore *core, uint32_t base, uint32_t state, uint32_t *id, GmError *err)
{
    *id = summary_find(core, base, state);
    if (*id != GM_NONE || state >= core->net.taken) {
        return GM_OK;
    }
    GmViews *vs = &core->views;
    uint32_t theirs = GM_BASE_ROOT;
    if (base != GM_BASE_ROOT) {
        GM_TRY(gm_base_in_part(vs, core->prefix_number, base, &theirs, err));
    }
    uint32_t found = base == GM_BASE_ROOT || theirs != GM_BASE_ROOT ? summary_find(core->prefix, theirs, state) : GM_NONE;
    if (found == GM_NONE) {
        return GM_OK;
    }
    const GmSummary *other = gm_pool_at(&core->prefix->summaries, found);
    GmSummary made = {other->toks, GM_VIEW_EMPTY, GM_VIEW_EMPTY};
    bool known;
    GM_TRY(gm_view_of_part(vs, core->prefix_number, other->moved, &made.moved, &known, err));
    if (known) {
        GM_TRY(gm_view_of_part(vs, core->prefix_number, other->rest, &made.rest, &known, err));
    }
    return known ? summary_add(core, base, state, &made, id, err) : GM_OK;
}

/* What the symbol of an edge leaves of the base, into w->view. *wait: a summary is missing and was pushed. */
static GmStatus open_edge(GmCore *core, GmWork *w, const GmNetEdge *edge, bool *wait, GmError *err)
{
    uint32_t id;
    if (edge->kind == GM_EDGE_TERM) {
        GmRe re;
        GM_TRY(gm_re_clamp(&core->rx, edge->sym >> 1, &re, err));
        GM_TRY(gm_view_step(&core->views, w->base, gm_lex(re, edge->sym & 1), &id, err));
        const GmStep *step = gm_step_at(&core->views, id);
        GM_TRY(gm_gather_add(&w->gather, &core->arena, &step->inside, core->trie->n_words, err));
        w->view = step->after;
    } else {
        GM_TRY(summary_get(core, w->base, edge->sym, &id, err));
        if (id == GM_NONE) {
            *wait = true;
            return work_push(core, w->base, edge->sym, err);
        }
        const GmSummary *sub = gm_pool_at(&core->summaries, id);
        GM_TRY(gm_gather_add(&w->gather, &core->arena, &sub->toks, core->trie->n_words, err));
        w->view = sub->rest;
    }
    w->open = true;
    w->k = 0;
    return GM_OK;
}

/* Run the top entry until it is done or waits for another one. Deeper entries read shorter remainders or
 * stand in rules that start the same text, and left recursion is gone, so this ends. */
static GmStatus work_run(GmCore *core, GmError *err)
{
    uint32_t top = core->work_len - 1;
    const GmNetEdges *edges;
    GM_TRY(gm_net_edges(&core->net, core->work.data[top].state, &edges, err));
    for (;;) {
        GmWork *w = &core->work.data[top];
        if (w->edge == edges->n) {
            break;
        }
        const GmNetEdge *edge = &edges->e[w->edge];
        if (edge->kind == GM_EDGE_EXACT) { /* a view is always in the middle of a token */
            w->edge++;
            continue;
        }
        if (!w->open) {
            bool wait = false;
            GM_TRY(open_edge(core, w, edge, &wait, err));
            if (wait) {
                return GM_OK;
            }
        }
        const GmView *view = gm_view_at(&core->views, w->view);
        if (edge->to == GM_NET_END) {
            GM_TRY(add_rest(core, w, w->view, err));
        } else {
            for (; w->k < view->n; w->k++) {
                uint32_t id;
                GM_TRY(summary_get(core, view->bases[w->k], edge->to, &id, err));
                if (id == GM_NONE) {
                    return work_push(core, view->bases[w->k], edge->to, err);
                }
                const GmSummary *sub = gm_pool_at(&core->summaries, id);
                GM_TRY(gm_gather_add(&w->gather, &core->arena, &sub->toks, core->trie->n_words, err));
                GM_TRY(add_rest(core, w, sub->rest, err));
            }
        }
        w->open = false;
        w->edge++;
    }
    GmWork *w = &core->work.data[top];
    GmSummary made;
    GM_TRY(gm_gather_finish(&w->gather, &core->arena, &core->views.lists, core->trie->n_words, &made.toks, err));
    if (core->views.closing) {
        GM_TRY(gm_view_same_sets(&core->views, &made.toks, err));
    }
    bool final = gm_net_final(&core->net, w->state);
    GM_TRY(gm_view_of(&core->views, w->rest.data, w->rest.len, &made.moved, err));
    made.rest = made.moved;
    if (final) {
        w->rest.len = 0;
        GM_TRY(add_rest(core, w, made.moved, err));
        GM_PUSH(&core->mem, w->rest, w->base);
        GM_TRY(gm_view_of(&core->views, w->rest.data, w->rest.len, &made.rest, err));
    }
    uint32_t id;
    core->work_len--;
    return summary_add(core, w->base, w->state, &made, &id, err);
}

GmStatus gm_summary_make(GmCore *core, uint32_t base, uint32_t state, uint32_t *out, GmError *err)
{
    GM_TRY(summary_get(core, base, state, out, err));
    if (*out != GM_NONE) {
        return GM_OK;
    }
    core->work_len = 0;
    GM_TRY(work_push(core, base, state, err));
    while (core->work_len > 0) {
        GM_TRY(work_run(core, err));
    }
    *out = summary_find(core, base, state);
    GM_CHECK(*out != GM_NONE, err);
    return GM_OK;
}

/* -- for any thread --------------------------------------------------------------------------------- */

GmStatus gm_core_summary(GmCore *core, uint32_t base, uint32_t state, const GmSummary **out, GmError *err)
{
    uint32_t id = summary_find(core, base, state);
    if (id == GM_NONE) {
        gm_core_lock(core);
        GmStatus status = gm_summary_make(core, base, state, &id, err);
        gm_core_unlock(core);
        GM_TRY(status);
    }
    *out = gm_pool_at(&core->summaries, id);
    return GM_OK;
}

GmStatus gm_core_plan(GmCore *core, uint32_t state, uint32_t byte, const GmPlan **out, GmError *err)
{
    uint32_t id = gm_map_get(&core->plan_map, gm_pair(state, byte));
    if (id == GM_NONE) {
        gm_core_lock(core);
        GmStatus status = gm_plan_make(core, state, byte, &id, err);
        gm_core_unlock(core);
        GM_TRY(status);
    }
    *out = *(const GmPlan **)gm_pool_at(&core->plans, id);
    return GM_OK;
}

GmStatus gm_core_local(GmCore *core, uint32_t state, uint32_t byte, uint32_t *out, GmError *err)
{
    *out = gm_map_get(&core->local_map, gm_pair(state, byte));
    if (*out == GM_NONE) {
        gm_core_lock(core);
        GmStatus status = gm_local_make(core, state, byte, out, err);
        gm_core_unlock(core);
        return status;
    }
    return GM_OK;
}

GmStatus gm_core_step(GmCore *core, uint32_t base, GmLex lex, const GmStep **out, GmError *err)
{
    uint32_t id = gm_view_find_step(&core->views, base, lex);
    if (id == GM_NONE) {
        gm_core_lock(core);
        GmStatus status = gm_view_step(&core->views, base, lex, &id, err);
        gm_core_unlock(core);
        GM_TRY(status);
    }
    *out = gm_step_at(&core->views, id);
    return GM_OK;
}

GmStatus gm_core_whole(GmCore *core, GmRe debt, uint32_t *view, GmError *err)
{
    *view = gm_view_find_whole(&core->views, debt);
    if (*view == GM_NONE) {
        gm_core_lock(core);
        GmStatus status = gm_view_whole(&core->views, debt, view, err);
        gm_core_unlock(core);
        GM_TRY(status);
    }
    return GM_OK;
}

GmStatus gm_core_clamp(GmCore *core, GmRe re, GmRe *out, GmError *err)
{
    GmReNode *node = gm_pool_at(&core->rx.nodes, re);
    uint32_t known = gm_load(&node->clamp);
    if (known == 0) {
        gm_core_lock(core);
        GmStatus status = gm_re_clamp(&core->rx, re, out, err);
        gm_core_unlock(core);
        return status;
    }
    *out = known - 1;
    return GM_OK;
}

GmStatus gm_core_owe(GmCore *core, GmRe a, GmRe b, GmRe *out, GmError *err)
{
    if (a == GM_RE_EMPTY || b == GM_RE_EMPTY || a == b) {
        *out = a == GM_RE_EMPTY ? b : a;
        return GM_OK;
    }
    gm_core_lock(core);
    GmStatus status = gm_re_alt2(&core->rx, a, b, out, err);
    gm_core_unlock(core);
    return status;
}

GmStatus gm_core_deriv_slow(GmCore *core, GmRe re, uint8_t byte, uint32_t *entry, GmError *err)
{
    gm_core_lock(core);
    GmStatus status = gm_re_deriv(&core->rx, re, byte, entry, err);
    gm_core_unlock(core);
    return status;
}
