/* Steps of parts. A constraint that was linked of compiled ones reads most terminals as they do, so it asks them for
 * steps before it makes any, of the whole vocabulary and of what their own steps have left: a child that has been used
 * costs nothing again.
 *
 * Summaries of the part that the module begins with are taken over as well (gm_core.c), by the numbers of its network's
 * states, which are kept.
 *
 * Lexer states and debts are known by their structural hash, since numbers differ. Token sets, entries and buckets
 * are taken by reference; they never change, and the constraint keeps its parts alive. A part's lock is taken for
 * looking a state up, inside the own one: parts are older than what is made of them, so there is no circle. */
#include "gm_view_entries.h"

/* Entries that owe: copied, with the debts of this constraint. *base is GM_NONE when it does not have one of them. */
static GmStatus owing_base(GmViews *vs, const GmPart *part, const GmBase *other, uint32_t *base, GmError *err)
{
    uint32_t start = vs->after.len;
    *base = GM_NONE;
    for (uint32_t i = 0; i < other->n_buckets; i++) {
        for (uint32_t k = other->buckets[i].start; k < other->buckets[i].end; k++) {
            GmRe debt = gm_re_find(vs->rx, gm_re_node(part->views->rx, other->entries[k].debt));
            if (debt == GM_NONE) {
                vs->after.len = start;
                return GM_OK;
            }
            GM_PUSH(vs->mem, vs->after, ((GmEntry){other->entries[k].node, debt}));
        }
    }
    GM_TRY(gm_view_base(vs, vs->after.data + start, vs->after.len - start, base, err));
    vs->after.len = start;
    return GM_OK;
}

static bool owes(const GmBase *base)
{
    for (uint32_t i = 0; i < base->n_buckets; i++) {
        for (uint32_t k = base->buckets[i].start; k < base->buckets[i].end; k++) {
            if (base->entries[k].debt != GM_RE_EMPTY) {
                return true;
            }
        }
    }
    return false;
}

static GmStatus base_of_part(GmViews *vs, uint32_t number, uint32_t id, uint32_t *base, GmError *err)
{
    const GmPart *part = &vs->parts.data[number];
    uint64_t key = gm_pair(number, id);
    *base = gm_map_get(&vs->part_map, key);
    if (*base != GM_NONE) {
        return GM_OK;
    }
    const GmBase *other = gm_pool_at(&part->views->bases, id);
    if (owes(other)) {
        GM_TRY(owing_base(vs, part, other, base, err));
    } else {
        GM_TRY(gm_view_base_of_part(vs, other, base, err));
    }
    if (*base == GM_NONE) {
        return GM_OK;
    }
    GM_TRY(gm_map_put(&vs->part_map, vs->mem, key, *base, err));
    key = gm_pair(number, *base); /* several of the part's may be equal: one will do */
    return gm_map_get(&vs->part_back, key) == GM_NONE ? gm_map_put(&vs->part_back, vs->mem, key, id, err) : GM_OK;
}

GmStatus gm_view_of_part(GmViews *vs, uint32_t number, uint32_t view, uint32_t *out, bool *found, GmError *err)
{
    const GmView *theirs = gm_view_at(vs->parts.data[number].views, view);
    GM_RESERVE(vs->mem, vs->joined, theirs->n);
    *found = true;
    for (uint32_t i = 0; i < theirs->n && *found; i++) {
        uint32_t mine;
        GM_TRY(base_of_part(vs, number, theirs->bases[i], &mine, err));
        vs->joined.data[i] = mine;
        *found = mine != GM_NONE;
    }
    return *found ? gm_view_of(vs, vs->joined.data, theirs->n, out, err) : GM_OK;
}

GmStatus gm_base_in_part(GmViews *vs, uint32_t number, uint32_t base, uint32_t *theirs, GmError *err)
{
    const GmPart *part = &vs->parts.data[number];
    uint64_t key = gm_pair(number, base);
    *theirs = gm_map_get(&vs->part_back, key);
    if (*theirs == GM_NONE) {
        const GmBase *b = gm_pool_at(&vs->bases, base);
        *theirs = GM_BASE_ROOT;
        if (!owes(b)) {
            gm_mutex_lock(part->lock);
            uint32_t found = gm_view_find_base(part->views, b);
            gm_mutex_unlock(part->lock);
            *theirs = found != GM_NONE ? found : GM_BASE_ROOT;
        }
        GM_TRY(gm_map_put(&vs->part_back, vs->mem, key, *theirs, err));
    }
    return GM_OK;
}

/* The step of one part, or NULL. */
static GmStatus find_step(GmViews *vs, uint32_t number, uint32_t base, GmLex lex, const GmStep **out, GmError *err)
{
    const GmPart *part = &vs->parts.data[number];
    uint32_t theirs = GM_BASE_ROOT;
    *out = NULL;
    if (base != GM_BASE_ROOT) {
        GM_TRY(gm_base_in_part(vs, number, base, &theirs, err));
        if (theirs == GM_BASE_ROOT) {
            return GM_OK;
        }
    }
    gm_mutex_lock(part->lock);
    GmRe re = gm_re_find(part->views->rx, gm_re_node(vs->rx, lex >> 1));
    gm_mutex_unlock(part->lock);
    uint32_t step = re == GM_NONE ? GM_NONE : gm_view_find_step(part->views, theirs, gm_lex(re, (lex & 1) != 0));
    *out = step == GM_NONE ? NULL : gm_step_at(part->views, step);
    return GM_OK;
}

GmStatus gm_step_of_part(GmViews *vs, uint32_t base, GmLex lex, GmStep *made, bool *found, GmError *err)
{
    *found = false;
    for (uint32_t number = 0; number < vs->parts.len && !*found; number++) {
        const GmStep *step;
        GM_TRY(find_step(vs, number, base, lex, &step, err));
        if (step == NULL) {
            continue;
        }
        made->inside = step->inside;
        GM_TRY(gm_view_of_part(vs, number, step->after, &made->after, found, err));
    }
    return GM_OK;
}
