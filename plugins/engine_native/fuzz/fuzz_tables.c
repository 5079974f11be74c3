/* Property: any bytes whatever in place of saved tables are refused as such or by a limit, or give a constraint whose
 * masks hold tokens of the vocabulary only and whose commits end. Input: 0 and the tables, or edits of good ones:
 * (place in two bytes, kind, byte) again and again. */
#include "fuzz.h"
#include "gm_lower_lex.h"
#include "gm_state.h"

#include <string.h>

enum { TEXTS = 1000, WORDS = 40 };

/* value: "[" (value ("," value)*)? "]" | "\"" [^"]* "\"" | [a-z]{1,30} - "if" | [0-9]{1,5} & [0-4]*; blanks anywhere.
 * With more tokens than a list of ids may hold, so that there are dense sets. */
static const int32_t rows[] = {
    IR_LITERAL, 0, 1, 0,        /* 0  [ */
    IR_LITERAL, 1, 1, 0,        /* 1  ] */
    IR_LITERAL, 2, 1, 0,        /* 2  , */
    IR_LITERAL, 3, 1, 0,        /* 3  " */
    IR_CHARS, 0, 3, 0,          /* 4  all but " */
    IR_LEX_REPEAT, 4, 0, -1,    /* 5 */
    IR_LEX_SEQ, 12, 3, 0,       /* 6  string */
    IR_CHARS, 6, 1, 0,          /* 7  a-z */
    IR_LEX_REPEAT, 7, 1, 30,    /* 8 */
    IR_LITERAL, 4, 2, 0,        /* 9  if */
    IR_WITHOUT, 8, 9, 0,        /* 10 word */
    IR_CHARS, 8, 1, 0,          /* 11 0-9 */
    IR_LEX_REPEAT, 11, 1, 5,    /* 12 */
    IR_CHARS, 10, 1, 0,         /* 13 0-4 */
    IR_LEX_REPEAT, 13, 0, -1,   /* 14 */
    IR_BOTH, 12, 14, 0,         /* 15 number */
    IR_LITERAL, 6, 1, 0,        /* 16 blank */
    IR_TERMINAL, 0, 0, -1,      /* 17 */
    IR_TERMINAL, 1, 0, -1,      /* 18 */
    IR_TERMINAL, 2, 0, -1,      /* 19 */
    IR_TERMINAL, 6, 0, -1,      /* 20 */
    IR_TERMINAL, 10, 0, -1,     /* 21 */
    IR_TERMINAL, 15, 0, -1,     /* 22 */
    IR_CALL, 0, 0, 0,           /* 23 */
    IR_SEPARATED, 15, 0, -1,    /* 24 */
    IR_SEQ, 17, 3, 0,           /* 25 */
    IR_CHOICE, 20, 4, 0,        /* 26 */
    IR_SCOPE, 23, 16, 0,        /* 27 */
};
static const int32_t args[] = {0x20, 0x21, 0x23, 0xd7ff, 0xe000, 0x10ffff, 'a', 'z', '0', '9', '0', '4',
                               3, 5, 3, 23, 19, 17, 24, 18, 25, 20, 21, 22};
static const int32_t rules[] = {0, 26};

static GmVocab *vocabulary(void)
{
    static GmVocab *vocab;
    static uint32_t ids[TEXTS];
    static int64_t off[TEXTS + 1];
    static uint8_t blob[4 * TEXTS];
    if (vocab == NULL) {
        int64_t n = 0;
        for (uint32_t i = 0; i < TEXTS; i++) {
            ids[i] = i;
            off[i] = n;
            if (i < 256) {
                blob[n++] = (uint8_t)i;
                continue;
            }
            for (uint32_t k = i; k > 9; k /= 10) {
                blob[n++] = (uint8_t)"ab01\", []c"[k % 10];
            }
        }
        off[TEXTS] = n;
        vocab = gm_vocab_new(ids, off, blob, TEXTS, 64, NULL);
        FUZZ_CHECK(vocab != NULL);
    }
    return vocab;
}

static GmConstraint *loaded(const uint8_t *tables, uint64_t n, GmError *err)
{
    GmOptions options = {.memory_bytes = 64 << 20, .state_bytes = 64 << 20, .mask_cache_bytes = 1 << 16,
                         .static_work = 1 << 24, .static_bytes = 64 << 20, .states = 20000, .lexer_states = 20000,
                         .expansion = 500, .static_pairs = 100000, .mode = 3};
    const uint32_t n_rows = (uint32_t)(sizeof rows / sizeof *rows) / 4, n_args = (uint32_t)(sizeof args / sizeof *args);
    const uint8_t *blob = (const uint8_t *)"[],\"if ";
    return gm_constraint_load(vocabulary(), rows, n_rows, args, n_args, blob, 7, rules, 1, 27, tables, n, &options, err);
}

static const GmBytes *good(void)
{
    static GmBytes *bytes;
    if (bytes == NULL) {
        GmConstraint *c = loaded(NULL, 0, NULL);
        FUZZ_CHECK(c != NULL);
        bytes = gm_constraint_save(c, NULL);
        FUZZ_CHECK(bytes != NULL && gm_bytes_size(bytes) > 100);
        gm_constraint_free(c);
    }
    return bytes;
}

static void use(GmConstraint *c)
{
    GmState *s = gm_state_new(c, 0, NULL);
    FUZZ_CHECK(s != NULL);
    for (uint32_t step = 0; step < 8; step++) {
        uint32_t words[WORDS], pick = UINT32_MAX;
        GmError err;
        if (gm_state_mask(s, words, WORDS, &err) != 0) {
            FUZZ_CHECK(err.status == GM_LIMIT);
            break;
        }
        for (uint32_t id = 0; id < 32 * WORDS; id++) {
            bool bit = (words[id >> 5] >> (id & 31) & 1) != 0;
            FUZZ_CHECK(!bit || id < TEXTS);
            pick = bit && (pick == UINT32_MAX || (id * 7 + step) % 5 == 0) ? id : pick;
        }
        if (pick == UINT32_MAX) {
            break;
        }
        int code = gm_state_commit_token(s, pick, &err);
        FUZZ_CHECK(code == 0 || code == 4 || code == 7);
        if (code != 0) {
            break;
        }
    }
    gm_state_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Input in = {data, data + size};
    bool raw = size > 0 && fuzz_byte(&in) == 0;
    uint64_t n = raw ? (uint64_t)(in.end - in.at) : gm_bytes_size(good());
    uint8_t *tables = malloc(n > 0 ? n : 1); /* so that a read beyond its end shows */
    FUZZ_CHECK(tables != NULL);
    memcpy(tables, raw ? in.at : gm_bytes_data(good()), n);
    while (!raw && in.at < in.end) {
        uint64_t at = (fuzz_byte(&in) | fuzz_byte(&in) << 8) % n;
        uint32_t kind = fuzz_byte(&in) % 4, byte = fuzz_byte(&in);
        if (kind == 3) {
            n = at > 0 ? at : 1; /* cut short */
        } else {
            tables[at] = (uint8_t)(kind == 0 ? byte : kind == 1 ? tables[at] + byte : tables[at] ^ 1u << byte % 8);
        }
    }
    GmError err = {0, 0, "", ""};
    GmConstraint *c = loaded(tables, n, &err);
    if (c != NULL) {
        use(c);
    } else {
        FUZZ_CHECK(err.status == GM_FORMAT || err.status == GM_VERSION || err.status == GM_LIMIT);
        FUZZ_CHECK(err.text[0] != 0);
    }
    gm_constraint_free(c);
    free(tables);
    return 0;
}
