#include "gm_save.h"

#include <stdlib.h>
#include <string.h>

typedef struct SavedBase { /* entries with numbers in place of debts, sorted */
    const GmEntry *entries;
    uint32_t n, id;
} SavedBase;

typedef struct SavedView {
    const uint32_t *bases;
    uint32_t n, id;
} SavedView;

GmStatus gm_save_numbers(Save *s, uint32_t n, uint32_t **out, GmError *err)
{
    void *p;
    GM_TRY(gm_arena_zeroed(&s->arena, n, sizeof(uint32_t), &p, err));
    *out = p;
    for (uint32_t i = 0; i < n; i++) {
        (*out)[i] = GM_NONE;
    }
    return GM_OK;
}

int gm_save_compare_numbers(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

int gm_save_compare_hashes(Hash128 x, Hash128 y)
{
    if (x.a != y.a) {
        return x.a < y.a ? -1 : 1;
    }
    return x.b < y.b ? -1 : x.b > y.b;
}

GmStatus gm_save_write(GmWriter *w, const uint32_t *numbers, uint32_t n, GmError *err)
{
    for (uint32_t i = 0; i < n; i++) {
        GM_TRY(gm_write_number(w, numbers[i], err));
    }
    return GM_OK;
}

/* -- what is saved ------------------------------------------------------------------------------------ */

static GmStatus collect_rows(Save *s, const GmMap *map, uint32_t end, bool steps, SavedRow **out, uint32_t *n, GmError *err)
{
    const GmCore *core = s->core;
    void *p;
    uint64_t key;
    uint32_t at = 0, id;
    GM_TRY(gm_arena_zeroed(&s->arena, end, sizeof(SavedRow), &p, err));
    *out = p;
    *n = 0;
    while (gm_map_next(map, &at, &key, &id)) {
        if (id < end && (steps ? gm_step_at(&core->views, id)->asked != 0 : (uint32_t)key < core->closed.states)) {
            GM_CHECK(*n < end, err);
            (*out)[(*n)++] = (SavedRow){(uint32_t)(key >> 32), (uint32_t)key, id, 0};
        }
    }
    return GM_OK;
}

static void mark_base(Save *s, uint32_t base)
{
    if (s->base_no[base] != GM_NONE) {
        return;
    }
    s->base_no[base] = 0;
    const GmBase *b = gm_pool_at(&s->core->views.bases, base);
    for (uint32_t i = 0; i < b->n_buckets; i++) {
        for (uint32_t k = b->buckets[i].start; k < b->buckets[i].end; k++) {
            s->re_no[b->entries[k].debt] = 0;
        }
    }
}

static void mark_view(Save *s, uint32_t view)
{
    if (s->view_no[view] != GM_NONE) {
        return;
    }
    s->view_no[view] = 0;
    const GmView *v = gm_view_at(&s->core->views, view);
    for (uint32_t i = 0; i < v->n; i++) {
        mark_base(s, v->bases[i]);
    }
}

static GmStatus mark_toks(Save *s, const GmToks *toks, GmError *err)
{
    for (uint32_t i = 0; i < toks->n_dense; i++) {
        uint64_t address = (uint64_t)(uintptr_t)toks->dense[i];
        if (gm_map_get(&s->set_of, address) == GM_NONE) {
            uint32_t id = s->sets.len;
            GM_TRY(gm_map_put(&s->set_of, &s->mem, address, id, err));
            GM_PUSH(&s->mem, s->sets, ((SavedSet){toks->dense[i], 0, id, {0, 0}}));
        }
    }
    return GM_OK;
}

static GmStatus mark_all(Save *s, GmError *err)
{
    GmViews *vs = &s->core->views;
    GM_TRY(gm_save_numbers(s, s->core->rx.nodes.len, &s->re_no, err));
    GM_TRY(gm_save_numbers(s, vs->bases.len, &s->base_no, err));
    GM_TRY(gm_save_numbers(s, vs->views.len, &s->view_no, err));
    for (uint32_t i = 0; i < s->n_steps; i++) {
        const GmStep *step = gm_step_at(vs, s->steps[i].id);
        mark_base(s, s->steps[i].base);
        mark_view(s, step->after);
        s->re_no[s->steps[i].key >> 1] = 0;
        GM_TRY(mark_toks(s, &step->inside, err));
    }
    for (uint32_t i = 0; i < s->n_summaries; i++) {
        const GmSummary *summary = gm_pool_at(&s->core->summaries, s->summaries[i].id);
        mark_base(s, s->summaries[i].base);
        mark_view(s, summary->moved);
        mark_view(s, summary->rest);
        GM_TRY(mark_toks(s, &summary->toks, err));
    }
    for (uint32_t i = 0; i < s->n_wholes; i++) {
        s->re_no[s->wholes[i].debt] = 0;
        mark_view(s, s->wholes[i].view);
    }
    return GM_OK;
}

/* -- bases and views ------------------------------------------------------------------------------------------ */

static int compare_bases(const void *x, const void *y)
{
    const SavedBase *a = x, *b = y;
    int order = a->n < b->n ? -1 : a->n > b->n;
    for (uint32_t i = 0; i < a->n && order == 0; i++) {
        order = gm_entry_compare(&a->entries[i], &b->entries[i]);
    }
    return order;
}

static int compare_views(const void *x, const void *y)
{
    const SavedView *a = x, *b = y;
    int order = a->n < b->n ? -1 : a->n > b->n;
    for (uint32_t i = 0; i < a->n && order == 0; i++) {
        order = gm_save_compare_numbers(&a->bases[i], &b->bases[i]);
    }
    return order;
}

static GmStatus write_base(Save *s, const SavedBase *base, GmError *err)
{
    uint32_t last = 0;
    bool owes = false;
    GM_TRY(gm_write_number(s->out, base->n, err));
    for (uint32_t i = 0; i < base->n; i++) {
        GM_TRY(gm_write_number(s->out, base->entries[i].node - last, err));
        last = base->entries[i].node;
        owes = owes || base->entries[i].debt != 0;
    }
    GM_TRY(gm_write_number(s->out, owes, err));
    for (uint32_t i = 0; i < base->n && owes; i++) {
        GM_TRY(gm_write_number(s->out, base->entries[i].debt, err));
    }
    return GM_OK;
}

static GmStatus save_bases(Save *s, GmError *err)
{
    const GmPool *pool = &s->core->views.bases;
    uint32_t n = 0, kept = 0;
    void *p;
    GM_TRY(gm_arena_zeroed(&s->arena, pool->len, sizeof(SavedBase), &p, err));
    SavedBase *bases = p;
    for (uint32_t id = GM_BASE_ROOT + 1; id < pool->len; id++) {
        if (s->base_no[id] == GM_NONE) {
            continue;
        }
        const GmBase *base = gm_pool_at(pool, id);
        GM_TRY(gm_arena_alloc(&s->arena, base->n_entries * sizeof(GmEntry), &p, err));
        GmEntry *entries = p;
        uint32_t n_entries = 0;
        bool sorted = true;
        for (uint32_t i = 0; i < base->n_buckets; i++) { /* a base may lie around holes */
            for (uint32_t k = base->buckets[i].start; k < base->buckets[i].end; k++) {
                GM_CHECK(n_entries < base->n_entries, err);
                entries[n_entries++] = (GmEntry){base->entries[k].node, s->re_no[base->entries[k].debt]};
                sorted = sorted && (n_entries == 1 || gm_entry_compare(&entries[n_entries - 2], &entries[n_entries - 1]) < 0);
            }
        }
        if (!sorted) {
            qsort(entries, n_entries, sizeof *entries, gm_entry_compare);
        }
        bases[n++] = (SavedBase){entries, n_entries, id};
    }
    qsort(bases, n, sizeof *bases, compare_bases);
    s->base_no[GM_BASE_ROOT] = GM_BASE_ROOT;
    for (uint32_t i = 0; i < n; i++) {
        bool again = i > 0 && compare_bases(&bases[i], &bases[kept - 1]) == 0;
        s->base_no[bases[i].id] = again ? kept : kept + 1;
        if (!again) {
            bases[kept++] = bases[i];
        }
    }
    GM_TRY(gm_write_number(s->out, kept, err));
    for (uint32_t i = 0; i < kept; i++) {
        GM_TRY(write_base(s, &bases[i], err));
    }
    return GM_OK;
}

static GmStatus save_views(Save *s, GmError *err)
{
    const GmPool *pool = &s->core->views.views;
    uint32_t n = 0, kept = 0;
    void *p;
    GM_TRY(gm_arena_zeroed(&s->arena, pool->len, sizeof(SavedView), &p, err));
    SavedView *views = p;
    for (uint32_t id = GM_VIEW_ROOT + 1; id < pool->len; id++) {
        if (s->view_no[id] == GM_NONE) {
            continue;
        }
        const GmView *view = gm_pool_at(pool, id);
        GM_TRY(gm_arena_alloc(&s->arena, view->n * sizeof(uint32_t), &p, err));
        uint32_t *list = p, distinct = 0;
        for (uint32_t i = 0; i < view->n; i++) {
            list[i] = s->base_no[view->bases[i]];
        }
        qsort(list, view->n, sizeof *list, gm_save_compare_numbers);
        for (uint32_t i = 0; i < view->n; i++) {
            if (distinct == 0 || list[i] != list[distinct - 1]) {
                list[distinct++] = list[i];
            }
        }
        views[n++] = (SavedView){list, distinct, id};
    }
    qsort(views, n, sizeof *views, compare_views);
    s->view_no[GM_VIEW_EMPTY] = GM_VIEW_EMPTY;
    s->view_no[GM_VIEW_ROOT] = GM_VIEW_ROOT;
    for (uint32_t i = 0; i < n; i++) {
        bool again = i > 0 && compare_views(&views[i], &views[kept - 1]) == 0;
        s->view_no[views[i].id] = again ? kept + 1 : kept + 2;
        if (!again) {
            views[kept++] = views[i];
        }
    }
    GM_TRY(gm_write_number(s->out, kept, err));
    for (uint32_t i = 0; i < kept; i++) {
        GM_TRY(gm_write_number(s->out, views[i].n, err));
        GM_TRY(gm_write_list(s->out, views[i].bases, views[i].n, err));
    }
    return GM_OK;
}

/* -- steps and summaries ---------------------------------------------------------------------------------------- */

enum { LIST_IDS, LIST_SETS, LIST_MINUS, LISTS };

/* Distinct ids, or numbers of distinct sets, ascending. */
static GmStatus sorted_list(Save *s, const GmToks *toks, uint32_t which, const uint32_t **out, uint32_t *kept, GmError *err)
{
    uint32_t n = which == LIST_IDS ? toks->n_ids : which == LIST_SETS ? toks->n_dense : toks->n_minus;
    const uint32_t *ids = which == LIST_IDS ? toks->ids : toks->minus;
    void *p;
    GM_TRY(gm_arena_alloc(&s->arena, n * sizeof(uint32_t), &p, err));
    uint32_t *list = p;
    bool sorted = true;
    for (uint32_t k = 0; k < n; k++) {
        list[k] = which != LIST_SETS ? ids[k] : s->set_no[gm_map_get(&s->set_of, (uint64_t)(uintptr_t)toks->dense[k])];
        sorted = sorted && (k == 0 || list[k - 1] < list[k]);
    }
    if (!sorted) {
        qsort(list, n, sizeof *list, gm_save_compare_numbers);
    }
    *kept = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (*kept == 0 || list[k] != list[*kept - 1]) {
            list[(*kept)++] = list[k];
        }
    }
    *out = list;
    return GM_OK;
}

