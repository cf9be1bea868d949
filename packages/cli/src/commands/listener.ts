import { once } from 'node:events'
import { createServer } from 'node:net'
import { messageOf, SondeError } from '@sonde/sdk'

/** What the system says, in words that help. */
const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no address is known for this name; give an address of this machine with --listen',
  EAI_AGAIN: 'no server of names answers; give an address of this machine with --listen',
  EADDRNOTAVAIL: 'no interface of this machine has this address; give another one with --listen',
}

/**
 * Listens for an instant, and takes no connection: so that a port that cannot be had is known before anything is made
 * on disk.
 *
 * @throws SondeError `CLI_LISTEN` where it cannot be listened on.
 */
export async function tryListener(host: string, port: number): Promise<void> {
  const server = createServer((socket) => socket.destroy())
  try {
    server.listen({ host, port })
    await once(server, 'listening')
  } catch (cause) {
    throw listenFault(cause, host, port)
  }
  server.close()
  await once(server, 'close')
}

/** Why one cannot listen, and what to do about it. */
export function listenFault(cause: unknown, host: string, port: number): SondeError {
  return new SondeError('CLI_LISTEN', listenMessage(cause, placeOf(host, port)), { cause })
}

/** Host and port as they stand in an address. */
export function placeOf(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function listenMessage(cause: unknown, place: string): string {
  const { code = '' } = cause as { code?: string }
  if (code === 'EADDRINUSE') return `${place} is in use by another program; choose another address with --listen`
  if (code === 'EACCES') return `${place} needs more rights; choose a port above 1023 with --listen`
  return `cannot listen on ${place}: ${REASONS[code] ?? messageOf(cause)}`
}
