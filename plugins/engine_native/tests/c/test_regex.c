/* Regular languages: random small ones over {a, b, c} against a matcher that tries everything; rows, clamps
 * and loops agree with derivatives; characters agree with their encoding; hostile shapes stay small. */
#include "fixture.h"
#include "gm_groups.h"
#include "gm_utf8.h"

#include <time.h>

/* -- random expressions and the plain matcher ---------------------------------------------------------- */

enum { N_EXPRS = 64, LETTERS = 3, LONGEST = 5 };
typedef struct Expr {
    GmReKind kind;
    uint32_t low, high;    /* RE_REP */
    uint32_t a, b;         /* earlier expressions */
    uint32_t letters;      /* RE_SET: bits */
    char text[4];          /* RE_LIT */
    GmRe re;
} Expr;

static Expr expr[N_EXPRS];

/* Does expr[e] match text[from, to)? Memory of answers: the text is short. */
static int8_t known[N_EXPRS][LONGEST + 1][LONGEST + 1];

static bool matches(uint32_t e, const char *text, uint32_t from, uint32_t to);

static bool repeats(const Expr *x, const char *text, uint32_t from, uint32_t to, uint32_t low, uint32_t high)
{
    if (from == to && (low == 0 || matches(x->a, text, from, from))) {
        return true;
    }
    for (uint32_t mid = from + 1; high > 0 && mid <= to; mid++) {
        if (matches(x->a, text, from, mid) && repeats(x, text, mid, to, low > 0 ? low - 1 : 0, high == GM_INF ? GM_INF : high - 1)) {
            return true;
        }
    }
    /* Iterations that match nothing count too. */
    return low > 0 && high > 0 && matches(x->a, text, from, from) && repeats(x, text, from, to, 0, high == GM_INF ? GM_INF : high - low);
}

static bool matches_now(const Expr *x, const char *text, uint32_t from, uint32_t to)
{
    switch (x->kind) {
    case RE_EPS:
        return from == to;
    case RE_SET:
        return to == from + 1 && (x->letters >> (text[from] - 'a') & 1) != 0;
    case RE_LIT:
        return to - from == strlen(x->text) && memcmp(text + from, x->text, to - from) == 0;
    case RE_SEQ:
        for (uint32_t mid = from; mid <= to; mid++) {
            if (matches(x->a, text, from, mid) && matches(x->b, text, mid, to)) {
                return true;
            }
        }
        return false;
    case RE_ALT:
        return matches(x->a, text, from, to) || matches(x->b, text, from, to);
    case RE_REP:
        return repeats(x, text, from, to, x->low, x->high);
    case RE_AND:
        return matches(x->a, text, from, to) && matches(x->b, text, from, to);
    case RE_SUB:
        return matches(x->a, text, from, to) && !matches(x->b, text, from, to);
    default:
        return false;
    }
}

static bool matches(uint32_t e, const char *text, uint32_t from, uint32_t to)
{
    int8_t *answer = &known[e][from][to];
    if (*answer < 0) {
        bool now = matches_now(&expr[e], text, from, to);
        *answer = now;
    }
    return *answer != 0;
}

static void make_expr(Fixture *f, uint32_t e, Rand *r)
{
    static const GmReKind inner[] = {RE_SEQ, RE_SEQ, RE_ALT, RE_REP, RE_REP, RE_AND, RE_SUB};
    Expr *x = &expr[e];
    memset(x, 0, sizeof *x);
    uint32_t kind = rand_below(r, 3);
    if (e < 4 || kind == 0) {
        kind = rand_below(r, 6);
        x->kind = kind == 0 ? RE_EPS : kind == 1 ? RE_EMPTY : kind < 4 ? RE_SET : RE_LIT;
        x->letters = rand_below(r, 8);
        uint32_t len = 1 + rand_below(r, 3);
        for (uint32_t i = 0; i < len; i++) {
            x->text[i] = (char)('a' + rand_below(r, LETTERS));
        }
        GmByteSet set = {{0, (uint64_t)x->letters << ('a' - 64), 0, 0}};
        if (x->kind == RE_SET) {
            OK(gm_re_set(&f->rx, &set, &x->re, &err));
        } else if (x->kind == RE_LIT) {
            OK(gm_re_lit(&f->rx, (const uint8_t *)x->text, len, &x->re, &err));
        } else {
            x->re = x->kind == RE_EPS ? GM_RE_EPS : GM_RE_EMPTY;
        }
        return;
    }
    x->kind = inner[rand_below(r, 7)];
    x->a = rand_below(r, e);
    x->b = rand_below(r, e);
    GmRe a = expr[x->a].re, b = expr[x->b].re;
    switch (x->kind) {
    case RE_SEQ:
        OK(gm_re_seq(&f->rx, a, b, &x->re, &err));
        return;
    case RE_ALT:
        OK(gm_re_alt2(&f->rx, a, b, &x->re, &err));
        return;
    case RE_REP:
        x->low = rand_below(r, 4);
        x->high = rand_below(r, 3) == 0 ? GM_INF : x->low + rand_below(r, 4);
        OK(gm_re_rep(&f->rx, a, x->low, x->high, &x->re, &err));
        return;
    case RE_AND:
        OK(gm_re_and(&f->rx, a, b, &x->re, &err));
        return;
    default:
        OK(gm_re_sub(&f->rx, a, b, &x->re, &err));
        return;
    }
}

