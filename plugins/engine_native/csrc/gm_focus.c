#include "gm_focus.h"

#include "gm_lower_lex.h"

#include <stdlib.h>
#include <string.h>

/* -- life --------------------------------------------------------------------------------------------------- */

/* The languages of the terminals, which are the rules of the module, and the bytes they start with. */
static GmStatus lower_terminals(GmFoci *foci, const GmModule *module, GmNfa *nfa, GmError *err)
{
    GmRegex *rx = &foci->core->rx;
    if (module->n_rules != foci->program.n_terminals) {
        return gm_fail(err, GM_ARG, "the parser program has %u terminals, %u languages are given for them",
                       foci->program.n_terminals, module->n_rules);
    }
    GM_TRY(gm_lower_lexical(nfa, err));
    for (uint32_t t = 0; t < module->n_rules; t++) {
        GmProgramTerminal *terminal = &foci->program.terminals[t];
        int32_t body = module->rules[2 * t + 1];
        const int32_t *row = body >= 0 && (uint32_t)body < module->n_nodes ? module->rows + 4 * (size_t)body : NULL;
        if (row == NULL || row[0] != IR_TERMINAL || row[1] < 0 || row[1] >= body ||
            module->rows[4 * (size_t)row[1]] >= IR_TERMINAL) {
            return gm_fail(err, GM_ARG, "rule %u of the patterns is not a terminal", t);
        }
        terminal->re = nfa->re[row[1]];
        GmRe clamped;
        GM_TRY(gm_re_clamp(rx, terminal->re, &clamped, err));
        terminal->lex = gm_lex(clamped, row[2] != 0);
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t entry;
            GM_TRY(gm_re_deriv(rx, terminal->re, (uint8_t)byte, &entry, err));
            terminal->starts[byte >> 6] |= (uint64_t)(entry != 0) << (byte & 63);
        }
    }
    return GM_OK;
}

static GmStatus focus_of_set(GmFoci *foci, uint32_t set, uint32_t *focus, GmError *err);

GmStatus gm_foci_build(GmFoci *foci, GmCore *core, const GmModule *module, const int32_t *code, uint64_t n_code,
                       uint32_t max_lexer_states, GmError *err)
{
    memset(foci, 0, sizeof *foci);
    foci->core = core;
    gm_pool_init(&foci->foci, sizeof(GmFocus));
    gm_pool_init(&foci->wait_sets, sizeof(GmWaitSet));
    gm_pool_init(&foci->claims, sizeof(GmClaim));
    gm_pool_init(&foci->results, sizeof(GmResult));
    gm_map_init(&foci->focus_of);
    gm_map_init(&foci->result_map);
    GM_TRY(gm_re_init(&core->rx, &core->mem, &core->arena, core->trie->longest, max_lexer_states, err));
    GM_TRY(gm_views_init(&core->views, &core->mem, &core->arena, &core->rx, core->trie, core->shared, err));
    GM_TRY(gm_program_read(&foci->program, &core->mem, &core->arena, code, n_code, err));
    GmNfa nfa;
    memset(&nfa, 0, sizeof nfa);
    nfa.mem = &core->mem;
    nfa.arena = &core->arena;
    nfa.rx = &core->rx;
    nfa.module = *module;
    void *p;
    GM_TRY(gm_arena_zeroed(&core->arena, module->n_nodes, sizeof(GmRe), &p, err));
    nfa.re = p;
    GM_TRY(lower_terminals(foci, module, &nfa, err));
    GM_TRY(gm_stack_init(&foci->stack, &core->mem, NULL, err));
    GM_TRY(gm_program_walk_init(&foci->walk, &foci->program, &foci->stack, &core->mem, true, err));
    uint32_t unused, focus;
    GM_TRY(gm_pool_add(&foci->claims, &core->mem, &unused, &p, err)); /* claim 0 is "nothing", as view 0 is */
    GM_TRY(focus_of_set(foci, GM_SET_BOTTOM, &focus, err));
    GM_CHECK(focus == GM_FOCUS_HOLE, err);
    return GM_OK;
}

