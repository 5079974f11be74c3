#include "gm_pstate.h"

enum { START_SYMBOL = 0 };

GmStatus gm_pstate_begin(GmState *s, GmError *err)
{
    uint32_t node, set;
    GM_TRY(gm_stack_push(&s->stack, START_SYMBOL, GM_SET_BOTTOM, &node, err));
    GM_TRY(gm_stack_single(&s->stack, node, &set, err));
    GM_PUSH(&s->mem, s->now.tops, ((GmTop){0, set, GM_RE_EMPTY}));
    return GM_OK;
}

GmStatus gm_pstate_accepting(GmState *s, bool *accepting, GmError *err)
{
    *accepting = false;
    for (uint32_t i = 0; i < s->now.tops.len && !*accepting; i++) {
        uint32_t out;
        GM_TRY(gm_program_apply(&s->program_walk, s->c->foci->program.n_terminals, s->now.tops.data[i].set, &out, err));
        *accepting = out != GM_SET_EMPTY;
    }
    return GM_OK;
}

static GmStatus start_terminal(GmState *s, uint32_t terminal, uint8_t byte, const GmTop *top, GmError *err)
{
    const GmProgramTerminal *t = &s->c->foci->program.terminals[terminal];
    uint32_t out, entry;
    GM_TRY(gm_program_apply(&s->program_walk, terminal, top->set, &out, err));
    if (out == GM_SET_EMPTY) {
        return GM_OK;
    }
    GM_TRY(gm_core_deriv(&s->c->core, t->re, byte, &entry, err));
    return gm_state_arrive(s, entry, t->lex, 0, top->debt, out, err);
}

GmStatus gm_pstate_start(GmState *s, uint8_t byte, GmError *err)
{
    const GmProgram *program = &s->c->foci->program;
    for (uint32_t i = 0; i < s->now.tops.len; i++) {
        GmTop top = s->now.tops.data[i];
        bool violated;
        GM_TRY(gm_state_owe(s, &top.debt, byte, &violated, err));
        for (uint32_t t = 0; t < program->n_terminals && !violated; t++) {
            if ((program->terminals[t].starts[byte >> 6] >> (byte & 63) & 1) != 0 && program->terminals[t].n > 0) {
                GM_TRY(start_terminal(s, t, byte, &top, err));
            }
        }
    }
    return GM_OK;
}

/* A base read from a focus; what it claims is to be met with the tops of `set`. */
static GmStatus read_base(GmState *s, uint32_t base, uint32_t focus, uint32_t set, GmError *err)
{
    const GmResult *result;
    GM_TRY(gm_focus_result(s->c->foci, base, focus, &result, err));
    GM_TRY(gm_mask_take(s, &result->toks, err));
    for (uint32_t i = 0; i < result->n_claims; i++) {
        GM_TRY(gm_mask_push(s, result->claims[i], set, err));
    }
    return GM_OK;
}

static GmStatus read_view(GmState *s, uint32_t view, uint32_t set, GmError *err)
{
    const GmView *v = gm_view_at(&s->c->core.views, view);
    for (uint32_t i = 0; i < v->n; i++) {
        GM_TRY(read_base(s, v->bases[i], GM_FOCUS_HOLE, set, err));
    }
    return GM_OK;
}

static GmStatus read_thread(GmState *s, const GmThread *t, GmError *err)
{
    GmCore *core = &s->c->core;
    uint32_t view;
    GmRe re;
    GM_TRY(gm_mask_whole(s, t->debt, &view, err));
    GM_TRY(gm_core_clamp(core, t->re, &re, err));
    const GmView *v = gm_view_at(&core->views, view);
    for (uint32_t i = 0; i < v->n; i++) {
        const GmStep *step;
        GM_TRY(gm_core_step(core, v->bases[i], gm_lex(re, (t->origin & 1) != 0), &step, err));
        GM_TRY(gm_mask_take(s, &step->inside, err));
        GM_TRY(read_view(s, step->after, t->set, err));
    }
    return GM_OK;
}

/* Claims meet the stack, symbol by symbol; template graphs are acyclic and tokens finite, so this ends. */
GmStatus gm_pstate_mask(GmState *s, GmError *err)
{
    GmFoci *foci = s->c->foci;
    const GmStack *stack = &s->stack;
    for (uint32_t i = 0; i < s->now.tops.len; i++) {
        const GmTop *top = &s->now.tops.data[i];
        uint32_t view;
        GM_TRY(gm_mask_whole(s, top->debt, &view, err));
        GM_TRY(read_view(s, view, top->set, err));
    }
    for (uint32_t i = 0; i < s->now.threads.len; i++) {
        GM_TRY(read_thread(s, &s->now.threads.data[i], err));
    }
    for (uint32_t i = 0; i < s->walk.len; i++) {
        const GmClaim claim = *gm_claim_at(foci, (uint32_t)(s->walk.data[i] >> 32));
        const GmStackSet set = stack->sets.data[(uint32_t)s->walk.data[i]];
        for (uint32_t k = 0; k < set.n; k++) {
            uint32_t member = stack->members.data[set.off + k], focus;
            if (member != GM_STACK_BOTTOM) {
                GM_TRY(gm_focus_meet(foci, claim.wait_set, stack->nodes.data[member].sym, &focus, err));
                GM_TRY(read_base(s, claim.base, focus, stack->nodes.data[member].set, err));
            }
        }
    }
    return GM_OK;
}
