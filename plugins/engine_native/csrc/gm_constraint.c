#include "gm_constraint.h"

#include "gm_fstatic.h"
#include "gm_tables.h"

#include <string.h>

enum { GM_MODE_AUTO, GM_MODE_FAST_BUILD, GM_MODE_BALANCED, GM_MODE_FAST_RUNTIME }; /* GmOptions.mode */
enum { /* about 10 ms of preparation: the wide steps of most grammars */
    BALANCED_WORK = 2000000,
    BALANCED_BYTES = 8 << 20,
    BALANCED_PAIRS = 4096,
    BALANCED_LEXERS = 64
};

/* A copy in the constraint's arena, so that the caller's buffers are free after the call. */
static GmStatus keep(GmArena *arena, const void *from, size_t n, size_t size, const void **out, GmError *err)
{
    size_t bytes;
    void *p;
    GM_TRY(gm_mem_product(n, size, &bytes, err));
    GM_TRY(gm_arena_alloc(arena, bytes, &p, err));
    if (bytes > 0) {
        memcpy(p, from, bytes);
    }
    *out = p;
    return GM_OK;
}

static GmStatus constraint_fill(GmConstraint *c, const GmModule *module, const GmOptions *options, GmArena *arena, GmError *err)
{
    const void *p;
    GmModule *own = &c->module;
    *own = *module;
    GM_TRY(keep(arena, module->rows, module->n_nodes, 4 * sizeof(int32_t), &p, err));
    own->rows = p;
    GM_TRY(keep(arena, module->args, module->n_args, sizeof(int32_t), &p, err));
    own->args = p;
    GM_TRY(keep(arena, module->blob, module->n_blob, 1, &p, err));
    own->blob = p;
    GM_TRY(keep(arena, module->rules, module->n_rules, 2 * sizeof(int32_t), &p, err));
    own->rules = p;
    GM_TRY(keep(arena, options->end_tokens, options->n_end_tokens, sizeof(uint32_t), &p, err));
    c->end_tokens = (uint32_t *)(uintptr_t)p;
    c->n_end_tokens = options->n_end_tokens;
    for (uint32_t i = 1; i < c->n_end_tokens; i++) { /* the last one decides the width of masks */
        if (c->end_tokens[i] <= c->end_tokens[i - 1]) {
            return gm_fail(err, GM_ARG, "end tokens are not ascending (%u after %u)", c->end_tokens[i], c->end_tokens[i - 1]);
        }
    }
    return GM_OK;
}

/* What the schedule wants before the first state: all tables, or the costly steps, or nothing. */
/* `tables`: saved ones, or NULL. */
static GmStatus fill_tables(GmCore *core, const GmOptions *options, const uint8_t *tables, uint64_t n_tables, GmError *err)
{
    if (options->mode == GM_MODE_FAST_RUNTIME) {
        GmFillLimits limits = {options->static_work, options->static_bytes, options->static_pairs, options->build_seconds, 0};
        return tables != NULL ? gm_tables_load(core, &limits, tables, n_tables, err)
                              : gm_static_close(core, &limits, true, err);
    }
    if (tables != NULL) {
        return gm_fail(err, GM_FORMAT, "saved tables, although the constraint was compiled without");
    }
    if (options->mode == GM_MODE_BALANCED) {
        GmFillLimits limits = {BALANCED_WORK, BALANCED_BYTES, BALANCED_PAIRS, 0, BALANCED_LEXERS};
        GmStatus status = gm_static_close(core, &limits, false, err);
        return status == GM_LIMIT ? GM_OK : status; /* these bound the preparation, not the grammar */
    }
    return GM_OK;
}