static bool toks_equal(const SavedToks *x, const SavedToks *y)
{
    bool equal = x->hash == y->hash;
    for (uint32_t i = 0; i < LISTS && equal; i++) {
        equal = x->n[i] == y->n[i] && gm_same(x->list[i], y->list[i], x->n[i] * sizeof(uint32_t));
    }
    return equal;
}

/* Tokens that are equal are saved once. */
static GmStatus intern_toks(Save *s, const GmToks *toks, uint32_t *out, GmError *err)
{
    SavedToks made = {{NULL, NULL, NULL}, {0, 0, 0}, s->toks.len, 73};
    for (uint32_t i = 0; i < LISTS; i++) {
        GM_TRY(sorted_list(s, toks, i, &made.list[i], &made.n[i], err));
        made.hash = gm_hash_words(made.list[i], made.n[i], made.hash);
    }
    uint32_t at = (uint32_t)(made.hash >> 32);
    while ((*out = gm_index_next(&s->toks_index, made.hash, &at)) != GM_NONE) {
        if (toks_equal(&s->toks.data[*out], &made)) {
            return GM_OK;
        }
    }
    *out = made.id;
    GM_PUSH(&s->mem, s->toks, made);
    return gm_index_add(&s->toks_index, &s->mem, made.hash, made.id, err);
}

