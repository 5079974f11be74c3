/* Reading: from what the text so far can become (GmMoment) to what it can become with one byte or token more.
 * Threads step their derivative; the boundary, closed under pops, starts terminals by the plans of gm_core. What
 * results is gathered in next_threads and next_tops, without doubles, and swapped in. A reading that fails
 * half-way leaves the moment half-read: commits (gm_state.c) go back to the moment before. */
#include "gm_pstate.h"

enum { SEARCHED = 16 }; /* readings that are searched in order; more are found by their hash */

/* -- boundaries ---------------------------------------------------------------------------------------- */

static inline uint32_t search_tops(const GmTop *list, uint32_t n, uint32_t state, GmRe debt)
{
    uint32_t at = 0;
    while (at < n && (list[at].state != state || list[at].debt != debt)) {
        at++;
    }
    return at;
}

/* In a long list: a top found through an index that follows the list, or GM_NONE. */
static GmStatus find_top(GmState *s, const GmTop *list, uint32_t n, GmIndex *index, uint32_t state, GmRe debt,
                         uint32_t *out, GmError *err)
{
    for (uint32_t k = index->len; k < n; k++) {
        GM_TRY(gm_index_add(index, &s->mem, gm_mix(gm_pair(list[k].state, list[k].debt)), k, err));
    }
    uint64_t hash = gm_mix(gm_pair(state, debt));
    uint32_t at = (uint32_t)(hash >> 32);
    while ((*out = gm_index_next(index, hash, &at)) != GM_NONE && search_tops(&list[*out], 1, state, debt) > 0) {
        s->stack.work++;
    }
    return GM_OK;
}

