/* The life of a state: made, cloned, freed; its history; commits, which read (gm_read.c) and take back what fails. */
#include "gm_pstate.h"

#include <string.h>

/* -- life --------------------------------------------------------------------------------------------- */

void gm_moment_deinit(GmMoment *m, GmMem *mem)
{
    GM_VEC_FREE(mem, m->threads);
    GM_VEC_FREE(mem, m->tops);
}

GmStatus gm_moment_copy(GmMem *mem, GmMoment *to, const GmMoment *from, GmError *err)
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
        return gm_fail_limit(err, "state_bytes", "a history of %u commits is more than any memory holds", max_rollback);
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
    size_t limit = c->state_bytes < SIZE_MAX ? (size_t)c->state_bytes : SIZE_MAX;
    gm_mem_init_like(&s->mem, &c->core.mem, limit, "state_bytes");
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
    gm_moment_deinit(&s->now, &s->mem);
    for (uint32_t i = 0; s->history != NULL && i <= s->max_history; i++) {
        gm_moment_deinit(&s->history[i], &s->mem);
    }
    gm_mem_free(&s->mem, s->history, ((size_t)s->max_history + 1) * sizeof(GmMoment));
    if (s->stack.mem != NULL) {
        gm_stack_deinit(&s->stack);
    }
    GM_VEC_FREE(&s->mem, s->next_threads);
    GM_VEC_FREE(&s->mem, s->next_tops);
    GM_VEC_FREE(&s->mem, s->closed);
    GM_VEC_FREE(&s->mem, s->exact);
    GM_VEC_FREE(&s->mem, s->calls);
    GM_VEC_FREE(&s->mem, s->slots);
    GM_VEC_FREE(&s->mem, s->roots);
    GM_VEC_FREE(&s->mem, s->walk);
    GM_VEC_FREE(&s->mem, s->round);
    GM_VEC_FREE(&s->mem, s->taken);
    if (s->program_walk.mem != NULL) {
        gm_program_walk_deinit(&s->program_walk);
    }
    gm_index_deinit(&s->walk_index, &s->mem);
    gm_index_deinit(&s->thread_index, &s->mem);
    gm_index_deinit(&s->top_index, &s->mem);
    gm_index_deinit(&s->closed_index, &s->mem);
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
        status = gm_moment_copy(&t->mem, &t->now, &s->now, err);
    }
    for (uint32_t k = 0; status == GM_OK && k < s->count; k++) {
        status = gm_moment_copy(&t->mem, &t->history[k], past(s, k), err);
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

/* -- commits --------------------------------------------------------------------------------------------- */

enum { /* see gm.h */
    COMMIT_OK, COMMIT_TERMINATED, COMMIT_REJECTED, COMMIT_UNKNOWN, COMMIT_FAILED, COMMIT_FAILED_END, COMMIT_BUSY, COMMIT_LIMIT
};

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
    GM_TRY(gm_moment_copy(&s->mem, past(s, s->count), &s->now, err));
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

/* Back to before the commit. What it has left of stacks goes too, if there is room to copy the others. */
static int fail_limit(GmState *s)
{
    recall(s);
    (void)compact(s, NULL);
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
    if (gm_state_read_token(s, id, bytes, n, err) != GM_OK) {
        return fail_limit(s);
    }
    if (gm_state_is_dead(s)) {
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
    for (uint64_t i = 0; i < n && !gm_state_is_dead(s); i++) {
        /* Long texts in one call must not keep the stacks of every byte. */
        if (gm_stack_wants_compaction(&s->stack) && compact(s, err) != GM_OK) {
            return fail_limit(s);
        }
        if (gm_state_read_byte(s, data[i], err) != GM_OK) {
            return fail_limit(s);
        }
    }
    if (gm_state_is_dead(s)) {
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
