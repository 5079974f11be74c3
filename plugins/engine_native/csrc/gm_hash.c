#include "gm_hash.h"

#include <string.h>

Hash128 gm_hash_bytes(Hash128 h, const void *data, size_t n)
{
    const unsigned char *p = data;
    h = gm_hash_join(h, n);
    while (n >= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = gm_hash_join(h, word);
        p += 8;
        n -= 8;
    }
    uint64_t rest = 0;
    for (size_t i = 0; i < n; i++) {
        rest |= (uint64_t)p[i] << (8 * i);
    }
    return n > 0 ? gm_hash_join(h, rest) : h;
}

uint64_t gm_hash_words(const uint32_t *words, size_t n, uint64_t seed)
{
    uint64_t h = seed + n * 0x9e3779b97f4a7c15u;
    for (size_t i = 0; i < n; i++) {
        h = gm_mix(h + words[i] * 0xd6e8feb86659fd93u + 1);
    }
    return h;
}

/* -- map -------------------------------------------------------------------------------------- */

typedef struct MapSlot {
    _Atomic uint64_t key; /* key + 1; 0 is free */
    uint32_t value;
} MapSlot;

struct GmMapTable {
    GmMapTable *outgrown; /* readers may still be in it */
    uint32_t cap;         /* a power of two */
    MapSlot slots[];
};

void gm_map_init(GmMap *map)
{
    atomic_init(&map->table, NULL);
    map->len = 0;
    map->alone = false;
}

static size_t map_bytes(uint32_t cap) { return sizeof(GmMapTable) + (size_t)cap * sizeof(MapSlot); }

void gm_map_deinit(GmMap *map, GmMem *mem)
{
    GmMapTable *table = gm_load(&map->table);
    while (table != NULL) {
        GmMapTable *older = table->outgrown;
        gm_mem_free(mem, table, map_bytes(table->cap));
        table = older;
    }
    gm_map_init(map);
}

size_t gm_map_bytes(const GmMap *map)
{
    size_t bytes = 0;
    for (const GmMapTable *t = gm_load(&((GmMap *)(uintptr_t)map)->table); t != NULL; t = t->outgrown) {
        bytes += map_bytes(t->cap);
    }
    return bytes;
}

uint32_t gm_map_get(GmMap *map, uint64_t key)
{
    GmMapTable *table = gm_load(&map->table);
    if (table == NULL) {
        return GM_NONE;
    }
    uint32_t mask = table->cap - 1, at = (uint32_t)gm_mix(key) & mask;
    for (;;) {
        uint64_t found = gm_load(&table->slots[at].key);
        if (found == key + 1) {
            return table->slots[at].value;
        }
        if (found == 0) {
            return GM_NONE;
        }
        at = (at + 1) & mask;
    }
}

static void map_insert(GmMapTable *table, uint64_t key, uint32_t value)
{
    uint32_t mask = table->cap - 1, at = (uint32_t)gm_mix(key) & mask;
    while (atomic_load_explicit(&table->slots[at].key, memory_order_relaxed) != 0) {
        at = (at + 1) & mask;
    }
    table->slots[at].value = value;
    gm_store(&table->slots[at].key, key + 1);
}

static GmStatus map_grow(GmMap *map, GmMem *mem, uint32_t cap, GmError *err)
{
    GmMapTable *table = gm_load(&map->table), *fresh;
    void *p = NULL;
    GM_TRY(gm_mem_resize(mem, &p, 0, map_bytes(cap), err));
    memset(p, 0, map_bytes(cap));
    fresh = p;
    fresh->cap = cap;
    fresh->outgrown = table;
    for (uint32_t i = 0; table != NULL && i < table->cap; i++) {
        uint64_t old = atomic_load_explicit(&table->slots[i].key, memory_order_relaxed);
        if (old != 0) {
            map_insert(fresh, old - 1, table->slots[i].value);
        }
    }
    gm_store(&map->table, fresh);
    if (map->alone && table != NULL) {
        fresh->outgrown = table->outgrown;
        gm_mem_free(mem, table, map_bytes(table->cap));
    }
    return GM_OK;
}

GmStatus gm_map_reserve(GmMap *map, GmMem *mem, uint32_t n, GmError *err)
{
    const GmMapTable *table = gm_load(&map->table);
    uint32_t cap = table == NULL ? 32 : table->cap;
    while (cap / 2 < map->len + n && cap < (1u << 30)) {
        cap *= 2;
    }
    return table != NULL && cap == table->cap ? GM_OK : map_grow(map, mem, cap, err);
}

