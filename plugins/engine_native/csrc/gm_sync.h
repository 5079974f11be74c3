/* gm_sync: the few primitives for threads: atomics, a mutex, and padding-free flags.
 * C11 atomics everywhere; pthread or Win32 mutexes. */
#ifndef GM_SYNC_H
#define GM_SYNC_H

#include <stdatomic.h>
#include <stdint.h>

#if defined(_WIN32)
#include <windows.h>
typedef SRWLOCK GmMutex;
static inline void gm_mutex_init(GmMutex *m) { InitializeSRWLock(m); }
static inline void gm_mutex_deinit(GmMutex *m) { (void)m; }
static inline void gm_mutex_lock(GmMutex *m) { AcquireSRWLockExclusive(m); }
static inline void gm_mutex_unlock(GmMutex *m) { ReleaseSRWLockExclusive(m); }
#else
#include <pthread.h>
#include <time.h>
typedef pthread_mutex_t GmMutex;
static inline void gm_mutex_init(GmMutex *m) { (void)pthread_mutex_init(m, NULL); }
static inline void gm_mutex_deinit(GmMutex *m) { (void)pthread_mutex_destroy(m); }
static inline void gm_mutex_lock(GmMutex *m) { (void)pthread_mutex_lock(m); }
static inline void gm_mutex_unlock(GmMutex *m) { (void)pthread_mutex_unlock(m); }
#endif

/* Seconds of a clock that never goes back. */
static inline double gm_seconds(void)
{
#if defined(_WIN32)
    LARGE_INTEGER ticks, rate;
    (void)QueryPerformanceCounter(&ticks);
    (void)QueryPerformanceFrequency(&rate);
    return (double)ticks.QuadPart / (double)rate.QuadPart;
#else
    struct timespec t;
    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
#endif
}

#define gm_load(p) atomic_load_explicit((p), memory_order_acquire)
#define gm_store(p, v) atomic_store_explicit((p), (v), memory_order_release)

#endif
