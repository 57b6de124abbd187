#pragma once
#include <stdbool.h>
#ifdef __cplusplus
extern "C" {
#endif
bool queue_push(int value);
bool queue_pop(int *value);
#ifdef __cplusplus
}
#endif
