import {
  type Batch,
  isPresent,
  labelsOf,
  numberAt,
  type RecordType,
  SeriesIndex,
  type Slot,
  type SourceInfo,
  viewsOf,
} from '@sonde/sdk'
import { ORIGINS, type Origin, type PodBase } from './fields.ts'

/** Records of a GPU that are older than this many periods count no more: it is not known what it does now. */
const STALE_PERIODS = 3
/** What a period is taken for before two samples came, and at least. Unit: milliseconds. */
const PERIOD_MIN_MS = 2000
/** GPUs and instances of which values are kept. Policy: further ones are counted as `gpu_limit`. */
const GPU_LIMIT = 16_384
/** A GPU that has been silent for longer is forgotten. Unit: milliseconds. */
const FORGET_MS = 300_000

/** What one type of record says of one GPU now. */
interface Part {
  readonly values: Map<PodBase, number>
  arrivedMs: number
  periodMs: number
}

/** The latest of one GPU, or MIG instance. */
interface Gpu {
  readonly parts: Map<string, Part>
}

interface Reading {
  readonly origin: Origin
  readonly slots: readonly Slot[]
}

/** Series of one type from one source, by number. */
interface Stream {
  readonly index: SeriesIndex
  readonly parts: (Part | null)[]
}

/** Values of one GPU that still hold. */
export interface GpuNow {
  readonly values: ReadonlyMap<PodBase, number>
  /** Age of the oldest part. Unit: milliseconds. */
  readonly ageMs: number
}

/** Names a GPU, or an instance of it: one a host and UUID, whatever its index is. */
export function gpuKey(host: string, uuid: string, instance: string): string {
  return `${host}\n${uuid}\n${instance}`
}

/** Whether a key names a MIG instance. */
export function isInstance(key: string): boolean {
  return !key.endsWith('\n')
}

/** The latest numbers of every GPU, by the host and UUID. Takes all batches, and looks at those of GPUs. */
export class GpuValues {
  readonly #host: string
  readonly #gpus = new Map<string, Gpu>()
  readonly #streams = new Map<SourceInfo, Map<RecordType, Stream>>()
  readonly #readings = new WeakMap<RecordType, readonly Reading[]>()

  /** @param host Name of this host, for records that name none. */
  constructor(host: string) {
    this.#host = host
  }

  /** Takes a batch; gives the records for which there was no room, undefined where it is of no GPU. */
  take(batch: Batch): number | undefined {
    const { type, source, count, bytes, arrivedMs } = batch
    if (ORIGINS[type.name] === undefined) return undefined
    const readings = this.#readingsOf(type)
    const views = viewsOf(bytes)
    const { index, parts } = this.#streamOf(source, type)
    let refused = 0
    for (let record = 0, at = 0; record < count; record++, at += type.layout.recordBytes) {
      const id = index.of(views, at)
      parts[id] ??= this.#open(type, batch, at)
      const part = parts[id]
      if (part === null || part === undefined) {
        refused++
        continue
      }
      const apartMs = arrivedMs - part.arrivedMs
      if (apartMs > 0 && Number.isFinite(apartMs)) part.periodMs = Math.max(PERIOD_MIN_MS, apartMs)
      part.arrivedMs = arrivedMs
      for (const { origin, slots } of readings) {
        let sum = 0
        let isWhole = slots.length === origin.from.length
        for (const slot of slots) {
          if (isPresent(type.layout, slot, views, at)) sum += numberAt(slot, views, at)
          else isWhole = false
        }
        if (isWhole && Number.isFinite(sum)) part.values.set(origin.base, sum * origin.factor)
        else part.values.delete(origin.base)
      }
    }
    return refused
  }

  /** What is known of a GPU now; undefined where nothing is. `nowMs` is on the clock of `arrivedMs` of batches. */
  now(key: string, nowMs: number): GpuNow | undefined {
    const values = new Map<PodBase, number>()
    let ageMs = -1
    for (const part of this.#gpus.get(key)?.parts.values() ?? []) {
      const age = nowMs - part.arrivedMs
      if (age > part.periodMs * STALE_PERIODS) continue
      ageMs = Math.max(ageMs, age)
      for (const [base, value] of part.values) values.set(base, value)
    }
    return ageMs < 0 ? undefined : { values, ageMs }
  }

  /** Forgets GPUs that have been silent for long, and the sources that had them. */
  sweep(nowMs: number): void {
    const isSilent = ({ arrivedMs }: Part) => nowMs - arrivedMs > FORGET_MS
    for (const [key, { parts }] of this.#gpus) {
      for (const [name, part] of parts) if (isSilent(part)) parts.delete(name)
      if (parts.size === 0) this.#gpus.delete(key)
    }
    for (const [source, streams] of this.#streams) {
      for (const [type, { parts }] of streams) {
        if (parts.every((part) => part === null || isSilent(part))) streams.delete(type)
      }
      if (streams.size === 0) this.#streams.delete(source)
    }
  }

  #open(type: RecordType, { source, bytes }: Batch, at: number): Part | null {
    if (this.#gpus.size >= GPU_LIMIT) return null
    const { UUID = '', GPU_I_ID = '', Hostname = '' } = labelsOf(type, source, viewsOf(bytes), at)
    const key = gpuKey(Hostname === '' ? (source.host ?? this.#host) : Hostname, UUID, GPU_I_ID)
    let gpu = this.#gpus.get(key)
    if (gpu === undefined) {
      gpu = { parts: new Map() }
      this.#gpus.set(key, gpu)
    }
    const part: Part = { values: new Map(), arrivedMs: Number.NEGATIVE_INFINITY, periodMs: PERIOD_MIN_MS }
    gpu.parts.set(type.name, part)
    return part
  }

  #streamOf(source: SourceInfo, type: RecordType): Stream {
    let streams = this.#streams.get(source)
    if (streams === undefined) {
      streams = new Map()
      this.#streams.set(source, streams)
    }
    let stream = streams.get(type)
    if (stream === undefined) {
      stream = { index: new SeriesIndex(type), parts: [] }
      streams.set(type, stream)
    }
    return stream
  }

  #readingsOf(type: RecordType): readonly Reading[] {
    let readings = this.#readings.get(type)
    if (readings === undefined) {
      const slotOf = (name: string) => type.layout.slots.filter((slot) => slot.name === name && slot.field.count === 1)
      readings = (ORIGINS[type.name] ?? []).map((origin) => ({ origin, slots: origin.from.flatMap(slotOf) }))
      this.#readings.set(type, readings)
    }
    return readings
  }
}
