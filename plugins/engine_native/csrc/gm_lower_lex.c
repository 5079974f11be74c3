#include "gm_lower_lex.h"

#include "gm_utf8.h"

#include <string.h>

static const int32_t *row_of(const GmNfa *nfa, uint32_t node) { return nfa->module.rows + 4 * (size_t)node; }

static GmStatus bad(GmError *err, uint32_t node)
{
    return gm_fail(err, GM_ARG, "node %u of the grammar is malformed", node);
}

/* n words of the args pool from `off`, or an error. */
static GmStatus args_of(const GmNfa *nfa, uint32_t node, int32_t off, int64_t n, const int32_t **out, GmError *err)
{
    if (off < 0 || n < 0 || off + n > (int64_t)nfa->module.n_args) {
        return bad(err, node);
    }
    *out = nfa->module.args + off;
    return GM_OK;
}

static GmStatus text_of(const GmNfa *nfa, uint32_t node, int32_t off, int64_t n, const uint8_t **out, GmError *err)
{
    if (off < 0 || n < 0 || (uint64_t)off + (uint64_t)n > nfa->module.n_blob) {
        return bad(err, node);
    }
    *out = nfa->module.blob + off;
    return GM_OK;
}

static GmStatus child_of(const GmNfa *nfa, uint32_t node, int32_t child, GmRe *out, GmError *err)
{
    if (child < 0 || (uint32_t)child >= node || row_of(nfa, (uint32_t)child)[0] >= IR_TERMINAL) {
        return bad(err, node);
    }
    *out = nfa->re[child];
    return GM_OK;
}

/* One character out of ranges that ascend, do not touch surrogates, and do not overlap. */
static GmStatus lower_chars(GmNfa *nfa, uint32_t node, GmRe *out, GmError *err)
{
    const int32_t *row = row_of(nfa, node), *list;
    GM_TRY(args_of(nfa, node, row[1], 2 * (int64_t)row[2], &list, err));
    int32_t after = 0;
    for (int32_t i = 0; i < row[2]; i++) {
        int32_t first = list[2 * i], last = list[2 * i + 1];
        if (first < after || last < first || last > 0x10ffff || (first < 0xe000 && last >= 0xd800)) {
            return bad(err, node);
        }
        after = last + 1;
    }
    return gm_utf8_chars(nfa->rx, (const uint32_t *)list, (uint32_t)row[2], out, err);
}

static GmStatus lower_literals(GmNfa *nfa, uint32_t node, GmRe *out, GmError *err)
{
    const int32_t *row = row_of(nfa, node), *pairs;
    GM_TRY(args_of(nfa, node, row[1], 2 * (int64_t)row[2], &pairs, err));
    uint32_t n = (uint32_t)row[2], id;
    void *texts, *lens, *p;
    GM_TRY(gm_arena_zeroed(nfa->arena, n, sizeof(uint8_t *), &texts, err));
    GM_TRY(gm_arena_zeroed(nfa->arena, n, sizeof(uint32_t), &lens, err));
    GmLits made = {n, texts, lens, {11, 13}};
    for (uint32_t i = 0; i < n; i++) {
        GM_TRY(text_of(nfa, node, pairs[2 * i], pairs[2 * i + 1], &made.text[i], err));
        uint32_t len = (uint32_t)pairs[2 * i + 1];
        ((uint32_t *)lens)[i] = len;
        if (i > 0) {
            uint32_t before = made.len[i - 1], shared = before < len ? before : len;
            int order = memcmp(made.text[i - 1], made.text[i], shared);
            if (order > 0 || (order == 0 && before >= len)) {
                return bad(err, node);
            }
        }
        made.hash = gm_hash_bytes(made.hash, made.text[i], len);
    }
    GM_TRY(gm_pool_add(&nfa->rx->lits, nfa->mem, &id, &p, err));
    *(GmLits *)p = made;
    return gm_re_lits(nfa->rx, id, 0, n, 0, out, err);
}

