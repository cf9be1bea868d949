import type { AddressInfo } from 'node:net'
import { connect, createServer, type Server, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

/** What happens to a connection on its way to an honest far end. */
export type WayFault = (client: Socket, toPeer: () => Socket) => void

/** A way to an honest far end that knows no protocol, and so breaks every protocol in the same manner. */
export class FaultyWay {
  /** The fault of new connections. Default: none, bytes pass. */
  fault: WayFault = pass
  /** Connections so far. */
  connections = 0
  readonly #peerPort: number
  readonly #sockets = new Set<Socket>()
  readonly #clients = new Set<Socket>()
  /** Bytes of clients whose connections have ended. */
  #endedBytes = 0
  readonly #server: Server

  private constructor(peerPort: number) {
    this.#peerPort = peerPort
    this.#server = createServer((client) => {
      this.connections++
      this.#clients.add(client)
      client.on('close', () => {
        this.#clients.delete(client)
        this.#endedBytes += client.bytesRead
      })
      this.fault(this.#kept(client), () => this.#kept(connect(this.#peerPort, '127.0.0.1')))
    })
  }

  /** Starts a way that ends with the test, on a free port of loopback or at another address. */
  static async start(t: TestContext, peerPort: number, { port = 0, host = '127.0.0.1' } = {}): Promise<FaultyWay> {
    const way = new FaultyWay(peerPort)
    await new Promise<void>((resolve, reject) => way.#server.once('error', reject).listen(port, host, resolve))
    t.after(() => {
      way.break()
      way.#server.close()
    })
    return way
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Bytes that came from clients so far. */
  get receivedBytes(): number {
    return [...this.#clients].reduce((sum, { bytesRead }) => sum + bytesRead, this.#endedBytes)
  }

  /** Ends all connections. */
  break(): void {
    for (const socket of this.#sockets) socket.destroy()
  }

  #kept(socket: Socket): Socket {
    this.#sockets.add(socket)
    return socket.on('error', () => undefined).on('close', () => this.#sockets.delete(socket))
  }
}

/** Bytes pass both ways. */
export function pass(client: Socket, toPeer: () => Socket): void {
  const peer = toPeer()
  client.pipe(peer).pipe(client)
  peer.on('close', () => client.destroy())
  client.on('close', () => peer.destroy())
}

/** The request passes, and of the answer only the first bytes; then the connection ends. */
export function cutAnswer(bytes: number): WayFault {
  return (client, toPeer) => {
    const peer = toPeer()
    client.pipe(peer)
    client.on('close', () => peer.destroy())
    peer.once('data', (answer) => {
      client.end(answer.subarray(0, bytes))
      peer.destroy()
    })
  }
}

/** Of the request the first bytes pass; then the connection ends. */
export function cutRequest(bytes: number): WayFault {
  return (client, toPeer) => {
    const peer = toPeer()
    client.once('data', (request) => {
      peer.end(request.subarray(0, bytes))
      client.destroy()
    })
  }
}

/** Everything is taken, and nothing is answered. */
export function silent(client: Socket): void {
  client.resume()
}

/** Not a byte is read. */
export function unread(client: Socket): void {
  client.pause()
}

/** Writes the same bytes for as long as they are taken. */
export function pour(bytes: Uint8Array, beginning = ''): WayFault {
  return (client) => {
    client.resume()
    client.write(beginning)
    const write = () => {
      while (!client.destroyed && client.write(bytes));
    }
    client.on('drain', write)
    write()
  }
}

/** Answers at once, whatever is sent, and leaves the connection open. */
export function say(bytes: string | Uint8Array): WayFault {
  return (client) => {
    client.resume()
    client.write(bytes)
  }
}

/** Writes one byte after the other, a byte each 10 milliseconds, and begins anew at the end. */
export function drip(bytes: Uint8Array): WayFault {
  return (client) => {
    client.resume()
    let at = 0
    const timer = setInterval(() => {
      client.write(bytes.subarray(at, at + 1))
      at = (at + 1) % bytes.length
    }, 10)
    client.on('close', () => clearInterval(timer))
  }
}

/** The request passes, and its answer comes after this time. */
export function late(delayMs: number): WayFault {
  return (client, toPeer) => {
    const peer = toPeer()
    client.pipe(peer)
    peer.on('data', (answer) => setTimeout(() => client.write(answer), delayMs).unref())
    client.on('close', () => peer.destroy())
  }
}

/** Requests of HTTP with a text get a status as their answer, and all others pass. */
export function refuse(text: string, status: number): WayFault {
  return (client, toPeer) => {
    const peer = toPeer()
    peer.pipe(client)
    client.on('close', () => peer.destroy())
    let request = Buffer.alloc(0)
    client.on('data', (bytes) => {
      request = Buffer.concat([request, bytes])
      if (!isWhole(request)) return
      if (request.includes(text)) client.write(`HTTP/1.1 ${status} no\r\ncontent-length: 0\r\n\r\n`)
      else peer.write(request)
      request = Buffer.alloc(0)
    })
  }
}

function isWhole(request: Buffer): boolean {
  const end = request.indexOf('\r\n\r\n')
  const length = /^content-length: (\d+)\r$/im.exec(request.subarray(0, end + 2).toString('latin1'))?.[1]
  return end >= 0 && request.length >= end + 4 + Number(length ?? 0)
}
