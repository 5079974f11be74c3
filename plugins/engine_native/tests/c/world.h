/* world: modules and vocabularies in a few lines of C, and the property that masks and commits agree.
 * Nodes are made children first, as glrmask_core.ir.Builder does, but nothing is checked: tests of refusals
 * need modules that no builder makes. */
#ifndef WORLD_H
#define WORLD_H

#include "check.h"
#include "gm_lower_lex.h"
#include "gm_state.h"

enum { WORLD_NODES = 4096, WORLD_ARGS = 16384, WORLD_BLOB = 65536, WORLD_RULES = 512 };

typedef struct World {
    int32_t rows[4 * WORLD_NODES], args[WORLD_ARGS], rules[2 * WORLD_RULES];
    uint8_t blob[WORLD_BLOB];
    uint32_t n_nodes, n_args, n_rules;
    uint64_t n_blob;
} World;

static inline World *world_new(void) { return calloc(1, sizeof(World)); }

static inline int32_t w_node(World *w, int32_t op, int32_t a, int32_t b, int32_t c)
{
    int32_t *row = w->rows + 4 * w->n_nodes;
    row[0] = op;
    row[1] = a;
    row[2] = b;
    row[3] = c;
    return (int32_t)w->n_nodes++;
}

static inline int32_t w_args(World *w, const int32_t *list, uint32_t n)
{
    int32_t off = (int32_t)w->n_args;
    if (n > 0) {
        memcpy(w->args + off, list, n * sizeof *list);
    }
    w->n_args += n;
    return off;
}

static inline int32_t w_bytes(World *w, const void *data, size_t n)
{
    int32_t off = (int32_t)w->n_blob;
    memcpy(w->blob + off, data, n);
    w->n_blob += n;
    return off;
}

static inline int32_t w_lit(World *w, const char *text)
{
    int32_t off = w_bytes(w, text, strlen(text));
    return w_node(w, IR_LITERAL, off, (int32_t)strlen(text), 0);
}

/* One byte out of those of `text`, or with `not` any other one. */
static inline int32_t w_set(World *w, const char *text, bool not)
{
    uint8_t bits[32];
    memset(bits, not ? 0xff : 0, sizeof bits);
    for (const unsigned char *p = (const unsigned char *)text; *p != 0; p++) {
        bits[*p >> 3] = (uint8_t)(bits[*p >> 3] ^ (1u << (*p & 7)));
    }
    return w_node(w, IR_BYTES, w_bytes(w, bits, sizeof bits), 0, 0);
}

static inline int32_t w_list(World *w, int32_t op, const int32_t *list, uint32_t n)
{
    return w_node(w, op, w_args(w, list, n), (int32_t)n, 0);
}

#define W_LIST(w, op, ...) \
    w_list((w), (op), (const int32_t[]){__VA_ARGS__}, (uint32_t)(sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)))
#define W_SEQ(w, ...) W_LIST((w), IR_SEQ, __VA_ARGS__)
#define W_CHOICE(w, ...) W_LIST((w), IR_CHOICE, __VA_ARGS__)

static inline int32_t w_term(World *w, int32_t lexical) { return w_node(w, IR_TERMINAL, lexical, 0, -1); }
static inline int32_t w_word(World *w, const char *text) { return w_term(w, w_lit(w, text)); }
static inline int32_t w_repeat(World *w, int32_t node, int32_t low, int32_t high) { return w_node(w, IR_REPEAT, node, low, high); }
static inline int32_t w_lex_repeat(World *w, int32_t node, int32_t low, int32_t high)
{
    return w_node(w, IR_LEX_REPEAT, node, low, high);
}
static inline int32_t w_separated(World *w, int32_t item, int32_t sep, int32_t low, int32_t high)
{
    return w_node(w, IR_SEPARATED, w_args(w, (const int32_t[]){item, sep}, 2), low, high);
}

/* A rule whose body comes later, by w_define. */
static inline int32_t w_rule(World *w)
{
    w->rules[2 * w->n_rules] = -1;
    w->rules[2 * w->n_rules + 1] = -1;
    return (int32_t)w->n_rules++;
}
static inline void w_define(World *w, int32_t rule, int32_t body) { w->rules[2 * rule + 1] = body; }
static inline int32_t w_call(World *w, int32_t rule) { return w_node(w, IR_CALL, rule, 0, 0); }

static inline GmOptions world_options(void)
{
    GmOptions o;
    memset(&o, 0, sizeof o);
    o.memory_bytes = o.state_bytes = 64 << 20;
    o.mask_cache_bytes = 1 << 20;
    o.static_work = 1 << 20;
    o.static_bytes = 1 << 20;
    o.states = 100000;
    o.lexer_states = 100000;
    o.expansion = 10000;
    o.static_pairs = 1000;
    return o;
}

