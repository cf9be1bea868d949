import {
  type AbsenceCode,
  type Batch,
  isPresent,
  type Labels,
  numberAt,
  type RecordType,
  readRecords,
  type SourceInfo,
  viewsOf,
} from '@sonde/sdk'
import { absenceType, labelsOf, ownerOf, type Periods, SeriesIndex, type Slot } from '@sonde/sdk/internal'
import { POD_FIELD_ORIGINS, type PodBase, type PodFieldOrigin } from './fields.ts'
import { readSeries } from './read-series.ts'
import { isOver, SAMPLE_MS, type Sighting, see, unseen } from './sighting.ts'

/** GPUs and instances of which values are kept. Policy: further ones are counted as `gpu_limit`. */
const GPU_LIMIT = 16_384
/** A GPU that has been silent for longer is forgotten. Unit: milliseconds. */
const FORGET_MS = 300_000

/** Why a number is not known, in the words of the source that should have it. */
export interface Lacking {
  readonly code: AbsenceCode
  readonly reason: string
}

/** The current values of one GPU from one source, of one type. */
interface Part {
  readonly type: string
  readonly owner: object
  readonly values: Map<PodBase, number>
  /** Why fields of the record are absent, by their name; `''` is all of them. */
  readonly lacking: Map<string, Lacking>
  readonly seen: Sighting
  /** When its source last said why something is absent. */
  toldMs: number
  /** How often its source says that it reports; 0 if it does not say. Unit: milliseconds. */
  periodMs: number
}

/** The parts of one GPU, or MIG instance, in the order in which their sources came. */
type Gpu = Part[]

interface Reading {
  readonly origin: PodFieldOrigin
  readonly slots: readonly Slot[]
}

/** A series of GPU records. */
interface Series {
  readonly part: Part
  readonly labels: Labels
}

/** Series of one type from one source, by number; null if there was no room for its GPU. */
interface Stream {
  readonly index: SeriesIndex
  readonly series: (Series | null | undefined)[]
}

/** Values of one GPU that still hold. */
export interface GpuNow {
  readonly values: ReadonlyMap<PodBase, number>
  /** Age of the oldest part. Unit: milliseconds. */
  readonly ageMs: number
  /** The longest period that the sources of its parts declare; 0 if none does. Unit: milliseconds. */
  readonly periodMs: number
}

/** The key of a GPU or an instance: host and UUID, because the index may change. */
export function gpuKey(host: string, uuid: string, instance: string): string {
  return JSON.stringify([host, uuid, instance])
}

/** Whether a key names a MIG instance. */
export function isInstance(key: string): boolean {
  return !key.endsWith(',""]')
}

/** The host, the UUID and the instance of a key. */
export function partsOfKey(key: string): readonly [host: string, uuid: string, instance: string] {
  return JSON.parse(key) as [string, string, string]
}

/**
 * The latest numbers of every GPU, by the host and UUID. Takes all batches, and looks at those of GPUs. Where two
 * sources report a GPU, the source that came first is believed as long as its records come.
 */
export class GpuValues {
  readonly #host: string
  readonly #limit: number
  readonly #periods: Periods
  readonly #gpus = new Map<string, Gpu>()
  readonly #streams = new Map<SourceInfo, Map<RecordType, Stream>>()
  readonly #readings = new WeakMap<RecordType, readonly Reading[]>()

  /**
   * @param host Name of this host, for records that name none.
   * @param periods How often sources report, as they say.
   * @param limit GPUs and instances of which values are kept. Default: 16 384. Policy: further ones are counted.
   */
  constructor(host: string, periods: Periods, limit = GPU_LIMIT) {
    this.#host = host
    this.#periods = periods
    this.#limit = limit
  }

