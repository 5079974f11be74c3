/* gm_regex_in: what gm_regex.c, gm_regex_bool.c, gm_regex_deriv.c and gm_regex_rows.c share; for them alone. */
#ifndef GM_REGEX_IN_H
#define GM_REGEX_IN_H

#include "gm_regex.h"

#include <string.h>

#if defined(__GNUC__)
#define GM_NOINLINE __attribute__((noinline))
#elif defined(_MSC_VER)
#define GM_NOINLINE __declspec(noinline)
#else
#define GM_NOINLINE
#endif

static inline GmReNode *re_at(GmRegex *rx, GmRe r) { return gm_pool_at(&rx->nodes, r); }

static inline const GmByteSet *re_set_of(const GmRegex *rx, const GmReNode *node)
{
    return gm_pool_at(&rx->sets, node->a);
}

static inline bool set_has(const GmByteSet *set, uint8_t byte) { return set->w[byte >> 6] >> (byte & 63) & 1; }
static inline bool is_boolean(const GmReNode *node) { return node->kind == RE_AND || node->kind == RE_SUB; }

/* A node to fill in and intern. In line: thousands are made by each compile. */
static inline GmReNode gm_re_proto(GmReKind kind)
{
    GmReNode node;
    memset(&node, 0, sizeof node);
    node.kind = (uint8_t)kind;
    node.hash = gm_hash_join((Hash128){0x51, 0x52}, (uint64_t)kind);
    return node;
}

/* Take over from a child what depends on it: hash, counts, nesting. */
static inline void gm_re_hash_child(GmRegex *rx, GmReNode *proto, GmRe child)
{
    const GmReNode *node = re_at(rx, child);
    proto->hash = gm_hash_join2(proto->hash, node->hash);
    proto->counted |= node->counted;
    proto->bounded |= node->bounded;
    if (node->depth + 1 > proto->depth) {
        proto->depth = (uint16_t)(node->depth + 1);
    }
}

/* `proto` has all fields but the lengths of the node to intern; a list of RE_ALT is copied into the arena. */
GmStatus gm_re_intern(GmRegex *rx, GmReNode *proto, GmRe *out, GmError *err);

static inline uint32_t re_entry(GmRegex *rx, GmRe r) { return r | (re_at(rx, r)->nullable ? GM_RE_NULLABLE : 0); }

/* Texts [low, high) of the table that have `byte` at `depth`; they are sorted, so they are a stretch. */
void gm_re_lits_range(const GmLits *lits, uint32_t low, uint32_t high, uint32_t depth, uint8_t byte, uint32_t out[2]);
/* A derivative from outside of one: shared parts are looked at once, or a graph that unfolds to 2^n nodes
 * would cost as much. One may run inside another, by the emptiness test. */
GmStatus gm_re_derive(GmRegex *rx, GmRe r, uint8_t byte, GmRe *out, GmError *err);

/* Classes of bytes that have equal derivatives; cls is zeroed by the caller, *n is 1. */
GmStatus gm_re_partition(GmRegex *rx, GmRe r, uint8_t cls[256], uint32_t *n, GmError *err);

#endif
