/* HTTP/1.1 load over keep-alive connections.
 *
 *   http_load HOST PORT SECONDS FIRST_NUMBER REQUESTS_FILE STATUS [MARKER COUNT]
 *
 * An answer is as expected when its status is STATUS and, if given, its body holds MARKER exactly COUNT times.
 * Prints one line of JSON.
 */
#include "load.h"

static int wanted_status;
static const char *marker;
static unsigned long marker_count;

static size_t body_length(const char *head, const char *end) {
  for (const char *line = head; line && line < end; line = memchr(line, '\n', (size_t)(end - line))) {
    if (*line == '\n') line++;
    if (!strncasecmp(line, "content-length:", 15)) return strtoul(line + 15, NULL, 10);
  }
  fprintf(stderr, "an answer without Content-Length: %.*s\n", (int)(end - head), head);
  exit(2);
}

static size_t take_answer(const char *bytes, size_t length, int *good) {
  const char *end = memmem(bytes, length, "\r\n\r\n", 4);
  if (!end) return 0;
  const char *body = end + 4;
  size_t size = body_length(bytes, end + 2), total = (size_t)(body - bytes) + size;
  if (length < total) return 0;
  unsigned long found = 0;
  *good = strtol(bytes + 9, NULL, 10) == wanted_status;
  if (!marker) return total;
  size_t width = strlen(marker);
  for (const char *at = body; (at = memmem(at, (size_t)(body + size - at), marker, width)); at += width) found++;
  *good = *good && found == marker_count;
  return total;
}

int main(int count, char **words) {
  if (count != 7 && count != 9) {
    fprintf(stderr, "http_load HOST PORT SECONDS FIRST_NUMBER REQUESTS_FILE STATUS [MARKER COUNT]\n");
    return 2;
  }
  read_requests(words[5], strtoull(words[4], NULL, 10));
  wanted_status = atoi(words[6]);
  if (count == 9) marker = words[7], marker_count = strtoul(words[8], NULL, 10);
  for (size_t i = 0; i < connection_count; i++) connections[i].fd = connect_to(words[1], atoi(words[2]));
  run(atof(words[3]));
  return 0;
}
