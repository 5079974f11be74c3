/* Rows of gm_regex.h: all 256 derivatives of a lexer state at once, and the bytes that have equal ones. Rows of
 * composed languages are made class by class, of the classes that their parts tell apart. */
#include "gm_regex_in.h"

#include <string.h>

/* -- partitions ---------------------------------------------------------------------------------- */

/* Split every class by membership in the set; numbers stay dense. */
static void split(uint8_t cls[256], uint32_t *n, const GmByteSet *set)
{
    int16_t inside[256], outside[256];
    memset(inside, -1, sizeof inside);
    memset(outside, -1, sizeof outside);
    uint32_t count = 0;
    for (uint32_t b = 0; b < 256; b++) {
        int16_t *map = set_has(set, (uint8_t)b) ? inside : outside;
        if (map[cls[b]] < 0) {
            map[cls[b]] = (int16_t)count++;
        }
        cls[b] = (uint8_t)map[cls[b]];
    }
    *n = count;
}

static void split_byte(uint8_t cls[256], uint32_t *n, uint8_t byte)
{
    for (uint32_t b = 0; b < 256; b++) {
        if (b != byte && cls[b] == cls[byte]) {
            cls[byte] = (uint8_t)(*n)++;
            return;
        }
    }
}

/* Every node once: splitting by it again changes nothing. */
static GmStatus re_split(GmRegex *rx, GmRe r, uint8_t cls[256], uint32_t *n, GmError *err)
{
    for (;;) {
        GmReNode *node = re_at(rx, r);
        if (node->split_by == rx->splits) {
            return GM_OK;
        }
        node->split_by = rx->splits;
        if (node->is_single) {
            if (*n < 256) {
                split_byte(cls, n, node->first);
            }
            return GM_OK;
        }
        switch ((GmReKind)node->kind) {
        case RE_SET:
            split(cls, n, re_set_of(rx, node));
            return GM_OK;
        case RE_LITS: {
            const GmLits *lits = gm_pool_at(&rx->lits, node->a);
            uint32_t at = node->b + (lits->len[node->b] == node->d), range[2];
            while (at < node->c) {
                uint8_t byte = lits->text[at][node->d];
                if (*n < 256) {
                    split_byte(cls, n, byte);
                }
                gm_re_lits_range(lits, at, node->c, node->d, byte, range);
                at = range[1];
            }
            return GM_OK;
        }
        case RE_SEQ: {
            GmRe a = node->a, b = node->b;
            GM_TRY(re_split(rx, a, cls, n, err));
            if (!re_at(rx, a)->nullable) {
                return GM_OK;
            }
            r = b;
            continue;
        }
        case RE_ALT:
            for (uint32_t i = 0; i < node->b; i++) {
                GM_TRY(re_split(rx, node->p.list[i], cls, n, err));
            }
            return GM_OK;
        case RE_REP:
            r = node->a;
            continue;
        case RE_AND:
        case RE_SUB: {
            GmRe b = node->b;
            GM_TRY(re_split(rx, node->a, cls, n, err));
            r = b;
            continue;
        }
        case RE_AUT: {
            const GmAut *aut = gm_pool_at(&rx->auts, node->a);
            for (uint32_t e = aut->off[node->b]; e < aut->off[node->b + 1]; e++) {
                GM_TRY(re_split(rx, aut->label[e], cls, n, err));
            }
            return GM_OK;
        }
        default:
            return GM_OK;
        }
    }
}

GmStatus gm_re_partition(GmRegex *rx, GmRe r, uint8_t cls[256], uint32_t *n, GmError *err)
{
    rx->splits++;
    return re_split(rx, r, cls, n, err);
}

/* -- classes, shared by rows --------------------------------------------------------------------- */

