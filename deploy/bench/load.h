/* What both load generators share: connections that each send their own request again and again, in one
 * epoll loop, for a given time, and the figures of that.
 *
 * A requests file holds one request per connection: its length in decimal, a line feed, its bytes. Ten '@'
 * in a request stand for the next number of that connection, ten '#' for the same number once more. Numbers
 * have ten digits throughout, so a request never changes its length.
 *
 * Nothing is sent after the time is up, but every answer is waited for: what was acknowledged is known exactly.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define DIGITS 10
#define GRACE_NS 15000000000LL /* how long the last answers are waited for */
#define COMPLAINT_MAX 240

struct spot {
  size_t offset;
  int advances;
};

struct connection {
  int fd;
  int busy;
  char *request;
  size_t request_length, sent;
  struct spot *spots;
  size_t spot_count;
  unsigned long long number;
  char *reply;
  size_t reply_length, reply_room;
  int64_t started;
  unsigned long long acknowledged;
};

/* The protocol: the length of the first complete answer in `bytes`, 0 if it is not complete yet.
 * `*good` says whether it is the answer that the bench expects. */
static size_t take_answer(const char *bytes, size_t length, int *good);

static struct connection *connections;
static size_t connection_count;
static uint32_t *latencies;
static size_t latency_count, latency_room;
static unsigned long long in_time, others;
static char complaint[COMPLAINT_MAX + 1];

static void die(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(2);
}

static void *grown(void *old, size_t size) {
  void *memory = realloc(old, size);
  if (!memory) die("memory");
  return memory;
}

static int64_t now_ns(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (int64_t)t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void complain(const char *bytes, size_t length) {
  if (complaint[0]) return;
  size_t n = length < COMPLAINT_MAX ? length : COMPLAINT_MAX;
  for (size_t i = 0; i < n; i++) {
    unsigned char c = (unsigned char)bytes[i];
    complaint[i] = c < ' ' || c > '~' || c == '"' || c == '\\' ? ' ' : (char)c;
  }
  complaint[n] = 0;
}

static void find_spots(struct connection *c) {
  for (size_t i = 0; i + DIGITS <= c->request_length; i++) {
    int next = !memcmp(c->request + i, "@@@@@@@@@@", DIGITS);
    if (!next && memcmp(c->request + i, "##########", DIGITS)) continue;
    c->spots = grown(c->spots, (c->spot_count + 1) * sizeof *c->spots);
    c->spots[c->spot_count].offset = i;
    c->spots[c->spot_count++].advances = next;
    i += DIGITS - 1;
  }
}

static void read_requests(const char *path, unsigned long long first_number) {
  FILE *file = fopen(path, "rb");
  unsigned long length;
  if (!file) die(path);
  while (fscanf(file, "%lu", &length) == 1) {
    if (fgetc(file) != '\n') die("requests file");
    connections = grown(connections, (connection_count + 1) * sizeof *connections);
    struct connection *c = &connections[connection_count++];
    memset(c, 0, sizeof *c);
    c->request = grown(NULL, length);
    c->request_length = length;
    c->number = first_number - 1;
    if (fread(c->request, 1, length, file) != length) die("requests file");
    find_spots(c);
    c->reply_room = 1 << 16;
    c->reply = grown(NULL, c->reply_room);
  }
  fclose(file);
  if (!connection_count) die("requests file is empty");
}

static void fill_in(struct connection *c) {
  for (size_t i = 0; i < c->spot_count; i++) {
    if (c->spots[i].advances) c->number++;
    unsigned long long rest = c->number;
    for (int digit = DIGITS - 1; digit >= 0; digit--, rest /= 10)
      c->request[c->spots[i].offset + (size_t)digit] = (char)('0' + rest % 10);
  }
}

static int connect_to(const char *host, int port) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  int one = 1, fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0 || inet_pton(AF_INET, host, &address.sin_addr) != 1) die(host);
  if (connect(fd, (struct sockaddr *)&address, sizeof address)) die("connect");
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  return fd;
}

static void watch(int poller, struct connection *c, int operation, uint32_t events) {
  struct epoll_event event = {.events = events, .data.ptr = c};
  if (epoll_ctl(poller, operation, c->fd, &event)) die("epoll");
}

static void lose(struct connection *c, const char *why) {
  complain(why, strlen(why));
  others++;
  close(c->fd);
  c->busy = 0;
}

