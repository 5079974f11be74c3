/* gm_mask: the mask of a state: every reading's summary, then down its stacks while something remains.
 * Pairs (view, set of frames) are visited once, or frames that many readings share would be walked for each;
 * completed frames are skipped all at once by the `pops` of the set. */
#include "gm_pstate.h"

#include <stdlib.h>
#include <string.h>

enum { WALK_SHORT = 16 }; /* pairs that are searched in order */

GmStatus gm_mask_push(GmState *s, uint32_t view, uint32_t set, GmError *err)
{
    if (view == GM_VIEW_EMPTY || set == GM_SET_BOTTOM) {
        return GM_OK;
    }
    uint64_t pair = gm_pair(view, set);
    if (s->walk.len < WALK_SHORT) {
        for (uint32_t k = 0; k < s->walk.len; k++) {
            if (s->walk.data[k] == pair) {
                return GM_OK;
            }
        }
    } else {
        if (s->walk_index.len < s->walk.len) {
            gm_index_clear(&s->walk_index);
            for (uint32_t k = 0; k < s->walk.len; k++) {
                GM_TRY(gm_index_add(&s->walk_index, &s->mem, gm_mix(s->walk.data[k]), k, err));
            }
        }
        uint64_t hash = gm_mix(pair);
        uint32_t at = (uint32_t)(hash >> 32), found;
        while ((found = gm_index_next(&s->walk_index, hash, &at)) != GM_NONE) {
            if (s->walk.data[found] == pair) {
                return GM_OK;
            }
        }
        GM_TRY(gm_index_add(&s->walk_index, &s->mem, hash, s->walk.len, err));
    }
    GM_PUSH(&s->mem, s->walk, pair);
    return GM_OK;
}

GmStatus gm_mask_take(GmState *s, const GmToks *toks, GmError *err)
{
    if (toks->n_ids > 0 || toks->n_dense > 0) {
        GM_PUSH(&s->mem, s->taken, toks);
    }
    return GM_OK;
}

/* A base read from a network state over the stacks of `set`, without completing the rule at once. */
static GmStatus read_base(GmState *s, uint32_t base, uint32_t state, uint32_t set, GmError *err)
{
    GmCore *core = &s->c->core;
    const GmSummary *summary;
    GM_TRY(gm_core_summary(core, base, gm_net_at(&core->net, state)->clamp, &summary, err));
    GM_TRY(gm_mask_take(s, &summary->toks, err));
    return gm_mask_push(s, summary->moved, set, err);
}

static GmStatus read_view(GmState *s, uint32_t view, uint32_t state, uint32_t set, GmError *err)
{
    const GmView *v = gm_view_at(&s->c->core.views, view);
    for (uint32_t i = 0; i < v->n && state != GM_NET_END; i++) {
        GM_TRY(read_base(s, v->bases[i], state, set, err));
    }
    return gm_net_final(&s->c->core.net, state) ? gm_mask_push(s, view, set, err) : GM_OK;
}

GmStatus gm_mask_whole(GmState *s, GmRe debt, uint32_t *view, GmError *err)
{
    *view = GM_VIEW_ROOT;
    if (debt == GM_RE_EMPTY) {
        return GM_OK;
    }
    GM_TRY(gm_core_clamp(&s->c->core, debt, &debt, err));
    return gm_core_whole(&s->c->core, debt, view, err);
}

static GmStatus read_thread(GmState *s, const GmThread *t, GmError *err)
{
    GmCore *core = &s->c->core;
    uint32_t view;
    GmRe re;
    GM_TRY(gm_mask_whole(s, t->debt, &view, err));
    GM_TRY(gm_core_clamp(core, t->re, &re, err));
    const GmView *v = gm_view_at(&core->views, view);
    for (uint32_t i = 0; i < v->n; i++) {
        const GmStep *step;
        GM_TRY(gm_core_step(core, v->bases[i], gm_lex(re, (t->origin & 1) != 0), &step, err));
        GM_TRY(gm_mask_take(s, &step->inside, err));
        if (step->after == GM_VIEW_EMPTY) {
            continue;
        }
        GM_TRY(read_view(s, step->after, t->to, t->set, err));
    }
    return GM_OK;
}

