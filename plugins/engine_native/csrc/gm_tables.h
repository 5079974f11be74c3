/* gm_tables: closed tables as bytes, and back.
 *
 * Saved is what a constraint needs beside its module so that no mask computes anything: the steps and summaries that
 * were closed at build (GmCore.closed) with the views, bases, sets and lexer states they are made of. What came later,
 * and what a module gives anyway (the network), is not. Parts are sorted by content and numbered in that order, so
 * that equal grammars give equal bytes, whatever ids they had and whatever their vocabulary had kept of others.
 *
 *   version, trie nodes, words of a mask, network states, hash of the module (8 bytes)
 *   lexer states   literals: (0, length, bytes) or (how many bytes less than the one before)
 *                  others: kind, then bytes, numbers of what they are made of, counts
 *   sets           (0, words) or (how far back, list of ids that differ); before the first one lie all tokens
 *   bases          count of entries, list of nodes (equal ones allowed), debts if there are any
 *   views          count, list of bases
 *   tokens         count, list of ids; count, list of sets; count, list of ids that the sets are less
 *   steps          base, lexer state, tokens, view after       by base and lexer state
 *   summaries      base, network state, tokens, two views      by base and state
 *   under a debt   debt, view
 *
 * Loading takes nothing on trust: every number is checked against what it counts or names, lexer states are made by the
 * constructors of gm_regex, bases only know nodes of the trie and sets only tokens of it. A step must leave shorter
 * remainders than it reads, and a summary must not leave longer ones, which is what computing summaries later rests on.
 * That tables say the truth about the grammar is not checked: that would be to compute them. Memory stays within a small
 * multiple of the data and SETS_FREE for sets.
 *
 * Threads  saving takes the lock; loading is for a core that nobody else knows.
 * Cost     saving sorts everything once; loading reads once.
 * Source   own. Tests: tests/c/test_tables.c, tests/test_tables.py, scripts/corrupt.py. */
#ifndef GM_TABLES_H
#define GM_TABLES_H

#include "gm_serial.h"
#include "gm_static.h"

enum { GM_TABLES_VERSION = 2, GM_TABLES_BACK = 8, GM_TABLES_SETS_FREE = 32 << 20 }; /* bytes of sets told by differences */

/* Tells modules apart that were mixed up; no proof against intent. */
uint64_t gm_tables_key(const GmModule *module);
/* Append the closed tables. */
GmStatus gm_tables_save(GmCore *core, GmWriter *out, GmError *err);
/* Into a core that is built and empty. */
GmStatus gm_tables_load(GmCore *core, const GmFillLimits *limits, const uint8_t *data, uint64_t n, GmError *err);

#endif
