/* gm_warm: filling tables ahead of need, on a thread of its own.
 *
 * One worker serves a process. It takes constraints in the order of their compiles, the newest first, and works on
 * each, half a millisecond after it was compiled, in batches of about 50 us, giving way between units whenever a
 * foreground call waits for the constraint's lock. It stops at the fixpoint, after WARM_SECONDS of work, or when its
 * tables take half of `mask_cache_bytes` or their part of WARM_BYTES, and then sleeps. Nothing depends on it. It runs
 * at ordinary priority: an idle-priority thread that is preempted while it holds a constraint's lock would let
 * foreground calls wait for the whole machine to calm down.
 *
 * Owner    the caller owns the worker and frees it before exit; a queued constraint is retained, and dropped
 *          when the worker is its last owner.
 * Threads  all calls from any thread. gm_worker_pause waits for the batch in progress and holds the worker
 *          until gm_worker_resume: call it around fork(). In the child the worker has no thread: abandon it.
 * Source   own; docs/algorithms/schedules.md. Tests: tests/test_schedules.py. */
#ifndef GM_WARM_H
#define GM_WARM_H

#include "gm_constraint.h"
#include "gm_static.h"

/* The public calls are in gm.h. */

#endif
