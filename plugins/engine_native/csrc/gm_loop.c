/* Loops of lexer states (gm_re_loop of gm_regex.h): which bytes keep a state inside its terminal, so that a
 * whole subtree of the vocabulary that holds only such bytes is accepted without a walk.
 *
 * Four shapes are recognised.
 * (1) A counted repeat of single characters, `C{m,n} rest`, where after k <= n characters of C the state is
 *     `C{m-k,n-k} rest`: the same shape, alive, and no new boundary.
 * (2) The bytes lead back to the very same state, which matches: an identifier.
 * (3) The bytes lead into a small set of states that they do not leave, all alive and none matching: the body
 *     of a string, with or without a pattern to be found in it.
 * (4) A chain: all bytes of the groups lead to one state, from there all to one state, and so on for
 *     LOOP_CHAIN characters: a pattern with a length.
 *
 * Boundaries matter: where a state matches (is nullable), the text after it may be read by something else.
 * A terminal that owes (is not exempt) and goes on with the same byte is violated by it, so for ASCII bytes
 * of the loop nothing of that kind exists. A character of several bytes violates only with its last byte:
 * then the shortcut is left out. Callers must not use it for exempt terminals in nullable states. */
#include "gm_groups.h"
#include "gm_regex.h"
#include "gm_utf8.h"

#include <string.h>

enum { LOOP_CHAIN = 32 }; /* few tokens are longer; their subtrees are walked */
enum { LOOP_PAIRS = 256 }; /* lexer state x UTF-8 state; 10 is usual for a class of characters, 60 for a pattern */

/* The bytes that keep a UTF-8 state out of GM_UTF8_BAD, as runs with one next state. */
typedef struct Utf8Run {
    uint8_t first, last, next;
} Utf8Run;

static uint32_t utf8_runs(uint8_t state, Utf8Run run[8])
{
    static const Utf8Run lead[7] = {{0xc2, 0xdf, 1}, {0xe0, 0xe0, 4}, {0xe1, 0xec, 2}, {0xed, 0xed, 5},
                                    {0xee, 0xef, 2}, {0xf0, 0xf0, 6}, {0xf1, 0xf3, 3}};
    if (state == GM_UTF8_START) {
        memcpy(run, lead, sizeof lead);
        run[7] = (Utf8Run){0xf4, 0xf4, 7};
        return 8;
    }
    static const Utf8Run tail[8] = {{0, 0, 0},          {0x80, 0xbf, 0}, {0x80, 0xbf, 1}, {0x80, 0xbf, 2},
                                    {0xa0, 0xbf, 1}, {0x80, 0x9f, 1}, {0x90, 0xbf, 2}, {0x80, 0x8f, 2}};
    run[0] = tail[state];
    return 1;
}

typedef struct Utf8Walk {
    struct {
        GmRe re;
        uint8_t utf8;
    } pair[LOOP_PAIRS];
    uint32_t n;
} Utf8Walk;

/* A byte inside a character has led to `entry`; false when that is not on the way to `want`. */
static bool utf8_arrive(Utf8Walk *walk, uint32_t entry, uint8_t next, uint32_t want)
{
    if (next == GM_UTF8_START) {
        return entry == want;
    }
    if (entry == 0 || (entry & GM_RE_NULLABLE) != 0) {
        return false;
    }
    for (uint32_t j = 0; j < walk->n; j++) {
        if (walk->pair[j].re == entry && walk->pair[j].utf8 == next) {
            return true;
        }
    }
    if (walk->n == LOOP_PAIRS) {
        return false;
    }
    walk->pair[walk->n].re = entry;
    walk->pair[walk->n++].utf8 = next;
    return true;
}

