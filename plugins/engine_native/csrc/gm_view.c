#include "gm_view_entries.h"

#include <stdlib.h>
#include <string.h>

enum { BASE_INTERNED = 1024 }; /* larger bases are rarely equal and cost more to hash than to keep twice */

GmStatus gm_views_init(GmViews *vs, GmMem *mem, GmArena *arena, GmRegex *rx, const GmTrie *trie, GmShared *shared,
                       GmError *err)
{
    memset(vs, 0, sizeof *vs);
    vs->mem = mem;
    vs->arena = arena;
    vs->rx = rx;
    vs->trie = trie;
    vs->shared = shared;
    gm_pool_init(&vs->bases, sizeof(GmBase));
    gm_pool_init(&vs->views, sizeof(GmView));
    gm_pool_init(&vs->steps, sizeof(GmStep));
    gm_ids_init(&vs->lists);
    gm_map_init(&vs->step_map);
    gm_map_init(&vs->bite_map);
    gm_map_init(&vs->whole_map);
    gm_map_init(&vs->shared_map);
    gm_map_init(&vs->set_map);
    gm_map_init(&vs->part_map);
    gm_map_init(&vs->part_back);
    vs->bite_map.alone = vs->shared_map.alone = vs->set_map.alone = vs->part_map.alone = vs->part_back.alone = true;
    gm_pool_init(&vs->sets, sizeof(const uint32_t *));
    uint32_t id;
    void *p;
    GM_TRY(gm_pool_add(&vs->views, mem, &id, &p, err)); /* GM_VIEW_EMPTY */
    const uint32_t n = trie->child_from[1];
    GM_TRY(gm_pool_add(&vs->bases, mem, &id, &p, err)); /* GM_BASE_ROOT */
    GmBase *root = p;
    GM_TRY(gm_arena_alloc(arena, n * sizeof(GmEntry), &p, err));
    GmEntry *entries = p;
    GM_TRY(gm_arena_alloc(arena, n * sizeof(GmBucket), &p, err));
    GmBucket *buckets = p;
    for (uint32_t i = 0; i < n; i++) {
        entries[i] = (GmEntry){trie->child[i], GM_RE_EMPTY};
        buckets[i] = (GmBucket){i, i + 1, trie->child_byte[i]};
    }
    *root = (GmBase){entries, buckets, n, n, GM_BASE_SORTED};
    GM_TRY(gm_pool_add(&vs->views, mem, &id, &p, err)); /* GM_VIEW_ROOT */
    GmView *view = p;
    void *list;
    GM_TRY(gm_arena_zeroed(arena, 1, sizeof(uint32_t), &list, err));
    view->bases = list;
    view->n = 1;
    uint64_t hash = gm_hash_words(view->bases, 1, 3);
    return gm_index_add(&vs->view_index, mem, hash, GM_VIEW_ROOT, err);
}

void gm_views_deinit(GmViews *vs)
{
    gm_pool_deinit(&vs->bases, vs->mem);
    gm_pool_deinit(&vs->views, vs->mem);
    gm_pool_deinit(&vs->steps, vs->mem);
    gm_ids_deinit(&vs->lists, vs->mem);
    gm_index_deinit(&vs->base_index, vs->mem);
    gm_index_deinit(&vs->view_index, vs->mem);
    gm_map_deinit(&vs->step_map, vs->mem);
    gm_map_deinit(&vs->bite_map, vs->mem);
    gm_map_deinit(&vs->whole_map, vs->mem);
    gm_map_deinit(&vs->shared_map, vs->mem);
    GM_VEC_FREE(vs->mem, vs->open);
    GM_VEC_FREE(vs->mem, vs->level);
    GM_VEC_FREE(vs->mem, vs->open_bites);
    GM_VEC_FREE(vs->mem, vs->ranges);
    GM_VEC_FREE(vs->mem, vs->after);
    GM_VEC_FREE(vs->mem, vs->sorted);
    GM_VEC_FREE(vs->mem, vs->differing);
    GM_VEC_FREE(vs->mem, vs->pairs);
    GM_VEC_FREE(vs->mem, vs->pieces);
    GM_VEC_FREE(vs->mem, vs->joined);
    GM_VEC_FREE(vs->mem, vs->listed);
    GM_VEC_FREE(vs->mem, vs->parts);
    gm_map_deinit(&vs->part_map, vs->mem);
    gm_map_deinit(&vs->part_back, vs->mem);
    GM_VEC_FREE(vs->mem, vs->compared);
    GM_VEC_FREE(vs->mem, vs->wholes);
    gm_map_deinit(&vs->set_map, vs->mem);
    gm_index_deinit(&vs->set_index, vs->mem);
    gm_pool_deinit(&vs->sets, vs->mem);
}

