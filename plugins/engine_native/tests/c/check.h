/* check: the whole test harness. A test is a function; `RUN` runs it and main returns `check_result()`.
 * A failed check prints its place and goes on, so that one run shows everything that is wrong.
 *
 * Counting is the allocator of the tests: it keeps each block's size beside it, so a wrong `old` size, a
 * block freed twice and a leak all show, and it refuses the call number `fail_at` (and, when `stuck`, all
 * later ones). Safe for threads. */
#ifndef CHECK_H
#define CHECK_H

#include "gm_mem.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic int check_failures;

/* One more failure has been printed; more than these tell nothing new. */
static inline void check_failed(void)
{
    if (++check_failures >= 40) {
        printf("stopped after %d failures\n", check_failures);
        exit(1);
    }
}

#define CHECK(cond)                                                              \
    do {                                                                         \
        if (!(cond)) {                                                           \
            printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #cond);            \
            check_failed();                                                      \
        }                                                                        \
    } while (0)

#define CHECK_EQ(expected, actual)                                                                                  \
    do {                                                                                                            \
        int64_t check_want_ = (int64_t)(expected), check_got_ = (int64_t)(actual);                                  \
        if (check_want_ != check_got_) {                                                                            \
            printf("%s:%d: %s is %" PRId64 ", expected %" PRId64 "\n", __FILE__, __LINE__, #actual, check_got_, check_want_); \
            check_failed();                                                                                         \
        }                                                                                                           \
    } while (0)

#define RUN(test)                                               \
    do {                                                        \
        int check_before_ = check_failures;                     \
        (void)setvbuf(stdout, NULL, _IOLBF, 1 << 12);           \
        test();                                                 \
        if (check_failures != check_before_) {                  \
            printf("FAILED %s\n", #test);                       \
        }                                                       \
    } while (0)

static inline int check_result(void)
{
    if (check_failures > 0) {
        printf("%d checks failed\n", check_failures);
    }
    return check_failures > 0;
}

/* -- random numbers, the same everywhere -------------------------------------------------------------- */

typedef struct Rand {
    uint64_t x;
} Rand;

static inline uint32_t rand_next(Rand *r)
{
    r->x += 0x9e3779b97f4a7c15u;
    uint64_t z = r->x;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ (z >> 31)) >> 32);
}

/* 0 .. n - 1 */
static inline uint32_t rand_below(Rand *r, uint32_t n) { return (uint32_t)(((uint64_t)rand_next(r) * n) >> 32); }

/* -- the allocator ---------------------------------------------------------------------------------------- */

typedef struct Counting {
    _Atomic size_t calls;  /* that ask for memory */
    _Atomic size_t live;   /* bytes */
    _Atomic size_t blocks;
    size_t fail_at;        /* number of the call to refuse, from 1; 0: none */
    bool stuck;            /* later calls fail too */
} Counting;

enum { COUNTING_HEAD = 16 };

static inline void *counting_resize(void *context, void *p, size_t old, size_t size)
{
    Counting *c = context;
    char *block = p == NULL ? NULL : (char *)p - COUNTING_HEAD;
    size_t had = 0;
    if (block != NULL) {
        memcpy(&had, block, sizeof had);
        if (had != old) {
            printf("a block of %zu bytes was given back as one of %zu\n", had, old);
            check_failures++;
        }
    } else if (old != 0) {
        printf("no block, but an old size of %zu\n", old);
        check_failures++;
    }
    if (size == 0) {
        if (block != NULL) {
            c->live -= had;
            c->blocks--;
            free(block);
        }
        return NULL;
    }
    size_t number = ++c->calls;
    if (c->fail_at != 0 && (number == c->fail_at || (c->stuck && number > c->fail_at))) {
        return NULL;
    }
    /* Always a new block, so that a stale pointer shows under the address sanitizer. */
    char *fresh = malloc(size + COUNTING_HEAD);
    if (fresh == NULL) {
        return NULL;
    }
    memset(fresh + COUNTING_HEAD, 0xa5, size);
    memcpy(fresh, &size, sizeof size);
    if (block != NULL) {
        memcpy(fresh + COUNTING_HEAD, block + COUNTING_HEAD, had < size ? had : size);
        free(block);
        c->live -= had;
        c->blocks--;
    }
    c->live += size;
    c->blocks++;
    return fresh + COUNTING_HEAD;
}

static inline void counting_mem(Counting *c, GmMem *mem, size_t limit)
{
    memset(c, 0, sizeof *c);
    gm_mem_init(mem, counting_resize, c, limit, "memory_bytes");
}

#endif