static GmStatus build_program(GmConstraint *c, const int32_t *code, uint64_t n_code, const GmOptions *options, GmError *err)
{
    GmCore *core = &c->core;
    core->net.root = GM_NONE; /* no network: nothing to fill */
    GmFoci *foci = gm_mem_object(&core->mem, sizeof *foci);
    if (foci == NULL) {
        return gm_fail(err, GM_NOMEM, "out of memory");
    }
    c->foci = foci;
    GM_TRY(gm_foci_build(foci, core, &c->module, code, n_code, options->lexer_states, err));
    if (options->mode == GM_MODE_FAST_RUNTIME) {
        GmFillLimits limits = {options->static_work, options->static_bytes, options->static_pairs, options->build_seconds, 0};
        return gm_foci_close(foci, &limits, err);
    }
    if (options->mode == GM_MODE_BALANCED) {
        GmFillLimits limits = {BALANCED_WORK, BALANCED_BYTES, BALANCED_PAIRS, 0, BALANCED_LEXERS};
        GmStatus status = gm_foci_close(foci, &limits, err);
        return status == GM_LIMIT ? GM_OK : status; /* as for grammars */
    }
    return GM_OK;
}

/* What a constraint is made from besides its module. */
typedef struct Source {
    const int32_t *code; /* of a parser program */
    uint64_t n_code;
    const uint8_t *tables; /* saved ones of a grammar */
    uint64_t n_tables;
    GmConstraint *const *parts;
    uint32_t n_parts;
} Source;

static bool lends(const GmConstraint *c, const GmConstraint *part)
{
    return part->foci == NULL && part->vocab == c->vocab; /* of an equal vocabulary: numbers are not compared */
}

/* The largest part whose lowering can be taken over (what it was linked of may be a part, too), or NULL. Closed tables are
 * saved and must not depend on it. */
static GmConstraint *prefix_of(const GmConstraint *c, const Source *source, const GmOptions *options)
{
    GmConstraint *first = NULL;
    for (uint32_t i = 0; i < source->n_parts && options->mode != GM_MODE_FAST_RUNTIME; i++) {
        GmConstraint *part = source->parts[i];
        if (lends(c, part) && (first == NULL || part->module.n_nodes > first->module.n_nodes) &&
            gm_core_may_take(&c->module, &part->core, options->states, options->lexer_states, options->expansion)) {
            first = part;
        }
    }
    return first;
}

/* Parts lend their steps. */
static GmStatus take_parts(GmConstraint *c, const Source *source, const GmConstraint *first, GmError *err)
{
    for (uint32_t i = 0; i < source->n_parts; i++) {
        GmConstraint *part = source->parts[i];
        if (lends(c, part)) {
            if (part == first) {
                c->core.prefix_number = c->core.views.parts.len;
            }
            GM_PUSH(&c->core.mem, c->parts, part);
            gm_constraint_retain(part);
            GM_PUSH(&c->core.mem, c->core.views.parts, ((GmPart){&part->core.views, &part->core.lock}));
        }
    }
    return GM_OK;
}

static GmStatus build_grammar(GmConstraint *c, const Source *source, const GmOptions *options, GmError *err)
{
    GmConstraint *first = prefix_of(c, source, options);
    GM_TRY(gm_core_build(&c->core, &c->module, first != NULL ? &first->core : NULL, options->states, options->lexer_states,
                         options->expansion, err));
    GM_TRY(take_parts(c, source, first, err));
    gm_core_set_alone(&c->core, true);
    GM_TRY(fill_tables(&c->core, options, source->tables, source->n_tables, err));
    gm_core_set_alone(&c->core, false);
    return GM_OK;
}

