/* A bot in C99 without libraries: it plays the first legal move of any game that lists them.
 *
 *   cc -std=c99 -O2 -o bot docs/examples/bot.c
 *   kibitz play number-merge number-merge/random --stdio -- ./bot
 */
#define _POSIX_C_SOURCE 200809L /* getline: lines of any length */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* Return the position after the string that begins at `p`, or the end of the text. */
static const char *after_string(const char *p)
{
    for (p++; *p && *p != '"'; p++)
        if (*p == '\\' && p[1])
            p++;
    return *p ? p + 1 : p;
}

/* Return the position after the JSON value that begins at `p`. */
static const char *after_value(const char *p)
{
    int depth = 0;
    while (*p) {
        if (*p == '"') {
            p = after_string(p);
        } else if (depth == 0 && strchr(",]}", *p)) {
            return p;
        } else {
            depth += (*p == '{' || *p == '[') - (*p == '}' || *p == ']');
            p++;
        }
    }
    return p;
}

/* Return the start of the value of a key in the object `text`, or NULL. Lines have no spaces. */
static const char *value_of(const char *text, const char *key)
{
    size_t length = strlen(key);

    if (*text != '{')
        return NULL;
    while (*text && *text != '}') {
        const char *name = text + 1; /* after the brace or the comma */
        const char *value;
        if (*name != '"')
            return NULL;
        value = after_string(name);
        if (*value != ':')
            return NULL;
        if (strncmp(name + 1, key, length) == 0 && name[1 + length] == '"')
            return value + 1;
        text = after_value(value + 1);
    }
    return NULL;
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        const char *type = value_of(line, "type");
        const char *legal = value_of(line, "legal");

        if (!type || strncmp(type, "\"turn\"", 6) != 0)
            continue;
        if (!legal || legal[0] != '[' || legal[1] != '{') {
            fputs("this game lists no legal moves\n", stderr);
            return EXIT_FAILURE;
        }
        printf("%.*s\n", (int)(after_value(legal + 1) - (legal + 1)), legal + 1);
        fflush(stdout); /* otherwise the answer stays in the buffer */
    }
    free(line);
    return EXIT_SUCCESS;
}
