/* gm: the public C interface of the glrmask engine, and the cdef source of its cffi module.
 *
 * GmVocab       one vocabulary: its trie. Reference-counted, immutable.
 * GmConstraint  one closed grammar compiled for a vocabulary. Reference-counted; any number of threads.
 * GmState       one sequence. One thread at a time: a call that finds another one inside changes nothing and
 *               answers GM_COMMIT_BUSY (or -1).
 * GmHeap        where the memory of all these comes from. Reference-counted; any number of threads.
 * GmBytes       what was saved.
 * GmWorker      one thread that fills tables of constraints ahead of need.
 * Handles are freed with the matching _free call, in any order.
 * Errors travel as return values and in the caller's GmError; nothing here allocates for a message, touches
 * global state or stops the process. */
#ifndef GM_H
#define GM_H

#include <stdint.h>

/* cdef begin */
/* Caller-owned, so a message costs no allocation and no global state. */
typedef struct GmError {
    int32_t status;  /* GmStatus */
    int32_t detail;  /* a node of the grammar that the message is about, or -1 */
    char limit[32];  /* the field of Limits, for GM_LIMIT */
    char text[256];
} GmError;

typedef struct GmVocab GmVocab;
typedef struct GmConstraint GmConstraint;
typedef struct GmState GmState;
typedef struct GmWorker GmWorker;
typedef struct GmHeap GmHeap;
typedef struct GmBytes GmBytes;

/* Fields of glrmask_core.options.CompileOptions and Limits that the engine obeys. */
typedef struct GmOptions {
    uint64_t memory_bytes;
    uint64_t state_bytes;
    uint64_t mask_cache_bytes; /* finished masks, and half of it at most what the worker makes */
    uint64_t static_work;
    uint64_t static_bytes;
    double build_seconds; /* of the whole call; 0 without limit */
    uint32_t states;
    uint32_t lexer_states;
    uint32_t expansion;
    uint32_t static_pairs;
    uint32_t mode; /* 0 AUTO, 1 FAST_BUILD, 2 BALANCED, 3 FAST_RUNTIME */
    uint32_t background;
    uint32_t n_end_tokens;
    const uint32_t *end_tokens; /* ascending */
} GmOptions;

typedef struct GmReport {
    uint64_t memory_bytes;
    uint64_t mask_bytes; /* of those: finished masks */
    uint64_t warm_bytes; /* ... and what the worker has made ahead of need */
    uint64_t walked; /* vocabulary trie nodes visited so far */
    uint32_t rules;
    uint32_t states;
    uint32_t lexer_states;
    uint32_t views;
    uint32_t steps;
    uint32_t summaries;
    uint32_t cached_masks;
    uint32_t left_recursive_rules;
} GmReport;

/* Where the bytes of a constraint are: they add up to GmReport.memory_bytes. What parts and the vocabulary lend is not
 * in here. */
typedef struct GmUsage {
    uint64_t grammar;      /* the module, and the network made of it */
    uint64_t lexer_states; /* nodes of regular expressions */
    uint64_t rows;         /* what their bytes lead to */
    uint64_t token_lists;
    uint64_t token_sets;   /* one bit a token */
    uint64_t views;        /* bases and views */
    uint64_t steps;        /* with the map that finds them, as the next ones */
    uint64_t summaries;
    uint64_t plans;
    uint64_t other;        /* scratch memory, tables of programs, and what else is made on the way */
    uint64_t unused;       /* of blocks that are not full: for the most part never touched, so not resident */
    uint64_t masks;        /* finished ones */
} GmUsage;

/* What one sequence holds and has done. */
typedef struct GmStateReport {
    uint64_t memory_bytes;
    uint64_t work;        /* members of stack sets, and readings, that were looked at, one by one, so far */
    uint32_t nodes, sets; /* of its stacks, what died since the last compaction included */
    uint32_t threads, tops;
} GmStateReport;

/* Large pieces of freed memory are kept for delay_ms (negative: for good), then reset or, with `decommits`, given
 * back; see gm_heap.h. NULL without memory. */
GmHeap *gm_heap_new(int64_t delay_ms, int decommits);
void gm_heap_free(GmHeap *heap);
/* Purge now what is kept; the bytes of it. */
uint64_t gm_heap_purge(GmHeap *heap);
/* Bytes kept at the moment, neither in use nor purged. */
uint64_t gm_heap_kept(GmHeap *heap);
/* Around a fork, so that the lock is free in the child. */
void gm_heap_pause(GmHeap *heap);
void gm_heap_resume(GmHeap *heap);

/* Token i has id ids[i] (ascending, distinct) and bytes blob[off[i] .. off[i + 1]); copied. Its memory and that of
 * its constraints and states comes from the heap, which is retained; the first form uses the C library. */
GmVocab *gm_vocab_new(const uint32_t *ids, const int64_t *off, const uint8_t *blob, uint32_t n,
                      uint32_t max_token_bytes, GmError *err);
GmVocab *gm_vocab_new_in(GmHeap *heap, const uint32_t *ids, const int64_t *off, const uint8_t *blob, uint32_t n,
                         uint32_t max_token_bytes, GmError *err);
void gm_vocab_free(GmVocab *vocab);
uint64_t gm_vocab_bytes(const GmVocab *vocab);
/* Let go of the steps that constraints share: later ones begin anew, those that are there keep theirs alive. 0, or -1
 * with err set. Any thread. */
int gm_vocab_forget(GmVocab *vocab, GmError *err);

