import { setTimeout as pause } from 'node:timers/promises'
import { type Batch, readRecords, SondeError, viewsOf } from '@sonde/sdk'
import { clockType, periodType, wallOffsetNs } from '@sonde/sdk/internal'
import { parse } from 'valibot'
import { Host } from '../../hosting/host.ts'
import { type Settled, SourceStatus } from '../../hosting/source-status.ts'
import { idsText, idText } from '../../native/doca/ids.ts'
import { sampleBytesOf } from '../../native/doca/layout.ts'
import type { RingMemory } from '../../rules/walk/ring-memory.ts'
import type { Tap } from '../../sampling/tap.ts'
import { docaDiagSampleType, docaDiagSamplingType, sampleFieldOf } from '../../sources/doca-telemetry-diag/type.ts'
import type { SourceDefinition, SourcePaths } from '../../sources/source.ts'
import { type DeviceRing, SAMPLE_AT } from './device-ring.ts'
import type { FeedInfo, FeedRequest, SampleFeed } from './sample-feed.ts'

/** A device that does not answer within this time after the start is absent. Unit: milliseconds. */
const START_LIMIT_MS = 20_000
/** Longest call of the source. Unit: milliseconds. */
const CALL_LIMIT_MS = 5000
const STOP_LIMIT_MS = 2000
/** Rows of the interval are discarded. Unit: milliseconds. */
const REPORT_MS = 1000
/** Time span that the ring keeps for a late reader. Unit: milliseconds. */
const RING_MS = 2000
/** Longest wait for samples before control returns to the caller. Unit: milliseconds. */
const WAIT_MS = 50
/** A device without samples for this long is gone or hangs, if its source does not read it. Unit: milliseconds. */
const SILENT_MS = 2000
const MICROSECOND_NS = 1000

/** The source that samples the device. */
export interface HostFeedSource {
  readonly definition: SourceDefinition
  readonly paths: SourcePaths
  /** Options of the source in addition to those of sampling. */
  readonly options?: object
}

/**
 * Samples of a device from a source of the agent, in a host in this process.
 * @throws SondeError `TRB_DENIED` without the required permissions; `TRB_DEVICE` if the device is absent, refuses
 * counters, or differs from an exact request.
 */
export async function openHostFeed(request: FeedRequest, source: HostFeedSource): Promise<SampleFeed> {
  const { samplePeriodNs, dataIds, device } = request
  if (samplePeriodNs % MICROSECOND_NS !== 0)
    throw new SondeError('TRB_DEVICE', `a sample period of ${samplePeriodNs} ns; allowed: whole microseconds`)
  const { definition, paths } = source
  const options = parse(definition.options, {
    ...{ devices: [device], counters: dataIds.map(idText), ring_ms: RING_MS },
    ...{ sample_period_us: samplePeriodNs / MICROSECOND_NS, ...source.options },
  })
  const hosted = new HostedDevice(definition, paths, options)
  try {
    const tap = await hosted.ring(request)
    return new HostFeed(hosted, tap, request)
  } catch (error) {
    await hosted.close()
    throw error
  }
}

/** A source that runs only for one ring. */
class HostedDevice {
  /** Time between two samples, as the device reports it. Unit: nanoseconds. */
  samplePeriodNs: number | undefined
  /** Clock of the device's time stamps: `rtc` or another. */
  clock: string | undefined
  /** Size of a sample, as the device reports it. Unit: bytes. */
  sampleBytes: number | undefined
  readonly #host = new Host()
  readonly #name: string
  readonly #status: SourceStatus
  #settled: Settled = { state: 'starting', reason: '', before: 'starting' }

  constructor(definition: SourceDefinition, paths: SourcePaths, options: object) {
    this.#name = definition.name
    const onSettled = (settled: Settled) => {
      this.#settled = settled
    }
    this.#status = new SourceStatus({ onSettled })
    this.#host.start({
      config: {
        ...{ module: '', name: definition.name, type: definition.name, options, intervalMs: REPORT_MS, paths },
        ...{ floodBytes: Number.POSITIVE_INFINITY, callLimitMs: CALL_LIMIT_MS },
      },
      definition,
      status: this.#status,
      accept: (batch) => this.#note(batch),
    })
  }

  /** The ring of the device, when the ring and all facts for the request are known. */
  async ring({ isExact }: Pick<FeedRequest, 'isExact'>): Promise<Tap> {
    const untilMs = performance.now() + START_LIMIT_MS
    while (performance.now() < untilMs) {
      const { state, reason } = this.#settled
      if (state === 'denied') throw new SondeError('TRB_DENIED', reason)
      if (state === 'absent' || state === 'failed') throw new SondeError('TRB_DEVICE', reason)
      const [tap] = this.#host.rings(this.#name, docaDiagSampleType.name)
      const isKnown = this.clock !== undefined && (!isExact || this.sampleBytes !== undefined)
      if (tap !== undefined && tap.total > 0 && isKnown) return tap
      await pause(WAIT_MS)
    }
    const why = this.#settled.reason || 'the device gives none'
    throw new SondeError('TRB_DEVICE', `no sample within ${START_LIMIT_MS} ms: ${why}`)
  }

  /** Why its source does not read it; undefined while it reads, or only waits for processor time. */
  get silence(): string | undefined {
    const { state, reason } = this.#settled
    const [stuck] = this.#status.stuck
    if (stuck !== undefined) return `its call ${stuck.duty} took more than ${stuck.limitMs} ms`
    return state === 'reading' || state === 'starting' || state === 'starved' ? undefined : reason || state
  }

  async close(): Promise<void> {
    await this.#host.stop(STOP_LIMIT_MS)
  }

  #note({ type, bytes, count, symbols }: Batch): void {
    if (type === periodType)
      for (const { sample_us } of readRecords(periodType, viewsOf(bytes), count, symbols))
        if (sample_us !== undefined) this.samplePeriodNs = Number(sample_us) * MICROSECOND_NS
    if (type === clockType)
      for (const { clock } of readRecords(clockType, viewsOf(bytes), count, symbols)) this.clock = clock
    if (type === docaDiagSamplingType)
      for (const { sample_bytes } of readRecords(docaDiagSamplingType, viewsOf(bytes), count, symbols))
        this.sampleBytes = sample_bytes
  }
}

