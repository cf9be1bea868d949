import type { Socket } from 'node:net'
import type { Asker, History } from './form.ts'

/** The sender of an HTTP request. */
export function askerOf({ socket }: { readonly socket: Socket }): Asker {
  const { remoteAddress: host = '', remotePort = 0 } = socket
  return { host, connection: String(remotePort), isGone: () => socket.destroyed }
}

/** A history whose requests all come from one asker. */
export function askedBy(history: History, asker: Asker): History {
  return { query: (request) => history.query(request, asker) }
}
