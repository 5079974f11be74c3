/* gm_complete: the shortest text that completes a state (declared in gm.h).
 *
 * gm_finish gives what every stack needs at least, so the search goes straight down: only bytes after which one byte
 * less is needed are tried, least first. A byte that costs more after all (a terminal owes what is read) is taken
 * back; when nothing is left, one byte more is allowed (iterative deepening), any byte is tried, and states that are
 * known to need more than what is left are skipped. The first text found is the shortest and, of several, the least.
 *
 * Cost     without debts linear in the live stack and in the text. With them at most FAILURES bytes are taken back.
 * Source   Korf 1985, Depth-first iterative-deepening. Own: docs/algorithms/completion.md.
 * Tests    tests/test_completion.py. */
#include "gm_state.h"

#include <string.h>

enum { FAILURES = 20000 };
#define UNSET UINT64_MAX

typedef struct Choice { /* a place with several bytes to try */
    GmMoment at;
    GmByteSet left;
    uint64_t key[2];
    uint64_t depth; /* bytes before it */
} Choice;

typedef struct Search {
    GmFinish *f;
    GmState *s; /* a clone that nobody else has; its stacks are never compacted */
    GM_VEC(uint64_t) node, set; /* least bytes below; UNSET */
    GM_VEC(uint8_t) text;
    GM_VEC(Choice) choices; /* the first n_choices are in use, the others keep their memory */
    uint32_t n_choices, failures;
    GmMap known;       /* state -> number in `needs` */
    GM_VEC(uint64_t) needs; /* at least so many bytes */
    GmMoment first;
} Search;

static uint64_t set_cost(Search *x, uint32_t set)
{
    uint64_t *cost = &x->set.data[set];
    if (*cost == UNSET) {
        const GmStackSet *s = &x->s->stack.sets.data[set];
        *cost = GM_FAR;
        for (uint32_t i = 0; i < s->n; i++) {
            uint64_t member = x->node.data[x->s->stack.members.data[s->off + i]];
            *cost = member < *cost ? member : *cost;
        }
    }
    return *cost;
}

/* Costs of the nodes that are new; what is below a node is older. */
static GmStatus cost_nodes(Search *x, GmError *err)
{
    const GmStack *stack = &x->s->stack;
    GM_RESERVE(&x->s->mem, x->set, stack->sets.len);
    while (x->set.len < stack->sets.len) {
        x->set.data[x->set.len++] = UNSET;
    }
    GM_RESERVE(&x->s->mem, x->node, stack->nodes.len);
    while (x->node.len < stack->nodes.len) {
        uint64_t cost = 0;
        if (x->node.len != GM_STACK_BOTTOM) {
            const GmStackNode *node = &stack->nodes.data[x->node.len];
            GM_TRY(gm_finish_net(x->f, node->sym, &cost, err));
            cost = gm_far_add(cost, set_cost(x, node->set));
        }
        x->node.data[x->node.len++] = cost;
    }
    return GM_OK;
}

static GmStatus thread_cost(Search *x, const GmThread *t, uint64_t *out, GmError *err)
{
    uint64_t re, then;
    GM_TRY(gm_finish_re(x->f, t->re, &re, err));
    GM_TRY(gm_finish_net(x->f, t->to, &then, err));
    *out = gm_far_add(gm_far_add(re, then), set_cost(x, t->set));
    return GM_OK;
}

static GmStatus top_cost(Search *x, const GmTop *t, uint64_t *out, GmError *err)
{
    GM_TRY(gm_finish_net(x->f, t->state, out, err));
    *out = gm_far_add(*out, set_cost(x, t->set));
    return GM_OK;
}

/* The least that any reading needs. */
static GmStatus cost_now(Search *x, uint64_t *out, GmError *err)
{
    const GmMoment *now = &x->s->now;
    uint64_t cost;
    GM_TRY(cost_nodes(x, err));
    *out = now->empty ? 0 : GM_FAR;
    for (uint32_t i = 0; i < now->threads.len; i++) {
        GM_TRY(thread_cost(x, &now->threads.data[i], &cost, err));
        *out = cost < *out ? cost : *out;
    }
    for (uint32_t i = 0; i < now->tops.len; i++) {
        GM_TRY(top_cost(x, &now->tops.data[i], &cost, err));
        *out = cost < *out ? cost : *out;
    }
    return GM_OK;
}

static void join(GmByteSet *set, const GmByteSet *more)
{
    for (uint32_t i = 0; i < 4; i++) {
        set->w[i] |= more->w[i];
    }
}