static int compare_toks(const void *x, const void *y)
{
    const SavedToks *a = x, *b = y;
    for (uint32_t i = LISTS; i-- > 0;) {
        if (a->n[i] != b->n[i]) {
            return a->n[i] < b->n[i] ? -1 : 1;
        }
    }
    return a->hash < b->hash ? -1 : a->hash > b->hash;
}

static GmStatus save_toks(Save *s, GmError *err)
{
    for (uint32_t i = 0; i < s->n_steps; i++) {
        GM_TRY(intern_toks(s, &gm_step_at(&s->core->views, s->steps[i].id)->inside, &s->steps[i].toks, err));
    }
    for (uint32_t i = 0; i < s->n_summaries; i++) {
        const GmSummary *summary = gm_pool_at(&s->core->summaries, s->summaries[i].id);
        GM_TRY(intern_toks(s, &summary->toks, &s->summaries[i].toks, err));
    }
    uint32_t n = s->toks.len;
    SavedToks *toks = s->toks.data;
    if (n > 0) {
        qsort(toks, n, sizeof *toks, compare_toks);
    }
    GM_TRY(gm_save_numbers(s, n, &s->toks_no, err));
    GM_TRY(gm_write_number(s->out, n, err));
    for (uint32_t i = 0; i < n; i++) {
        s->toks_no[toks[i].id] = i;
        for (uint32_t k = 0; k < LISTS; k++) {
            GM_TRY(gm_write_number(s->out, toks[i].n[k], err));
            GM_TRY(gm_write_list(s->out, toks[i].list[k], toks[i].n[k], err));
        }
    }
    return GM_OK;
}