/* States that cannot reach an accepting one go, and edges to them: "not empty" must show in the node. */
static GmStatus lower_automaton(GmNfa *nfa, uint32_t node, GmRe *out, GmError *err)
{
    const int32_t *row = row_of(nfa, node), *args;
    GM_TRY(args_of(nfa, node, row[1], row[2], &args, err));
    if (row[2] < 4 || args[0] < 1 || args[1] < 0 || args[1] >= args[0] || args[2] < 0 ||
        (int64_t)args[2] * 3 + 4 > row[2]) {
        return bad(err, node);
    }
    uint32_t states = (uint32_t)args[0], edges = (uint32_t)args[2], n_ends = (uint32_t)args[3 + 3 * edges];
    if ((int64_t)edges * 3 + 4 + (int64_t)n_ends != row[2]) {
        return bad(err, node);
    }
    if (states > nfa->rx->max_nodes) {
        return gm_fail_limit(err, "lexer_states", "an automaton has %u states, more than %u (limit \"lexer_states\")", states,
                             nfa->rx->max_nodes);
    }
    void *p_off, *p_label, *p_target, *p_accept, *p_good, *p_head, *p_next;
    GM_TRY(gm_arena_zeroed(nfa->arena, states + 1u, sizeof(uint32_t), &p_off, err));
    GM_TRY(gm_arena_zeroed(nfa->arena, edges, sizeof(GmRe), &p_label, err));
    GM_TRY(gm_arena_zeroed(nfa->arena, edges, sizeof(uint32_t), &p_target, err));
    GM_TRY(gm_arena_zeroed(nfa->arena, states, 1, &p_accept, err));
    GM_TRY(gm_arena_zeroed(nfa->arena, states, 1, &p_good, err));
    GM_TRY(gm_arena_zeroed(nfa->arena, states, sizeof(uint32_t), &p_head, err)); /* incoming edges */
    GM_TRY(gm_arena_zeroed(nfa->arena, edges, sizeof(uint32_t), &p_next, err));
    uint32_t *off = p_off, *target = p_target, *head = p_head, *next = p_next;
    GmRe *label = p_label;
    uint8_t *accepting = p_accept, *good = p_good;
    uint32_t base = nfa->rx->scratch.len, last = 0;
    for (uint32_t i = 0; i < n_ends; i++) {
        int32_t s = args[4 + 3 * edges + i];
        if (s < 0 || (uint32_t)s >= states) {
            return bad(err, node);
        }
        accepting[s] = good[s] = 1;
        GM_PUSH(nfa->mem, nfa->rx->scratch, (uint32_t)s);
    }
    for (uint32_t i = 0; i < edges; i++) {
        const int32_t *e = args + 3 + 3 * i;
        if (e[0] < (int32_t)last || (uint32_t)e[0] >= states || e[2] < 0 || (uint32_t)e[2] >= states) {
            return bad(err, node);
        }
        last = (uint32_t)e[0];
        GM_TRY(child_of(nfa, node, e[1], &label[i], err));
        if (gm_re_nullable(nfa->rx, label[i])) {
            return bad(err, node);
        }
        target[i] = (uint32_t)e[2];
        next[i] = head[e[2]];
        head[e[2]] = label[i] == GM_RE_EMPTY ? next[i] : i + 1;
    }
    while (nfa->rx->scratch.len > base) {
        uint32_t s = nfa->rx->scratch.data[--nfa->rx->scratch.len];
        for (uint32_t i = head[s]; i != 0; i = next[i - 1]) {
            uint32_t from = (uint32_t)args[3 + 3 * (i - 1)];
            if (!good[from]) {
                good[from] = 1;
                GM_PUSH(nfa->mem, nfa->rx->scratch, from);
            }
        }
    }
    uint32_t kept = 0;
    Hash128 hash = gm_hash_join((Hash128){17, 19}, states);
    for (uint32_t s = 0, i = 0; s < states; s++) {
        off[s] = kept;
        hash = gm_hash_join(hash, accepting[s]);
        for (; i < edges && (uint32_t)args[3 + 3 * i] == s; i++) {
            if (good[s] && good[target[i]] && label[i] != GM_RE_EMPTY) {
                label[kept] = label[i];
                target[kept++] = target[i];
                hash = gm_hash_join2(gm_hash_join(hash, gm_pair(s, target[i])), gm_re_node(nfa->rx, label[i])->hash);
            }
        }
    }
    off[states] = kept;
    uint32_t id;
    void *p;
    GM_TRY(gm_pool_add(&nfa->rx->auts, nfa->mem, &id, &p, err));
    *(GmAut *)p = (GmAut){states, kept, off, label, target, accepting, hash};
    return gm_re_aut(nfa->rx, id, good[args[1]] ? (uint32_t)args[1] : GM_NONE, out, err);
}

