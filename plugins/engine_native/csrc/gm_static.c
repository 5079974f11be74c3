#include "gm_static.h"

#include <string.h>

enum { PHASE_NETWORK, PHASE_OWNERS, PHASE_SEEDS, PHASE_TABLES };

void gm_fill_init(GmFill *fill, GmCore *core, const GmFillLimits *limits)
{
    memset(fill, 0, sizeof *fill);
    fill->core = core;
    fill->seen_states.alone = fill->term_of.alone = fill->seen_owned.alone = fill->seen_lexers.alone = true;
    fill->seen_steps.alone = fill->seen_debts.alone = fill->seen_pairs.alone = true;
    fill->mem = &core->mem;
    fill->limits = *limits;
    fill->walked_before = core->views.walked;
    fill->bytes_before = core->mem.used;
    fill->began = core->mem.deadline > 0 ? core->mem.deadline - core->mem.seconds : gm_seconds(); /* of the compile */
}

void gm_fill_deinit(GmFill *fill)
{
    GmMem *mem = fill->mem;
    GM_VEC_FREE(mem, fill->states);
    GM_VEC_FREE(mem, fill->terms);
    GM_VEC_FREE(mem, fill->places);
    GM_VEC_FREE(mem, fill->calls);
    GM_VEC_FREE(mem, fill->owned);
    GM_VEC_FREE(mem, fill->owners);
    GM_VEC_FREE(mem, fill->returns);
    GM_VEC_FREE(mem, fill->tails);
    GM_VEC_FREE(mem, fill->links);
    GM_VEC_FREE(mem, fill->below);
    GM_VEC_FREE(mem, fill->below_off);
    GM_VEC_FREE(mem, fill->below_list);
    GM_VEC_FREE(mem, fill->lexers);
    GM_VEC_FREE(mem, fill->term_lexers);
    GM_VEC_FREE(mem, fill->debts);
    GM_VEC_FREE(mem, fill->pairs);
    GM_VEC_FREE(mem, fill->todo);
    gm_map_deinit(&fill->seen_states, mem);
    gm_map_deinit(&fill->term_of, mem);
    gm_map_deinit(&fill->seen_owned, mem);
    gm_map_deinit(&fill->seen_lexers, mem);
    gm_map_deinit(&fill->seen_steps, mem);
    gm_map_deinit(&fill->seen_debts, mem);
    gm_map_deinit(&fill->seen_pairs, mem);
}

/* True when the key is new. */
static GmStatus first_time(GmFill *fill, GmMap *seen, uint64_t key, bool *fresh, GmError *err)
{
    *fresh = gm_map_get(seen, key) == GM_NONE;
    return *fresh ? gm_map_put(seen, fill->mem, key, 0, err) : GM_OK;
}

/* -- the network --------------------------------------------------------------------------------------- */

static GmStatus push_state(GmFill *fill, uint32_t state, GmError *err)
{
    GmNet *net = &fill->core->net;
    bool fresh;
    for (;;) { /* the clamped form, then on along the count */
        uint32_t clamped = gm_net_at(net, state)->clamp, next;
        GM_TRY(first_time(fill, &fill->seen_states, clamped, &fresh, err));
        if (fresh) {
            GM_PUSH(fill->mem, fill->states, clamped);
        }
        GM_TRY(gm_net_skip(net, state, &next, err));
        if (next == state) {
            return GM_OK;
        }
        state = next;
    }
}

static GmStatus add_place(GmFill *fill, GmLex lex, uint32_t from, uint32_t to, GmError *err)
{
    uint32_t term = gm_map_get(&fill->term_of, lex);
    if (term == GM_NONE) {
        term = fill->terms.len;
        GM_PUSH(fill->mem, fill->terms, ((GmFillTerm){lex, 0}));
        GM_PUSH(fill->mem, fill->term_lexers, 0u);
        GM_TRY(gm_map_put(&fill->term_of, fill->mem, lex, term, err));
    }
    GM_PUSH(fill->mem, fill->places, ((GmFillPlace){from, to, fill->terms.data[term].places}));
    fill->terms.data[term].places = fill->places.len;
    return GM_OK;
}

