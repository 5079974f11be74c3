#include "gm_fstatic.h"

#include <string.h>

typedef struct Lexer { /* a terminal in progress, with what is owed */
    GmRe re, debt;
    uint32_t terminal;
    bool start; /* it has read nothing yet */
} Lexer;

typedef struct Close {
    GmFoci *foci;
    GmMem *mem;
    const GmFillLimits *limits;
    uint64_t walked_before, bytes_before;
    GM_VEC(Lexer) lexers;
    GM_VEC(uint32_t) lexers_of; /* per terminal: found so far */
    GM_VEC(GmRe) debts;
    GM_VEC(uint64_t) pairs; /* (base, focus) */
    GmMap seen_lexers, seen_debts, seen_pairs, seen_claims;
    uint32_t next_lexer, next_debt, next_pair;
    uint64_t met; /* (set of waits, symbol) */
} Close;

/* True when the key is new. */
static GmStatus first_time(Close *c, GmMap *seen, uint64_t key, bool *fresh, GmError *err)
{
    *fresh = gm_map_get(seen, key) == GM_NONE;
    return *fresh ? gm_map_put(seen, c->mem, key, 0, err) : GM_OK;
}

static GmStatus push_pair(Close *c, uint32_t base, uint32_t focus, GmError *err)
{
    bool fresh;
    GM_TRY(first_time(c, &c->seen_pairs, gm_pair(base, focus), &fresh, err));
    if (fresh) {
        GM_PUSH(c->mem, c->pairs, gm_pair(base, focus));
    }
    return GM_OK;
}

static GmStatus push_view(Close *c, uint32_t view, GmError *err)
{
    const GmView *v = gm_view_at(&c->foci->core->views, view);
    for (uint32_t i = 0; i < v->n; i++) {
        GM_TRY(push_pair(c, v->bases[i], GM_FOCUS_HOLE, err));
    }
    return GM_OK;
}

static GmStatus push_lexer(Close *c, Lexer x, GmError *err)
{
    bool fresh;
    uint32_t exempt = c->foci->program.terminals[x.terminal].lex & 1;
    GM_TRY(first_time(c, &c->seen_lexers, gm_pair(gm_lex(x.re, exempt != 0), x.debt << 1 | x.start), &fresh, err));
    if (fresh && (c->limits->lexers == 0 || c->lexers_of.data[x.terminal]++ < c->limits->lexers)) {
        GM_PUSH(c->mem, c->lexers, x);
    }
    return GM_OK;
}

static GmStatus push_debt(Close *c, GmRe debt, GmError *err)
{
    bool fresh = false;
    if (debt != GM_RE_EMPTY) {
        GM_TRY(first_time(c, &c->seen_debts, debt, &fresh, err));
    }
    if (fresh) {
        GM_PUSH(c->mem, c->debts, debt);
    }
    return GM_OK;
}

static GmStatus whole_clamped(Close *c, GmRe debt, uint32_t *view, GmError *err)
{
    GmCore *core = c->foci->core;
    GM_TRY(gm_re_clamp(&core->rx, debt, &debt, err));
    return gm_view_whole(&core->views, debt, view, err);
}

/* The steps of a terminal in progress. */
static GmStatus lexer_steps(Close *c, const Lexer *x, GmError *err)
{
    GmCore *core = c->foci->core;
    bool exempt = (c->foci->program.terminals[x->terminal].lex & 1) != 0;
    uint32_t view, step;
    GmRe re;
    GM_TRY(gm_re_clamp(&core->rx, x->re, &re, err));
    GM_TRY(whole_clamped(c, x->debt, &view, err));
    const GmView *v = gm_view_at(&core->views, view);
    for (uint32_t i = 0; i < v->n; i++) {
        GM_TRY(gm_view_step(&core->views, v->bases[i], gm_lex(re, exempt), &step, err));
        GM_TRY(push_view(c, gm_step_at(&core->views, step)->after, err));
    }
    return GM_OK;
}

/* ... and where one byte leads. With a debt, bytes that it tells apart count as well: then every byte is tried. */
static GmStatus lexer_bytes(Close *c, const Lexer *x, GmError *err)
{
    GmRegex *rx = &c->foci->core->rx;
    bool exempt = (c->foci->program.terminals[x->terminal].lex & 1) != 0;
    uint8_t bytes[256];
    uint32_t entries[256], n = 256;
    if (x->debt == GM_RE_EMPTY) {
        GM_TRY(gm_re_branches(rx, x->re, bytes, entries, &n, err));
    }
    for (uint32_t i = 0; i < n; i++) {
        GmRe debt = x->debt;
        if (x->debt != GM_RE_EMPTY) {
            uint32_t owed;
            GM_TRY(gm_re_deriv(rx, x->re, (uint8_t)i, &entries[i], err));
            GM_TRY(gm_re_deriv(rx, x->debt, (uint8_t)i, &owed, err));
            if (entries[i] == 0 || (owed & GM_RE_NULLABLE) != 0) {
                continue;
            }
            debt = GM_RE_ID(owed);
        }
        GmRe re = GM_RE_ID(entries[i]);
        if (re != GM_RE_EPS) {
            GM_TRY(push_lexer(c, (Lexer){re, debt, x->terminal, false}, err));
        }
        if ((entries[i] & GM_RE_NULLABLE) != 0) {
            GmRe owed = exempt || re == GM_RE_EPS ? GM_RE_EMPTY : re;
            GM_TRY(gm_re_alt2(rx, debt, owed, &owed, err));
            GM_TRY(push_debt(c, owed, err));
        }
    }
    return GM_OK;
}

