/* fixture: a GmRegex that counts its allocations, for test files about regular languages. */
#ifndef FIXTURE_H
#define FIXTURE_H

#include "check.h"
#include "gm_regex.h"

typedef struct Fixture {
    Counting counting;
    GmMem mem;
    GmArena arena;
    GmRegex rx;
} Fixture;

static GmError err;
#define OK(expr) CHECK_EQ(GM_OK, (expr))

static inline void begin(Fixture *f, uint32_t horizon)
{
    counting_mem(&f->counting, &f->mem, 256 << 20);
    gm_arena_init(&f->arena, &f->mem);
    OK(gm_re_init(&f->rx, &f->mem, &f->arena, horizon, 200000, &err));
}

static inline void end(Fixture *f)
{
    gm_re_deinit(&f->rx);
    gm_arena_deinit(&f->arena);
    CHECK_EQ(0, f->counting.blocks);
    CHECK_EQ(0, f->mem.used);
}

#endif
