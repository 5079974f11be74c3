/* The vocabulary and its trie against plain lists. */
#include "check.h"
#include "gm_groups.h"
#include "gm_utf8.h"
#include "gm_vocab.h"

enum { MOST = 300 };

typedef struct Texts {
    uint32_t ids[MOST];
    int64_t off[MOST + 1];
    uint8_t blob[MOST * 12];
    uint32_t n;
} Texts;

static GmError err;

static void make_texts(Texts *t, Rand *r)
{
    static const char *const pieces[] = {"a", "b", "A", "z", "0", "7", " ", "\n", "\t", "\"", "{", "~", "\x7f", "\xc3\xa9", "\xc3", "\xa9", "\xe2\x82\xac", "\xe2\x82", "\xf0\x9f\x98\x80", "\xff"};
    uint32_t id = 0, letters = 2 + rand_below(r, 18);
    t->n = rand_below(r, MOST);
    int64_t at = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        id += 1 + rand_below(r, i % 5 == 0 ? 40 : 2);
        t->ids[i] = id;
        t->off[i] = at;
        uint32_t n = rand_below(r, 4); /* none: known by its id only */
        for (uint32_t k = 0; k < n; k++) {
            const char *piece = pieces[rand_below(r, letters)];
            memcpy(t->blob + at, piece, strlen(piece));
            at += (int64_t)strlen(piece);
        }
    }
    t->off[t->n] = at;
}

static uint64_t groups_of(const uint8_t *text, uint64_t n)
{
    uint64_t groups = 0;
    for (uint64_t i = 0; i < n;) {
        if (text[i] < 0x80) {
            groups |= (uint64_t)1 << gm_group_of(text[i++]);
            continue;
        }
        uint8_t state = gm_utf8_next(GM_UTF8_START, text[i++]);
        while (i < n && state != GM_UTF8_START && state != GM_UTF8_BAD) {
            state = gm_utf8_next(state, text[i++]);
        }
        if (state == GM_UTF8_BAD) {
            return groups | (uint64_t)1 << GM_GROUP_BAD; /* what comes after it does not matter */
        }
        groups |= (uint64_t)1 << GM_GROUP_UTF8;
    }
    return groups;
}

/* Check the node of a prefix: tokens that end there, tokens and groups below. */
static void check_node(const Texts *t, const GmTrie *trie, uint32_t node, const uint8_t *prefix, uint64_t depth)
{
    uint32_t here = 0, below = 0, height = 0;
    uint64_t groups = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        uint64_t len = (uint64_t)(t->off[i + 1] - t->off[i]);
        const uint8_t *text = t->blob + t->off[i];
        if (len == 0 || len < depth || memcmp(text, prefix, depth) != 0) {
            continue;
        }
        here += len == depth;
        below++;
        height = len - depth > height ? (uint32_t)(len - depth) : height;
        groups |= groups_of(text + depth, len - depth);
    }
    const GmTrieNode *n = &trie->nodes[node];
    CHECK_EQ(here, trie->nodes[node + 1].token - n->token);
    CHECK_EQ(below, trie->nodes[n->end].token - n->token);
    CHECK_EQ(height, n->height);
    uint64_t known = trie->groups[node], bad = (uint64_t)1 << GM_GROUP_BAD, cut = (uint64_t)1 << GM_GROUP_UTF8;
    CHECK_EQ(groups & bad, known & bad);
    CHECK((groups & ~(known | bad | cut)) == 0 || (known & bad) != 0); /* nothing is missing */
    CHECK((groups & cut) == 0 || (known & (cut | bad)) != 0);
}

static void check_tree(const Texts *t, const GmTrie *trie)
{
    uint8_t prefix[64] = {0};
    uint32_t path[64] = {0}, depth = 0;
    for (uint32_t node = 0; node < trie->n_nodes; node++) {
        while (depth > 0 && node >= trie->nodes[path[depth]].end) {
            depth--;
        }
        if (node > 0) {
            path[++depth] = node;
            prefix[depth - 1] = trie->nodes[node].byte;
            CHECK(trie->nodes[node].end > node && trie->nodes[node].end <= trie->nodes[path[depth - 1]].end);
        }
        check_node(t, trie, node, prefix, depth);
    }
}