/* Do all multi-byte characters lead from `from` to the entry `want`, through states that do not match? */
static GmStatus loop_utf8(GmRegex *rx, GmRe from, uint32_t want, bool *out, GmError *err)
{
    Utf8Walk walk;
    walk.n = 1;
    walk.pair[0].re = from;
    walk.pair[0].utf8 = GM_UTF8_START;
    *out = false;
    for (uint32_t i = 0; i < walk.n; i++) {
        const GmRow *row;
        Utf8Run run[8];
        GM_TRY(gm_re_row(rx, walk.pair[i].re, &row, err));
        uint32_t n_runs = utf8_runs(walk.pair[i].utf8, run);
        for (uint32_t k = 0; k < n_runs; k++) {
            uint32_t last = GM_RE_UNKNOWN;
            for (uint32_t b = run[k].first; b <= run[k].last; b++) {
                const uint32_t entry = gm_row_at(row, (uint8_t)b);
                if (entry == last) {
                    continue;
                }
                last = entry;
                if (!utf8_arrive(&walk, last, run[k].next, want)) {
                    return GM_OK;
                }
            }
        }
    }
    *out = true;
    return GM_OK;
}

/* Groups of which every byte leads from r to the entry `want`. */
static GmStatus loop_groups(GmRegex *rx, GmRe r, uint32_t want, uint64_t *out, GmError *err)
{
    const GmRow *row;
    GM_TRY(gm_re_row(rx, r, &row, err));
    uint64_t groups = ((uint64_t)1 << GM_GROUP_UTF8) - 1;
    for (uint32_t b = 0; b < 128; b++) {
        groups &= gm_row_at(row, (uint8_t)b) != want ? rx->off_group[b] : UINT64_MAX;
    }
    bool whole = false;
    if (gm_row_at(row, 0xc2) != 0) {
        GM_TRY(loop_utf8(rx, r, want, &whole, err));
    }
    *out = groups | (uint64_t)whole << GM_GROUP_UTF8;
    return GM_OK;
}

/* Groups with a byte that `r` can start with. */
static GmStatus first_groups(GmRegex *rx, GmRe r, uint64_t *out, GmError *err)
{
    const GmRow *row;
    GM_TRY(gm_re_row(rx, r, &row, err));
    *out = 0;
    for (uint32_t b = 0; b < 256; b++) {
        if (gm_row_at(row, (uint8_t)b) != 0) {
            *out |= (uint64_t)1 << (b < 128 ? gm_group_of((uint8_t)b) : GM_GROUP_UTF8);
        }
    }
    return GM_OK;
}

/* Shape 1. The record of the body C and the first bytes of the rest are computed again for every count;
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

typedef struct Region { /* states, and inside a character how far it is read */
    struct {
        GmRe re;
        uint8_t utf8, origin; /* origin: group of the first byte on the way there */
    } pair[LOOP_PAIRS];
    uint32_t n;
} Region;

static bool region_add(Region *region, GmRe re, uint8_t utf8, uint32_t origin)
{
    for (uint32_t j = 0; j < region->n; j++) {
        if (region->pair[j].re == re && region->pair[j].utf8 == utf8) {
            return true;
        }
    }
    if (region->n == LOOP_PAIRS) {
        return false;
    }
    region->pair[region->n].re = re;
    region->pair[region->n].origin = (uint8_t)origin;
    region->pair[region->n++].utf8 = utf8;
    return true;
}

/* Follow all bytes of the groups from r. *bad: GM_GROUP_NONE when no text leads out; GM_GROUP_MANY when the
 * states are too many; else the group of the first byte of a text that does (the backslash, not the letters
 * after it). */
