/* gm_regex_in: what gm_regex.c, gm_regex_bool.c and gm_regex_deriv.c share; for them alone. */
#ifndef GM_REGEX_IN_H
#define GM_REGEX_IN_H

#include "gm_regex.h"

static inline GmReNode *re_at(GmRegex *rx, GmRe r) { return gm_pool_at(&rx->nodes, r); }

static inline const GmByteSet *re_set_of(const GmRegex *rx, const GmReNode *node)
{
    return gm_pool_at(&rx->sets, node->a);
}

static inline bool set_has(const GmByteSet *set, uint8_t byte) { return set->w[byte >> 6] >> (byte & 63) & 1; }
static inline bool is_boolean(const GmReNode *node) { return node->kind == RE_AND || node->kind == RE_SUB; }

/* A node to fill in and intern. */
GmReNode gm_re_proto(GmReKind kind);
/* Take over from a child what depends on it: hash, counts, nesting. */
void gm_re_hash_child(GmRegex *rx, GmReNode *proto, GmRe child);
/* `proto` has all fields but the lengths of the node to intern; a list of RE_ALT is copied into the arena. */
GmStatus gm_re_intern(GmRegex *rx, GmReNode *proto, GmRe *out, GmError *err);

/* Classes of bytes that have equal derivatives; cls is zeroed by the caller, *n is 1. */
GmStatus gm_re_partition(GmRegex *rx, GmRe r, uint8_t cls[256], uint32_t *n, GmError *err);

#endif