static inline GmConstraint *world_compile(const World *w, GmVocab *vocab, int32_t root, const GmOptions *options, GmError *err)
{
    return gm_constraint_new(vocab, w->rows, w->n_nodes, w->args, w->n_args, w->blob, w->n_blob, w->rules, w->n_rules,
                             (uint32_t)root, options, err);
}

/* Texts get the ids 0, 1, 2, ... */
static inline GmVocab *world_vocab_with(GmResizeFn resize, void *context, const char *const *text, uint32_t n, GmError *err)
{
    uint32_t *ids = malloc((n + 1u) * sizeof *ids);
    int64_t *off = malloc((n + 1u) * sizeof *off);
    size_t total = 0;
    for (uint32_t i = 0; i < n; i++) {
        total += strlen(text[i]);
    }
    uint8_t *blob = malloc(total + 1);
    total = 0;
    for (uint32_t i = 0; i < n; i++) {
        ids[i] = i;
        off[i] = (int64_t)total;
        memcpy(blob + total, text[i], strlen(text[i]));
        total += strlen(text[i]);
    }
    off[n] = (int64_t)total;
    GmVocab *vocab = gm_vocab_new_with(resize, context, ids, off, blob, n, 1 << 16, err);
    free(ids);
    free(off);
    free(blob);
    return vocab;
}

static inline GmVocab *world_vocab(const char *const *text, uint32_t n) { return world_vocab_with(gm_mem_libc, NULL, text, n, NULL); }

#define N_OF(array) ((uint32_t)(sizeof(array) / sizeof *(array)))

static const char *const WORLD_TEXTS[] = {
    "a", "b", "ab", "ba", "aa", "bb", "aab", "abab", "c", "cc", "(", ")", "((", "))", "()", "[", "]", "[[", "]]", "][", ",",
    ", ", " ", "  ", "1", "12", "123", "+", "+1", "*", "x", "xy", "y", "\"", "\"a", "a\"", "\",", "\xc3\xa9", "\xc3", "\xa9",
    "\xe2\x82\xac", "aaaaaaaa", "if", "iff", "i", "f", "end", "e", "nd", "\n"};

/* Bits of the mask and outcomes of commits on clones agree for ids 0 .. n - 1 without bytes problems. */
static inline void world_agree(GmState *state, uint32_t n_ids, const char *file, int line)
{
    GmError err;
    uint64_t n_words = (gm_constraint_width(state->c) + 31) / 32;
    uint32_t *words = calloc(n_words + 1, sizeof *words);
    if (gm_state_mask(state, words, n_words, &err) != 0) {
        printf("%s:%d: no mask: %s\n", file, line, err.text);
        check_failures++;
        free(words);
        return;
    }
    for (uint32_t id = 0; id < n_ids; id++) {
        GmState *copy = gm_state_clone(state, &err);
        int code = copy == NULL ? -1 : gm_state_commit_token(copy, id, &err);
        bool bit = id / 32 < n_words && (words[id >> 5] >> (id & 31) & 1) != 0;
        if (code != 0 && code != 4 && code != 5) {
            printf("%s:%d: token %u: code %d\n", file, line, id, code);
            check_failures++;
        } else if (bit != (code == 0)) {
            printf("%s:%d: token %u: bit %d, but commit answers %d\n", file, line, id, bit, code);
            check_failures++;
        }
        gm_state_free(copy);
    }
    free(words);
}
#define AGREE(state, n_ids) world_agree((state), (n_ids), __FILE__, __LINE__)

/* -- a few grammars that between them use every kind of node ------------------------------------------------ */

enum { GRAMMARS = 9 };

static inline int32_t world_json(World *w)
{
    int32_t value = w_rule(w);
    int32_t body = w_lex_repeat(w, w_set(w, "\"\\\n", true), 0, -1);
    int32_t quote = w_lit(w, "\"");
    int32_t string = w_term(w, W_LIST(w, IR_LEX_SEQ, quote, body, quote));
    int32_t number = w_term(w, w_lex_repeat(w, w_set(w, "0123456789", false), 1, -1));
    int32_t list = W_SEQ(w, w_word(w, "["), w_separated(w, w_call(w, value), w_word(w, ","), 0, -1), w_word(w, "]"));
    w_define(w, value, W_CHOICE(w, string, number, list));
    int32_t space = w_lex_repeat(w, w_set(w, " \n", false), 1, -1);
    return w_node(w, IR_SCOPE, w_call(w, value), space, 0);
}

static inline int32_t world_sum(World *w) /* e: e + t | t; t: ( e ) | digits | x, both left-recursive through t */
{
    int32_t e = w_rule(w), t = w_rule(w);
    int32_t digits = w_term(w, w_lex_repeat(w, w_set(w, "0123456789", false), 1, -1));
    w_define(w, e, W_CHOICE(w, W_SEQ(w, w_call(w, e), w_word(w, "+"), w_call(w, t)), w_call(w, t)));
    w_define(w, t, W_CHOICE(w, W_SEQ(w, w_word(w, "("), w_call(w, e), w_word(w, ")")), digits, w_word(w, "x"),
                            W_SEQ(w, w_call(w, t), w_word(w, "*"))));
    return w_call(w, e);
}

