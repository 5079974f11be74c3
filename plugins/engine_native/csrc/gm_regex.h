/* gm_regex: regular languages over bytes, matched by derivatives.
 *
 * A language is an interned tree (GmRe): equal trees have equal ids, so the derivatives of one tree are a
 * lazily built automaton. `re` 0 is the empty language, 1 the empty text. Transitions come in two forms:
 *
 *   single  the language starts with one fixed byte (literals): that byte and the target, no table
 *   row     an entry for each class of bytes, made on the second need; entry = target | GM_RE_NULLABLE when the
 *           target matches the empty text; 0 = dead. Which byte is in which class says a map that many rows share:
 *           300 states of a schema have some 50 maps, so a row takes 60 bytes instead of 1 KB
 *
 * Counted repeats, intersection and difference are nodes of their own. For the last two the constructor
 * runs an emptiness test, so `re == 0` is the only dead language everywhere.
 *
 * gm_regex.c interns nodes and has the constructors but for intersection and difference, which are in
 * gm_regex_bool.c with that test; gm_regex_deriv.c has derivatives and the clamp, gm_regex_rows.c rows,
 * gm_loop.c the loops.
 *
 * Owner    nodes, rows and lists live in the arena and pools of the GmRegex.
 * Threads  reading (gm_re_peek, properties of a node) without a lock; everything that may create nodes
 *          only by the holder of the owner's lock ("locked" below).
 * Cost     a row: one derivative per byte class of the node.
 * Source   Brzozowski 1964, Derivatives of Regular Expressions; Owens, Reppy, Turon 2009,
 *          Regular-expression derivatives re-examined. Clamp and loops: own, docs/algorithms/derivatives.md.
 * Tests    tests/c/test_regex.c, test_rows.c; differential tests against the oracle. */
#ifndef GM_REGEX_H
#define GM_REGEX_H

#include "gm_hash.h"

typedef uint32_t GmRe;
enum {
    GM_RE_EMPTY = 0,
    GM_RE_EPS = 1,
    GM_RE_DEPTH = 1000 /* nesting of a terminal: recursion is bounded by it, at about 300 bytes of stack a level */
};
#define GM_RE_NULLABLE 0x80000000u
#define GM_RE_ID(entry) ((entry)&0x7fffffffu)
#define GM_RE_UNKNOWN 0xffffffffu
#define GM_INF 0xffffffffu

typedef enum GmReKind {
    RE_EMPTY,
    RE_EPS,
    RE_SET,  /* a: index of a byte set */
    RE_LIT,  /* text, b: length */
    RE_LITS, /* a: table; texts [b, c) of it from byte d on */
    RE_SEQ,  /* a then b */
    RE_ALT,  /* list of b sorted ids */
    RE_REP,  /* a from b to c times (GM_INF) */
    RE_AND,  /* a and b */
    RE_SUB,  /* a and not b */
    RE_AUT   /* automaton a in state b */
} GmReKind;

typedef struct GmClasses { /* of bytes, numbered by their first one */
    uint8_t of[256];
    uint32_t n, id;
    uint8_t first[]; /* n */
} GmClasses;

typedef struct GmRow {
    const GmClasses *classes;
    uint32_t entry[]; /* of a class; several may have the same */
} GmRow;
static inline uint32_t gm_row_at(const GmRow *row, uint8_t byte) { return row->entry[row->classes->of[byte]]; }

