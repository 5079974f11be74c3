/* gm_vocab: a vocabulary as the engine needs it: token bytes by id, and the trie.
 * Owner    reference-counted; constraints retain it. Threads: immutable once built, but for `shared`, which has a lock.
 * Tests    tests/c/test_trie.c. */
#ifndef GM_VOCAB_H
#define GM_VOCAB_H

#include "gm.h"
#include "gm_heap.h"
#include "gm_sync.h"
#include "gm_hash.h"
#include "gm_shared.h"
#include "gm_trie.h"

struct GmVocab {
    atomic_uint references;
    GmMem mem;
    GmHeap *heap; /* where `mem` takes from, or NULL */
    GmTrie trie;
    GmMutex lock;     /* of the next one, which with the one after it is all that changes */
    GmShared *shared; /* steps of wide terminals */
    _Atomic uint64_t warmed; /* bytes of tables that a worker has made for constraints that are alive */
    uint32_t n;
    uint32_t *ids;  /* ascending */
    uint64_t *off;  /* n + 1 */
    uint8_t *blob;
    uint64_t n_blob;
    uint32_t *index; /* id -> position + 1, for dense id spaces; else NULL */
    uint32_t n_index;
};

/* gm_vocab_new with another allocator, which constraints on the vocabulary and their states use too. It must
 * be safe to call from several threads if they are. */
GmVocab *gm_vocab_new_with(GmResizeFn resize, void *context, const uint32_t *ids, const int64_t *off, const uint8_t *blob,
                           uint32_t n, uint32_t max_token_bytes, GmError *err);
void gm_vocab_retain(GmVocab *vocab);
/* The steps that constraints share, retained for the caller. */
GmShared *gm_vocab_shared(GmVocab *vocab);
/* Is the id known? Its bytes (perhaps none) if so. */
bool gm_vocab_find(const GmVocab *vocab, uint32_t id, const uint8_t **bytes, uint64_t *n);

#endif
