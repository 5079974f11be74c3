/* Where the memory of a constraint is (gm.h): pools and maps by their sizes, pieces of the arena by who points to them;
 * others that are pointed to are lent by parts or by the vocabulary. */
#include "gm_constraint.h"

#include <stdlib.h>
#include <string.h>

/* What a pool holds; the rest of its blocks is unused. */
static uint64_t usage_pool(GmUsage *out, const GmPool *pool)
{
    const uint64_t held = (uint64_t)pool->len * pool->size;
    out->unused += gm_pool_bytes(pool) - held;
    return held;
}

static int compare_sets(const void *x, const void *y)
{
    const uint32_t *a = *(const uint32_t *const *)x, *b = *(const uint32_t *const *)y;
    return (size_t)a < (size_t)b ? -1 : (size_t)a > (size_t)b;
}

typedef GM_VEC(const uint32_t *) UsageSets;

static GmStatus usage_toks(GmMem *mem, UsageSets *sets, const GmToks *toks, GmError *err)
{
    for (uint32_t i = 0; i < toks->n_dense; i++) {
        GM_PUSH(mem, *sets, toks->dense[i]);
    }
    return GM_OK;
}

/* Distinct dense sets in the arena, by what refers to them. `mem` is no account of the constraint. */
static GmStatus usage_sets(const GmConstraint *c, GmMem *mem, UsageSets *sets, uint64_t *n, GmError *err)
{
    const GmCore *core = &c->core;
    for (uint32_t i = 0; i < core->views.steps.len; i++) {
        GM_TRY(usage_toks(mem, sets, &gm_step_at(&core->views, i)->inside, err));
    }
    for (uint32_t i = 0; i < core->summaries.len; i++) {
        GM_TRY(usage_toks(mem, sets, &((const GmSummary *)gm_pool_at(&core->summaries, i))->toks, err));
    }
    if (sets->len > 1) {
        qsort(sets->data, sets->len, sizeof *sets->data, compare_sets);
    }
    *n = 0;
    for (uint32_t i = 0; i < sets->len; i++) {
        *n += (i == 0 || sets->data[i] != sets->data[i - 1]) && gm_arena_has(&core->arena, sets->data[i]);
    }
    return GM_OK;
}

/* Arena and pools of regular expressions; what of it is in the arena. */
static uint64_t usage_lexers(const GmRegex *rx, GmUsage *out)
{
    uint64_t rows = 0;
    for (uint32_t i = 0; i < rx->nodes.len; i++) {
        const GmRow *row = gm_load(&((GmReNode *)gm_pool_at(&rx->nodes, i))->row);
        rows += row != NULL && gm_arena_has(rx->arena, row) ? sizeof(GmRow) + row->classes->n * sizeof(uint32_t) : 0;
    }
    for (uint32_t i = 0; i < rx->classes.len; i++) {
        rows += sizeof(GmClasses) + (*(const GmClasses *const *)gm_pool_at(&rx->classes, i))->n;
    }
    out->lexer_states = usage_pool(out, &rx->nodes) + usage_pool(out, &rx->sets) + usage_pool(out, &rx->lits) +
                        usage_pool(out, &rx->auts) + usage_pool(out, &rx->loops) + usage_pool(out, &rx->mains) +
                        gm_index_bytes(&rx->index);
    out->rows = rows + usage_pool(out, &rx->classes) + gm_map_bytes(&rx->joint) + gm_index_bytes(&rx->class_index);
    return rows;
}

/* Bases and views; what of it is in the arena. Buckets of bases around holes are counted as whole ones. */
static uint64_t usage_views(const GmViews *vs, const GmArena *arena, GmUsage *out)
{
    uint64_t entries = 0;
    for (uint32_t i = 0; i < vs->bases.len; i++) {
        const GmBase *base = gm_pool_at(&vs->bases, i);
        const bool whole = base->n_buckets > 0 && base->buckets[base->n_buckets - 1].end == base->n_entries;
        entries += whole && gm_arena_has(arena, base->entries) ? base->n_entries * sizeof(GmEntry) : 0;
        entries += gm_arena_has(arena, base->buckets) ? base->n_buckets * sizeof(GmBucket) : 0;
    }
    for (uint32_t i = 0; i < vs->views.len; i++) {
        const GmView *view = gm_view_at(vs, i);
        entries += gm_arena_has(arena, view->bases) ? (view->n * sizeof(uint32_t) + 7) & ~(uint64_t)7 : 0;
    }
    out->views = entries + usage_pool(out, &vs->bases) + usage_pool(out, &vs->views) + gm_index_bytes(&vs->base_index) +
                 gm_index_bytes(&vs->view_index) + gm_map_bytes(&vs->bite_map) + gm_map_bytes(&vs->whole_map) +
                 gm_map_bytes(&vs->shared_map) + gm_map_bytes(&vs->part_map) + gm_map_bytes(&vs->part_back);
    return entries;
}