/* A boundary under a debt, and the terminals that can start while it lasts. */
static GmStatus debt_unit(Close *c, GmRe debt, GmError *err)
{
    GmFoci *foci = c->foci;
    uint32_t view, entries[256], n;
    uint8_t bytes[256];
    GM_TRY(whole_clamped(c, debt, &view, err));
    GM_TRY(push_view(c, view, err));
    GM_TRY(gm_re_branches(&foci->core->rx, debt, bytes, entries, &n, err));
    bool lasts = false;
    for (uint32_t i = 0; i < n; i++) {
        lasts = lasts || (entries[i] & GM_RE_NULLABLE) == 0;
    }
    for (uint32_t t = 0; lasts && t < foci->program.n_terminals; t++) {
        GM_TRY(push_lexer(c, (Lexer){foci->program.terminals[t].re, debt, t, true}, err));
    }
    return GM_OK;
}

static GmStatus pair_unit(Close *c, uint64_t pair, GmError *err)
{
    GmFoci *foci = c->foci;
    const GmResult *result;
    GM_TRY(gm_result_make(foci, (uint32_t)(pair >> 32), (uint32_t)pair, &result, err));
    for (uint32_t i = 0; i < result->n_claims; i++) {
        bool fresh;
        GM_TRY(first_time(c, &c->seen_claims, result->claims[i], &fresh, err));
        if (!fresh) {
            continue;
        }
        GmClaim claim = *gm_claim_at(foci, result->claims[i]);
        uint32_t n = gm_wait_set_at(foci, claim.wait_set)->n_symbols;
        c->met += n + 1u;
        for (uint32_t slot = 0; slot <= n; slot++) {
            uint32_t focus;
            GM_TRY(gm_focus_make(foci, claim.wait_set, slot, &focus, err));
            GM_TRY(push_pair(c, claim.base, focus, err));
        }
    }
    return GM_OK;
}

static GmStatus check_limits(const Close *c, GmError *err)
{
    const GmCore *core = c->foci->core;
    const GmFillLimits *limits = c->limits;
    if (core->views.walked - c->walked_before > limits->work) {
        return gm_fail_limit(err, "static_work", "closing the tables walks more than %llu trie nodes (limit \"static_work\"); "
                             "use another optimization", (unsigned long long)limits->work);
    }
    if (core->mem.used > c->bytes_before && core->mem.used - c->bytes_before > limits->bytes) {
        return gm_fail_limit(err, "static_bytes", "the closed tables take more than %llu bytes (limit \"static_bytes\"); "
                             "use another optimization", (unsigned long long)limits->bytes);
    }
    if (c->pairs.len + c->met + c->lexers.len > limits->pairs) {
        return gm_fail_limit(err, "static_pairs", "closing the tables needs more than %u pairs, symbols met and lexer states "
                             "(limit \"static_pairs\"; so far %u, %llu and %u); use another optimization",
                             limits->pairs, c->pairs.len, (unsigned long long)c->met, c->lexers.len);
    }
    return GM_OK;
}

static GmStatus close_all(Close *c, GmError *err)
{
    const GmProgram *program = &c->foci->program;
    GM_RESERVE(c->mem, c->lexers_of, (size_t)program->n_terminals + 1);
    memset(c->lexers_of.data, 0, program->n_terminals * sizeof(uint32_t));
    GM_TRY(push_view(c, GM_VIEW_ROOT, err));
    for (uint32_t t = 0; t < program->n_terminals; t++) {
        GM_TRY(push_lexer(c, (Lexer){program->terminals[t].re, GM_RE_EMPTY, t, true}, err));
    }
    for (;;) {
        GM_TRY(check_limits(c, err));
        if (c->next_lexer < c->lexers.len) {
            Lexer x = c->lexers.data[c->next_lexer++];
            GM_TRY(x.start ? GM_OK : lexer_steps(c, &x, err));
            GM_TRY(lexer_bytes(c, &x, err));
        } else if (c->next_debt < c->debts.len) {
            GM_TRY(debt_unit(c, c->debts.data[c->next_debt++], err));
        } else if (c->next_pair < c->pairs.len) {
            GM_TRY(pair_unit(c, c->pairs.data[c->next_pair++], err));
        } else {
            return GM_OK;
        }
    }
}

GmStatus gm_foci_close(GmFoci *foci, const GmFillLimits *limits, GmError *err)
{
    Close c;
    memset(&c, 0, sizeof c);
    gm_core_lock(foci->core);
    c.foci = foci;
    c.mem = &foci->core->mem;
    c.limits = limits;
    c.walked_before = foci->core->views.walked;
    c.bytes_before = foci->core->mem.used;
    GmStatus status = close_all(&c, err);
    GM_VEC_FREE(c.mem, c.lexers);
    GM_VEC_FREE(c.mem, c.lexers_of);
    GM_VEC_FREE(c.mem, c.debts);
    GM_VEC_FREE(c.mem, c.pairs);
    gm_map_deinit(&c.seen_lexers, c.mem);
    gm_map_deinit(&c.seen_debts, c.mem);
    gm_map_deinit(&c.seen_pairs, c.mem);
    gm_map_deinit(&c.seen_claims, c.mem);
    gm_core_unlock(foci->core);
    return status;
}
