#include "gm_pstate.h"

#include <stdlib.h>
#include <string.h>

/* -- life --------------------------------------------------------------------------------------------- */

static void moment_deinit(GmMoment *m, GmMem *mem)
{
    GM_VEC_FREE(mem, m->threads);
    GM_VEC_FREE(mem, m->tops);
}

static GmStatus moment_copy(GmMem *mem, GmMoment *to, const GmMoment *from, GmError *err)
{
    GM_RESERVE(mem, to->threads, from->threads.len);
    GM_RESERVE(mem, to->tops, from->tops.len);
    if (from->threads.len > 0) {
        memcpy(to->threads.data, from->threads.data, from->threads.len * sizeof(GmThread));
    }
    if (from->tops.len > 0) {
        memcpy(to->tops.data, from->tops.data, from->tops.len * sizeof(GmTop));
    }
    to->threads.len = from->threads.len;
    to->tops.len = from->tops.len;
    to->rejected = from->rejected;
    to->terminated = from->terminated;
    to->empty = from->empty;
    return GM_OK;
}

static GmStatus state_init(GmState *s, uint32_t max_rollback, GmError *err)
{
    size_t bytes;
    void *p = NULL;
    if (max_rollback >= INT32_MAX) {
        return gm_fail_limit(err, "memory_bytes", "a history of %u commits is more than any memory holds", max_rollback);
    }
    GM_TRY(gm_mem_product((size_t)max_rollback + 1, sizeof(GmMoment), &bytes, err));
    GM_TRY(gm_mem_resize(&s->mem, &p, 0, bytes, err));
    memset(p, 0, bytes);
    s->history = p;
    s->max_history = max_rollback;
    if (s->c->foci != NULL) {
        GM_TRY(gm_program_walk_init(&s->program_walk, &s->c->foci->program, &s->stack, &s->mem, false, err));
    }
    return gm_stack_init(&s->stack, &s->mem, s->c->foci == NULL ? &s->c->core.net : NULL, err);
}

static GmState *state_alloc(GmConstraint *c, uint32_t max_rollback, GmError *err)
{
    GmState *s = gm_mem_object(&c->core.mem, sizeof *s);
    if (s == NULL) {
        (void)gm_fail(err, GM_NOMEM, "out of memory");
        return NULL;
    }
    s->c = c;
    gm_constraint_retain(c);
    gm_mem_init_like(&s->mem, &c->core.mem, c->core.mem.limit, "memory_bytes");
    atomic_flag_clear(&s->busy);
    if (state_init(s, max_rollback, err) != GM_OK) {
        gm_state_free(s);
        return NULL;
    }
    return s;
}

GmState *gm_state_new(GmConstraint *c, uint32_t max_rollback, GmError *err)
{
    GmState *s = state_alloc(c, max_rollback, err);
    if (s == NULL) {
        return NULL;
    }
    if (c->foci != NULL) {
        if (gm_pstate_begin(s, err) != GM_OK) {
            gm_state_free(s);
            return NULL;
        }
        return s;
    }
    s->now.empty = c->core.net.root_nullable;
    if (c->core.net.root != GM_NONE) {
        GmTop top = {c->core.net.root, GM_SET_BOTTOM, GM_RE_EMPTY};
        if (gm_vec_reserve(&s->mem, (void **)&s->now.tops.data, &s->now.tops.cap, 1, sizeof top, err) != GM_OK) {
            gm_state_free(s);
            return NULL;
        }
        s->now.tops.data[s->now.tops.len++] = top;
    }
    return s;
}