static GmStatus network_unit(GmFill *fill, GmError *err)
{
    GmNet *net = &fill->core->net;
    uint32_t state = fill->states.data[fill->next_state++];
    if (fill->limits.lexers != 0 && gm_net_at(net, state)->kind == GM_NET_ORDER) {
        fill->gave_up = true; /* as many states as sets of items: only where they are asked for */
        return GM_OK;
    }
    const GmNetEdges *edges;
    GM_TRY(gm_net_edges(net, state, &edges, err));
    for (uint32_t i = 0; i < edges->n; i++) {
        const GmNetEdge *e = &edges->e[i];
        uint32_t to = gm_net_at(net, e->to)->clamp;
        if (e->kind == GM_EDGE_TERM) {
            GM_TRY(add_place(fill, e->sym, state, to, err));
        } else if (e->kind == GM_EDGE_CALL) {
            uint32_t start = gm_net_at(net, e->sym)->clamp;
            GM_PUSH(fill->mem, fill->calls, gm_pair(start, to));
            GM_PUSH(fill->mem, fill->calls, gm_pair(start, state));
            GM_TRY(push_state(fill, e->sym, err));
        }
        GM_TRY(push_state(fill, e->to, err));
    }
    return GM_OK;
}

/* -- what can lie below ---------------------------------------------------------------------------------- */

static GmStatus push_owned(GmFill *fill, uint32_t state, uint32_t start, GmError *err)
{
    bool fresh;
    if (state == GM_NET_END) {
        return GM_OK;
    }
    if (state >= fill->owners.len) { /* made by somebody else after the network was gone through */
        fill->gave_up = true;
        return GM_OK;
    }
    GM_TRY(first_time(fill, &fill->seen_owned, gm_pair(state, start), &fresh, err));
    if (fresh) {
        GM_PUSH(fill->mem, fill->owned, gm_pair(state, start));
    }
    return GM_OK;
}

static GmStatus add_link(GmFill *fill, uint32_t *head, uint32_t value, GmError *err)
{
    GM_PUSH(fill->mem, fill->links, ((GmFillLink){value, *head}));
    *head = fill->links.len;
    return GM_OK;
}

#define ZEROED(fill, vec, n)                                     \
    do {                                                         \
        GM_RESERVE((fill)->mem, vec, (n));                       \
        memset((vec).data, 0, (size_t)(n) * sizeof *(vec).data); \
        (vec).len = (n);                                         \
    } while (0)

static GmStatus begin_owners(GmFill *fill, GmError *err)
{
    uint32_t n = fill->core->net.states.len;
    ZEROED(fill, fill->owners, n);
    ZEROED(fill, fill->returns, n);
    ZEROED(fill, fill->tails, n);
    ZEROED(fill, fill->below, n);
    GM_TRY(push_owned(fill, fill->core->net.root, fill->core->net.root, err));
    for (uint32_t i = 0; i < fill->calls.len; i += 2) {
        uint32_t start = (uint32_t)(fill->calls.data[i] >> 32), to = (uint32_t)fill->calls.data[i];
        GM_TRY(push_owned(fill, start, start, err));
        if (to != GM_NET_END) {
            GM_TRY(add_link(fill, &fill->returns.data[start], to, err));
        }
    }
    return GM_OK;
}

static GmStatus owners_unit(GmFill *fill, GmError *err)
{
    GmNet *net = &fill->core->net;
    uint64_t fact = fill->owned.data[fill->next_owned++];
    uint32_t state = (uint32_t)(fact >> 32), start = (uint32_t)fact;
    GM_TRY(add_link(fill, &fill->owners.data[state], start, err));
    const GmNetEdges *edges = gm_net_find(net, state);
    for (uint32_t i = 0; edges != NULL && i < edges->n; i++) {
        GM_TRY(push_owned(fill, gm_net_at(net, edges->e[i].to)->clamp, start, err));
    }
    return GM_OK;
}

