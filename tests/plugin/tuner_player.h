/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */
#pragma once

/* NCCL's side of the v6 tuner in plain C, for plays_nccl.c. It shares no header with the plugin. */
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef void (*logger_t)(int level, unsigned long flags, const char* file, int line,
                         const char* format, ...);

typedef struct {
  const char* name;
  int (*init)(void** context, uint64_t id, size_t ranks, size_t nodes, logger_t logger,
              void* nvl_domains, void* constants);
  int (*get_coll_info)(void* context, int function, size_t bytes, int pipe_ops, float** table,
                       int algorithms, int protocols, int registered, int* channels);
  int (*finalize)(void* context);
  int (*get_chunk_size)(void* context, int function, size_t bytes, int algorithm, int protocol,
                        int channels, size_t* chunk);
} tuner_t;

enum { all_reduce = 4, level_warn = 2, level_info = 3, max_table = 8 * 3 };

extern const char* plugin_path;
extern atomic_int info_lines;
extern atomic_int warn_lines;
extern char last_line[1024];

/* Ends the program with status 1 where the claim is not true. */
void check(int is_true, const char* claim);

/* A logger that counts lines and keeps the latest. */
void take_line(int level, unsigned long flags, const char* file, int line, const char* format, ...);

tuner_t* open_plugin(void** handle);
void close_plugin(void* handle);

/* The first rank's context; the other ranks are threads that come, agree and go. */
void* open_communicator(tuner_t* tuner, size_t ranks, size_t nodes, logger_t logger);

/* Costs of a PCIe box: LL128 and everything but tree and ring forbidden. */
void fill_table(float* table, int algorithms);

void ask(tuner_t* tuner, void* context, float* table, int algorithms, size_t bytes);