/* The bytes of the cheapest readings, which need `least`. */
static GmStatus cheapest_bytes(Search *x, uint64_t least, GmByteSet *out, GmError *err)
{
    GmState *s = x->s;
    GmByteSet set;
    uint64_t cost;
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < s->now.threads.len; i++) {
        GM_TRY(thread_cost(x, &s->now.threads.data[i], &cost, err));
        if (cost == least) {
            GM_TRY(gm_finish_first_re(x->f, s->now.threads.data[i].re, &set, err));
            join(out, &set);
        }
    }
    GM_TRY(gm_state_close(s, err));
    GM_TRY(cost_nodes(x, err)); /* closing makes sets */
    for (uint32_t i = 0; i < s->closed.len; i++) {
        GM_TRY(top_cost(x, &s->closed.data[i], &cost, err));
        if (cost == least) {
            GM_TRY(gm_finish_first_net(x->f, s->closed.data[i].state, &set, &s->mem, err));
            join(out, &set);
        }
    }
    return GM_OK;
}

static bool take_byte(GmByteSet *set, uint8_t *byte)
{
    for (uint32_t i = 0; i < 4; i++) {
        if (set->w[i] != 0) {
            uint32_t bit = 0;
            while ((set->w[i] >> bit & 1) == 0) {
                bit++;
            }
            set->w[i] &= set->w[i] - 1;
            *byte = (uint8_t)(64 * i + bit);
            return true;
        }
    }
    return false;
}

static bool is_empty(const GmByteSet *set) { return (set->w[0] | set->w[1] | set->w[2] | set->w[3]) == 0; }

/* -- choices ---------------------------------------------------------------------------------------------- */

static uint64_t known_need(Search *x, const uint64_t key[2])
{
    uint32_t id = gm_map_get(&x->known, gm_mix(key[0] + gm_mix(key[1])) >> 1);
    return id == GM_NONE ? 0 : x->needs.data[id];
}

static GmStatus learn_need(Search *x, const uint64_t key[2], uint64_t need, GmError *err)
{
    uint64_t mixed = gm_mix(key[0] + gm_mix(key[1])) >> 1;
    uint32_t id = gm_map_get(&x->known, mixed);
    if (id != GM_NONE) {
        x->needs.data[id] = need > x->needs.data[id] ? need : x->needs.data[id];
        return GM_OK;
    }
    GM_PUSH(&x->s->mem, x->needs, need);
    return gm_map_put(&x->known, &x->s->mem, mixed, x->needs.len - 1, err);
}

static GmStatus choice_push(Search *x, const GmByteSet *left, GmError *err)
{
    if (x->n_choices == x->choices.len) {
        Choice fresh;
        memset(&fresh, 0, sizeof fresh);
        GM_PUSH(&x->s->mem, x->choices, fresh);
    }
    Choice *c = &x->choices.data[x->n_choices];
    GM_TRY(gm_moment_copy(&x->s->mem, &c->at, &x->s->now, err));
    c->left = *left;
    c->depth = x->text.len;
    if (gm_state_key(x->s, c->key, err) != 0) {
        return GM_INTERNAL; /* of a state that only this search has */
    }
    x->n_choices++;
    return GM_OK;
}

/* Back to the newest place with another byte to try; false when there is none. */
static GmStatus go_back(Search *x, uint64_t budget, bool *found, uint8_t *byte, GmError *err)
{
    *found = false;
    while (x->n_choices > 0 && !*found) {
        Choice *c = &x->choices.data[x->n_choices - 1];
        *found = take_byte(&c->left, byte);
        if (!*found) {
            GM_TRY(learn_need(x, c->key, budget - c->depth + 1, err));
            x->n_choices--;
            continue;
        }
        GM_TRY(gm_moment_copy(&x->s->mem, &x->s->now, &c->at, err));
        x->s->closed_valid = false;
        x->text.len = (uint32_t)c->depth;
    }
    return GM_OK;
}

/* One more byte; *fits when the rest may still be within the budget. */
static GmStatus step(Search *x, uint8_t byte, uint64_t budget, uint64_t *need, bool *fits, GmError *err)
{
    uint64_t key[2];
    GM_PUSH(&x->s->mem, x->text, byte);
    GM_TRY(gm_state_read_byte(x->s, byte, err));
    *fits = false;
    if (gm_state_is_dead(x->s)) {
        return GM_OK;
    }
    GM_TRY(cost_now(x, need, err));
    *fits = gm_far_add(*need, x->text.len) <= budget;
    if (*fits && x->known.len > 0) {
        if (gm_state_key(x->s, key, err) != 0) {
            return GM_INTERNAL;
        }
        *fits = gm_far_add(known_need(x, key), x->text.len) <= budget;
    }
    return GM_OK;
}