/* Calls in tail position return to where their caller's rule returns. */
static GmStatus end_owners(GmFill *fill, GmError *err)
{
    for (uint32_t i = 0; i < fill->calls.len; i += 2) {
        uint32_t start = (uint32_t)(fill->calls.data[i] >> 32), caller = (uint32_t)fill->calls.data[i + 1];
        if ((uint32_t)fill->calls.data[i] == GM_NET_END) {
            for (uint32_t k = fill->owners.data[caller]; k != 0; k = fill->links.data[k - 1].next) {
                GM_TRY(add_link(fill, &fill->tails.data[start], fill->links.data[k - 1].value, err));
            }
        }
    }
    return GM_OK;
}

/* Return states that can be next below a frame of the rule of `start`, popped frames skipped: made once. */
static GmStatus below_of(GmFill *fill, uint32_t start, uint32_t *index, GmError *err)
{
    const GmNet *net = &fill->core->net;
    if (fill->below.data[start] != 0) {
        *index = fill->below.data[start] - 1;
        return GM_OK;
    }
    GmMap starts, states;
    gm_map_init(&starts);
    gm_map_init(&states);
    uint32_t first = fill->below_list.len;
    fill->todo.len = 0;
    GmStatus status = gm_vec_reserve(fill->mem, (void **)&fill->todo.data, &fill->todo.cap, 1, sizeof(uint32_t), err);
    if (status == GM_OK) {
        fill->todo.data[fill->todo.len++] = start;
        status = gm_map_put(&starts, fill->mem, start, 0, err);
    }
    while (status == GM_OK && fill->todo.len > 0) {
        uint32_t at = fill->todo.data[--fill->todo.len];
        /* Starts to go on with: those that tail calls share, and the owners of final return states. */
        for (uint32_t k = fill->returns.data[at]; status == GM_OK && k != 0; k = fill->links.data[k - 1].next) {
            uint32_t r = fill->links.data[k - 1].value;
            if (gm_map_get(&states, r) != GM_NONE) {
                continue;
            }
            status = gm_map_put(&states, fill->mem, r, 0, err);
            if (status == GM_OK) {
                status = gm_vec_reserve(fill->mem, (void **)&fill->below_list.data, &fill->below_list.cap,
                                        fill->below_list.len + 1u, sizeof(uint32_t), err);
            }
            if (status == GM_OK) {
                fill->below_list.data[fill->below_list.len++] = r;
            }
            for (uint32_t o = gm_net_final(net, r) ? fill->owners.data[r] : 0; status == GM_OK && o != 0;
                 o = fill->links.data[o - 1].next) {
                uint32_t owner = fill->links.data[o - 1].value;
                if (gm_map_get(&starts, owner) == GM_NONE) {
                    status = gm_map_put(&starts, fill->mem, owner, 0, err);
                    if (status == GM_OK) {
                        status = gm_vec_reserve(fill->mem, (void **)&fill->todo.data, &fill->todo.cap, fill->todo.len + 1u,
                                                sizeof(uint32_t), err);
                    }
                    if (status == GM_OK) {
                        fill->todo.data[fill->todo.len++] = owner;
                    }
                }
            }
        }
        for (uint32_t k = fill->tails.data[at]; status == GM_OK && k != 0; k = fill->links.data[k - 1].next) {
            uint32_t owner = fill->links.data[k - 1].value;
            if (gm_map_get(&starts, owner) == GM_NONE) {
                status = gm_map_put(&starts, fill->mem, owner, 0, err);
                if (status == GM_OK) {
                    status = gm_vec_reserve(fill->mem, (void **)&fill->todo.data, &fill->todo.cap, fill->todo.len + 1u,
                                            sizeof(uint32_t), err);
                }
                if (status == GM_OK) {
                    fill->todo.data[fill->todo.len++] = owner;
                }
            }
        }
    }
    gm_map_deinit(&starts, fill->mem);
    gm_map_deinit(&states, fill->mem);
    GM_TRY(status);
    GM_PUSH(fill->mem, fill->below_off, first);
    GM_PUSH(fill->mem, fill->below_off, fill->below_list.len);
    *index = fill->below_off.len - 2;
    fill->below.data[start] = *index + 1;
    return GM_OK;
}

/* -- tables ---------------------------------------------------------------------------------------------- */

