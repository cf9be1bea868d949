// The FluentServer of @fluent-org/logger: a receiver that others wrote. Plain JavaScript, because its types do not
// compile with ours.

import { FluentServer } from '@fluent-org/logger'

/**
 * Starts a server on a free port. `security` and `tlsOptions` are those of its package. Its decoder rounds integers
 * beyond 2^53.
 *
 * @param {object} [options]
 */
export async function startFluentServer(options = {}) {
  /** @type {{ tag: string, time: unknown, record: Record<string, unknown> }[]} */
  const events = []
  const server = new FluentServer({ ...options, listenOptions: { port: 0, host: '127.0.0.1' } })
  server.on('entry', (tag, time, record) => events.push({ tag, time, record }))
  await server.listen()
  return { events, port: Number(server.port), close: () => server.close() }
}
