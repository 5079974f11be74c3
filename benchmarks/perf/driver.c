/* The hottest paths of the engine, one callgrind dump each; guard.py prepares the inputs and reads the dumps.
 *
 *     driver FOLDER      (under valgrind --tool=callgrind --instr-atstart=no)
 *
 * Only what stands between begin() and finish() is counted, and only through the public interface gm.h. Everything is
 * deterministic: no threads, no clock, inputs from files. A failing call ends the program with its message. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <valgrind/callgrind.h>

#include "gm.h"

static void begin(void)
{
    CALLGRIND_START_INSTRUMENTATION;
}

static void finish(const char *name)
{
    CALLGRIND_STOP_INSTRUMENTATION;
    CALLGRIND_DUMP_STATS_AT(name);
}

enum { DYNAMIC = 1, STATIC = 3, BATCH = 16, ROUNDS = 50 };

static const char *folder;

static void fail(const char *what, const GmError *err)
{
    fprintf(stderr, "driver: %s: %s\n", what, err ? err->text : "cannot read the input");
    exit(1);
}

/* -- inputs ------------------------------------------------------------------------------------------------ */

typedef struct Input {
    uint8_t *data;
    size_t len, at;
} Input;

static Input read_input(const char *name)
{
    char path[4096];
    Input in = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file || fseek(file, 0, SEEK_END)) {
        fail(name, NULL);
    }
    long size = ftell(file);
    in.len = size > 0 ? (size_t)size : 0;
    in.data = malloc(in.len + 1);
    rewind(file);
    if (!in.data || fread(in.data, 1, in.len, file) != in.len) {
        fail(name, NULL);
    }
    fclose(file);
    return in;
}

/* The next array: its number of items, then the items, padded to 8 bytes. */
static const void *take(Input *in, size_t item, uint64_t *n)
{
    if (in->len - in->at < 8) {
        fail("an array", NULL);
    }
    memcpy(n, in->data + in->at, 8);
    in->at += 8;
    size_t bytes = ((size_t)*n * item + 7) / 8 * 8;
    if (in->len - in->at < bytes) {
        fail("an array", NULL);
    }
    const void *data = in->data + in->at;
    in->at += bytes;
    return data;
}

static GmVocab *new_vocab(Input in)
{
    uint64_t n, m;
    GmError err = {0};
    in.at = 0;
    const uint32_t *ids = take(&in, sizeof *ids, &n);
    const int64_t *off = take(&in, sizeof *off, &m);
    const uint8_t *blob = take(&in, 1, &m);
    GmVocab *vocab = gm_vocab_new(ids, off, blob, (uint32_t)n, 4096, &err);
    if (!vocab) {
        fail("vocabulary", &err);
    }
    return vocab;
}

/* With tables that were saved, or with a part of it that was compiled before; both may be NULL. */
static GmConstraint *compile_with(GmVocab *vocab, Input in, uint32_t mode, uint64_t mask_cache, const GmBytes *tables,
                                  GmConstraint *part)
{
    uint64_t n_rows, n_args, n_blob, n_rules, n_root, n_code;
    GmError err = {0};
    GmOptions options = {.memory_bytes = (uint64_t)2 << 30,
                         .state_bytes = (uint64_t)512 << 20,
                         .mask_cache_bytes = mask_cache,
                         .static_work = 2000000000,
                         .static_bytes = (uint64_t)256 << 20,
                         .states = 4000000,
                         .lexer_states = 4000000,
                         .expansion = 2000,
                         .static_pairs = 1 << 20,
                         .mode = mode};
    in.at = 0;
    const int32_t *rows = take(&in, sizeof *rows, &n_rows);
    const int32_t *args = take(&in, sizeof *args, &n_args);
    const uint8_t *blob = take(&in, 1, &n_blob);
    const int32_t *rules = take(&in, sizeof *rules, &n_rules);
    const uint32_t *root = take(&in, sizeof *root, &n_root);
    const int32_t *code = take(&in, sizeof *code, &n_code);
    uint32_t nodes = (uint32_t)(n_rows / 4), n = (uint32_t)n_args, all = (uint32_t)(n_rules / 2);
    GmConstraint *constraint;
    if (tables) {
        constraint = gm_constraint_load(vocab, rows, nodes, args, n, blob, n_blob, rules, all, *root,
                                        gm_bytes_data(tables), gm_bytes_size(tables), &options, &err);
    } else if (n_code > 0) {
        constraint = gm_program_new(vocab, rows, nodes, args, n, blob, n_blob, rules, all, code, n_code, &options,
                                    &err);
    } else {
        constraint = gm_constraint_link(vocab, rows, nodes, args, n, blob, n_blob, rules, all, *root, &part,
                                        part != NULL, &options, &err);
    }
    if (!constraint) {
        fail("grammar", &err);
    }
    return constraint;
}

