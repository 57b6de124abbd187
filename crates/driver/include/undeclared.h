/* What compilers know of these functions in files that do not declare them. Tests are compiled with flags that make them forget it, and an answer would be
 * an int then: half of a pointer. Files that declare them otherwise are compiled without this. */
void *malloc(__SIZE_TYPE__);
void *calloc(__SIZE_TYPE__, __SIZE_TYPE__);
void *realloc(void *, __SIZE_TYPE__);
void free(void *);
void *memchr(const void *, int, __SIZE_TYPE__);
void *memcpy(void *, const void *, __SIZE_TYPE__);
void *memmove(void *, const void *, __SIZE_TYPE__);
void *mempcpy(void *, const void *, __SIZE_TYPE__);
void *memset(void *, int, __SIZE_TYPE__);
char *stpcpy(char *, const char *);
char *strcat(char *, const char *);
char *strchr(const char *, int);
char *strcpy(char *, const char *);
__SIZE_TYPE__ strcspn(const char *, const char *);
char *strdup(const char *);
__SIZE_TYPE__ strlen(const char *);
char *strncat(char *, const char *, __SIZE_TYPE__);
char *strncpy(char *, const char *, __SIZE_TYPE__);
char *strndup(const char *, __SIZE_TYPE__);
char *strpbrk(const char *, const char *);
char *strrchr(const char *, int);
__SIZE_TYPE__ strspn(const char *, const char *);
char *strstr(const char *, const char *);