/* The arrays of glrmask_core.ir.Module, without open slots; copied. */
GmConstraint *gm_constraint_new(GmVocab *vocab, const int32_t *rows, uint32_t n_nodes, const int32_t *args,
                                uint32_t n_args, const uint8_t *blob, uint64_t n_blob, const int32_t *rules,
                                uint32_t n_rules, uint32_t root, const GmOptions *options, GmError *err);
/* The same for a module that holds the grammars of other constraints of the vocabulary: their tables are used again,
 * and they are kept. One that the module begins with is not lowered again. */
GmConstraint *gm_constraint_link(GmVocab *vocab, const int32_t *rows, uint32_t n_nodes, const int32_t *args,
                                 uint32_t n_args, const uint8_t *blob, uint64_t n_blob, const int32_t *rules,
                                 uint32_t n_rules, uint32_t root, GmConstraint *const *parts, uint32_t n_parts,
                                 const GmOptions *options, GmError *err);
/* The same with the tables that such a constraint saved; they are not trusted (gm_tables.h). */
GmConstraint *gm_constraint_load(GmVocab *vocab, const int32_t *rows, uint32_t n_nodes, const int32_t *args,
                                 uint32_t n_args, const uint8_t *blob, uint64_t n_blob, const int32_t *rules,
                                 uint32_t n_rules, uint32_t root, const uint8_t *tables, uint64_t n_tables,
                                 const GmOptions *options, GmError *err);
/* The tables that were closed at build or loaded, as bytes: none for most constraints. NULL with err set. */
GmBytes *gm_constraint_save(GmConstraint *constraint, GmError *err);
const uint8_t *gm_bytes_data(const GmBytes *bytes);
uint64_t gm_bytes_size(const GmBytes *bytes);
void gm_bytes_free(GmBytes *bytes);
/* A parser program: its terminals are the rules of the module, its definition is flat code (gm_program.h). Everything
 * below works on the result, which has no exact tokens. */
GmConstraint *gm_program_new(GmVocab *vocab, const int32_t *rows, uint32_t n_nodes, const int32_t *args, uint32_t n_args,
                             const uint8_t *blob, uint64_t n_blob, const int32_t *rules, uint32_t n_rules,
                             const int32_t *code, uint64_t n_code, const GmOptions *options, GmError *err);
void gm_constraint_free(GmConstraint *constraint);
/* Bits of a mask: 1 + the largest id of the vocabulary, exact tokens and end tokens, or 0. */
uint64_t gm_constraint_width(const GmConstraint *constraint);
void gm_constraint_report(GmConstraint *constraint, GmReport *out);
/* 0, or -1 with err set. Cost: linear in the tables. */
int gm_constraint_usage(GmConstraint *constraint, GmUsage *out, GmError *err);

/* max_rollback: commits that gm_state_rollback can undo. */
GmState *gm_state_new(GmConstraint *constraint, uint32_t max_rollback, GmError *err);
GmState *gm_state_clone(GmState *state, GmError *err);
void gm_state_free(GmState *state);
/* The mask, n_words >= (width + 31) / 32, fully overwritten. 0, or -1 with err set. */
int gm_state_mask(GmState *state, uint32_t *words, uint64_t n_words, GmError *err);
/* Commit codes: 0 done, 1 was terminated, 2 was rejected, 3 unknown id, 4 rejected now, 5 end token while not
 * accepting (rejected now), 6 busy, 7 a limit (state unchanged; err set). */
int gm_state_commit_token(GmState *state, uint32_t id, GmError *err);
int gm_state_commit_bytes(GmState *state, const uint8_t *data, uint64_t n, GmError *err);
/* Bit 0 accepting, 1 rejected, 2 terminated; -1 with err set. */
int gm_state_flags(GmState *state, GmError *err);
/* 1 undone, 0 the history is too short, -1 with err set. */
int gm_state_rollback(GmState *state, uint32_t n, GmError *err);
/* 0, or -1 when another thread is inside. */
int gm_state_report(GmState *state, GmStateReport *out, GmError *err);
/* Nodes (TERMINAL, TOKEN_IDS) of the grammar that are in progress or may start, at most cap of them; how many, or
 * -1 with err set. Nothing of what may start is known for parser programs. */
int64_t gm_state_expected(GmState *state, uint32_t *nodes, uint32_t cap, GmError *err);
/* A key of the future: states of one constraint with equal keys go on alike. 0, or -1 with err set. */
int gm_state_key(GmState *state, uint64_t out[2], GmError *err);
/* The shortest text that completes this one, of several the least in byte order; exact tokens are not tried. 0: *text,
 * *n bytes long and NULL for none, goes back with gm_state_completion_free. 1: no text does. 2: not known: a parser
 * program, or a text that is hard to find. 3: it has more than `most` bytes, *n at least. -1 with err set. Linear in
 * depth and text where no terminal owes anything. */
int gm_state_completion(GmState *state, uint64_t most, uint8_t **text, uint64_t *n, GmError *err);
void gm_state_completion_free(GmState *state, uint8_t *text, uint64_t n);
/* n masks in one call, one row of n_words words per state. */
int gm_states_mask(GmState **states, uint32_t n, uint32_t *words, uint64_t n_words, GmError *err);

/* The worker that fills tables ahead of need; NULL where there are no threads for it. See gm_warm.h. */
GmWorker *gm_worker_new(void);
void gm_worker_free(GmWorker *worker);
void gm_worker_add(GmWorker *worker, GmConstraint *constraint);
void gm_worker_pause(GmWorker *worker);
void gm_worker_resume(GmWorker *worker);
int gm_worker_idle(GmWorker *worker);
/* cdef end */

#endif
