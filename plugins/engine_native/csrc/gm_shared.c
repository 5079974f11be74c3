#include "gm_shared.h"

#include "gm_view.h"

#include <string.h>

void gm_shared_init(GmShared *shared, const GmMem *owner, size_t budget)
{
    memset(shared, 0, sizeof *shared);
    gm_mutex_init(&shared->lock);
    gm_mem_init_like(&shared->mem, owner, budget, "memory_bytes");
    gm_arena_init(&shared->arena, &shared->mem);
    gm_pool_init(&shared->steps, sizeof(GmSharedStep));
    gm_pool_init(&shared->step_keys, sizeof(Hash128));
    gm_pool_init(&shared->bases, sizeof(GmSharedBase));
    gm_pool_init(&shared->dense, sizeof(const uint32_t *));
}

void gm_shared_deinit(GmShared *shared)
{
    gm_index_deinit(&shared->step_index, &shared->mem);
    gm_index_deinit(&shared->base_index, &shared->mem);
    gm_index_deinit(&shared->dense_index, &shared->mem);
    gm_pool_deinit(&shared->steps, &shared->mem);
    gm_pool_deinit(&shared->step_keys, &shared->mem);
    gm_pool_deinit(&shared->bases, &shared->mem);
    gm_pool_deinit(&shared->dense, &shared->mem);
    gm_arena_deinit(&shared->arena);
    gm_mutex_deinit(&shared->lock);
}

GmShared *gm_shared_new(const GmMem *owner, size_t budget)
{
    GmShared *shared = gm_mem_object(owner, sizeof *shared);
    if (shared != NULL) {
        gm_shared_init(shared, owner, budget);
        atomic_init(&shared->references, 1);
    }
    return shared;
}

void gm_shared_retain(GmShared *shared) { (void)atomic_fetch_add(&shared->references, 1); }

void gm_shared_release(GmShared *shared)
{
    if (shared != NULL && atomic_fetch_sub(&shared->references, 1) == 1) {
        const GmMem mem = shared->mem;
        gm_shared_deinit(shared);
        gm_mem_object_free(&mem, shared, sizeof *shared);
    }
}

static const GmSharedStep *find(GmShared *shared, Hash128 key)
{
    uint32_t at = (uint32_t)(key.a >> 32), found;
    while ((found = gm_index_next(&shared->step_index, key.a, &at)) != GM_NONE) {
        const Hash128 *other = gm_pool_at(&shared->step_keys, found);
        if (other->a == key.a && other->b == key.b) {
            return gm_pool_at(&shared->steps, found);
        }
    }
    return NULL;
}

const GmSharedStep *gm_shared_find(GmShared *shared, Hash128 key)
{
    gm_mutex_lock(&shared->lock);
    const GmSharedStep *step = find(shared, key);
    gm_mutex_unlock(&shared->lock);
    return step;
}

static GmStatus keep_dense(GmShared *shared, const uint32_t *words, uint32_t n_words, const uint32_t **out, GmError *err)
{
    uint64_t hash = gm_hash_bytes((Hash128){31, 37}, words, n_words * sizeof *words).a;
    uint32_t at = (uint32_t)(hash >> 32), found;
    while ((found = gm_index_next(&shared->dense_index, hash, &at)) != GM_NONE) {
        *out = *(const uint32_t *const *)gm_pool_at(&shared->dense, found);
        if (memcmp(*out, words, n_words * sizeof *words) == 0) {
            return GM_OK;
        }
    }
    void *copy, *p;
    GM_TRY(gm_arena_alloc(&shared->arena, n_words * sizeof *words, &copy, err));
    memcpy(copy, words, n_words * sizeof *words);
    GM_TRY(gm_pool_add(&shared->dense, &shared->mem, &found, &p, err));
    *(const uint32_t **)p = copy;
    *out = copy;
    return gm_index_add(&shared->dense_index, &shared->mem, hash, found, err);
}