/* Derivatives along the text; 0 when dead. */
static uint32_t run(Fixture *f, GmRe re, const char *text, uint32_t n)
{
    uint32_t entry = re | (gm_re_nullable(&f->rx, re) ? GM_RE_NULLABLE : 0);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t next = 0;
        OK(gm_re_deriv(&f->rx, GM_RE_ID(entry), (uint8_t)text[i], &next, &err));
        entry = next;
    }
    return entry;
}

static void check_text(Fixture *f, const char *text, uint32_t n)
{
    memset(known, -1, sizeof known);
    for (uint32_t e = 0; e < N_EXPRS; e++) {
        uint32_t entry = run(f, expr[e].re, text, n);
        bool want = matches(e, text, 0, n);
        if (want != ((entry & GM_RE_NULLABLE) != 0)) {
            printf("expression %u on \"%.*s\": %d, expected %d\n", e, (int)n, text, !want, want);
            check_failures++;
        }
        GmRe clamped;
        OK(gm_re_clamp(&f->rx, expr[e].re, &clamped, &err));
        uint32_t short_entry = run(f, clamped, text, n < 2 ? n : 2); /* the horizon */
        entry = run(f, expr[e].re, text, n < 2 ? n : 2);
        CHECK_EQ(entry == 0, short_entry == 0);
        CHECK_EQ(entry & GM_RE_NULLABLE, short_entry & GM_RE_NULLABLE);
    }
}

static void test_random_languages(void)
{
    for (uint32_t round = 0; round < 6 && check_failures < 20; round++) {
        Fixture f;
        Rand r = {round};
        begin(&f, 2);
        for (uint32_t e = 0; e < N_EXPRS; e++) {
            make_expr(&f, e, &r);
        }
        bool matched[N_EXPRS] = {false};
        for (uint32_t n = 0, count = 1; n <= LONGEST; n++, count *= LETTERS) {
            for (uint32_t code = 0; code < count; code++) {
                char text[LONGEST + 1];
                uint32_t rest = code;
                for (uint32_t i = 0; i < n; i++, rest /= LETTERS) {
                    text[i] = (char)('a' + rest % LETTERS);
                }
                check_text(&f, text, n);
                for (uint32_t e = 0; e < N_EXPRS; e++) {
                    matched[e] = matched[e] || known[e][0][n] > 0;
                }
            }
        }
        for (uint32_t e = 0; e < N_EXPRS; e++) {
            CHECK(!matched[e] || expr[e].re != GM_RE_EMPTY); /* re 0 is the only dead one */
            if (expr[e].re == GM_RE_EMPTY) {
                continue;
            }
            const GmRow *row;
            OK(gm_re_row(&f.rx, expr[e].re, &row, &err));
            bool alive = gm_re_nullable(&f.rx, expr[e].re);
            for (uint32_t b = 0; b < 256; b++) {
                uint32_t entry;
                OK(gm_re_deriv(&f.rx, expr[e].re, (uint8_t)b, &entry, &err));
                CHECK_EQ(gm_row_at(row, (uint8_t)b), entry);
                alive = alive || entry != 0;
            }
            CHECK(alive);
        }
        end(&f);
    }
}

