/* gm_mem: accounted memory, arenas, growable arrays, and pools with stable addresses.
 *
 * GmMem    one account: an allocator, bytes in use, and the limit they may reach; while a constraint is
 *          compiled also the time that is left, which allocations and gm_mem_tick look at now and then. Not
 *          thread-safe; whoever owns the account guards it (the constraint's lock, or the state's single user).
 * GmArena  bump allocation out of blocks, freed all at once.
 * GM_VEC   growable array: `GM_VEC(T) name`, `GM_PUSH(mem, vec, value)` inside functions with an `err`.
 * GmPool   elements never move, so readers may hold pointers while a writer appends:
 *
 *              block 0: 64 elements, block k: 64 << k elements
 *              id + 64 = 1xxxxxx...b  ->  block = position of the top bit - 6, offset = the rest
 *
 * Source   own.
 * Tests    tests/c/test_base.c (with an allocator that fails on request). */
#ifndef GM_MEM_H
#define GM_MEM_H

#include "gm_status.h"

#include <string.h>

/* Resize p from `old` to `size` bytes; size 0 frees. NULL means no memory (p stays valid). */
typedef void *(*GmResizeFn)(void *context, void *p, size_t old, size_t size);

typedef struct GmMem {
    GmResizeFn resize;
    void *context;
    size_t used, limit;
    const char *limit_name; /* the field of Limits that `limit` comes from */
    double deadline;        /* while compiling, by gm_seconds; 0 for none */
    double seconds;         /* ... and what was allowed */
    uint32_t ticks;
} GmMem;

/* The C library's realloc and free. */
void *gm_mem_libc(void *context, void *p, size_t old, size_t size);
void gm_mem_init(GmMem *mem, GmResizeFn resize, void *context, size_t limit, const char *limit_name);
/* A fresh account with the allocator of another one. */
void gm_mem_init_like(GmMem *mem, const GmMem *other, size_t limit, const char *limit_name);
/* One object outside of any account: calloc and free by the allocator of `mem`. */
void *gm_mem_object(const GmMem *mem, size_t size);
void gm_mem_object_free(const GmMem *mem, void *p, size_t size);
/* Grow or shrink *p; on failure *p is unchanged. */
GmStatus gm_mem_resize(GmMem *mem, void **p, size_t old, size_t size, GmError *err);
void gm_mem_free(GmMem *mem, void *p, size_t size);
/* GM_LIMIT, "build_seconds", when the deadline has passed. */
GmStatus gm_mem_check_time(const GmMem *mem, GmError *err);
enum { GM_TICKS = 256 }; /* steps between two looks at the clock: some microseconds */
/* In every loop that may be long while compiling. */
static inline GmStatus gm_mem_tick(GmMem *mem, GmError *err)
{
    return mem->deadline == 0 || ++mem->ticks % GM_TICKS != 0 ? GM_OK : gm_mem_check_time(mem, err);
}
/* Are n bytes equal? Of no bytes the pointers do not matter. */
static inline bool gm_same(const void *x, const void *y, size_t n) { return n == 0 || memcmp(x, y, n) == 0; }
/* a * b in bytes, or GM_NOMEM when it does not fit. */
GmStatus gm_mem_product(size_t a, size_t b, size_t *out, GmError *err);

typedef struct GmBlock GmBlock;
typedef struct GmArena {
    GmMem *mem;
    GmBlock *blocks;
    size_t at, end; /* free stretch of the newest block, as addresses */
    size_t next;    /* size of the next block */
    size_t taken;   /* bytes of all allocations */
} GmArena;

void gm_arena_init(GmArena *arena, GmMem *mem);
void gm_arena_deinit(GmArena *arena);
/* Bytes of all blocks, and whether an address is in one of them. */
size_t gm_arena_bytes(const GmArena *arena);
bool gm_arena_has(const GmArena *arena, const void *p);
/* `size` bytes, 8-aligned, uninitialised. */
GmStatus gm_arena_alloc(GmArena *arena, size_t size, void **out, GmError *err);
/* The same for n elements of `size` bytes, zeroed. */
GmStatus gm_arena_zeroed(GmArena *arena, size_t n, size_t size, void **out, GmError *err);

#define GM_VEC(T)           \
    struct {                \
        T *data;            \
        uint32_t len, cap;  \
    }
/* Make room for `need` elements of `size` bytes. */
GmStatus gm_vec_reserve(GmMem *mem, void **data, uint32_t *cap, size_t need, size_t size, GmError *err);
#define GM_RESERVE(mem, vec, need) \
    GM_TRY(gm_vec_reserve((mem), (void **)&(vec).data, &(vec).cap, (need), sizeof *(vec).data, err))
#define GM_PUSH(mem, vec, value)                    \
    do {                                            \
        if ((vec).len == (vec).cap) {               \
            GM_RESERVE(mem, vec, (size_t)(vec).len + 1); \
        }                                           \
        (vec).data[(vec).len++] = (value);          \
    } while (0)
#define GM_VEC_FREE(mem, vec)                                                    \
    do {                                                                         \
        gm_mem_free((mem), (vec).data, (size_t)(vec).cap * sizeof *(vec).data);  \
        (vec).data = NULL;                                                       \
        (vec).len = (vec).cap = 0;                                               \
    } while (0)

enum { GM_POOL_BLOCKS = 26 };
typedef struct GmPool {
    void *block[GM_POOL_BLOCKS];
    uint32_t len;
    uint32_t size; /* of an element, bytes */
} GmPool;

/* Bytes of all blocks. */
size_t gm_pool_bytes(const GmPool *pool);
void gm_pool_init(GmPool *pool, size_t size);
void gm_pool_deinit(GmPool *pool, GmMem *mem);
/* Fill an empty pool with the first n elements of another one. */
GmStatus gm_pool_copy(GmPool *pool, GmMem *mem, const GmPool *other, uint32_t n, GmError *err);
/* A new zeroed element; its id is the old length. */
GmStatus gm_pool_add(GmPool *pool, GmMem *mem, uint32_t *id, void **element, GmError *err);

static inline uint32_t gm_top_bit(uint32_t x)
{
#if defined(__GNUC__)
    return 31u - (uint32_t)__builtin_clz(x);
#else
    uint32_t n = 0;
    while (x >>= 1) {
        n++;
    }
    return n;
#endif
}

static inline void *gm_pool_at(const GmPool *pool, uint32_t id)
{
    uint32_t shifted = id + 64, top = gm_top_bit(shifted);
    return (char *)pool->block[top - 6] + (size_t)(shifted - (1u << top)) * pool->size;
}

#endif
