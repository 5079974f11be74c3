/* gm_lower_lex: the lexical nodes of a module as regular languages. Part of gm_lower. */
#ifndef GM_LOWER_LEX_H
#define GM_LOWER_LEX_H

#include "gm_lower.h"

enum { /* op codes of glrmask_core.ir.Op */
    IR_NOTHING, IR_LITERAL, IR_LITERALS, IR_BYTES, IR_CHARS, IR_LEX_SEQ, IR_LEX_CHOICE, IR_LEX_REPEAT, IR_BOTH,
    IR_WITHOUT, IR_AUTOMATON,
    IR_TERMINAL = 16, IR_CALL, IR_SEQ, IR_CHOICE, IR_REPEAT, IR_SEPARATED, IR_TOKEN_IDS, IR_EXTERN_GRAMMAR,
    IR_EXTERN_TOKEN, IR_SCOPE, IR_ANY_ORDER
};

/* Fill nfa->re for all lexical nodes behind those of the prefix; children come first in a module. */
GmStatus gm_lower_lexical(GmNfa *nfa, GmError *err);

#endif