/* -- debts ---------------------------------------------------------------------------------------- */

GmStatus gm_debt_bites(GmViews *vs, uint32_t node, GmRe debt, bool *out, GmError *err)
{
    const GmTrieNode *nodes = vs->trie->nodes;
    if (debt == GM_RE_EMPTY || nodes[node].end == node + 1) {
        *out = false;
        return GM_OK;
    }
    uint32_t known = gm_map_get(&vs->bite_map, gm_pair(node, debt));
    if (known != GM_NONE) {
        *out = known != 0;
        return GM_OK;
    }
    bool bites = false;
    uint32_t base = vs->open_bites.len;
    GM_PUSH(vs->mem, vs->open_bites, ((GmOpen){NULL, nodes[node].end, GM_RE_EMPTY, debt}));
    for (uint32_t c = node + 1; c < nodes[node].end && !bites;) {
        while (c >= vs->open_bites.data[vs->open_bites.len - 1].end) {
            vs->open_bites.len--;
        }
        GmRe rest;
        GM_TRY(gm_debt_step(vs, vs->open_bites.data[vs->open_bites.len - 1].debt, nodes[c].byte, &rest, &bites, err));
        if (rest == GM_RE_EMPTY) {
            c = nodes[c].end;
            continue;
        }
        GM_PUSH(vs->mem, vs->open_bites, ((GmOpen){NULL, nodes[c].end, GM_RE_EMPTY, rest}));
        c++;
    }
    vs->open_bites.len = base;
    GM_TRY(gm_map_put(&vs->bite_map, vs->mem, gm_pair(node, debt), bites, err));
    *out = bites;
    return GM_OK;
}

/* Each child byte is judged against the debt at once, so nearly every entry owes nothing and an entry that
 * cannot go on is not there at all. */
GmStatus gm_entries_under(GmViews *vs, uint32_t node, GmRe debt, GmError *err)
{
    const GmTrie *trie = vs->trie;
    const uint32_t from = trie->child_from[node], to = trie->child_from[node + 1];
    GM_RESERVE(vs->mem, vs->after, (size_t)vs->after.len + (to - from));
    for (uint32_t i = from; i < to; i++) {
        const uint32_t c = trie->child[i];
        GmRe rest = GM_RE_EMPTY;
        if (debt != GM_RE_EMPTY) {
            bool violated, bites;
            GM_TRY(gm_debt_step(vs, debt, trie->child_byte[i], &rest, &violated, err));
            if (violated) {
                continue;
            }
            GM_TRY(gm_debt_bites(vs, c, rest, &bites, err));
            rest = bites ? rest : GM_RE_EMPTY;
        }
        vs->after.data[vs->after.len++] = (GmEntry){c, rest};
    }
    return GM_OK;
}

/* -- bases and views ------------------------------------------------------------------------------- */

int gm_entry_compare(const void *x, const void *y)
{
    const GmEntry *a = x, *b = y;
    if (a->node != b->node) {
        return a->node < b->node ? -1 : 1;
    }
    return a->debt < b->debt ? -1 : a->debt > b->debt;
}

/* Of two entries with one node the one that owes a superset adds nothing. Entries are sorted by node. */
static uint32_t drop_covered(const GmRegex *rx, GmEntry *e, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n;) {
        uint32_t j = i;
        while (j < n && e[j].node == e[i].node) {
            j++;
        }
        for (uint32_t k = i; k < j; k++) {
            bool covered = k > i && e[k].debt == e[k - 1].debt;
            for (uint32_t m = i; m < j && !covered; m++) {
                covered = e[m].debt != e[k].debt && gm_re_covers(rx, e[k].debt, e[m].debt);
            }
            if (!covered) {
                e[kept++] = e[k];
            }
        }
        i = j;
    }
    return kept;
}

