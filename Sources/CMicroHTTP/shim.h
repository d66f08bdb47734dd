// The header of GNU libmicrohttpd. Its calls with a varying number of arguments, which Swift does
// not import, have functions here.
#pragma once
#include <stdint.h>
#include <netinet/in.h>
#include <string.h>
#include <microhttpd.h>

// Constants that Swift imports under different names, as versions of the header say what they are.
static const enum MHD_Result cmicrohttp_yes = MHD_YES;
static const enum MHD_Result cmicrohttp_no = MHD_NO;
static const enum MHD_ValueKind cmicrohttp_header = MHD_HEADER_KIND;
static const enum MHD_ResponseMemoryMode cmicrohttp_copied = MHD_RESPMEM_MUST_COPY;
static const enum MHD_ConnectionNotificationCode cmicrohttp_connected =
    MHD_CONNECTION_NOTIFY_STARTED;

// What is called while a server runs, always with `closure` first.
struct cmicrohttp_calls {
  void *closure;
  void *(*began)(void *closure, const char *uri, struct MHD_Connection *connection);
  MHD_AccessHandlerCallback handler;
  MHD_RequestCompletedCallback completed;
  MHD_NotifyConnectionCallback connected;
};

// Starts a server on 127.0.0.1 with one thread; NULL if it cannot be started. Port 0 leaves the
// choice to the system.
static inline struct MHD_Daemon *cmicrohttp_start(
    uint16_t port, unsigned int connections, unsigned int idle_seconds, size_t connection_bytes,
    struct cmicrohttp_calls calls) {
  struct sockaddr_in address;
  memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return MHD_start_daemon(
      MHD_USE_AUTO_INTERNAL_THREAD | MHD_USE_SUSPEND_RESUME, port, NULL, NULL,
      calls.handler, calls.closure,
      MHD_OPTION_SOCK_ADDR, (struct sockaddr *)&address,
      MHD_OPTION_CONNECTION_LIMIT, connections,
      MHD_OPTION_CONNECTION_TIMEOUT, idle_seconds,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_bytes,
      MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_URI_LOG_CALLBACK, calls.began, calls.closure,
      MHD_OPTION_NOTIFY_COMPLETED, calls.completed, calls.closure,
      MHD_OPTION_NOTIFY_CONNECTION, calls.connected, calls.closure,
      MHD_OPTION_END);
}

// The port of a server; 0 if it is not known.
static inline uint16_t cmicrohttp_port(struct MHD_Daemon *server) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(server, MHD_DAEMON_INFO_BIND_PORT);
  return info ? info->port : 0;
}

// The socket of a connection; -1 if it has none.
static inline int cmicrohttp_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}
