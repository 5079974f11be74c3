#include "gm_warm.h"

#include <string.h>

#if defined(_WIN32)

/* No worker on this platform: AUTO computes on first need only. */
GmWorker *gm_worker_new(void) { return NULL; }
void gm_worker_free(GmWorker *worker) { (void)worker; }
void gm_worker_add(GmWorker *worker, GmConstraint *constraint) { (void)worker, (void)constraint; }
void gm_worker_pause(GmWorker *worker) { (void)worker; }
void gm_worker_resume(GmWorker *worker) { (void)worker; }
int gm_worker_idle(GmWorker *worker) { (void)worker; return 1; }

#else

#include <pthread.h>
#include <sched.h> /* sched_yield */

static const double WARM_SECONDS = 0.25; /* the C grammar closes in a third of it */
/* Of tables for all constraints of a vocabulary that are alive: a thousand kept constraints must not take gigabytes.
 * One of them may take a part of what is left, so that later ones find some. */
static const uint64_t WARM_BYTES = 128u << 20;
enum { WARM_PART = 8 };
static const double GRACE_SECONDS = 500e-6; /* the first mask comes first */
static const double QUIET_SECONDS = 100e-6; /* without a call that makes entries: else such calls would wait for each other */
static const double BATCH_SECONDS = 50e-6; /* a foreground call that meets a batch waits at most this long */
enum { WARM_LEXERS = 600, WARM_PAIRS = 1 << 18 };

typedef struct Job {
    struct Job *next;
    GmConstraint *constraint;
    GmFill fill;
    double spent, ready; /* seconds; ready: not before */
    uint32_t asked;      /* gm_core_asked when last looked at */
} Job;

struct GmWorker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    Job *jobs; /* newest first */
    bool stop, busy;
    uint32_t paused;
};

/* Bytes that the worker may add to the tables of the constraint now. */
static size_t job_may_take(const GmConstraint *c)
{
    const uint64_t half = c->mask_cache_bytes / 2, all = atomic_load(&c->vocab->warmed) - c->warmed;
    const uint64_t part = all < WARM_BYTES ? (WARM_BYTES - all) / WARM_PART : 0, most = half < part ? half : part;
    return most > c->warmed ? (size_t)(most - c->warmed) : 0;
}

/* The worker has grown or shrunk the tables, which took so many bytes before. Locked. */
static void job_account(GmConstraint *c, size_t before)
{
    const uint64_t grown = c->core.mem.used - before; /* modulo 2^64 */
    c->warmed += grown;
    (void)atomic_fetch_add(&c->vocab->warmed, grown);
}

static void job_free(Job *job)
{
    GmConstraint *c = job->constraint;
    gm_core_lock(&c->core);
    const size_t before = c->core.mem.used;
    gm_fill_deinit(&job->fill);
    job_account(c, before);
    const uint64_t warmed = c->warmed;
    gm_core_unlock(&c->core);
    gm_maskcache_limit(&c->masks, (size_t)(c->mask_cache_bytes - warmed));
    gm_constraint_free(job->constraint);
    (void)gm_mem_libc(NULL, job, sizeof *job, 0);
}

/* One batch; true when the job is finished. */
static bool job_run(Job *job)
{
    GmCore *core = &job->constraint->core;
    bool done = atomic_load(&job->constraint->references) == 1; /* nobody else wants it */
    double start = gm_seconds(), at = start;
    gm_core_lock_idle(core);
    GmMem *mem = &core->mem;
    const size_t limit = mem->limit, used = mem->used, most = job_may_take(job->constraint);
    mem->limit = most < limit - used ? used + most : limit;
    while (!done && at - start < BATCH_SECONDS && !gm_core_is_wanted(core)) {
        GmError err;
        done = gm_fill_unit(&job->fill, &done, &err) != GM_OK || done;
        at = gm_seconds();
    }
    mem->limit = limit;
    job_account(job->constraint, used);
    gm_core_unlock(core);
    job->spent += at - start;
    return done || job->spent > WARM_SECONDS;
}

/* The newest job that nobody is in the way of; else the one to wait for, and how many seconds. There is a job. */
static Job *job_choose(GmWorker *w, double *early)
{
    const double now = gm_seconds();
    Job *best = NULL;
    for (Job *job = w->jobs; job != NULL; job = job->next) {
        const uint32_t asked = gm_core_asked(&job->constraint->core);
        if (asked != job->asked) {
            job->asked = asked;
            job->ready = job->ready > now + QUIET_SECONDS ? job->ready : now + QUIET_SECONDS;
        }
        if (best == NULL || job->ready < best->ready) {
            best = job;
        }
        if (job->ready <= now) {
            break;
        }
    }
    *early = best->ready - now;
    return best;
}

