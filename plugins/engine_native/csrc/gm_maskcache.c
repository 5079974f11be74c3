#include "gm_maskcache.h"

#include <string.h>

enum { LIST_MAX = 256 }; /* ids; setting them costs less than copying 16 KB */
enum { DIFFERENT_MAX = 32 }; /* words, of which there may be thousands */
enum { DIFFERENT_BLOCK = 16 }; /* compared at once */
/* (word, bits) pairs, with room for those of a block that turn out to be too many. */
typedef uint32_t Differences[2 * (DIFFERENT_MAX + DIFFERENT_BLOCK + 1)];

static size_t base_bytes(const GmMaskCache *cache) { return cache->n_words * sizeof(uint32_t); }

/* Of a generation: half of what the bases leave. */
static void set_budget(GmMaskCache *cache)
{
    const size_t bases = cache->n_bases * base_bytes(cache);
    cache->budget = cache->most > bases ? (cache->most - bases) / 2 : 0;
}

void gm_maskcache_init(GmMaskCache *cache, const GmMem *owner, size_t budget, uint32_t n_words)
{
    memset(cache, 0, sizeof *cache);
    gm_mutex_init(&cache->lock);
    gm_mem_init_like(&cache->mem, owner, budget, "mask_cache_bytes");
    cache->most = budget;
    cache->off = budget == 0;
    cache->n_words = n_words;
    set_budget(cache);
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

/* All masks, and what they refer to. */
static void cache_clear(GmMaskCache *cache)
{
    set_clear(cache, &cache->young);
    set_clear(cache, &cache->old);
    while (cache->n_bases > 0) {
        gm_mem_free(&cache->mem, cache->bases[--cache->n_bases], base_bytes(cache));
    }
    cache->last = 0;
}

void gm_maskcache_deinit(GmMaskCache *cache)
{
    if (cache->n_words > 0 || !cache->off) {
        cache_clear(cache);
        gm_mutex_deinit(&cache->lock);
    }
}

void gm_maskcache_limit(GmMaskCache *cache, size_t budget)
{
    if (cache->off) {
        return;
    }
    gm_mutex_lock(&cache->lock);
    cache->most = cache->mem.limit = budget;
    if (cache->mem.used > budget) {
        cache_clear(cache);
    }
    set_budget(cache);
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
        memcpy(words, mask->base, cache->n_words * sizeof(uint32_t));
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

/* The words of a mask that are not those of `base`, GM_NONE when there are too many. */
static uint32_t mask_differences(const GmMaskCache *cache, const uint32_t *words, const uint32_t *base, Differences pairs)
{
    const uint32_t n_words = cache->n_words;
    uint32_t n = 0;
    for (uint32_t at = 0; at < n_words && n <= DIFFERENT_MAX; at += DIFFERENT_BLOCK) {
        const uint32_t end = n_words - at < DIFFERENT_BLOCK ? n_words : at + DIFFERENT_BLOCK;
        uint32_t any = 0;
        for (uint32_t i = at; i < end; i++) {
            any |= words[i] ^ base[i];
        }
        for (uint32_t i = at; any != 0 && i < end; i++) {
            const uint32_t bits = words[i] ^ base[i];
            pairs[2 * n] = i;
            pairs[2 * n + 1] = bits;
            n += bits != 0;
        }
    }
    return n <= DIFFERENT_MAX ? n : GM_NONE;
}

/* A base for the mask: one that it nearly is, else it becomes one itself while there is room; else NULL. Locked. */
static const uint32_t *mask_base(GmMaskCache *cache, const uint32_t *words, Differences pairs, uint32_t *n)
{
    for (uint32_t i = 0; i < cache->n_bases; i++) {
        const uint32_t at = (cache->last + i) % cache->n_bases;
        *n = mask_differences(cache, words, cache->bases[at], pairs);
        if (*n != GM_NONE) {
            cache->last = at;
            return cache->bases[at];
        }
    }
    const size_t bytes = base_bytes(cache);
    void *p = NULL;
    *n = GM_NONE;
    if (cache->n_bases == GM_MASK_BASES || bytes > cache->budget / 2 ||
        gm_mem_resize(&cache->mem, &p, 0, bytes, NULL) != GM_OK) {
        return NULL;
    }
    memcpy(p, words, bytes);
    cache->last = cache->n_bases;
    cache->bases[cache->n_bases++] = p;
    set_budget(cache);
    *n = 0;
    return p;
}

/* Locked. */
static void mask_keep(GmMaskCache *cache, const GmMask *head, const uint32_t *data)
{
    const size_t bytes = mask_bytes(cache, head);
    if (bytes > cache->budget) {
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

void gm_maskcache_put(GmMaskCache *cache, Hash128 key, const uint32_t *words)
{
    if (cache->off) {
        return;
    }
    uint64_t *once = &cache->once[key.b % GM_MASK_ONCE];
    gm_mutex_lock(&cache->lock);
    const bool again = *once == key.a;
    *once = key.a;
    gm_mutex_unlock(&cache->lock);
    if (!again) {
        return;
    }
    uint32_t ids[LIST_MAX];
    Differences pairs;
    GmMask head = {key, NULL, mask_ids(cache, words, ids)};
    const uint32_t *data = ids;
    gm_mutex_lock(&cache->lock);
    if (cache->young.cap == 0 || *set_slot(&cache->young, key) == NULL) { /* nobody was faster */
        if (head.n == GM_NONE) {
            head.base = mask_base(cache, words, pairs, &head.n);
            data = head.base != NULL ? pairs : words;
        }
        mask_keep(cache, &head, data);
    }
    gm_mutex_unlock(&cache->lock);
}
