/* Saving of lexer states (gm_tables.h): literals first, then the rest from the bottom up, by structural hash. */
#include "gm_save.h"

#include <stdlib.h>
#include <string.h>

typedef struct SavedRe {
    const uint8_t *text; /* of a literal */
    uint32_t len, level; /* level: 0 literals, 1 other leaves, then above all that it is made of */
    Hash128 hash;
    GmRe id;
} SavedRe;

/* What a node is made of, as ids; all are below its own. */
static uint32_t parts_of(const GmReNode *node, const uint32_t **list, uint32_t pair[2])
{
    pair[0] = node->a;
    pair[1] = node->b;
    *list = pair;
    switch ((GmReKind)node->kind) {
    case RE_SEQ:
    case RE_AND:
    case RE_SUB:
        return 2;
    case RE_REP:
        return 1;
    case RE_ALT:
        *list = node->p.list;
        return node->b;
    default:
        return 0;
    }
}

/* Literals from the back, the greatest first: one that ends another follows one that it ends. */
static int compare_texts(const SavedRe *x, const SavedRe *y)
{
    uint32_t n = x->len < y->len ? x->len : y->len;
    for (uint32_t i = 1; i <= n; i++) {
        uint8_t a = x->text[x->len - i], b = y->text[y->len - i];
        if (a != b) {
            return a > b ? -1 : 1;
        }
    }
    return x->len > y->len ? -1 : x->len < y->len;
}

static int compare_res(const void *x, const void *y)
{
    const SavedRe *a = x, *b = y;
    if (a->level != b->level) {
        return a->level < b->level ? -1 : 1;
    }
    return a->level == 0 ? compare_texts(a, b) : gm_save_compare_hashes(a->hash, b->hash);
}

static GmStatus write_text(Save *s, const SavedRe *re, const SavedRe *before, GmError *err)
{
    if (before != NULL && before->len > re->len && memcmp(before->text + before->len - re->len, re->text, re->len) == 0) {
        return gm_write_number(s->out, before->len - re->len, err);
    }
    uint32_t numbers[2] = {0, re->len};
    GM_TRY(gm_save_write(s->out, numbers, 2, err));
    return gm_write_bytes(s->out, re->text, re->len, err);
}

static GmStatus write_re(Save *s, GmRe id, GmError *err)
{
    const GmReNode *node = gm_re_node(&s->core->rx, id);
    GmWriter *w = s->out;
    GM_TRY(gm_write_number(w, node->kind, err));
    switch ((GmReKind)node->kind) {
    case RE_SET: {
        const GmByteSet *set = gm_pool_at(&s->core->rx.sets, node->a);
        for (uint32_t i = 0; i < 32; i++) {
            uint8_t byte = (uint8_t)(set->w[i / 8] >> (8 * (i % 8)));
            GM_TRY(gm_write_bytes(w, &byte, 1, err));
        }
        return GM_OK;
    }
    case RE_LITS: {
        uint32_t numbers[4] = {node->a, node->b, node->c, node->d};
        return gm_save_write(w, numbers, 4, err);
    }
    case RE_SEQ:
    case RE_AND:
    case RE_SUB: {
        uint32_t numbers[2] = {s->re_no[node->a], s->re_no[node->b]};
        return gm_save_write(w, numbers, 2, err);
    }
    case RE_REP: {
        uint32_t numbers[3] = {s->re_no[node->a], node->b, node->c == GM_INF ? 0 : node->c}; /* 0 times is no repeat */
        return gm_save_write(w, numbers, 3, err);
    }
    case RE_AUT: {
        uint32_t numbers[2] = {node->a, node->b};
        return gm_save_write(w, numbers, 2, err);
    }
    case RE_ALT: {
        void *p;
        GM_TRY(gm_arena_alloc(&s->arena, node->b * sizeof(uint32_t), &p, err));
        uint32_t *list = p;
        for (uint32_t i = 0; i < node->b; i++) {
            list[i] = s->re_no[node->p.list[i]];
        }
        qsort(list, node->b, sizeof *list, gm_save_compare_numbers);
        GM_TRY(gm_write_number(w, node->b, err));
        return gm_write_list(w, list, node->b, err);
    }
    default:
        GM_CHECK(false, err);
        return GM_OK;
    }
}

GmStatus gm_save_res(Save *s, GmError *err)
{
    const GmRegex *rx = &s->core->rx;
    uint32_t end = rx->nodes.len, n = 0, n_texts = 0, pair[2];
    const uint32_t *list;
    for (GmRe id = end; id-- > 2;) {
        const GmReNode *node = gm_re_node(rx, id);
        uint32_t n_parts = s->re_no[id] != GM_NONE ? parts_of(node, &list, pair) : 0;
        for (uint32_t i = 0; i < n_parts; i++) {
            s->re_no[list[i]] = 0;
        }
        n += s->re_no[id] != GM_NONE;
    }
    void *p;
    GM_TRY(gm_arena_zeroed(&s->arena, n, sizeof(SavedRe), &p, err));
    SavedRe *res = p;
    GM_TRY(gm_arena_zeroed(&s->arena, end, sizeof(uint32_t), &p, err));
    uint32_t *level = p;
    n = 0;
    for (GmRe id = 2; id < end; id++) {
        if (s->re_no[id] == GM_NONE) {
            continue;
        }
        const GmReNode *node = gm_re_node(rx, id);
        bool text = node->kind == RE_LIT;
        uint32_t n_parts = parts_of(node, &list, pair);
        level[id] = !text;
        for (uint32_t i = 0; i < n_parts; i++) {
            level[id] = level[list[i]] + 1 > level[id] ? level[list[i]] + 1 : level[id];
        }
        n_texts += text;
        res[n++] = (SavedRe){text ? node->p.text : NULL, text ? node->b : 0, level[id], node->hash, id};
    }
    qsort(res, n, sizeof *res, compare_res);
    s->re_no[GM_RE_EMPTY] = GM_RE_EMPTY;
    s->re_no[GM_RE_EPS] = GM_RE_EPS;
    for (uint32_t i = 0; i < n; i++) {
        s->re_no[res[i].id] = i + 2;
    }
    GM_TRY(gm_write_number(s->out, n_texts, err));
    GM_TRY(gm_write_number(s->out, n - n_texts, err));
    for (uint32_t i = 0; i < n; i++) {
        GM_TRY(i < n_texts ? write_text(s, &res[i], i > 0 ? &res[i - 1] : NULL, err) : write_re(s, res[i].id, err));
    }
    return GM_OK;
}