/* Returns 0 when the connection broke. */
static int push(int poller, struct connection *c) {
  int was_waiting = c->sent > 0;
  while (c->sent < c->request_length) {
    ssize_t n = send(c->fd, c->request + c->sent, c->request_length - c->sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {
      watch(poller, c, EPOLL_CTL_MOD, EPOLLIN | EPOLLOUT);
      return 1;
    }
    if (n < 0) {
      lose(c, "the server closed a connection while a request was sent");
      return 0;
    }
    c->sent += (size_t)n;
  }
  if (was_waiting) watch(poller, c, EPOLL_CTL_MOD, EPOLLIN);
  return 1;
}

static int start_request(int poller, struct connection *c) {
  fill_in(c);
  c->sent = 0;
  c->reply_length = 0;
  c->busy = 1;
  c->started = now_ns();
  return push(poller, c);
}

static void note_latency(int64_t ns) {
  if (latency_count == latency_room) {
    latency_room = latency_room ? latency_room * 2 : 1 << 16;
    latencies = grown(latencies, latency_room * sizeof *latencies);
  }
  latencies[latency_count++] = (uint32_t)(ns / 1000);
}

/* Reads what has come; returns 1 when the answer is complete, 0 when not, -1 when the connection broke. */
static int pull(struct connection *c, int *good) {
  for (;;) {
    if (c->reply_length == c->reply_room) c->reply = grown(c->reply, c->reply_room *= 2);
    ssize_t n = recv(c->fd, c->reply + c->reply_length, c->reply_room - c->reply_length, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return 0;
    if (n <= 0) {
      lose(c, "the server closed a connection before it answered");
      return -1;
    }
    c->reply_length += (size_t)n;
    size_t taken = take_answer(c->reply, c->reply_length, good);
    if (taken && taken != c->reply_length) {
      lose(c, "the server sent more than one answer");
      return -1;
    }
    if (taken) return 1;
  }
}

static int by_size(const void *a, const void *b) {
  uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static double percentile_ms(double part) {
  return latency_count ? latencies[(size_t)(part * (double)(latency_count - 1))] / 1000.0 : 0;
}

static void print_figures(double seconds) {
  qsort(latencies, latency_count, sizeof *latencies, by_size);
  printf("{\"answers\": %zu, \"other\": %llu, \"per_second\": %.3f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, "
         "\"complaint\": \"%s\", \"acknowledged\": [",
         latency_count, others, (double)in_time / seconds, percentile_ms(0.5), percentile_ms(0.99), complaint);
  for (size_t i = 0; i < connection_count; i++) printf("%s%llu", i ? ", " : "", connections[i].acknowledged);
  printf("]}\n");
}

/* Returns 0 when the connection has nothing more to do. */
static int serve(int poller, struct connection *c, uint32_t events, int64_t deadline) {
  int good = 0;
  if (events & EPOLLOUT && !push(poller, c)) return 0;
  if (!(events & ~(uint32_t)EPOLLOUT)) return 1;
  int state = pull(c, &good);
  if (state <= 0) return state == 0;
  int64_t now = now_ns();
  note_latency(now - c->started);
  if (good) {
    c->acknowledged++;
    if (now <= deadline) in_time++;
  } else {
    complain(c->reply, c->reply_length);
    others++;
  }
  c->busy = 0;
  return now < deadline && start_request(poller, c);
}

static void run(double seconds) {
  int poller = epoll_create1(0);
  struct epoll_event events[64];
  size_t busy = 0;
  if (poller < 0) die("epoll");
  for (size_t i = 0; i < connection_count; i++) {
    fcntl(connections[i].fd, F_SETFL, fcntl(connections[i].fd, F_GETFL) | O_NONBLOCK);
    watch(poller, &connections[i], EPOLL_CTL_ADD, EPOLLIN);
  }
  int64_t deadline = now_ns() + (int64_t)(seconds * 1e9);
  for (size_t i = 0; i < connection_count; i++) busy += (size_t)start_request(poller, &connections[i]);
  while (busy && now_ns() < deadline + GRACE_NS) {
    int n = epoll_wait(poller, events, 64, 100);
    for (int i = 0; i < n; i++) {
      struct connection *c = events[i].data.ptr;
      if (c->busy && !serve(poller, c, events[i].events, deadline)) busy--;
    }
  }
  if (busy) {
    complain("no answer came", 14);
    others += busy;
  }
  print_figures(seconds);
}
