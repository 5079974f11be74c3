/* The graph-structured stack against plain sets of paths. Symbols 1 .. 7; some complete by themselves. */
#include "check.h"
#include "gm_stack.h"

enum { SYMBOLS = 8, DEPTH = 6, POOL = 40 };

/* A path, top first, as octal digits above a leading 1: the empty path is 1. */
typedef struct Paths {
    uint32_t code[8000], n;
} Paths;

static GmError err;
static uint8_t final_bits; /* symbols that are final */

static int compare(const void *x, const void *y)
{
    uint32_t a = *(const uint32_t *)x, b = *(const uint32_t *)y;
    return a < b ? -1 : a > b;
}

static void paths_add(Paths *p, uint32_t code)
{
    if (p->n < 8000) {
        p->code[p->n++] = code;
    }
    CHECK(p->n < 8000);
}

static uint32_t push(uint32_t code, uint32_t sym)
{
    uint32_t top = gm_top_bit(code) / 3 * 3; /* digits stand below it */
    return (code & ((1u << top) - 1)) | sym << top | 8u << top;
}
static uint32_t top_of(uint32_t code) { return code >> (gm_top_bit(code) / 3 * 3 - 3) & 7; }
static uint32_t pop(uint32_t code)
{
    uint32_t low = gm_top_bit(code) / 3 * 3 - 3;
    return (code & ((1u << low) - 1)) | 1u << low;
}

/* Add what is left when frames complete by themselves, at any depth: once what lies above has been popped,
 * they may. Sorted, distinct. */
static void paths_closed(Paths *p)
{
    for (uint32_t i = 0; i < p->n; i++) { /* what is added is looked at too */
        for (uint32_t at = 0; at < gm_top_bit(p->code[i]); at += 3) {
            uint32_t code = p->code[i], low = code & ((1u << at) - 1), without = code >> (at + 3) << at | low;
            bool seen = (final_bits >> (code >> at & 7) & 1) == 0;
            for (uint32_t k = 0; k < p->n && !seen; k++) {
                seen = p->code[k] == without;
            }
            if (!seen) {
                paths_add(p, without);
            }
        }
    }
    uint32_t kept = 0;
    if (p->n > 1) {
        qsort(p->code, p->n, sizeof *p->code, compare);
    }
    for (uint32_t k = 0; k < p->n; k++) {
        if (kept == 0 || p->code[k] != p->code[kept - 1]) {
            p->code[kept++] = p->code[k];
        }
    }
    p->n = kept;
}

static void paths_of(const GmStack *s, uint32_t set, Paths *out, uint32_t suffix[], uint32_t n)
{
    for (uint32_t k = 0; k < s->sets.data[set].n; k++) {
        uint32_t node = s->members.data[s->sets.data[set].off + k];
        if (node == GM_STACK_BOTTOM) {
            uint32_t code = 1;
            for (uint32_t i = n; i-- > 0;) {
                code = push(code, suffix[i]);
            }
            paths_add(out, code);
        } else {
            suffix[n] = s->nodes.data[node].sym;
            paths_of(s, s->nodes.data[node].set, out, suffix, n + 1);
        }
    }
}

static void check_set(const GmStack *s, uint32_t set, const Paths *want)
{
    static Paths got, closed;
    uint32_t suffix[DEPTH + 2];
    got.n = 0;
    paths_of(s, set, &got, suffix, 0);
    paths_closed(&got);
    closed = *want;
    paths_closed(&closed);
    CHECK_EQ(closed.n, got.n);
    CHECK(closed.n != got.n || memcmp(closed.code, got.code, got.n * sizeof *got.code) == 0);
}

static void check_pops(GmStack *s, uint32_t set, const Paths *of)
{
    static Paths all, below, empty;
    GmPops pops;
    CHECK_EQ(GM_OK, gm_stack_pops(s, set, &pops, &err));
    all = *of;
    paths_closed(&all);
    bool accepting = false;
    uint32_t symbols = 0, at = 0;
    for (uint32_t i = 0; i < all.n; i++) {
        accepting = accepting || all.code[i] == 1;
        symbols |= all.code[i] == 1 ? 0 : 1u << top_of(all.code[i]);
    }
    CHECK_EQ(accepting, pops.accepting);
    for (uint32_t sym = 1; sym < SYMBOLS; sym++) {
        if ((symbols >> sym & 1) == 0) {
            continue;
        }
        CHECK(at < pops.n && s->pop.data[pops.off + at].sym == sym);
        below = empty;
        for (uint32_t i = 0; i < all.n; i++) {
            if (all.code[i] != 1 && top_of(all.code[i]) == sym) {
                paths_add(&below, pop(all.code[i]));
            }
        }
        if (at < pops.n) {
            check_set(s, s->pop.data[pops.off + at].set, &below);
        }
        at++;
    }
    CHECK_EQ(at, pops.n);
}

