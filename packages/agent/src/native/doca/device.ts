import { DocaFailure } from './failure.ts'
import type { Argument, DocaLibrary } from './library.ts'
import { DocaMemory } from './memory.ts'
import { findDocaInfo, readPciAddress } from './roster.ts'
import type { DocaSymbol } from './symbols.ts'

// Starting a counter of a process does not start its context.
const STARTS = /(?<!_counter)_(apply_config|start)$/
const STOPS = /(?<!_counter)_stop$/

/** A device that is open, with the memory of its calls. At most one call at a time. */
export class DocaDevice {
  readonly name: string
  readonly library: DocaLibrary
  readonly memory: DocaMemory
  readonly handle: bigint
  /** The device info for capability calls. */
  readonly info: bigint
  /** Contexts that are not given back yet, and the function that made each. */
  readonly #contexts = new Map<bigint, DocaSymbol>()
  /** Contexts that must be stopped, because they are or may be configured or started. Others would refuse. */
  readonly #toStop = new Set<bigint>()
  #closed = false

  private constructor(name: string, library: DocaLibrary, memory: DocaMemory, handle: bigint, info: bigint) {
    this.name = name
    this.library = library
    this.memory = memory
    this.handle = handle
    this.info = info
  }

  /** Opens a device by its RDMA name, which must be equal: a prefix would take `mlx5_1` for `mlx5_10`. */
  static async open(library: DocaLibrary, name: string): Promise<DocaDevice | DocaFailure> {
    const memory = new DocaMemory()
    const opened = await findDocaInfo(library, name, async (info) => {
      const failure = await library.call(name, 'doca_dev_open', info, memory.out)
      if (failure !== undefined) return failure
      const handle = memory.address
      return new DocaDevice(name, library, memory, handle, await library.address(name, 'doca_dev_as_devinfo', handle))
    })
    return opened ?? new DocaFailure(name, 'doca_dev_open', 'DEVICE_FATAL_ERROR')
  }

  /** Its PCI address; empty if the library does not tell it. */
  pciAddress(): Promise<string> {
    return readPciAddress(this.library, this.info)
  }

  async call(symbol: DocaSymbol, ...args: Argument[]): Promise<DocaFailure | undefined> {
    const context = args[0] as bigint
    // Noted before the call: if that does not come back, it may have been done.
    const isFirst = STARTS.test(symbol) && !this.#toStop.has(context)
    if (isFirst) this.#toStop.add(context)
    const failure = await this.library.call(this.name, symbol, ...args)
    const isDone = failure === undefined
    if (isDone ? STOPS.test(symbol) : isFirst) this.#toStop.delete(context)
    if (isDone && symbol.endsWith('_destroy')) this.#contexts.delete(context)
    return failure
  }

  /** Makes calls one after another, up to the first that fails. */
  async callAll(calls: readonly (readonly [DocaSymbol, ...Argument[]])[]): Promise<DocaFailure | undefined> {
    for (const [symbol, ...args] of calls) {
      const failure = await this.call(symbol, ...args)
      if (failure !== undefined) return failure
    }
    return undefined
  }

  /** Asks for a number that fits 32 bits. */
  async number(symbol: DocaSymbol, ...args: Argument[]): Promise<number | DocaFailure> {
    return (await this.call(symbol, ...args, this.memory.cleared)) ?? this.memory.number
  }

  /** Asks for a structure. The same memory each time: it must be read before the next call. */
  async structure(symbol: DocaSymbol, ...args: Argument[]): Promise<Buffer | DocaFailure> {
    const memory = this.memory.structure
    return (await this.call(symbol, ...args, memory)) ?? memory
  }

  /** Makes a context of the device; its address. */
  async create(symbol: DocaSymbol, ...args: Argument[]): Promise<bigint | DocaFailure> {
    const failure = await this.call(symbol, this.handle, ...args, this.memory.cleared)
    if (failure !== undefined) return failure
    const context = this.memory.address
    this.#contexts.set(context, symbol)
    return context
  }

  /** Stops a context and gives it back. May be called twice; a context that is refused is still there. */
  async destroy(context: bigint): Promise<DocaFailure | undefined> {
    const domain = this.#contexts.get(context)?.replace(/create$/, '')
    if (domain === undefined) return undefined
    // A context that refuses to stop may belong to a removed device: it is destroyed anyway.
    if (this.#toStop.has(context)) await this.call(`${domain}stop` as DocaSymbol, context)
    return this.call(`${domain}destroy` as DocaSymbol, context)
  }

  /**
   * Releases the remaining contexts and the device. May be called twice.
   *
   * @returns Why the library keeps the device, or undefined; another call tries again.
   */
  async close(): Promise<DocaFailure | undefined> {
    if (this.#closed) return undefined
    let failure: DocaFailure | undefined
    for (const context of this.#contexts.keys()) failure ??= await this.destroy(context)
    failure ??= await this.call('doca_dev_close', this.handle)
    this.#closed = failure === undefined
    return failure
  }
}