/* Classes in the numbering of GmClasses, n of them with these first bytes, once for all rows that have them. */
static GmStatus classes_keep(GmRegex *rx, const uint8_t of[256], const uint8_t first[256], uint32_t n,
                             const GmClasses **out, GmError *err)
{
    uint64_t hash = 0;
    for (uint32_t i = 0; i < 256; i += 8) {
        uint64_t word;
        memcpy(&word, of + i, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    hash = gm_mix(hash);
    uint32_t at = (uint32_t)(hash >> 32), id;
    while ((id = gm_index_next(&rx->class_index, hash, &at)) != GM_NONE) {
        *out = *(const GmClasses *const *)gm_pool_at(&rx->classes, id);
        if (memcmp((*out)->of, of, 256) == 0) {
            return GM_OK;
        }
    }
    void *made, *p;
    GM_TRY(gm_arena_alloc(rx->arena, sizeof(GmClasses) + n, &made, err));
    GM_TRY(gm_pool_add(&rx->classes, rx->mem, &id, &p, err));
    GmClasses *classes = made;
    memcpy(classes->of, of, 256);
    classes->n = n;
    classes->id = id;
    memcpy(classes->first, first, n);
    *(const GmClasses **)p = classes;
    *out = classes;
    return gm_index_add(&rx->class_index, rx->mem, hash, id, err);
}

/* Nine equal bytes? */
static bool is_run(const uint8_t *bytes)
{
    uint64_t x, y;
    memcpy(&x, bytes, 8);
    memcpy(&y, bytes + 1, 8);
    return x == y;
}

/* Bytes that are in one class of x and in one of y. */
static GmStatus classes_join(GmRegex *rx, const GmClasses *x, const GmClasses *y, const GmClasses **out, GmError *err)
{
    if (x->n == 1 || x == y) {
        *out = y;
        return GM_OK;
    }
    if (y->n == 1) {
        *out = x;
        return GM_OK;
    }
    const uint64_t key = x->id < y->id ? gm_pair(x->id, y->id) : gm_pair(y->id, x->id);
    uint32_t id = gm_map_get(&rx->joint, key);
    if (id == GM_NONE) {
        uint8_t of[256], first[256];
        uint32_t n = 0, class = 0;
        for (uint32_t b = 0; b < 256; b++) {
            if (b % 8 == 0 && b > 0 && is_run(x->of + b - 1) && is_run(y->of + b - 1)) { /* mostly so in the upper half */
                memset(of + b, (int)class, 8);
                b += 7;
                continue;
            }
            class = 0;
            while (class < n && (x->of[first[class]] != x->of[b] || y->of[first[class]] != y->of[b])) {
                class++;
            }
            if (class == n) {
                first[n++] = (uint8_t)b;
            }
            of[b] = (uint8_t)class;
        }
        GM_TRY(classes_keep(rx, of, first, n, out, err));
        return gm_map_put(&rx->joint, rx->mem, key, (*out)->id, err);
    }
    *out = *(const GmClasses *const *)gm_pool_at(&rx->classes, id);
    return GM_OK;
}

/* -- languages whose entries do not follow from rows; `row` is zeroed ---------------------------- */

/* One derivative for each class of bytes. */
static GmStatus row_by_classes(GmRegex *rx, GmRe r, uint32_t row[256], GmError *err)
{
    uint8_t cls[256];
    uint32_t n = 1, entries[256];
    memset(cls, 0, sizeof cls);
    GM_TRY(gm_re_partition(rx, r, cls, &n, err));
    bool seen[256];
    memset(seen, 0, sizeof seen);
    for (uint32_t b = 0; b < 256; b++) {
        if (!seen[cls[b]]) {
            GmRe d;
            GM_TRY(gm_re_derive(rx, r, (uint8_t)b, &d, err));
            seen[cls[b]] = true;
            entries[cls[b]] = re_entry(rx, d);
        }
    }
    for (uint32_t b = 0; b < 256; b++) {
        row[b] = entries[cls[b]];
    }
    return GM_OK;
}

static GmStatus row_of_lits(GmRegex *rx, const GmReNode *node, uint32_t row[256], GmError *err)
{
    const GmLits *lits = gm_pool_at(&rx->lits, node->a);
    const uint32_t table = node->a, high = node->c, depth = node->d;
    uint32_t at = node->b + (lits->len[node->b] == depth), range[2];
    while (at < high) {
        uint8_t byte = lits->text[at][depth];
        GmRe rest;
        gm_re_lits_range(lits, at, high, depth, byte, range);
        GM_TRY(gm_re_lits(rx, table, range[0], range[1], depth + 1, &rest, err));
        row[byte] = re_entry(rx, rest);
        at = range[1];
    }
    return GM_OK;
}

/* -- rows ---------------------------------------------------------------------------------------- */

enum { ROW_PARTS = 64, ROW_HEADS = 8 }; /* with more of them, a partition first */

static GmStatus row_new(GmRegex *rx, const GmClasses *classes, const uint32_t *entries, const GmRow **out, GmError *err)
{
    void *p;
    GM_TRY(gm_arena_alloc(rx->arena, sizeof(GmRow) + classes->n * sizeof *entries, &p, err));
    GmRow *row = p;
    row->classes = classes;
    memcpy(row->entry, entries, classes->n * sizeof *entries);
    *out = row;
    return GM_OK;
}

/* Of two classes: the bytes of `in`, a map of ones and zeros, with that entry, and dead ones. */
static GmStatus row_of_two(GmRegex *rx, uint8_t in[256], uint32_t entry, const GmRow **out, GmError *err)
{
    const uint32_t dead = in[0] == 0, entries[2] = {dead ? 0 : entry, dead ? entry : 0};
    const uint8_t *other = memchr(in, (int)dead, 256);
    const uint8_t first[256] = {0, (uint8_t)(other == NULL ? 0 : other - in)};
    if (!dead) {
        for (uint32_t b = 0; b < 256; b++) {
            in[b] ^= 1;
        }
    }
    const GmClasses *classes;
    GM_TRY(classes_keep(rx, in, first, other == NULL ? 1 : 2, &classes, err));
    return row_new(rx, classes, entries, out, err);
}

static GM_NOINLINE GmStatus row_of_single(GmRegex *rx, GmRe r, uint8_t byte, const GmRow **out, GmError *err)
{
    uint8_t in[256];
    uint32_t entry;
    GM_TRY(gm_re_deriv(rx, r, byte, &entry, err));
    memset(in, 0, sizeof in);
    in[byte] = 1;
    return row_of_two(rx, in, entry, out, err);
}

static GM_NOINLINE GmStatus row_of_set(GmRegex *rx, const GmByteSet *set, const GmRow **out, GmError *err)
{
    uint8_t in[256];
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t w = set->w[i];
        for (uint32_t b = 0; b < 64; b++) {
            in[64 * i + b] = w & 1;
            w >>= 1;
        }
    }
    return row_of_two(rx, in, GM_RE_EPS | GM_RE_NULLABLE, out, err);
}

/* Bytes with equal entries are a class. */
static GM_NOINLINE GmStatus row_pack(GmRegex *rx, GmRe r, const GmRow **out, GmError *err)
{
    uint32_t row[256], entries[256], n = 0, class = 0;
    uint8_t of[256], first[256];
    memset(row, 0, sizeof row);
    if (re_at(rx, r)->kind == RE_LITS) {
        GM_TRY(row_of_lits(rx, re_at(rx, r), row, err));
    } else {
        GM_TRY(row_by_classes(rx, r, row, err));
    }
    for (uint32_t b = 0; b < 256; b++) {
        if (b == 0 || row[b] != row[b - 1]) {
            class = 0;
            while (class < n && entries[class] != row[b]) {
                class++;
            }
            if (class == n) {
                first[n] = (uint8_t)b;
                entries[n++] = row[b];
            }
        }
        of[b] = (uint8_t)class;
    }
    const GmClasses *classes;
    GM_TRY(classes_keep(rx, of, first, n, &classes, err));
    return row_new(rx, classes, entries, out, err);
}

/* What follows `entry`, a derivative of the first part of a sequence or of the body of a repeat. */
static GmStatus row_follow(GmRegex *rx, uint32_t entry, GmRe rest, uint32_t *out, GmError *err)
{
    GmRe d = GM_RE_EMPTY;
    if (entry != 0) {
        GM_TRY(gm_re_seq(rx, GM_RE_ID(entry), rest, &d, err));
    }
    *out = re_entry(rx, d);
    return GM_OK;
}

/* The alternation of n entries. */
static GmStatus row_join(GmRegex *rx, const uint32_t *entries, uint32_t n, uint32_t *entry, GmError *err)
{
    uint32_t base = rx->scratch.len;
    *entry = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (entries[i] != 0) {
            *entry = entries[i];
            GM_PUSH(rx->mem, rx->scratch, GM_RE_ID(*entry));
        }
    }
    if (rx->scratch.len - base < 2) {
        rx->scratch.len = base;
        return GM_OK;
    }
    GmRe d;
    GM_TRY(gm_re_alt_gathered(rx, base, &d, err));
    *entry = re_entry(rx, d);
    return GM_OK;
}

