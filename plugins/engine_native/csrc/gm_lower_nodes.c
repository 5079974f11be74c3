/* Facts about the syntactic nodes of a module: that they are well-formed, what they weigh, which of them match the
 * empty text. Children come before their parents, but rules may call anything: nullability waits for what it needs. */
#include "gm_lower_nodes.h"

#include <string.h>

enum { WEIGHT_MAX = 1 << 24 };

GmStatus gm_lower_bad(GmError *err, uint32_t node)
{
    GmStatus status = gm_fail(err, GM_ARG, "node %u of the grammar is malformed", node);
    if (err != NULL) {
        err->detail = (int32_t)node;
    }
    return status;
}

static bool list_of(const GmNfa *nfa, const int32_t *row, int64_t skip, int64_t n, const int32_t **out)
{
    if (row[1] < 0 || n < 0 || row[1] + skip + n > (int64_t)nfa->module.n_args) {
        return false;
    }
    *out = nfa->module.args + row[1] + skip;
    return true;
}

/* Node ids among the args of a syntactic node: where they start, how many, and their stride. */
static bool children_of(const GmNfa *nfa, uint32_t node, const int32_t **first, uint32_t *n, uint32_t *stride)
{
    const int32_t *row = gm_lower_row(nfa, node);
    *stride = 1;
    *n = 0;
    *first = row;
    switch (row[0]) {
    case IR_SEQ:
    case IR_CHOICE:
        *n = (uint32_t)row[2];
        return list_of(nfa, row, 0, row[2], first);
    case IR_REPEAT:
    case IR_SCOPE:
        *n = 1;
        *first = row + 1;
        return true;
    case IR_SEPARATED:
        *n = 2;
        return list_of(nfa, row, 0, 2, first);
    case IR_ANY_ORDER:
        *n = (uint32_t)row[2];
        *stride = 2;
        return list_of(nfa, row, 4, 2 * (int64_t)row[2], first);
    default:
        return true;
    }
}

static bool ascending_ids(const int32_t *list, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        if ((uint32_t)list[i] <= (uint32_t)list[i - 1]) {
            return false;
        }
    }
    return true;
}

/* A syntactic node, or one that is the same on both levels: no text at all, or the empty text. */
static bool is_syntactic(const GmNfa *nfa, uint32_t node)
{
    return gm_lower_row(nfa, node)[0] >= IR_TERMINAL || nfa->re[node] <= GM_RE_EPS;
}

GmStatus gm_lower_check(GmNfa *nfa, GmError *err)
{
    for (uint32_t node = gm_nfa_old_nodes(nfa); node < nfa->module.n_nodes; node++) {
        const int32_t *row = gm_lower_row(nfa, node), *child, *list;
        uint32_t n, stride;
        GM_TRY(gm_mem_tick(nfa->mem, err));
        if (row[0] < IR_TERMINAL) {
            nfa->weight[node] = 1;
            continue;
        }
        if (row[0] > IR_ANY_ORDER || !children_of(nfa, node, &child, &n, &stride)) {
            return gm_lower_bad(err, node);
        }
        uint32_t weight = 0;
        for (uint32_t i = 0; i < n; i++) {
            int32_t c = child[i * stride];
            if (c < 0 || (uint32_t)c >= node || !is_syntactic(nfa, (uint32_t)c)) {
                return gm_lower_bad(err, node);
            }
            weight += nfa->weight[c];
            weight = weight > WEIGHT_MAX ? WEIGHT_MAX : weight;
        }
        weight = weight > 0 ? weight : 1;
        if (row[0] == IR_REPEAT || row[0] == IR_SEPARATED) { /* written out it weighs as much as its copies */
            uint64_t copies = row[3] < 0 ? (uint32_t)row[2] : (uint32_t)row[3];
            weight = copies > 0 && weight * copies <= GM_LOWER_UNROLL ? (uint32_t)(weight * copies) : weight;
        }
        nfa->weight[node] = weight;
        bool ok = true;
        switch (row[0]) {
        case IR_TERMINAL:
            ok = row[1] >= 0 && (uint32_t)row[1] < node && gm_lower_row(nfa, (uint32_t)row[1])[0] < IR_TERMINAL;
            break;
        case IR_CALL:
            ok = row[1] >= 0 && (uint32_t)row[1] < nfa->module.n_rules;
            break;
        case IR_REPEAT:
        case IR_SEPARATED:
            ok = row[2] >= 0 && (row[3] < 0 || row[3] >= row[2]);
            break;
        case IR_TOKEN_IDS:
            ok = row[2] > 0 && list_of(nfa, row, 0, row[2], &list) && ascending_ids(list, (uint32_t)row[2]);
            break;
        case IR_SCOPE:
            ok = row[2] < 0 || ((uint32_t)row[2] < node && gm_lower_row(nfa, (uint32_t)row[2])[0] < IR_TERMINAL);
            break;
        case IR_EXTERN_GRAMMAR:
        case IR_EXTERN_TOKEN:
            return gm_fail(err, GM_ARG, "the grammar has an open slot (node %u)", node);
        case IR_ANY_ORDER:
            ok = list_of(nfa, row, 0, 4, &list) && list[2] >= 0 && (list[3] < 0 || list[3] >= list[2]);
            for (uint32_t i = 0; ok && i < 2; i++) {
                ok = list[i] < 0 || ((uint32_t)list[i] < node && is_syntactic(nfa, (uint32_t)list[i]));
            }
            break;
        default:
            break;
        }
        if (!ok) {
            return gm_lower_bad(err, node);
        }
    }
    for (uint32_t r = gm_nfa_old_ir_rules(nfa); r < nfa->module.n_rules; r++) {
        int32_t body = nfa->module.rules[2 * r + 1];
        if (body < 0 || (uint32_t)body >= nfa->module.n_nodes || !is_syntactic(nfa, (uint32_t)body)) {
            return gm_fail(err, GM_ARG, "rule %u of the grammar is malformed", r);
        }
    }
    bool root_ok = nfa->module.root < nfa->module.n_nodes && is_syntactic(nfa, nfa->module.root);
    return root_ok ? GM_OK : gm_lower_bad(err, nfa->module.root);
}