static uint32_t depth_of(const Paths *p)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t d = gm_top_bit(p->code[i]) / 3;
        depth = d > depth ? d : depth;
    }
    return depth;
}

static void random_use(uint64_t seed)
{
    static Paths model[POOL];
    uint32_t sets[POOL], n = 2;
    Counting c;
    GmMem mem;
    GmNet net;
    GmStack s;
    Rand r = {seed};
    counting_mem(&c, &mem, 1 << 24);
    memset(&net, 0, sizeof net);
    gm_pool_init(&net.states, sizeof(GmNetState));
    final_bits = (uint8_t)(rand_next(&r) & (seed % 2 == 0 ? 0x2a : 0xfe));
    for (uint32_t i = 0; i < SYMBOLS; i++) {
        uint32_t id;
        void *p;
        CHECK_EQ(GM_OK, gm_pool_add(&net.states, &mem, &id, &p, &err));
        ((GmNetState *)p)->final = final_bits >> i & 1;
        ((GmNetState *)p)->clamp = i;
    }
    CHECK_EQ(GM_OK, gm_stack_init(&s, &mem, &net, &err));
    sets[0] = GM_SET_BOTTOM;
    model[0].n = 1;
    model[0].code[0] = 1;
    sets[1] = GM_SET_EMPTY;
    model[1].n = 0;
    for (uint32_t step = 0; step < 120 && check_failures == 0; step++) {
        uint32_t a = rand_below(&r, n), b = rand_below(&r, n), to = n < POOL ? n++ : 2 + rand_below(&r, POOL - 2);
        static Paths made;
        uint32_t set = 0;
        made.n = 0;
        if (rand_below(&r, 2) == 0 && model[a].n > 0 && depth_of(&model[a]) < DEPTH) {
            uint32_t sym = 1 + rand_below(&r, SYMBOLS - 1), node;
            CHECK_EQ(GM_OK, gm_stack_push(&s, sym, sets[a], &node, &err));
            CHECK_EQ(GM_OK, gm_stack_single(&s, node, &set, &err));
            for (uint32_t i = 0; i < model[a].n; i++) {
                paths_add(&made, push(model[a].code[i], sym));
            }
        } else {
            uint32_t list[5], k = 1 + rand_below(&r, 5);
            for (uint32_t i = 0; i < k; i++) {
                uint32_t from = i == 0 ? a : i == 1 ? b : rand_below(&r, n - 1);
                from = from == to ? 0 : from;
                list[i] = sets[from];
                for (uint32_t j = 0; j < model[from].n && made.n < 1000; j++) {
                    paths_add(&made, model[from].code[j]);
                }
                if (made.n >= 1000) { /* too many paths for the model */
                    k = i;
                    made.n = 0;
                    for (uint32_t l = 0; l < k; l++) {
                        list[l] = GM_SET_EMPTY;
                    }
                }
            }
            CHECK_EQ(GM_OK, gm_stack_union_all(&s, list, k, &set, &err));
        }
        paths_closed(&made);
        sets[to] = set;
        model[to] = made;
        check_set(&s, set, &made);
        check_pops(&s, set, &made);
    }
    GmStack copy; /* half of the sets survive */
    uint32_t kept[POOL], *roots[POOL], n_kept = 0;
    for (uint32_t i = 0; i < n; i += 2) {
        kept[n_kept] = sets[i];
        roots[n_kept] = &kept[n_kept];
        n_kept++;
    }
    CHECK_EQ(GM_OK, gm_stack_init(&copy, &mem, &net, &err));
    CHECK_EQ(GM_OK, gm_stack_copy(&s, &copy, roots, n_kept, &err));
    CHECK(copy.nodes.len <= s.nodes.len);
    for (uint32_t i = 0; i < n_kept; i++) {
        check_set(&copy, kept[i], &model[2 * i]);
        check_pops(&copy, kept[i], &model[2 * i]);
        CHECK(copy.sets.data[kept[i]].hash.a == s.sets.data[sets[2 * i]].hash.a);
    }
    gm_stack_deinit(&copy);
    gm_stack_deinit(&s);
    gm_pool_deinit(&net.states, &mem);
    CHECK_EQ(0, c.blocks);
    CHECK_EQ(0, mem.used);
}

static void test_random_use(void)
{
    for (uint64_t seed = 0; seed < 40; seed++) {
        random_use(seed);
    }
}