static void *worker_main(void *argument)
{
    GmWorker *w = argument;
    (void)pthread_mutex_lock(&w->lock);
    while (!w->stop) {
        if (w->jobs == NULL || w->paused > 0) {
            (void)pthread_cond_wait(&w->changed, &w->lock);
            continue;
        }
        double early;
        Job *job = job_choose(w, &early);
        if (early > 0) {
            struct timespec pause = {0, (long)(1e9 * early) + 1000};
            (void)pthread_mutex_unlock(&w->lock);
            (void)nanosleep(&pause, NULL);
            (void)pthread_mutex_lock(&w->lock);
            continue; /* the job may be gone, or a newer one be there */
        }
        w->busy = true;
        (void)pthread_mutex_unlock(&w->lock);
        bool finished = job_run(job);
        while (!finished && gm_core_is_wanted(&job->constraint->core)) {
            (void)sched_yield();
        }
        (void)pthread_mutex_lock(&w->lock);
        if (finished) {
            Job **link = &w->jobs; /* newer jobs may stand before it by now */
            while (*link != job) {
                link = &(*link)->next;
            }
            *link = job->next;
            (void)pthread_mutex_unlock(&w->lock);
            job_free(job);
            (void)pthread_mutex_lock(&w->lock);
        }
        w->busy = false;
        (void)pthread_cond_broadcast(&w->changed);
    }
    (void)pthread_mutex_unlock(&w->lock);
    return NULL;
}

GmWorker *gm_worker_new(void)
{
    GmWorker *w = gm_mem_libc(NULL, NULL, 0, sizeof *w);
    if (w == NULL) {
        return NULL;
    }
    memset(w, 0, sizeof *w);
    (void)pthread_mutex_init(&w->lock, NULL);
    (void)pthread_cond_init(&w->changed, NULL);
    if (pthread_create(&w->thread, NULL, worker_main, w) != 0) {
        (void)gm_mem_libc(NULL, w, sizeof *w, 0);
        return NULL;
    }
    return w;
}

void gm_worker_free(GmWorker *w)
{
    if (w == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&w->lock);
    w->stop = true;
    (void)pthread_cond_broadcast(&w->changed);
    (void)pthread_mutex_unlock(&w->lock);
    (void)pthread_join(w->thread, NULL);
    while (w->jobs != NULL) {
        Job *job = w->jobs;
        w->jobs = job->next;
        job_free(job);
    }
    (void)pthread_mutex_destroy(&w->lock);
    (void)pthread_cond_destroy(&w->changed);
    (void)gm_mem_libc(NULL, w, sizeof *w, 0);
}

void gm_worker_add(GmWorker *w, GmConstraint *constraint)
{
    const bool wanted = w != NULL && constraint->mask_cache_bytes > 1;
    Job *job = wanted ? gm_mem_libc(NULL, NULL, 0, sizeof *job) : NULL;
    if (job == NULL) {
        return;
    }
    memset(job, 0, sizeof *job);
    job->constraint = constraint;
    job->ready = gm_seconds() + GRACE_SECONDS;
    gm_constraint_retain(constraint);
    gm_maskcache_limit(&constraint->masks, (size_t)(constraint->mask_cache_bytes - constraint->mask_cache_bytes / 2));
    GmFillLimits limits = {UINT64_MAX, UINT64_MAX, WARM_PAIRS, 0, WARM_LEXERS};
    gm_core_lock(&constraint->core);
    gm_fill_init(&job->fill, &constraint->core, &limits);
    gm_core_unlock(&constraint->core);
    (void)pthread_mutex_lock(&w->lock);
    job->next = w->jobs;
    w->jobs = job;
    (void)pthread_cond_broadcast(&w->changed);
    (void)pthread_mutex_unlock(&w->lock);
}

void gm_worker_pause(GmWorker *w)
{
    if (w != NULL) {
        (void)pthread_mutex_lock(&w->lock);
        w->paused++;
        while (w->busy) {
            (void)pthread_cond_wait(&w->changed, &w->lock);
        }
        (void)pthread_mutex_unlock(&w->lock);
    }
}

void gm_worker_resume(GmWorker *w)
{
    if (w != NULL) {
        (void)pthread_mutex_lock(&w->lock);
        w->paused--;
        (void)pthread_cond_broadcast(&w->changed);
        (void)pthread_mutex_unlock(&w->lock);
    }
}

int gm_worker_idle(GmWorker *w)
{
    if (w == NULL) {
        return 1;
    }
    (void)pthread_mutex_lock(&w->lock);
    int idle = w->jobs == NULL && !w->busy;
    (void)pthread_mutex_unlock(&w->lock);
    return idle;
}

#endif
