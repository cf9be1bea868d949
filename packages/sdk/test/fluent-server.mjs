// The FluentServer of @fluent-org/logger: a receiver that others wrote. Plain JavaScript, because its types do not
// compile with ours.

import { FluentServer } from '@fluent-org/logger'

/**
 * Starts a server. `security` and `tlsOptions` are those of its package; `port` 0 is any free port. Its decoder rounds
 * integers beyond 2^53.
 *
 * @param {{ port?: number, security?: object, tlsOptions?: object }} [options]
 * @param {(tag: string, record: Record<string, unknown>) => void} [onEvent] Default: events are kept in `events`.
 */
export async function startFluentServer({ port = 0, ...options } = {}, onEvent) {
  /** @type {{ tag: string, record: Record<string, unknown> }[]} */
  const events = []
  const server = new FluentServer({ ...options, listenOptions: { port, host: '127.0.0.1' } })
  server.on('entry', (tag, _time, record) => (onEvent ? onEvent(tag, record) : events.push({ tag, record })))
  await server.listen()
  return { events, port: Number(server.port), close: () => server.close() }
}
