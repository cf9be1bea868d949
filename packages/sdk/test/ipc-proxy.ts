import { connect, createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { SOCKET_NAME } from '../src/internal/index.ts'

/** How a proxy treats one connection. */
export interface Treatment {
  /** Cuts the connection after so many bytes from the client. Default: never. */
  readonly cutAfterBytes?: number
  /** Passes so many bytes every 5 ms. Default: as they come. */
  readonly bytesEach5Ms?: number
}

/** Stands between a client and a peer, and treats each connection as a test says. */
export class IpcProxy {
  /** Connections so far. */
  connections = 0
  readonly #server: Server
  readonly #open = new Set<Socket>()

  /** @param treat Asked for each connection. */
  constructor(toDir: string, treat: () => Treatment) {
    this.#server = createServer((client) => this.#serve(client, connect(join(toDir, SOCKET_NAME)), treat()))
  }

  async listen(socketsDir: string): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(join(socketsDir, SOCKET_NAME), resolve))
  }

  async close(): Promise<void> {
    for (const socket of this.#open) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #serve(client: Socket, peer: Socket, { cutAfterBytes = Number.POSITIVE_INFINITY, bytesEach5Ms }: Treatment): void {
    this.connections++
    let left = cutAfterBytes
    for (const [socket, other] of [
      [client, peer],
      [peer, client],
    ] as const) {
      this.#open.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        this.#open.delete(socket)
        other.destroy()
      })
    }
    peer.on('data', (chunk: Buffer) => client.write(chunk))
    const pass = (chunk: Buffer): void => {
      peer.write(chunk.subarray(0, left))
      left -= chunk.length
      // Forwarded bytes arrive; the client sees the end in the middle of its writes.
      if (left <= 0) peer.end()
    }
    if (bytesEach5Ms === undefined) client.on('data', pass)
    else {
      const timer = setInterval(() => {
        const chunk: Buffer | null = client.read(bytesEach5Ms) ?? client.read()
        if (chunk !== null) pass(chunk)
      }, 5)
      client.on('close', () => clearInterval(timer))
    }
  }
}
