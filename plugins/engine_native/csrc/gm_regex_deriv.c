/* Derivatives of gm_regex.h by one byte, and clamping. */
#include "gm_regex_in.h"

#include <string.h>

static GmStatus re_structural(GmRegex *rx, GmRe r, uint8_t byte, GmRe *out, GmError *err);

void gm_re_lits_range(const GmLits *lits, uint32_t low, uint32_t high, uint32_t depth, uint8_t byte, uint32_t out[2])
{
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t from = low, to = high;
        while (from < to) {
            uint32_t mid = from + (to - from) / 2;
            int value = lits->len[mid] == depth ? -1 : lits->text[mid][depth];
            if (value < (int)byte + (int)side) {
                from = mid + 1;
            } else {
                to = mid;
            }
        }
        out[side] = from;
    }
}

static GmStatus re_child(GmRegex *rx, GmRe r, uint8_t byte, GmRe *out, GmError *err)
{
    uint32_t entry = gm_re_peek(rx, r, byte);
    if (entry != GM_RE_UNKNOWN) {
        *out = GM_RE_ID(entry);
        return GM_OK;
    }
    GmReNode *node = re_at(rx, r);
    if (node->seen_by == rx->deriving) {
        *out = node->was;
        return GM_OK;
    }
    GM_TRY(re_structural(rx, r, byte, out, err));
    node->seen_by = rx->deriving;
    node->was = *out;
    return GM_OK;
}

GmStatus gm_re_derive(GmRegex *rx, GmRe r, uint8_t byte, GmRe *out, GmError *err)
{
    uint64_t outer = rx->deriving;
    rx->deriving = ++rx->derivatives;
    GmStatus status = re_structural(rx, r, byte, out, err);
    rx->deriving = outer;
    return status;
}

static GmStatus re_aut_step(GmRegex *rx, const GmReNode *node, uint8_t byte, GmRe *out, GmError *err)
{
    const GmAut *aut = gm_pool_at(&rx->auts, node->a);
    uint32_t table = node->a, state = node->b, base = rx->scratch.len;
    for (uint32_t e = aut->off[state]; e < aut->off[state + 1]; e++) {
        GmRe d, rest, part;
        GM_TRY(re_child(rx, aut->label[e], byte, &d, err));
        if (d == GM_RE_EMPTY) {
            continue;
        }
        GM_TRY(gm_re_aut(rx, table, aut->target[e], &rest, err));
        GM_TRY(gm_re_seq(rx, d, rest, &part, err));
        GM_PUSH(rx->mem, rx->scratch, part);
    }
    return gm_re_alt_gathered(rx, base, out, err);
}

static GmStatus re_alt_step(GmRegex *rx, const GmReNode *node, uint8_t byte, GmRe *out, GmError *err)
{
    uint32_t base = rx->scratch.len, count = node->b;
    const GmRe *list = node->p.list; /* in the arena: stays where it is */
    for (uint32_t i = 0; i < count; i++) {
        GmRe d;
        GM_TRY(re_child(rx, list[i], byte, &d, err));
        if (d != GM_RE_EMPTY) {
            GM_PUSH(rx->mem, rx->scratch, d);
        }
    }
    return gm_re_alt_gathered(rx, base, out, err);
}

/* a b c ... with nullable heads: the alternation of what each head leaves. */
static GmStatus re_seq_step(GmRegex *rx, GmRe r, uint8_t byte, GmRe *out, GmError *err)
{
    uint32_t base = rx->scratch.len;
    bool more = true;
    while (more) {
        const GmReNode *node = re_at(rx, r);
        bool seq = node->kind == RE_SEQ;
        GmRe d, a = seq ? node->a : r, b = node->b;
        GM_TRY(re_child(rx, a, byte, &d, err));
        if (d != GM_RE_EMPTY && seq) {
            GM_TRY(gm_re_seq(rx, d, b, &d, err));
        }
        if (d != GM_RE_EMPTY) {
            GM_PUSH(rx->mem, rx->scratch, d);
        }
        more = seq && re_at(rx, a)->nullable;
        r = b;
    }
    return gm_re_alt_gathered(rx, base, out, err);
}

