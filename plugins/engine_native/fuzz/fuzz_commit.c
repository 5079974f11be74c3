/* Property: a text committed in one call, byte by byte, or in pieces with rollbacks between is accepted alike;
 * what was undone leaves no trace. Input: how to cut, then the text, over a grammar of lists, sums and words. */
#include "fuzz.h"
#include "gm_lower_lex.h"
#include "gm_state.h"

#include <string.h>

/* value: "[" (value ("," value)*)? "]" | sum | word;  sum: sum "+" digit | digit;  blanks anywhere */
static GmConstraint *grammar(void)
{
    static GmConstraint *made;
    static const uint32_t ids[] = {0, 1};
    static const int64_t off[] = {0, 2, 3};
    static const int32_t rows[] = {
        IR_LITERAL, 0, 1, 0,       /* 0  [ */
        IR_LITERAL, 1, 1, 0,       /* 1  ] */
        IR_LITERAL, 2, 1, 0,       /* 2  , */
        IR_LITERAL, 3, 1, 0,       /* 3  + */
        IR_CHARS, 0, 1, 0,         /* 4  digits */
        IR_CHARS, 2, 2, 0,         /* 5  letters */
        IR_LEX_REPEAT, 5, 1, -1,   /* 6 */
        IR_LITERAL, 4, 1, 0,       /* 7  blank */
        IR_TERMINAL, 0, 0, -1,     /* 8 */
        IR_TERMINAL, 1, 0, -1,     /* 9 */
        IR_TERMINAL, 2, 0, -1,     /* 10 */
        IR_TERMINAL, 3, 0, -1,     /* 11 */
        IR_TERMINAL, 4, 0, -1,     /* 12 */
        IR_TERMINAL, 6, 0, -1,     /* 13 */
        IR_CALL, 0, 0, 0,          /* 14 value */
        IR_CALL, 1, 0, 0,          /* 15 sum */
        IR_SEPARATED, 6, 0, -1,    /* 16 */
        IR_SEQ, 8, 3, 0,           /* 17 */
        IR_CHOICE, 11, 3, 0,       /* 18 */
        IR_SEQ, 14, 3, 0,          /* 19 */
        IR_CHOICE, 17, 2, 0,       /* 20 */
        IR_SCOPE, 14, 7, 0,        /* 21 */
    };
    static const int32_t args[] = {'0', '9', 'a', 'z', 0xe0, 0x20ff, 14, 10, 8, 16, 9, 17, 15, 13, 15, 11, 12, 19, 12};
    static const int32_t rules[] = {0, 18, 1, 20};
    if (made == NULL) {
        GmVocab *vocab = gm_vocab_new(ids, off, (const uint8_t *)"[[a", 2, 64, NULL);
        GmOptions options = {.memory_bytes = 64 << 20, .state_bytes = 64 << 20, .mask_cache_bytes = 1 << 16, .states = 20000, .lexer_states = 20000,
                             .expansion = 500, .mode = 1};
        made = gm_constraint_new(vocab, rows, 22, args, 19, (const uint8_t *)"[],+ ", 5, rules, 2, 21, &options, NULL);
        FUZZ_CHECK(made != NULL);
        gm_vocab_free(vocab); /* the constraint keeps it */
    }
    return made;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Input in = {data, data + size};
    uint32_t cuts = fuzz_byte(&in);
    uint8_t text[1000];
    size_t n = 0;
    while (in.at < in.end && n < sizeof text) { /* control characters stand for what the grammar has */
        uint32_t byte = fuzz_byte(&in);
        text[n++] = byte < 32 ? (uint8_t)"[[],,1+1 a"[byte % 10] : (uint8_t)byte;
    }
    GmState *whole = gm_state_new(grammar(), 1, NULL), *bytes = gm_state_new(grammar(), 0, NULL);
    GmState *pieces = gm_state_new(grammar(), 3, NULL);
    int all = gm_state_commit_bytes(whole, text, n, NULL), one = 0, some = 0;
    for (size_t i = 0; i < n && one == 0; i++) {
        one = gm_state_commit_bytes(bytes, text + i, 1, NULL);
    }
    for (size_t i = 0; i < n && some == 0;) {
        size_t len = 1 + (cuts + i) % 7;
        len = len < n - i ? len : n - i;
        GmState *copy = gm_state_clone(pieces, NULL);
        (void)gm_state_commit_bytes(copy, text, n - i, NULL); /* most often nonsense here */
        FUZZ_CHECK(gm_state_rollback(copy, 1, NULL) == 1);
        gm_state_free(pieces);
        pieces = copy;
        some = gm_state_commit_bytes(pieces, text + i, len, NULL);
        i += len;
    }
    FUZZ_CHECK(all == one && all == some && (all == 0 || all == 4));
    int flags = gm_state_flags(whole, NULL);
    FUZZ_CHECK(flags == gm_state_flags(bytes, NULL) && flags == gm_state_flags(pieces, NULL));
    uint32_t a[1] = {0}, b[1] = {0}, c[1] = {0};
    FUZZ_CHECK(gm_state_mask(whole, a, 1, NULL) == 0 && gm_state_mask(bytes, b, 1, NULL) == 0 && gm_state_mask(pieces, c, 1, NULL) == 0);
    FUZZ_CHECK(a[0] == b[0] && a[0] == c[0]);
    gm_state_free(whole);
    gm_state_free(bytes);
    gm_state_free(pieces);
    return 0;
}
