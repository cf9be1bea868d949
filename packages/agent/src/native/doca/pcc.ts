import type { DocaDevice } from './device.ts'
import { DocaFailure } from './failure.ts'

/** Slots at most: the number of a slot has 8 bits. */
const SLOTS_MAX = 256
/** Counters of an algorithm at most; the number of a counter has 8 bits. */
const COUNTERS_MAX = 256
const MEMORY_COUNTERS = COUNTERS_MAX + 512
/** Texts of an algorithm at most. Unit: bytes. */
const TEXT_BYTES_MAX = 4096

/** A congestion-control algorithm in a slot of a device. */
export interface PccAlgorithm {
  readonly slot: number
  readonly id: number
  readonly major: number
  readonly minor: number
  /** Its own description. */
  readonly description: string
  readonly isEnabled: boolean
  readonly isCounting: boolean
  /** Its own names of its counters, in their order. */
  readonly counters: readonly string[]
}

/** Programmable congestion control of a device, by `doca_telemetry_pcc`. It never clears a counter. */
export class Pcc {
  readonly #device: DocaDevice
  readonly #context: bigint
  readonly #slots: number
  readonly #memory = new Uint32Array(MEMORY_COUNTERS)
  readonly #descriptionBytes: number
  readonly #nameBytes: number

  private constructor(device: DocaDevice, context: bigint, [slots = 0, descriptionBytes = 0, nameBytes = 0]: number[]) {
    this.#device = device
    this.#context = context
    this.#slots = slots
    this.#descriptionBytes = descriptionBytes
    this.#nameBytes = nameBytes
  }

  /** Opens the algorithms of a device. */
  static async open(device: DocaDevice): Promise<Pcc | DocaFailure> {
    const refused = await device.call('doca_telemetry_pcc_cap_is_supported', device.info)
    if (refused !== undefined) return refused
    const limits: number[] = []
    for (const [name, most] of [
      ['max_algo_slots', SLOTS_MAX],
      ['max_algo_info_len', TEXT_BYTES_MAX],
      ['max_counter_info_len', TEXT_BYTES_MAX],
      ['max_num_counters', COUNTERS_MAX],
    ] as const) {
      const call = `doca_telemetry_pcc_cap_get_${name}` as const
      const limit = await device.number(call, device.info)
      if (limit instanceof DocaFailure) return limit
      if (limit > most) return new DocaFailure(device.name, call, 'TOO_BIG')
      limits.push(limit)
    }
    const context = await device.create('doca_telemetry_pcc_create')
    if (context instanceof DocaFailure) return context
    const pcc = new Pcc(device, context, limits)
    const failure = await device.call('doca_telemetry_pcc_start', context)
    if (failure === undefined) return pcc
    await pcc.close()
    return failure
  }

  /** Reads which algorithms are loaded, with the names of their counters. */
  async algorithms(): Promise<PccAlgorithm[] | DocaFailure> {
    const algorithms: PccAlgorithm[] = []
    for (let slot = 0; slot < this.#slots; slot++) {
      const algorithm = await this.#algorithmIn(slot)
      if (algorithm instanceof DocaFailure) return algorithm
      if (algorithm !== undefined) algorithms.push(algorithm)
    }
    return algorithms
  }

  /**
   * Returns whether a slot still has the same algorithm in the same state. It is much cheaper than reading all names.
   */
  async isSame(known: PccAlgorithm): Promise<boolean | DocaFailure> {
    const found = await this.#identify(known.slot)
    if (found instanceof DocaFailure || found === undefined) return found ?? false
    const { id, major, minor, isEnabled, isCounting, counterCount } = found
    return (
      id === known.id &&
      major === known.major &&
      minor === known.minor &&
      isEnabled === known.isEnabled &&
      isCounting === known.isCounting &&
      counterCount === known.counters.length
    )
  }

  /** Returns whether a slot still has an algorithm with the same id, by one call. */
  async hasId({ slot, id }: PccAlgorithm): Promise<boolean | DocaFailure> {
    const found = await this.#device.number('doca_telemetry_pcc_get_algo_id', this.#context, slot)
    if (found instanceof DocaFailure) return found.name === 'BAD_STATE' ? false : found
    return found === id
  }

  /**
   * Reads the counters of an algorithm, as many as the library wrote: not always as many as the algorithm has names.
   * The same memory each time.
   */
  async counters({ slot }: PccAlgorithm): Promise<Uint32Array | DocaFailure> {
    const device = this.#device
    const bytes = new Uint8Array(this.#memory.buffer)
    const call = 'doca_telemetry_pcc_get_counters'
    const failure = await device.call(call, this.#context, slot, device.memory.cleared, bytes)
    return failure ?? this.#memory.subarray(0, Math.min(device.memory.number, COUNTERS_MAX))
  }

  /** May be called twice. */
  async close(): Promise<void> {
    await this.#device.destroy(this.#context)
  }

  /** Returns the algorithm in a slot; undefined if the slot is empty. */
  async #algorithmIn(slot: number): Promise<PccAlgorithm | DocaFailure | undefined> {
    const found = await this.#identify(slot)
    if (found === undefined || found instanceof DocaFailure) return found
    const description = await this.#text(this.#descriptionBytes, 'doca_telemetry_pcc_get_algo_info', slot)
    if (description instanceof DocaFailure) return description
    const { counterCount, ...identity } = found
    const counters: string[] = []
    for (let counter = 0; counter < counterCount; counter++) {
      const name = await this.#text(this.#nameBytes, 'doca_telemetry_pcc_get_counter_info', slot, counter)
      if (name instanceof DocaFailure) return name
      counters.push(name)
    }
    return { slot, ...identity, description, counters }
  }

  async #identify(slot: number) {
    const numbers: number[] = []
    for (const name of ['algo_id', 'algo_major_version', 'algo_minor_version', 'num_counters'] as const) {
      const number = await this.#device.number(`doca_telemetry_pcc_get_${name}`, this.#context, slot)
      if (!(number instanceof DocaFailure)) numbers.push(number)
      else if (number.name === 'BAD_STATE') return undefined
      else return number
    }
    const [id = 0, major = 0, minor = 0, counterCount = 0] = numbers
    const { cleared, second } = this.#device.memory
    second.fill(0)
    const call = 'doca_telemetry_pcc_get_algo_enable_status'
    const failure = await this.#device.call(call, this.#context, slot, cleared, second)
    // The algorithm was unloaded meanwhile.
    if (failure?.name === 'BAD_STATE') return undefined
    if (failure !== undefined) return failure
    if (counterCount > COUNTERS_MAX)
      return new DocaFailure(this.#device.name, 'doca_telemetry_pcc_get_num_counters', 'TOO_BIG')
    return { id, major, minor, counterCount, isEnabled: cleared[0] !== 0, isCounting: second[0] !== 0 }
  }

  /** Reads a text, which has no NUL if it is as long as it may be. */
  async #text(
    bytes: number,
    call: 'doca_telemetry_pcc_get_algo_info' | 'doca_telemetry_pcc_get_counter_info',
    ...args: number[]
  ): Promise<string | DocaFailure> {
    const memory = await this.#device.structure(call, this.#context, ...args)
    if (memory instanceof DocaFailure) return memory
    const text = memory.subarray(0, bytes)
    const end = text.indexOf(0)
    return text.toString('latin1', 0, end < 0 ? bytes : end).trim()
  }
}