/* The entry of an intersection or difference by those of both sides. */
static GmStatus row_meet(GmRegex *rx, GmReKind kind, uint32_t left, uint32_t right, uint32_t *entry, GmError *err)
{
    GmRe d = GM_RE_EMPTY;
    if (left != 0 && kind == RE_AND) {
        GM_TRY(gm_re_and(rx, GM_RE_ID(left), GM_RE_ID(right), &d, err));
    } else if (left != 0) {
        GM_TRY(gm_re_sub(rx, GM_RE_ID(left), GM_RE_ID(right), &d, err));
    }
    *entry = re_entry(rx, d);
    return GM_OK;
}

/* Of a sequence or repeat whose first part is not empty: bytes that lead there to one state do so here. */
static GM_NOINLINE GmStatus row_of_head(GmRegex *rx, const GmRow *head, GmRe rest, const GmRow **out, GmError *err)
{
    uint32_t entries[256];
    for (uint32_t k = 0; k < head->classes->n; k++) {
        GM_TRY(row_follow(rx, head->entry[k], rest, &entries[k], err));
    }
    return row_new(rx, head->classes, entries, out, err);
}

/* Of a sequence whose first part may be empty: what follows it, or what the rest does. */
static GM_NOINLINE GmStatus row_of_seq(GmRegex *rx, const GmRow *head, GmRe rest, const GmRow **out, GmError *err)
{
    const GmRow *tail;
    const GmClasses *classes;
    uint32_t entries[256], follow[256];
    GM_TRY(gm_re_row(rx, rest, &tail, err));
    GM_TRY(classes_join(rx, head->classes, tail->classes, &classes, err));
    for (uint32_t k = 0; k < head->classes->n; k++) {
        GM_TRY(row_follow(rx, head->entry[k], rest, &follow[k], err));
    }
    for (uint32_t k = 0; k < classes->n; k++) {
        const uint8_t b = classes->first[k];
        const uint32_t both[2] = {follow[head->classes->of[b]], gm_row_at(tail, b)};
        GM_TRY(row_join(rx, both, 2, &entries[k], err));
    }
    return row_new(rx, classes, entries, out, err);
}