/* A view that is left when a frame of the set is popped. */
static GmStatus read_below(GmState *s, uint32_t view, uint32_t set, GmError *err)
{
    const GmView *v = gm_view_at(&s->c->core.views, view);
    GmPops pops;
    GM_TRY(gm_stack_pops(&s->stack, set, &pops, err));
    for (uint32_t p = 0; p < pops.n; p++) {
        const GmPop pop = s->stack.pop.data[pops.off + p];
        for (uint32_t k = 0; k < v->n; k++) {
            GM_TRY(read_base(s, v->bases[k], pop.sym, pop.set, err));
        }
    }
    return GM_OK;
}

static int compare_pairs(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

/* Several pairs that the round before has left. Those with one view are read as one pair, with the union of their
 * sets: apart, n sets with n frames below them would be n * n pairs in the next round. */
static GmStatus read_round(GmState *s, uint32_t from, uint32_t to, GmError *err)
{
    s->round.len = 0;
    GM_RESERVE(&s->mem, s->round, to - from);
    for (uint32_t i = from; i < to; i++) {
        s->round.data[s->round.len++] = s->walk.data[i];
    }
    qsort(s->round.data, s->round.len, sizeof *s->round.data, compare_pairs);
    for (uint32_t i = 0; i < s->round.len;) {
        uint32_t view = (uint32_t)(s->round.data[i] >> 32), set;
        s->slots.len = 0;
        for (; i < s->round.len && (uint32_t)(s->round.data[i] >> 32) == view; i++) {
            GM_PUSH(&s->mem, s->slots, (uint32_t)s->round.data[i]);
        }
        GM_TRY(gm_stack_union_all(&s->stack, s->slots.data, s->slots.len, &set, err));
        GM_TRY(read_below(s, view, set, err));
    }
    return GM_OK;
}

/* Remember to look at a local plan, once. */
static GmStatus exact_push(GmState *s, uint32_t local, GmError *err)
{
    uint64_t hash = gm_mix(local + 1u);
    uint32_t at = (uint32_t)(hash >> 32), found;
    while ((found = gm_index_next(&s->walk_index, hash, &at)) != GM_NONE) {
        if (s->slots.data[found] == local) {
            return GM_OK;
        }
    }
    GM_PUSH(&s->mem, s->slots, local);
    return gm_index_add(&s->walk_index, &s->mem, hash, s->slots.len - 1, err);
}

/* Exact tokens of the boundary and of the rules that it calls, each looked at once. */
static GmStatus exact_ids(GmState *s, uint32_t *words, GmError *err)
{
    GmCore *core = &s->c->core;
    GM_TRY(gm_state_close(s, err));
    s->slots.len = 0;
    gm_index_clear(&s->walk_index);
    for (uint32_t i = 0; i < s->closed.len; i++) {
        uint32_t local;
        GM_TRY(gm_core_local(core, s->closed.data[i].state, GM_PLAN_OF_EXACT, &local, err));
        GM_TRY(exact_push(s, local, err));
    }
    for (uint32_t i = 0; i < s->slots.len; i++) {
        const GmLocalPlan *plan = gm_local_at(core, s->slots.data[i]);
        for (uint32_t k = 0; k < plan->n; k++) {
            if (plan->step[k].op == GM_PLAN_PUSH) {
                GM_TRY(exact_push(s, plan->step[k].a, err));
                continue;
            }
            const GmIdSet *ids = &core->net.nfa.id_sets.data[plan->step[k].a];
            for (uint32_t j = 0; j < ids->n; j++) {
                gm_bits_set(words, ids->ids[j]);
            }
        }
    }
    return GM_OK;
}

/* Take the sets that the mask is the union of. */
static GmStatus take_all(GmState *s, GmError *err)
{
    for (uint32_t i = 0; i < s->now.tops.len; i++) {
        const GmTop *top = &s->now.tops.data[i];
        uint32_t view;
        GM_TRY(gm_mask_whole(s, top->debt, &view, err));
        GM_TRY(read_view(s, view, top->state, top->set, err));
    }
    for (uint32_t i = 0; i < s->now.threads.len; i++) {
        GM_TRY(read_thread(s, &s->now.threads.data[i], err));
    }
    for (uint32_t from = 0, to; from < s->walk.len; from = to) {
        to = s->walk.len;
        if (to == from + 1) {
            GM_TRY(read_below(s, (uint32_t)(s->walk.data[from] >> 32), (uint32_t)s->walk.data[from], err));
        } else {
            GM_TRY(read_round(s, from, to, err));
        }
    }
    return GM_OK;
}

GmStatus gm_mask_fill(GmState *s, uint32_t *words, GmError *err)
{
    const GmCore *core = &s->c->core;
    uint32_t n_words = core->trie->n_words;
    s->walk.len = 0;
    s->taken.len = 0;
    gm_index_clear(&s->walk_index);
    GM_TRY(s->c->foci != NULL ? gm_pstate_mask(s, err) : take_all(s, err));
    gm_toks_join(s->taken.data, s->taken.len, words, n_words);
    memset(words + n_words, 0, (s->c->n_words - n_words) * sizeof *words);
    return s->c->foci == NULL && core->net.has_exact ? exact_ids(s, words, err) : GM_OK;
}

/* What a network state (of a parser program: 0) is to masks. */
static uint32_t place_of(const GmState *s, uint32_t state)
{
    return s->c->foci == NULL ? gm_net_at(&s->c->core.net, state)->clamp : state;
}

static Hash128 hash_re(const GmCore *core, Hash128 h, GmRe re) { return gm_hash_join(h, gm_re_node(&core->rx, re)->hash.a); }

/* Everything the mask depends on, with clamped counts: equal keys mean equal masks. */
static GmStatus mask_key(GmState *s, Hash128 *out, GmError *err)
{
    GmCore *core = &s->c->core;
    Hash128 sum = {s->now.empty, 0};
    for (uint32_t i = 0; i < s->now.threads.len; i++) {
        const GmThread *t = &s->now.threads.data[i];
        GmRe re, debt;
        GM_TRY(gm_core_clamp(core, t->re, &re, err));
        GM_TRY(gm_core_clamp(core, t->debt, &debt, err));
        uint64_t place = gm_pair(place_of(s, t->to), t->origin & 1);
        Hash128 h = hash_re(core, hash_re(core, (Hash128){place, 1}, re), debt);
        sum = gm_hash_sum(sum, gm_hash_join2(h, s->stack.sets.data[t->set].hash));
    }
    for (uint32_t i = 0; i < s->now.tops.len; i++) {
        const GmTop *t = &s->now.tops.data[i];
        GmRe debt;
        GM_TRY(gm_core_clamp(core, t->debt, &debt, err));
        Hash128 h = hash_re(core, (Hash128){place_of(s, t->state), 2}, debt);
        sum = gm_hash_sum(sum, gm_hash_join2(h, s->stack.sets.data[t->set].hash));
    }
    *out = gm_hash_join(sum, 0);
    return GM_OK;
}

static GmStatus state_mask(GmState *s, uint32_t *words, uint64_t n_words, GmError *err)
{
    GmConstraint *c = s->c;
    if (n_words < c->n_words) {
        return gm_fail(err, GM_ARG, "the mask needs %llu words, the buffer has %llu", (unsigned long long)c->n_words,
                       (unsigned long long)n_words);
    }
    if (n_words > c->n_words) {
        memset(words + c->n_words, 0, (n_words - c->n_words) * sizeof *words);
    }
    if (s->now.rejected || s->now.terminated) {
        memset(words, 0, c->n_words * sizeof *words);
        return GM_OK;
    }
    Hash128 key;
    GM_TRY(mask_key(s, &key, err));
    if (gm_maskcache_get(&c->masks, key, words)) {
        return GM_OK;
    }
    GM_TRY(gm_mask_fill(s, words, err));
    for (uint32_t i = 0; i < c->n_end_tokens; i++) {
        gm_bits_clear(words, c->end_tokens[i]);
    }
    if (c->n_end_tokens > 0) {
        GM_TRY(gm_state_close(s, err));
        for (uint32_t i = 0; s->accepting && i < c->n_end_tokens; i++) {
            gm_bits_set(words, c->end_tokens[i]);
        }
    }
    gm_maskcache_put(&c->masks, key, words);
    return GM_OK;
}

int gm_state_mask(GmState *s, uint32_t *words, uint64_t n_words, GmError *err)
{
    if (atomic_flag_test_and_set_explicit(&s->busy, memory_order_acquire)) {
        (void)gm_fail(err, GM_ARG, "another thread is using this state");
        return -1;
    }
    GmStatus status = state_mask(s, words, n_words, err);
    atomic_flag_clear_explicit(&s->busy, memory_order_release);
    return status == GM_OK ? 0 : -1;
}

int gm_states_mask(GmState **states, uint32_t n, uint32_t *words, uint64_t n_words, GmError *err)
{
    for (uint32_t i = 0; i < n; i++) {
        if (gm_state_mask(states[i], words + (size_t)i * n_words, n_words, err) != 0) {
            return -1;
        }
    }
    return 0;
}
