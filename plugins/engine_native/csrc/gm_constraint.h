/* gm_constraint: a compiled grammar: its tables (GmCore), the end-token policy, and the width of masks.
 * Owner    reference-counted; states retain it, it retains its vocabulary. Threads: see GmCore. */
#ifndef GM_CONSTRAINT_H
#define GM_CONSTRAINT_H

#include "gm_core.h"
#include "gm_finish.h"
#include "gm_focus.h"
#include "gm_maskcache.h"
#include "gm_vocab.h"

struct GmConstraint {
    atomic_uint references;
    GmVocab *vocab;
    GmShared *shared; /* retained; of the vocabulary when it was compiled */
    GmCore core;
    GmFoci *foci; /* of a parser program, whose core has no network; else NULL */
    _Atomic(GmFinish *) finish; /* made on first need, under the lock of the core */
    GmModule module; /* arrays owned here */
    uint32_t *end_tokens;
    uint32_t n_end_tokens;
    uint64_t state_bytes; /* that one state may hold */
    uint64_t width;
    uint64_t n_words;
    uint64_t mask_cache_bytes; /* of GmOptions */
    uint64_t warmed; /* bytes of tables that a worker has made; under the lock of the core */
    GmMaskCache masks;
    GM_VEC(GmConstraint *) parts; /* those it was linked of; kept alive */
    struct GmConstraint *doomed; /* while it is freed: the next one */
};

void gm_constraint_retain(GmConstraint *constraint);
bool gm_constraint_is_end(const GmConstraint *constraint, uint32_t id);
/* Is the id an exact token of the grammar? */
bool gm_constraint_is_exact(const GmConstraint *constraint, uint32_t id);

#endif