void gm_foci_deinit(GmFoci *foci)
{
    GmMem *mem = &foci->core->mem;
    for (uint32_t i = 0; i < foci->work.len; i++) {
        gm_gather_deinit(&foci->work.data[i].gather, mem);
        GM_VEC_FREE(mem, foci->work.data[i].pairs);
    }
    GM_VEC_FREE(mem, foci->work);
    GM_VEC_FREE(mem, foci->words);
    GM_VEC_FREE(mem, foci->bases);
    GM_VEC_FREE(mem, foci->claim_list);
    GM_VEC_FREE(mem, foci->turned);
    if (foci->walk.mem != NULL) {
        gm_program_walk_deinit(&foci->walk);
    }
    if (foci->stack.mem != NULL) {
        gm_stack_deinit(&foci->stack);
    }
    gm_pool_deinit(&foci->foci, mem);
    gm_pool_deinit(&foci->wait_sets, mem);
    gm_pool_deinit(&foci->claims, mem);
    gm_pool_deinit(&foci->results, mem);
    gm_index_deinit(&foci->focus_index, mem);
    gm_index_deinit(&foci->wait_index, mem);
    gm_index_deinit(&foci->claim_index, mem);
    gm_map_deinit(&foci->focus_of, mem);
    gm_map_deinit(&foci->result_map, mem);
}

/* -- interning ------------------------------------------------------------------------------------------------ */

static GmStatus keep_words(GmFoci *foci, const uint32_t *words, uint32_t n, const uint32_t **out, GmError *err)
{
    void *p;
    GM_TRY(gm_arena_alloc(&foci->core->arena, n * sizeof *words, &p, err));
    if (n > 0) {
        memcpy(p, words, n * sizeof *words);
    }
    *out = p;
    return GM_OK;
}

/* The focus of the runs in foci->words. */
static GmStatus intern_focus(GmFoci *foci, uint32_t *focus, GmError *err)
{
    GmMem *mem = &foci->core->mem;
    const uint32_t *words = foci->words.data;
    uint32_t n = foci->words.len;
    uint64_t hash = gm_hash_words(words, n, 51);
    uint32_t at = (uint32_t)(hash >> 32), found;
    while ((found = gm_index_next(&foci->focus_index, hash, &at)) != GM_NONE) {
        const GmFocus *known = gm_pool_at(&foci->foci, found);
        if (known->n == n && gm_same(known->words, words, n * sizeof *words)) {
            *focus = found;
            return GM_OK;
        }
    }
    const uint32_t *kept;
    void *p;
    GM_TRY(keep_words(foci, words, n, &kept, err));
    GM_TRY(gm_pool_add(&foci->foci, mem, focus, &p, err));
    *(GmFocus *)p = (GmFocus){kept, n};
    return gm_index_add(&foci->focus_index, mem, hash, *focus, err);
}