static GmStatus push_pairs(GmFill *fill, uint32_t view, uint32_t state, GmError *err)
{
    const GmView *v = gm_view_at(&fill->core->views, view);
    for (uint32_t i = 0; i < v->n; i++) {
        bool fresh;
        uint64_t pair = gm_pair(v->bases[i], state);
        GM_TRY(first_time(fill, &fill->seen_pairs, pair, &fresh, err));
        if (fresh) {
            GM_PUSH(fill->mem, fill->pairs, pair);
        }
    }
    return GM_OK;
}

/* A view that has popped a frame of the rule around `state`. */
static GmStatus push_below(GmFill *fill, uint32_t view, uint32_t state, GmError *err)
{
    if (view == GM_VIEW_EMPTY || state == GM_NET_END || state >= fill->owners.len) {
        return GM_OK;
    }
    for (uint32_t k = fill->owners.data[state]; k != 0; k = fill->links.data[k - 1].next) {
        uint32_t index;
        GM_TRY(below_of(fill, fill->links.data[k - 1].value, &index, err));
        for (uint32_t i = fill->below_off.data[index]; i < fill->below_off.data[index + 1]; i++) {
            GM_TRY(push_pairs(fill, view, fill->below_list.data[i], err));
        }
    }
    return GM_OK;
}

/* A view left after the terminal, wherever it occurs. */
static GmStatus push_after(GmFill *fill, uint32_t view, uint32_t term, GmError *err)
{
    for (uint32_t p = fill->terms.data[term].places; view != GM_VIEW_EMPTY && p != 0; p = fill->places.data[p - 1].next) {
        const GmFillPlace place = fill->places.data[p - 1];
        if (place.to != GM_NET_END) {
            GM_TRY(push_pairs(fill, view, place.to, err));
        }
        if (gm_net_final(&fill->core->net, place.to)) {
            GM_TRY(push_below(fill, view, place.from, err));
        }
    }
    return GM_OK;
}

static GmStatus pair_unit(GmFill *fill, GmError *err)
{
    uint64_t pair = fill->pairs.data[fill->next_pair++];
    uint32_t state = (uint32_t)pair, id;
    GM_TRY(gm_summary_make(fill->core, (uint32_t)(pair >> 32), state, &id, err));
    const GmSummary *summary = gm_pool_at(&fill->core->summaries, id);
    return push_below(fill, summary->moved, state, err);
}

static GmStatus push_lexer(GmFill *fill, GmRe re, GmRe debt, uint32_t term, bool start, GmError *err)
{
    bool fresh;
    uint64_t key = gm_mix(gm_pair(re, debt) + 1) ^ gm_mix(gm_pair(term, start) + 77); /* a clash only loses a seed */
    GM_TRY(first_time(fill, &fill->seen_lexers, key >> 1, &fresh, err));
    if (!fresh) {
        return GM_OK;
    }
    if (fill->limits.lexers != 0 && fill->term_lexers.data[term]++ >= fill->limits.lexers) {
        fill->gave_up = true;
        return GM_OK;
    }
    GM_PUSH(fill->mem, fill->lexers, ((GmFillLexer){re, debt, term, start}));
    return GM_OK;
}

static GmStatus push_debt(GmFill *fill, GmRe debt, uint32_t term, GmError *err)
{
    bool fresh;
    if (debt == GM_RE_EMPTY) {
        return GM_OK;
    }
    GM_TRY(first_time(fill, &fill->seen_debts, gm_pair(debt, term), &fresh, err));
    if (fresh) {
        GM_PUSH(fill->mem, fill->debts, ((GmFillDebt){debt, term}));
    }
    return GM_OK;
}

static GmStatus whole_clamped(GmFill *fill, GmRe debt, uint32_t *view, GmError *err)
{
    GM_TRY(gm_re_clamp(&fill->core->rx, debt, &debt, err));
    return gm_view_whole(&fill->core->views, debt, view, err);
}

