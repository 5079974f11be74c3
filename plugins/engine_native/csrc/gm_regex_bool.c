/* Intersection and difference of gm_regex.h, and whether they have any text.
 *
 * Lengths decide first: without a length in common an intersection is empty and a difference is its left side. Then a
 * search over pairs of derivatives, depth first, for one that matches. Two bounds on its work keep it from counting
 * for ever, in compiled grammars and in saved ones that were made to do so; past one, GM_LIMIT names "lexer_states". */
#include "gm_regex_in.h"

#include <string.h>

enum { RE_SEARCH_SHARE = 32 }; /* one test may see 1/32 of lexer_states: 125,000, about 100 ms and 60 MB */
enum { RE_DEEP_STEPS = 256 }; /* of a search below both sides */
enum { RE_BOOLEAN_DEPTH = 4 }; /* tests in each other: levels' worth of stack that one needs */

/* Whether no text can be of both by their lengths alone. */
static bool re_lengths_apart(GmRegex *rx, GmRe a, GmRe b)
{
    const GmReNode *x = re_at(rx, a), *y = re_at(rx, b);
    return (x->longest != GM_INF && y->shortest > x->longest) || (y->longest != GM_INF && x->shortest > y->longest);
}

static GmStatus re_boolean(GmRegex *rx, GmReKind kind, GmRe a, GmRe b, GmRe *out, GmError *err)
{
    GmReNode proto = gm_re_proto(kind);
    proto.a = a;
    proto.b = b;
    proto.nullable = re_at(rx, a)->nullable && (kind == RE_AND) == (bool)re_at(rx, b)->nullable;
    gm_re_hash_child(rx, &proto, a);
    gm_re_hash_child(rx, &proto, b);
    proto.depth = (uint16_t)(proto.depth + RE_BOOLEAN_DEPTH - 1);
    proto.counted = 0; /* never clamped below: what is alive there depends on the exact counts */
    return gm_re_intern(rx, &proto, out, err);
}

/* The same without the emptiness test, for the test itself. */
static GmStatus re_raw(GmRegex *rx, GmReKind kind, GmRe a, GmRe b, GmRe *out, GmError *err)
{
    if (a == GM_RE_EMPTY || (kind == RE_AND && b == GM_RE_EMPTY) || (kind == RE_SUB && a == b)) {
        *out = GM_RE_EMPTY;
        return GM_OK;
    }
    if ((kind == RE_SUB && b == GM_RE_EMPTY) || (kind == RE_AND && a == b)) {
        *out = a;
        return GM_OK;
    }
    if (re_lengths_apart(rx, a, b)) {
        *out = kind == RE_AND ? GM_RE_EMPTY : a;
        return GM_OK;
    }
    if (kind == RE_AND && re_at(rx, a)->kind == RE_SET && re_at(rx, b)->kind == RE_SET) {
        GmByteSet meet;
        for (uint32_t i = 0; i < 4; i++) {
            meet.w[i] = re_set_of(rx, re_at(rx, a))->w[i] & re_set_of(rx, re_at(rx, b))->w[i];
        }
        return gm_re_set(rx, &meet, out, err);
    }
    const GmReNode *x = re_at(rx, a), *y = re_at(rx, b);
    if (kind == RE_AND && (x->hash.a > y->hash.a || (x->hash.a == y->hash.a && a > b))) { /* ids differ from run to run */
        GmRe swap = a;
        a = b;
        b = swap;
    }
    return re_boolean(rx, kind, a, b, out, err);
}

/* One step of the emptiness test: like a derivative, but without a test; below the two sides only if `deep`. Recursion is
 * bounded by the depth of nodes. */
static GmStatus re_raw_step(GmRegex *rx, GmRe r, uint8_t byte, bool deep, GmRe *out, GmError *err)
{
    const GmReNode *node = re_at(rx, r);
    if (!is_boolean(node)) {
        uint32_t entry;
        GM_TRY(gm_re_deriv(rx, r, byte, &entry, err));
        *out = GM_RE_ID(entry);
        return GM_OK;
    }
    const GmReKind kind = node->kind;
    const GmRe sides[2] = {node->a, node->b};
    GmRe after[2];
    for (uint32_t i = 0; i < 2; i++) {
        if (deep) {
            GM_TRY(re_raw_step(rx, sides[i], byte, true, &after[i], err));
            after[i] = re_at(rx, after[i])->live == 2 ? GM_RE_EMPTY : after[i];
        } else {
            uint32_t entry;
            GM_TRY(gm_re_deriv(rx, sides[i], byte, &entry, err));
            after[i] = GM_RE_ID(entry);
        }
    }
    return re_raw(rx, kind, after[0], after[1], out, err);
}

static bool is_witness(const GmReNode *node) { return node->nullable || !is_boolean(node) || node->live == 1; }