/* Who waits for a node to turn out nullable: lists through `wait`, by node. Nodes from `old` on; the others are known. */
typedef struct Nullables {
    GmNfa *nfa;
    uint32_t old;
    uint32_t *head;   /* per node: position in `wait` + 1 */
    uint32_t *cursor; /* per SEQ: children known to be nullable */
    GM_VEC(uint32_t) wait; /* (waiting node, next) pairs */
    GM_VEC(uint32_t) todo;
} Nullables;

static GmStatus wait_for(Nullables *x, uint32_t node, uint32_t child, GmError *err)
{
    if (child >= x->old) {
        GM_PUSH(x->nfa->mem, x->wait, node);
        GM_PUSH(x->nfa->mem, x->wait, x->head[child - x->old]);
        x->head[child - x->old] = x->wait.len - 1;
    }
    return GM_OK;
}

/* Is the node nullable by what is known? If not, it waits for a child that could change that. */
static GmStatus node_nullable(Nullables *x, uint32_t node, bool *out, GmError *err)
{
    const GmNfa *nfa = x->nfa;
    const int32_t *row = gm_lower_row(nfa, node), *child;
    const uint8_t *known = nfa->nullable;
    uint32_t n, stride, need = node, *cursor = &x->cursor[node - x->old];
    *out = false;
    (void)children_of(nfa, node, &child, &n, &stride);
    switch (row[0]) {
    case IR_TERMINAL:
        *out = gm_re_nullable(nfa->rx, nfa->re[row[1]]);
        return GM_OK;
    case IR_CALL:
        need = (uint32_t)nfa->module.rules[2 * row[1] + 1];
        break;
    case IR_SEQ:
        while (*cursor < n && known[child[*cursor]]) {
            (*cursor)++;
        }
        *out = *cursor == n;
        need = *out ? node : (uint32_t)child[*cursor];
        break;
    case IR_CHOICE:
        for (uint32_t i = 0; i < n && !*out; i++) {
            *out = known[child[i]];
        }
        for (uint32_t i = 0; i < n && !*out; i++) {
            GM_TRY(wait_for(x, node, (uint32_t)child[i], err));
        }
        return GM_OK;
    case IR_REPEAT:
    case IR_SCOPE:
        *out = row[0] == IR_REPEAT && row[2] == 0;
        need = (uint32_t)child[0];
        break;
    case IR_SEPARATED:
        *out = row[2] == 0;
        need = (uint32_t)(known[child[0]] && row[2] > 1 ? child[1] : child[0]);
        break;
    case IR_ANY_ORDER:
        *out = child[-2] <= 0;
        for (uint32_t i = 0; i < n; i++) {
            *out = *out && child[2 * i + 1] == 0;
        }
        return GM_OK;
    default:
        *out = row[0] < IR_TERMINAL && gm_re_nullable(nfa->rx, nfa->re[node]);
        return GM_OK;
    }
    if (!*out) {
        *out = known[need];
        return *out ? GM_OK : wait_for(x, node, need, err);
    }
    return GM_OK;
}

/* Each node is looked at when it comes, and again when what it waits for turned out nullable: linear. */
static GmStatus settle_nullable(Nullables *x, uint32_t n_nodes, GmError *err)
{
    for (uint32_t node = x->old; node < n_nodes; node++) {
        GM_PUSH(x->nfa->mem, x->todo, node);
        while (x->todo.len > 0) {
            uint32_t at = x->todo.data[--x->todo.len];
            bool yes = false;
            GM_TRY(gm_mem_tick(x->nfa->mem, err));
            if (!x->nfa->nullable[at]) {
                GM_TRY(node_nullable(x, at, &yes, err));
            }
            if (!yes) {
                continue;
            }
            x->nfa->nullable[at] = 1;
            for (uint32_t w = x->head[at - x->old]; w != 0; w = x->wait.data[w]) {
                GM_PUSH(x->nfa->mem, x->todo, x->wait.data[w - 1]);
            }
        }
    }
    return GM_OK;
}

GmStatus gm_lower_nullable(GmNfa *nfa, GmError *err)
{
    Nullables x;
    GmArena scratch;
    void *p;
    memset(&x, 0, sizeof x);
    x.nfa = nfa;
    x.old = gm_nfa_old_nodes(nfa);
    uint32_t n = nfa->module.n_nodes - x.old;
    gm_arena_init(&scratch, nfa->mem);
    GmStatus status = gm_arena_zeroed(&scratch, 2 * (size_t)n, sizeof(uint32_t), &p, err);
    if (status == GM_OK) {
        x.head = p;
        x.cursor = x.head + n;
        status = settle_nullable(&x, nfa->module.n_nodes, err);
    }
    GM_VEC_FREE(nfa->mem, x.wait);
    GM_VEC_FREE(nfa->mem, x.todo);
    gm_arena_deinit(&scratch);
    return status;
}
