import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { FlowDecoder, type FlowRecord } from './flow-decoder.ts'

/** A collector on loopback that keeps packets and records; a test may stop it and start it again on its port. */
export class FlowCollector {
  readonly packets: Buffer[] = []
  readonly records: FlowRecord[] = []
  /** Ports of the exporters that sent to it, in the order of their first packets. */
  readonly senders = new Set<number>()
  port = 0
  decoder = new FlowDecoder()
  #socket: Socket | undefined

  static async start(t: TestContext): Promise<FlowCollector> {
    const collector = new FlowCollector()
    await collector.listen()
    t.after(() => collector.stop())
    return collector
  }

  /** Listens, without the templates of before. */
  async listen(): Promise<void> {
    if (this.#socket !== undefined) return
    this.decoder = new FlowDecoder()
    const socket = createSocket({ type: 'udp4', recvBufferSize: 4 << 20 })
    socket.on('message', (packet, { port }) => {
      // `sonde check --try-destinations` sends one.
      if (packet.length === 0) return
      this.senders.add(port)
      this.packets.push(packet)
      this.records.push(...this.decoder.decode(packet))
    })
    socket.bind(this.port, '127.0.0.1')
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
