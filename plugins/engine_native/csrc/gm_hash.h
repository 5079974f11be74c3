/* gm_hash: hashing, and two hash maps.
 *
 * GmMap    64-bit key -> 32-bit value, insert-only. One writer at a time (the owner's lock); any number of
 *          readers without a lock: a slot's value is written before its key is published, and a table that
 *          was outgrown stays alive until the map dies, unless the map is marked `alone`.
 * GmIndex  hash -> candidate ids, for hash-consing; the caller compares. Writer only.
 * Hash128  structural, the same in every process: the identity of regexes and stacks across constraints.
 *
 * Source   own; mixing constants from the splitmix64 generator (Steele, Lea, Flood 2014).
 * Tests    tests/c/test_base.c. */
#ifndef GM_HASH_H
#define GM_HASH_H

#include "gm_mem.h"
#include "gm_sync.h"

typedef struct Hash128 {
    uint64_t a, b;
} Hash128;

static inline uint64_t gm_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Order matters. */
static inline Hash128 gm_hash_join(Hash128 h, uint64_t x)
{
    Hash128 out = {gm_mix(h.a + x * 0x9e3779b97f4a7c15u + 1), gm_mix((h.b ^ x) * 0xd6e8feb86659fd93u + 0x632be59bd9b4e019u)};
    return out;
}

static inline Hash128 gm_hash_join2(Hash128 h, Hash128 x) { return gm_hash_join(gm_hash_join(h, x.a), x.b); }
/* Order does not matter. */
static inline Hash128 gm_hash_sum(Hash128 h, Hash128 x)
{
    Hash128 out = {h.a + x.a, h.b + x.b};
    return out;
}
Hash128 gm_hash_bytes(Hash128 seed, const void *data, size_t n);
uint64_t gm_hash_words(const uint32_t *words, size_t n, uint64_t seed);

enum { GM_NONE = 0x7fffffff }; /* "no such id", in every 31-bit id space */

typedef struct GmMapTable GmMapTable;
typedef struct GmMap {
    _Atomic(GmMapTable *) table;
    uint32_t len;
    bool alone; /* nobody but the owner reads it now: outgrown tables go at once */
} GmMap;

void gm_map_init(GmMap *map);
void gm_map_deinit(GmMap *map, GmMem *mem);
/* Owner only. Bytes, outgrown tables included. */
size_t gm_map_bytes(const GmMap *map);
/* Any thread. GM_NONE when absent. Keys are below 2^64 - 1. */
uint32_t gm_map_get(GmMap *map, uint64_t key);
/* Owner only. Room for n more keys at once, so that a map whose size is known about is not built several times. */
GmStatus gm_map_reserve(GmMap *map, GmMem *mem, uint32_t n, GmError *err);
/* Owner only; the key must be absent. */
GmStatus gm_map_put(GmMap *map, GmMem *mem, uint64_t key, uint32_t value, GmError *err);

/* Fill an empty map with what another one holds, which nobody changes meanwhile. */
GmStatus gm_map_copy(GmMap *map, GmMem *mem, const GmMap *other, GmError *err);

/* Owner only: walk all keys, in no order. *at is 0 at first; false at the end. */
bool gm_map_next(const GmMap *map, uint32_t *at, uint64_t *key, uint32_t *value);

static inline uint64_t gm_pair(uint32_t a, uint32_t b) { return (uint64_t)a << 32 | b; }

typedef struct GmIndex {
    uint64_t *slots; /* (hash high 32 bits, id + 1), 0 is free */
    uint32_t cap, len;
} GmIndex;

void gm_index_deinit(GmIndex *index, GmMem *mem);
static inline size_t gm_index_bytes(const GmIndex *index) { return (size_t)index->cap * sizeof(uint64_t); }
/* Forget all entries, keep the memory. */
void gm_index_clear(GmIndex *index);
/* Room for n more entries at once. */
GmStatus gm_index_reserve(GmIndex *index, GmMem *mem, uint32_t n, GmError *err);
/* Walk candidates: start with *at = (uint32_t)(hash >> 32), call until it returns GM_NONE. */
uint32_t gm_index_next(const GmIndex *index, uint64_t hash, uint32_t *at);
GmStatus gm_index_add(GmIndex *index, GmMem *mem, uint64_t hash, uint32_t id, GmError *err);

#endif
