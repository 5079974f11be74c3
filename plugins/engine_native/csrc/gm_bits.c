#include "gm_bits.h"

#include <string.h>

/* -- lists --------------------------------------------------------------------------------------------- */

void gm_ids_init(GmIdLists *lists)
{
    gm_pool_init(&lists->lists, sizeof(GmIdList));
    memset(&lists->index, 0, sizeof lists->index);
}

void gm_ids_deinit(GmIdLists *lists, GmMem *mem)
{
    gm_pool_deinit(&lists->lists, mem);
    gm_index_deinit(&lists->index, mem);
}

static uint64_t list_hash(const uint32_t *ids, uint32_t n)
{
    uint64_t hash = n & 1 ? gm_pair(n, ids[n - 1]) : n;
    for (uint32_t i = 0; i + 1 < n; i += 2) {
        hash = (hash ^ gm_pair(ids[i], ids[i + 1])) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 32;
    }
    return gm_mix(hash);
}

GmStatus gm_ids_keep(GmIdLists *lists, GmArena *arena, const uint32_t *ids, uint32_t n, const uint32_t **out, GmError *err)
{
    *out = NULL;
    if (n == 0) {
        return GM_OK;
    }
    const uint64_t hash = list_hash(ids, n);
    uint32_t at = (uint32_t)(hash >> 32), id;
    while ((id = gm_index_next(&lists->index, hash, &at)) != GM_NONE) {
        const GmIdList *known = gm_pool_at(&lists->lists, id);
        if (known->n == n && memcmp(known->ids, ids, n * sizeof *ids) == 0) {
            *out = known->ids;
            return GM_OK;
        }
    }
    void *copy, *p;
    GM_TRY(gm_arena_alloc(arena, n * sizeof *ids, &copy, err));
    memcpy(copy, ids, n * sizeof *ids);
    GM_TRY(gm_pool_add(&lists->lists, arena->mem, &id, &p, err));
    *(GmIdList *)p = (GmIdList){copy, n};
    *out = copy;
    return gm_index_add(&lists->index, arena->mem, hash, id, err);
}

/* -- unions under construction -------------------------------------------------------------------------- */

void gm_gather_deinit(GmGather *g, GmMem *mem)
{
    GM_VEC_FREE(mem, g->ids);
    GM_VEC_FREE(mem, g->dense);
}

static void or_less(const GmToks *toks, uint32_t *words, uint32_t n_words);

/* A dense set of its own for the part of `toks` that has something taken out. */
static GmStatus gather_less(GmGather *g, GmArena *arena, const GmToks *toks, uint32_t n_words, GmError *err)
{
    void *p;
    GM_TRY(gm_arena_zeroed(arena, n_words, sizeof(uint32_t), &p, err));
    or_less(toks, p, n_words);
    GM_PUSH(arena->mem, g->dense, p);
    return GM_OK;
}

GmStatus gm_gather_add(GmGather *g, GmArena *arena, const GmToks *toks, uint32_t n_words, GmError *err)
{
    GmMem *mem = arena->mem;
    if (toks->n_ids > 0) {
        GM_RESERVE(mem, g->ids, (size_t)g->ids.len + toks->n_ids);
        memcpy(g->ids.data + g->ids.len, toks->ids, toks->n_ids * sizeof(uint32_t));
        g->ids.len += toks->n_ids;
    }
    if (toks->n_minus > 0) {
        return gather_less(g, arena, toks, n_words, err);
    }
    for (uint32_t i = 0; i < toks->n_dense; i++) {
        uint32_t j = 0;
        while (j < g->dense.len && g->dense.data[j] != toks->dense[i]) {
            j++;
        }
        if (j == g->dense.len) {
            GM_PUSH(mem, g->dense, toks->dense[i]);
        }
    }
    return GM_OK;
}