static void test_random_vocabularies(void)
{
    static Texts t;
    for (uint64_t seed = 0; seed < 25; seed++) {
        Counting c;
        Rand r = {seed};
        memset(&c, 0, sizeof c);
        make_texts(&t, &r);
        GmVocab *v = gm_vocab_new_with(counting_resize, &c, t.ids, t.off, t.blob, t.n, 64, &err);
        CHECK(v != NULL);
        check_tree(&t, &v->trie);
        uint32_t with_bytes = 0;
        for (uint32_t i = 0; i < t.n; i++) {
            const uint8_t *bytes;
            uint64_t n;
            CHECK(gm_vocab_find(v, t.ids[i], &bytes, &n));
            CHECK_EQ(t.off[i + 1] - t.off[i], n);
            CHECK(memcmp(bytes, t.blob + t.off[i], n) == 0);
            if (i > 0 && t.ids[i] > t.ids[i - 1] + 1) {
                CHECK(!gm_vocab_find(v, t.ids[i] - 1, &bytes, &n));
            }
            CHECK(n == 0 || (v->trie.all[t.ids[i] >> 5] >> (t.ids[i] & 31) & 1) != 0);
            with_bytes += n > 0;
        }
        const uint8_t *bytes;
        uint64_t n;
        CHECK(!gm_vocab_find(v, t.n > 0 ? t.ids[t.n - 1] + 1 : 0, &bytes, &n));
        CHECK(!gm_vocab_find(v, UINT32_MAX, &bytes, &n));
        CHECK_EQ(with_bytes, v->trie.n_tokens);
        gm_vocab_retain(v);
        gm_vocab_free(v);
        gm_vocab_free(v);
        CHECK_EQ(0, c.blocks);
    }
}

static void test_sparse_ids(void)
{
    const uint32_t ids[] = {3, 1000000, UINT32_MAX - 1};
    const int64_t off[] = {0, 1, 3, 4};
    GmVocab *v = gm_vocab_new(ids, off, (const uint8_t *)"abbc", 3, 64, &err);
    const uint8_t *bytes;
    uint64_t n;
    CHECK(v != NULL && gm_vocab_find(v, 1000000, &bytes, &n) && n == 2 && memcmp(bytes, "bb", 2) == 0);
    CHECK(!gm_vocab_find(v, 999999, &bytes, &n) && !gm_vocab_find(v, UINT32_MAX, &bytes, &n));
    gm_vocab_free(v);
}

static void test_refused(void)
{
    const uint32_t ids[] = {1, 2, 3}, turned[] = {1, 3, 2}, twice[] = {1, 2, 2};
    const int64_t off[] = {0, 1, 2, 3}, back[] = {0, 2, 1, 3}, negative[] = {-1, 1, 2, 3};
    const uint8_t *blob = (const uint8_t *)"abc";
    CHECK(gm_vocab_new(turned, off, blob, 3, 64, &err) == NULL && err.status == GM_ARG);
    CHECK(gm_vocab_new(twice, off, blob, 3, 64, &err) == NULL && err.status == GM_ARG);
    CHECK(gm_vocab_new(ids, back, blob, 3, 64, &err) == NULL && err.status == GM_ARG);
    CHECK(gm_vocab_new(ids, negative, blob, 3, 64, &err) == NULL && err.status == GM_ARG);
    CHECK(gm_vocab_new(ids, off, blob, 3, 0, &err) == NULL && err.status == GM_LIMIT && strcmp(err.limit, "token_bytes") == 0);
}

int main(void)
{
    RUN(test_random_vocabularies);
    RUN(test_sparse_ids);
    RUN(test_refused);
    return check_result();
}