void gm_state_free(GmState *s)
{
    if (s == NULL) {
        return;
    }
    moment_deinit(&s->now, &s->mem);
    for (uint32_t i = 0; s->history != NULL && i <= s->max_history; i++) {
        moment_deinit(&s->history[i], &s->mem);
    }
    gm_mem_free(&s->mem, s->history, ((size_t)s->max_history + 1) * sizeof(GmMoment));
    if (s->stack.mem != NULL) {
        gm_stack_deinit(&s->stack);
    }
    GM_VEC_FREE(&s->mem, s->next_threads);
    GM_VEC_FREE(&s->mem, s->next_tops);
    GM_VEC_FREE(&s->mem, s->closed);
    GM_VEC_FREE(&s->mem, s->exact);
    GM_VEC_FREE(&s->mem, s->slots);
    GM_VEC_FREE(&s->mem, s->roots);
    GM_VEC_FREE(&s->mem, s->walk);
    if (s->program_walk.mem != NULL) {
        gm_program_walk_deinit(&s->program_walk);
    }
    gm_index_deinit(&s->walk_index, &s->mem);
    GmConstraint *c = s->c;
    gm_mem_object_free(&c->core.mem, s, sizeof *s);
    gm_constraint_free(c);
}

static bool enter(GmState *s, GmError *err)
{
    if (atomic_flag_test_and_set_explicit(&s->busy, memory_order_acquire)) {
        (void)gm_fail(err, GM_ARG, "another thread is using this state");
        return false;
    }
    return true;
}

static void leave(GmState *s) { atomic_flag_clear_explicit(&s->busy, memory_order_release); }

/* -- stacks of all moments ----------------------------------------------------------------------------- */

static GmMoment *past(GmState *s, uint32_t k) { return &s->history[(s->first + k) % (s->max_history + 1)]; }

static GmStatus moment_roots(GmState *s, GmMoment *m, GmError *err)
{
    for (uint32_t i = 0; i < m->threads.len; i++) {
        GM_PUSH(&s->mem, s->roots, &m->threads.data[i].set);
    }
    for (uint32_t i = 0; i < m->tops.len; i++) {
        GM_PUSH(&s->mem, s->roots, &m->tops.data[i].set);
    }
    return GM_OK;
}

/* Move what is live into a fresh stack. Called between commits only. */
static GmStatus compact(GmState *s, GmError *err)
{
    s->roots.len = 0;
    GM_TRY(moment_roots(s, &s->now, err));
    for (uint32_t k = 0; k < s->count; k++) {
        GM_TRY(moment_roots(s, past(s, k), err));
    }
    GmStack fresh;
    GmStatus status = gm_stack_init(&fresh, &s->mem, s->stack.net, err);
    if (status == GM_OK) {
        status = gm_stack_copy(&s->stack, &fresh, s->roots.data, s->roots.len, err);
    }
    if (status != GM_OK) {
        gm_stack_deinit(&fresh);
        return status;
    }
    fresh.work += s->stack.work;
    gm_stack_deinit(&s->stack);
    s->stack = fresh;
    s->closed_valid = false;
    return GM_OK;
}

GmState *gm_state_clone(GmState *s, GmError *err)
{
    if (!enter(s, err)) {
        return NULL;
    }
    GmState *t = state_alloc(s->c, s->max_history, err);
    GmStatus status = t == NULL ? GM_NOMEM : GM_OK;
    if (status == GM_OK) {
        status = moment_copy(&t->mem, &t->now, &s->now, err);
    }
    for (uint32_t k = 0; status == GM_OK && k < s->count; k++) {
        status = moment_copy(&t->mem, &t->history[k], past(s, k), err);
        t->count = k + 1;
    }
    if (status == GM_OK) {
        status = moment_roots(t, &t->now, err);
    }
    for (uint32_t k = 0; status == GM_OK && k < t->count; k++) {
        status = moment_roots(t, past(t, k), err);
    }
    if (status == GM_OK) {
        status = gm_stack_copy(&s->stack, &t->stack, t->roots.data, t->roots.len, err);
    }
    leave(s);
    if (status != GM_OK) {
        gm_state_free(t);
        return NULL;
    }
    return t;
}

/* -- boundaries ---------------------------------------------------------------------------------------- */