static GM_NOINLINE GmStatus row_of_alt(GmRegex *rx, const GmReNode *node, const GmRow **out, GmError *err)
{
    const GmRow *part[ROW_PARTS];
    const uint32_t n = node->b;
    const GmClasses *classes = NULL;
    uint32_t entries[256], of_parts[ROW_PARTS];
    for (uint32_t i = 0; i < n; i++) {
        GM_TRY(gm_re_row(rx, node->p.list[i], &part[i], err));
        if (i == 0) {
            classes = part[i]->classes;
        } else {
            GM_TRY(classes_join(rx, classes, part[i]->classes, &classes, err));
        }
    }
    for (uint32_t k = 0; k < classes->n; k++) {
        for (uint32_t i = 0; i < n; i++) {
            of_parts[i] = gm_row_at(part[i], classes->first[k]);
        }
        GM_TRY(row_join(rx, of_parts, n, &entries[k], err));
    }
    return row_new(rx, classes, entries, out, err);
}

static GM_NOINLINE GmStatus row_of_pair(GmRegex *rx, const GmReNode *node, const GmRow **out, GmError *err)
{
    const GmRow *x, *y;
    const GmClasses *classes;
    const GmReKind kind = node->kind;
    uint32_t entries[256], last[2] = {0, 0}, entry = 0;
    GM_TRY(gm_re_row(rx, node->a, &x, err));
    GM_TRY(gm_re_row(rx, node->b, &y, err));
    GM_TRY(classes_join(rx, x->classes, y->classes, &classes, err));
    for (uint32_t k = 0; k < classes->n; k++) {
        const uint32_t left = gm_row_at(x, classes->first[k]), right = gm_row_at(y, classes->first[k]);
        if (left != last[0] || right != last[1]) {
            GM_TRY(row_meet(rx, kind, left, right, &entry, err));
            last[0] = left;
            last[1] = right;
        }
        entries[k] = entry;
    }
    return row_new(rx, classes, entries, out, err);
}