/* A loop record promises that so many characters of its groups keep the state alive without a new boundary. */
static void test_loops(void)
{
    static const char letters[] = {'a', 'b', 'c', '"', '0', '5', 'Z', ' ', '\n'};
    for (uint32_t round = 0; round < 6; round++) {
        Fixture f;
        Rand r = {round + 50};
        begin(&f, 8);
        for (uint32_t e = 0; e < N_EXPRS; e++) {
            make_expr(&f, e, &r);
            GmRe re = expr[e].re;
            GmLoop loop;
            if (re == GM_RE_EMPTY) {
                continue;
            }
            OK(gm_re_loop(&f.rx, re, &loop, &err));
            uint32_t entry = re;
            for (uint32_t k = 0; k < 8 && k < loop.cap; k++) {
                uint8_t byte = (uint8_t)letters[rand_below(&r, sizeof letters)];
                if ((loop.groups >> gm_group_of(byte) & 1) == 0) {
                    continue;
                }
                OK(gm_re_deriv(&f.rx, GM_RE_ID(entry), byte, &entry, &err));
                CHECK(entry != 0);
            }
        }
        end(&f);
    }
}

/* -- characters ------------------------------------------------------------------------------------------- */

static uint32_t encode(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    uint32_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (uint32_t i = n; i-- > 1; c >>= 6) {
        out[i] = (char)(0x80 | (c & 0x3f));
    }
    out[0] = (char)((0xf00 >> n & 0xf0) | c);
    return n;
}

static void test_characters(void)
{
    static const uint32_t edges[] = {0, 1, 'a', 0x7f, 0x80, 0x7ff, 0x800, 0xfff, 0x1000, 0xd7ff, 0xe000, 0xffff, 0x10000, 0xfffff, 0x100000, 0x10ffff};
    for (uint32_t round = 0; round < 40; round++) {
        Fixture f;
        Rand r = {round};
        begin(&f, 8);
        uint32_t range[40], n = 0, at = 0;
        while (n < 10) {
            uint32_t step = 1u << rand_below(&r, 19), first = at + rand_below(&r, step), last = first + rand_below(&r, step);
            if (rand_below(&r, 3) == 0) {
                first = edges[rand_below(&r, 16)];
                last = first;
            }
            if (first < at || last > 0x10ffff || (last >= 0xd800 && first < 0xe000)) {
                if (++at > 0x10ffff || rand_below(&r, 20) == 0) {
                    break;
                }
                continue;
            }
            range[2 * n] = first;
            range[2 * n + 1] = last;
            n++;
            at = last + 1;
        }
        GmRe re;
        OK(gm_utf8_chars(&f.rx, range, n, &re, &err));
        for (uint32_t k = 0; k < 200; k++) {
            uint32_t c = k < 16 ? edges[k] : n > 0 && k < 100 ? range[rand_below(&r, 2 * n)] + rand_below(&r, 3) - 1 : rand_below(&r, 0x110000);
            if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) {
                continue;
            }
            bool want = false;
            for (uint32_t i = 0; i < n; i++) {
                want = want || (range[2 * i] <= c && c <= range[2 * i + 1]);
            }
            char text[4];
            uint32_t len = encode(c, text), entry = run(&f, re, text, len);
            CHECK_EQ(want, (entry & GM_RE_NULLABLE) != 0);
            uint8_t state = GM_UTF8_START;
            for (uint32_t i = 0; i < len; i++) {
                CHECK_EQ(i == 0, state == GM_UTF8_START);
                state = gm_utf8_next(state, (uint8_t)text[i]);
            }
            CHECK_EQ(GM_UTF8_START, state);
        }
        end(&f);
    }
    static const char *const bad[] = {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x80\x80", "\xed\xa0\x80", "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80", "\xff", "\xc2\x41"};
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint8_t state = GM_UTF8_START;
        for (const char *p = bad[i]; *p != 0 && state != GM_UTF8_BAD; p++) {
            state = gm_utf8_next(state, (uint8_t)*p);
        }
        CHECK_EQ(GM_UTF8_BAD, state);
    }
}

/* -- shapes that must not hurt ------------------------------------------------------------------------------ */

static GmRe letter(Fixture *f, char c)
{
    GmRe re = 0;
    OK(gm_re_lit(&f->rx, (const uint8_t *)&c, 1, &re, &err));
    return re;
}