/* Entries in buckets by byte, into `out`, each bucket in the order given; the bucket ends in ends[byte]. */
static uint32_t bucket_entries(const GmViews *vs, const GmEntry *e, uint32_t n, GmEntry *out, uint32_t ends[257])
{
    const GmTrieNode *nodes = vs->trie->nodes;
    uint32_t n_buckets = 0, at = 0;
    memset(ends, 0, 257 * sizeof *ends);
    for (uint32_t i = 0; i < n; i++) {
        ends[nodes[e[i].node].byte]++;
    }
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t count = ends[b];
        n_buckets += count > 0;
        ends[b] = at;
        at += count;
    }
    for (uint32_t i = 0; i < n; i++) {
        out[ends[nodes[e[i].node].byte]++] = e[i];
    }
    return n_buckets;
}

static GmStatus base_add(GmViews *vs, const GmEntry *sorted, uint32_t n, const uint32_t ends[257], uint32_t n_buckets,
                         uint32_t *out, GmError *err)
{
    void *p;
    GM_TRY(gm_arena_alloc(vs->arena, n * sizeof(GmEntry), &p, err));
    GmEntry *entries = p;
    memcpy(entries, sorted, n * sizeof(GmEntry));
    GM_TRY(gm_arena_alloc(vs->arena, n_buckets * sizeof(GmBucket), &p, err));
    GmBucket *buckets = p;
    uint32_t from = 0, k = 0;
    memset(buckets, 0, n_buckets * sizeof(GmBucket));
    for (uint32_t b = 0; b < 256; b++) {
        if (ends[b] > from) {
            buckets[k].start = from;
            buckets[k].end = ends[b];
            buckets[k++].byte = (uint8_t)b;
            from = ends[b];
        }
    }
    GM_TRY(gm_pool_add(&vs->bases, vs->mem, out, &p, err));
    *(GmBase *)p = (GmBase){entries, buckets, n, n_buckets, GM_BASE_UNKNOWN};
    return GM_OK;
}

/* In any order, since walks find them in several. */
static uint64_t entries_hash(const GmEntry *e, uint32_t n)
{
    uint64_t hash = n;
    for (uint32_t i = 0; i < n; i++) {
        hash += gm_mix(gm_pair(e[i].node, e[i].debt) + 1);
    }
    return hash;
}

/* The base with these entries, in whatever order, or GM_NONE. */
static GmStatus base_find(GmViews *vs, const GmEntry *e, uint32_t n, uint64_t hash, uint32_t *out, GmError *err)
{
    uint32_t at = (uint32_t)(hash >> 32);
    while ((*out = gm_index_next(&vs->base_index, hash, &at)) != GM_NONE) {
        const GmBase *base = gm_pool_at(&vs->bases, *out);
        if (base->n_entries != n) {
            continue;
        }
        if (memcmp(base->entries, e, n * sizeof *e) == 0) {
            return GM_OK;
        }
        GM_RESERVE(vs->mem, vs->compared, 2 * (size_t)n);
        GmEntry *x = vs->compared.data, *y = x + n;
        memcpy(x, base->entries, n * sizeof *x);
        memcpy(y, e, n * sizeof *y);
        qsort(x, n, sizeof *x, gm_entry_compare);
        qsort(y, n, sizeof *y, gm_entry_compare);
        if (memcmp(x, y, n * sizeof *x) == 0) {
            return GM_OK;
        }
    }
    return GM_OK;
}

/* The base of these entries, interned unless large. `distinct`: no node occurs twice. */
static GmStatus base_of(GmViews *vs, GmEntry *e, uint32_t n, bool distinct, uint32_t *out, GmError *err)
{
    if (!distinct || n <= GM_BASE_SMALL) {
        qsort(e, n, sizeof *e, gm_entry_compare);
        n = drop_covered(vs->rx, e, n);
    }
    uint32_t ends[257];
    GM_RESERVE(vs->mem, vs->sorted, n);
    GmEntry *sorted = vs->sorted.data;
    uint32_t n_buckets = bucket_entries(vs, e, n, sorted, ends);
    if (n > BASE_INTERNED && !vs->closing) {
        return base_add(vs, sorted, n, ends, n_buckets, out, err);
    }
    uint64_t hash = entries_hash(sorted, n);
    GM_TRY(base_find(vs, sorted, n, hash, out, err));
    if (*out != GM_NONE) {
        return GM_OK;
    }
    GM_TRY(base_add(vs, sorted, n, ends, n_buckets, out, err));
    return gm_index_add(&vs->base_index, vs->mem, hash, *out, err);
}