typedef struct GmReNode {
    uint8_t kind, nullable;
    uint8_t live;      /* of RE_AND, RE_SUB: known to be non-empty */
    uint8_t counted;   /* clamping changes it */
    uint8_t is_single; /* starts with `first` only */
    uint8_t first;
    uint8_t bounded;   /* holds a repeat with a maximum worth counting: many states before anything recurs */
    uint16_t depth; /* nesting, bounds recursion */
    uint32_t a, b, c, d;
    uint32_t shortest, longest; /* bounds on the bytes of a text; GM_INF: none known */
    union {
        const uint32_t *list;
        const uint8_t *text;
    } p;
    _Atomic uint32_t next;  /* single form: target entry, 0 = not made yet */
    _Atomic uint32_t clamp; /* clamped node + 1, 0 = not made yet */
    _Atomic uint32_t loop;  /* loop record + 1, 0 = not made yet */
    uint32_t main;     /* GmMain record + 1, 0 = not made yet */
    uint32_t misses;
    uint32_t mark;     /* number of the emptiness test that saw it last */
    uint64_t split_by; /* ... of the partition */
    uint64_t seen_by;  /* ... of the derivative, */
    GmRe was;          /* which was this */
    _Atomic(const GmRow *) row;
    Hash128 hash;
} GmReNode;

/* Bytes that leave a lexer state as it is, so that whole subtrees of the vocabulary need no walk. */
typedef struct GmLoop {
    uint64_t groups; /* byte groups, see gm_trie.h; 0 = no shortcut */
    uint32_t cap;    /* how many characters may be taken, GM_INF without bound */
} GmLoop;

typedef struct GmMain { /* where most bytes lead, and which groups do */
    uint32_t target;
    uint64_t groups;
} GmMain;

typedef struct GmByteSet {
    uint64_t w[4];
} GmByteSet;

typedef struct GmLits { /* sorted, distinct */
    uint32_t n;
    const uint8_t **text;
    const uint32_t *len;
    Hash128 hash;
} GmLits;

typedef struct GmAut { /* edges sorted by source; all states can reach an accepting one */
    uint32_t n_states, n_edges;
    const uint32_t *off; /* n_states + 1 */
    const GmRe *label;
    const uint32_t *target;
    const uint8_t *accepting;
    Hash128 hash;
} GmAut;

typedef struct GmReMark { /* how many there were at some time */
    uint32_t nodes, sets, lits, auts;
    uint64_t searched;
} GmReMark;

typedef struct GmRegex {
    GmMem *mem;
    GmArena *arena;
    GmPool nodes; /* GmReNode */
    GmPool sets;  /* GmByteSet */
    GmPool lits;  /* GmLits */
    GmPool auts;  /* GmAut */
    GmPool loops; /* GmLoop */
    GmPool mains; /* GmMain */
    GmPool classes; /* const GmClasses * of rows, distinct */
    GmMap joint;    /* two classes -> those that tell apart what one of them does */
    GmIndex index, class_index;
    GM_VEC(uint32_t) scratch;
    GM_VEC(uint32_t) search, pending; /* emptiness test: (node, parent) pairs, and those to follow */
    uint32_t search_no;
    uint64_t searched; /* steps of all emptiness tests */
    uint64_t splits, derivatives, deriving;
    GmReMark lowered; /* what the terminals of the grammar are made of; later ones come up in matching */
    uint64_t off_group[128]; /* all byte groups but that of an ASCII byte */
    uint32_t horizon;        /* longest token, bytes */
    uint32_t max_nodes;      /* Limits.lexer_states */
} GmRegex;

GmStatus gm_re_init(GmRegex *rx, GmMem *mem, GmArena *arena, uint32_t horizon, uint32_t max_nodes, GmError *err);
/* Begin with the terminals of `other`, by the same numbers; what matching them has made is left behind. Its lock is
 * held; its lists and texts are borrowed. Cost: copying and entering each node into the index. */
GmStatus gm_re_init_like(GmRegex *rx, GmMem *mem, GmArena *arena, uint32_t max_nodes, const GmRegex *other, GmError *err);
/* All terminals are there. */
void gm_re_set_lowered(GmRegex *rx);
void gm_re_deinit(GmRegex *rx);

static inline const GmReNode *gm_re_node(const GmRegex *rx, GmRe r) { return gm_pool_at(&rx->nodes, r); }
static inline bool gm_re_nullable(const GmRegex *rx, GmRe r) { return gm_re_node(rx, r)->nullable; }