/* The steps of a terminal in progress, under what is owed. */
static GmStatus lexer_steps(GmFill *fill, const GmFillLexer *x, GmError *err)
{
    GmCore *core = fill->core;
    uint32_t view;
    bool fresh;
    GmRe re;
    GM_TRY(gm_re_clamp(&core->rx, x->re, &re, err));
    GM_TRY(whole_clamped(fill, x->debt, &view, err));
    GM_TRY(first_time(fill, &fill->seen_steps, gm_mix(gm_pair(re, view)) ^ x->term, &fresh, err));
    const GmView *v = gm_view_at(&core->views, view);
    for (uint32_t i = 0; fresh && i < v->n; i++) {
        uint32_t step;
        GM_TRY(gm_view_step(&core->views, v->bases[i], gm_lex(re, fill->terms.data[x->term].lex & 1), &step, err));
        GM_TRY(push_after(fill, gm_step_at(&core->views, step)->after, x->term, err));
    }
    return GM_OK;
}

static GmStatus lexer_unit(GmFill *fill, GmError *err)
{
    GmRegex *rx = &fill->core->rx;
    GmFillLexer x = fill->lexers.data[fill->next_lexer++];
    bool exempt = (fill->terms.data[x.term].lex & 1) != 0;
    uint8_t bytes[256];
    uint32_t entries[256], n;
    if (!x.start) {
        GM_TRY(lexer_steps(fill, &x, err));
    }
    /* With a debt, bytes that it tells apart count as well: then every byte is tried. */
    GM_TRY(gm_re_branches(rx, x.re, bytes, entries, &n, err));
    if (x.debt != GM_RE_EMPTY) {
        n = 0;
        for (uint32_t b = 0; b < 256; b++) {
            GM_TRY(gm_re_deriv(rx, x.re, (uint8_t)b, &entries[n], err));
            bytes[n] = (uint8_t)b;
            n += entries[n] != 0;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        GmRe re = GM_RE_ID(entries[i]), debt = x.debt, owed;
        if (debt != GM_RE_EMPTY) {
            uint32_t entry;
            GM_TRY(gm_re_deriv(rx, debt, bytes[i], &entry, err));
            if ((entry & GM_RE_NULLABLE) != 0) {
                continue;
            }
            debt = GM_RE_ID(entry);
        }
        if (re != GM_RE_EPS) {
            GM_TRY(push_lexer(fill, re, debt, x.term, false, err));
        }
        if ((entries[i] & GM_RE_NULLABLE) != 0) {
            owed = exempt || re == GM_RE_EPS ? GM_RE_EMPTY : re;
            GM_TRY(gm_re_alt2(rx, debt, owed, &owed, err));
            GM_TRY(push_debt(fill, owed, x.term, err));
        }
    }
    return GM_OK;
}

/* A boundary under a debt, and the terminals that can start while it lasts. */
static GmStatus debt_unit(GmFill *fill, GmError *err)
{
    GmRegex *rx = &fill->core->rx;
    GmFillDebt d = fill->debts.data[fill->next_debt++];
    uint32_t view;
    GM_TRY(whole_clamped(fill, d.debt, &view, err));
    GM_TRY(push_after(fill, view, d.term, err));
    uint8_t bytes[256];
    uint32_t entries[256], n;
    GM_TRY(gm_re_branches(rx, d.debt, bytes, entries, &n, err));
    bool lasts = false;
    for (uint32_t i = 0; i < n; i++) {
        lasts = lasts || (entries[i] & GM_RE_NULLABLE) == 0;
    }
    for (uint32_t t = 0; lasts && t < fill->terms.len; t++) {
        GM_TRY(push_lexer(fill, fill->terms.data[t].lex >> 1, d.debt, t, true, err));
    }
    return GM_OK;
}

/* -- units ------------------------------------------------------------------------------------------------- */

static GmStatus check_limits(GmFill *fill, GmError *err)
{
    const GmCore *core = fill->core;
    if (fill->limits.seconds > 0 && fill->units++ % 64 == 0 && gm_seconds() - fill->began > fill->limits.seconds) {
        return gm_fail_limit(err, "build_seconds", "closing the tables takes more than %g seconds (limit \"build_seconds\"); "
                             "use another optimization", fill->limits.seconds);
    }
    if (core->views.walked - fill->walked_before > fill->limits.work) {
        return gm_fail_limit(err, "static_work", "closing the tables walks more than %llu trie nodes (limit \"static_work\"); "
                             "use another optimization", (unsigned long long)fill->limits.work);
    }
    if (core->mem.used > fill->bytes_before && core->mem.used - fill->bytes_before > fill->limits.bytes) {
        return gm_fail_limit(err, "static_bytes", "the closed tables take more than %llu bytes (limit \"static_bytes\"); "
                             "use another optimization", (unsigned long long)fill->limits.bytes);
    }
    uint64_t count = (uint64_t)fill->pairs.len + fill->lexers.len + fill->owned.len + fill->states.len;
    if (count > fill->limits.pairs) {
        return gm_fail_limit(err, "static_pairs", "closing the tables needs more than %u pairs, lexer and network states "
                             "(limit \"static_pairs\"; so far %u, %u and %u); use another optimization",
                             fill->limits.pairs, fill->pairs.len, fill->lexers.len, fill->states.len);
    }
    return GM_OK;
}

static GmStatus seeds_unit(GmFill *fill, GmError *err)
{
    uint32_t i = fill->next_seed++;
    if (i < fill->states.len) {
        return push_pairs(fill, GM_VIEW_ROOT, fill->states.data[i], err);
    }
    uint32_t t = i - fill->states.len;
    return push_lexer(fill, fill->terms.data[t].lex >> 1, GM_RE_EMPTY, t, true, err);
}

GmStatus gm_fill_unit(GmFill *fill, bool *done, GmError *err)
{
    *done = false;
    GM_TRY(check_limits(fill, err));
    switch (fill->phase) {
    case PHASE_NETWORK:
        if (fill->states.len == 0) {
            if (fill->core->net.root == GM_NONE) {
                *done = true;
                return GM_OK;
            }
            GM_TRY(push_state(fill, fill->core->net.root, err));
        }
        if (fill->next_state < fill->states.len) {
            return network_unit(fill, err);
        }
        fill->phase = PHASE_OWNERS;
        return begin_owners(fill, err);
    case PHASE_OWNERS:
        if (fill->next_owned < fill->owned.len) {
            return owners_unit(fill, err);
        }
        fill->phase = PHASE_SEEDS;
        return end_owners(fill, err);
    case PHASE_SEEDS:
        if (fill->next_seed < fill->states.len + fill->terms.len) {
            return seeds_unit(fill, err);
        }
        fill->phase = PHASE_TABLES;
        return GM_OK;
    default:
        if (fill->next_pair < fill->pairs.len) {
            return pair_unit(fill, err);
        }
        if (fill->next_lexer < fill->lexers.len) {
            return lexer_unit(fill, err);
        }
        if (fill->next_debt < fill->debts.len) {
            return debt_unit(fill, err);
        }
        *done = true;
        return GM_OK;
    }
}

static GmStatus fill_until(GmCore *core, const GmFillLimits *limits, uint32_t phase, bool keep, GmError *err)
{
    GmFill fill;
    bool done = false;
    GmStatus status = GM_OK;
    uint32_t states = 0;
    gm_core_lock(core);
    gm_fill_init(&fill, core, limits);
    core->views.closing = keep;
    while (status == GM_OK && !done && fill.phase < phase) {
        status = gm_fill_unit(&fill, &done, err);
        states = fill.phase <= PHASE_OWNERS ? core->net.states.len : states;
    }
    core->views.closing = false;
    if (keep && status == GM_OK && core->trie->longest < UINT16_MAX - 1) {
        core->closed = (GmClosed){true, core->views.steps.len, core->summaries.len, core->views.wholes.len, states};
    }
    gm_fill_deinit(&fill);
    gm_core_unlock(core);
    return status;
}

GmStatus gm_static_close(GmCore *core, const GmFillLimits *limits, bool keep, GmError *err)
{
    return fill_until(core, limits, PHASE_TABLES + 1, keep, err);
}

GmStatus gm_static_network(GmCore *core, const GmFillLimits *limits, GmError *err)
{
    return fill_until(core, limits, PHASE_OWNERS, false, err);
}
