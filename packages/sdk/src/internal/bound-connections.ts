import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { Server as TlsServer } from 'node:tls'
import { openFilesLimit } from './open-files.ts'

/** Limits for the connections of a server. */
export interface ConnectionLimits {
  /** Connections at a time, as far as a quarter of the descriptors of the process lets them. */
  readonly count: number
  /**
   * A connection without traffic for this time is closed, for example an answer that is not read. Unit: milliseconds.
   */
  readonly silenceMs: number
  /** Whether an answer that is under way must not be closed for others; these are bounded elsewhere. Default: none. */
  readonly isKept?: (request: IncomingMessage) => boolean
  /** Called for each connection that is closed in favour of another, or for too many requests at once. */
  readonly onClosed?: () => void
}

/**
 * Requests of one connection that are answered at a time. Nobody sends more before the first answer has come, and Node
 * would begin with all of them at once. Policy: the connection is closed.
 */
const REQUESTS_AT_ONCE = 4
/** The other descriptors are for the files and sockets of everything else. */
const DESCRIPTOR_SHARE = 1 / 4

/**
 * Limits the connections of a server. Above the limit, the connection with the longest time since its last request is
 * closed. If new connections were refused instead, a client with all connections could lock out all others.
 */
export function boundConnections(server: Server, { count, silenceMs, isKept, onClosed }: ConnectionLimits): void {
  const isTls = server instanceof TlsServer
  /** In the order of their last requests, or of their beginning. */
  const open = new Map<string | Socket, Socket>()
  const idOf = (socket: Socket) => (isTls ? tlsIdOf(socket) : socket)
  const kept = new WeakSet<Socket>()
  const countMax = Math.min(count, Math.floor(openFilesLimit() * DESCRIPTOR_SHARE))
  const makeRoom = () => {
    for (const [id, socket] of open) {
      if (kept.has(socket)) continue
      socket.destroy()
      open.delete(id)
      onClosed?.()
      return
    }
  }
  server.setTimeout(silenceMs)
  const take = (socket: Socket) => {
    const id = idOf(socket)
    open.set(id, socket)
    socket.once('close', () => {
      if (open.get(id) === socket) open.delete(id)
    })
    if (open.size > countMax) makeRoom()
  }
  server.on('connection', take)
  // After the handshake another socket stands for the connection.
  server.on('secureConnection', take)
  server.on('tlsClientError', (_error: Error, socket: Socket) => open.delete(idOf(socket)))
  const underWay = new WeakMap<Socket, number>()
  // Runs before the handlers: a request on a connection that is closed here needs no answer.
  server.prependListener('request', (request: IncomingMessage, answer: ServerResponse) => {
    const { socket } = request
    if (socket.destroyed) return
    const count = (underWay.get(socket) ?? 0) + 1
    if (count > REQUESTS_AT_ONCE) {
      socket.destroy()
      open.delete(idOf(socket))
      onClosed?.()
      return
    }
    underWay.set(socket, count)
    answer.once('close', () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1))
    open.delete(idOf(socket))
    open.set(idOf(socket), socket)
    if (isKept?.(request) !== true) return
    kept.add(socket)
    const release = () => kept.delete(socket)
    answer.once('close', release).once('finish', release)
  })
}

/** Tells connections apart, before and after their handshakes. */
function tlsIdOf({ remoteAddress, remotePort, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localPort}`
}
