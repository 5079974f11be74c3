/* Steps by difference (gm_like) against walks of the same states: tokens and entries, for free keys that are not
 * declared ones, half-found patterns and identifiers that are not keywords, over some thousand tokens. */
#include "gm_view_entries.h"
#include "languages.h"

enum { TOKENS = 5000, LONGEST = 24, WORDS = (TOKENS + 31) / 32, ENTRIES = 1 << 16 };

static Counting counting;
static GmMem mem;
static GmArena arena;
static GmViews views[2];
static char text[TOKENS][LONGEST + 1];
static const char *list[TOKENS];
static uint32_t taken; /* steps that were made by difference */

static GmRe less(GmRe a, const char *const *words, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        OK(gm_re_sub(&rx, a, lit(words[i]), &a, &err));
    }
    return a;
}

static int compare(const void *x, const void *y)
{
    const GmEntry *a = x, *b = y;
    return a->node != b->node ? (a->node > b->node) - (a->node < b->node) : (a->debt > b->debt) - (a->debt < b->debt);
}

/* What a view holds, sorted. */
static uint32_t gather(GmViews *vs, uint32_t view, GmEntry *out)
{
    uint32_t n = 0;
    const GmView *v = gm_view_at(vs, view);
    for (uint32_t i = 0; i < v->n; i++) {
        const GmBase *b = gm_pool_at(&vs->bases, v->bases[i]);
        uint32_t count = 0;
        for (uint32_t k = 0; k < b->n_buckets; k++) {
            CHECK(k == 0 || b->buckets[k - 1].byte <= b->buckets[k].byte);
            for (uint32_t j = b->buckets[k].start; j < b->buckets[k].end; j++) {
                CHECK_EQ(b->buckets[k].byte, vs->trie->nodes[b->entries[j].node].byte);
                out[n++] = b->entries[j];
                count++;
            }
        }
        CHECK_EQ(b->n_entries, count);
    }
    qsort(out, n, sizeof *out, compare);
    return n;
}

static void compare_steps(GmRe re, bool exempt)
{
    static GmEntry entries[2][ENTRIES];
    uint32_t words[2][WORDS] = {{0}}, n[2];
    GmStep made;
    bool found;
    OK(gm_step_like(&views[0], gm_lex(re, exempt), &made, &found, &err));
    taken += found;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t step;
        OK(gm_step_of(&views[i], GM_BASE_ROOT, gm_lex(re, exempt), i == 0, &step, &err));
        gm_toks_or(&gm_step_at(&views[i], step)->inside, words[i], views[i].trie->n_words);
        n[i] = gather(&views[i], gm_step_at(&views[i], step)->after, entries[i]);
    }
    CHECK(memcmp(words[0], words[1], sizeof words[0]) == 0);
    CHECK_EQ(n[1], n[0]);
    CHECK(n[0] != n[1] || memcmp(entries[0], entries[1], n[0] * sizeof(GmEntry)) == 0);
}

/* The state after each beginning of some words, and what stands before them. */
static void follow(GmRe start, const char *const *words, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t entry = start;
        for (const char *p = words[i];; p++) {
            compare_steps(GM_RE_ID(entry), false);
            compare_steps(GM_RE_ID(entry), true);
            if (*p == 0) {
                break;
            }
            OK(gm_re_deriv(&rx, GM_RE_ID(entry), (uint8_t)*p, &entry, &err));
            if (entry == 0 || GM_RE_ID(entry) == GM_RE_EPS) {
                break;
            }
        }
    }
}

static void make_tokens(void)
{
    static const char letters[] = "abcde\"x:, 1";
    Rand r = {5};
    for (uint32_t i = 0; i < TOKENS; i++) {
        uint32_t size = 1 + rand_below(&r, i % 8 == 0 ? LONGEST : 6);
        for (uint32_t k = 0; k < size; k++) {
            text[i][k] = i < sizeof letters - 1 ? letters[i] : letters[rand_below(&r, i % 8 == 0 ? 4 : sizeof letters - 1)];
        }
        text[i][i < sizeof letters - 1 ? 1 : size] = 0;
        list[i] = text[i];
    }
}

static void test_like_walks(void)
{
    static const char *const keys[] = {"abc\"", "abd\"", "b\"", "cde\"", "eee\"", "aaaaaaaa\""};
    static const char *const words[] = {"abc", "ab", "cde", "x", "aaaa"};
    make_tokens();
    GmVocab *vocab = world_vocab(list, TOKENS);
    counting_mem(&counting, &mem, 256 << 20);
    gm_arena_init(&arena, &mem);
    OK(gm_re_init(&rx, &mem, &arena, vocab->trie.longest, 100000, &err));
    OK(gm_views_init(&views[0], &mem, &arena, &rx, &vocab->trie, vocab->shared, &err));
    OK(gm_views_init(&views[1], &mem, &arena, &rx, &vocab->trie, NULL, &err));
    GmRe body = seq(rep(one_of("\"", true), 0, GM_INF), lit("\"")), letter = one_of("abcdex1", false), any = one_of("", true);
    follow(less(body, keys, N_OF(keys)), keys, N_OF(keys));
    follow(less(rep(letter, 1, GM_INF), words, N_OF(words)), words, N_OF(words));
    GmRe found = 0, with = seq(rep(any, 0, GM_INF), seq(lit("abca"), rep(any, 0, GM_INF)));
    OK(gm_re_and(&rx, body, with, &found, &err));
    follow(found, (const char *const[]){"abab", "xabcab", "ab", "ccabcaab"}, 4);
    OK(gm_re_sub(&rx, body, with, &found, &err));
    follow(found, (const char *const[]){"abab", "abcb", "aa"}, 3);
    CHECK(taken > 40);
    /* Counts that are used up inside tokens: before a rest, at the end (owing), with a minimum, of two bytes or one. */
    const char *const runs[] = {"abcdabcdabcd", "aaaaaaaaaaaaaaaaaa"};
    GmRe pair = alt(letter, lit("\"x")), inner = one_of("\"", true);
    uint32_t before = taken;
    follow(seq(rep(inner, 0, 25), lit("\"")), runs, 2);
    follow(seq(rep(inner, 3, 18), lit("\"")), runs, 2);
    follow(rep(letter, 1, 20), runs, 2);
    follow(seq(rep(pair, 0, 16), lit(":")), runs, 2);
    follow(seq(lit("a"), seq(rep(letter, 2, 15), rep(one_of("b\"", false), 0, 14))), runs, 2);
    CHECK(taken - before > 20);
    gm_views_deinit(&views[0]);
    gm_views_deinit(&views[1]);
    gm_re_deinit(&rx);
    gm_arena_deinit(&arena);
    CHECK_EQ(0, counting.blocks);
    gm_vocab_free(vocab);
}

int main(void)
{
    RUN(test_like_walks);
    return check_result();
}
