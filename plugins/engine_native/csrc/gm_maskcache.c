#include "gm_maskcache.h"

#include <string.h>

enum { LIST_MAX = 256 }; /* ids; setting them costs less than copying 16 KB */
enum { DIFFERENT_MAX = 160 }; /* words; a quarter of that on top of the copy */
enum { BASES = 64 };

void gm_maskcache_init(GmMaskCache *cache, const GmMem *owner, GmShared *shared, uint32_t base_words, size_t budget,
                       uint32_t n_words)
{
    memset(cache, 0, sizeof *cache);
    gm_mutex_init(&cache->lock);
    gm_mem_init_like(&cache->mem, owner, budget, "mask_cache_bytes");
    cache->budget = budget / 2;
    cache->off = budget == 0;
    cache->n_words = n_words;
    cache->shared = shared;
    cache->base_words = base_words;
}

static size_t mask_bytes(const GmMaskCache *cache, const GmMask *mask)
{
    const uint32_t size = mask->base != NULL ? 2 * mask->n : mask->n;
    return sizeof(GmMask) + (mask->n == GM_NONE ? cache->n_words : size) * sizeof(uint32_t);
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
    if (mask->n == GM_NONE) {
        memcpy(words, mask->data, cache->n_words * sizeof(uint32_t));
        return;
    }
    if (mask->base != NULL) {
        memcpy(words, mask->base, cache->base_words * sizeof(uint32_t));
        memset(words + cache->base_words, 0, (cache->n_words - cache->base_words) * sizeof(uint32_t));
        for (uint32_t i = 0; i < 2 * mask->n; i += 2) {
            words[mask->data[i]] ^= mask->data[i + 1];
        }
        return;
    }
    memset(words, 0, cache->n_words * sizeof(uint32_t));
    for (uint32_t i = 0; i < mask->n; i++) {
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

/* The ids of a mask, GM_NONE when there are too many. */
static uint32_t mask_ids(const GmMaskCache *cache, const uint32_t *words, uint32_t ids[LIST_MAX])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < cache->n_words; i++) {
        for (uint32_t w = words[i]; w != 0; w &= w - 1) {
            if (n == LIST_MAX) {
                return GM_NONE;
            }
            ids[n++] = i * 32 + gm_top_bit(w & (0u - w));
        }
    }
    return n;
}

/* The words of a mask that are not those of `base`, GM_NONE when there are too many. Most candidates are out soon. */
static uint32_t mask_differences(const GmMaskCache *cache, const uint32_t *words, const uint32_t *base,
                                 uint32_t pairs[2 * DIFFERENT_MAX])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < cache->n_words; i++) {
        const uint32_t bits = words[i] ^ (i < cache->base_words ? base[i] : 0);
        if (bits != 0) {
            if (n == DIFFERENT_MAX) {
                return GM_NONE;
            }
            pairs[2 * n] = i;
            pairs[2 * n++ + 1] = bits;
        }
    }
    return n;
}

/* A set of the vocabulary that the mask nearly is, or NULL. `last`: the one to try first, or NULL. */
static const uint32_t *mask_base(const GmMaskCache *cache, const uint32_t *last, const uint32_t *words,
                                 uint32_t pairs[2 * DIFFERENT_MAX], uint32_t *n)
{
    const uint32_t *bases[BASES + 1];
    uint32_t n_bases = 0;
    if (last != NULL) {
        bases[n_bases++] = last;
    }
    if (cache->shared != NULL) {
        n_bases += gm_shared_sets(cache->shared, bases + n_bases, BASES);
    }
    for (uint32_t i = 0; i < n_bases; i++) {
        *n = mask_differences(cache, words, bases[i], pairs);
        if (*n != GM_NONE) {
            return bases[i];
        }
    }
    *n = GM_NONE;
    return NULL;
}

/* Locked. */
static void mask_keep(GmMaskCache *cache, const GmMask *head, const uint32_t *data)
{
    const size_t bytes = mask_bytes(cache, head);
    if (bytes > cache->budget || (cache->young.cap > 0 && *set_slot(&cache->young, head->key) != NULL)) {
        return;
    }
    if (cache->young.bytes + bytes > cache->budget) {
        set_clear(cache, &cache->old);
        cache->old = cache->young;
        memset(&cache->young, 0, sizeof cache->young);
    }
    void *p = NULL;
    if (gm_mem_resize(&cache->mem, &p, 0, bytes, NULL) != GM_OK) {
        return;
    }
    GmMask *mask = p;
    *mask = *head;
    if (bytes > sizeof *mask) {
        memcpy(mask->data, data, bytes - sizeof *mask);
    }
    if (!set_add(cache, &cache->young, mask)) {
        gm_mem_free(&cache->mem, mask, bytes);
    }
}

void gm_maskcache_put(GmMaskCache *cache, Hash128 key, const uint32_t *words)
{
    if (cache->off) {
        return;
    }
    uint64_t *once = &cache->once[key.b % GM_MASK_ONCE];
    gm_mutex_lock(&cache->lock);
    const bool again = *once == key.a;
    const uint32_t *last = cache->last;
    *once = key.a;
    gm_mutex_unlock(&cache->lock);
    if (!again) {
        return;
    }
    uint32_t ids[LIST_MAX], pairs[2 * DIFFERENT_MAX];
    GmMask head = {key, NULL, mask_ids(cache, words, ids)};
    const uint32_t *data = ids;
    if (head.n == GM_NONE) {
        head.base = mask_base(cache, last, words, pairs, &head.n);
        data = head.base != NULL ? pairs : words;
    }
    gm_mutex_lock(&cache->lock);
    mask_keep(cache, &head, data);
    cache->last = head.base != NULL ? head.base : cache->last;
    gm_mutex_unlock(&cache->lock);
}
