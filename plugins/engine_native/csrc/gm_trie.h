/* gm_trie: vocabulary tokens arranged by shared prefixes.
 *
 * Layout   nodes in preorder; node 0 is the empty prefix; `end` is the node after the subtree, so the first
 *          child of n is n + 1 (if < end) and the next sibling of c is end(c). `token` indexes `ids`, the
 *          token ids sorted by their bytes: tokens that end at n are ids[token(n) .. token(n + 1)), those of
 *          the whole subtree ids[token(n) .. token(end(n))). A sentinel node closes the array.
 *          `groups` (a parallel array): byte groups that occur below n, see gm_groups.h.
 *          `child`, `child_byte`: the children of n and their bytes, ascending, at child_from(n) to child_from(n + 1):
 *          siblings lie far apart among the nodes, so looking for one there would miss the cache at each.
 * Owner    built once per vocabulary; immutable; shared by reference count through GmVocab.
 * Cost     sorting dominates: about 40 ms for 128,000 tokens; 29 bytes per node.
 * Source   own; see docs/algorithms/trie.md.
 * Tests    tests/c/test_trie.c; differential tests. */
#ifndef GM_TRIE_H
#define GM_TRIE_H

#include "gm_mem.h"

typedef struct GmTrieNode {
    uint32_t end, token;
    uint16_t height; /* bytes of the longest token below */
    uint8_t byte;
} GmTrieNode;

typedef struct GmTrie {
    GmTrieNode *nodes; /* n_nodes + 1 */
    uint64_t *groups;
    uint32_t *child_from; /* n_nodes + 1 */
    uint32_t *child;      /* n_nodes - 1 */
    uint8_t *child_byte;
    uint32_t n_nodes, n_tokens;
    uint32_t *ids;     /* n_tokens */
    uint32_t longest;  /* bytes */
    uint32_t n_words;  /* words of a mask over these ids */
    uint32_t *all;     /* mask of all tokens with bytes */
    size_t node_bytes;
} GmTrie;

/* Token i has id ids[i] and bytes blob[off[i] .. off[i + 1]); empty ones are left out. */
GmStatus gm_trie_build(GmMem *mem, const uint32_t *ids, const int64_t *off, const uint8_t *blob, uint32_t n,
                       uint32_t max_token_bytes, GmTrie *out, GmError *err);
void gm_trie_deinit(GmTrie *trie, GmMem *mem);

#endif
