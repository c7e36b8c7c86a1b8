/* SPDX-License-Identifier: Apache-2.0 */
/* Copyright the Lanewise authors */
#pragma once

#include <stdatomic.h>

/* Calls of the C library that the plugin finds in the program before libc's, so that they can go
 * wrong. Set before the plugin is opened. */
extern int clock_steps_back; /* wall-clock time steps back an hour at every look */
extern int is_sys_failing;   /* nothing below /sys opens */
extern int sys_delay_ms;     /* the first look into /sys takes so long */

extern atomic_int looks_into_sys;
/* Files that were opened without O_CLOEXEC or, outside of /proc and /sys, without O_NONBLOCK. */
extern atomic_int careless_opens; /* so far */