GmStatus gm_map_copy(GmMap *map, GmMem *mem, const GmMap *other, GmError *err)
{
    const GmMapTable *table = gm_load(&((GmMap *)(uintptr_t)other)->table);
    if (table == NULL) {
        return GM_OK;
    }
    void *p = NULL;
    GM_TRY(gm_mem_resize(mem, &p, 0, map_bytes(table->cap), err));
    GmMapTable *fresh = p;
    memcpy(fresh, table, map_bytes(table->cap));
    fresh->outgrown = NULL;
    map->len = other->len;
    gm_store(&map->table, fresh);
    return GM_OK;
}

GmStatus gm_map_put(GmMap *map, GmMem *mem, uint64_t key, uint32_t value, GmError *err)
{
    const GmMapTable *table = gm_load(&map->table);
    if (table == NULL || map->len + 1 > table->cap / 2) {
        GM_TRY(map_grow(map, mem, table == NULL ? 32 : table->cap * 2, err));
    }
    map_insert(gm_load(&map->table), key, value);
    map->len++;
    return GM_OK;
}

bool gm_map_next(const GmMap *map, uint32_t *at, uint64_t *key, uint32_t *value)
{
    const GmMapTable *table = gm_load(&((GmMap *)(uintptr_t)map)->table);
    while (table != NULL && *at < table->cap) {
        const MapSlot *slot = &table->slots[(*at)++];
        uint64_t found = atomic_load_explicit(&((MapSlot *)(uintptr_t)slot)->key, memory_order_relaxed);
        if (found != 0) {
            *key = found - 1;
            *value = slot->value;
            return true;
        }
    }
    return false;
}

/* -- index ------------------------------------------------------------------------------------ */

void gm_index_deinit(GmIndex *index, GmMem *mem)
{
    gm_mem_free(mem, index->slots, (size_t)index->cap * sizeof(uint64_t));
    memset(index, 0, sizeof *index);
}

void gm_index_clear(GmIndex *index)
{
    if (index->len > 0) {
        memset(index->slots, 0, (size_t)index->cap * sizeof(uint64_t));
        index->len = 0;
    }
}

uint32_t gm_index_next(const GmIndex *index, uint64_t hash, uint32_t *at)
{
    if (index->cap == 0) {
        return GM_NONE;
    }
    uint32_t mask = index->cap - 1;
    for (;;) {
        uint64_t slot = index->slots[*at & mask];
        if (slot == 0) {
            return GM_NONE;
        }
        *at = (*at & mask) + 1;
        if (slot >> 32 == hash >> 32) {
            return (uint32_t)slot - 1;
        }
    }
}

static void index_insert(GmIndex *index, uint64_t high, uint32_t at, uint32_t id)
{
    uint32_t mask = index->cap - 1;
    at &= mask;
    while (index->slots[at] != 0) {
        at = (at + 1) & mask;
    }
    index->slots[at] = high << 32 | (id + 1);
}

static GmStatus index_grow(GmIndex *index, GmMem *mem, uint32_t cap, GmError *err)
{
    void *p = NULL;
    GM_TRY(gm_mem_resize(mem, &p, 0, (size_t)cap * sizeof(uint64_t), err));
    memset(p, 0, (size_t)cap * sizeof(uint64_t));
    GmIndex fresh = {p, cap, index->len};
    for (uint32_t i = 0; i < index->cap; i++) {
        uint64_t slot = index->slots[i]; /* the high half of the hash only; the low half is derived from it */
        if (slot != 0) {
            index_insert(&fresh, slot >> 32, (uint32_t)(slot >> 32), (uint32_t)slot - 1);
        }
    }
    gm_mem_free(mem, index->slots, (size_t)index->cap * sizeof(uint64_t));
    *index = fresh;
    return GM_OK;
}

GmStatus gm_index_reserve(GmIndex *index, GmMem *mem, uint32_t n, GmError *err)
{
    uint32_t cap = index->cap == 0 ? 64 : index->cap;
    while (cap / 2 < index->len + n && cap < (1u << 30)) {
        cap *= 2;
    }
    return cap == index->cap ? GM_OK : index_grow(index, mem, cap, err);
}

GmStatus gm_index_add(GmIndex *index, GmMem *mem, uint64_t hash, uint32_t id, GmError *err)
{
    if (index->len + 1 > index->cap / 2) {
        GM_TRY(index_grow(index, mem, index->cap == 0 ? 64 : index->cap * 2, err));
    }
    index_insert(index, hash >> 32, (uint32_t)(hash >> 32), id);
    index->len++;
    return GM_OK;
}