/* The module and the network; what of it is in the arena. */
static uint64_t usage_grammar(const GmConstraint *c, GmUsage *out)
{
    const GmModule *module = &c->module;
    const GmNet *net = &c->core.net;
    const GmNfa *nfa = &net->nfa;
    uint64_t pieces = (uint64_t)module->n_nodes * 4 * sizeof(int32_t) + (uint64_t)module->n_args * sizeof(int32_t) +
                      module->n_blob + (uint64_t)module->n_rules * 2 * sizeof(int32_t) + c->n_end_tokens * sizeof(uint32_t);
    for (uint32_t i = 0; i < net->states.len; i++) {
        const GmNetEdges *edges = gm_net_find(net, i);
        pieces += edges != NULL && gm_arena_has(&c->core.arena, edges) ? sizeof *edges + edges->n * sizeof(GmNetEdge) : 0;
    }
    out->grammar = pieces + nfa->states.cap * sizeof(GmNfaState) + nfa->edges.cap * sizeof(GmNfaEdge) +
                   nfa->rules.cap * sizeof(GmRule) + nfa->lazies.cap * sizeof(GmLazy) + nfa->items.cap * sizeof(GmItem) +
                   gm_map_bytes(&nfa->memo) + gm_map_bytes(&nfa->first) + gm_map_bytes(&nfa->rule_of) +
                   gm_map_bytes(&nfa->set_of) + usage_pool(out, &net->states) + usage_pool(out, &net->positions) +
                   gm_index_bytes(&net->state_index) + gm_index_bytes(&net->position_index);
    return pieces;
}

static uint64_t usage_plans(const GmCore *core, GmUsage *out)
{
    uint64_t steps = 0;
    for (uint32_t i = 0; i < core->plans.len; i++) {
        const GmPlan *plan = *(const GmPlan *const *)gm_pool_at(&core->plans, i);
        steps += gm_arena_has(&core->arena, plan) ? sizeof *plan + plan->n * sizeof(GmPlanStep) : 0;
    }
    for (uint32_t i = 0; i < core->locals.len; i++) {
        const GmLocalPlan *plan = gm_local_at(core, i);
        steps += gm_arena_has(&core->arena, plan) ? sizeof *plan + plan->n * sizeof(GmPlanStep) : 0;
    }
    out->plans = steps + usage_pool(out, &core->plans) + usage_pool(out, &core->locals) + gm_map_bytes(&core->plan_map) +
                 gm_map_bytes(&core->local_map);
    return steps;
}

static GmStatus usage_of(GmConstraint *c, GmMem *mem, GmUsage *out, GmError *err)
{
    const GmCore *core = &c->core;
    const GmIdLists *lists = &core->views.lists;
    UsageSets sets = {NULL, 0, 0};
    uint64_t n_sets = 0, listed = 0, pieces;
    const GmStatus status = usage_sets(c, mem, &sets, &n_sets, err);
    GM_VEC_FREE(mem, sets);
    GM_TRY(status);
    for (uint32_t i = 0; i < lists->lists.len; i++) {
        listed += (((const GmIdList *)gm_pool_at(&lists->lists, i))->n * sizeof(uint32_t) + 7) & ~(uint64_t)7;
    }
    out->token_lists = listed + usage_pool(out, &lists->lists) + gm_index_bytes(&lists->index);
    out->token_sets = n_sets * core->trie->n_words * sizeof(uint32_t);
    pieces = listed + out->token_sets + usage_lexers(&core->rx, out) + usage_views(&core->views, &core->arena, out) +
             usage_grammar(c, out) + usage_plans(core, out);
    out->steps = usage_pool(out, &core->views.steps) + gm_map_bytes(&core->views.step_map);
    out->summaries = usage_pool(out, &core->summaries) + gm_map_bytes(&core->summary_map);
    out->unused += gm_arena_bytes(&core->arena) - core->arena.taken;
    GM_CHECK(pieces <= core->arena.taken, err);
    const uint64_t known = out->grammar + out->lexer_states + out->rows + out->token_lists + out->token_sets + out->views +
                           out->steps + out->summaries + out->plans + out->unused;
    GM_CHECK(known <= core->mem.used, err);
    out->other = core->mem.used - known;
    return GM_OK;
}

int gm_constraint_usage(GmConstraint *c, GmUsage *out, GmError *err)
{
    GmMem mem;
    memset(out, 0, sizeof *out);
    gm_mem_init_like(&mem, &c->vocab->mem, SIZE_MAX, "memory_bytes");
    gm_core_lock(&c->core);
    const GmStatus status = usage_of(c, &mem, out, err);
    gm_core_unlock(&c->core);
    gm_mutex_lock(&c->masks.lock);
    out->masks = c->masks.mem.used;
    gm_mutex_unlock(&c->masks.lock);
    return status == GM_OK ? 0 : -1;
}
