import { once } from 'node:events'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { SondeError } from '@sonde/sdk'
import { messageOf } from '@sonde/sdk/internal'

/** Error codes of the system, in plain words. */
const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no address is known for this name; give an address of this machine',
  EAI_AGAIN: 'no server of names answers; give an address of this machine',
  EADDRNOTAVAIL: 'no interface of this machine has this address; give another one',
}

/** An address to listen on. */
export interface ListenAddress {
  readonly host: string
  /** 0 is any free port. */
  readonly port: number
  /** The flag or key that sets it. */
  readonly setBy: string
}

/**
 * Listens for an instant, and accepts no connection. Resolves with the address as the system spells it.
 *
 * @throws SondeError `CLI_LISTEN` if the address cannot be listened on.
 */
export async function tryListener(target: ListenAddress): Promise<string> {
  const server = createServer((socket) => socket.destroy())
  await listenOn(server, target)
  const { address } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return address
}

/**
 * Makes a server listen.
 *
 * @throws SondeError `CLI_LISTEN` if it cannot listen.
 */
export async function listenOn(server: Server, address: ListenAddress): Promise<void> {
  try {
    server.listen({ host: address.host, port: address.port, exclusive: true })
    await once(server, 'listening')
  } catch (cause) {
    throw listenFault(cause, address)
  }
}

/** The reason why the listener failed, and the fix. */
export function listenFault(cause: unknown, address: ListenAddress): SondeError {
  return new SondeError('CLI_LISTEN', listenMessage(cause, address), { cause })
}

/** Host and port in the spelling of an address. */
export function hostAndPort(host: string, port: number): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`
}

function listenMessage(cause: unknown, { host, port, setBy }: ListenAddress): string {
  const { code = '' } = cause as { code?: string }
  const address = hostAndPort(host, port)
  if (code === 'EADDRINUSE') return `${address} is in use by another program; choose another address with ${setBy}`
  if (code === 'EACCES') return `${address} needs more rights; choose a port above 1023 with ${setBy}`
  const reason = REASONS[code]
  return `cannot listen on ${address}: ${reason === undefined ? messageOf(cause) : `${reason} with ${setBy}`}`
}
