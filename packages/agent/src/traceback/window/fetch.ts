import type { Batch } from '@sonde/sdk'
import { messageOf, ownerOf } from '@sonde/sdk/internal'
import type { TapInfo } from '../../hosting/protocol.ts'
import type { RingSource } from '../../hosting/running-source.ts'
import { everyMsOf, saidPeriodOf } from '../../hosting/said-period.ts'
import type { SeriesPart } from '../keep/series-book.ts'
import { type OpenEvent, TRACEBACK_SOURCE } from './open-event.ts'

/** Approximate size of a slice of a ring. A larger copy would delay a drain. Unit: bytes. */
const SLICE_BYTES = 2 << 20
/** Largest slice. Unit: bytes. */
const SLICE_BYTES_MAX = 8 << 20

/** A ring of a source of the node. */
export interface NodeTap extends TapInfo {
  readonly source: RingSource
}

/** All rings of the node. A source that does not answer has none for now. */
export async function nodeTaps(sources: readonly RingSource[]): Promise<NodeTap[]> {
  const lists = await Promise.all(
    sources.map(async (source) => {
      try {
        return (await source.taps()).map((tap) => ({ ...tap, source }))
      } catch {
        // Its host is being replaced, or was never started, so there is nothing to fetch.
        return []
      }
    }),
  )
  return lists.flat()
}

/** Key of a ring within an event. */
export function tapKey({ source, type, device }: NodeTap): string {
  return `${source.name}\n${type}\n${device}`
}

/** Whether the rule watches a ring. Clients have no rings, whatever the name of their source. */
export function isOfRule({ source, type, device }: NodeTap, { start }: OpenEvent): boolean {
  if (start.holder !== undefined) return false
  // The rules of a combination may watch any device.
  if (start.source === TRACEBACK_SOURCE) return start.types.has(type)
  return source.name === start.source && device === start.device
}

/** Limits of the data that an event fetches. */
export interface FetchLimits {
  /** Largest file. Unit: bytes. */
  readonly bytesMax: number
  /** Called when a source cannot deliver samples. */
  readonly failed: (source: string, reason: string) => void
}

/**
 * Fetches the next slices of an event's window from a ring, up to a time. Stops when the event is full. A ring that the
 * rule does not watch may use a part of the event, which is larger for nearer devices; samples beyond it are left out.
 * @param near The result of `nearnessOf`; undefined for a ring of the rule.
 */
export async function fetchTap(
  event: OpenEvent,
  tap: NodeTap,
  {
    upToNs,
    near,
    limits,
  }: { readonly upToNs: bigint; readonly near: number | undefined; readonly limits: FetchLimits },
): Promise<void> {
  const key = tapKey(tap)
  const newestNs = BigInt(tap.newestMonoNs)
  const isOwn = near === undefined
  const endNs = newestNs + 1n < upToNs ? newestNs + 1n : upToNs
  let fromNs = event.cursors.get(key) ?? event.fromNs
  const sliceNs = sliceSpanNs(tap)
  while (fromNs < endNs) {
    const toNs = fromNs + sliceNs < endNs ? fromNs + sliceNs : endNs
    if (isOwn && isFull(event, limits)) return
    if (!isOwn && !hasRoomForRing(event, near, limits)) {
      const { offsetNs } = event.start
      const stretch = { fromNs: fromNs + offsetNs, toNs: toNs + offsetNs, samples: samplesIn(tap, toNs - fromNs) }
      event.leave({ source: tap.source.name, type: tap.type, device: tap.device, ...stretch })
    } else if (!(await fetchSlice(event, tap, { fromNs, toNs, isOwn, limits }))) return
    fromNs = toNs
    event.cursors.set(key, fromNs)
  }
}

/**
 * Parts of an event's bytes: for all signals that the rule does not watch, and within that for rings, by nearness of
 * their device. Rings leave a part to reported records, which are small and describe much of the node. The rule's
 * signals have the rest.
 */
const OTHERS_PART = 1 / 2
const RINGS_PARTS = [3 / 8, 9 / 32, 3 / 16] as const

