/* Plans: which terminals start on a byte at a state, and what is pushed for them (gm_core.h). A plan lists all the
 * states that calls lead to, for boundaries of one or a few states; local plans hold one state each, for
 * boundaries of many, where the states that several of them call are entered once (gm_start.c).
 * Made under the lock; states that calls lead to come in postorder, without recursion. */
#include "gm_core.h"

enum { NO_BYTE = GM_NONE };

static bool has_local(GmCore *core, uint32_t state, uint32_t byte)
{
    return byte != NO_BYTE && gm_map_get(&core->local_map, gm_pair(state, byte)) != GM_NONE;
}

/* States that `state` reaches by calls alone, in postorder (callees first), into core->order. With `byte`, those
 * that have a local plan are left out. */
static GmStatus plan_order(GmCore *core, uint32_t state, uint32_t byte, GmError *err)
{
    /* core->visit: (state, next edge) pairs of the path. */
    GmIndex entered = {NULL, 0, 0};
    GmStatus status = GM_OK;
    core->order.len = 0;
    core->visit.len = 0;
    uint32_t next = state;
    while (status == GM_OK) {
        if (next != GM_NONE) {
            uint64_t hash = gm_mix(next + 1u);
            status = gm_index_add(&entered, &core->mem, hash, next, err);
            if (status == GM_OK) {
                status = gm_vec_reserve(&core->mem, (void **)&core->visit.data, &core->visit.cap, core->visit.len + 2u,
                                        sizeof(uint32_t), err);
            }
            if (status != GM_OK) {
                break;
            }
            core->visit.data[core->visit.len++] = next;
            core->visit.data[core->visit.len++] = 0;
            next = GM_NONE;
        }
        if (core->visit.len == 0) {
            break;
        }
        uint32_t at = core->visit.data[core->visit.len - 2], *cursor = &core->visit.data[core->visit.len - 1];
        const GmNetEdges *edges;
        status = gm_net_edges(&core->net, at, &edges, err);
        while (status == GM_OK && *cursor < edges->n && next == GM_NONE) {
            const GmNetEdge *edge = &edges->e[(*cursor)++];
            if (edge->kind != GM_EDGE_CALL) {
                continue;
            }
            uint64_t hash = gm_mix(edge->sym + 1u);
            uint32_t slot = (uint32_t)(hash >> 32), found;
            while ((found = gm_index_next(&entered, hash, &slot)) != GM_NONE && found != edge->sym) {
            }
            next = found == GM_NONE && !has_local(core, edge->sym, byte) ? edge->sym : GM_NONE;
        }
        if (status == GM_OK && next == GM_NONE) {
            core->visit.len -= 2;
            status = gm_vec_reserve(&core->mem, (void **)&core->order.data, &core->order.cap, core->order.len + 1u,
                                    sizeof(uint32_t), err);
            if (status == GM_OK) {
                core->order.data[core->order.len++] = at;
            }
        }
    }
    gm_index_deinit(&entered, &core->mem);
    return status;
}

static GmStatus callee_slot(GmCore *core, uint32_t callee, uint32_t byte, const uint32_t *slot_of, const GmIndex *index,
                            uint32_t *slot, GmError *err)
{
    uint32_t found;
    if (index == NULL) {
        *slot = gm_map_get(&core->local_map, gm_pair(callee, byte));
        GM_CHECK(*slot != GM_NONE, err);
        *slot = gm_local_at(core, *slot)->n > 0 ? *slot : GM_NONE;
        return GM_OK;
    }
    uint64_t hash = gm_mix(callee + 1u);
    uint32_t at = (uint32_t)(hash >> 32);
    while ((found = gm_index_next(index, hash, &at)) != GM_NONE && core->order.data[found] != callee) {
    }
    GM_CHECK(found != GM_NONE, err);
    *slot = slot_of[found];
    return GM_OK;
}

/* The steps of one state; *useful when something can start. The slot of a callee is its slot in `slot_of`, found by
 * `index`, or its local plan where there is no index; GM_NONE where nothing starts. */
static GmStatus plan_state(GmCore *core, uint32_t state, uint32_t slot, uint32_t byte, const uint32_t *slot_of,
                           const GmIndex *index, bool *useful, GmError *err)
{
    const GmNetEdges *edges;
    GM_TRY(gm_net_edges(&core->net, state, &edges, err));
    for (uint32_t e = 0; e < edges->n; e++) {
        const GmNetEdge *edge = &edges->e[e];
        GmPlanStep step = {GM_PLAN_EXACT, slot, edge->sym, edge->to, 0};
        if (edge->kind == GM_EDGE_TERM && byte != GM_PLAN_OF_EXACT) {
            step.op = GM_PLAN_START;
            step.origin = edge->sym;
            GM_TRY(gm_re_deriv(&core->rx, edge->sym >> 1, (uint8_t)byte, &step.a, err));
            if (step.a == 0) {
                continue;
            }
        } else if (edge->kind == GM_EDGE_CALL) {
            step.op = GM_PLAN_PUSH;
            GM_TRY(callee_slot(core, edge->sym, byte, slot_of, index, &step.a, err));
            if (step.a == GM_NONE) {
                continue;
            }
        } else if (edge->kind != GM_EDGE_EXACT || byte != GM_PLAN_OF_EXACT) {
            continue;
        }
        *useful = true;
        GM_PUSH(&core->mem, core->steps, step);
    }
    return GM_OK;
}