/** Copies the samples from the ring of a source. */
class HostFeed implements SampleFeed {
  readonly info: FeedInfo
  readonly #hosted: HostedDevice
  readonly #tap: Tap
  readonly #from: RingMemory
  /** Offsets of ticks, number, time stamp and values in a sample of the ring. Unit: words. */
  readonly #ticksAt: number
  readonly #numberAt: number
  readonly #stampAt: number
  readonly #valuesAt: readonly number[]
  #next: number
  #number: number | undefined
  /** When the last samples arrived. */
  #cameMs = performance.now()
  #isClosed = false

  constructor(hosted: HostedDevice, tap: Tap, request: FeedRequest) {
    const { dataIds, device, isExact } = request
    this.#hosted = hosted
    this.#tap = tap
    this.#from = tap.ring
    const wordOf = (field: string) => (tap.type.layout.slots.find(({ name }) => name === field)?.offset ?? -4) / 4
    this.#valuesAt = dataIds.map((id) => wordOf(sampleFieldOf(id)))
    const refused = dataIds.filter((_, at) => (this.#valuesAt[at] as number) < 0)
    if (refused.length > 0) throw new SondeError('TRB_DEVICE', `${device} has no counters ${idsText(refused)}`)
    const clock = hosted.clock === 'rtc' ? 'rtc' : 'ticks'
    const samplePeriodNs = hosted.samplePeriodNs ?? request.samplePeriodNs
    if (isExact && (samplePeriodNs !== request.samplePeriodNs || clock !== 'rtc')) {
      const allowed = `${request.samplePeriodNs} ns, as the rules say, by a real-time clock`
      throw new SondeError(
        'TRB_DEVICE',
        `${device} samples every ${samplePeriodNs} ns by ${clock}; allowed: ${allowed}`,
      )
    }
    const sampleBytes = sampleBytesOf(dataIds.length)
    if (isExact && hosted.sampleBytes !== sampleBytes) {
      const allowed = `${sampleBytes} bytes, which are 16 and 8 for each of ${dataIds.length} data IDs`
      throw new SondeError('TRB_DEVICE', `${device} has samples of ${hosted.sampleBytes} bytes; allowed: ${allowed}`)
    }
    this.info = { device, samplePeriodNs, clock }
    this.#ticksAt = wordOf('device_ticks')
    this.#numberAt = wordOf('sample')
    this.#stampAt = wordOf('stamp')
    this.#next = tap.total
  }

  async read(ring: DeviceRing, limit: number, stop: AbortSignal): Promise<number | 'end'> {
    const tap = this.#tap
    if (this.#next === tap.total) await pause(WAIT_MS, undefined, { signal: stop }).catch(() => undefined)
    if (stop.aborted) return 0
    if (this.#next === tap.total) this.#checkSilence()
    else this.#cameMs = performance.now()
    // Samples that the ring has overwritten show as a gap in the numbers.
    const first = Math.max(this.#next, tap.total - tap.count)
    const end = Math.min(tap.total, first + limit)
    const offsetNs = wallOffsetNs()
    for (let sample = first; sample < end; sample++) this.#copy(sample, ring, offsetNs)
    this.#next = end
    return end - first
  }

  /** @throws SondeError `TRB_DEVICE` if the device is gone or hangs, because no other check reports it. */
  #checkSilence(): void {
    const { silence } = this.#hosted
    if (silence === undefined || performance.now() - this.#cameMs < SILENT_MS) return
    throw new SondeError('TRB_DEVICE', `${this.info.device} no longer gives samples: ${silence}`)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#hosted.close()
  }

  #copy(sample: number, ring: DeviceRing, offsetNs: bigint): void {
    const { words: from, capacity, strideWords } = this.#from
    const at = (sample % capacity) * strideWords
    const to = ring.push()
    const { words } = ring
    const copy = (place: number, word: number) => {
      words[to + place] = from[at + word] as number
      words[to + place + 1] = from[at + word + 1] as number
    }
    copy(SAMPLE_AT.raw, this.#stampAt)
    const wallNs = this.#tap.timeOf(sample) + offsetNs
    words[to + SAMPLE_AT.wall] = Number(wallNs & 0xffff_ffffn)
    words[to + SAMPLE_AT.wall + 1] = Number(wallNs >> 32n)
    if (this.info.clock === 'rtc') copy(SAMPLE_AT.time, this.#ticksAt)
    else {
      words[to + SAMPLE_AT.time] = words[to + SAMPLE_AT.wall] as number
      words[to + SAMPLE_AT.time + 1] = words[to + SAMPLE_AT.wall + 1] as number
    }
    const number = from[at + this.#numberAt] as number
    words[to + SAMPLE_AT.id] = number
    words[to + SAMPLE_AT.flags] = this.#number === undefined || number === (this.#number + 1) >>> 0 ? 0 : 1
    this.#number = number
    for (let index = 0; index < this.#valuesAt.length; index++)
      copy(SAMPLE_AT.values + 2 * index, this.#valuesAt[index] as number)
  }
}
