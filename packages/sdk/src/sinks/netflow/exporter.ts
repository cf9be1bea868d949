import { setImmediate } from 'node:timers/promises'
import type { RateLimit } from '../../delivery/connection/rate-limit.ts'
import type { SendResult } from '../../delivery/sender.ts'
import type { FlowPackets, FlowPosition, PacketTime } from '../../wire/netflow/packets.ts'
import type { FlowChunk } from '../../wire/netflow/templates.ts'
import { CollectorRefused, type CollectorSocket } from './endpoint.ts'

/** The records of a request, and how far earlier attempts have sent them. */
export interface FlowRequest {
  readonly chunks: readonly FlowChunk[]
  position: FlowPosition
}

/** What an exporter shares with those to other collectors. */
export interface ExporterContext {
  readonly rate: RateLimit
  /** The time now. */
  time(): PacketTime
  /** Records that were dropped so far, for the statistics. */
  notSent(): number
}

/** Sends the packets of the observation domain to one collector. */
export class FlowExporter {
  readonly socket: CollectorSocket
  readonly #packets: FlowPackets
  readonly #context: ExporterContext
  /** Whether the collector has not refused since its last test. */
  #isTested = false

  constructor(socket: CollectorSocket, packets: FlowPackets, context: ExporterContext) {
    this.socket = socket
    this.#packets = packets
    this.#context = context
  }

  /** Sends the rest of a request. @throws Error if the collector refuses, or the kernel takes no packet. */
  async send(request: FlowRequest, signal: AbortSignal): Promise<SendResult> {
    const { socket } = this
    if (await socket.open()) this.#isTested = false
    const { refusals } = socket
    if (!this.#isTested) await this.#test(request, signal)
    const { chunks } = request
    let before = request.position
    while (request.position.chunk < chunks.length && !signal.aborted) {
      try {
        const end = await this.#sendPacket(chunks, request.position)
        before = request.position
        request.position = end
      } catch (error) {
        if (error instanceof CollectorRefused) this.#refuse(request, before)
        throw error
      }
    }
    // A host that refuses on this machine does so before the next turn.
    await setImmediate()
    if (socket.refusals === refusals) return { outcome: 'ok' }
    this.#refuse(request, before)
    throw socket.refused()
  }

  /** Sends the templates alone: a collector that is not there can refuse them before it costs records. */
  async #test({ chunks }: FlowRequest, signal: AbortSignal): Promise<void> {
    this.#packets.forgetTemplates()
    const packet = this.#packets.templates(chunks, this.#context.time())
    this.#context.rate.spend(packet.length)
    await this.socket.probe(packet, signal)
    this.#packets.sent()
    this.#isTested = true
  }

  async #sendPacket(chunks: readonly FlowChunk[], position: FlowPosition): Promise<FlowPosition> {
    const { rate, time, notSent } = this.#context
    const packet = this.#packets.next(chunks, position, time(), notSent())
    rate.spend(packet.length)
    await this.socket.send(packet)
    return this.#packets.sent() ?? position
  }

  /** The packet before is lost, so its records are sent again. */
  #refuse(request: FlowRequest, before: FlowPosition): void {
    this.#isTested = false
    request.position = before
  }
}
