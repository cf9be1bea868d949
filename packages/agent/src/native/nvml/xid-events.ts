import type { NvmlFailure } from './failure.ts'
import type { GpuHandle } from './gpu.ts'
import { EVENT, EVENT_XID, SUCCESS } from './layout.ts'

/** Events that are taken at a time; more than come in an interval, fewer than keep the others waiting. */
const EVENTS_MAX = 256

/** XID errors of one GPU as the driver tells them. */
export class XidEvents {
  readonly #gpu: GpuHandle
  readonly #memory = Buffer.alloc(2 * EVENT.bytes)
  #set: bigint

  private constructor(gpu: GpuHandle, set: bigint) {
    this.#gpu = gpu
    this.#set = set
  }

  /** Begins to listen. A failure where the GPU tells no events, as one in a virtual machine may not. */
  static open(gpu: GpuHandle): XidEvents | NvmlFailure {
    const { library, device, handle } = gpu
    const out = Buffer.alloc(8)
    const failure = library.call(device, 'nvmlEventSetCreate', out)
    if (failure !== undefined) return failure
    const events = new XidEvents(gpu, out.readBigUInt64LE())
    const refused = library.call(device, 'nvmlDeviceRegisterEvents', handle, EVENT_XID, events.#set)
    if (refused !== undefined) events.close()
    return refused ?? events
  }

  /** The XID numbers since the last call, in order. Does not wait. */
  take(): number[] {
    const taken: number[] = []
    const memory = this.#memory
    while (taken.length < EVENTS_MAX) {
      const code = this.#gpu.library.answer('nvmlEventSetWait_v2', this.#set, memory.fill(0), 0)
      if (code !== SUCCESS) break
      if ((memory.readBigUInt64LE(EVENT.type) & EVENT_XID) === 0n) continue
      taken.push(Number(BigInt.asUintN(16, memory.readBigUInt64LE(EVENT.data))))
    }
    return taken
  }

  /** Listens no more. May be called twice. */
  close(): void {
    if (this.#set !== 0n) this.#gpu.library.answer('nvmlEventSetFree', this.#set)
    this.#set = 0n
  }
}
