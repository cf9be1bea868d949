import type { DocaDevice } from './device.ts'
import { DocaFailure } from './failure.ts'
import { idsText } from './ids.ts'
import { OUTPUT_FORMAT, SAMPLE_MODE, SYNC_MODE, sampleBytesOf, TIMESTAMP_SOURCE } from './layout.ts'

/** Memory beyond the size that the library reports. Unit: bytes. */
const SPARE_BYTES = 4096
/** A sample of more is not believed. Unit: bytes. */
const SAMPLE_BYTES_MAX = 1 << 20
/** Consecutive counters refused by a full device before this counts as a failure. */
const FULL_MAX = 256

/** What the diagnostic counters of a device can do. */
export interface DiagLimits {
  /** Counters at a time. */
  readonly maxIds: number
  /** Samples that the device keeps at most, as a power of two. */
  readonly logMaxSamples: number
  /** Whether a sample can be asked for, instead of being taken each period. */
  readonly onDemand: boolean
  /** Whether samples bear the time of a real-time clock. */
  readonly hasRealTime: boolean
}

/** How a device is to sample. */
export interface DiagConfig {
  readonly ids: readonly bigint[]
  /**
   * Sample period, which the device may lengthen; 0: each read takes a sample. Unit: nanoseconds.
   */
  readonly periodNs: number
  /** Samples that the device keeps, as a power of two; 0 if they are asked for. */
  readonly logSamples: number
  readonly hasRealTime: boolean
  /** Whether counters are taken over from another program. */
  readonly force: boolean
  /** Samples of one query at most. */
  readonly querySamples: number
}

/** What a device can do; a failure where it has no diagnostic counters. */
export async function diagLimits(device: DocaDevice): Promise<DiagLimits | DocaFailure> {
  const { info, memory } = device
  const refused = await device.call('doca_telemetry_diag_cap_is_supported', info)
  if (refused !== undefined) return refused
  const maxIds = await device.number('doca_telemetry_diag_cap_get_max_num_data_ids', info)
  if (maxIds instanceof DocaFailure) return maxIds
  const log = await device.number('doca_telemetry_diag_cap_get_log_max_num_samples', info)
  if (log instanceof DocaFailure) return log
  const onDemandCall = 'doca_telemetry_diag_cap_is_sample_mode_supported'
  const onDemand = await device.call(onDemandCall, info, SAMPLE_MODE.ON_DEMAND, memory.cleared)
  const hasOnDemand = onDemand === undefined && memory.flag
  const realTimeCall = 'doca_telemetry_diag_cap_is_data_timestamp_source_supported'
  const realTime = await device.call(realTimeCall, info, TIMESTAMP_SOURCE.RTC, memory.cleared)
  const hasRealTime = realTime === undefined && memory.flag
  return { maxIds, logMaxSamples: log & 0xff, onDemand: hasOnDemand, hasRealTime }
}

/** The diagnostic counters of a device, which it samples by itself while they are open. */
export class DiagSampler {
  /** Counters that it samples, in the order of the values of a sample. */
  ids: readonly bigint[] = []
  /** Counters that it refused, and why. */
  readonly refused = new Map<bigint, DocaFailure>()
  /** Between two samples, as the device says; 0 if they are asked for. Unit: nanoseconds. */
  periodNs = 0
  /** From one sample to the next. Unit: bytes. */
  sampleBytes = 0
  /** Samples of the last query, one after another. The memory is the same each time. */
  samples: DataView = new DataView(new ArrayBuffer(0))
  /** Samples that the last query gave. */
  count = 0
  /** Whether samples were lost before those of the last query. */
  hasGap = false
  readonly #device: DocaDevice
  readonly #config: DiagConfig
  readonly #context: bigint
  #bytes: Uint8Array = new Uint8Array(0)

  private constructor(device: DocaDevice, config: DiagConfig, context: bigint) {
    this.#device = device
    this.#config = config
    this.#context = context
  }

  /** Takes the counters of a device, and has it sample them. */
  static async open(device: DocaDevice, config: DiagConfig): Promise<DiagSampler | DocaFailure> {
    const context = await device.create('doca_telemetry_diag_create', Number(config.force))
    if (context instanceof DocaFailure) return context
    const sampler = new DiagSampler(device, config, context)
    const failure = await sampler.#begin()
    if (failure === undefined) return sampler
    await sampler.close()
    return failure
  }

  /** Reads the samples since the query before. A gap before them is no failure. */
  async query(): Promise<DocaFailure | undefined> {
    const { memory } = this.#device
    const { querySamples } = this.#config
    const call = 'doca_telemetry_diag_query_counters'
    const failure = await this.#device.call(call, this.#context, this.#bytes, querySamples, memory.cleared)
    this.hasGap = failure?.name === 'SKIPPED'
    // A library that tells of more samples than there is room for is not followed.
    this.count = failure === undefined || this.hasGap ? Math.min(memory.number, querySamples) : 0
    return this.hasGap ? undefined : failure
  }

  /** Gives the counters back. May be called twice. */
  async close(): Promise<void> {
    await this.#device.destroy(this.#context)
  }