static GmConstraint *constraint_new(GmVocab *vocab, const GmModule *module, const Source *source, const GmOptions *options,
                                    GmError *err)
{
    GmConstraint *c = gm_mem_object(&vocab->mem, sizeof *c);
    if (c == NULL) {
        (void)gm_fail(err, GM_NOMEM, "out of memory");
        return NULL;
    }
    atomic_init(&c->references, 1);
    c->vocab = vocab;
    gm_vocab_retain(vocab);
    GmCore *core = &c->core;
    c->shared = gm_vocab_shared(vocab);
    gm_core_init(core, &vocab->trie, c->shared, &vocab->mem, options->memory_bytes);
    if (options->build_seconds > 0) {
        core->mem.seconds = options->build_seconds;
        core->mem.deadline = gm_seconds() + options->build_seconds;
    }
    c->state_bytes = options->state_bytes;
    c->mask_cache_bytes = options->mask_cache_bytes;
    GmStatus status = constraint_fill(c, module, options, &core->arena, err);
    if (status == GM_OK && source->code != NULL) {
        status = build_program(c, source->code, source->n_code, options, err);
    } else if (status == GM_OK) {
        status = build_grammar(c, source, options, err);
    }
    if (status == GM_OK) { /* preparations may have been cut short */
        status = gm_mem_check_time(&core->mem, err);
    }
    core->mem.deadline = 0; /* what is made later is made on demand */
    if (status != GM_OK) {
        gm_constraint_free(c);
        return NULL;
    }
    c->width = vocab->n > 0 ? (uint64_t)vocab->ids[vocab->n - 1] + 1 : 0;
    if (core->net.nfa.max_exact > c->width) {
        c->width = core->net.nfa.max_exact;
    }
    if (c->n_end_tokens > 0 && c->end_tokens[c->n_end_tokens - 1] >= c->width) {
        c->width = (uint64_t)c->end_tokens[c->n_end_tokens - 1] + 1;
    }
    c->n_words = (c->width + 31) / 32;
    gm_maskcache_init(&c->masks, &vocab->mem, options->mask_cache_bytes, (uint32_t)c->n_words);
    return c;
}

GmConstraint *gm_constraint_new(GmVocab *vocab, const int32_t *rows, uint32_t n_nodes, const int32_t *args,
                                uint32_t n_args, const uint8_t *blob, uint64_t n_blob, const int32_t *rules,
                                uint32_t n_rules, uint32_t root, const GmOptions *options, GmError *err)
{
    GmModule module = {rows, args, blob, rules, n_nodes, n_args, n_rules, root, n_blob};
    return constraint_new(vocab, &module, &(Source){NULL, 0, NULL, 0, NULL, 0}, options, err);
}

GmConstraint *gm_constraint_link(GmVocab *vocab, const int32_t *rows, uint32_t n_nodes, const int32_t *args,
                                 uint32_t n_args, const uint8_t *blob, uint64_t n_blob, const int32_t *rules,
                                 uint32_t n_rules, uint32_t root, GmConstraint *const *parts, uint32_t n_parts,
                                 const GmOptions *options, GmError *err)
{
    GmModule module = {rows, args, blob, rules, n_nodes, n_args, n_rules, root, n_blob};
    return constraint_new(vocab, &module, &(Source){NULL, 0, NULL, 0, parts, n_parts}, options, err);
}

GmConstraint *gm_constraint_load(GmVocab *vocab, const int32_t *rows, uint32_t n_nodes, const int32_t *args,
                                 uint32_t n_args, const uint8_t *blob, uint64_t n_blob, const int32_t *rules,
                                 uint32_t n_rules, uint32_t root, const uint8_t *tables, uint64_t n_tables,
                                 const GmOptions *options, GmError *err)
{
    GmModule module = {rows, args, blob, rules, n_nodes, n_args, n_rules, root, n_blob};
    return constraint_new(vocab, &module, &(Source){NULL, 0, tables, n_tables, NULL, 0}, options, err);
}

struct GmBytes {
    GmMem mem;
    GmWriter writer;
};

GmBytes *gm_constraint_save(GmConstraint *c, GmError *err)
{
    GmBytes *made = gm_mem_object(&c->vocab->mem, sizeof *made);
    if (made == NULL) {
        (void)gm_fail(err, GM_NOMEM, "out of memory");
        return NULL;
    }
    gm_mem_init_like(&made->mem, &c->vocab->mem, SIZE_MAX, "memory_bytes");
    made->writer.mem = &made->mem;
    if (c->core.closed.is && gm_tables_save(&c->core, &made->writer, err) != GM_OK) {
        gm_bytes_free(made);
        return NULL;
    }
    return made;
}

const uint8_t *gm_bytes_data(const GmBytes *bytes) { return bytes->writer.out.data; }

uint64_t gm_bytes_size(const GmBytes *bytes) { return bytes->writer.out.len; }

void gm_bytes_free(GmBytes *bytes)
{
    if (bytes != NULL) {
        GmMem mem = bytes->mem;
        bytes->writer.mem = &mem;
        gm_write_deinit(&bytes->writer);
        gm_mem_object_free(&mem, bytes, sizeof *bytes);
    }
}