GmStatus gm_view_base(GmViews *vs, GmEntry *entries, uint32_t n, uint32_t *base, GmError *err)
{
    return base_of(vs, entries, n, true, base, err);
}

GmStatus gm_view_base_of_shared(GmViews *vs, const GmSharedBase *shared, uint32_t *base, GmError *err)
{
    uint64_t hash = 0;
    void *p;
    if (vs->closing) {
        hash = entries_hash(shared->entries, shared->n_entries);
        GM_TRY(base_find(vs, shared->entries, shared->n_entries, hash, base, err));
        if (*base != GM_NONE) {
            return GM_OK;
        }
    }
    GM_TRY(gm_pool_add(&vs->bases, vs->mem, base, &p, err));
    *(GmBase *)p = (GmBase){shared->entries, shared->buckets, shared->n_entries, shared->n_buckets, GM_BASE_UNKNOWN};
    return vs->closing ? gm_index_add(&vs->base_index, vs->mem, hash, *base, err) : GM_OK;
}

GmStatus gm_view_base_of_part(GmViews *vs, const GmBase *other, uint32_t *base, GmError *err)
{
    uint64_t hash = 0;
    void *p;
    bool whole = other->n_entries <= BASE_INTERNED; /* and not around holes */
    for (uint32_t i = 0; i < other->n_buckets && whole; i++) {
        whole = other->buckets[i].start == (i == 0 ? 0 : other->buckets[i - 1].end);
    }
    if (whole) {
        hash = entries_hash(other->entries, other->n_entries);
        GM_TRY(base_find(vs, other->entries, other->n_entries, hash, base, err));
        if (*base != GM_NONE) {
            return GM_OK;
        }
    }
    GM_TRY(gm_pool_add(&vs->bases, vs->mem, base, &p, err));
    *(GmBase *)p = (GmBase){other->entries, other->buckets, other->n_entries, other->n_buckets, GM_BASE_UNKNOWN};
    return whole ? gm_index_add(&vs->base_index, vs->mem, hash, *base, err) : GM_OK;
}

uint32_t gm_view_find_base(const GmViews *part, const GmBase *base)
{
    if (base->n_entries > BASE_INTERNED || base->n_buckets == 0 || base->buckets[base->n_buckets - 1].end != base->n_entries) {
        return GM_NONE; /* not interned, or around holes */
    }
    uint64_t hash = entries_hash(base->entries, base->n_entries);
    uint32_t at = (uint32_t)(hash >> 32), found;
    while ((found = gm_index_next(&part->base_index, hash, &at)) != GM_NONE) {
        const GmBase *other = gm_pool_at(&part->bases, found);
        if (other->n_entries == base->n_entries &&
            memcmp(other->entries, base->entries, base->n_entries * sizeof(GmEntry)) == 0) {
            break;
        }
    }
    return found;
}