  /** GPUs, and series of them, that are kept. */
  get counts(): { readonly gpus: number; readonly series: number } {
    let series = 0
    for (const streams of this.#streams.values()) for (const { index } of streams.values()) series += index.count
    return { gpus: this.#gpus.size, series }
  }

  /** Takes a batch; gives the records for which there was no room, undefined if it is of no GPU. */
  take(batch: Batch): number | undefined {
    const { type, source, count, bytes, arrivedMs } = batch
    if (type.fingerprint === absenceType.fingerprint) return this.#takeAbsences(batch)
    if (POD_FIELD_ORIGINS[type.name] === undefined) return undefined
    const readings = this.#readingsOf(type)
    const views = viewsOf(bytes)
    const { index, series } = this.#streamOf(source, type)
    let refused = 0
    for (let record = 0, at = 0; record < count; record++, at += type.layout.recordBytes) {
      const id = index.of(views, at)
      if (series[id] === undefined) series[id] = this.#open(type, source, labelsOf(type, source, views, at))
      const one = series[id]
      if (one === null || one === undefined) {
        refused++
        continue
      }
      one.part.periodMs = this.#periods.ofSeries(source, type, one.labels)
      see(one.part.seen, arrivedMs, one.part.periodMs)
      if (one.part.lacking.get('')?.code === 'gone') one.part.lacking.delete('')
      for (const { origin, slots } of readings) {
        let sum = 0
        let isWhole = slots.length === origin.from.length
        for (const slot of slots) {
          if (isPresent(type.layout, slot, views, at)) sum += numberAt(slot, views, at)
          else isWhole = false
        }
        if (isWhole && Number.isFinite(sum)) one.part.values.set(origin.base, origin.convert(sum))
        else one.part.values.delete(origin.base)
      }
    }
    return refused
  }

  /** The current values of a GPU; undefined if there are none. `nowMs` uses the clock of `arrivedMs` of batches. */
  now(key: string, nowMs: number): GpuNow | undefined {
    const values = new Map<PodBase, number>()
    const types = new Set<string>()
    let ageMs = -1
    let periodMs = 0
    for (const part of this.#gpus.get(key) ?? []) {
      if (types.has(part.type) || isOver(part.seen, nowMs)) continue
      types.add(part.type)
      ageMs = Math.max(ageMs, nowMs - part.seen.arrivedMs)
      periodMs = Math.max(periodMs, part.periodMs)
      for (const [base, value] of part.values) values.set(base, value)
    }
    return ageMs < 0 ? undefined : { values, ageMs, periodMs }
  }

  /**
   * Why a number of a GPU is not known: in the words of the source that should have it. Undefined if none says it.
   */
  lacking(key: string, base: PodBase): Lacking | undefined {
    for (const { type, lacking } of this.#gpus.get(key) ?? []) {
      const from = POD_FIELD_ORIGINS[type]?.find((origin) => origin.base === base)?.from ?? []
      const names = from.length === 0 ? [] : ['', ...from]
      for (const name of names) {
        const found = lacking.get(name)
        if (found !== undefined) return found
      }
    }
    return undefined
  }

  /** Forgets GPUs that have been silent for long, and the sources that had them, in steps. */
  *sweep(nowMs: number): Generator<undefined, void> {
    const isSilent = ({ seen, toldMs }: Part) => nowMs - Math.max(seen.arrivedMs, toldMs) > FORGET_MS
    for (const [key, parts] of this.#gpus) {
      const left = parts.filter((part) => !isSilent(part))
      if (left.length === 0) this.#gpus.delete(key)
      else if (left.length < parts.length) this.#gpus.set(key, left)
      yield
    }
    for (const [source, streams] of this.#streams) {
      for (const [type, stream] of streams) {
        sweepStream(stream, isSilent)
        if (stream.index.count === 0) streams.delete(type)
        yield
      }
      if (streams.size === 0) this.#streams.delete(source)
    }
  }

  /**
   * Reads reasons of absent values. A GPU that is missing in a complete answer is gone at once, like the pod that held
   * it. Returns 0, or undefined if no record describes a GPU.
   */
  #takeAbsences({ bytes, count, symbols, source, arrivedMs }: Batch): number | undefined {
    let isAny = false
    for (const { type, series, field, code, reason } of readRecords(absenceType, viewsOf(bytes), count, symbols)) {
      if (POD_FIELD_ORIGINS[type] === undefined) continue
      const parts = this.#gpus.get(this.#keyOf(readSeries(series), source)) ?? []
      const part = parts.find((each) => each.type === type && each.owner === ownerOf(source))
      if (part === undefined) continue
      isAny = true
      part.toldMs = arrivedMs
      if (code === '') part.lacking.delete(field)
      else if (code !== 'gone') part.lacking.set(field, { code: code as AbsenceCode, reason })
      else if (arrivedMs - part.seen.arrivedMs > SAMPLE_MS) {
        part.lacking.clear()
        part.lacking.set('', { code, reason })
        part.seen.arrivedMs = Number.NEGATIVE_INFINITY
      }
    }
    return isAny ? 0 : undefined
  }

  #keyOf({ UUID = '', GPU_I_ID = '', Hostname = '' }: Labels, source: SourceInfo): string {
    return gpuKey(Hostname === '' ? (source.host ?? this.#host) : Hostname, UUID, GPU_I_ID)
  }

  #open(type: RecordType, source: SourceInfo, labels: Labels): Series | null {
    const key = this.#keyOf(labels, source)
    let gpu = this.#gpus.get(key)
    if (gpu === undefined) {
      if (this.#gpus.size >= this.#limit) return null
      gpu = []
      this.#gpus.set(key, gpu)
    }
    const owner = ownerOf(source)
    let part = gpu.find((each) => each.type === type.name && each.owner === owner)
    if (part === undefined) {
      part = {
        ...{ type: type.name, owner, values: new Map(), lacking: new Map(), seen: unseen() },
        ...{ toldMs: Number.NEGATIVE_INFINITY, periodMs: 0 },
      }
      gpu.push(part)
    }
    return { part, labels }
  }

  #streamOf(source: SourceInfo, type: RecordType): Stream {
    let streams = this.#streams.get(source)
    if (streams === undefined) {
      streams = new Map()
      this.#streams.set(source, streams)
    }
    let stream = streams.get(type)
    if (stream === undefined) {
      stream = { index: new SeriesIndex(type), series: [] }
      streams.set(type, stream)
    }
    return stream
  }

  #readingsOf(type: RecordType): readonly Reading[] {
    let readings = this.#readings.get(type)
    if (readings === undefined) {
      const slotOf = (name: string) => type.layout.slots.filter((slot) => slot.name === name && slot.field.count === 1)
      readings = (POD_FIELD_ORIGINS[type.name] ?? []).map((origin) => ({ origin, slots: origin.from.flatMap(slotOf) }))
      this.#readings.set(type, readings)
    }
    return readings
  }
}

/** Forgets the series of GPUs that are silent, and those without room: they find it now, or are refused again. */
function sweepStream({ index, series }: Stream, isSilent: (part: Part) => boolean): void {
  for (const [id, one] of series.entries()) {
    if (one === undefined || (one !== null && !isSilent(one.part))) continue
    index.forget(id)
    series[id] = undefined
  }
}