/* The row of a node of a graph that unfolds to 2^n nodes. */
static void test_shared_nodes(void)
{
    Fixture f;
    begin(&f, 8);
    GmRe re, both;
    OK(gm_re_rep(&f.rx, letter(&f, 'a'), 0, 1, &re, &err));
    for (uint32_t i = 0; i < 60; i++) { /* ((a? a?)(a? a?)) ... */
        OK(gm_re_seq(&f.rx, re, re, &re, &err));
    }
    uint32_t entry = re;
    for (uint32_t i = 0; i < 20; i++) {
        OK(gm_re_deriv(&f.rx, GM_RE_ID(entry), 'a', &entry, &err));
    }
    CHECK((entry & GM_RE_NULLABLE) != 0);
    OK(gm_re_rep(&f.rx, letter(&f, 'b'), 2, 70, &re, &err));
    for (uint32_t i = 0; i < 60; i++) { /* the same with alternatives and counts */
        GmRe x, y;
        OK(gm_re_seq(&f.rx, re, letter(&f, 'x'), &x, &err));
        OK(gm_re_seq(&f.rx, re, letter(&f, 'y'), &y, &err));
        OK(gm_re_alt2(&f.rx, x, y, &re, &err));
    }
    OK(gm_re_clamp(&f.rx, re, &both, &err));
    const GmRow *row;
    OK(gm_re_row(&f.rx, re, &row, &err));
    CHECK(gm_row_at(row, 'b') != 0 && gm_row_at(row, 'x') == 0);
    CHECK(f.rx.nodes.len < 20000);
    end(&f);
}

/* Thousands of alternatives and of optional parts: no quadratic heaps of memory. */
static void test_wide_nodes(void)
{
    enum { WIDE = 4000 };
    Fixture f;
    begin(&f, 8);
    static char text[WIDE][8];
    GmRe parts[WIDE], any, re, few;
    GmByteSet set = {{0, 0x7fffffeull << 32, 0, 0}};
    OK(gm_re_set(&f.rx, &set, &any, &err));
    for (uint32_t i = 0; i < WIDE; i++) {
        (void)snprintf(text[i], sizeof text[i], "%06u", i);
        OK(gm_re_lit(&f.rx, (const uint8_t *)text[i], 6, &re, &err));
        OK(gm_re_seq(&f.rx, any, re, &parts[i], &err));
    }
    OK(gm_re_alt(&f.rx, parts, WIDE, &re, &err));
    uint32_t entry;
    OK(gm_re_deriv(&f.rx, re, 'q', &entry, &err));
    CHECK(entry != 0);
    CHECK(f.mem.used < 8 << 20);
    re = GM_RE_EPS;
    for (uint32_t i = 0; i < 1000; i++) { /* (.000000)? (.000001)? ... */
        OK(gm_re_rep(&f.rx, parts[i], 0, 1, &few, &err));
        OK(gm_re_seq(&f.rx, few, re, &re, &err));
    }
    OK(gm_re_deriv(&f.rx, re, 'q', &entry, &err));
    CHECK(entry != 0);
    CHECK(f.mem.used < 16 << 20);
    end(&f);
}

/* Nesting is refused by name before it could exhaust the C stack. */
static void test_nesting(void)
{
    for (uint32_t kind = 0; kind < 4; kind++) {
        Fixture f;
        begin(&f, 8);
        GmRe re = letter(&f, 'a'), star;
        GmStatus status = GM_OK;
        uint32_t depth = 0, entry;
        OK(gm_re_rep(&f.rx, letter(&f, 'a'), 0, GM_INF, &star, &err));
        while (status == GM_OK && depth < 100000) {
            GmRe next = 0;
            depth++;
            if (kind == 0) {
                status = gm_re_rep(&f.rx, re, 2, 3, &next, &err);
            } else if (kind == 1) {
                status = gm_re_seq(&f.rx, re, star, &next, &err);
            } else if (kind == 2) {
                status = gm_re_rep(&f.rx, re, 1, 2, &next, &err);
                if (status == GM_OK) {
                    status = gm_re_and(&f.rx, next, star, &next, &err);
                }
            } else {
                GmRe b = letter(&f, (char)('b' + depth % 20));
                status = gm_re_seq(&f.rx, re, b, &next, &err);
                if (status == GM_OK) {
                    status = gm_re_sub(&f.rx, next, star, &next, &err);
                }
            }
            if (status == GM_OK) {
                re = next;
            }
        }
        CHECK_EQ(GM_LIMIT, status);
        CHECK(depth > 100 && depth < 100000);
        status = gm_re_deriv(&f.rx, re, 'a', &entry, &err);
        CHECK(status == GM_OK || status == GM_LIMIT);
        f.rx.scratch.len = f.rx.search.len = 0;
        status = gm_re_clamp(&f.rx, re, &re, &err);
        CHECK(status == GM_OK || status == GM_LIMIT);
        end(&f);
    }
}