static int compare_rows(const void *x, const void *y)
{
    const SavedRow *a = x, *b = y;
    if (a->base != b->base) {
        return a->base < b->base ? -1 : 1;
    }
    return a->key < b->key ? -1 : a->key > b->key;
}

/* Numbers for ids, sorted, one per key: equal bases have equal rows. */
static uint32_t sort_rows(const Save *s, SavedRow *rows, uint32_t n, bool steps)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        rows[i].base = s->base_no[rows[i].base];
        rows[i].key = steps ? s->re_no[rows[i].key >> 1] << 1 | (rows[i].key & 1) : rows[i].key;
    }
    if (n > 0) {
        qsort(rows, n, sizeof *rows, compare_rows);
    }
    for (uint32_t i = 0; i < n; i++) {
        if (kept == 0 || compare_rows(&rows[i], &rows[kept - 1]) != 0) {
            rows[kept++] = rows[i];
        }
    }
    return kept;
}

static GmStatus save_rows(Save *s, SavedRow *rows, uint32_t n, bool steps, GmError *err)
{
    SavedRow last = {0, 0, 0, 0};
    n = sort_rows(s, rows, n, steps);
    GM_TRY(gm_write_number(s->out, n, err));
    for (uint32_t i = 0; i < n; i++) {
        const SavedRow row = rows[i];
        bool same = i > 0 && row.base == last.base;
        GM_TRY(gm_write_number(s->out, row.base - last.base, err));
        GM_TRY(gm_write_number(s->out, same ? row.key - last.key : row.key, err));
        GM_TRY(gm_write_number(s->out, s->toks_no[row.toks], err));
        last = row;
        if (steps) {
            GM_TRY(gm_write_number(s->out, s->view_no[gm_step_at(&s->core->views, row.id)->after], err));
        } else {
            const GmSummary *summary = gm_pool_at(&s->core->summaries, row.id);
            GM_TRY(gm_write_number(s->out, s->view_no[summary->moved], err));
            GM_TRY(gm_write_number(s->out, s->view_no[summary->rest], err));
        }
    }
    return GM_OK;
}