static void test_minus(void)
{
    Counting c;
    GmMem mem;
    GmStack s;
    counting_mem(&c, &mem, 1 << 24);
    CHECK_EQ(GM_OK, gm_stack_init(&s, &mem, NULL, &err)); /* without a network: nothing is final */
    uint32_t set[4], both, all, rest;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t node;
        CHECK_EQ(GM_OK, gm_stack_push(&s, i + 1, GM_SET_BOTTOM, &node, &err));
        CHECK_EQ(GM_OK, gm_stack_single(&s, node, &set[i], &err));
    }
    CHECK_EQ(GM_OK, gm_stack_union(&s, set[1], set[3], &both, &err));
    CHECK_EQ(GM_OK, gm_stack_union_all(&s, set, 4, &all, &err));
    CHECK_EQ(GM_OK, gm_stack_minus(&s, all, both, &rest, &err));
    uint32_t want;
    CHECK_EQ(GM_OK, gm_stack_union(&s, set[2], set[0], &want, &err));
    CHECK_EQ(want, rest);
    CHECK_EQ(GM_OK, gm_stack_minus(&s, both, all, &rest, &err));
    CHECK_EQ(GM_SET_EMPTY, rest);
    gm_stack_deinit(&s);
    CHECK_EQ(0, c.blocks);
}

/* Sets of any size lose exactly what a final member has below it: n plain frames, of which the final one stands
 * over the first half, and over itself in a final frame that is covered in turn. */
static void reduce_wide(uint32_t n)
{
    enum { FINAL = 1, PLAIN = 2, MOST = 200 };
    Counting c;
    GmMem mem;
    GmNet net;
    GmStack s;
    uint32_t plain[MOST], half, all, upper, lower, node, final_low, final_high, before;
    counting_mem(&c, &mem, 1 << 24);
    memset(&net, 0, sizeof net);
    gm_pool_init(&net.states, sizeof(GmNetState));
    for (uint32_t i = 0; i < n + 3; i++) {
        void *p;
        CHECK_EQ(GM_OK, gm_pool_add(&net.states, &mem, &node, &p, &err));
        ((GmNetState *)p)->final = i == FINAL;
        ((GmNetState *)p)->clamp = i;
    }
    CHECK_EQ(GM_OK, gm_stack_init(&s, &mem, &net, &err));
    for (uint32_t i = 0; i < n; i++) {
        CHECK_EQ(GM_OK, gm_stack_push(&s, PLAIN + i, GM_SET_BOTTOM, &node, &err));
        CHECK_EQ(GM_OK, gm_stack_single(&s, node, &plain[i], &err));
    }
    CHECK_EQ(GM_OK, gm_stack_union_all(&s, plain, n / 2, &half, &err));
    CHECK_EQ(GM_OK, gm_stack_union_all(&s, plain + n / 2, n - n / 2, &upper, &err));
    CHECK_EQ(GM_OK, gm_stack_union_all(&s, plain, n, &all, &err));
    CHECK_EQ(n, s.sets.data[all].n); /* nothing final, nothing lost */
    CHECK_EQ(GM_OK, gm_stack_push(&s, FINAL, half, &node, &err));
    CHECK_EQ(GM_OK, gm_stack_single(&s, node, &final_low, &err));
    CHECK_EQ(GM_OK, gm_stack_push(&s, FINAL, final_low, &node, &err));
    CHECK_EQ(GM_OK, gm_stack_single(&s, node, &final_high, &err));
    CHECK_EQ(GM_OK, gm_stack_union(&s, all, final_low, &lower, &err));
    CHECK_EQ(n - n / 2 + 1, s.sets.data[lower].n);
    CHECK_EQ(GM_OK, gm_stack_union(&s, upper, final_low, &before, &err));
    CHECK_EQ(before, lower);
    CHECK_EQ(GM_OK, gm_stack_union(&s, all, final_high, &before, &err)); /* does not see two frames down */
    CHECK_EQ(n + 1, s.sets.data[before].n);
    uint32_t three[] = {all, final_low, final_high};
    CHECK_EQ(GM_OK, gm_stack_union_all(&s, three, 3, &lower, &err));
    CHECK_EQ(n - n / 2 + 1, s.sets.data[lower].n);
    CHECK_EQ(GM_OK, gm_stack_union(&s, upper, final_high, &before, &err));
    CHECK_EQ(before, lower);
    gm_stack_deinit(&s);
    gm_pool_deinit(&net.states, &mem);
    CHECK_EQ(0, c.blocks);
}

static void test_reduce_wide(void)
{
    static const uint32_t sizes[] = {2, 4, 14, 15, 16, 17, 40, 200};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        reduce_wide(sizes[i]);
    }
}

int main(void)
{
    RUN(test_reduce_wide);
    RUN(test_random_use);
    RUN(test_minus);
    return check_result();
}