GmConstraint *gm_program_new(GmVocab *vocab, const int32_t *rows, uint32_t n_nodes, const int32_t *args, uint32_t n_args,
                             const uint8_t *blob, uint64_t n_blob, const int32_t *rules, uint32_t n_rules,
                             const int32_t *code, uint64_t n_code, const GmOptions *options, GmError *err)
{
    GmModule module = {rows, args, blob, rules, n_nodes, n_args, n_rules, 0, n_blob};
    return constraint_new(vocab, &module, &(Source){code, n_code, NULL, 0, NULL, 0}, options, err);
}

void gm_constraint_retain(GmConstraint *c) { (void)atomic_fetch_add(&c->references, 1); }

/* Not the parts. */
static void free_alone(GmConstraint *c)
{
    gm_maskcache_deinit(&c->masks);
    if (gm_load(&c->finish) != NULL) {
        gm_finish_free(gm_load(&c->finish));
    }
    if (c->foci != NULL) {
        gm_foci_deinit(c->foci);
        gm_mem_object_free(&c->core.mem, c->foci, sizeof *c->foci);
    }
    GM_VEC_FREE(&c->core.mem, c->parts);
    gm_core_deinit(&c->core);
    gm_shared_release(c->shared);
    GmVocab *vocab = c->vocab;
    (void)atomic_fetch_sub(&vocab->warmed, c->warmed);
    gm_mem_object_free(&vocab->mem, c, sizeof *c);
    gm_vocab_free(vocab);
}

/* Constraints may be linked of linked ones to any depth: no recursion. */
void gm_constraint_free(GmConstraint *c)
{
    GmConstraint *doomed = c != NULL && atomic_fetch_sub(&c->references, 1) == 1 ? c : NULL;
    while (doomed != NULL) {
        GmConstraint *one = doomed;
        doomed = one->doomed;
        for (uint32_t i = 0; i < one->parts.len; i++) {
            GmConstraint *part = one->parts.data[i];
            if (atomic_fetch_sub(&part->references, 1) == 1) {
                part->doomed = doomed;
                doomed = part;
            }
        }
        free_alone(one);
    }
}

uint64_t gm_constraint_width(const GmConstraint *c) { return c->width; }

void gm_constraint_report(GmConstraint *c, GmReport *out)
{
    GmCore *core = &c->core;
    gm_core_lock(core);
    memset(out, 0, sizeof *out);
    out->memory_bytes = core->mem.used;
    out->walked = core->views.walked;
    out->rules = core->net.nfa.rules.len;
    out->states = c->foci == NULL ? core->net.states.len : c->foci->program.n_states;
    out->lexer_states = core->rx.nodes.len;
    out->views = core->views.views.len;
    out->steps = core->views.steps.len;
    out->summaries = c->foci == NULL ? core->summaries.len : c->foci->results.len;
    out->left_recursive_rules = core->net.groups.member.len;
    out->warm_bytes = c->warmed;
    gm_core_unlock(core);
    gm_mutex_lock(&c->masks.lock);
    out->memory_bytes += c->masks.mem.used;
    out->mask_bytes = c->masks.mem.used;
    out->cached_masks = c->masks.young.len + c->masks.old.len;
    gm_mutex_unlock(&c->masks.lock);
}

static bool has_id(const uint32_t *ids, uint32_t n, uint32_t id)
{
    uint32_t from = 0, to = n;
    while (from < to) {
        uint32_t mid = from + (to - from) / 2;
        if (ids[mid] < id) {
            from = mid + 1;
        } else {
            to = mid;
        }
    }
    return from < n && ids[from] == id;
}

bool gm_constraint_is_end(const GmConstraint *c, uint32_t id)
{
    return c->n_end_tokens > 0 && has_id(c->end_tokens, c->n_end_tokens, id);
}

bool gm_constraint_is_exact(const GmConstraint *c, uint32_t id)
{
    const GmNfa *nfa = &c->core.net.nfa;
    for (uint32_t i = 0; i < nfa->id_sets.len; i++) {
        if (has_id(nfa->id_sets.data[i].ids, nfa->id_sets.data[i].n, id)) {
            return true;
        }
    }
    return false;
}
