#include "gm_mem.h"

#include "gm_sync.h"

#include <stdlib.h>
#include <string.h>

void *gm_mem_libc(void *context, void *p, size_t old, size_t size)
{
    (void)context;
    (void)old;
    if (size == 0) {
        free(p);
        return NULL;
    }
    return realloc(p, size);
}

void gm_mem_init(GmMem *mem, GmResizeFn resize, void *context, size_t limit, const char *limit_name)
{
    mem->resize = resize;
    mem->context = context;
    mem->used = 0;
    mem->limit = limit;
    mem->limit_name = limit_name;
    mem->deadline = mem->seconds = 0;
    mem->ticks = 0;
}

void gm_mem_init_like(GmMem *mem, const GmMem *other, size_t limit, const char *limit_name)
{
    gm_mem_init(mem, other->resize, other->context, limit, limit_name);
}

void *gm_mem_object(const GmMem *mem, size_t size)
{
    void *p = mem->resize(mem->context, NULL, 0, size);
    if (p != NULL) {
        memset(p, 0, size);
    }
    return p;
}

void gm_mem_object_free(const GmMem *mem, void *p, size_t size) { (void)mem->resize(mem->context, p, size, 0); }

GmStatus gm_mem_resize(GmMem *mem, void **p, size_t old, size_t size, GmError *err)
{
    if (size > old && size - old > mem->limit - mem->used) {
        return gm_fail_limit(err, mem->limit_name, "more than %zu bytes of memory (limit \"%s\")", mem->limit,
                             mem->limit_name);
    }
    void *fresh = mem->resize(mem->context, *p, old, size);
    if (fresh == NULL && size > 0) {
        return gm_fail(err, GM_NOMEM, "out of memory (%zu bytes)", size);
    }
    mem->used = mem->used - old + size;
    *p = fresh;
    return GM_OK;
}

void gm_mem_free(GmMem *mem, void *p, size_t size)
{
    if (p != NULL) {
        (void)mem->resize(mem->context, p, size, 0);
        mem->used -= size;
    }
}

GmStatus gm_mem_check_time(const GmMem *mem, GmError *err)
{
    if (mem->deadline == 0 || gm_seconds() <= mem->deadline) {
        return GM_OK;
    }
    return gm_fail_limit(err, "build_seconds", "compiling takes more than %g seconds (limit \"build_seconds\")",
                         mem->seconds);
}

GmStatus gm_mem_product(size_t a, size_t b, size_t *out, GmError *err)
{
    if (b != 0 && a > SIZE_MAX / 2 / b) {
        return gm_fail(err, GM_NOMEM, "a size does not fit (%zu x %zu)", a, b);
    }
    *out = a * b;
    return GM_OK;
}

/* -- arena ---------------------------------------------------------------------------------- */

struct GmBlock {
    GmBlock *older;
    size_t size;
};

enum { ARENA_FIRST = 4096, ARENA_LARGEST = 1 << 20 }; /* a small constraint fits in one page */

void gm_arena_init(GmArena *arena, GmMem *mem)
{
    memset(arena, 0, sizeof *arena);
    arena->mem = mem;
    arena->next = ARENA_FIRST;
}

void gm_arena_deinit(GmArena *arena)
{
    while (arena->blocks != NULL) {
        GmBlock *block = arena->blocks;
        arena->blocks = block->older;
        gm_mem_free(arena->mem, block, block->size);
    }
    arena->at = arena->end = 0;
}

size_t gm_arena_bytes(const GmArena *arena)
{
    size_t bytes = 0;
    for (const GmBlock *block = arena->blocks; block != NULL; block = block->older) {
        bytes += block->size;
    }
    return bytes;
}

bool gm_arena_has(const GmArena *arena, const void *p)
{
    const GmBlock *block = arena->blocks;
    while (block != NULL && (size_t)p - (size_t)block >= block->size) {
        block = block->older;
    }
    return block != NULL;
}