enum { GM_GROUP_NONE = 64, GM_GROUP_MANY = 65 };
static GmStatus region_follow(GmRegex *rx, GmRe r, uint64_t groups, Region *region, uint32_t *bad, GmError *err)
{
    const bool wide = (groups >> GM_GROUP_UTF8 & 1) != 0;
    region->n = 0;
    (void)region_add(region, r, GM_UTF8_START, GM_GROUP_NONE);
    for (uint32_t i = 0; i < region->n; i++) {
        const GmRow *row;
        uint8_t utf8 = region->pair[i].utf8;
        GM_TRY(gm_re_row(rx, region->pair[i].re, &row, err));
        uint32_t last = 0; /* neighbours mostly lead to one state */
        uint8_t last_next = GM_UTF8_BAD;
        for (uint32_t b = utf8 == GM_UTF8_START ? 0 : 0x80; b < (wide ? 256u : 128u); b++) {
            uint32_t group = b < 128 ? gm_group_of((uint8_t)b) : GM_GROUP_UTF8;
            uint8_t next = b < 128 ? GM_UTF8_START : gm_utf8_next(utf8, (uint8_t)b);
            if ((groups >> group & 1) == 0 || next == GM_UTF8_BAD) {
                continue;
            }
            const uint32_t entry = gm_row_at(row, (uint8_t)b);
            if (entry == last && next == last_next) {
                continue;
            }
            last = entry;
            last_next = next;
            uint32_t origin = region->pair[i].origin == GM_GROUP_NONE ? group : region->pair[i].origin;
            if (entry == 0 || (entry & GM_RE_NULLABLE) != 0) {
                *bad = origin;
                return GM_OK;
            }
            if (!region_add(region, entry, next, origin)) {
                *bad = GM_GROUP_MANY;
                return GM_OK;
            }
        }
    }
    *bad = GM_GROUP_NONE;
    return GM_OK;
}

static GmStatus remember(GmRegex *rx, GmRe r, GmLoop loop, GmError *err)
{
    uint32_t id;
    void *p;
    GM_TRY(gm_pool_add(&rx->loops, rx->mem, &id, &p, err));
    *(GmLoop *)p = loop;
    gm_store(&((GmReNode *)gm_pool_at(&rx->nodes, r))->loop, id + 1);
    return GM_OK;
}

/* What holds for r holds for every state of its region, which is closed. */
static GmStatus region_share(GmRegex *rx, GmRe r, const Region *region, GmLoop loop, GmError *err)
{
    for (uint32_t i = 0; i < region->n; i++) {
        GmRe re = region->pair[i].re;
        if (region->pair[i].utf8 == GM_UTF8_START && re != r &&
            gm_load(&((GmReNode *)gm_pool_at(&rx->nodes, re))->loop) == 0) {
            GM_TRY(remember(rx, re, loop, err));
        }
    }
    return GM_OK;
}

/* Shape 3: the largest set of groups whose bytes lead nowhere out, found by leaving out one that does. */
static GmStatus loop_region(GmRegex *rx, GmRe r, GmLoop *out, GmError *err)
{
    uint64_t groups = ((uint64_t)1 << (GM_GROUP_UTF8 + 1)) - 1;
    const GmRow *row;
    Region region;
    *out = (GmLoop){0, GM_INF};
    GM_TRY(gm_re_row(rx, r, &row, err));
    for (uint32_t b = 0; b < 128; b++) {
        const uint32_t entry = gm_row_at(row, (uint8_t)b);
        if (entry == 0 || (entry & GM_RE_NULLABLE) != 0) {
            groups &= ~((uint64_t)1 << gm_group_of((uint8_t)b));
        }
    }
    while (groups != 0) {
        uint32_t bad = GM_GROUP_NONE;
        GM_TRY(region_follow(rx, r, groups, &region, &bad, err));
        if (bad == GM_GROUP_NONE) {
            out->groups = groups;
            return region_share(rx, r, &region, *out, err);
        }
        if (bad == GM_GROUP_MANY) {
            return GM_OK;
        }
        groups &= ~((uint64_t)1 << bad);
    }
    return GM_OK;
}

GmStatus gm_re_main_target(GmRegex *rx, GmRe r, uint32_t *out, GmError *err)
{
    const GmRow *row;
    GM_TRY(gm_re_row(rx, r, &row, err));
    uint32_t best = 0, most = 0;
    for (uint32_t b = 0x20; b < 0x7f; b++) { /* a majority if there is one, else some frequent one */
        const uint32_t entry = gm_row_at(row, (uint8_t)b);
        if (entry == best) {
            most++;
        } else if (most == 0) {
            best = entry;
            most = 1;
        } else {
            most--;
        }
    }
    *out = best;
    return GM_OK;
}