static GmStatus lower_list(GmNfa *nfa, uint32_t node, GmRe *out, GmError *err)
{
    const int32_t *row = row_of(nfa, node), *list;
    GM_TRY(args_of(nfa, node, row[1], row[2], &list, err));
    uint32_t n = (uint32_t)row[2];
    GmRe part;
    if (row[0] == IR_LEX_SEQ) {
        GmRe acc = GM_RE_EPS;
        for (uint32_t i = n; i-- > 0;) {
            GM_TRY(child_of(nfa, node, list[i], &part, err));
            GM_TRY(gm_re_seq(nfa->rx, part, acc, &acc, err));
        }
        *out = acc;
        return GM_OK;
    }
    void *p;
    GM_TRY(gm_arena_zeroed(nfa->arena, n, sizeof(GmRe), &p, err));
    GmRe *parts = p;
    for (uint32_t i = 0; i < n; i++) {
        GM_TRY(child_of(nfa, node, list[i], &parts[i], err));
    }
    return gm_re_alt(nfa->rx, parts, n, out, err);
}

static GmStatus lower_lexical_node(GmNfa *nfa, uint32_t node, GmRe *out, GmError *err)
{
    const int32_t *row = row_of(nfa, node);
    GmRegex *rx = nfa->rx;
    const uint8_t *text;
    GmRe a, b;
    switch (row[0]) {
    case IR_NOTHING:
        *out = GM_RE_EMPTY;
        return GM_OK;
    case IR_LITERAL:
        GM_TRY(text_of(nfa, node, row[1], row[2], &text, err));
        return gm_re_lit(rx, text, (uint32_t)row[2], out, err);
    case IR_LITERALS:
        return lower_literals(nfa, node, out, err);
    case IR_BYTES: {
        GM_TRY(text_of(nfa, node, row[1], 32, &text, err));
        GmByteSet set;
        memset(&set, 0, sizeof set);
        for (uint32_t i = 0; i < 32; i++) {
            set.w[i >> 3] |= (uint64_t)text[i] << (8 * (i & 7));
        }
        return gm_re_set(rx, &set, out, err);
    }
    case IR_CHARS:
        return lower_chars(nfa, node, out, err);
    case IR_LEX_SEQ:
    case IR_LEX_CHOICE:
        return lower_list(nfa, node, out, err);
    case IR_LEX_REPEAT:
        GM_TRY(child_of(nfa, node, row[1], &a, err));
        if (row[2] < 0 || (row[3] >= 0 && row[3] < row[2])) {
            return bad(err, node);
        }
        return gm_re_rep(rx, a, (uint32_t)row[2], row[3] < 0 ? GM_INF : (uint32_t)row[3], out, err);
    case IR_BOTH:
        GM_TRY(child_of(nfa, node, row[1], &a, err));
        GM_TRY(child_of(nfa, node, row[2], &b, err));
        return gm_re_and(rx, a, b, out, err);
    case IR_WITHOUT:
        GM_TRY(child_of(nfa, node, row[1], &a, err));
        GM_TRY(child_of(nfa, node, row[2], &b, err));
        return gm_re_sub(rx, a, b, out, err);
    case IR_AUTOMATON:
        return lower_automaton(nfa, node, out, err);
    default:
        return bad(err, node);
    }
}

GmStatus gm_lower_lexical(GmNfa *nfa, GmError *err)
{
    for (uint32_t node = gm_nfa_old_nodes(nfa); node < nfa->module.n_nodes; node++) {
        if (row_of(nfa, node)[0] < IR_TERMINAL) {
            GmRe re = GM_RE_EMPTY;
            GmStatus status = lower_lexical_node(nfa, node, &re, err);
            if (status != GM_OK) {
                if (err != NULL && err->detail < 0) {
                    err->detail = (int32_t)node;
                }
                return status;
            }
            if (gm_re_node(nfa->rx, re)->depth > GM_RE_DEPTH) {
                status = gm_fail_limit(err, "lexer_states", "a terminal nests more than %d levels deep", GM_RE_DEPTH);
                if (err != NULL) {
                    err->detail = (int32_t)node;
                }
                return status;
            }
            nfa->re[node] = re;
        }
    }
    return GM_OK;
}
