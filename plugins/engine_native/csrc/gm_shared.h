/* gm_shared: steps of wide terminals, kept by the vocabulary for all its constraints.
 *
 * A step from the root depends on the vocabulary and the lexer state alone. Those that walk many trie nodes
 * (string bodies, comments, identifiers) are kept here under the structural hash of the lexer state, so that
 * a second grammar with the same terminal pays nothing. Sets of tokens and after-bases that are equal by
 * content exist once.
 *
 * Owner    reference-counted: the vocabulary and its constraints retain it, each constraint the one that was there when
 *          it was compiled (gm_vocab_forget puts an empty one in its place). Bounded by a budget; nothing is evicted,
 *          since constraints hold references: when the budget is used up, new steps stay with their constraint.
 * Threads  one lock for look-up and insertion; what is returned is immutable and lives as long as the store.
 * Source   own; docs/algorithms/schedules.md. Tests: differential tests with one vocabulary for many grammars. */
#ifndef GM_SHARED_H
#define GM_SHARED_H

#include "gm_bits.h"
#include "gm_hash.h"
#include "gm_sync.h"

struct GmEntry;
struct GmBucket;

typedef struct GmSharedBase { /* content of a GmBase without debts */
    const struct GmEntry *entries;
    const struct GmBucket *buckets;
    uint32_t n_entries, n_buckets;
    uint32_t number; /* stable identity */
} GmSharedBase;

typedef struct GmSharedStep {
    GmToks inside;
    const GmSharedBase *after; /* NULL: nothing follows */
} GmSharedStep;

typedef struct GmShared {
    atomic_uint references;
    GmMutex lock;
    GmMem mem;
    GmArena arena;
    GmIndex step_index, base_index, dense_index;
    GmPool steps, step_keys; /* GmSharedStep, Hash128 */
    GmPool bases;            /* GmSharedBase */
    GmPool dense;            /* const uint32_t * */
} GmShared;

void gm_shared_init(GmShared *shared, const GmMem *owner, size_t budget);
void gm_shared_deinit(GmShared *shared);
/* The same as an object of its own, with one reference; NULL when there is no memory. */
GmShared *gm_shared_new(const GmMem *owner, size_t budget);
void gm_shared_retain(GmShared *shared);
/* NULL is fine. */
void gm_shared_release(GmShared *shared);
/* NULL when nobody has kept it. */
const GmSharedStep *gm_shared_find(GmShared *shared, Hash128 key);
/* Keep a step; NULL when there is no room (or it came meanwhile: then that one is returned). */
const GmSharedStep *gm_shared_keep(GmShared *shared, Hash128 key, const GmToks *inside, uint32_t n_words,
                                   const struct GmEntry *entries, uint32_t n_entries, const struct GmBucket *buckets,
                                   uint32_t n_buckets);
uint64_t gm_shared_bytes(GmShared *shared);

#endif