static int compare_u32(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

static int compare_u64(const void *x, const void *y)
{
    uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

/* Sort and drop repetitions. */
static uint32_t sort_u64(uint64_t *list, uint32_t n)
{
    uint32_t kept = 0;
    if (n > 1) {
        qsort(list, n, sizeof *list, compare_u64);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (kept == 0 || list[i] != list[kept - 1]) {
            list[kept++] = list[i];
        }
    }
    return kept;
}

/* Symbols that the waits have edges for, into foci->words. */
static GmStatus gather_symbols(GmFoci *foci, const uint32_t *waits, uint32_t n, GmError *err)
{
    GmMem *mem = &foci->core->mem;
    foci->words.len = 0;
    for (uint32_t i = 0; i < n; i++) {
        const GmProgramState *state = &foci->program.states[waits[i]];
        for (uint32_t e = 0; e < state->n_edges; e++) {
            GM_PUSH(mem, foci->words, foci->program.edges[state->edges + e].symbol);
        }
    }
    uint32_t *list = foci->words.data, kept = 0;
    if (foci->words.len > 1) {
        qsort(list, foci->words.len, sizeof *list, compare_u32);
    }
    for (uint32_t i = 0; i < foci->words.len; i++) {
        if (kept == 0 || list[i] != list[kept - 1]) {
            list[kept++] = list[i];
        }
    }
    foci->words.len = kept;
    return GM_OK;
}

static GmStatus intern_waits(GmFoci *foci, const uint32_t *waits, uint32_t n, uint32_t *out, GmError *err)
{
    GmCore *core = foci->core;
    uint64_t hash = gm_hash_words(waits, n, 53);
    uint32_t at = (uint32_t)(hash >> 32), found;
    while ((found = gm_index_next(&foci->wait_index, hash, &at)) != GM_NONE) {
        const GmWaitSet *known = gm_wait_set_at(foci, found);
        if (known->n_waits == n && memcmp(known->waits, waits, n * sizeof *waits) == 0) {
            *out = found;
            return GM_OK;
        }
    }
    GmWaitSet made = {NULL, NULL, NULL, n, 0};
    void *p;
    GM_TRY(keep_words(foci, waits, n, &made.waits, err));
    GM_TRY(gather_symbols(foci, waits, n, err));
    made.n_symbols = foci->words.len;
    GM_TRY(keep_words(foci, foci->words.data, made.n_symbols, &made.symbols, err));
    GM_TRY(gm_arena_alloc(&core->arena, (made.n_symbols + 1u) * sizeof *made.foci, &p, err));
    made.foci = p;
    for (uint32_t i = 0; i <= made.n_symbols; i++) {
        atomic_init(&made.foci[i], GM_NONE);
    }
    GM_TRY(gm_pool_add(&foci->wait_sets, &core->mem, out, &p, err));
    *(GmWaitSet *)p = made;
    return gm_index_add(&foci->wait_index, &core->mem, hash, *out, err);
}

static GmStatus intern_claim(GmFoci *foci, GmClaim claim, uint32_t *out, GmError *err)
{
    GmMem *mem = &foci->core->mem;
    uint64_t hash = gm_mix(gm_pair(claim.wait_set, claim.base) + 59);
    uint32_t at = (uint32_t)(hash >> 32), found;
    while ((found = gm_index_next(&foci->claim_index, hash, &at)) != GM_NONE) {
        const GmClaim *known = gm_claim_at(foci, found);
        if (known->wait_set == claim.wait_set && known->base == claim.base) {
            *out = found;
            return GM_OK;
        }
    }
    void *p;
    GM_TRY(gm_pool_add(&foci->claims, mem, out, &p, err));
    *(GmClaim *)p = claim;
    return gm_index_add(&foci->claim_index, mem, hash, *out, err);
}

/* -- foci ------------------------------------------------------------------------------------------------------- */

/* What the walk of a terminal has found, as a run of foci->words. */
static GmStatus add_run(GmFoci *foci, uint32_t terminal, uint32_t out, GmError *err)
{
    GmMem *mem = &foci->core->mem;
    const GmProgramWalk *walk = &foci->walk;
    if (out == GM_SET_EMPTY && walk->waits.len == 0) {
        return GM_OK;
    }
    GM_PUSH(mem, foci->words, terminal);
    GM_PUSH(mem, foci->words, out);
    GM_PUSH(mem, foci->words, walk->waits.len);
    for (uint32_t i = 0; i < walk->waits.len; i++) {
        GM_PUSH(mem, foci->words, walk->waits.data[i]);
    }
    return GM_OK;
}

/* Every terminal from stacks over the hole. */
static GmStatus focus_of_set(GmFoci *foci, uint32_t set, uint32_t *focus, GmError *err)
{
    *focus = gm_map_get(&foci->focus_of, set);
    if (*focus != GM_NONE) {
        return GM_OK;
    }
    foci->words.len = 0;
    for (uint32_t t = 0; t < foci->program.n_terminals; t++) {
        uint32_t out;
        GM_TRY(gm_program_apply(&foci->walk, t, set, &out, err));
        GM_TRY(add_run(foci, t, out, err));
    }
    GM_TRY(intern_focus(foci, focus, err));
    return gm_map_put(&foci->focus_of, &foci->core->mem, set, *focus, err);
}

/* A wait goes on with the symbol it meets (GM_NONE: one that nobody has an edge for). */
static GmStatus resume(GmFoci *foci, uint32_t wait, uint32_t symbol, GmError *err)
{
    uint32_t target = gm_program_target(&foci->program, wait, symbol), set = GM_SET_BOTTOM;
    if (target != GM_NONE && foci->program.states[wait].kind == GM_PROGRAM_READ) {
        uint32_t node;
        GM_TRY(gm_stack_push(&foci->stack, symbol, GM_SET_BOTTOM, &node, err));
        GM_TRY(gm_stack_single(&foci->stack, node, &set, err));
    }
    return gm_program_walk_add(&foci->walk, target, set, err);
}

GmStatus gm_focus_make(GmFoci *foci, uint32_t wait_set, uint32_t slot, uint32_t *focus, GmError *err)
{
    const GmWaitSet *set = gm_wait_set_at(foci, wait_set);
    *focus = gm_load(&set->foci[slot]);
    if (*focus != GM_NONE) {
        return GM_OK;
    }
    uint32_t symbol = slot < set->n_symbols ? set->symbols[slot] : GM_NONE;
    foci->words.len = 0;
    for (uint32_t i = 0; i < set->n_waits;) {
        uint32_t terminal = foci->program.states[set->waits[i]].terminal, out;
        gm_program_walk_begin(&foci->walk, terminal);
        for (; i < set->n_waits && foci->program.states[set->waits[i]].terminal == terminal; i++) {
            GM_TRY(resume(foci, set->waits[i], symbol, err));
        }
        GM_TRY(gm_program_walk_run(&foci->walk, &out, err));
        GM_TRY(add_run(foci, terminal, out, err));
    }
    GM_TRY(intern_focus(foci, focus, err));
    gm_store(&set->foci[slot], *focus);
    return GM_OK;
}

/* -- results ------------------------------------------------------------------------------------------------------ */

static GmStatus work_push(GmFoci *foci, uint32_t base, uint32_t focus, GmError *err)
{
    if (foci->work_len == foci->work.len) {
        GmFocusWork fresh;
        memset(&fresh, 0, sizeof fresh);
        GM_PUSH(&foci->core->mem, foci->work, fresh);
    }
    GmFocusWork *w = &foci->work.data[foci->work_len++];
    w->base = base;
    w->focus = focus;
    w->at = w->k = 0;
    w->open = false;
    w->gather.ids.len = w->gather.dense.len = 0;
    w->pairs.len = 0;
    memset(w->bytes, 0, sizeof w->bytes);
    const GmBase *b = gm_pool_at(&foci->core->views.bases, base);
    for (uint32_t i = 0; i < b->n_buckets; i++) {
        w->bytes[b->buckets[i].byte >> 6] |= (uint64_t)1 << (b->buckets[i].byte & 63);
    }
    return GM_OK;
}

static bool can_start(const GmProgramTerminal *t, const uint64_t *bytes)
{
    return ((t->starts[0] & bytes[0]) | (t->starts[1] & bytes[1]) | (t->starts[2] & bytes[2]) | (t->starts[3] & bytes[3])) != 0;
}

/* Begin a run: read the base with its terminal. *useful: some token goes on with it. */
static GmStatus open_run(GmFoci *foci, GmFocusWork *w, const uint32_t *run, bool *useful, GmError *err)
{
    GmCore *core = foci->core;
    const GmProgramTerminal *terminal = &foci->program.terminals[run[0]];
    *useful = false;
    if (!can_start(terminal, w->bytes)) {
        return GM_OK;
    }
    uint32_t id;
    GM_TRY(gm_view_step(&core->views, w->base, terminal->lex, &id, err));
    const GmStep *step = gm_step_at(&core->views, id);
    if (step->inside.n_ids == 0 && step->inside.n_dense == 0 && step->after == GM_VIEW_EMPTY) {
        return GM_OK;
    }
    *useful = true;
    w->view = GM_VIEW_EMPTY;
    if (run[1] != GM_SET_EMPTY) {
        GM_TRY(gm_gather_add(&w->gather, &core->arena, &step->inside, core->trie->n_words, err));
        w->view = step->after;
        if (w->view != GM_VIEW_EMPTY) {
            GM_TRY(focus_of_set(foci, run[1], &w->out, err));
        }
    }
    for (uint32_t i = 0; i < run[2]; i++) {
        GM_PUSH(&core->mem, w->pairs, gm_pair(run[3 + i], w->base));
    }
    w->open = true;
    w->k = 0;
    return GM_OK;
}

static GmStatus add_result(GmFoci *foci, GmFocusWork *w, const GmResult *sub, GmError *err)
{
    GmCore *core = foci->core;
    GmMem *mem = &core->mem;
    GM_TRY(gm_gather_add(&w->gather, &core->arena, &sub->toks, core->trie->n_words, err));
    for (uint32_t c = 0; c < sub->n_claims; c++) {
        const GmClaim *claim = gm_claim_at(foci, sub->claims[c]);
        const GmWaitSet *set = gm_wait_set_at(foci, claim->wait_set);
        for (uint32_t i = 0; i < set->n_waits; i++) {
            GM_PUSH(mem, w->pairs, gm_pair(set->waits[i], claim->base));
        }
    }
    return GM_OK;
}

/* Join the bases of each wait, then the waits of each base: into foci->claim_list. */
static GmStatus make_claims(GmFoci *foci, GmFocusWork *w, GmError *err)
{
    GmCore *core = foci->core;
    GmMem *mem = &core->mem;
    foci->turned.len = foci->claim_list.len = 0;
    uint32_t n = sort_u64(w->pairs.data, w->pairs.len);
    for (uint32_t i = 0; i < n;) {
        uint32_t wait = (uint32_t)(w->pairs.data[i] >> 32), view;
        foci->bases.len = 0;
        for (; i < n && (uint32_t)(w->pairs.data[i] >> 32) == wait; i++) {
            GM_PUSH(mem, foci->bases, (uint32_t)w->pairs.data[i]);
        }
        if (foci->bases.len == 1) {
            GM_PUSH(mem, foci->turned, gm_pair(foci->bases.data[0], wait));
            continue;
        }
        GM_TRY(gm_view_of(&core->views, foci->bases.data, foci->bases.len, &view, err));
        const GmView *v = gm_view_at(&core->views, view);
        for (uint32_t k = 0; k < v->n; k++) {
            GM_PUSH(mem, foci->turned, gm_pair(v->bases[k], wait));
        }
    }
    n = sort_u64(foci->turned.data, foci->turned.len);
    for (uint32_t i = 0; i < n;) {
        GmClaim claim = {0, (uint32_t)(foci->turned.data[i] >> 32)};
        uint32_t id;
        foci->bases.len = 0; /* of waits, this time */
        for (; i < n && (uint32_t)(foci->turned.data[i] >> 32) == claim.base; i++) {
            GM_PUSH(mem, foci->bases, (uint32_t)foci->turned.data[i]);
        }
        GM_TRY(intern_waits(foci, foci->bases.data, foci->bases.len, &claim.wait_set, err));
        GM_TRY(intern_claim(foci, claim, &id, err));
        GM_PUSH(mem, foci->claim_list, id);
    }
    return GM_OK;
}

static GmStatus finish_work(GmFoci *foci, GmFocusWork *w, GmError *err)
{
    GmCore *core = foci->core;
    GmResult made;
    GM_TRY(gm_gather_finish(&w->gather, &core->arena, &core->views.lists, core->trie->n_words, &made.toks, err));
    GM_TRY(make_claims(foci, w, err));
    made.n_claims = foci->claim_list.len;
    GM_TRY(keep_words(foci, foci->claim_list.data, made.n_claims, &made.claims, err));
    uint32_t id;
    void *p;
    GM_TRY(gm_pool_add(&foci->results, &core->mem, &id, &p, err));
    *(GmResult *)p = made;
    return gm_map_put(&foci->result_map, &core->mem, gm_pair(w->base, w->focus), id, err);
}

/* Run the top entry until it is done or waits for another one: those read shorter remainders, so this ends. */
static GmStatus work_run(GmFoci *foci, GmError *err)
{
    uint32_t top = foci->work_len - 1;
    const GmFocus *focus = gm_pool_at(&foci->foci, foci->work.data[top].focus);
    for (;;) {
        GmFocusWork *w = &foci->work.data[top];
        if (w->at == focus->n) {
            break;
        }
        const uint32_t *run = focus->words + w->at;
        bool useful = w->open;
        if (!w->open) {
            GM_TRY(open_run(foci, w, run, &useful, err));
        }
        const GmView *view = gm_view_at(&foci->core->views, useful ? w->view : GM_VIEW_EMPTY);
        for (; w->k < view->n; w->k++) {
            uint32_t id = gm_map_get(&foci->result_map, gm_pair(view->bases[w->k], w->out));
            if (id == GM_NONE) {
                return work_push(foci, view->bases[w->k], w->out, err);
            }
            GM_TRY(add_result(foci, w, gm_pool_at(&foci->results, id), err));
        }
        w->open = false;
        w->k = 0;
        w->at += 3 + run[2];
    }
    GM_TRY(finish_work(foci, &foci->work.data[top], err));
    foci->work_len--;
    return GM_OK;
}

GmStatus gm_result_make(GmFoci *foci, uint32_t base, uint32_t focus, const GmResult **out, GmError *err)
{
    uint64_t key = gm_pair(base, focus);
    if (gm_map_get(&foci->result_map, key) == GM_NONE) {
        foci->work_len = 0;
        GM_TRY(work_push(foci, base, focus, err));
        while (foci->work_len > 0) {
            GM_TRY(work_run(foci, err));
        }
    }
    uint32_t id = gm_map_get(&foci->result_map, key);
    GM_CHECK(id != GM_NONE, err);
    *out = gm_pool_at(&foci->results, id);
    return GM_OK;
}

/* -- for any thread --------------------------------------------------------------------------------------------------- */

GmStatus gm_focus_meet(GmFoci *foci, uint32_t wait_set, uint32_t symbol, uint32_t *focus, GmError *err)
{
    const GmWaitSet *set = gm_wait_set_at(foci, wait_set);
    uint32_t from = 0, to = set->n_symbols;
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        if (set->symbols[mid] < symbol) {
            from = mid + 1;
        } else {
            to = mid;
        }
    }
    if (from == set->n_symbols || set->symbols[from] != symbol) {
        from = set->n_symbols;
    }
    *focus = gm_load(&set->foci[from]);
    if (*focus == GM_NONE) {
        gm_core_lock(foci->core);
        GmStatus status = gm_focus_make(foci, wait_set, from, focus, err);
        gm_core_unlock(foci->core);
        return status;
    }
    return GM_OK;
}

GmStatus gm_focus_result(GmFoci *foci, uint32_t base, uint32_t focus, const GmResult **out, GmError *err)
{
    uint32_t id = gm_map_get(&foci->result_map, gm_pair(base, focus));
    if (id == GM_NONE) {
        gm_core_lock(foci->core);
        GmStatus status = gm_result_make(foci, base, focus, out, err);
        gm_core_unlock(foci->core);
        return status;
    }
    *out = gm_pool_at(&foci->results, id);
    return GM_OK;
}
