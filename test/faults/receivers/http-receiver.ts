import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { NumberReceiver, type Way } from './number-receiver.ts'

/** An answer of an {@link HttpReceiver}. */
export interface HttpAnswer {
  readonly status: number
  readonly contentType?: string
  readonly text?: string
}

/** A receiver of numbered records over HTTP. */
export abstract class HttpReceiver extends NumberReceiver {
  #way: Way = 'takes'
  #port = 0
  #server = this.#make()

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get options(): Readonly<Record<string, unknown>> {
    return { url: this.url }
  }

  async start(): Promise<this> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
    return this
  }

  async setWay(way: Way): Promise<void> {
    const was = this.#way
    this.#way = way
    if (way === 'gone' && was !== 'gone') await this.close()
    if (way !== 'gone' && was === 'gone') {
      this.#server = this.#make()
      await this.start()
    }
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  /** Takes a request. */
  protected abstract request(body: Buffer): HttpAnswer

  #make() {
    return createServer((request, response) => void this.#answer(request, response))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const pieces = await request.toArray().catch(() => undefined)
    // The sender was killed.
    if (pieces === undefined) return
    if (this.#way === 'fails') return void response.writeHead(503).end('busy\n')
    try {
      const { status, contentType = 'text/plain', text = '' } = this.request(Buffer.concat(pieces))
      if (this.#way === 'mute') request.socket.destroy()
      else response.writeHead(status, { 'content-type': contentType }).end(text)
    } catch (error) {
      this.fault(String(error))
      response.writeHead(400).end('not a request\n')
    }
  }
}
