"""Mutations of the C engine for ``scripts/mutate.py``: each undoes one rule that exactness rests on.

Three rules of the sources are stricter than masks need, so undoing them changes no bit and they are not listed: a
clamped minimum of horizon + 1 instead of horizon, no loops for exempt terminals in matching states, and none outside
ASCII in matching states (docs/algorithms/derivatives.md, loops.md).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutation:
    """One broken engine.

    Attributes:
        name: short, for the table.
        rule: what holds without the mutation, and the page of docs/algorithms/ that says why.
        edits: (file in csrc, text that occurs there exactly once, text in its place).
    """

    name: str
    rule: str
    edits: tuple[tuple[str, str, str], ...]


MUTATIONS = (
    Mutation(
        "clamp-short",
        "a clamped minimum outlasts every token (derivatives)",
        (
            (
                "gm_regex_deriv.c",
                "low = low > rx->horizon + 1 ? rx->horizon + 1 : low;",
                "low = low > rx->horizon + 1 ? rx->horizon - 1 : low;",
            ),
        ),
    ),
    Mutation(
        "clamp-below-intersection",
        "counts below an intersection or difference stay exact (derivatives)",
        (
            ("gm_regex_bool.c", "    proto.counted = 0; /* never clamped below", "    /* never clamped below"),
            (
                "gm_regex_deriv.c",
                "    } else if (node->kind == RE_ALT) {\n        result = GM_RE_EMPTY;",
                "    } else if (is_boolean(node)) {\n        GmRe x, y;\n        uint8_t kind = node->kind;\n"
                "        GM_TRY(gm_re_clamp(rx, node->a, &x, err));\n"
                "        GM_TRY(gm_re_clamp(rx, re_at(rx, r)->b, &y, err));\n"
                "        GM_TRY(kind == RE_AND ? gm_re_and(rx, x, y, &result, err)"
                " : gm_re_sub(rx, x, y, &result, err));\n"
                "    } else if (node->kind == RE_ALT) {\n        result = GM_RE_EMPTY;",
            ),
        ),
    ),
    Mutation(
        "no-emptiness-test",
        "an intersection without any text is the empty language (derivatives)",
        (
            (
                "gm_regex_bool.c",
                "    bool dead = status == GM_OK && witness == GM_NONE && *settled;",
                "    bool dead = false;",
            ),
        ),
    ),
    Mutation(
        "nullable-body-keeps-minimum",
        "a repeat of something that may be empty has no minimum (derivatives)",
        (("gm_regex.c", "    if (body->nullable) {\n        low = 0;\n    }\n", ""),),
    ),
    Mutation(
        "difference-keeps-tokens",
        "what reads a byte differently is taken out of the step of the other state (views)",
        (
            ("gm_like.c", "        if (!listed(out->minus, out->n_minus, other->ids[i])) {", "        {"),
            ("gm_like.c", "            gm_bits_clear(words, trie->ids[t]);\n", ""),
        ),
    ),
    Mutation(
        "difference-keeps-entries",
        "and so is what follows (views)",
        (("gm_like.c", "GM_TRY(base_less(vs, v->bases[i], &base, err));", "base = v->bases[i];"),),
    ),
    Mutation(
        "difference-ignores-boundaries",
        "two states that match do not agree on what follows (views)",
        (("gm_like.c", " && ((a | b) & GM_RE_NULLABLE) == 0 &&", " &&"),),
    ),
    Mutation(
        "debt-lost-at-pop",
        "a debt follows the text out of rules (stacks)",
        (
            (
                "gm_read.c",
                "add_closed(s, others, pop.sym, top.debt, pop.set, err)",
                "add_closed(s, others, pop.sym, GM_RE_EMPTY, pop.set, err)",
            ),
        ),
    ),
    Mutation(
        "debt-never-violated",
        "a reading dies when the owed terminal matches after all (views)",
        (
            (
                "gm_read.c",
                "        if (!violated) {\n            GM_TRY(gm_state_arrive(",
                "        {\n            GM_TRY(gm_state_arrive(",
            ),
        ),
    ),
    Mutation(
        "exempt-owes",
        "exempt terminals owe nothing (views)",
        (
            (
                "gm_read.c",
                "GmRe owed = (origin & 1) != 0 || re == GM_RE_EPS ? GM_RE_EMPTY : re;",
                "GmRe owed = re == GM_RE_EPS ? GM_RE_EMPTY : re;",
            ),
        ),
    ),
    Mutation(
        "exempt-owes-in-views",
        "exempt terminals owe nothing in views either (views)",
        (("gm_step.c", "if (w->exempt || owed == GM_RE_EPS) {", "if (owed == GM_RE_EPS) {"),),
    ),
    Mutation(
        "ignore-not-exempt",
        "the ignore is exempt from the longest match (network)",
        (("gm_lower.c", "gm_lex(nfa->ignores.data[ctx], true)", "gm_lex(nfa->ignores.data[ctx], false)"),),
    ),
    Mutation(
        "views-forget-debts",
        "a view forgets a debt only when no token below can violate it (views)",
        (
            (
                "gm_view.c",
                "            rest = bites ? rest : GM_RE_EMPTY;\n        }\n        vs->after.data",
                "            rest = GM_RE_EMPTY;\n        }\n        vs->after.data",
            ),
        ),
    ),
    Mutation(
        "walks-forget-debts",
        "the same inside a step (views)",
        (
            (
                "gm_step.c",
                "                rest = bites ? rest : GM_RE_EMPTY;\n            }\n        }\n        if (next == 0)",
                "                rest = GM_RE_EMPTY;\n            }\n        }\n        if (next == 0)",
            ),
        ),
    ),
    Mutation(
        "entries-keep-violated",
        "an entry is judged by its byte before it enters a view (views)",
        (("gm_view.c", "            if (violated) {\n                continue;\n            }\n", ""),),
    ),
    Mutation(
        "covered-drops-all",
        "of two entries with one node, the one that owes a superset goes (views)",
        (
            (
                "gm_view.c",
                "covered = e[m].debt != e[k].debt && gm_re_covers(rx, e[k].debt, e[m].debt);",
                "covered = e[m].debt != e[k].debt && gm_re_covers(rx, e[m].debt, e[k].debt);",
            ),
        ),
    ),
    Mutation(
        "superset-drops-thread",
        "a reading that owes more goes only from the stacks that both have (views)",
        (
            (
                "gm_read.c",
                "GM_TRY(gm_stack_minus(&s->stack, t->set, u->set, &t->set, err));",
                "t->set = GM_SET_EMPTY;",
            ),
        ),
    ),
    Mutation(
        "tail-call-of-final",
        "only a call that returns to a final state without edges pushes nothing (network)",
        (
            (
                "gm_start.c",
                "} else if (step->b == GM_NET_END) { /* a tail call */",
                "} else if (gm_net_final(&s->c->core.net, step->b)) { /* a tail call */",
            ),
        ),
    ),
    Mutation(
        "reduce-without-final",
        "a member covers what lies below it only if its frame is complete (stacks)",
        (
            (
                "gm_stack.c",
                "return node != GM_STACK_BOTTOM && gm_net_final(stack->net, stack->nodes.data[node].sym);",
                "return node != GM_STACK_BOTTOM;",
            ),
        ),
    ),
    Mutation(
        "pops-one-frame",
        "completed frames under a popped one are popped too (stacks)",
        (
            (
                "gm_stack.c",
                "        if (gm_net_final(stack->net, node->sym)) {\n            const GmPops under",
                "        if (false) {\n            const GmPops under",
            ),
        ),
    ),
    Mutation(
        "moved-for-rest",
        "what a summary leaves to the states after it includes the base itself (summaries)",
        (("gm_core.c", "GM_TRY(add_rest(core, w, sub->rest, err));", "GM_TRY(add_rest(core, w, sub->moved, err));"),),
    ),
    Mutation(
        "mask-stays-in-rule",
        "a view goes down the stack when its state is final (summaries)",
        (
            (
                "gm_mask.c",
                "return gm_net_final(&s->c->core.net, state) ? gm_mask_push(s, view, set, err) : GM_OK;",
                "return GM_OK;",
            ),
        ),
    ),
    Mutation(
        "mask-key-without-debts",
        "the key of a finished mask holds what is owed (summaries)",
        (
            (
                "gm_mask.c",
                "hash_re(core, (Hash128){place_of(s, t->state), 2}, debt)",
                "hash_re(core, (Hash128){place_of(s, t->state), 2}, GM_RE_EMPTY)",
            ),
        ),
    ),
    Mutation(
        "no-bypass",
        "a call of a nullable rule can be skipped (network)",
        (
            (
                "gm_network.c",
                "return e->kind == GM_EDGE_EPS || (e->kind == GM_EDGE_CALL && nfa->rules.data[e->sym].nullable);",
                "(void)nfa;\n    return e->kind == GM_EDGE_EPS;",
            ),
        ),
    ),
    Mutation(
        "left-corner-misses-seed",
        "a left-recursive rule starts with every left corner of its group (network)",
        (
            (
                "gm_network.c",
                "for (uint32_t k = net->seed_off.data[group]; k",
                "for (uint32_t k = net->seed_off.data[group] + 1; k",
            ),
        ),
    ),
    Mutation(
        "left-corner-any-climb",
        "a completed left corner climbs only over calls of itself (network)",
        (("gm_network.c", "if (climb.sym == p.j) {", "{"),),
    ),
    Mutation(
        "left-corner-final",
        "a left-recursive rule is complete when its outermost left corner is (network)",
        (("gm_network.c", "*final = *final || p.j == p.i;", "*final = true;"),),
    ),
    Mutation(
        "count-clamped-early",
        "a count that a token can exhaust stays exact (network)",
        (
            (
                "gm_netlazy.c",
                "if (low > net->horizon + 1 || (high != GM_INF && high > net->horizon)) {",
                "if (low > net->horizon + 1 || (high != GM_INF && high > 1)) {",
            ),
            (
                "gm_netlazy.c",
                "high > net->horizon ? GM_INF : high, start, &clamp",
                "high > 1 ? GM_INF : high, start, &clamp",
            ),
            (
                "gm_netlazy.c",
                "s.high > net->horizon && s.high - net->horizon < by) {\n        by = s.high - net->horizon;",
                "s.high > 1 && s.high - 1 < by) {\n        by = s.high - 1;",
            ),
        ),
    ),
    Mutation(
        "minimise-ignores-finality",
        "only states that no text tells apart are merged (network)",
        (
            (
                "gm_netclose.c",
                "block[list[i]] = s->kind == GM_NET_SUBSET ? s->final : list[i] + 2;",
                "block[list[i]] = s->kind == GM_NET_SUBSET ? 0 : list[i] + 2;",
            ),
        ),
    ),
    Mutation(
        "calls-not-joined",
        "a rule that several states of a boundary call is entered with all their stacks (stacks)",
        (("gm_start.c", "s->slots.len, &call.set, err)", "1, &call.set, err)"),),
    ),
    Mutation(
        "views-not-joined",
        "a mask reads a view that several stacks are left with over all of them (summaries)",
        (("gm_mask.c", "s->slots.len, &set, err)", "1, &set, err)"),),
    ),
    Mutation(
        "exact-keeps-debts",
        "an exact token ends what is owed (engine.md, section 4)",
        (("gm_start.c", "top.debt = GM_RE_EMPTY; /* an exact token ends what is owed */", ";"),),
    ),
    Mutation(
        "end-token-by-bytes",
        "the bytes of an end token are never text (engine.md, section 4)",
        (("gm_mask.c", "gm_bits_clear(words, c->end_tokens[i]);", "(void)words;"),),
    ),
    Mutation(
        "loop-ignores-height",
        "a counted loop takes a subtree only up to its count (loops)",
        (("gm_step.c", " && trie->nodes[node].height <= state->cap;", " && (state->cap > 0);"),),
    ),
    Mutation(
        "loop-keeps-exit",
        "bytes that the rest can start with leave a counted loop (loops)",
        (("gm_loop.c", "out->groups = groups & ~first;", "out->groups = groups | first;"),),
    ),
    Mutation(
        "program-default-unshadowed",
        "an explicit edge that leads nowhere hides Default (programs)",
        (
            (
                "gm_program.c",
                "} else if (target != GM_NONE || raw->kind == GM_PROGRAM_POP) {",
                "} else if (target != GM_NONE) {",
            ),
        ),
    ),
    Mutation(
        "program-read-pops",
        "READ leaves the symbol where it is (programs)",
        (
            (
                "gm_program.c",
                "        if (s->kind == GM_PROGRAM_POP) {\n            under",
                "        if (true) {\n            under",
            ),
        ),
    ),
    Mutation(
        "program-no-waits",
        "a walk over an unknown rest waits there (programs)",
        (("gm_program.c", "            if (walk->hole) {", "            if (false) {"),),
    ),
)