/* How many nullable parts a sequence starts with, counted to `most`: there is a recursion into right sides, which may
 * be long. */
static uint32_t nullable_heads(GmRegex *rx, GmRe r, uint32_t most)
{
    uint32_t n = 0;
    while (n < most && re_at(rx, r)->kind == RE_SEQ && re_at(rx, re_at(rx, r)->a)->nullable) {
        r = re_at(rx, r)->b;
        n++;
    }
    return n;
}

/* Rows of composed languages come from the rows of their parts, which many share. Those are made first: then no large
 * frame is on the stack while this goes down. */
static GmStatus row_make(GmRegex *rx, GmRe r, const GmRow **out, GmError *err)
{
    const GmReNode *node = re_at(rx, r);
    const GmRow *row;
    GmRe rest = node->b;
    if (node->is_single) {
        return row_of_single(rx, r, node->first, out, err);
    }
    switch ((GmReKind)node->kind) {
    case RE_SET:
        return row_of_set(rx, re_set_of(rx, node), out, err);
    case RE_SEQ:
        if (nullable_heads(rx, r, ROW_HEADS) == ROW_HEADS) {
            break;
        }
        if (re_at(rx, node->a)->nullable) {
            GM_TRY(gm_re_row(rx, rest, &row, err));
            GM_TRY(gm_re_row(rx, node->a, &row, err));
            return row_of_seq(rx, row, rest, out, err);
        }
        GM_TRY(gm_re_row(rx, node->a, &row, err));
        return row_of_head(rx, row, rest, out, err);
    case RE_REP:
        GM_TRY(gm_re_row(rx, node->a, &row, err));
        GM_TRY(gm_re_rep(rx, node->a, node->b > 0 ? node->b - 1 : 0, node->c == GM_INF ? GM_INF : node->c - 1, &rest, err));
        return row_of_head(rx, row, rest, out, err);
    case RE_ALT:
        if (node->b > ROW_PARTS) {
            break;
        }
        for (uint32_t i = 0; i < node->b; i++) {
            GM_TRY(gm_re_row(rx, node->p.list[i], &row, err));
        }
        return row_of_alt(rx, node, out, err);
    case RE_AND:
    case RE_SUB:
        GM_TRY(gm_re_row(rx, node->a, &row, err));
        GM_TRY(gm_re_row(rx, node->b, &row, err));
        return row_of_pair(rx, node, out, err);
    default:
        break;
    }
    return row_pack(rx, r, out, err);
}

GmStatus gm_re_row(GmRegex *rx, GmRe r, const GmRow **out, GmError *err)
{
    const GmRow *row = gm_load(&re_at(rx, r)->row);
    if (row == NULL) {
        GM_TRY(row_make(rx, r, &row, err));
        gm_store(&re_at(rx, r)->row, row);
    }
    *out = row;
    return GM_OK;
}

GmStatus gm_re_branches(GmRegex *rx, GmRe r, uint8_t bytes[256], uint32_t entries[256], uint32_t *n, GmError *err)
{
    uint8_t cls[256];
    uint32_t classes = 1;
    bool seen[256];
    memset(cls, 0, sizeof cls);
    memset(seen, 0, sizeof seen);
    GM_TRY(gm_re_partition(rx, r, cls, &classes, err));
    *n = 0;
    for (uint32_t b = 0; b < 256; b++) {
        GmRe d;
        if (seen[cls[b]]) {
            continue;
        }
        seen[cls[b]] = true;
        uint32_t known = gm_re_peek(rx, r, (uint8_t)b);
        if (known != GM_RE_UNKNOWN) {
            d = GM_RE_ID(known);
        } else {
            GM_TRY(gm_re_derive(rx, r, (uint8_t)b, &d, err));
        }
        if (d != GM_RE_EMPTY) {
            bytes[*n] = (uint8_t)b;
            entries[(*n)++] = re_entry(rx, d);
        }
    }
    return GM_OK;
}
