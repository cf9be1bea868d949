import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { openFilesLimit } from './open-files.ts'

/** What a server lets be open. */
export interface ConnectionLimits {
  /** Connections at a time, as far as a quarter of the descriptors of the process lets them. */
  readonly count: number
  /**
   * A connection on which nothing moves for this long is closed: an answer that nobody reads, say. Unit: milliseconds.
   */
  readonly silenceMs: number
  /** Whether an answer that is under way must not be closed for others; these are bounded elsewhere. Default: none. */
  readonly isKept?: (request: IncomingMessage) => boolean
  /** Called for each connection that is closed for another, or for what it asks at a time. */
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
 * Keeps the connections of a server within limits, and lets in who comes: with one more than are allowed, that is
 * closed which has asked for nothing for longest. Refusing the new one instead would let whoever holds all of them shut
 * out everybody else.
 */
export function boundConnections(server: Server, { count, silenceMs, isKept, onClosed }: ConnectionLimits): void {
  /** In the order of their last requests, or of their beginning. */
  const open = new Set<Socket>()
  const kept = new WeakSet<Socket>()
  const countMax = Math.min(count, Math.floor(openFilesLimit() * DESCRIPTOR_SHARE))
  const makeRoom = () => {
    for (const socket of open) {
      if (kept.has(socket)) continue
      socket.destroy()
      open.delete(socket)
      onClosed?.()
      return
    }
  }
  server.setTimeout(silenceMs)
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    if (open.size > countMax) makeRoom()
  })
  const underWay = new WeakMap<Socket, number>()
  // Before whoever answers: what comes on a connection that is closed here is not worth an answer.
  server.prependListener('request', (request: IncomingMessage, answer: ServerResponse) => {
    const { socket } = request
    if (socket.destroyed) return
    const count = (underWay.get(socket) ?? 0) + 1
    if (count > REQUESTS_AT_ONCE) {
      socket.destroy()
      open.delete(socket)
      onClosed?.()
      return
    }
    underWay.set(socket, count)
    answer.once('close', () => underWay.set(socket, (underWay.get(socket) ?? 1) - 1))
    open.delete(socket)
    open.add(socket)
    if (isKept?.(request) !== true) return
    kept.add(socket)
    const release = () => kept.delete(socket)
    answer.once('close', release).once('finish', release)
  })
}
