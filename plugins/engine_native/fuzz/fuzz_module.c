/* Property: any arrays whatever are refused as malformed or by a limit, or give a constraint whose masks and
 * commits agree. Input: counts of nodes, args, rules and blob, the root, the mode; then their numbers. */
#include "fuzz.h"
#include "gm_state.h"

enum { MOST = 200 };

static GmVocab *vocabulary(void)
{
    static const uint32_t ids[] = {0, 1, 2, 3, 4, 5, 40};
    static const int64_t off[] = {0, 1, 2, 4, 6, 7, 9, 9};
    static GmVocab *vocab;
    if (vocab == NULL) {
        vocab = gm_vocab_new(ids, off, (const uint8_t *)"ababba\xc3\xa9[", 7, 64, NULL);
    }
    return vocab;
}

/* Masks and commits along the first tokens allowed. */
static void use(GmConstraint *c)
{
    uint64_t width = gm_constraint_width(c), n_words = (width + 31) / 32;
    if (width > 1 << 16) {
        return;
    }
    uint32_t *words = calloc(n_words + 1, sizeof *words);
    GmState *s = gm_state_new(c, 2, NULL);
    FUZZ_CHECK(words != NULL && s != NULL);
    for (uint32_t step = 0; step < 4; step++) {
        GmError err;
        if (gm_state_mask(s, words, n_words, &err) != 0) {
            FUZZ_CHECK(err.status == GM_LIMIT);
            break;
        }
        uint32_t pick = UINT32_MAX;
        for (uint32_t id = 0; id < width; id++) {
            GmState *copy = gm_state_clone(s, NULL);
            int code = gm_state_commit_token(copy, id, &err);
            bool bit = (words[id >> 5] >> (id & 31) & 1) != 0;
            FUZZ_CHECK(code == 7 || code == 3 || bit == (code == 0));
            FUZZ_CHECK(code != 3 || !bit);
            pick = bit ? id : pick;
            gm_state_free(copy);
        }
        if (pick == UINT32_MAX || gm_state_commit_token(s, pick, &err) != 0) {
            break;
        }
    }
    gm_state_free(s);
    free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Input in = {data, data + size};
    int32_t rows[4 * MOST], args[MOST], rules[2 * MOST];
    uint8_t blob[MOST];
    uint32_t n_nodes = fuzz_byte(&in) % MOST, n_args = fuzz_byte(&in) % MOST, n_rules = fuzz_byte(&in) % 16;
    uint32_t n_blob = fuzz_byte(&in) % MOST, root = fuzz_byte(&in);
    GmOptions options = {.memory_bytes = 8 << 20, .state_bytes = 8 << 20, .mask_cache_bytes = 1 << 16, .static_work = 10000, .static_bytes = 1 << 20,
                         .states = 2000, .lexer_states = 2000, .expansion = 500, .static_pairs = 500, .mode = fuzz_byte(&in) % 4};
    for (uint32_t i = 0; i < 4 * n_nodes; i++) {
        rows[i] = fuzz_number(&in);
    }
    for (uint32_t i = 0; i < n_args; i++) {
        args[i] = fuzz_number(&in);
    }
    for (uint32_t i = 0; i < 2 * n_rules; i++) {
        rules[i] = fuzz_number(&in);
    }
    for (uint32_t i = 0; i < n_blob; i++) {
        blob[i] = (uint8_t)fuzz_byte(&in);
    }
    GmError err = {0, 0, "", ""};
    GmConstraint *c = gm_constraint_new(vocabulary(), rows, n_nodes, args, n_args, blob, n_blob, rules, n_rules, root, &options, &err);
    if (c == NULL) {
        FUZZ_CHECK(err.status == GM_ARG || err.status == GM_LIMIT);
        FUZZ_CHECK(err.text[0] != 0 && (err.status != GM_LIMIT || err.limit[0] != 0));
        return 0;
    }
    use(c);
    gm_constraint_free(c);
    return 0;
}
