/* gm_save: what the parts of saving (gm_tables.h) share; for gm_save*.c alone. */
#ifndef GM_SAVE_H
#define GM_SAVE_H

#include "gm_tables.h"

typedef struct SavedSet {
    const uint32_t *words;
    uint32_t count, id;
    Hash128 hash;
} SavedSet;

typedef struct SavedToks { /* tokens of rows: ids, numbers of sets, ids that the sets are less; ascending */
    const uint32_t *list[3];
    uint32_t n[3], id;
    uint64_t hash;
} SavedToks;

typedef struct SavedRow { /* a step or a summary; first with ids, then with numbers */
    uint32_t base, key, id;
    uint32_t toks;
} SavedRow;

typedef struct Save {
    GmCore *core;
    GmWriter *out;
    GmMem mem;
    GmArena arena;
    SavedRow *steps, *summaries;
    GmWhole *wholes;
    uint32_t n_steps, n_summaries, n_wholes;
    uint32_t *re_no, *base_no, *view_no; /* by id; GM_NONE: not saved. While marking: 0 saved */
    uint32_t *set_no;
    GmMap set_of; /* address -> place in set_no */
    GM_VEC(SavedSet) sets;
    GmIndex toks_index;
    GM_VEC(SavedToks) toks;
    uint32_t *toks_no;
} Save;

/* GM_NONE, n times, for the time of the save. */
GmStatus gm_save_numbers(Save *s, uint32_t n, uint32_t **out, GmError *err);
GmStatus gm_save_write(GmWriter *w, const uint32_t *numbers, uint32_t n, GmError *err);
int gm_save_compare_hashes(Hash128 x, Hash128 y);
/* Of uint32_t, for qsort. */
int gm_save_compare_numbers(const void *x, const void *y);

/* Lexer states: those marked in re_no and what they are made of. */
GmStatus gm_save_res(Save *s, GmError *err);
GmStatus gm_save_sets(Save *s, GmError *err);

#endif