static GmConstraint *compile(GmVocab *vocab, Input in, uint32_t mode, uint64_t mask_cache)
{
    return compile_with(vocab, in, mode, mask_cache, NULL, NULL);
}

/* -- runs -------------------------------------------------------------------------------------------------- */

static uint32_t words[4000]; /* 128,000 ids */

static void mask(GmState *state)
{
    GmError err = {0};
    if (gm_state_mask(state, words, sizeof words / sizeof *words, &err)) {
        fail("mask", &err);
    }
}

static void commit(GmState *state, uint32_t id)
{
    GmError err = {0};
    if (!(words[id >> 5] >> (id & 31) & 1)) {
        fail("a token of the text is not in its mask", &err);
    }
    if (gm_state_commit_token(state, id, &err)) {
        fail("commit", &err);
    }
}

static GmState *start(GmConstraint *constraint)
{
    GmError err = {0};
    GmState *state = gm_state_new(constraint, 64, &err);
    if (!state) {
        fail("start", &err);
    }
    return state;
}

static GmState *start_after(GmConstraint *constraint, const char *text)
{
    GmError err = {0};
    GmState *state = start(constraint);
    if (gm_state_commit_bytes(state, (const uint8_t *)text, strlen(text), &err)) {
        fail("the text before a mask", &err);
    }
    return state;
}

enum { MASKS, COMMITS };

/* Masks and commits of a text; with a name, all of one kind are counted: instrumented as a whole, since valgrind starts
 * over with each start, and collected in pieces. */
static void replay(GmConstraint *constraint, Input text, int what, const char *name)
{
    uint64_t n;
    text.at = 0;
    const uint32_t *ids = take(&text, sizeof *ids, &n);
    GmState *state = start(constraint);
    if (name) {
        begin();
        CALLGRIND_TOGGLE_COLLECT;
    }
    for (uint64_t i = 0; i < n; i++) {
        if (name && what == MASKS) {
            CALLGRIND_TOGGLE_COLLECT;
        }
        mask(state);
        if (name) {
            CALLGRIND_TOGGLE_COLLECT;
        }
        commit(state, ids[i]);
        if (name && what == COMMITS) {
            CALLGRIND_TOGGLE_COLLECT;
        }
    }
    if (name) {
        CALLGRIND_TOGGLE_COLLECT;
        finish(name);
    }
    gm_state_free(state);
}

/* The first mask of a fresh constraint after a text. */
static void first_mask(GmVocab *vocab, Input module, const char *before, const char *name)
{
    GmConstraint *constraint = compile(vocab, module, DYNAMIC, 0);
    GmState *state = start_after(constraint, before);
    begin();
    mask(state);
    finish(name);
    gm_state_free(state);
    gm_constraint_free(constraint);
}

