/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */

/* What gcc's crtendS.o does and zig links into no library: runs this library's destructors when it
 * is closed. Without it they run when the process ends, after NCCL has unloaded the plugin, and the
 * process crashes. */
extern void __cxa_finalize(void* library);
extern void* __dso_handle __attribute__((visibility("hidden")));

__attribute__((destructor)) static void finalize_library(void) { __cxa_finalize(&__dso_handle); }