static GmStatus keep_toks(GmShared *shared, const GmToks *toks, uint32_t n_words, GmToks *out, GmError *err)
{
    void *p;
    memset(out, 0, sizeof *out);
    if (toks->n_ids > 0) {
        GM_TRY(gm_arena_alloc(&shared->arena, toks->n_ids * sizeof(uint32_t), &p, err));
        memcpy(p, toks->ids, toks->n_ids * sizeof(uint32_t));
        out->ids = p;
        out->n_ids = toks->n_ids;
    }
    if (toks->n_dense > 0) {
        GM_TRY(gm_arena_alloc(&shared->arena, toks->n_dense * sizeof(uint32_t *), &p, err));
        const uint32_t **list = p;
        for (uint32_t i = 0; i < toks->n_dense; i++) {
            GM_TRY(keep_dense(shared, toks->dense[i], n_words, &list[i], err));
        }
        out->dense = (const uint32_t *const *)list;
        out->n_dense = toks->n_dense;
    }
    return GM_OK;
}

static GmStatus keep_base(GmShared *shared, const GmEntry *entries, uint32_t n_entries, const GmBucket *buckets,
                          uint32_t n_buckets, const GmSharedBase **out, GmError *err)
{
    uint64_t hash = gm_hash_bytes((Hash128){41, 43}, entries, n_entries * sizeof *entries).a;
    uint32_t at = (uint32_t)(hash >> 32), found;
    while ((found = gm_index_next(&shared->base_index, hash, &at)) != GM_NONE) {
        const GmSharedBase *base = gm_pool_at(&shared->bases, found);
        if (base->n_entries == n_entries && memcmp(base->entries, entries, n_entries * sizeof *entries) == 0) {
            *out = base;
            return GM_OK;
        }
    }
    void *e, *b, *p;
    GM_TRY(gm_arena_alloc(&shared->arena, n_entries * sizeof *entries, &e, err));
    memcpy(e, entries, n_entries * sizeof *entries);
    GM_TRY(gm_arena_alloc(&shared->arena, n_buckets * sizeof *buckets, &b, err));
    memcpy(b, buckets, n_buckets * sizeof *buckets);
    GM_TRY(gm_pool_add(&shared->bases, &shared->mem, &found, &p, err));
    *(GmSharedBase *)p = (GmSharedBase){e, b, n_entries, n_buckets, found};
    *out = p;
    return gm_index_add(&shared->base_index, &shared->mem, hash, found, err);
}

static GmStatus keep(GmShared *shared, Hash128 key, const GmToks *inside, uint32_t n_words, const GmEntry *entries,
                     uint32_t n_entries, const GmBucket *buckets, uint32_t n_buckets, const GmSharedStep **out, GmError *err)
{
    GmSharedStep made = {{NULL, NULL, NULL, 0, 0, 0}, NULL};
    GM_TRY(keep_toks(shared, inside, n_words, &made.inside, err));
    if (n_entries > 0) {
        GM_TRY(keep_base(shared, entries, n_entries, buckets, n_buckets, &made.after, err));
    }
    uint32_t id, key_id;
    void *p, *k;
    GM_TRY(gm_pool_add(&shared->step_keys, &shared->mem, &key_id, &k, err));
    *(Hash128 *)k = key;
    GM_TRY(gm_pool_add(&shared->steps, &shared->mem, &id, &p, err));
    GM_CHECK(id == key_id, err);
    *(GmSharedStep *)p = made;
    GM_TRY(gm_index_add(&shared->step_index, &shared->mem, key.a, id, err));
    *out = p;
    return GM_OK;
}

const GmSharedStep *gm_shared_keep(GmShared *shared, Hash128 key, const GmToks *inside, uint32_t n_words,
                                   const GmEntry *entries, uint32_t n_entries, const GmBucket *buckets, uint32_t n_buckets)
{
    gm_mutex_lock(&shared->lock);
    const GmSharedStep *step = find(shared, key);
    size_t need = (size_t)n_entries * sizeof *entries + inside->n_dense * n_words * sizeof(uint32_t) + 65536;
    if (step == NULL && need < shared->mem.limit - shared->mem.used && shared->steps.len == shared->step_keys.len) {
        GmError err;
        if (keep(shared, key, inside, n_words, entries, n_entries, buckets, n_buckets, &step, &err) != GM_OK) {
            step = NULL; /* what was made stays, unused; ids of keys and steps may differ now, so no more is kept */
        }
    }
    gm_mutex_unlock(&shared->lock);
    return step;
}

uint64_t gm_shared_bytes(GmShared *shared)
{
    gm_mutex_lock(&shared->lock);
    uint64_t used = shared->mem.used;
    gm_mutex_unlock(&shared->lock);
    return used;
}