static void cached(GmVocab *vocab, Input module)
{
    GmError err = {0};
    GmConstraint *constraint = compile(vocab, module, DYNAMIC, 32 << 20);
    GmState *states[BATCH];
    for (int i = 0; i < BATCH; i++) {
        states[i] = start_after(constraint, "{\"order\": 1");
    }
    uint32_t *rows = malloc(BATCH * sizeof words);
    mask(states[0]);
    mask(states[0]);
    begin();
    for (int i = 0; i < ROUNDS; i++) {
        mask(states[0]);
    }
    finish("mask_cached");
    begin();
    if (!rows || gm_states_mask(states, BATCH, rows, sizeof words / sizeof *words, &err)) {
        fail("a batch", &err);
    }
    finish("mask_batch");
    begin();
    for (int i = 0; i < ROUNDS; i++) {
        GmState *clone = gm_state_clone(states[0], &err);
        if (!clone) {
            fail("clone", &err);
        }
        commit(clone, '1');
        if (gm_state_rollback(clone, 1, &err) != 1) {
            fail("rollback", &err);
        }
        gm_state_free(clone);
    }
    finish("clone_rollback");
    for (int i = 0; i < BATCH; i++) {
        gm_state_free(states[i]);
    }
    free(rows);
    gm_constraint_free(constraint);
}

/* A host with a part that was compiled and has made masks; then the first mask inside of the part. */
static void link_part(GmVocab *vocab, Input part_module, Input host)
{
    GmConstraint *part = compile(vocab, part_module, DYNAMIC, 0);
    const char *places[] = {"", "{\""};
    for (int i = 0; i < 2; i++) {
        GmState *state = start_after(part, places[i]);
        mask(state);
        gm_state_free(state);
    }
    begin();
    GmConstraint *linked = compile_with(vocab, host, DYNAMIC, 0, NULL, part);
    finish("link");
    GmState *state = start_after(linked, "<call>{\"");
    begin();
    mask(state);
    finish("first_mask_linked");
    gm_state_free(state);
    gm_constraint_free(linked);
    gm_constraint_free(part);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: driver FOLDER\n");
        return 2;
    }
    folder = argv[1];
    Input vocabulary = read_input("vocabulary"), schema = read_input("order"), order = read_input("order.text");
    Input statements = read_input("statements"), program_text = read_input("statements.text");
    Input part = read_input("part"), host = read_input("linked");
    Input dyck = read_input("dyck"), brackets = read_input("dyck.text");

    begin();
    GmVocab *vocab = new_vocab(vocabulary);
    finish("vocabulary");

    /* Wide before anything else: what wide terminals need is kept by the vocabulary. */
    const char *in_string = "{\"order\": 1234, \"placed\": \"2024-01-01T00:00:00Z\", \"currency\": \"EUR\", "
                            "\"lines\": [{\"product\": \"a";
    first_mask(vocab, schema, in_string, "first_mask_wide");
    first_mask(vocab, statements, "let a = b", "first_mask_name");
    first_mask(vocab, schema, "{", "first_mask_narrow");

    begin();
    GmConstraint *constraint = compile(vocab, schema, DYNAMIC, 0);
    finish("compile_schema");
    gm_constraint_free(constraint);
    link_part(vocab, part, host);
    begin();
    constraint = compile(vocab, statements, DYNAMIC, 0);
    finish("compile_statements");
    replay(constraint, program_text, MASKS, "mask_cold");
    replay(constraint, program_text, MASKS, "mask_warm_miss");
    replay(constraint, program_text, COMMITS, "commit");
    gm_constraint_free(constraint);
    begin();
    constraint = compile(vocab, statements, STATIC, 0);
    finish("static_build");
    replay(constraint, program_text, MASKS, "mask_static");
    GmError err = {0};
    begin();
    GmBytes *tables = gm_constraint_save(constraint, &err);
    finish("save");
    if (!tables) {
        fail("save", &err);
    }
    gm_constraint_free(constraint);
    begin();
    constraint = compile_with(vocab, statements, STATIC, 0, tables, NULL);
    finish("load");
    gm_bytes_free(tables);
    gm_constraint_free(constraint);
    constraint = compile(vocab, schema, DYNAMIC, 0);
    replay(constraint, order, MASKS, NULL);
    replay(constraint, order, COMMITS, "commit_schema");
    gm_constraint_free(constraint);
    cached(vocab, schema);
    constraint = compile(vocab, dyck, DYNAMIC, 0);
    replay(constraint, brackets, MASKS, NULL);
    replay(constraint, brackets, MASKS, "mask_program");
    gm_constraint_free(constraint);
    gm_vocab_free(vocab);
    return 0;
}
