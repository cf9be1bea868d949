import { startFluentServer } from '../../../packages/sdk/test/fluent-server.mjs'
import { NumberReceiver, type Way } from './number-receiver.ts'

/** A server of Fluent Forward that others wrote. It takes records, or its port is closed. */
export class ForwardReceiver extends NumberReceiver {
  readonly kind = 'fluent_bit'
  // All records have one tag.
  readonly promises = { order: 'total' } as const
  #server: Awaited<ReturnType<typeof startFluentServer>> | undefined
  #port = 0

  get options() {
    return { port: this.#port }
  }

  async start(): Promise<this> {
    await this.setWay('takes')
    return this
  }

  async setWay(way: Way): Promise<void> {
    if (way === 'takes') this.#server ??= await this.#listen()
    else await this.close()
  }

  async close(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    await server?.close()
  }

  async #listen() {
    const server = await startFluentServer({ port: this.#port }, (_tag, record) => {
      if (record.type_name !== 'numbered') return
      const { number_total, check, worker, timestamp } = record
      this.take({
        number: Number(number_total),
        check: Number(check),
        worker: String(worker),
        time: String(timestamp),
      })
    })
    this.#port = server.port
    return server
  }
}