static inline int32_t world_counts(World *w)
{
    int32_t a = w_word(w, "a"), b = w_word(w, "b"), many = w_repeat(w, W_CHOICE(w, a, w_word(w, "ab")), 100, 300);
    int32_t lexical = w_term(w, w_lex_repeat(w, w_set(w, "xy", false), 2, 50));
    return W_SEQ(w, w_separated(w, lexical, w_word(w, ","), 70, 90), w_repeat(w, b, 2, 3), many, w_repeat(w, w_word(w, "c"), 0, -1));
}

static inline int32_t world_free_order(World *w)
{
    int32_t list[] = {w_word(w, ","), w_term(w, w_lex_repeat(w, w_set(w, "xyz", false), 1, 2)), 2, 4,
                      w_word(w, "a"), 1, w_word(w, "b"), 0, w_word(w, "ab"), 0};
    return W_SEQ(w, w_word(w, "["), w_node(w, IR_ANY_ORDER, w_args(w, list, N_OF(list)), 3, 0), w_word(w, "]"));
}

static inline int32_t world_exact(World *w)
{
    int32_t ids = w_node(w, IR_TOKEN_IDS, w_args(w, (const int32_t[]){3, 7, 60, 70}, 4), 4, 0);
    int32_t rule = w_rule(w);
    w_define(w, rule, W_CHOICE(w, w_word(w, "b"), W_SEQ(w, w_word(w, "a"), ids, w_call(w, rule)), W_SEQ(w, ids, w_word(w, "b"))));
    return w_call(w, rule);
}

static inline int32_t world_boolean(World *w) /* identifiers that are not keywords, and keywords */
{
    int32_t word = w_lex_repeat(w, w_set(w, "abcdefinxy", false), 1, -1);
    int32_t keys = w_node(w, IR_LITERALS, w_args(w, (const int32_t[]){w_bytes(w, "end", 3), 3, w_bytes(w, "if", 2), 2}, 4), 2, 0);
    int32_t name = w_term(w, w_node(w, IR_WITHOUT, word, keys, 0));
    int32_t even = w_lex_repeat(w, W_LIST(w, IR_LEX_SEQ, w_set(w, "ab", false), w_set(w, "ab", false)), 1, -1);
    int32_t both = w_term(w, w_node(w, IR_BOTH, even, w_lex_repeat(w, w_lit(w, "ab"), 2, 9), 0));
    int32_t rule = w_rule(w);
    w_define(w, rule, W_CHOICE(w, W_SEQ(w, w_word(w, "if"), w_word(w, " "), w_call(w, rule), w_word(w, " "), w_word(w, "end")),
                               name, W_SEQ(w, w_word(w, "1"), both)));
    return w_call(w, rule);
}

static inline int32_t world_automaton(World *w)
{
    int32_t a = w_lit(w, "a"), bb = w_lit(w, "bb"), c = w_set(w, "cx", false);
    int32_t list[] = {4, 0, 5, 0, a, 1, 0, bb, 2, 1, c, 0, 2, a, 2, 3, a, 3, 2, 1, 2};
    int32_t aut = w_node(w, IR_AUTOMATON, w_args(w, list, N_OF(list)), (int32_t)N_OF(list), 0);
    return w_repeat(w, W_CHOICE(w, w_term(w, aut), w_word(w, ",")), 1, -1);
}

static inline int32_t world_unicode(World *w)
{
    int32_t letters = w_node(w, IR_CHARS, w_args(w, (const int32_t[]){'a', 'z', 0xa1, 0x2ff, 0x2000, 0xd7ff, 0xe000, 0x1ffff}, 8), 4, 0);
    int32_t word = w_term(w, w_lex_repeat(w, letters, 1, -1));
    int32_t quiet = w_node(w, IR_TERMINAL, w_lex_repeat(w, w_lit(w, " "), 1, -1), 1, -1);
    return w_separated(w, word, W_CHOICE(w, quiet, w_word(w, ",")), 1, -1);
}

static inline int32_t world_ambiguous(World *w) /* s: s s | a | ab | b s? */
{
    int32_t s = w_rule(w), empty = w_node(w, IR_LITERAL, 0, 0, 0);
    w_define(w, s, W_CHOICE(w, W_SEQ(w, w_call(w, s), w_call(w, s)), w_word(w, "a"), w_word(w, "ab"),
                            W_SEQ(w, w_word(w, "b"), W_CHOICE(w, w_call(w, s), empty))));
    return w_call(w, s);
}

static inline int32_t world_grammar(World *w, uint32_t number)
{
    static int32_t (*const make[GRAMMARS])(World *) = {world_json,    world_sum,       world_counts,  world_free_order, world_exact,
                                                       world_boolean, world_automaton, world_unicode, world_ambiguous};
    return make[number](w);
}

#endif