/* The successors of one entry of the search; *witness is set when one is known to be live. */
static GmStatus live_expand(GmRegex *rx, uint32_t entry, uint32_t number, bool deep, uint32_t *witness, GmError *err)
{
    GmRe q = rx->search.data[entry];
    uint8_t cls[256];
    uint32_t n = 1;
    bool seen[256];
    memset(cls, 0, sizeof cls);
    memset(seen, 0, sizeof seen);
    GM_TRY(gm_re_partition(rx, q, cls, &n, err));
    for (uint32_t b = 256; b-- > 0;) { /* the lowest bytes last, so that they are followed first: quotes end texts */
        GmRe t;
        if (seen[cls[b]]) {
            continue;
        }
        seen[cls[b]] = true;
        GM_TRY(re_raw_step(rx, q, (uint8_t)b, deep, &t, err));
        GmReNode *target = re_at(rx, t);
        if (t == GM_RE_EMPTY || (is_boolean(target) && (target->live == 2 || target->mark == number))) {
            continue;
        }
        target->mark = number;
        GM_PUSH(rx->mem, rx->pending, rx->search.len);
        GM_PUSH(rx->mem, rx->search, t);
        GM_PUSH(rx->mem, rx->search, entry);
        if (is_witness(target)) {
            *witness = rx->search.len - 2;
            return GM_OK;
        }
    }
    return GM_OK;
}

/* Depth first over (node, index of its parent): every node of a path to a witness is live, so a long path settles
 * many; when the search ends without one, all it saw are dead. The test may run inside a derivative of another test,
 * so what it saw is marked with its own number. A deep search is given up after a while, *settled tells. */
static GmStatus live_search(GmRegex *rx, GmRe r, bool deep, bool *settled, GmError *err)
{
    uint32_t base = rx->search.len, todo = rx->pending.len, number = ++rx->search_no, witness = GM_NONE, steps = 0;
    GM_PUSH(rx->mem, rx->pending, base);
    GM_PUSH(rx->mem, rx->search, r);
    GM_PUSH(rx->mem, rx->search, GM_NONE);
    re_at(rx, r)->mark = number;
    GmStatus status = GM_OK;
    while (rx->pending.len > todo && witness == GM_NONE && status == GM_OK && !(deep && steps++ == RE_DEEP_STEPS)) {
        if ((rx->search.len - base) / 2 > rx->max_nodes / RE_SEARCH_SHARE) {
            status = gm_fail_limit(err, "lexer_states",
                                   "whether an intersection or difference of terminals is empty shows only after more than "
                                   "%u states (limit \"lexer_states\" / %d)",
                                   rx->max_nodes / RE_SEARCH_SHARE, RE_SEARCH_SHARE);
            break;
        }
        if (rx->searched++ >= rx->max_nodes) { /* each state but once or twice, as a rule */
            status = gm_fail_limit(err, "lexer_states",
                                   "whether intersections and differences of terminals are empty shows only after %u steps "
                                   "(limit \"lexer_states\")",
                                   rx->max_nodes);
            break;
        }
        status = live_expand(rx, rx->pending.data[--rx->pending.len], number, deep, &witness, err);
    }
    *settled = witness != GM_NONE || rx->pending.len == todo;
    bool dead = status == GM_OK && witness == GM_NONE && *settled;
    for (uint32_t i = base; dead && i < rx->search.len; i += 2) {
        re_at(rx, rx->search.data[i])->live = 2;
    }
    for (uint32_t i = status == GM_OK ? witness : GM_NONE; i != GM_NONE; i = rx->search.data[i + 1]) {
        re_at(rx, rx->search.data[i])->live = 1;
    }
    rx->search.len = base;
    rx->pending.len = todo;
    return status;
}

/* live: 0 unknown, 1 live, 2 dead. A test of n languages one in the other has n tests of its parts at each step, and
 * those at theirs; so it is tried first without, which settles most that are live within some steps for each. */
static GmStatus re_live_only(GmRegex *rx, GmRe *r, GmError *err)
{
    GmReNode *start = re_at(rx, *r);
    if (is_witness(start)) {
        start->live = 1;
    }
    const bool nested = is_boolean(start) && (is_boolean(re_at(rx, start->a)) || is_boolean(re_at(rx, start->b)));
    bool settled = start->live != 0;
    if (!settled && nested) {
        GM_TRY(live_search(rx, *r, true, &settled, err));
    }
    if (!settled) {
        GM_TRY(live_search(rx, *r, false, &settled, err));
    }
    *r = start->live == 2 ? GM_RE_EMPTY : *r;
    return GM_OK;
}

GmStatus gm_re_and(GmRegex *rx, GmRe a, GmRe b, GmRe *out, GmError *err)
{
    GmRe r;
    GM_TRY(re_raw(rx, RE_AND, a, b, &r, err));
    GM_TRY(re_live_only(rx, &r, err));
    *out = r;
    return GM_OK;
}

GmStatus gm_re_sub(GmRegex *rx, GmRe a, GmRe b, GmRe *out, GmError *err)
{
    GmRe r;
    GM_TRY(re_raw(rx, RE_SUB, a, b, &r, err));
    GM_TRY(re_live_only(rx, &r, err));
    *out = r;
    return GM_OK;
}
