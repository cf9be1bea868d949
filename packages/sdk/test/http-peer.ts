import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { PeerBehaviour } from './tested-sink.ts'

/** An answer of an {@link HttpPeer}. */
export interface HttpPeerAnswer {
  readonly status: number
  readonly text: string | Uint8Array
  readonly headers?: Readonly<Record<string, string>>
}

/** A real HTTP server on the loopback interface whose behaviour changes when a test says so. */
export class HttpPeer {
  /** Bodies of the requests that it took. */
  readonly bodies: string[] = []
  /** Those that it answered with 2xx, as bytes. */
  readonly payloads: Buffer[] = []
  /** Headers of the last request. */
  headers: Readonly<Record<string, string | string[] | undefined>> = {}
  /** Path and query of the last request. */
  path = ''
  /** The answer to a body that it takes. */
  answer: (body: string, payload: Buffer) => HttpPeerAnswer = () => ({ status: 204, text: '' })
  /** What it says where it refuses. */
  refusal = 'not a record'
  /** Connections so far. */
  connections = 0
  #behaviour: PeerBehaviour = 'takes'
  #server: Server
  #port = 0
  readonly #unanswered = new Set<ServerResponse>()

  private constructor() {
    this.#server = this.#make()
  }

  /** Starts one that ends with the test. */
  static async start(t: TestContext): Promise<HttpPeer> {
    const peer = new HttpPeer()
    await peer.#listen()
    t.after(() => peer.#leave())
    return peer
  }

  get port(): number {
    return this.#port
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/records`
  }

  async behave(behaviour: PeerBehaviour): Promise<void> {
    const was = this.#behaviour
    this.#behaviour = behaviour
    if (behaviour === 'gone' && was !== 'gone') await this.#leave()
    if (behaviour !== 'gone' && was === 'gone') {
      this.#server = this.#make()
      await this.#listen()
    }
  }

  #make(): Server {
    const server = createServer((request, response) => {
      const pieces: Buffer[] = []
      request.on('data', (piece: Buffer) => pieces.push(piece))
      request.on('end', () => {
        this.headers = request.headers
        this.path = request.url ?? ''
        this.#answer(Buffer.concat(pieces), response)
      })
    })
    return server.on('connection', () => this.connections++)
  }

  #answer(payload: Buffer, response: ServerResponse): void {
    switch (this.#behaviour) {
      case 'takes': {
        const body = payload.toString()
        const { status, text, headers } = this.answer(body, payload)
        this.bodies.push(body)
        if (status < 300) this.payloads.push(payload)
        response.writeHead(status, headers).end(text)
        break
      }
      case 'fails':
        response.writeHead(503).end('try again later\n')
        break
      case 'refuses':
        response.writeHead(400).end(`${this.refusal}\n`)
        break
      default:
        this.#unanswered.add(response)
    }
  }

  async #listen(): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(this.#port, '127.0.0.1', resolve)
    })
    this.#port = (this.#server.address() as AddressInfo).port
  }

  async #leave(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve))
    this.#server.closeAllConnections()
    await closed
  }
}