static GmStatus add_closed(GmState *s, uint32_t state, GmRe debt, uint32_t set, GmError *err)
{
    for (uint32_t i = 0; i < s->closed.len; i++) {
        GmTop *top = &s->closed.data[i];
        if (top->state == state && top->debt == debt) {
            return gm_stack_union(&s->stack, top->set, set, &top->set, err);
        }
    }
    GM_PUSH(&s->mem, s->closed, ((GmTop){state, set, debt}));
    return GM_OK;
}

GmStatus gm_state_close(GmState *s, GmError *err)
{
    if (s->closed_valid) {
        return GM_OK;
    }
    const GmNet *net = &s->c->core.net;
    s->closed.len = 0;
    s->accepting = s->now.empty;
    if (s->c->foci != NULL) { /* what pops is for the templates to say */
        GM_TRY(gm_pstate_accepting(s, &s->accepting, err));
        s->closed_valid = true;
        return GM_OK;
    }
    for (uint32_t i = 0; i < s->now.tops.len; i++) {
        GmTop top = s->now.tops.data[i];
        GM_TRY(add_closed(s, top.state, top.debt, top.set, err));
        if (!gm_net_final(net, top.state)) {
            continue;
        }
        GmPops pops;
        GM_TRY(gm_stack_pops(&s->stack, top.set, &pops, err));
        s->accepting = s->accepting || pops.accepting;
        for (uint32_t p = 0; p < pops.n; p++) {
            GmPop pop = s->stack.pop.data[pops.off + p];
            GM_TRY(add_closed(s, pop.sym, top.debt, pop.set, err));
        }
    }
    s->closed_valid = true;
    return GM_OK;
}

/* -- one byte ------------------------------------------------------------------------------------------ */

static GmStatus add_thread(GmState *s, GmThread t, GmError *err)
{
    for (uint32_t i = 0; i < s->next_threads.len; i++) {
        GmThread *u = &s->next_threads.data[i];
        if (u->re == t.re && u->to == t.to && u->debt == t.debt && (u->origin & 1) == (t.origin & 1)) {
            return gm_stack_union(&s->stack, u->set, t.set, &u->set, err);
        }
    }
    GM_PUSH(&s->mem, s->next_threads, t);
    return GM_OK;
}

GmStatus gm_state_add_top(GmState *s, GmTop t, GmError *err)
{
    for (uint32_t i = 0; i < s->next_tops.len; i++) {
        GmTop *u = &s->next_tops.data[i];
        if (u->state == t.state && u->debt == t.debt) {
            return gm_stack_union(&s->stack, u->set, t.set, &u->set, err);
        }
    }
    GM_PUSH(&s->mem, s->next_tops, t);
    return GM_OK;
}

