/* Watches queues, stacks, registers and locks of a running C or C++ program: calls around each operation, checked in process.
 *
 * Link with libselvedge_monitor.a (cargo build --release -p selvedge-monitor) and -lpthread -ldl -lm.
 * Values of queues and stacks carry a selvedge_stamp: keep it beside the value, in the node.
 * docs/monitor.md has an example and says what is found, and when.
 *
 * What is begun is ended, by the same thread, or cancelled. A thread may begin an operation inside another one of the same object, in a callback or as a coroutine: stacks and registers
 * check up to 8 of them at once, queues count the inner ones as unchecked. What a thread that ends leaves open, or another thread ends, is counted as unchecked too.
 */
#ifndef SELVEDGE_MONITOR_H
#define SELVEDGE_MONITOR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct selvedge_monitor selvedge_monitor;

/* What a value carries through a queue or stack. */
typedef struct { uint64_t ticket, called; } selvedge_stamp;

/* A removal, read or write that has been called. */
typedef struct { uint64_t called, latest; } selvedge_access;

/* Objects that are empty, hold the initial value, are held by nobody. Any number of threads may use one at once. */
selvedge_monitor *selvedge_monitor_queue(void);
selvedge_monitor *selvedge_monitor_stack(void);
selvedge_monitor *selvedge_monitor_register(uint64_t initial);
selvedge_monitor *selvedge_monitor_lock(void);
void selvedge_monitor_free(selvedge_monitor *monitor);

/* Queues and stacks:  stamp = begin; put (value, stamp) in; end.   access = begin; take (value, stamp) out; end, NULL for empty. */
selvedge_stamp selvedge_push_begin(const selvedge_monitor *monitor);
void selvedge_push_end(const selvedge_monitor *monitor, selvedge_stamp stamp);
selvedge_access selvedge_begin(const selvedge_monitor *monitor);
void selvedge_pop_end(const selvedge_monitor *monitor, selvedge_access access, const selvedge_stamp *stamp);

/* Instead of an end, where the operation was not made after all or did nothing: the object is full, a try failed. */
void selvedge_push_cancel(const selvedge_monitor *monitor, selvedge_stamp stamp);
void selvedge_cancel(const selvedge_monitor *monitor, selvedge_access access);

/* Registers:  access = selvedge_begin; read or write; end. */
void selvedge_read_end(const selvedge_monitor *monitor, selvedge_access access, uint64_t value);
void selvedge_write_end(const selvedge_monitor *monitor, selvedge_access access, uint64_t value);

/* Locks: after it was acquired, and before it is released. */
void selvedge_acquired(const selvedge_monitor *monitor);
void selvedge_releasing(const selvedge_monitor *monitor);

/* What was found. selvedge_examine checks what waits; selvedge_violation writes a text and answers its length, 0 for none. */
void selvedge_examine(const selvedge_monitor *monitor);
uint64_t selvedge_violations(const selvedge_monitor *monitor);
uint64_t selvedge_unchecked(const selvedge_monitor *monitor);
size_t selvedge_violation(const selvedge_monitor *monitor, size_t number, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
