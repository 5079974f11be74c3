#include "gm_maskcache.h"

#include <string.h>

enum { LIST_MAX = 256 }; /* ids; setting them costs less than copying 16 KB */

void gm_maskcache_init(GmMaskCache *cache, const GmMem *owner, size_t budget, uint32_t n_words)
{
    memset(cache, 0, sizeof *cache);
    gm_mutex_init(&cache->lock);
    gm_mem_init_like(&cache->mem, owner, budget, "mask_cache_bytes");
    cache->budget = budget / 2;
    cache->off = budget == 0;
    cache->n_words = n_words;
}

static size_t mask_bytes(const GmMaskCache *cache, const GmMask *mask)
{
    return sizeof(GmMask) + (mask->n_ids == GM_NONE ? cache->n_words : mask->n_ids) * sizeof(uint32_t);
}

static void set_clear(GmMaskCache *cache, GmMaskSet *set)
{
    for (uint32_t i = 0; i < set->cap; i++) {
        if (set->slots[i] != NULL) {
            gm_mem_free(&cache->mem, set->slots[i], mask_bytes(cache, set->slots[i]));
        }
    }
    gm_mem_free(&cache->mem, set->slots, set->cap * sizeof(GmMask *));
    memset(set, 0, sizeof *set);
}

void gm_maskcache_deinit(GmMaskCache *cache)
{
    if (cache->n_words > 0 || !cache->off) {
        set_clear(cache, &cache->young);
        set_clear(cache, &cache->old);
        gm_mutex_deinit(&cache->lock);
    }
}

void gm_maskcache_limit(GmMaskCache *cache, size_t budget)
{
    if (cache->off) {
        return;
    }
    gm_mutex_lock(&cache->lock);
    cache->budget = budget / 2;
    if (cache->mem.used > budget) {
        set_clear(cache, &cache->old);
    }
    if (cache->mem.used > budget) {
        set_clear(cache, &cache->young);
    }
    cache->mem.limit = budget;
    gm_mutex_unlock(&cache->lock);
}

static GmMask **set_slot(const GmMaskSet *set, Hash128 key)
{
    uint32_t at = (uint32_t)key.a & (set->cap - 1);
    while (set->slots[at] != NULL && (set->slots[at]->key.a != key.a || set->slots[at]->key.b != key.b)) {
        at = (at + 1) & (set->cap - 1);
    }
    return &set->slots[at];
}

static bool set_add(GmMaskCache *cache, GmMaskSet *set, GmMask *mask)
{
    if (set->len + 1 > set->cap / 2) {
        GmMaskSet fresh = {NULL, set->cap == 0 ? 64 : set->cap * 2, set->len, set->bytes};
        void *p = NULL;
        if (gm_mem_resize(&cache->mem, &p, 0, fresh.cap * sizeof(GmMask *), NULL) != GM_OK) {
            return false;
        }
        memset(p, 0, fresh.cap * sizeof(GmMask *));
        fresh.slots = p;
        for (uint32_t i = 0; i < set->cap; i++) {
            if (set->slots[i] != NULL) {
                *set_slot(&fresh, set->slots[i]->key) = set->slots[i];
            }
        }
        gm_mem_free(&cache->mem, set->slots, set->cap * sizeof(GmMask *));
        *set = fresh;
    }
    *set_slot(set, mask->key) = mask;
    set->len++;
    set->bytes += mask_bytes(cache, mask);
    return true;
}

/* Take one mask out, closing the gap of its probe sequence. */
static GmMask *set_take(GmMaskCache *cache, GmMaskSet *set, GmMask **slot)
{
    GmMask *mask = *slot;
    uint32_t hole = (uint32_t)(slot - set->slots), at = hole, wrap = set->cap - 1;
    *slot = NULL;
    for (;;) {
        at = (at + 1) & wrap;
        GmMask *other = set->slots[at];
        if (other == NULL) {
            break;
        }
        uint32_t home = (uint32_t)other->key.a & wrap;
        if (((at - home) & wrap) >= ((at - hole) & wrap)) {
            set->slots[hole] = other;
            set->slots[at] = NULL;
            hole = at;
        }
    }
    set->len--;
    set->bytes -= mask_bytes(cache, mask);
    return mask;
}

static void mask_copy(const GmMaskCache *cache, const GmMask *mask, uint32_t *words)
{
    if (mask->n_ids == GM_NONE) {
        memcpy(words, mask->data, cache->n_words * sizeof(uint32_t));
        return;
    }
    memset(words, 0, cache->n_words * sizeof(uint32_t));
    for (uint32_t i = 0; i < mask->n_ids; i++) {
        words[mask->data[i] >> 5] |= (uint32_t)1 << (mask->data[i] & 31);
    }
}

bool gm_maskcache_get(GmMaskCache *cache, Hash128 key, uint32_t *words)
{
    if (cache->off) {
        return false;
    }
    bool found = false;
    gm_mutex_lock(&cache->lock);
    GmMask **slot = cache->young.cap > 0 ? set_slot(&cache->young, key) : NULL;
    if (slot != NULL && *slot != NULL) {
        mask_copy(cache, *slot, words);
        found = true;
    } else if (cache->old.cap > 0 && *(slot = set_slot(&cache->old, key)) != NULL) {
        mask_copy(cache, *slot, words);
        found = true;
        GmMask *mask = set_take(cache, &cache->old, slot);
        if (!set_add(cache, &cache->young, mask)) {
            gm_mem_free(&cache->mem, mask, mask_bytes(cache, mask));
        }
    }
    gm_mutex_unlock(&cache->lock);
    return found;
}

void gm_maskcache_put(GmMaskCache *cache, Hash128 key, const uint32_t *words)
{
    if (cache->off) {
        return;
    }
    uint64_t *once = &cache->once[key.b % GM_MASK_ONCE];
    gm_mutex_lock(&cache->lock);
    bool again = *once == key.a;
    *once = key.a;
    gm_mutex_unlock(&cache->lock);
    if (!again) {
        return;
    }
    uint32_t ids[LIST_MAX], n = 0;
    for (uint32_t i = 0; i < cache->n_words && n != GM_NONE; i++) {
        for (uint32_t w = words[i]; w != 0; w &= w - 1) {
            if (n == LIST_MAX) {
                n = GM_NONE;
                break;
            }
            ids[n++] = i * 32 + gm_top_bit(w & (0u - w));
        }
    }
    GmMask head = {key, n};
    size_t bytes = mask_bytes(cache, &head);
    gm_mutex_lock(&cache->lock);
    if (bytes <= cache->budget && (cache->young.cap == 0 || *set_slot(&cache->young, key) == NULL)) {
        if (cache->young.bytes + bytes > cache->budget) {
            set_clear(cache, &cache->old);
            cache->old = cache->young;
            memset(&cache->young, 0, sizeof cache->young);
        }
        void *p = NULL;
        if (gm_mem_resize(&cache->mem, &p, 0, bytes, NULL) == GM_OK) {
            GmMask *mask = p;
            mask->key = key;
            mask->n_ids = n;
            if (n == GM_NONE) {
                memcpy(mask->data, words, cache->n_words * sizeof(uint32_t));
            } else if (n > 0) {
                memcpy(mask->data, ids, n * sizeof(uint32_t));
            }
            if (!set_add(cache, &cache->young, mask)) {
                gm_mem_free(&cache->mem, mask, bytes);
            }
        }
    }
    gm_mutex_unlock(&cache->lock);
}