/* Constructors; locked. Text of literals is borrowed for the life of rx. */
GmStatus gm_re_set(GmRegex *rx, const GmByteSet *set, GmRe *out, GmError *err);
GmStatus gm_re_lit(GmRegex *rx, const uint8_t *text, uint32_t len, GmRe *out, GmError *err);
GmStatus gm_re_lits(GmRegex *rx, uint32_t table, uint32_t low, uint32_t high, uint32_t depth, GmRe *out, GmError *err);
GmStatus gm_re_seq(GmRegex *rx, GmRe a, GmRe b, GmRe *out, GmError *err);
GmStatus gm_re_alt(GmRegex *rx, const GmRe *parts, uint32_t n, GmRe *out, GmError *err);
/* The alternation of the ids in rx->scratch from `from` on, which are taken off. */
GmStatus gm_re_alt_gathered(GmRegex *rx, uint32_t from, GmRe *out, GmError *err);
GmStatus gm_re_alt2(GmRegex *rx, GmRe a, GmRe b, GmRe *out, GmError *err);
GmStatus gm_re_rep(GmRegex *rx, GmRe a, uint32_t low, uint32_t high, GmRe *out, GmError *err);
GmStatus gm_re_and(GmRegex *rx, GmRe a, GmRe b, GmRe *out, GmError *err);
GmStatus gm_re_sub(GmRegex *rx, GmRe a, GmRe b, GmRe *out, GmError *err);
GmStatus gm_re_aut(GmRegex *rx, uint32_t table, uint32_t state, GmRe *out, GmError *err);

/* Locked: the node of another GmRegex that is the same language by structure, here; or GM_NONE. */
GmRe gm_re_find(const GmRegex *rx, const GmReNode *other);
/* Whether a debt owes all that `b` owes (as alternations of residuals). */
bool gm_re_covers(const GmRegex *rx, GmRe a, GmRe b);

/* Any thread: the entry after one byte, or GM_RE_UNKNOWN when nobody has computed it yet. */
static inline uint32_t gm_re_peek(const GmRegex *rx, GmRe r, uint8_t byte)
{
    const GmReNode *node = gm_re_node(rx, r);
    const GmRow *row = gm_load(&((GmReNode *)(uintptr_t)node)->row);
    if (row != NULL) {
        return gm_row_at(row, byte);
    }
    if (node->is_single) {
        if (byte != node->first) {
            return 0;
        }
        uint32_t next = gm_load(&((GmReNode *)(uintptr_t)node)->next);
        return next != 0 ? next : GM_RE_UNKNOWN;
    }
    return r == GM_RE_EMPTY || r == GM_RE_EPS ? 0 : GM_RE_UNKNOWN;
}

/* Locked. The entry after one byte; remembers it, and makes the row on the second miss. */
GmStatus gm_re_deriv(GmRegex *rx, GmRe r, uint8_t byte, uint32_t *entry, GmError *err);
/* Locked. The entries of all bytes (made for single forms too). */
GmStatus gm_re_row(GmRegex *rx, GmRe r, const GmRow **row, GmError *err);
/* Locked. One byte of each class of bytes that r tells apart and that does not kill it, with the entry after
 * it; at most 256. Makes no row. */
GmStatus gm_re_branches(GmRegex *rx, GmRe r, uint8_t bytes[256], uint32_t entries[256], uint32_t *n, GmError *err);
/* Locked. A language that no text of at most `horizon` bytes can tell apart from r. */
GmStatus gm_re_clamp(GmRegex *rx, GmRe r, GmRe *out, GmError *err);
/* Locked. The entry that most printable ASCII bytes lead to (some frequent one without a majority). */
GmStatus gm_re_main_target(GmRegex *rx, GmRe r, uint32_t *entry, GmError *err);
/* Locked. See GmLoop. */
GmStatus gm_re_loop(GmRegex *rx, GmRe r, GmLoop *out, GmError *err);

#endif