/* Steps are gathered callees first, state by state, and turned round at the end: callers come first then. */
static GmStatus plan_fill(GmCore *core, uint32_t byte, uint32_t *slot_of, const GmIndex *index, const GmPlan **out,
                          GmError *err)
{
    uint32_t n_slots = 0, n = core->order.len;
    core->steps.len = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool useful = false;
        slot_of[i] = GM_NONE;
        GM_TRY(plan_state(core, core->order.data[i], n_slots, byte, slot_of, index, &useful, err));
        if (useful) {
            slot_of[i] = n_slots++;
        }
    }
    void *p;
    uint32_t n_steps = slot_of[n - 1] == GM_NONE ? 0 : core->steps.len;
    GM_TRY(gm_arena_alloc(&core->arena, sizeof(GmPlan) + n_steps * sizeof(GmPlanStep), &p, err));
    GmPlan *plan = p;
    plan->n_slots = n_slots;
    plan->n = n_steps;
    for (uint32_t i = 0; i < n_steps; i++) {
        GmPlanStep step = core->steps.data[n_steps - 1 - i];
        step.slot = n_slots - 1 - step.slot; /* the state itself was last: it becomes slot 0 */
        step.a = step.op == GM_PLAN_PUSH ? n_slots - 1 - step.a : step.a;
        plan->step[i] = step;
    }
    *out = plan;
    return GM_OK;
}

GmStatus gm_plan_make(GmCore *core, uint32_t state, uint32_t byte, uint32_t *out, GmError *err)
{
    uint64_t key = gm_pair(state, byte);
    *out = gm_map_get(&core->plan_map, key);
    if (*out != GM_NONE) {
        return GM_OK;
    }
    GM_TRY(plan_order(core, state, NO_BYTE, err));
    GmIndex index = {NULL, 0, 0};
    GmStatus status = GM_OK;
    for (uint32_t i = 0; i < core->order.len && status == GM_OK; i++) {
        status = gm_index_add(&index, &core->mem, gm_mix(core->order.data[i] + 1u), i, err);
    }
    const GmPlan *plan = NULL;
    core->visit.len = 0;
    if (status == GM_OK) {
        status = gm_vec_reserve(&core->mem, (void **)&core->visit.data, &core->visit.cap, core->order.len,
                                sizeof(uint32_t), err);
    }
    if (status == GM_OK) {
        status = plan_fill(core, byte, core->visit.data, &index, &plan, err);
    }
    gm_index_deinit(&index, &core->mem);
    GM_TRY(status);
    void *p;
    GM_TRY(gm_pool_add(&core->plans, &core->mem, out, &p, err));
    *(const GmPlan **)p = plan;
    return gm_map_put(&core->plan_map, &core->mem, key, *out, err);
}

/* The local plan of one state, when those of all callees exist. */
static GmStatus local_fill(GmCore *core, uint32_t state, uint32_t byte, uint32_t *out, GmError *err)
{
    bool useful = false;
    core->steps.len = 0;
    GM_TRY(plan_state(core, state, 0, byte, NULL, NULL, &useful, err));
    void *p;
    uint32_t n = core->steps.len, height = 0;
    GM_TRY(gm_arena_alloc(&core->arena, sizeof(GmLocalPlan) + n * sizeof(GmPlanStep), &p, err));
    GmLocalPlan *plan = p;
    for (uint32_t i = 0; i < n; i++) {
        plan->step[i] = core->steps.data[i];
        if (plan->step[i].op == GM_PLAN_PUSH) {
            uint32_t below = gm_local_at(core, plan->step[i].a)->height + 1;
            height = below > height ? below : height;
        }
    }
    plan->n = n;
    plan->height = height;
    GM_TRY(gm_pool_add(&core->locals, &core->mem, out, &p, err));
    *(const GmLocalPlan **)p = plan;
    return gm_map_put(&core->local_map, &core->mem, gm_pair(state, byte), *out, err);
}

GmStatus gm_local_make(GmCore *core, uint32_t state, uint32_t byte, uint32_t *out, GmError *err)
{
    *out = gm_map_get(&core->local_map, gm_pair(state, byte));
    if (*out != GM_NONE) {
        return GM_OK;
    }
    GM_TRY(plan_order(core, state, byte, err));
    for (uint32_t i = 0; i < core->order.len; i++) { /* the state itself comes last */
        GM_TRY(local_fill(core, core->order.data[i], byte, out, err));
    }
    return GM_OK;
}
