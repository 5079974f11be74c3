/* Loops of lexer states (gm_re_loop of gm_regex.h): which bytes leave a state in a state of the same kind,
 * so that a whole subtree of the vocabulary that holds only such bytes is accepted without a walk.
 *
 * Two shapes are recognised. (1) The bytes lead back to the very same state: the body of a string. (2) A
 * counted repeat of single characters, `C{m,n} rest`, where after k <= n characters of C the state is
 * `C{m-k,n-k} rest`: the same shape, alive, and no new boundary.
 *
 * Boundaries matter: where a state matches (is nullable), the text after it may be read by something else.
 * A terminal that owes (is not exempt) and goes on with the same byte is violated by it, so for ASCII bytes
 * of the loop nothing of that kind exists. A character of several bytes violates only with its last byte:
 * then the shortcut is left out. Callers must not use it for exempt terminals in nullable states. */
#include "gm_groups.h"
#include "gm_regex.h"
#include "gm_utf8.h"

#include <string.h>

enum { LOOP_PAIRS = 48 }; /* lexer state x UTF-8 state; 10 is usual for a class of characters */

/* Do all multi-byte characters lead from `from` to the entry `want`, through states that do not match? */
static GmStatus loop_utf8(GmRegex *rx, GmRe from, uint32_t want, bool *out, GmError *err)
{
    struct {
        GmRe re;
        uint8_t utf8;
    } pair[LOOP_PAIRS];
    uint32_t n = 1;
    pair[0].re = from;
    pair[0].utf8 = GM_UTF8_START;
    *out = false;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t *row;
        GM_TRY(gm_re_row(rx, pair[i].re, &row, err));
        for (uint32_t b = 0x80; b < 256; b++) {
            uint8_t next = gm_utf8_next(pair[i].utf8, (uint8_t)b);
            if (next == GM_UTF8_BAD) {
                continue;
            }
            if (next == GM_UTF8_START) {
                if (row[b] != want) {
                    return GM_OK;
                }
                continue;
            }
            if (row[b] == 0 || (row[b] & GM_RE_NULLABLE) != 0) {
                return GM_OK;
            }
            uint32_t j = 0;
            while (j < n && (pair[j].re != row[b] || pair[j].utf8 != next)) {
                j++;
            }
            if (j == n) {
                if (n == LOOP_PAIRS) {
                    return GM_OK;
                }
                pair[n].re = row[b];
                pair[n++].utf8 = next;
            }
        }
    }
    *out = true;
    return GM_OK;
}

/* Groups of which every byte leads from r to the entry `want`. */
static GmStatus loop_groups(GmRegex *rx, GmRe r, uint32_t want, uint64_t *out, GmError *err)
{
    const uint32_t *row;
    GM_TRY(gm_re_row(rx, r, &row, err));
    uint64_t groups = ((uint64_t)1 << GM_GROUP_UTF8) - 1;
    for (uint32_t b = 0; b < 128; b++) {
        if (row[b] != want) {
            groups &= ~((uint64_t)1 << gm_group_of((uint8_t)b));
        }
    }
    bool whole = false;
    if (row[0xc2] != 0) {
        GM_TRY(loop_utf8(rx, r, want, &whole, err));
    }
    *out = groups | (uint64_t)whole << GM_GROUP_UTF8;
    return GM_OK;
}

/* Groups with a byte that `r` can start with. */
static GmStatus first_groups(GmRegex *rx, GmRe r, uint64_t *out, GmError *err)
{
    const uint32_t *row;
    GM_TRY(gm_re_row(rx, r, &row, err));
    *out = 0;
    for (uint32_t b = 0; b < 256; b++) {
        if (row[b] != 0) {
            *out |= (uint64_t)1 << (b < 128 ? gm_group_of((uint8_t)b) : GM_GROUP_UTF8);
        }
    }
    return GM_OK;
}

/* Shape 2. The record of the body C and the first bytes of the rest are computed again for every count;
 * both come from rows that exist by then. */
static GmStatus loop_counted(GmRegex *rx, GmRe rep, GmRe rest, GmLoop *out, GmError *err)
{
    const GmReNode *node = gm_re_node(rx, rep);
    uint64_t groups, first = 0;
    GM_TRY(loop_groups(rx, node->a, GM_RE_EPS | GM_RE_NULLABLE, &groups, err));
    if (rest != GM_RE_EPS) {
        GM_TRY(first_groups(rx, rest, &first, err));
    }
    if (gm_re_nullable(rx, rest)) {
        groups &= ~((uint64_t)1 << GM_GROUP_UTF8);
    }
    out->groups = groups & ~first;
    out->cap = node->c;
    return GM_OK;
}

GmStatus gm_re_loop(GmRegex *rx, GmRe r, GmLoop *out, GmError *err)
{
    GmReNode *node = gm_pool_at(&rx->nodes, r);
    uint32_t known = gm_load(&node->loop);
    if (known != 0) {
        *out = *(const GmLoop *)gm_pool_at(&rx->loops, known - 1);
        return GM_OK;
    }
    GmLoop loop = {0, GM_INF};
    if (node->kind == RE_SEQ && gm_re_node(rx, node->a)->kind == RE_REP) {
        GM_TRY(loop_counted(rx, node->a, node->b, &loop, err));
    } else if (node->kind == RE_REP) {
        GM_TRY(loop_counted(rx, r, GM_RE_EPS, &loop, err));
    }
    if (loop.groups == 0 || loop.cap < 2) {
        uint64_t groups;
        GM_TRY(loop_groups(rx, r, r | (node->nullable ? GM_RE_NULLABLE : 0), &groups, err));
        if (node->nullable) {
            groups &= ~((uint64_t)1 << GM_GROUP_UTF8);
        }
        if (groups != 0 || loop.groups == 0) {
            loop.groups = groups;
            loop.cap = GM_INF;
        }
    }
    uint32_t id;
    void *p;
    GM_TRY(gm_pool_add(&rx->loops, rx->mem, &id, &p, err));
    *(GmLoop *)p = loop;
    gm_store(&node->loop, id + 1);
    *out = loop;
    return GM_OK;
}
