/* Starting: what the closed boundary may start on a byte (or as an exact token), with the calls that lead to it
 * pushed. A boundary of few states runs their plans one by one. In a boundary of many, as a tower of rules that all
 * may end leaves it, several call the same rules; then these are entered once, with the union of the stacks,
 * callers before callees: n states one above the other push n nodes, not n * n. */
#include "gm_state.h"

enum { START_FEW = 4 }; /* states of a boundary whose plans are run one by one */

/* -- plans one by one ----------------------------------------------------------------------------------- */

static GmStatus start_exact(GmState *s, const GmPlanStep *step, uint32_t set, GmRe debt, uint32_t token, GmError *err)
{
    const GmIdSet *ids = &s->c->core.net.nfa.id_sets.data[step->a];
    for (uint32_t k = 0; k < ids->n; k++) {
        if (ids->ids[k] == token) {
            return gm_state_add_top(s, (GmTop){step->b, set, debt}, err);
        }
    }
    return GM_OK;
}

static GmStatus slot_add(GmState *s, uint32_t slot, uint32_t set, GmError *err)
{
    uint32_t *at = &s->slots.data[slot];
    if (*at == GM_NONE) {
        *at = set;
        return GM_OK;
    }
    return gm_stack_union(&s->stack, *at, set, at, err);
}

/* Terminals that start at a boundary, with the calls that lead to them pushed. */
static GmStatus run_plan(GmState *s, const GmPlan *plan, uint32_t set, GmRe debt, uint32_t token, GmError *err)
{
    if (plan->n == 0) {
        return GM_OK;
    }
    s->slots.len = 0;
    GM_RESERVE(&s->mem, s->slots, plan->n_slots);
    for (uint32_t i = 0; i < plan->n_slots; i++) {
        s->slots.data[i] = GM_NONE;
    }
    s->slots.data[0] = set;
    for (uint32_t i = 0; i < plan->n; i++) {
        const GmPlanStep *step = &plan->step[i];
        uint32_t here = s->slots.data[step->slot];
        if (step->op == GM_PLAN_START) {
            GM_TRY(gm_state_arrive(s, step->a, step->origin, step->b, debt, here, err));
        } else if (step->op == GM_PLAN_EXACT) {
            GM_TRY(start_exact(s, step, here, debt, token, err));
        } else if (step->b == GM_NET_END) { /* a tail call */
            GM_TRY(slot_add(s, step->a, here, err));
        } else {
            uint32_t node, single;
            GM_TRY(gm_stack_push(&s->stack, step->b, here, &node, err));
            GM_TRY(gm_stack_single(&s->stack, node, &single, err));
            GM_TRY(slot_add(s, step->a, single, err));
        }
    }
    return GM_OK;
}

/* -- plans of many states together ---------------------------------------------------------------------- */

/* Does x come before y? What is higher first, then what is to be joined together. */
static bool call_before(const GmCall *x, const GmCall *y)
{
    return x->key != y->key ? x->key > y->key : x->debt > y->debt;
}

/* Heap with the first one at the front. */
static GmStatus call_add(GmState *s, uint32_t local, GmRe debt, uint32_t set, GmError *err)
{
    GmCall call = {gm_pair(gm_local_at(&s->c->core, local)->height, local), debt, set};
    GM_PUSH(&s->mem, s->calls, call);
    GmCall *heap = s->calls.data;
    uint32_t at = s->calls.len - 1;
    for (; at > 0 && call_before(&call, &heap[(at - 1) / 2]); at = (at - 1) / 2) {
        heap[at] = heap[(at - 1) / 2];
    }
    heap[at] = call;
    return GM_OK;
}

static GmCall call_take(GmState *s)
{
    GmCall *heap = s->calls.data, first = heap[0], last = heap[--s->calls.len];
    uint32_t n = s->calls.len, at = 0;
    for (uint32_t child = 1; child < n; child = 2 * at + 1) {
        child += child + 1 < n && call_before(&heap[child + 1], &heap[child]);
        if (!call_before(&heap[child], &last)) {
            break;
        }
        heap[at] = heap[child];
        at = child;
    }
    if (n > 0) {
        heap[at] = last;
    }
    return first;
}

/* The steps of one state; calls are put off until all that leads to their rule is known. */
static GmStatus run_local(GmState *s, const GmLocalPlan *plan, uint32_t set, GmRe debt, uint32_t token, GmError *err)
{
    for (uint32_t i = 0; i < plan->n; i++) {
        const GmPlanStep *step = &plan->step[i];
        uint32_t node, below = set;
        if (step->op == GM_PLAN_START) {
            GM_TRY(gm_state_arrive(s, step->a, step->origin, step->b, debt, set, err));
        } else if (step->op == GM_PLAN_EXACT) {
            GM_TRY(start_exact(s, step, set, debt, token, err));
        } else {
            if (step->b != GM_NET_END) {
                GM_TRY(gm_stack_push(&s->stack, step->b, set, &node, err));
                GM_TRY(gm_stack_single(&s->stack, node, &below, err));
            }
            GM_TRY(call_add(s, step->a, debt, below, err));
        }
    }
    return GM_OK;
}

static GmStatus run_calls(GmState *s, uint32_t token, GmError *err)
{
    while (s->calls.len > 0) {
        GmCall call = call_take(s);
        s->slots.len = 0;
        GM_PUSH(&s->mem, s->slots, call.set);
        while (s->calls.len > 0 && s->calls.data[0].key == call.key && s->calls.data[0].debt == call.debt) {
            GM_PUSH(&s->mem, s->slots, call_take(s).set);
        }
        GM_TRY(gm_stack_union_all(&s->stack, s->slots.data, s->slots.len, &call.set, err));
        GM_TRY(run_local(s, gm_local_at(&s->c->core, (uint32_t)call.key), call.set, call.debt, token, err));
    }
    return GM_OK;
}

/* -- all of a boundary ------------------------------------------------------------------------------------ */

GmStatus gm_state_start(GmState *s, uint32_t byte, uint32_t token, GmError *err)
{
    GmCore *core = &s->c->core;
    bool few = s->closed.len <= START_FEW;
    s->calls.len = 0;
    for (uint32_t i = 0; i < s->closed.len; i++) {
        GmTop top = s->closed.data[i];
        if (byte == GM_PLAN_OF_EXACT) {
            top.debt = GM_RE_EMPTY; /* an exact token ends what is owed */
        } else if (top.debt != GM_RE_EMPTY) {
            bool violated;
            GM_TRY(gm_state_owe(s, &top.debt, (uint8_t)byte, &violated, err));
            if (violated) {
                continue;
            }
        }
        if (few) {
            const GmPlan *plan;
            GM_TRY(gm_core_plan(core, top.state, byte, &plan, err));
            GM_TRY(run_plan(s, plan, top.set, top.debt, token, err));
        } else {
            uint32_t local = gm_map_get(&core->local_map, gm_pair(top.state, byte));
            if (local == GM_NONE) {
                GM_TRY(gm_core_local(core, top.state, byte, &local, err));
            }
            const GmLocalPlan *plan = gm_local_at(core, local);
            if (plan->height > 0) {
                GM_TRY(call_add(s, local, top.debt, top.set, err));
            } else {
                GM_TRY(run_local(s, plan, top.set, top.debt, token, err));
            }
        }
    }
    return s->calls.len > 0 ? run_calls(s, token, err) : GM_OK;
}
