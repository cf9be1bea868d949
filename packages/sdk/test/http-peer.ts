import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import type { PeerBehaviour } from './tested-sink.ts'

/** A real HTTP server on the loopback interface whose behaviour changes when a test says so. */
export class HttpPeer {
  /** Bodies of the requests that it took. */
  readonly bodies: string[] = []
  /** Headers of the last request. */
  headers: Readonly<Record<string, string | string[] | undefined>> = {}
  /** Path and query of the last request. */
  path = ''
  /** The answer to a body that it takes. */
  answer: (body: string) => { readonly status: number; readonly text: string } = () => ({ status: 204, text: '' })
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
        this.#answer(Buffer.concat(pieces).toString(), response)
      })
    })
    return server.on('connection', () => this.connections++)
  }

  #answer(body: string, response: ServerResponse): void {
    switch (this.#behaviour) {
      case 'takes': {
        this.bodies.push(body)
        const { status, text } = this.answer(body)
        response.writeHead(status).end(text)
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
