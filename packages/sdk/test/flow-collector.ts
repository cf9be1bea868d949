import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv6 } from 'node:net'
import type { TestContext } from 'node:test'
import { FlowDecoder, type FlowRecord } from './flow-decoder.ts'

/** A collector on loopback that keeps packets and records; a test may stop it and start it again on its port. */
export class FlowCollector {
  readonly packets: Buffer[] = []
  readonly records: FlowRecord[] = []
  /** Ports of the exporters that sent to it, in the order of their first packets. */
  readonly senders = new Set<number>()
  port: number
  decoder = new FlowDecoder()
  readonly #host: string
  #socket: Socket | undefined

  private constructor(host: string, port: number) {
    this.#host = host
    this.port = port
  }

  /** @param port Default: a free port. */
  static async start(t: TestContext, host = '127.0.0.1', port = 0): Promise<FlowCollector> {
    const collector = new FlowCollector(host, port)
    await collector.listen()
    t.after(() => collector.stop())
    return collector
  }

  /** Listens, without the templates of before. */
  async listen(): Promise<void> {
    if (this.#socket !== undefined) return
    this.decoder = new FlowDecoder()
    const socket = createSocket({ type: isIPv6(this.#host) ? 'udp6' : 'udp4', recvBufferSize: 4 << 20 })
    socket.on('message', (packet, { port }) => {
      // `sonde check --try-destinations` sends one.
      if (packet.length === 0) return
      this.senders.add(port)
      this.packets.push(packet)
      this.records.push(...this.decoder.decode(packet))
    })
    socket.bind(this.port, this.#host)
    await once(socket, 'listening')
    this.port = socket.address().port
    this.#socket = socket
  }

  async stop(): Promise<void> {
    const socket = this.#socket
    if (socket === undefined) return
    this.#socket = undefined
    socket.close()
    await once(socket, 'close')
  }
}
