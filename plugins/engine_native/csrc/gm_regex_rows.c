/* Rows of gm_regex.h: all 256 derivatives of a lexer state at once, and the bytes that have equal ones. */
#include "gm_regex_in.h"

#include <string.h>

/* -- classes of bytes ----------------------------------------------------------------------------- */

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

/* -- rows ----------------------------------------------------------------------------------------- */

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

/* What follows `d`, a derivative of the first part of a sequence or of the body of a repeat. */
static GmStatus row_follow(GmRegex *rx, GmRe d, GmRe rest, uint32_t *entry, GmError *err)
{
    GM_TRY(gm_re_seq(rx, d, rest, &d, err));
    *entry = re_entry(rx, d);
    return GM_OK;
}

/* The row of a sequence or repeat, from the row of its first part: bytes that lead there to one state do so here. */
static GmStatus row_by_head(GmRegex *rx, GmRe head, GmRe rest, uint32_t row[256], GmError *err)
{
    const uint32_t *from;
    GM_TRY(gm_re_row(rx, head, &from, err));
    uint32_t last = 0, entry = 0, before = 0, then = 0; /* mostly two alternate: the usual target and some other */
    for (uint32_t b = 0; b < 256; b++) {
        if (from[b] != last) {
            const uint32_t known = from[b] == before ? then : 0;
            before = last;
            then = entry;
            last = from[b];
            entry = known;
            if (last != 0 && entry == 0) {
                GM_TRY(row_follow(rx, GM_RE_ID(last), rest, &entry, err));
            }
        }
        row[b] = entry;
    }
    return GM_OK;
}

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

/* The row of an intersection or difference, from the rows of both sides. */
static GmStatus row_by_pairs(GmRegex *rx, const GmReNode *node, uint32_t row[256], GmError *err)
{
    const GmReKind kind = node->kind;
    const GmRe a = node->a, b = node->b;
    const uint32_t *left, *right;
    GM_TRY(gm_re_row(rx, a, &left, err));
    GM_TRY(gm_re_row(rx, b, &right, err));
    uint32_t last[2] = {0, 0}, entry = 0, before[2] = {0, 0}, then = 0; /* mostly two pairs alternate */
    for (uint32_t i = 0; i < 256; i++) {
        if (left[i] != last[0] || right[i] != last[1]) {
            const bool back = left[i] == before[0] && right[i] == before[1];
            const uint32_t known = then;
            before[0] = last[0];
            before[1] = last[1];
            then = entry;
            last[0] = left[i];
            last[1] = right[i];
            entry = known;
            if (!back) {
                GM_TRY(row_meet(rx, kind, last[0], last[1], &entry, err));
            }
        }
        row[i] = entry;
    }
    return GM_OK;
}

/* The alternation of what several rows say of a byte. */
static GmStatus row_join(GmRegex *rx, const uint32_t *const *part, uint32_t n, uint32_t byte, uint32_t *entry, GmError *err)
{
    uint32_t base = rx->scratch.len;
    *entry = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (part[i][byte] != 0) {
            *entry = part[i][byte];
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

static GmStatus row_of_alt(GmRegex *rx, const GmReNode *node, uint32_t row[256], GmError *err)
{
    const GmRe *list = node->p.list;
    uint32_t n = node->b;
    void *p;
    GM_TRY(gm_arena_alloc(rx->arena, n * sizeof(uint32_t *), &p, err));
    const uint32_t **part = p;
    for (uint32_t i = 0; i < n; i++) {
        GM_TRY(gm_re_row(rx, list[i], &part[i], err));
    }
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t i = 0;
        while (b > 0 && i < n && part[i][b] == part[i][b - 1]) {
            i++;
        }
        if (b > 0 && i == n) {
            row[b] = row[b - 1];
            continue;
        }
        GM_TRY(row_join(rx, part, n, b, &row[b], err));
    }
    return GM_OK;
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

static GmStatus row_of_seq(GmRegex *rx, const GmReNode *node, uint32_t row[256], GmError *err)
{
    const GmRe a = node->a, b = node->b;
    const uint32_t *second;
    GM_TRY(row_by_head(rx, a, b, row, err));
    if (!re_at(rx, a)->nullable) {
        return GM_OK;
    }
    GM_TRY(gm_re_row(rx, b, &second, err));
    uint32_t last[2] = {0, 0}, entry = 0;
    for (uint32_t i = 0; i < 256; i++) {
        if (row[i] != last[0] || second[i] != last[1]) {
            last[0] = row[i];
            last[1] = second[i];
            const uint32_t *part[2] = {&last[0], &last[1]};
            GM_TRY(row_join(rx, part, 2, 0, &entry, err));
        }
        row[i] = entry;
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

/* Rows of composed languages come from the rows of their parts, which many share; `row` is zeroed. */
static GmStatus row_make(GmRegex *rx, GmRe r, uint32_t row[256], GmError *err)
{
    enum { PARTS = 64, HEADS = 8 }; /* with more of them, classes of bytes first */
    const GmReNode *node = re_at(rx, r);
    if (node->is_single) {
        return gm_re_deriv(rx, r, node->first, &row[node->first], err);
    }
    switch ((GmReKind)node->kind) {
    case RE_SET: {
        const GmByteSet *set = re_set_of(rx, node);
        for (uint32_t b = 0; b < 256; b++) {
            row[b] = set_has(set, (uint8_t)b) ? GM_RE_EPS | GM_RE_NULLABLE : 0;
        }
        return GM_OK;
    }
    case RE_LITS:
        return row_of_lits(rx, node, row, err);
    case RE_SEQ:
        return nullable_heads(rx, r, HEADS) < HEADS ? row_of_seq(rx, node, row, err) : row_by_classes(rx, r, row, err);
    case RE_ALT:
        return node->b <= PARTS ? row_of_alt(rx, node, row, err) : row_by_classes(rx, r, row, err);
    case RE_REP: {
        GmRe body = node->a, rest;
        uint32_t low = node->b > 0 ? node->b - 1 : 0, high = node->c == GM_INF ? GM_INF : node->c - 1;
        GM_TRY(gm_re_rep(rx, body, low, high, &rest, err));
        return row_by_head(rx, body, rest, row, err);
    }
    case RE_AND:
    case RE_SUB:
        return row_by_pairs(rx, node, row, err);
    default:
        return row_by_classes(rx, r, row, err);
    }
}

GmStatus gm_re_row(GmRegex *rx, GmRe r, const uint32_t **out, GmError *err)
{
    uint32_t *row = gm_load(&re_at(rx, r)->row);
    if (row != NULL) {
        *out = row;
        return GM_OK;
    }
    void *p;
    GM_TRY(gm_arena_zeroed(rx->arena, 256, sizeof *row, &p, err));
    row = p;
    GM_TRY(row_make(rx, r, row, err));
    gm_store(&re_at(rx, r)->row, row);
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