/* Emptiness by lengths alone; and a search that would count for long ends by name. */
static void test_emptiness(void)
{
    Fixture f;
    begin(&f, 8);
    GmRe a = letter(&f, 'a'), any, star, longer, shorter, counted, out;
    OK(gm_re_alt2(&f.rx, a, letter(&f, 'b'), &any, &err));
    OK(gm_re_rep(&f.rx, a, 83886081, GM_INF, &longer, &err));
    OK(gm_re_rep(&f.rx, any, 2, 33554437, &shorter, &err));
    uint32_t before = f.rx.nodes.len;
    OK(gm_re_and(&f.rx, longer, shorter, &out, &err));
    CHECK_EQ(GM_RE_EMPTY, out);
    OK(gm_re_and(&f.rx, shorter, longer, &out, &err));
    CHECK_EQ(GM_RE_EMPTY, out);
    OK(gm_re_sub(&f.rx, longer, shorter, &out, &err));
    CHECK_EQ(longer, out);
    CHECK_EQ(before, f.rx.nodes.len);
    OK(gm_re_rep(&f.rx, any, 0, GM_INF, &star, &err));
    OK(gm_re_rep(&f.rx, a, 100000, GM_INF, &counted, &err));
    CHECK_EQ(GM_LIMIT, gm_re_and(&f.rx, counted, star, &out, &err));
    CHECK(strcmp(err.limit, "lexer_states") == 0);
    OK(gm_re_rep(&f.rx, a, 2000, 3000, &counted, &err));
    OK(gm_re_and(&f.rx, counted, star, &out, &err));
    CHECK(out != GM_RE_EMPTY);
    CHECK_EQ(2000, gm_re_node(&f.rx, out)->shortest);
    CHECK_EQ(3000, gm_re_node(&f.rx, out)->longest);
    end(&f);
}

/* Texts with each of n letters: 2^n states, of which a test needs some n. And such that none can match, deep inside. */
static void test_nested_emptiness(void)
{
    enum { LETTERS_ALL = 20 };
    Fixture f;
    begin(&f, 8);
    GmByteSet printable = {{0xfffffffe00000000u, 0x7fffffffffffffffu, 0, 0}};
    GmRe any, rest, all = GM_RE_EMPTY, has, only, out;
    OK(gm_re_set(&f.rx, &printable, &any, &err));
    OK(gm_re_rep(&f.rx, any, 0, GM_INF, &rest, &err));
    for (char i = 0; i < LETTERS_ALL; i++) {
        OK(gm_re_seq(&f.rx, letter(&f, (char)('A' + i)), rest, &has, &err));
        OK(gm_re_seq(&f.rx, rest, has, &has, &err));
        if (i == 0) {
            all = has;
        } else {
            OK(gm_re_and(&f.rx, has, all, &all, &err));
        }
        CHECK(all != GM_RE_EMPTY);
    }
    CHECK(f.rx.nodes.len < 20000);
    uint32_t entry = all;
    for (char i = LETTERS_ALL; i-- > 0;) {
        CHECK((entry & GM_RE_NULLABLE) == 0);
        OK(gm_re_deriv(&f.rx, GM_RE_ID(entry), (uint8_t)('A' + i), &entry, &err));
    }
    CHECK((entry & GM_RE_NULLABLE) != 0);
    CHECK(f.rx.nodes.len < 40000);
    OK(gm_re_rep(&f.rx, letter(&f, 'B'), 0, GM_INF, &only, &err)); /* no "A" in it */
    OK(gm_re_and(&f.rx, only, all, &out, &err));
    CHECK_EQ(GM_RE_EMPTY, out);
    end(&f);
}