  async #begin(): Promise<DocaFailure | undefined> {
    const context = this.#context
    const failure = (await this.#configure()) ?? (await this.#applyIds()) ?? (await this.#start())
    if (failure !== undefined || this.#config.periodNs === 0) return failure
    const refused = await this.#device.call(
      'doca_telemetry_diag_get_sample_period',
      context,
      this.#device.memory.cleared,
    )
    if (refused === undefined) this.periodNs = Number(this.#device.memory.address)
    return refused
  }

  /** Sets all properties: the library refuses an incomplete configuration without naming the missing property. */
  async #configure(): Promise<DocaFailure | undefined> {
    const context = this.#context
    const { periodNs, logSamples, ids, hasRealTime } = this.#config
    const mode = periodNs === 0 ? SAMPLE_MODE.ON_DEMAND : SAMPLE_MODE.REPETITIVE
    const clock = hasRealTime ? TIMESTAMP_SOURCE.RTC : TIMESTAMP_SOURCE.FRC
    return this.#device.callAll([
      ['doca_telemetry_diag_set_output_format', context, OUTPUT_FORMAT.FORMAT_1],
      ['doca_telemetry_diag_set_sample_mode', context, mode],
      ['doca_telemetry_diag_set_sample_period', context, periodNs],
      ['doca_telemetry_diag_set_log_max_num_samples', context, logSamples],
      ['doca_telemetry_diag_set_max_num_data_ids', context, ids.length],
      // Bytes and packets are only to be had so.
      ['doca_telemetry_diag_set_sync_mode', context, SYNC_MODE.NO_SYNC],
      // Others may read the same counters.
      ['doca_telemetry_diag_set_data_clear', context, 0],
      ['doca_telemetry_diag_set_data_timestamp_source', context, clock],
      ['doca_telemetry_diag_apply_config', context],
    ])
  }

  /** Leaves out what the device does not have or has no room for. */
  async #applyIds(): Promise<DocaFailure | undefined> {
    const context = this.#context
    const wanted: bigint[] = []
    for (const id of this.#config.ids) {
      const failure = await this.#device.call('doca_telemetry_diag_check_data_id', context, id)
      if (failure === undefined || failure.name === 'NO_SYMBOL') wanted.push(id)
      else if (failure.kind === 'unsupported') this.refused.set(id, failure)
      else return failure
    }
    for (let attempt = 0; attempt < FULL_MAX && wanted.length > 0; attempt++) {
      const { failure, id } = await this.#apply(wanted)
      if (failure === undefined) {
        this.ids = wanted
        return undefined
      }
      const at = wanted.indexOf(id)
      const isOfOne = failure.name === 'FULL' || failure.name === 'NO_MEMORY' || failure.kind === 'unsupported'
      if (!isOfOne) return failure
      // Without a name, the last counter did not fit.
      const [left] = wanted.splice(at < 0 ? wanted.length - 1 : at, 1)
      if (left !== undefined) this.refused.set(left, failure)
    }
    return this.#noneOf()
  }

  /** The failure if no counter is left: the refused counters by reason. */
  #noneOf(): DocaFailure {
    const [first, ...others] = Map.groupBy(this.refused, ([, { error }]) => error.message).values()
    const call = 'doca_telemetry_diag_check_data_id'
    if (first === undefined) return new DocaFailure(this.#device.name, call, 'NOT_SUPPORTED')
    const said = [first, ...others].map((refused) => {
      const [, { words }] = refused[0] as (typeof refused)[0]
      return `${words}: ${idsText(refused.map(([id]) => id))}`
    })
    const [, { kind, name }] = first[0] as (typeof first)[0]
    return new DocaFailure(this.#device.name, call, name, { kind, words: said.join('; ') })
  }

  async #apply(ids: readonly bigint[]): Promise<{ readonly failure: DocaFailure | undefined; readonly id: bigint }> {
    const { memory } = this.#device
    const list = new Uint8Array(new BigUint64Array([...ids, ...Array<bigint>(SPARE_BYTES / 8).fill(0n)]).buffer)
    const call = 'doca_telemetry_diag_apply_counters_list_by_id'
    const failure = await this.#device.call(call, this.#context, list, ids.length, memory.cleared)
    return { failure, id: memory.address }
  }

  async #start(): Promise<DocaFailure | undefined> {
    const failure = await this.#device.call('doca_telemetry_diag_start', this.#context)
    if (failure !== undefined) return failure
    const bytes = await this.#device.number('doca_telemetry_diag_get_sample_size', this.#context)
    if (bytes instanceof DocaFailure) return bytes
    if (bytes < sampleBytesOf(this.ids.length) || bytes > SAMPLE_BYTES_MAX)
      return new DocaFailure(this.#device.name, 'doca_telemetry_diag_get_sample_size', 'UNEXPECTED')
    this.sampleBytes = bytes
    this.#bytes = new Uint8Array(bytes * this.#config.querySamples + SPARE_BYTES)
    this.samples = new DataView(this.#bytes.buffer)
    return undefined
  }
}
