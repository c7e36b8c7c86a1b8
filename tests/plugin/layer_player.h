/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* How NCCL finds and hears a plugin's net and env layers, for programs that play it. */
#ifndef LANEWISE_LAYER_PLAYER_H
#define LANEWISE_LAYER_PLAYER_H

typedef void (*logger_t)(int level, unsigned long flags, const char* file, int line,
                         const char* format, ...);

/* What the plugin has said so far, and how many of its lines were warnings. */
extern char log_text[8192];
extern int warn_lines;
void take_line(int level, unsigned long flags, const char* file, int line, const char* format, ...);

/* Ends the program with status 1 and the log where a claim does not hold. */
void check(int is_true, const char* claim);
void expect_value(const char* value, const char* expected, const char* claim);
void expect_missing_file_said(void);

void* open_by_name(const char* kind);
void* find_symbol(void* handle, const char* kind, int version);

#endif