static GmStatus re_structural(GmRegex *rx, GmRe r, uint8_t byte, GmRe *out, GmError *err)
{
    const GmReNode *node = re_at(rx, r);
    switch ((GmReKind)node->kind) {
    case RE_SET:
        *out = set_has(re_set_of(rx, node), byte) ? GM_RE_EPS : GM_RE_EMPTY;
        return GM_OK;
    case RE_LIT:
        if (node->p.text[0] != byte) {
            *out = GM_RE_EMPTY;
            return GM_OK;
        }
        return gm_re_lit(rx, node->p.text + 1, node->b - 1, out, err);
    case RE_LITS: {
        uint32_t range[2];
        gm_re_lits_range(gm_pool_at(&rx->lits, node->a), node->b, node->c, node->d, byte, range);
        return gm_re_lits(rx, node->a, range[0], range[1], node->d + 1, out, err);
    }
    case RE_SEQ:
        return re_seq_step(rx, r, byte, out, err);
    case RE_ALT:
        return re_alt_step(rx, node, byte, out, err);
    case RE_REP: {
        GmRe d, rest, body = node->a;
        uint32_t low = node->b > 0 ? node->b - 1 : 0, high = node->c == GM_INF ? GM_INF : node->c - 1;
        GM_TRY(re_child(rx, body, byte, &d, err));
        if (d == GM_RE_EMPTY) {
            *out = GM_RE_EMPTY;
            return GM_OK;
        }
        GM_TRY(gm_re_rep(rx, body, low, high, &rest, err));
        return gm_re_seq(rx, d, rest, out, err);
    }
    case RE_AND:
    case RE_SUB: {
        GmRe left, right, a = node->a, b = node->b;
        GmReKind kind = node->kind;
        GM_TRY(re_child(rx, a, byte, &left, err));
        if (left == GM_RE_EMPTY) {
            *out = GM_RE_EMPTY;
            return GM_OK;
        }
        GM_TRY(re_child(rx, b, byte, &right, err));
        return kind == RE_AND ? gm_re_and(rx, left, right, out, err) : gm_re_sub(rx, left, right, out, err);
    }
    case RE_AUT:
        return re_aut_step(rx, node, byte, out, err);
    default:
        *out = GM_RE_EMPTY;
        return GM_OK;
    }
}

GmStatus gm_re_deriv(GmRegex *rx, GmRe r, uint8_t byte, uint32_t *entry, GmError *err)
{
    uint32_t known = gm_re_peek(rx, r, byte);
    if (known != GM_RE_UNKNOWN) {
        *entry = known;
        return GM_OK;
    }
    GmReNode *node = re_at(rx, r);
    if (!node->is_single && node->misses++ > 0) {
        const GmRow *row;
        GM_TRY(gm_re_row(rx, r, &row, err));
        *entry = gm_row_at(row, byte);
        return GM_OK;
    }
    GmRe d;
    GM_TRY(gm_re_derive(rx, r, byte, &d, err));
    *entry = re_entry(rx, d);
    if (node->is_single) {
        gm_store(&node->next, *entry);
    }
    return GM_OK;
}

/* -- clamp ------------------------------------------------------------------------------------------ */

/* The minimum keeps one iteration more than the horizon: with exactly `horizon` the last byte of a token
 * could use it up, and a debt would then look violated. Right sides of sequences by a loop: they may be long. */
GmStatus gm_re_clamp(GmRegex *rx, GmRe r, GmRe *out, GmError *err)
{
    uint32_t known = gm_load(&re_at(rx, r)->clamp);
    if (known != 0) {
        *out = known - 1;
        return GM_OK;
    }
    const GmReNode *node = re_at(rx, r);
    GmRe result = r;
    if (node->kind == RE_REP) {
        uint32_t low = node->b, high = node->c;
        GmRe body;
        GM_TRY(gm_re_clamp(rx, node->a, &body, err));
        low = low > rx->horizon + 1 ? rx->horizon + 1 : low;
        high = high > rx->horizon ? GM_INF : high;
        GM_TRY(gm_re_rep(rx, body, low, high, &result, err));
    } else if (node->kind == RE_ALT) {
        result = GM_RE_EMPTY;
        const GmRe *list = node->p.list;
        uint32_t n = node->b;
        for (uint32_t i = 0; i < n; i++) {
            GmRe part;
            GM_TRY(gm_re_clamp(rx, list[i], &part, err));
            GM_TRY(gm_re_alt2(rx, result, part, &result, err));
        }
    } else if (node->kind == RE_SEQ) {
        uint32_t base = rx->search.len;
        GmRe tail = r, part;
        while (re_at(rx, tail)->kind == RE_SEQ && gm_load(&re_at(rx, tail)->clamp) == 0) {
            GM_PUSH(rx->mem, rx->search, re_at(rx, tail)->a);
            tail = re_at(rx, tail)->b;
        }
        GM_TRY(gm_re_clamp(rx, tail, &result, err));
        while (rx->search.len > base) {
            GM_TRY(gm_re_clamp(rx, rx->search.data[rx->search.len - 1], &part, err));
            rx->search.len--;
            GM_TRY(gm_re_seq(rx, part, result, &result, err));
        }
    }
    gm_store(&re_at(rx, r)->clamp, result + 1);
    *out = result;
    return GM_OK;
}