/* A text of at most `budget` bytes, depth first. */
static GmStatus attempt(Search *x, uint64_t budget, uint64_t need, bool *found, GmError *err)
{
    GmState *s = x->s;
    GM_TRY(gm_moment_copy(&s->mem, &s->now, &x->first, err));
    s->closed_valid = false;
    x->text.len = x->n_choices = 0;
    *found = false;
    for (;;) {
        GmByteSet bytes;
        uint8_t byte = 0;
        bool more = false, fits = false;
        GM_TRY(gm_state_close(s, err));
        if (s->accepting) {
            *found = true;
            return GM_OK;
        }
        if (need == budget - x->text.len) {
            GM_TRY(cheapest_bytes(x, need, &bytes, err));
        } else {
            memset(&bytes, 0xff, sizeof bytes);
        }
        if (need > 0 || budget > x->text.len) {
            more = take_byte(&bytes, &byte);
        }
        if (more && !is_empty(&bytes)) {
            GM_TRY(choice_push(x, &bytes, err));
        }
        while (!fits) {
            if (more) {
                GM_TRY(step(x, byte, budget, &need, &fits, err));
            }
            if (!fits) {
                if (x->failures++ == FAILURES) {
                    return GM_OK;
                }
                GM_TRY(go_back(x, budget, &more, &byte, err));
                if (!more) {
                    return GM_OK;
                }
            }
        }
    }
}

/* *budget: the bytes that are needed at least; GM_FAR when no text completes the state. */
static GmStatus deepen(Search *x, uint64_t most, uint64_t *budget, bool *found, GmError *err)
{
    uint64_t least;
    GM_TRY(gm_moment_copy(&x->s->mem, &x->first, &x->s->now, err));
    GM_TRY(cost_now(x, &least, err));
    for (*budget = least; !*found && *budget <= most && x->failures <= FAILURES; *budget += !*found) {
        GM_TRY(attempt(x, *budget, least, found, err));
        x->failures += !*found && x->failures <= FAILURES; /* so that it ends */
    }
    return GM_OK;
}

static void search_deinit(Search *x)
{
    GmMem *mem = &x->s->mem;
    for (uint32_t i = 0; i < x->choices.len; i++) {
        gm_moment_deinit(&x->choices.data[i].at, mem);
    }
    GM_VEC_FREE(mem, x->choices);
    GM_VEC_FREE(mem, x->node);
    GM_VEC_FREE(mem, x->set);
    GM_VEC_FREE(mem, x->text);
    GM_VEC_FREE(mem, x->needs);
    gm_map_deinit(&x->known, mem);
    gm_moment_deinit(&x->first, mem);
}

static GmStatus finish_of(GmConstraint *c, GmFinish **out, GmError *err)
{
    *out = gm_load(&c->finish);
    if (*out != NULL) {
        return GM_OK;
    }
    gm_core_lock(&c->core);
    GmStatus status = GM_OK;
    *out = gm_load(&c->finish);
    if (*out == NULL) {
        status = gm_finish_new(&c->core, out, err);
        if (status == GM_OK) {
            gm_store(&c->finish, *out);
        }
    }
    gm_core_unlock(&c->core);
    return status;
}

/* What is found goes to the caller. */
static GmStatus hand_over(Search *x, uint8_t **text, uint64_t *n, GmError *err)
{
    *text = NULL;
    *n = x->text.len;
    if (x->text.len > 0) {
        *text = gm_mem_object(&x->s->c->core.mem, x->text.len);
        if (*text == NULL) {
            return gm_fail(err, GM_NOMEM, "out of memory");
        }
        memcpy(*text, x->text.data, x->text.len);
    }
    return GM_OK;
}

int gm_state_completion(GmState *state, uint64_t most, uint8_t **text, uint64_t *n, GmError *err)
{
    Search x;
    bool found = false;
    uint64_t needs = 0;
    memset(&x, 0, sizeof x);
    if (state->c->foci != NULL) {
        return 2;
    }
    x.s = gm_state_clone(state, err);
    if (x.s == NULL) {
        return -1;
    }
    gm_map_init(&x.known);
    GmStatus status = finish_of(state->c, &x.f, err);
    if (status == GM_OK && x.s->now.terminated) {
        found = true;
    } else if (status == GM_OK) {
        status = deepen(&x, most < UINT32_MAX ? most : UINT32_MAX, &needs, &found, err);
        *n = needs;
    }
    if (status == GM_OK && found) {
        status = hand_over(&x, text, n, err);
    }
    search_deinit(&x);
    gm_state_free(x.s);
    return status != GM_OK ? -1 : found ? 0 : needs >= GM_FAR ? 1 : x.failures > FAILURES ? 2 : 3;
}

void gm_state_completion_free(GmState *state, uint8_t *text, uint64_t n)
{
    if (text != NULL) {
        gm_mem_object_free(&state->c->core.mem, text, n);
    }
}