/* The main target and the groups that lead there, remembered: the chains of neighbours ask for the same. */
static GmStatus main_step(GmRegex *rx, GmRe r, GmMain *out, GmError *err)
{
    uint32_t id = ((GmReNode *)gm_pool_at(&rx->nodes, r))->main;
    void *p;
    if (id == 0) {
        GmMain made = {0, 0};
        GM_TRY(gm_re_main_target(rx, r, &made.target, err));
        if (made.target != 0) {
            GM_TRY(loop_groups(rx, r, made.target, &made.groups, err));
        }
        GM_TRY(gm_pool_add(&rx->mains, rx->mem, &id, &p, err));
        *(GmMain *)p = made;
        ((GmReNode *)gm_pool_at(&rx->nodes, r))->main = ++id;
    }
    *out = *(const GmMain *)gm_pool_at(&rx->mains, id - 1);
    return GM_OK;
}

/* Shape 4. Only for states that do not match: then no boundary is on the way. */
static GmStatus loop_chain(GmRegex *rx, GmRe r, GmLoop *out, GmError *err)
{
    uint64_t groups = UINT64_MAX;
    uint32_t steps = 0;
    *out = (GmLoop){0, GM_INF};
    for (GmRe at = r; steps < LOOP_CHAIN; steps++) {
        uint32_t known = gm_load(&((GmReNode *)gm_pool_at(&rx->nodes, at))->loop);
        GmMain to;
        if (steps > 0 && known != 0) {
            const GmLoop *rest = gm_pool_at(&rx->loops, known - 1);
            if ((groups & rest->groups) == groups) {
                *out = (GmLoop){groups, rest->cap == GM_INF ? GM_INF : rest->cap + steps};
                return GM_OK;
            }
        }
        GM_TRY(main_step(rx, at, &to, err));
        if (to.target == 0 || (to.target & GM_RE_NULLABLE) != 0 || GM_RE_ID(to.target) == at) {
            break;
        }
        if ((groups & to.groups) == 0 || (steps > 1 && (groups & to.groups) != groups)) {
            break; /* better fewer characters than fewer groups */
        }
        groups &= to.groups;
        at = GM_RE_ID(to.target);
    }
    if (steps > 0) {
        *out = (GmLoop){groups, steps};
    }
    return GM_OK;
}

static uint32_t count_groups(uint64_t groups)
{
    uint32_t n = 0;
    for (; groups != 0; groups &= groups - 1) {
        n++;
    }
    return n;
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
    bool counts = loop.groups != 0 && loop.cap != GM_INF && loop.cap > 1; /* a region would go through the counts */
    if (!counts && node->nullable) {
        uint64_t groups;
        GM_TRY(loop_groups(rx, r, r | GM_RE_NULLABLE, &groups, err));
        groups &= ~((uint64_t)1 << GM_GROUP_UTF8);
        loop = loop.cap == GM_INF && (loop.groups & groups) == groups ? loop : (GmLoop){groups, GM_INF};
    } else if (!counts && !node->is_single) {
        GmLoop region = {0, GM_INF};
        if (!node->bounded) {
            GM_TRY(loop_region(rx, r, &region, err));
        }
        if (region.groups == 0) { /* at least the bytes that change nothing */
            GM_TRY(loop_groups(rx, r, r, &region.groups, err));
        }
        if (loop.cap != GM_INF || count_groups(region.groups) >= count_groups(loop.groups)) {
            loop = region;
        }
        if (loop.groups == 0) {
            GM_TRY(loop_chain(rx, r, &loop, err));
        }
    }
    GM_TRY(remember(rx, r, loop, err));
    *out = loop;
    return GM_OK;
}
