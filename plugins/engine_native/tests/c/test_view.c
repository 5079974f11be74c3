/* Steps and views against their definition: a token read inside one terminal, and a token read by two. */
#include "gm_view.h"
#include "languages.h"

enum { LANGUAGES = 14, WORDS = 3 };

static Counting counting;
static GmMem mem;
static GmArena arena;
static GmViews views;
static GmRe language[LANGUAGES];

static void make_languages(void)
{
    GmRe quote = lit("\""), letters = rep(one_of("abcdefinxy", false), 1, GM_INF), without = 0;
    OK(gm_re_sub(&rx, letters, lit("if"), &without, &err));
    GmRe made[LANGUAGES] = {
        lit("a"),
        lit("ab"),
        rep(lit("a"), 1, GM_INF),
        rep(lit("ab"), 1, 2),
        alt(lit("a"), lit("aab")), /* after "a", "ab" may still follow: it owes */
        rep(one_of(" \n", false), 1, GM_INF),
        letters,
        without,
        seq(quote, seq(rep(one_of("\"", true), 0, GM_INF), quote)),
        seq(quote, rep(one_of("\"", true), 0, 3)),
        rep(one_of("123", false), 2, 9),
        seq(rep(lit("b"), 0, GM_INF), alt(lit("a"), lit("abab"))),
        rep(one_of("[](),", false), 1, 2),
        one_of("", true),
    };
    for (uint32_t i = 0; i < LANGUAGES; i++) {
        OK(gm_re_clamp(&rx, made[i], &language[i], &err));
    }
}

/* How far `re` reads text: alive[i] and full[i] after i bytes. */
static void read_text(GmRe re, const char *text, size_t n, bool *alive, bool *full)
{
    uint32_t entry = re | (gm_re_nullable(&rx, re) ? GM_RE_NULLABLE : 0);
    for (size_t i = 0; i <= n; i++) {
        alive[i] = entry != 0;
        full[i] = (entry & GM_RE_NULLABLE) != 0;
        uint32_t next = 0;
        if (i < n && entry != 0) {
            OK(gm_re_deriv(&rx, GM_RE_ID(entry), (uint8_t)text[i], &next, &err));
        }
        entry = next;
    }
}

static void check_words(const char *what, uint32_t a, uint32_t b, const uint32_t *want, const uint32_t *got)
{
    for (uint32_t id = 0; id < N_OF(WORLD_TEXTS); id++) {
        bool w = (want[id >> 5] >> (id & 31) & 1) != 0, g = (got[id >> 5] >> (id & 31) & 1) != 0;
        if (w != g) {
            printf("%s, languages %u and %u, token \"%s\": %d, expected %d\n", what, a, b, WORLD_TEXTS[id], g, w);
            check_failed();
        }
    }
}

static void check_one(uint32_t a, bool exempt)
{
    uint32_t want[WORDS] = {0}, got[WORDS] = {0}, step;
    for (uint32_t id = 0; id < N_OF(WORLD_TEXTS); id++) {
        bool alive[16], full[16];
        size_t n = strlen(WORLD_TEXTS[id]);
        read_text(language[a], WORLD_TEXTS[id], n, alive, full);
        if (alive[n]) {
            gm_bits_set(want, id);
        }
    }
    OK(gm_view_step(&views, GM_BASE_ROOT, gm_lex(language[a], exempt), &step, &err));
    gm_toks_or(&gm_step_at(&views, step)->inside, got, views.trie->n_words);
    check_words("inside", a, a, want, got);
}

/* Tokens u v: u matches a, v is read by b, and a matches no longer beginning of u v (unless it is exempt). */
static void check_two(uint32_t a, bool exempt, uint32_t b)
{
    uint32_t want[WORDS] = {0}, got[WORDS] = {0}, step;
    for (uint32_t id = 0; id < N_OF(WORLD_TEXTS); id++) {
        bool alive[16], full[16], alive_b[16], full_b[16];
        size_t n = strlen(WORLD_TEXTS[id]);
        read_text(language[a], WORLD_TEXTS[id], n, alive, full);
        for (size_t cut = 1; cut < n; cut++) {
            bool longer = false;
            for (size_t i = cut + 1; i <= n && !exempt; i++) {
                longer = longer || full[i];
            }
            read_text(language[b], WORLD_TEXTS[id] + cut, n - cut, alive_b, full_b);
            if (full[cut] && !longer && alive_b[n - cut]) {
                gm_bits_set(want, id);
            }
        }
    }
    OK(gm_view_step(&views, GM_BASE_ROOT, gm_lex(language[a], exempt), &step, &err));
    const GmView *after = gm_view_at(&views, gm_step_at(&views, step)->after);
    for (uint32_t i = 0; i < after->n; i++) {
        uint32_t next;
        OK(gm_view_step(&views, after->bases[i], gm_lex(language[b], false), &next, &err));
        gm_toks_or(&gm_step_at(&views, next)->inside, got, views.trie->n_words);
    }
    check_words("after", a, b, want, got);
}

/* Tokens that may follow while `debt` is owed: those of which no beginning fulfils it. */
static void check_whole(uint32_t debt)
{
    uint32_t want[WORDS] = {0}, got[WORDS] = {0}, view, anything;
    for (uint32_t id = 0; id < N_OF(WORLD_TEXTS); id++) {
        bool alive[16], full[16], violated = false;
        size_t n = strlen(WORLD_TEXTS[id]);
        read_text(language[debt], WORLD_TEXTS[id], n, alive, full);
        for (size_t i = 1; i <= n; i++) {
            violated = violated || full[i];
        }
        if (!violated) {
            gm_bits_set(want, id);
        }
    }
    OK(gm_view_whole(&views, language[debt], &view, &err));
    GmRe all = rep(one_of("", true), 1, GM_INF);
    const GmView *v = gm_view_at(&views, view);
    for (uint32_t i = 0; i < v->n; i++) {
        OK(gm_view_step(&views, v->bases[i], gm_lex(all, false), &anything, &err));
        gm_toks_or(&gm_step_at(&views, anything)->inside, got, views.trie->n_words);
    }
    check_words("under a debt", debt, debt, want, got);
}

static void with_views(GmShared *shared, const GmTrie *trie, bool whole)
{
    counting_mem(&counting, &mem, 64 << 20);
    gm_arena_init(&arena, &mem);
    OK(gm_re_init(&rx, &mem, &arena, trie->longest, 100000, &err));
    OK(gm_views_init(&views, &mem, &arena, &rx, trie, shared, &err));
    make_languages();
    for (uint32_t a = 0; a < LANGUAGES; a++) {
        check_one(a, false);
        check_one(a, true);
        if (whole) {
            check_whole(a);
        }
        for (uint32_t b = 0; b < LANGUAGES; b++) {
            check_two(a, false, b);
            check_two(a, true, b);
        }
    }
    gm_views_deinit(&views);
    gm_re_deinit(&rx);
    gm_arena_deinit(&arena);
    CHECK_EQ(0, counting.blocks);
}

static void test_alone(void)
{
    GmVocab *vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    with_views(NULL, &vocab->trie, true);
    gm_vocab_free(vocab);
}

/* Twice over one vocabulary: the second time finds what the first one left there. */
static void test_shared(void)
{
    GmVocab *vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    with_views(vocab->shared, &vocab->trie, false);
    with_views(vocab->shared, &vocab->trie, false);
    gm_vocab_free(vocab);
}

int main(void)
{
    RUN(test_alone);
    RUN(test_shared);
    return check_result();
}