static int compare_wholes(const void *x, const void *y)
{
    const GmWhole *a = x, *b = y;
    return a->debt < b->debt ? -1 : a->debt > b->debt;
}

static GmStatus save_wholes(Save *s, GmError *err)
{
    for (uint32_t i = 0; i < s->n_wholes; i++) {
        s->wholes[i] = (GmWhole){s->re_no[s->wholes[i].debt], s->view_no[s->wholes[i].view]};
    }
    if (s->n_wholes > 0) {
        qsort(s->wholes, s->n_wholes, sizeof *s->wholes, compare_wholes);
    }
    GM_TRY(gm_write_number(s->out, s->n_wholes, err));
    for (uint32_t i = 0; i < s->n_wholes; i++) {
        GM_TRY(gm_write_number(s->out, s->wholes[i].debt, err));
        GM_TRY(gm_write_number(s->out, s->wholes[i].view, err));
    }
    return GM_OK;
}

uint64_t gm_tables_key(const GmModule *module)
{
    uint64_t h = gm_hash_words((const uint32_t *)module->rows, 4 * (size_t)module->n_nodes, module->root);
    h = gm_hash_words((const uint32_t *)module->args, module->n_args, h);
    h = gm_hash_words((const uint32_t *)module->rules, 2 * (size_t)module->n_rules, h);
    return gm_hash_bytes((Hash128){h, 79}, module->blob, module->n_blob).a;
}

static GmStatus save_all(Save *s, GmError *err)
{
    GmCore *core = s->core;
    GmViews *vs = &core->views;
    void *p;
    s->n_wholes = core->closed.wholes;
    GM_TRY(gm_arena_zeroed(&s->arena, s->n_wholes, sizeof(GmWhole), &p, err));
    s->wholes = p;
    if (s->n_wholes > 0) {
        memcpy(p, vs->wholes.data, s->n_wholes * sizeof(GmWhole));
    }
    GM_TRY(collect_rows(s, &vs->step_map, core->closed.steps, true, &s->steps, &s->n_steps, err));
    GM_TRY(collect_rows(s, &core->summary_map, core->closed.summaries, false, &s->summaries, &s->n_summaries, err));
    GM_TRY(mark_all(s, err));
    uint32_t head[4] = {GM_TABLES_VERSION, core->trie->n_nodes, core->trie->n_words, core->closed.states};
    GM_TRY(gm_save_write(s->out, head, 4, err));
    uint64_t key = gm_tables_key(&core->net.nfa.module);
    for (uint32_t i = 0; i < 8; i++) {
        uint8_t byte = (uint8_t)(key >> (8 * i));
        GM_TRY(gm_write_bytes(s->out, &byte, 1, err));
    }
    GM_TRY(gm_save_res(s, err));
    GM_TRY(gm_save_sets(s, err));
    GM_TRY(save_bases(s, err));
    GM_TRY(save_views(s, err));
    GM_TRY(save_toks(s, err));
    GM_TRY(save_rows(s, s->steps, s->n_steps, true, err));
    GM_TRY(save_rows(s, s->summaries, s->n_summaries, false, err));
    return save_wholes(s, err);
}

GmStatus gm_tables_save(GmCore *core, GmWriter *out, GmError *err)
{
    Save s;
    memset(&s, 0, sizeof s);
    s.core = core;
    s.out = out;
    gm_mem_init_like(&s.mem, &core->mem, SIZE_MAX, "memory_bytes");
    gm_arena_init(&s.arena, &s.mem);
    gm_map_init(&s.set_of);
    gm_core_lock(core);
    GmStatus status = save_all(&s, err);
    gm_core_unlock(core);
    gm_map_deinit(&s.set_of, &s.mem);
    gm_index_deinit(&s.toks_index, &s.mem);
    GM_VEC_FREE(&s.mem, s.toks);
    GM_VEC_FREE(&s.mem, s.sets);
    gm_arena_deinit(&s.arena);
    return status;
}