GmStatus gm_state_arrive(GmState *s, uint32_t entry, GmLex origin, uint32_t to, GmRe debt, uint32_t set, GmError *err)
{
    GmRe re = GM_RE_ID(entry);
    if (re != GM_RE_EPS) {
        GM_TRY(add_thread(s, (GmThread){re, debt, to, set, origin}, err));
    }
    if ((entry & GM_RE_NULLABLE) != 0) {
        GmRe owed = (origin & 1) != 0 || re == GM_RE_EPS ? GM_RE_EMPTY : re;
        GM_TRY(gm_core_owe(&s->c->core, debt, owed, &owed, err));
        GM_TRY(gm_state_add_top(s, (GmTop){to, set, owed}, err));
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
            const GmIdSet *ids = &s->c->core.net.nfa.id_sets.data[step->a];
            for (uint32_t k = 0; k < ids->n; k++) {
                if (ids->ids[k] == token) {
                    GM_TRY(gm_state_add_top(s, (GmTop){step->b, here, GM_RE_EMPTY}, err));
                    break;
                }
            }
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

/* A reading with the same future that owes a superset adds nothing on the same stacks. */
static GmStatus drop_supersets(GmState *s, GmError *err)
{
    uint32_t n = s->next_threads.len, kept = 0;
    bool owing = false;
    for (uint32_t i = 0; i < n; i++) {
        owing = owing || s->next_threads.data[i].debt != GM_RE_EMPTY;
    }
    for (uint32_t i = 0; owing && i < n; i++) {
        GmThread *t = &s->next_threads.data[i];
        for (uint32_t j = 0; t->debt != GM_RE_EMPTY && j < n; j++) {
            const GmThread *u = &s->next_threads.data[j];
            if (i != j && t->re == u->re && t->to == u->to && (t->origin & 1) == (u->origin & 1) && t->debt != u->debt &&
                gm_re_covers(&s->c->core.rx, t->debt, u->debt)) {
                GM_TRY(gm_stack_minus(&s->stack, t->set, u->set, &t->set, err));
            }
        }
    }
    for (uint32_t i = 0; owing && i < n; i++) {
        if (s->next_threads.data[i].set != GM_SET_EMPTY) {
            s->next_threads.data[kept++] = s->next_threads.data[i];
        }
    }
    s->next_threads.len = owing ? kept : n;
    return GM_OK;
}

/* Swap the gathered readings in. */
static void take_next(GmState *s)
{
    GmMoment *now = &s->now;
    GmThread *threads = now->threads.data;
    uint32_t cap = now->threads.cap;
    now->threads.data = s->next_threads.data;
    now->threads.cap = s->next_threads.cap;
    now->threads.len = s->next_threads.len;
    s->next_threads.data = threads;
    s->next_threads.cap = cap;
    GmTop *tops = now->tops.data;
    cap = now->tops.cap;
    now->tops.data = s->next_tops.data;
    now->tops.cap = s->next_tops.cap;
    now->tops.len = s->next_tops.len;
    s->next_tops.data = tops;
    s->next_tops.cap = cap;
    s->next_threads.len = s->next_tops.len = 0;
    now->empty = 0;
    s->closed_valid = false;
}

GmStatus gm_state_owe(GmState *s, GmRe *debt, uint8_t byte, bool *violated, GmError *err)
{
    *violated = false;
    if (*debt != GM_RE_EMPTY) {
        uint32_t entry;
        GM_TRY(gm_core_deriv(&s->c->core, *debt, byte, &entry, err));
        *violated = (entry & GM_RE_NULLABLE) != 0;
        *debt = GM_RE_ID(entry);
    }
    return GM_OK;
}

static GmStatus read_byte(GmState *s, uint8_t byte, GmError *err)
{
    GmCore *core = &s->c->core;
    bool violated;
    if (s->c->foci == NULL) {
        GM_TRY(gm_state_close(s, err));
    }
    s->next_threads.len = s->next_tops.len = 0;
    for (uint32_t i = 0; i < s->now.threads.len; i++) {
        GmThread t = s->now.threads.data[i];
        uint32_t entry;
        GM_TRY(gm_core_deriv(core, t.re, byte, &entry, err));
        if (entry == 0) {
            continue;
        }
        GM_TRY(gm_state_owe(s, &t.debt, byte, &violated, err));
        if (!violated) {
            GM_TRY(gm_state_arrive(s, entry, t.origin, t.to, t.debt, t.set, err));
        }
    }
    if (s->c->foci != NULL) {
        GM_TRY(gm_pstate_start(s, byte, err));
    }
    for (uint32_t i = 0; s->c->foci == NULL && i < s->closed.len; i++) {
        GmTop top = s->closed.data[i];
        const GmPlan *plan;
        GM_TRY(gm_state_owe(s, &top.debt, byte, &violated, err));
        if (violated) {
            continue;
        }
        GM_TRY(gm_core_plan(core, top.state, byte, &plan, err));
        GM_TRY(run_plan(s, plan, top.set, top.debt, 0, err));
    }
    GM_TRY(drop_supersets(s, err));
    take_next(s);
    return GM_OK;
}

/* -- commits --------------------------------------------------------------------------------------------- */

enum { /* see gm.h */
    COMMIT_OK, COMMIT_TERMINATED, COMMIT_REJECTED, COMMIT_UNKNOWN, COMMIT_FAILED, COMMIT_FAILED_END, COMMIT_BUSY, COMMIT_LIMIT
};

static bool is_dead(const GmState *s) { return s->now.threads.len == 0 && s->now.tops.len == 0; }

/* Keep the present moment as the newest of the history (or, with none, in the spare entry). */
static GmStatus remember(GmState *s, GmError *err)
{
    if (gm_stack_wants_compaction(&s->stack)) {
        GM_TRY(compact(s, err));
    }
    if (s->count == s->max_history + 1) { /* the oldest is beyond the history and makes room */
        s->first = (s->first + 1) % (s->max_history + 1);
        s->count--;
    }
    GM_TRY(moment_copy(&s->mem, past(s, s->count), &s->now, err));
    s->count++;
    return GM_OK;
}

/* Back to the newest moment of the history, which is taken off. */
static void recall(GmState *s)
{
    GmMoment *m = past(s, s->count - 1), now = s->now;
    s->now = *m;
    *m = now; /* buffers change hands, so that nothing is allocated */
    s->count--;
    s->closed_valid = false;
}

/* After a commit: without room for it in the history, the moment before is forgotten. */
static void settle(GmState *s)
{
    if (s->count > s->max_history) {
        s->first = (s->first + 1) % (s->max_history + 1);
        s->count--;
    }
}

static int fail_limit(GmState *s)
{
    recall(s);
    return COMMIT_LIMIT;
}

static int now_rejected(GmState *s, int code)
{
    s->now.threads.len = s->now.tops.len = 0;
    s->now.empty = 0;
    s->now.rejected = 1;
    s->closed_valid = false;
    settle(s);
    return code;
}

static GmStatus read_bytes(GmState *s, const uint8_t *data, uint64_t n, GmError *err)
{
    for (uint64_t i = 0; i < n && !is_dead(s); i++) {
        GM_TRY(read_byte(s, data[i], err));
    }
    return GM_OK;
}

static int commit_end(GmState *s, GmError *err)
{
    if (gm_state_close(s, err) != GM_OK || remember(s, err) != GM_OK) {
        return COMMIT_LIMIT;
    }
    if (gm_state_close(s, err) != GM_OK) {
        return fail_limit(s);
    }
    if (!s->accepting) {
        return now_rejected(s, COMMIT_FAILED_END);
    }
    s->now.threads.len = s->now.tops.len = 0;
    s->now.terminated = 1;
    s->closed_valid = false;
    settle(s);
    return COMMIT_OK;
}

/* Both readings: the exact one starts from the boundary without debts and ends every terminal in progress;
 * the other one reads the bytes. */
static GmStatus read_token(GmState *s, uint32_t id, const uint8_t *bytes, uint64_t n, GmError *err)
{
    s->exact.len = 0;
    if (s->c->core.net.has_exact) {
        GM_TRY(gm_state_close(s, err));
        s->next_threads.len = s->next_tops.len = 0;
        for (uint32_t i = 0; i < s->closed.len; i++) {
            const GmPlan *plan;
            GM_TRY(gm_core_plan(&s->c->core, s->closed.data[i].state, GM_PLAN_OF_EXACT, &plan, err));
            GM_TRY(run_plan(s, plan, s->closed.data[i].set, GM_RE_EMPTY, id, err));
        }
        for (uint32_t i = 0; i < s->next_tops.len; i++) {
            GM_PUSH(&s->mem, s->exact, s->next_tops.data[i]);
        }
    }
    if (n > 0) {
        GM_TRY(read_bytes(s, bytes, n, err));
    } else {
        s->now.threads.len = s->now.tops.len = 0;
    }
    s->now.empty = 0;
    s->closed_valid = false;
    if (s->exact.len > 0) {
        s->next_tops.len = 0;
        for (uint32_t i = 0; i < s->now.tops.len; i++) {
            GM_TRY(gm_state_add_top(s, s->now.tops.data[i], err));
        }
        for (uint32_t i = 0; i < s->exact.len; i++) {
            GM_TRY(gm_state_add_top(s, s->exact.data[i], err));
        }
        s->now.tops.len = 0;
        for (uint32_t i = 0; i < s->next_tops.len; i++) {
            GM_PUSH(&s->mem, s->now.tops, s->next_tops.data[i]);
        }
    }
    return GM_OK;
}

static int commit_token(GmState *s, uint32_t id, GmError *err)
{
    if (s->now.terminated || s->now.rejected) {
        return s->now.terminated ? COMMIT_TERMINATED : COMMIT_REJECTED;
    }
    if (gm_constraint_is_end(s->c, id)) {
        return commit_end(s, err);
    }
    const uint8_t *bytes = NULL;
    uint64_t n = 0;
    if (!gm_vocab_find(s->c->vocab, id, &bytes, &n) && !gm_constraint_is_exact(s->c, id)) {
        return COMMIT_UNKNOWN;
    }
    if (remember(s, err) != GM_OK) {
        return COMMIT_LIMIT;
    }
    if (read_token(s, id, bytes, n, err) != GM_OK) {
        return fail_limit(s);
    }
    if (is_dead(s)) {
        return now_rejected(s, COMMIT_FAILED);
    }
    settle(s);
    return COMMIT_OK;
}

static int commit_bytes(GmState *s, const uint8_t *data, uint64_t n, GmError *err)
{
    if (s->now.terminated || s->now.rejected) {
        return s->now.terminated ? COMMIT_TERMINATED : n > 0 ? COMMIT_REJECTED : COMMIT_OK;
    }
    if (n == 0) {
        return COMMIT_OK;
    }
    if (remember(s, err) != GM_OK) {
        return COMMIT_LIMIT;
    }
    for (uint64_t i = 0; i < n && !is_dead(s); i++) {
        /* Long texts in one call must not keep the stacks of every byte. */
        if (gm_stack_wants_compaction(&s->stack) && compact(s, err) != GM_OK) {
            return fail_limit(s);
        }
        if (read_byte(s, data[i], err) != GM_OK) {
            return fail_limit(s);
        }
    }
    if (is_dead(s)) {
        return now_rejected(s, COMMIT_FAILED);
    }
    settle(s);
    return COMMIT_OK;
}

int gm_state_commit_token(GmState *s, uint32_t id, GmError *err)
{
    if (!enter(s, err)) {
        return COMMIT_BUSY;
    }
    int code = commit_token(s, id, err);
    leave(s);
    return code;
}

int gm_state_commit_bytes(GmState *s, const uint8_t *data, uint64_t n, GmError *err)
{
    if (!enter(s, err)) {
        return COMMIT_BUSY;
    }
    int code = commit_bytes(s, data, n, err);
    leave(s);
    return code;
}

int gm_state_flags(GmState *s, GmError *err)
{
    if (!enter(s, err)) {
        return -1;
    }
    GmStatus status = gm_state_close(s, err);
    int flags = (s->accepting || s->now.terminated ? 1 : 0) | (s->now.rejected ? 2 : 0) | (s->now.terminated ? 4 : 0);
    leave(s);
    return status == GM_OK ? flags : -1;
}

int gm_state_rollback(GmState *s, uint32_t n, GmError *err)
{
    if (!enter(s, err)) {
        return -1;
    }
    int done = n <= s->count;
    for (uint32_t i = 0; done && i < n; i++) {
        recall(s);
    }
    leave(s);
    return done;
}

int gm_state_report(GmState *s, GmStateReport *out, GmError *err)
{
    if (!enter(s, err)) {
        return -1;
    }
    out->memory_bytes = s->mem.used;
    out->work = s->stack.work;
    out->nodes = s->stack.nodes.len;
    out->sets = s->stack.sets.len;
    out->threads = s->now.threads.len;
    out->tops = s->now.tops.len;
    leave(s);
    return 0;
}
