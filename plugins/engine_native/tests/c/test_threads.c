/* Threads that share one constraint (and constraints that share one vocabulary) see what a single one sees;
 * two threads on one state are told so. Meant for the thread sanitizer too. */
#include "world.h"

enum { THREADS = 4, SEQUENCES = 6, STEPS = 8, WORDS = 4 };

static uint64_t plan[GRAMMARS][SEQUENCES]; /* checksums of an undisturbed run */
static GmConstraint *shared[GRAMMARS];
static GmVocab *vocab;
static GmWorker *filler; /* or NULL */

static GmConstraint *compile(uint32_t number)
{
    World *w = world_new();
    GmError err;
    GmOptions options = world_options();
    int32_t root = world_grammar(w, number);
    GmConstraint *c = world_compile(w, vocab, root, &options, &err);
    CHECK(c != NULL);
    free(w);
    return c;
}

/* The same language, of a compiled part that others may be using. */
static GmConstraint *linked(uint32_t number, GmConstraint *part)
{
    World *w = world_new();
    GmError err;
    GmOptions options = world_options();
    int32_t root = w_node(w, IR_SCOPE, world_grammar(w, number), -1, 0);
    GmConstraint *c = gm_constraint_link(vocab, w->rows, w->n_nodes, w->args, w->n_args, w->blob, w->n_blob, w->rules,
                                         w->n_rules, (uint32_t)root, &part, 1, &options, &err);
    CHECK(c != NULL);
    free(w);
    return c;
}

/* A walk along allowed tokens; all masks and flags in one number. */
static uint64_t walk(GmConstraint *c, uint64_t seed)
{
    Rand r = {seed};
    uint64_t sum = seed;
    GmState *s = gm_state_new(c, 2, NULL);
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t words[WORDS], ids[WORDS * 32], n = 0;
        CHECK_EQ(0, gm_state_mask(s, words, WORDS, NULL));
        for (uint32_t id = 0; id < WORDS * 32; id++) {
            if ((words[id >> 5] >> (id & 31) & 1) != 0) {
                ids[n++] = id;
            }
        }
        sum = gm_mix(sum + gm_hash_words(words, WORDS, (uint64_t)gm_state_flags(s, NULL)));
        if (n == 0) {
            break;
        }
        GmState *copy = gm_state_clone(s, NULL);
        gm_state_free(s);
        s = copy;
        CHECK_EQ(0, gm_state_commit_token(s, ids[rand_below(&r, n)], NULL));
        if (step % 3 == 2) {
            CHECK_EQ(1, gm_state_rollback(s, 1, NULL));
        }
    }
    gm_state_free(s);
    return sum;
}

static void *worker(void *number)
{
    uint32_t me = (uint32_t)(size_t)number;
    for (uint32_t k = 0; k < GRAMMARS * SEQUENCES; k++) {
        uint32_t at = (k * 7 + me * 11) % (GRAMMARS * SEQUENCES); /* each thread in its own order */
        uint32_t g = at / SEQUENCES, i = at % SEQUENCES;
        uint64_t sum = walk(shared[g], i + 1);
        if (sum != plan[g][i]) {
            printf("grammar %u, sequence %u: another result in thread %u\n", g, i, me);
            check_failures++;
        }
        GmReport report;
        gm_constraint_report(shared[g], &report);
        if (k % 16 == me) {
            gm_constraint_free(compile(g)); /* shares steps through the vocabulary */
        }
        if (k % 8 == me) {
            GmConstraint *c = linked(g, shared[g]);
            gm_worker_add(filler, c);
            CHECK(walk(c, i + 1) == plan[g][i]);
            gm_constraint_free(c);
        }
    }
    return NULL;
}

static void run_threads(void *(*body)(void *))
{
    pthread_t thread[THREADS];
    for (size_t i = 0; i < THREADS; i++) {
        CHECK_EQ(0, pthread_create(&thread[i], NULL, body, (void *)i));
    }
    for (size_t i = 0; i < THREADS; i++) {
        CHECK_EQ(0, pthread_join(thread[i], NULL));
    }
}

static void shared_constraints(GmWorker *tables)
{
    filler = tables;
    vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    for (uint32_t g = 0; g < GRAMMARS; g++) {
        GmConstraint *alone = compile(g);
        for (uint32_t i = 0; i < SEQUENCES; i++) {
            plan[g][i] = walk(alone, i + 1);
        }
        gm_constraint_free(alone);
        shared[g] = compile(g); /* cold */
        gm_worker_add(tables, shared[g]); /* nothing without one */
    }
    run_threads(worker);
    for (uint32_t g = 0; g < GRAMMARS; g++) {
        gm_constraint_free(shared[g]);
    }
    gm_vocab_free(vocab);
}

static void test_shared_constraints(void) { shared_constraints(NULL); }

static void test_with_the_worker(void)
{
    GmWorker *tables = gm_worker_new();
    shared_constraints(tables);
    gm_worker_pause(tables);
    gm_worker_resume(tables);
    gm_worker_free(tables); /* with jobs in its queue, perhaps */
}

/* -- one state, many threads ---------------------------------------------------------------------------- */

/* A constraint whose calls make entries all the time keeps the worker from that one, not from the others. */
static void test_the_worker_passes_over(void)
{
    GmWorker *tables = gm_worker_new();
    if (tables == NULL) { /* a platform without one */
        return;
    }
    vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    GmConstraint *idle = compile(0), *busy = compile(1);
    gm_worker_add(tables, idle);
    gm_worker_add(tables, busy); /* the newer one comes first */
    const double start = gm_seconds();
    while (atomic_load(&idle->references) > 1 && gm_seconds() - start < 30) {
        gm_core_lock(&busy->core);
        gm_core_unlock(&busy->core);
    }
    CHECK_EQ(1, atomic_load(&idle->references)); /* filled, and let go */
    gm_worker_free(tables);
    gm_constraint_free(idle);
    gm_constraint_free(busy);
    gm_vocab_free(vocab);
}

static GmState *contested;
static _Atomic uint32_t done, busy;

static void *contender(void *number)
{
    (void)number;
    for (uint32_t i = 0; i < 300; i++) {
        uint32_t words[WORDS];
        GmError err = {0, 0, "", ""};
        int code = gm_state_commit_bytes(contested, (const uint8_t *)"[1,", 3, &err);
        CHECK(code == 0 || code == 6);
        done += code == 0;
        busy += code == 6;
        int mask = gm_state_mask(contested, words, WORDS, &err);
        CHECK(mask == 0 || err.status == GM_ARG);
    }
    return NULL;
}

static void test_one_state(void)
{
    vocab = world_vocab(WORLD_TEXTS, N_OF(WORLD_TEXTS));
    GmConstraint *c = compile(0);
    contested = gm_state_new(c, 0, NULL);
    run_threads(contender);
    CHECK_EQ(THREADS * 300, done + busy);
    uint32_t n = done; /* exactly the commits that said so happened */
    for (uint32_t i = 0; i < n; i++) {
        CHECK_EQ(0, gm_state_commit_bytes(contested, (const uint8_t *)(i == 0 ? "1]" : "]"), i == 0 ? 2 : 1, NULL));
        if (i + 1 < n) {
            CHECK_EQ(0, gm_state_flags(contested, NULL));
        }
    }
    CHECK_EQ(1, gm_state_flags(contested, NULL));
    gm_state_free(contested);
    gm_constraint_free(c);
    gm_vocab_free(vocab);
}

int main(void)
{
    RUN(test_shared_constraints);
    RUN(test_with_the_worker);
    RUN(test_the_worker_passes_over);
    RUN(test_one_state);
    return check_result();
}