static int compare_u32(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

GmStatus gm_view_of(GmViews *vs, uint32_t *bases, uint32_t n, uint32_t *view, GmError *err)
{
    if (n > 1) {
        qsort(bases, n, sizeof *bases, compare_u32);
        uint32_t kept = 0, small = 0, start = vs->after.len;
        for (uint32_t i = 0; i < n; i++) {
            if (kept == 0 || bases[i] != bases[kept - 1]) {
                bases[kept++] = bases[i];
            }
        }
        n = kept;
        for (uint32_t i = 0; i < n; i++) {
            small += ((const GmBase *)gm_pool_at(&vs->bases, bases[i]))->n_entries <= GM_BASE_SMALL;
        }
        if (small > 1) {
            kept = 0;
            for (uint32_t i = 0; i < n; i++) {
                const GmBase *base = gm_pool_at(&vs->bases, bases[i]);
                if (base->n_entries > GM_BASE_SMALL) {
                    bases[kept++] = bases[i];
                    continue;
                }
                for (uint32_t j = 0; j < base->n_entries; j++) {
                    GM_PUSH(vs->mem, vs->after, base->entries[j]);
                }
            }
            uint32_t merged;
            GM_TRY(base_of(vs, vs->after.data + start, vs->after.len - start, false, &merged, err));
            vs->after.len = start;
            bases[kept++] = merged;
            n = kept;
            qsort(bases, n, sizeof *bases, compare_u32);
        }
    }
    if (n == 0) {
        *view = GM_VIEW_EMPTY;
        return GM_OK;
    }
    uint64_t hash = gm_hash_words(bases, n, 3);
    uint32_t at = (uint32_t)(hash >> 32), found;
    while ((found = gm_index_next(&vs->view_index, hash, &at)) != GM_NONE) {
        const GmView *old = gm_view_at(vs, found);
        if (old->n == n && memcmp(old->bases, bases, n * sizeof *bases) == 0) {
            *view = found;
            return GM_OK;
        }
    }
    void *list, *p;
    GM_TRY(gm_arena_alloc(vs->arena, n * sizeof *bases, &list, err));
    memcpy(list, bases, n * sizeof *bases);
    GM_TRY(gm_pool_add(&vs->views, vs->mem, view, &p, err));
    *(GmView *)p = (GmView){list, n};
    return gm_index_add(&vs->view_index, vs->mem, hash, *view, err);
}

GmStatus gm_view_of_after(GmViews *vs, uint32_t start, bool distinct, uint32_t *view, GmError *err)
{
    uint32_t n = vs->after.len - start, base;
    *view = GM_VIEW_EMPTY;
    if (n > 0) {
        GM_TRY(base_of(vs, vs->after.data + start, n, distinct, &base, err));
        GM_TRY(gm_view_of(vs, &base, 1, view, err));
    }
    vs->after.len = start;
    return GM_OK;
}

GmStatus gm_view_whole(GmViews *vs, GmRe debt, uint32_t *view, GmError *err)
{
    *view = gm_view_find_whole(vs, debt);
    if (*view != GM_NONE) {
        return GM_OK;
    }
    uint32_t start = vs->after.len;
    GM_TRY(gm_entries_under(vs, 0, debt, err));
    GM_TRY(gm_view_of_after(vs, start, true, view, err));
    GM_PUSH(vs->mem, vs->wholes, ((GmWhole){debt, *view}));
    return gm_map_put(&vs->whole_map, vs->mem, debt, *view, err);
}

/* -- sets ------------------------------------------------------------------------------------------- */

/* The one set with these words. */
static GmStatus same_set(GmViews *vs, const uint32_t *words, const uint32_t **out, GmError *err)
{
    uint64_t address = (uint64_t)(uintptr_t)words;
    uint32_t known = gm_map_get(&vs->set_map, address), n_words = vs->trie->n_words;
    if (known == GM_NONE) {
        uint64_t hash = gm_hash_bytes((Hash128){59, 61}, words, n_words * sizeof *words).a;
        uint32_t at = (uint32_t)(hash >> 32);
        while ((known = gm_index_next(&vs->set_index, hash, &at)) != GM_NONE) {
            if (memcmp(*(const uint32_t *const *)gm_pool_at(&vs->sets, known), words, n_words * sizeof *words) == 0) {
                break;
            }
        }
        if (known == GM_NONE) {
            void *p;
            GM_TRY(gm_pool_add(&vs->sets, vs->mem, &known, &p, err));
            *(const uint32_t **)p = words;
            GM_TRY(gm_index_add(&vs->set_index, vs->mem, hash, known, err));
        }
        GM_TRY(gm_map_put(&vs->set_map, vs->mem, address, known, err));
    }
    *out = *(const uint32_t *const *)gm_pool_at(&vs->sets, known);
    return GM_OK;
}

GmStatus gm_view_same_sets(GmViews *vs, GmToks *toks, GmError *err)
{
    void *p = NULL;
    for (uint32_t i = 0; i < toks->n_dense; i++) {
        const uint32_t *words = NULL;
        GM_TRY(same_set(vs, toks->dense[i], &words, err));
        if (words == toks->dense[i]) {
            continue;
        }
        if (p == NULL) { /* the list may belong to the vocabulary */
            GM_TRY(gm_arena_alloc(vs->arena, toks->n_dense * sizeof(uint32_t *), &p, err));
            memcpy(p, toks->dense, toks->n_dense * sizeof(uint32_t *));
            toks->dense = p;
        }
        ((const uint32_t **)p)[i] = words;
    }
    return GM_OK;
}
