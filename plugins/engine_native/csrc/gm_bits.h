/* gm_bits: sets of token ids.
 *
 * GmToks   immutable: a short list of ids and references to shared dense sets (bitmaps of `n_words` words), perhaps
 *          less a few ids. Unions keep references, so the big set of a string body exists once however many states
 *          allow it, or nearly.
 * GmGather the union under construction.
 * GmIdLists  lists of ids that are equal exist once: of the summaries of a closed grammar 97 of 100 share theirs.
 *
 * Owner    lists and bitmaps live in an arena (of a constraint or of a vocabulary), never in the gather.
 * Cost     or into a mask: 0.3 us per dense set of 128,000 tokens, 1 ns per listed id.
 * Source   own. Tests: tests/c/test_bits.c. */
#ifndef GM_BITS_H
#define GM_BITS_H

#include "gm_hash.h"

enum { GM_SPARSE_MAX = 512, GM_DENSE_MAX = 4 }; /* 512 ids cost about what a dense set costs */
enum { GM_MINUS_MAX = 512 };

/* The ids and dense sets, of which those of `minus` count for nothing: ids and (dense less minus). */
typedef struct GmToks {
    const uint32_t *ids;
    const uint32_t *const *dense;
    const uint32_t *minus;
    uint32_t n_ids, n_dense, n_minus;
} GmToks;

typedef struct GmGather {
    GM_VEC(uint32_t) ids;
    GM_VEC(const uint32_t *) dense;
} GmGather;

typedef struct GmIdList {
    const uint32_t *ids;
    uint32_t n;
} GmIdList;

typedef struct GmIdLists {
    GmPool lists; /* GmIdList */
    GmIndex index;
} GmIdLists;

void gm_ids_init(GmIdLists *lists);
void gm_ids_deinit(GmIdLists *lists, GmMem *mem);
/* The list with these ids, in this order, in the arena; NULL for none. */
GmStatus gm_ids_keep(GmIdLists *lists, GmArena *arena, const uint32_t *ids, uint32_t n, const uint32_t **out, GmError *err);

void gm_gather_deinit(GmGather *g, GmMem *mem);
/* The arena is for what has to be made at once: dense sets with something taken out. */
GmStatus gm_gather_add(GmGather *g, GmArena *arena, const GmToks *toks, uint32_t n_words, GmError *err);
/* Move the union into `out` (memory from the arena) and empty the gather. */
GmStatus gm_gather_finish(GmGather *g, GmArena *arena, GmIdLists *lists, uint32_t n_words, GmToks *out, GmError *err);

static inline void gm_bits_set(uint32_t *words, uint32_t id) { words[id >> 5] |= (uint32_t)1 << (id & 31); }
static inline void gm_bits_clear(uint32_t *words, uint32_t id) { words[id >> 5] &= ~((uint32_t)1 << (id & 31)); }
void gm_bits_or(uint32_t *words, const uint32_t *from, uint32_t n_words);
/* words |= toks; words has at least n_words words. */
void gm_toks_or(const GmToks *toks, uint32_t *words, uint32_t n_words);
/* words = the union of n sets, n_words of them, overwritten. Cheaper than one gm_toks_or after the other on cleared words:
 * the first dense set is copied, dense sets that several have are read once, and words stay in the first cache. */
void gm_toks_join(const GmToks *const *toks, uint32_t n, uint32_t *words, uint32_t n_words);

#endif
