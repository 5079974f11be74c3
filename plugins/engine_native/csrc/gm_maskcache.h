/* gm_maskcache: finished masks by the structure of the state they belong to.
 *
 * The key is a 128-bit hash over everything a mask depends on (clamped lexer states and debts, network
 * states, stacks), so masks are shared by all sequences of a constraint. Two generations: a full young one
 * becomes the old one, whose masks are dropped; a hit in the old one moves its mask to the young.
 *
 * A mask is kept when its key comes for the second time: most positions of a text come once.
 *
 * Owner    masks in the account of the cache, bounded by its budget, which may change.
 *          Masks with few bits are kept as lists, wide ones as what differs from one of a few kept in full: the inside
 *          of a string comes again and again, under keys of its own. (Of 730 wide masks of JSON schemas 500 differ in
 *          nothing from an earlier one.)
 * Threads  one lock, held for a look-up and the copy of one mask.
 * Cost     a hit: 0.3 us for 128,000 tokens.
 * Tests    tests/c/test_maskcache.c; differential tests run with and without it. */
#ifndef GM_MASKCACHE_H
#define GM_MASKCACHE_H

#include "gm_hash.h"

enum { GM_MASK_ONCE = 512, GM_MASK_BASES = 4 };

typedef struct GmMask {
    Hash128 key;
    const uint32_t *base; /* what the differences are against, or NULL */
    uint32_t n;      /* ids or differences; GM_NONE for words */
    uint32_t data[]; /* ids, differences (which word, which bits), or n_words words */
} GmMask;

typedef struct GmMaskSet { /* open addressing by key.a */
    GmMask **slots;
    uint32_t cap, len;
    size_t bytes;
} GmMaskSet;

typedef struct GmMaskCache {
    GmMutex lock;
    GmMem mem;
    GmMaskSet young, old;
    size_t budget; /* of one generation */
    bool off;      /* there was none at first */
    uint32_t n_words;
    uint32_t *bases[GM_MASK_BASES]; /* n_words words each; a new one when a mask is unlike all */
    uint32_t n_bases, last;         /* last: base of the mask kept last */
    size_t most;                    /* bytes of everything; `budget` follows */
    uint64_t once[GM_MASK_ONCE]; /* keys that came once, the newest of each place */
} GmMaskCache;

void gm_maskcache_init(GmMaskCache *cache, const GmMem *owner, size_t budget, uint32_t n_words);
void gm_maskcache_deinit(GmMaskCache *cache);
/* Another budget from now on; masks that are past it are dropped. */
void gm_maskcache_limit(GmMaskCache *cache, size_t budget);
/* Copy the mask of a key into words (n_words, overwritten); false when there is none. */
bool gm_maskcache_get(GmMaskCache *cache, Hash128 key, uint32_t *words);
/* Remember a mask, if its key came before; without memory for it, nothing happens. */
void gm_maskcache_put(GmMaskCache *cache, Hash128 key, const uint32_t *words);

#endif