/* Lengths beyond 32 bits: a sum or product that does not fit counts as no bound, and decides nothing wrongly. */
static void test_long_lengths(void)
{
    Fixture f;
    begin(&f, 8);
    GmRe a = letter(&f, 'a'), huge, seq, nested, short_one, out;
    OK(gm_re_rep(&f.rx, a, 0xfffffff0u, 0xfffffff0u, &huge, &err));
    OK(gm_re_seq(&f.rx, huge, huge, &seq, &err));
    CHECK_EQ(GM_INF, gm_re_node(&f.rx, seq)->shortest);
    CHECK_EQ(GM_INF, gm_re_node(&f.rx, seq)->longest);
    OK(gm_re_rep(&f.rx, huge, 65536, 65536, &nested, &err));
    CHECK_EQ(GM_INF, gm_re_node(&f.rx, nested)->shortest);
    OK(gm_re_seq(&f.rx, nested, huge, &nested, &err));
    CHECK_EQ(GM_INF, gm_re_node(&f.rx, nested)->shortest);
    OK(gm_re_rep(&f.rx, a, 1, 31, &short_one, &err));
    OK(gm_re_and(&f.rx, short_one, nested, &out, &err));
    CHECK_EQ(GM_RE_EMPTY, out);
    OK(gm_re_sub(&f.rx, nested, short_one, &out, &err));
    CHECK_EQ(nested, out);
    OK(gm_re_rep(&f.rx, short_one, 0, GM_INF, &out, &err));
    CHECK_EQ(0, gm_re_node(&f.rx, out)->shortest);
    CHECK_EQ(GM_INF, gm_re_node(&f.rx, out)->longest);
    CHECK_EQ(GM_LIMIT, gm_re_and(&f.rx, out, seq, &out, &err)); /* not empty: only a search could tell */
    end(&f);
}

/* Many tests that each look at the same states again: their steps are counted together. */
static void test_many_searches(void)
{
    Fixture f;
    begin(&f, 8);
    f.rx.max_nodes = 6400; /* one test may see 200 */
    GmRe a = letter(&f, 'a'), loop, left, right, out;
    OK(gm_re_rep(&f.rx, a, 150, 150, &loop, &err));
    OK(gm_re_rep(&f.rx, loop, 0, GM_INF, &left, &err)); /* lengths 0 and 1 mod 150: nothing in common */
    OK(gm_re_seq(&f.rx, left, letter(&f, 'z'), &left, &err));
    OK(gm_re_seq(&f.rx, a, left, &right, &err));
    GmStatus status = GM_OK;
    uint32_t done = 0;
    while (status == GM_OK && done < 100) { /* each finds a text, after all that starts with 'a' */
        GmByteSet set = {{0, (uint64_t)(1 + done++) << ('b' - 64), 0, 0}};
        GmRe other, x, y;
        OK(gm_re_set(&f.rx, &set, &other, &err));
        OK(gm_re_seq(&f.rx, letter(&f, 'b'), other, &other, &err));
        OK(gm_re_seq(&f.rx, other, letter(&f, 'c'), &x, &err));
        OK(gm_re_seq(&f.rx, a, left, &out, &err));
        OK(gm_re_alt2(&f.rx, x, out, &x, &err)); /* a left | b set c */
        OK(gm_re_rep(&f.rx, letter(&f, 'c'), 1, 2, &y, &err));
        OK(gm_re_seq(&f.rx, other, y, &y, &err));
        OK(gm_re_seq(&f.rx, a, right, &out, &err));
        OK(gm_re_alt2(&f.rx, y, out, &y, &err)); /* a right | b set c{1,2} */
        status = gm_re_and(&f.rx, x, y, &out, &err);
        CHECK(status != GM_OK || out != GM_RE_EMPTY);
    }
    CHECK_EQ(GM_LIMIT, status);
    CHECK(strcmp(err.limit, "lexer_states") == 0);
    CHECK(done > 30);
    CHECK(f.rx.nodes.len < 3000);
    end(&f);
}

int main(void)
{
    RUN(test_random_languages);
    RUN(test_loops);
    RUN(test_characters);
    RUN(test_wide_nodes);
    RUN(test_nesting);
    RUN(test_emptiness);
    RUN(test_nested_emptiness);
    RUN(test_long_lengths);
    RUN(test_many_searches);
    RUN(test_shared_nodes);
    return check_result();
}