/* The first n may be the same reading; what follows them is known to be different. */
static GmStatus add_closed(GmState *s, uint32_t n, uint32_t state, GmRe debt, uint32_t set, GmError *err)
{
    uint32_t found;
    GmTop *list = s->closed.data;
    if (n > SEARCHED) {
        GM_TRY(find_top(s, list, n, &s->closed_index, state, debt, &found, err));
    } else {
        found = search_tops(list, n, state, debt);
        s->stack.work += found;
    }
    if (found < n) {
        return gm_stack_union(&s->stack, list[found].set, set, &list[found].set, err);
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
    if (s->closed_index.len > 0) {
        gm_index_clear(&s->closed_index);
    }
    s->accepting = s->now.empty;
    if (s->c->foci != NULL) { /* what pops is for the templates to say */
        GM_TRY(gm_pstate_accepting(s, &s->accepting, err));
        s->closed_valid = true;
        return GM_OK;
    }
    for (uint32_t i = 0; i < s->now.tops.len; i++) {
        GmTop top = s->now.tops.data[i];
        GM_TRY(add_closed(s, s->closed.len, top.state, top.debt, top.set, err));
        if (!gm_net_final(net, top.state)) {
            continue;
        }
        GmPops pops;
        GM_TRY(gm_stack_pops(&s->stack, top.set, &pops, err));
        s->accepting = s->accepting || pops.accepting;
        uint32_t others = s->closed.len; /* the states of one record are distinct */
        for (uint32_t p = 0; p < pops.n; p++) {
            GmPop pop = s->stack.pop.data[pops.off + p];
            GM_TRY(add_closed(s, others, pop.sym, top.debt, pop.set, err));
        }
    }
    s->closed_valid = true;
    return GM_OK;
}

/* -- one byte ------------------------------------------------------------------------------------------ */

static void begin_next(GmState *s)
{
    s->next_threads.len = s->next_tops.len = 0;
    if (s->thread_index.len > 0 || s->top_index.len > 0) {
        gm_index_clear(&s->thread_index);
        gm_index_clear(&s->top_index);
    }
}

/* Threads of one family differ only in debts and stacks. */
static uint64_t family_hash(const GmThread *t) { return gm_mix(gm_pair(t->re, t->to) ^ (uint64_t)(t->origin & 1) << 63); }
static bool same_family(const GmThread *t, const GmThread *u)
{
    return t->re == u->re && t->to == u->to && (t->origin & 1) == (u->origin & 1);
}

/* In a long list: the thread that agrees in all but the stacks, or GM_NONE. */
static GmStatus find_thread(GmState *s, const GmThread *t, uint32_t *out, GmError *err)
{
    const GmThread *list = s->next_threads.data;
    GmIndex *index = &s->thread_index;
    for (uint32_t k = index->len; k < s->next_threads.len; k++) {
        GM_TRY(gm_index_add(index, &s->mem, gm_mix(family_hash(&list[k]) + list[k].debt), k, err));
    }
    uint64_t hash = gm_mix(family_hash(t) + t->debt);
    uint32_t at = (uint32_t)(hash >> 32);
    while ((*out = gm_index_next(index, hash, &at)) != GM_NONE &&
           (!same_family(&list[*out], t) || list[*out].debt != t->debt)) {
        s->stack.work++;
    }
    return GM_OK;
}

static GmStatus add_thread(GmState *s, GmThread t, GmError *err)
{
    uint32_t n = s->next_threads.len, found = 0;
    GmThread *list = s->next_threads.data;
    if (n > SEARCHED) {
        GM_TRY(find_thread(s, &t, &found, err));
    } else {
        while (found < n && (list[found].debt != t.debt || !same_family(&list[found], &t))) {
            found++;
        }
        s->stack.work += found;
    }
    if (found < n) {
        return gm_stack_union(&s->stack, list[found].set, t.set, &list[found].set, err);
    }
    GM_PUSH(&s->mem, s->next_threads, t);
    return GM_OK;
}

GmStatus gm_state_add_top(GmState *s, GmTop t, GmError *err)
{
    uint32_t n = s->next_tops.len, found;
    GmTop *list = s->next_tops.data;
    if (n > SEARCHED) {
        GM_TRY(find_top(s, list, n, &s->top_index, t.state, t.debt, &found, err));
    } else {
        found = search_tops(list, n, t.state, t.debt);
        s->stack.work += found;
    }
    if (found < n) {
        return gm_stack_union(&s->stack, list[found].set, t.set, &list[found].set, err);
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

/* Take off thread i the stacks on which thread j, with the same future, owes less. */
static GmStatus drop_covered(GmState *s, uint32_t i, uint32_t j, GmError *err)
{
    GmThread *t = &s->next_threads.data[i];
    const GmThread *u = &s->next_threads.data[j];
    if (i == j || !same_family(t, u) || t->debt == u->debt || !gm_re_covers(&s->c->core.rx, t->debt, u->debt)) {
        return GM_OK;
    }
    GM_TRY(gm_stack_minus(&s->stack, t->set, u->set, &t->set, err));
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
    if (!owing) {
        return GM_OK;
    }
    if (n > SEARCHED) {
        gm_index_clear(&s->thread_index);
        for (uint32_t i = 0; i < n; i++) {
            GM_TRY(gm_index_add(&s->thread_index, &s->mem, family_hash(&s->next_threads.data[i]), i, err));
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (s->next_threads.data[i].debt == GM_RE_EMPTY) {
            continue;
        }
        for (uint32_t j = 0; n <= SEARCHED && j < n; j++) {
            GM_TRY(drop_covered(s, i, j, err));
        }
        uint64_t hash = family_hash(&s->next_threads.data[i]);
        uint32_t at = (uint32_t)(hash >> 32), j;
        while (n > SEARCHED && (j = gm_index_next(&s->thread_index, hash, &at)) != GM_NONE) {
            s->stack.work++;
            GM_TRY(drop_covered(s, i, j, err));
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (s->next_threads.data[i].set != GM_SET_EMPTY) {
            s->next_threads.data[kept++] = s->next_threads.data[i];
        }
    }
    s->next_threads.len = kept;
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

GmStatus gm_state_read_byte(GmState *s, uint8_t byte, GmError *err)
{
    GmCore *core = &s->c->core;
    bool violated;
    if (s->c->foci == NULL) {
        GM_TRY(gm_state_close(s, err));
    }
    begin_next(s);
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
    } else {
        GM_TRY(gm_state_start(s, byte, 0, err));
    }
    GM_TRY(drop_supersets(s, err));
    take_next(s);
    return GM_OK;
}

/* -- one token ------------------------------------------------------------------------------------------- */

static GmStatus read_bytes(GmState *s, const uint8_t *data, uint64_t n, GmError *err)
{
    for (uint64_t i = 0; i < n && !gm_state_is_dead(s); i++) {
        GM_TRY(gm_state_read_byte(s, data[i], err));
    }
    return GM_OK;
}

/* The exact reading starts from the boundary without debts and ends every terminal in progress. */
GmStatus gm_state_read_token(GmState *s, uint32_t id, const uint8_t *bytes, uint64_t n, GmError *err)
{
    s->exact.len = 0;
    if (s->c->core.net.has_exact) {
        GM_TRY(gm_state_close(s, err));
        begin_next(s);
        GM_TRY(gm_state_start(s, GM_PLAN_OF_EXACT, id, err));
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
        begin_next(s);
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