/* Sort by insertion when short, else by 8 bits at a time (11 when long; ids are below 2^33). `spare` has room for n. */
static void sort_ids(uint32_t *v, uint32_t *spare, uint32_t n)
{
    if (n <= 48) {
        for (uint32_t i = 1; i < n; i++) {
            uint32_t x = v[i], j = i;
            for (; j > 0 && v[j - 1] > x; j--) {
                v[j] = v[j - 1];
            }
            v[j] = x;
        }
        return;
    }
    uint32_t top = 0;
    for (uint32_t i = 0; i < n; i++) {
        top |= v[i];
    }
    const uint32_t bits = n < 1024 ? 8 : 11, size = (uint32_t)1 << bits;
    uint32_t *from = v, *to = spare;
    for (uint32_t shift = 0; shift < 32 && top >> shift != 0; shift += bits) {
        uint32_t start[2049];
        memset(start, 0, (size + 1) * sizeof *start);
        for (uint32_t i = 0; i < n; i++) {
            start[(from[i] >> shift & (size - 1)) + 1]++;
        }
        for (uint32_t k = 0; k < size; k++) {
            start[k + 1] += start[k];
        }
        for (uint32_t i = 0; i < n; i++) {
            to[start[from[i] >> shift & (size - 1)]++] = from[i];
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    if (from != v) {
        memcpy(v, from, n * sizeof *v);
    }
}

void gm_bits_or(uint32_t *words, const uint32_t *from, uint32_t n_words)
{
    for (uint32_t i = 0; i < n_words; i++) {
        words[i] |= from[i];
    }
}

GmStatus gm_gather_finish(GmGather *g, GmArena *arena, GmIdLists *lists, uint32_t n_words, GmToks *out, GmError *err)
{
    void *p;
    memset(out, 0, sizeof *out);
    if (g->ids.len > 1 && g->ids.len <= 4 * GM_SPARSE_MAX) { /* longer ones become dense, whatever is equal */
        GM_RESERVE(arena->mem, g->ids, 2 * (size_t)g->ids.len);
        sort_ids(g->ids.data, g->ids.data + g->ids.len, g->ids.len);
        uint32_t kept = 1;
        for (uint32_t i = 1; i < g->ids.len; i++) {
            if (g->ids.data[i] != g->ids.data[kept - 1]) {
                g->ids.data[kept++] = g->ids.data[i];
            }
        }
        g->ids.len = kept;
    }
    if (g->ids.len > GM_SPARSE_MAX || g->dense.len > GM_DENSE_MAX) {
        GM_TRY(gm_arena_zeroed(arena, n_words, sizeof(uint32_t), &p, err));
        uint32_t *words = p;
        for (uint32_t i = 0; i < g->ids.len; i++) {
            gm_bits_set(words, g->ids.data[i]);
        }
        g->ids.len = 0;
        if (g->dense.len >= GM_DENSE_MAX) {
            for (uint32_t i = 0; i < g->dense.len; i++) {
                gm_bits_or(words, g->dense.data[i], n_words);
            }
            g->dense.len = 0;
        }
        GM_PUSH(arena->mem, g->dense, words);
    }
    if (g->ids.len > 0) {
        GM_TRY(gm_ids_keep(lists, arena, g->ids.data, g->ids.len, &out->ids, err));
        out->n_ids = g->ids.len;
    }
    if (g->dense.len > 0) {
        GM_TRY(gm_arena_alloc(arena, g->dense.len * sizeof(uint32_t *), &p, err));
        memcpy(p, g->dense.data, g->dense.len * sizeof(uint32_t *));
        out->dense = p;
        out->n_dense = g->dense.len;
    }
    g->ids.len = g->dense.len = 0;
    return GM_OK;
}

/* words |= the dense sets less `minus`: what words had of those stays. */
static void or_less(const GmToks *toks, uint32_t *words, uint32_t n_words)
{
    uint32_t had[(GM_MINUS_MAX + 31) / 32] = {0};
    for (uint32_t i = 0; i < toks->n_minus; i++) {
        had[i >> 5] |= (words[toks->minus[i] >> 5] >> (toks->minus[i] & 31) & 1) << (i & 31);
    }
    for (uint32_t i = 0; i < toks->n_dense; i++) {
        gm_bits_or(words, toks->dense[i], n_words);
    }
    for (uint32_t i = 0; i < toks->n_minus; i++) {
        if ((had[i >> 5] >> (i & 31) & 1) == 0) {
            gm_bits_clear(words, toks->minus[i]);
        }
    }
}

void gm_toks_or(const GmToks *toks, uint32_t *words, uint32_t n_words)
{
    or_less(toks, words, n_words);
    for (uint32_t i = 0; i < toks->n_ids; i++) {
        gm_bits_set(words, toks->ids[i]);
    }
}

/* -- unions of many ------------------------------------------------------------------------------------ */

enum { JOIN_MAX = 16, JOIN_BLOCK = 512 }; /* sets read in one pass; 512 words are 2 KB, a part of the first cache */

typedef struct Join {
    const uint32_t *from[JOIN_MAX]; /* distinct */
    uint32_t n, n_words;
    bool blank; /* nothing was written to words yet */
    uint32_t *words;
} Join;

/* words (blank: nothing) | the sets of `from`, in one pass. */
static void join_flush(Join *join)
{
    if (join->n == 0 && join->blank) {
        memset(join->words, 0, join->n_words * sizeof *join->words);
    }
    for (uint32_t at = 0; join->n > 0 && at < join->n_words; at += JOIN_BLOCK) {
        uint32_t *words = join->words + at, len = join->n_words - at, i = 0;
        len = len < JOIN_BLOCK ? len : JOIN_BLOCK;
        if (join->blank) {
            memcpy(words, join->from[i++] + at, len * sizeof *words);
        }
        for (; i + 1 < join->n; i += 2) {
            const uint32_t *a = join->from[i] + at, *b = join->from[i + 1] + at;
            for (uint32_t k = 0; k < len; k++) {
                words[k] |= a[k] | b[k];
            }
        }
        if (i < join->n) {
            gm_bits_or(words, join->from[i] + at, len);
        }
    }
    join->blank = false;
}

static bool join_has(const Join *join, const uint32_t *set)
{
    uint32_t i = 0;
    while (i < join->n && join->from[i] != set) {
        i++;
    }
    return i < join->n;
}

static void join_add(Join *join, const GmToks *toks)
{
    for (uint32_t i = 0; i < toks->n_dense; i++) {
        if (!join_has(join, toks->dense[i])) {
            if (join->n == JOIN_MAX) {
                join_flush(join);
                join->n = 0;
            }
            join->from[join->n++] = toks->dense[i];
        }
    }
}

/* A set with something taken out, when the words hold all that has nothing taken out. */
static void join_less(Join *join, const GmToks *toks)
{
    uint32_t known = 0;
    while (known < toks->n_dense && join_has(join, toks->dense[known])) {
        known++;
    }
    if (known < toks->n_dense) { /* else the words have it all already */
        or_less(toks, join->words, join->n_words);
    }
}

void gm_toks_join(const GmToks *const *toks, uint32_t n, uint32_t *words, uint32_t n_words)
{
    Join join = {{NULL}, 0, n_words, true, words};
    uint32_t first = n; /* of those with something taken out, when there are no others */
    for (uint32_t i = 0; i < n; i++) {
        if (toks[i]->n_minus == 0) {
            join_add(&join, toks[i]);
        } else if (first == n && toks[i]->n_dense > 0) {
            first = i;
        }
    }
    if (join.n == 0 && first != n) {
        join_add(&join, toks[first]);
        join_flush(&join);
        for (uint32_t k = 0; k < toks[first]->n_minus; k++) {
            gm_bits_clear(words, toks[first]->minus[k]);
        }
        join.n = 0; /* the words have less than these */
    } else {
        join_flush(&join);
        first = n;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (toks[i]->n_minus > 0 && i != first) {
            join_less(&join, toks[i]);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < toks[i]->n_ids; k++) {
            gm_bits_set(words, toks[i]->ids[k]);
        }
    }
}
