import { NvmlFailure } from './failure.ts'
import { FIELD, fieldValueAt, PCI_INFO, TEXT_BYTES } from './layout.ts'
import type { NvmlArgument, NvmlLibrary } from './library.ts'
import type { NvmlSymbol } from './symbols.ts'

/** Larger than anything that a call is known to write, by as much again. */
const MEMORY_BYTES = 512
const SECOND_AT = 256

/** What names a GPU. */
export interface GpuNames {
  readonly index: number
  readonly uuid: string
  /** As NVML spells it: `00000000:9B:00.0`. */
  readonly pciBusId: string
  readonly model: string
  /** Number of its device file; undefined if it is not told. */
  readonly minor: number | undefined
}

/** A field for {@link GpuHandle.fields}. */
export interface FieldWanted {
  readonly id: number
  /** A link, or all of them. Default: 0. */
  readonly scope?: number
}

/** One GPU, with the memory of its calls. Only one call at a time. */
export class GpuHandle {
  readonly library: NvmlLibrary
  readonly names: GpuNames
  readonly handle: bigint
  readonly #memory: Buffer

  private constructor(library: NvmlLibrary, handle: bigint, names: GpuNames, memory: Buffer) {
    this.library = library
    this.handle = handle
    this.names = names
    this.#memory = memory
  }

  /** How many GPUs there are. */
  static async count(library: NvmlLibrary): Promise<number | NvmlFailure> {
    const out = Buffer.alloc(8)
    return (await library.callAsync('the node', 'nvmlDeviceGetCount_v2', out)) ?? out.readUInt32LE()
  }

  /**
   * The GPU of an index, as the driver counts now. A GPU of `known` is returned without a call, because the call may
   * hang.
   */
  static async at(library: NvmlLibrary, index: number, known: readonly GpuHandle[]): Promise<GpuHandle | NvmlFailure> {
    const device = `GPU ${index}`
    const memory = Buffer.from(new ArrayBuffer(MEMORY_BYTES))
    const failure = await library.callAsync(device, 'nvmlDeviceGetHandleByIndex_v2', index, memory)
    if (failure !== undefined) return failure
    const handle = memory.readBigUInt64LE()
    const found = known.find((gpu) => gpu.handle === handle)
    if (found !== undefined) return found
    // The first call of a GPU, which hangs if the GPU hangs; the following calls read cached data.
    const silence = await library.callAsync(device, 'nvmlDeviceGetUUID', handle, memory.fill(0), TEXT_BYTES)
    if (silence !== undefined) return silence
    const uuid = textIn(memory)
    const noModel = library.call(device, 'nvmlDeviceGetName', handle, memory.fill(0), TEXT_BYTES)
    const model = noModel === undefined ? textIn(memory) : ''
    const pci = library.call(device, 'nvmlDeviceGetPciInfo_v3', handle, memory.fill(0))
    const pciBusId = pci === undefined ? textIn(memory.subarray(PCI_INFO.busId, PCI_INFO.bytes)) : ''
    const noMinor = library.call(device, 'nvmlDeviceGetMinorNumber', handle, memory)
    const minor = noMinor === undefined ? memory.readUInt32LE() : undefined
    const names = { index, uuid, pciBusId, model, minor }
    return new GpuHandle(library, handle, names, memory)
  }

  /** What messages call it. */
  get device(): string {
    const { minor, index } = this.names
    return minor === undefined ? `gpu${index}` : `nvidia${minor}`
  }

  /** Calls a function that writes a structure, with its version if it has one. Reuses the memory. */
  structure(symbol: NvmlSymbol, version = 0): Buffer | NvmlFailure {
    const memory = this.#memory.fill(0)
    memory.writeUInt32LE(version)
    return this.library.call(this.device, symbol, this.handle, memory) ?? memory
  }

  /** Calls a function that writes a number of 32 bits behind its arguments. */
  number(symbol: NvmlSymbol, ...args: NvmlArgument[]): number | NvmlFailure {
    const memory = this.#memory.fill(0)
    return this.library.call(this.device, symbol, this.handle, ...args, memory) ?? memory.readUInt32LE()
  }

  /** Calls a function that writes two numbers of 32 bits. */
  numbers(symbol: NvmlSymbol): readonly [number, number] | NvmlFailure {
    const memory = this.#memory.fill(0)
    const second = memory.subarray(SECOND_AT)
    const failure = this.library.call(this.device, symbol, this.handle, memory, second)
    return failure ?? [memory.readUInt32LE(), second.readUInt32LE()]
  }

  /** Calls a function that writes a text. */
  text(symbol: NvmlSymbol): string | NvmlFailure {
    const memory = this.#memory.fill(0)
    return this.library.call(this.device, symbol, this.handle, memory, TEXT_BYTES) ?? textIn(memory)
  }

  /** Asks for fields with one call, on the thread pool: some of them take the driver milliseconds. */
  async fields(wanted: readonly FieldWanted[]): Promise<(number | bigint | NvmlFailure)[] | NvmlFailure> {
    const symbol = 'nvmlDeviceGetFieldValues'
    const memory = Buffer.from(new ArrayBuffer(wanted.length * FIELD.bytes))
    for (const [at, { id, scope = 0 }] of wanted.entries()) {
      memory.writeUInt32LE(id, at * FIELD.bytes + FIELD.id)
      memory.writeUInt32LE(scope, at * FIELD.bytes + FIELD.scope)
    }
    const failure = await this.library.callAsync(this.device, symbol, this.handle, wanted.length, memory)
    if (failure !== undefined) return failure
    const view = new DataView(memory.buffer)
    return wanted.map(({ id }, at) => {
      const code = view.getInt32(at * FIELD.bytes + FIELD.result, true)
      return code === 0 ? fieldValueAt(view, at * FIELD.bytes) : new NvmlFailure(this.device, `field ${id}`, code)
    })
  }
}

/** The text that a call wrote at the start of memory. */
export function textIn(memory: Buffer): string {
  const end = memory.subarray(0, TEXT_BYTES).indexOf(0)
  return memory.toString('latin1', 0, end < 0 ? TEXT_BYTES : end)
}
