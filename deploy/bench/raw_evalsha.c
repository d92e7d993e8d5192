/* The same script calls that the product makes, without the product: what Redis itself can take.
 *
 *   raw_evalsha HOST PORT SECONDS FIRST_NUMBER REQUESTS_FILE COUNT
 *
 * The requests are RESP commands. An answer is as expected when exactly COUNT rounds in it are 'recorded'.
 * The password comes from REDIS_PASSWORD. Prints one line of JSON.
 */
#include "load.h"

static unsigned long wanted;

/* One RESP value after another, nested ones included; `pending` counts those that are still to come. */
static size_t take_answer(const char *bytes, size_t length, int *good) {
  const char *at = bytes, *stop = bytes + length;
  unsigned long recorded = 0;
  long pending = 1;
  while (pending > 0) {
    const char *end = memmem(at, (size_t)(stop - at), "\r\n", 2);
    if (!end) return 0;
    long number = strtol(at + 1, NULL, 10);
    char kind = *at;
    at = end + 2;
    pending--;
    if (kind == '*' && number > 0) pending += number;
    if (kind != '$' || number < 0) continue;
    if (stop - at < number + 2) return 0;
    if (number == 8 && !memcmp(at, "recorded", 8)) recorded++;
    at += number + 2;
  }
  *good = recorded == wanted;
  return (size_t)(at - bytes);
}

static void sign_in(int fd) {
  const char *password = getenv("REDIS_PASSWORD");
  char command[512], answer[64];
  if (!password) return;
  int size = snprintf(command, sizeof command, "*2\r\n$4\r\nAUTH\r\n$%zu\r\n%s\r\n", strlen(password), password);
  if (send(fd, command, (size_t)size, MSG_NOSIGNAL) != size) die("AUTH");
  if (recv(fd, answer, sizeof answer, 0) < 3 || memcmp(answer, "+OK", 3)) die("AUTH was refused");
}

int main(int count, char **words) {
  if (count != 7) {
    fprintf(stderr, "raw_evalsha HOST PORT SECONDS FIRST_NUMBER REQUESTS_FILE COUNT\n");
    return 2;
  }
  read_requests(words[5], strtoull(words[4], NULL, 10));
  wanted = strtoul(words[6], NULL, 10);
  for (size_t i = 0; i < connection_count; i++) {
    connections[i].fd = connect_to(words[1], atoi(words[2]));
    sign_in(connections[i].fd);
  }
  run(atof(words[3]));
  return 0;
}
