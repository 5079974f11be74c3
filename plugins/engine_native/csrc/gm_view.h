/* gm_view: what is left of the tokens after a terminal, and reading it with the next terminal.
 *
 * An *entry* (node, debt) stands for the tokens whose bytes go through trie node `node`, read up to and
 * with its byte as far as debts are concerned, but not yet by the next terminal; `debt` is what earlier
 * terminals still owe after that byte (0: nothing). A *base* is a set of entries in buckets by byte; a
 * *view* is a set of bases. A *step* reads a base with a terminal in some lexer state:
 *
 *   step(base, lexer state) = tokens that end inside (or exactly at the end of) the terminal,
 *                             view of what follows a complete match
 *
 * Steps know nothing of grammars: they depend on the vocabulary and the regular language only.
 * Base 0 is the whole vocabulary (the children of the root), view 0 is empty, view 1 is {base 0}.
 *
 * Threads  gm_view_find_step is free of locks; everything that may create is for the holder of the lock.
 * Cost     a step visits the trie nodes the terminal reaches; whole subtrees are taken at once where the
 *          lexer state loops (gm_re_loop).
 * Source   own; docs/algorithms/views.md.
 * Tests    test_view.c; differential tests against the oracle. */
#ifndef GM_VIEW_H
#define GM_VIEW_H

#include "gm_bits.h"
#include "gm_regex.h"
#include "gm_shared.h"
#include "gm_trie.h"

enum { GM_VIEW_EMPTY = 0, GM_VIEW_ROOT = 1, GM_BASE_ROOT = 0, GM_BASE_SMALL = 64 };

typedef struct GmEntry {
    uint32_t node;
    GmRe debt;
} GmEntry;

typedef struct GmBucket {
    uint32_t start, end; /* entries */
    uint8_t byte;
} GmBucket;

/* For qsort: by node, then debt. */
int gm_entry_compare(const void *x, const void *y);

enum { GM_BASE_UNKNOWN, GM_BASE_SORTED, GM_BASE_UNSORTED };

/* Buckets ascend by byte. A base of more than GM_BASE_SMALL entries may share those of another one, around holes:
 * then several buckets have one byte, and only what buckets point to belongs to it. */
typedef struct GmBase {
    const GmEntry *entries;
    const GmBucket *buckets;
    uint32_t n_entries, n_buckets;
    uint32_t order; /* whether each bucket ascends by node, once somebody has asked */
} GmBase;

typedef struct GmView {
    const uint32_t *bases; /* ascending */
    uint32_t n;
} GmView;

typedef struct GmStep {
    GmToks inside;
    uint32_t after; /* view */
    uint32_t asked; /* wanted for itself while tables were closed, not on the way to another one */
} GmStep;

/* A lexer state: a clamped language and whether its terminal is exempt from the longest-match rule. */
typedef uint32_t GmLex;
static inline GmLex gm_lex(GmRe re, bool exempt) { return re << 1 | exempt; }

typedef struct GmOpen { /* a trie node on the path of a walk */
    const GmRow *row;
    uint32_t end;
    GmRe re, debt;
} GmOpen;

typedef struct GmSubtree { /* a trie node and the entry that its byte has led to; 0: the terminal is dead there */
    uint32_t node, entry;
} GmSubtree;

typedef struct GmPair { /* two lexer states on the path of a comparison */
    const GmRow *a, *b;
    uint32_t at, to; /* children still to come, by index */
} GmPair;

typedef struct GmLevel { /* a trie node on the path of a walk under no debt: children still to come, by index */
    const GmRow *row;
    uint32_t at, to;
    GmRe re;
} GmLevel;

typedef struct GmRange {
    uint32_t from, to; /* of GmTrie.ids */
} GmRange;

typedef struct GmWhole {
    GmRe debt;
    uint32_t view;
} GmWhole;

typedef struct GmPart { /* another constraint of the vocabulary that this one is made of; see gm_part.c */
    struct GmViews *views;
    GmMutex *lock;
} GmPart;

typedef struct GmViews {
    GmMem *mem;
    GmArena *arena;
    GmRegex *rx;
    const GmTrie *trie;
    GmShared *shared; /* of the vocabulary; may be NULL */
    GmPool bases, views, steps;
    GmIndex base_index, view_index;
    GmMap step_map;  /* (base, lexer state) -> step */
    GmMap bite_map;  /* (node, debt) -> 0 or 1 */
    GmMap whole_map; /* debt -> view */
    GmMap shared_map; /* shared base -> view */
    GM_VEC(GmOpen) open;
    GM_VEC(GmLevel) level;
    GM_VEC(GmOpen) open_bites;
    GM_VEC(GmRange) ranges;
    GM_VEC(GmEntry) after, sorted, compared;
    GM_VEC(GmSubtree) differing; /* gm_like */
    GM_VEC(GmPair) pairs;
    GM_VEC(GmBucket) pieces;
    GM_VEC(uint32_t) joined, listed;
    GmIdLists lists; /* of tokens */
    GM_VEC(GmPart) parts;
    GmMap part_map;  /* (part, its base) -> base */
    GmMap part_back; /* (part, base) -> its base, GM_BASE_ROOT when it has none */
    GM_VEC(GmWhole) wholes; /* what whole_map holds, in the order in which it came */
    /* While tables are closed to be saved: what is equal by content exists once, however it came about, so that
     * equal grammars get equal tables whatever the vocabulary has kept of others. */
    bool closing;
    GmMap set_map;           /* dense set, by address -> place in `sets` */
    GmIndex set_index;
    GmPool sets;             /* const uint32_t * */
    uint64_t walked; /* trie nodes visited by steps so far */
} GmViews;

GmStatus gm_views_init(GmViews *vs, GmMem *mem, GmArena *arena, GmRegex *rx, const GmTrie *trie, GmShared *shared,
                       GmError *err);
void gm_views_deinit(GmViews *vs);

static inline const GmView *gm_view_at(const GmViews *vs, uint32_t view) { return gm_pool_at(&vs->views, view); }
static inline const GmStep *gm_step_at(const GmViews *vs, uint32_t step) { return gm_pool_at(&vs->steps, step); }
/* Any thread: the step, or GM_NONE when nobody has computed it. */
static inline uint32_t gm_view_find_step(GmViews *vs, uint32_t base, GmLex lex)
{
    return gm_map_get(&vs->step_map, gm_pair(base, lex));
}

/* Locked: the same, computed when it is missing. */
GmStatus gm_view_step(GmViews *vs, uint32_t base, GmLex lex, uint32_t *step, GmError *err);
/* Locked: the view of n bases; small ones are merged. The list is sorted in place. */
GmStatus gm_view_of(GmViews *vs, uint32_t *bases, uint32_t n, uint32_t *view, GmError *err);
/* Locked: the base of entries in ascending order. */
GmStatus gm_view_base(GmViews *vs, GmEntry *entries, uint32_t n, uint32_t *base, GmError *err);
/* Locked, while closing: dense sets that are equal become one. */
GmStatus gm_view_same_sets(GmViews *vs, GmToks *toks, GmError *err);
/* Locked: all tokens under a (clamped) debt. Any thread: gm_view_find_whole, GM_NONE when missing. */
GmStatus gm_view_whole(GmViews *vs, GmRe debt, uint32_t *view, GmError *err);
static inline uint32_t gm_view_find_whole(GmViews *vs, GmRe debt)
{
    return debt == GM_RE_EMPTY ? GM_VIEW_ROOT : gm_map_get(&vs->whole_map, debt);
}

#endif
