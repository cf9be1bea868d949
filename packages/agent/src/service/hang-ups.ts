import type { Socket } from 'node:net'

/** How long a client that was sent away may take to read why. Unit: milliseconds. */
const HANG_UP_MS = 1000
/** Connections that may take that long at a time. */
const HANG_UP_COUNT = 64

/**
 * Ended connections whose clients have not read the reason yet. They belong to no client, so no other limit counts
 * them: above a small limit, the oldest is closed.
 */
export class HangUps {
  readonly #sockets = new Set<Socket>()

  /** Cuts a connection in a while, unless it ends before. */
  add(socket: Socket): void {
    if (socket.destroyed) return
    this.#sockets.add(socket)
    const timer = setTimeout(() => socket.destroy(), HANG_UP_MS).unref()
    socket.once('close', () => {
      clearTimeout(timer)
      this.#sockets.delete(socket)
    })
    const [first] = this.#sockets
    if (this.#sockets.size > HANG_UP_COUNT) first?.destroy()
  }
}