/** Whether the event has its largest size: another part continues it. */
export function isFull({ file }: OpenEvent, { bytesMax }: FetchLimits): boolean {
  return file.bytes >= bytesMax
}

/** Whether more reported records that the rule does not watch fit. */
export function hasRoomForReported(event: OpenEvent, limits: FetchLimits): boolean {
  return !isFull(event, limits) && event.ringsBytes + event.reportedBytes < OTHERS_PART * limits.bytesMax
}

/** Whether more samples of a ring that the rule does not watch fit. */
function hasRoomForRing(event: OpenEvent, near: number, limits: FetchLimits): boolean {
  const part = RINGS_PARTS[near] ?? RINGS_PARTS[2]
  return hasRoomForReported(event, limits) && event.ringsBytes < part * limits.bytesMax
}

interface Slice {
  readonly fromNs: bigint
  readonly toNs: bigint
  readonly isOwn: boolean
  readonly limits: FetchLimits
}

/** Returns false if the samples are lost because the host was replaced. */
async function fetchSlice(event: OpenEvent, tap: NodeTap, { fromNs, toNs, isOwn, limits }: Slice): Promise<boolean> {
  const { source, type, device } = tap
  const wallOffsetNs = String(event.start.offsetNs)
  const times = { fromMonoNs: String(fromNs), toMonoNs: String(toNs), wallOffsetNs }
  const before = event.file.bytes
  let diskError: unknown
  const take = async (batch: Batch) => {
    // A full disk is not a fault of the source, so its pieces are still received, but left out.
    if (diskError !== undefined) return
    try {
      await event.append(partOfRing(event, tap, batch), batch)
    } catch (error) {
      diskError = error
    }
  }
  try {
    const end = await source.window({ type, device, ...times, bytesMax: SLICE_BYTES_MAX }, take)
    event.leftOut += end.leftOut
  } catch (error) {
    limits.failed(source.name, messageOf(error))
    return false
  }
  if (!isOwn) event.ringsBytes += event.file.bytes - before
  if (diskError !== undefined) throw diskError
  return true
}

/** The part of an event for samples of a ring. */
function partOfRing(
  { book }: OpenEvent,
  { source, device }: NodeTap,
  batch: Pick<Batch, 'type' | 'source'>,
): SeriesPart {
  const said = saidPeriodOf(source.stats.periods, { type: batch.type.name, device })
  const periodMs = said === undefined ? 0 : everyMsOf(said, true)
  const { id, labels } = batch.source
  // A source whose host was replaced continues its rings.
  return book.partOf({ source: id, owner: source, isOwn: true, type: batch.type, isRing: true, labels, periodMs })
}

/** The part of an event for reported records. `running` is the source of the agent that made them. */
export function partOfReported(
  { book }: OpenEvent,
  running: RingSource | undefined,
  { type, source, origin }: Pick<Batch, 'type' | 'source' | 'origin'>,
): SeriesPart {
  const said = saidPeriodOf(running?.stats.periods ?? [], { type: type.name, device: '' })
  const periodMs = said === undefined ? 0 : everyMsOf(said, false)
  // If a device samples more rarely than it is reported, the resolution is that of its samples.
  const valueMs = (said?.sampleUs ?? 0) / 1000
  const from = { source: source.id, owner: ownerOf(source), isOwn: origin === 'own', labels: source.labels }
  return book.partOf({ ...from, type, isRing: false, periodMs, valueMs })
}

/** Mean time between two samples of the ring. Unit: nanoseconds. */
function sampleStepNs({ count, oldestMonoNs, newestMonoNs }: NodeTap): number {
  const spanNs = Number(BigInt(newestMonoNs) - BigInt(oldestMonoNs))
  return count < 2 ? 1e9 : Math.max(1, spanNs / (count - 1))
}

function sliceSpanNs(tap: NodeTap): bigint {
  const samples = Math.max(1, SLICE_BYTES / Math.max(1, tap.recordBytes))
  return BigInt(Math.ceil(samples * sampleStepNs(tap)))
}

function samplesIn(tap: NodeTap, spanNs: bigint): number {
  return Math.round(Number(spanNs) / sampleStepNs(tap))
}