GmStatus gm_arena_alloc(GmArena *arena, size_t size, void **out, GmError *err)
{
    if (size > SIZE_MAX / 2) {
        return gm_fail(err, GM_NOMEM, "a size does not fit (%zu)", size);
    }
    GM_TRY(gm_mem_tick(arena->mem, err));
    size = (size + 7) & ~(size_t)7;
    if (size > arena->end - arena->at) {
        size_t head = (sizeof(GmBlock) + 7) & ~(size_t)7;
        size_t total = head + (size > arena->next - head ? size : arena->next - head);
        void *p = NULL;
        GM_TRY(gm_mem_resize(arena->mem, &p, 0, total, err));
        GmBlock *block = p;
        block->size = total;
        block->older = arena->blocks;
        arena->blocks = block;
        arena->at = (size_t)(char *)block + head;
        arena->end = (size_t)(char *)block + total;
        if (arena->next < ARENA_LARGEST) {
            arena->next *= 2;
        }
    }
    *out = (void *)arena->at;
    arena->at += size;
    arena->taken += size;
    return GM_OK;
}

GmStatus gm_arena_zeroed(GmArena *arena, size_t n, size_t size, void **out, GmError *err)
{
    size_t total = 0;
    GM_TRY(gm_mem_product(n, size, &total, err));
    GM_TRY(gm_arena_alloc(arena, total, out, err));
    if (total > 0) {
        memset(*out, 0, total);
    }
    return GM_OK;
}

/* -- vectors and pools ------------------------------------------------------------------------ */

GmStatus gm_vec_reserve(GmMem *mem, void **data, uint32_t *cap, size_t need, size_t size, GmError *err)
{
    if (need <= *cap) {
        return GM_OK;
    }
    size_t grown = *cap < 8 ? 8 : (size_t)*cap * 2, total = 0;
    if (grown < need) {
        grown = need;
    }
    if (grown > UINT32_MAX) {
        return gm_fail(err, GM_NOMEM, "an array of %zu elements does not fit", grown);
    }
    GM_TRY(gm_mem_product(grown, size, &total, err));
    GM_TRY(gm_mem_resize(mem, data, (size_t)*cap * size, total, err));
    *cap = (uint32_t)grown;
    return GM_OK;
}

void gm_pool_init(GmPool *pool, size_t size)
{
    memset(pool, 0, sizeof *pool);
    pool->size = (uint32_t)size;
}

void gm_pool_deinit(GmPool *pool, GmMem *mem)
{
    for (uint32_t k = 0; k < GM_POOL_BLOCKS; k++) {
        gm_mem_free(mem, pool->block[k], ((size_t)64 << k) * pool->size);
        pool->block[k] = NULL;
    }
    pool->len = 0;
}

size_t gm_pool_bytes(const GmPool *pool)
{
    size_t bytes = 0;
    for (uint32_t k = 0; k < GM_POOL_BLOCKS; k++) {
        bytes += pool->block[k] != NULL ? ((size_t)64 << k) * pool->size : 0;
    }
    return bytes;
}

GmStatus gm_pool_copy(GmPool *pool, GmMem *mem, const GmPool *other, uint32_t n, GmError *err)
{
    for (uint32_t k = 0; pool->len < n; k++) {
        uint32_t block = (uint32_t)64 << k, left = n - pool->len;
        GM_TRY(gm_mem_resize(mem, &pool->block[k], 0, (size_t)block * pool->size, err));
        memcpy(pool->block[k], other->block[k], (size_t)(left < block ? left : block) * pool->size);
        pool->len += left < block ? left : block;
    }
    return GM_OK;
}

GmStatus gm_pool_add(GmPool *pool, GmMem *mem, uint32_t *id, void **element, GmError *err)
{
    uint32_t at = pool->len, top = gm_top_bit(at + 64) - 6;
    if (top >= GM_POOL_BLOCKS || at >= UINT32_MAX / 4) {
        return gm_fail_limit(err, "memory_bytes", "a table has more than %u entries", at);
    }
    GM_TRY(gm_mem_tick(mem, err));
    if (pool->block[top] == NULL) {
        size_t bytes = ((size_t)64 << top) * pool->size;
        GM_TRY(gm_mem_resize(mem, &pool->block[top], 0, bytes, err));
    }
    *id = at;
    *element = gm_pool_at(pool, at);
    memset(*element, 0, pool->size); /* not the whole block: half of it may never be touched */
    pool->len++;
    return GM_OK;
}
