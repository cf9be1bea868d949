import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startFluentServer } from '../../packages/sdk/test/fluent-server.mjs'
import { CHECK } from './numbered.ts'

/** A receiver of numbered records. It is away at times, and knows which numbers arrived how often. */
export abstract class NumberReceiver {
  /** How often each number arrived. */
  readonly arrived = new Map<number, number>()
  /** Numbers that arrived for the first time after a higher one. */
  late = 0
  #highest = -1

  /** The destination of a program: kind and options. */
  abstract readonly target: Readonly<Record<string, object>>

  abstract start(): Promise<this>
  abstract setAway(isAway: boolean): Promise<void>
  abstract close(): Promise<void>
  /** The destination in the file of an agent. */
  abstract configuration(limits: string): string

  get repeated(): number {
    return [...this.arrived.values()].reduce((sum, times) => sum + times - 1, 0)
  }

  /** How many of the numbers in a range have arrived. */
  countOf(from: number, to: number): number {
    let count = 0
    for (let number = from; number < to; number++) if (this.arrived.has(number)) count++
    return count
  }

  /** Takes a record; `isExact` unless the receiver rounds integers beyond 2^53. */
  protected take(number: number, check: unknown, isExact: boolean): void {
    const wanted = BigInt.asUintN(64, (BigInt(number) + 1n) * CHECK)
    assert.equal(isExact ? check : Number(check), isExact ? String(wanted) : Number(wanted), 'a record is torn')
    const times = this.arrived.get(number) ?? 0
    this.arrived.set(number, times + 1)
    if (times === 0 && number < this.#highest) this.late++
    this.#highest = Math.max(this.#highest, number)
  }
}

/** A receiver of JSON lines over HTTP. */
export class LineReceiver extends NumberReceiver {
  #isAway = false
  readonly #server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      if (this.#isAway) return void response.writeHead(503).end('away\n')
      for (const line of Buffer.concat(pieces).toString().split('\n')) if (line !== '') this.#line(line)
      response.writeHead(204).end()
    })
  })

  get target() {
    return { jsonl: { url: `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/` } }
  }

  configuration(limits: string): string {
    return `jsonl: { url: '${this.target.jsonl.url}', ${limits} }`
  }

  async start(): Promise<this> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    return this
  }

  async setAway(isAway: boolean): Promise<void> {
    this.#isAway = isAway
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
  }

  #line(line: string): void {
    const { type, record } = JSON.parse(line) as { type: string; record: Record<string, string> }
    if (type === 'numbered') this.take(Number(record.number_total), record.check, true)
  }
}

/** A server of Fluent Forward that others wrote. While it is away, its port is closed. */
export class ForwardReceiver extends NumberReceiver {
  #server: Awaited<ReturnType<typeof startFluentServer>> | undefined
  #port = 0

  get target() {
    return { fluentBit: { port: this.#port } }
  }

  configuration(limits: string): string {
    return `fluent_bit: { port: ${this.#port}, ${limits} }`
  }

  async start(): Promise<this> {
    await this.setAway(false)
    return this
  }

  async setAway(isAway: boolean): Promise<void> {
    if (isAway) await this.close()
    else this.#server ??= await this.#listen()
  }

  async close(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    await server?.close()
  }

  async #listen() {
    const server = await startFluentServer({ port: this.#port }, (_tag, record) => {
      if (record.type_name === 'numbered') this.take(Number(record.number_total), record.check, false)
    })
    this.#port = server.port
    return server
  }
}
