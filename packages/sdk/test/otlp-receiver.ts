import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { decodeLogs, decodeMetrics, type OtlpLog, pointsIn } from './otlp-messages.ts'
import type { PeerBehaviour } from './tested-sink.ts'

/** An answer of the receiver; undefined closes the connection without one. */
export type OtlpAnswer =
  | {
      readonly status: number
      readonly body?: string | Uint8Array
      readonly headers?: Readonly<Record<string, string>>
    }
  | undefined

/** A request that the receiver got. */
export interface ReceivedRequest {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  /** The body, unpacked. */
  readonly body: Buffer
  readonly status: number
}

/** A receiver of OTLP over HTTP on the loopback interface whose behaviour changes when a test says so. */
export class OtlpReceiver {
  /** Requests in order, those that were not taken as well. */
  readonly requests: ReceivedRequest[] = []
  /** Answers to the next requests, in order; afterwards its behaviour counts. */
  readonly answers: ((body: Buffer) => OtlpAnswer)[] = []
  #behaviour: PeerBehaviour = 'takes'
  #server = this.#make()
  #port = 0

  /** Starts one that ends with the test. */
  static async start(t: Pick<TestContext, 'after'>): Promise<OtlpReceiver> {
    const receiver = new OtlpReceiver()
    await receiver.#listen()
    t.after(() => receiver.#leave())
    return receiver
  }

  get port(): number {
    return this.#port
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
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
    return createServer(async (request, response) => {
      const pieces = await request.toArray().catch(() => undefined)
      if (pieces === undefined) return
      const { headers, url: path = '' } = request
      const whole = Buffer.concat(pieces)
      const body = headers['content-encoding'] === 'gzip' ? gunzipSync(whole) : whole
      const next = this.answers.shift()
      if (next === undefined && this.#behaviour === 'hangs') return
      const answer = next === undefined ? this.#usual(headers['content-type'] ?? '') : next(body)
      this.requests.push({ path, headers, body, status: answer?.status ?? 0 })
      if (answer === undefined) request.socket.destroy()
      else response.writeHead(answer.status, answer.headers).end(answer.body ?? '')
    })
  }

  #usual(contentType: string): OtlpAnswer {
    if (this.#behaviour === 'fails') return { status: 503, body: 'try again later' }
    if (this.#behaviour === 'refuses') return { status: 400, body: 'not a point' }
    return { status: 200, headers: { 'content-type': contentType } }
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

  /** The bodies of requests in protobuf that it took, by the end of their path. */
  taken(signal: 'metrics' | 'logs'): Buffer[] {
    return this.requests
      .filter(({ path, status }) => path.endsWith(`/v1/${signal}`) && status >= 200 && status < 300)
      .map(({ body }) => body)
  }

  /** Every point that it took, or those of a metric. */
  points(name?: string): ReturnType<typeof pointsIn> {
    return this.taken('metrics').flatMap((body) => pointsIn(decodeMetrics(body), name))
  }

  /** Every log record that it took. */
  logs(): OtlpLog[] {
    return this.taken('logs')
      .flatMap((body) => decodeLogs(body).resourceLogs)
      .flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords))
  }
}
