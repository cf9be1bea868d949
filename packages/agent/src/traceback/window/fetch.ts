import { type Batch, messageOf } from '@sonde/sdk'
import { ownerOf } from '@sonde/sdk/internal'
import type { TapInfo } from '../../hosting/protocol.ts'
import type { RunningSource } from '../../hosting/running-source.ts'
import { everyMsOf, saidPeriodOf } from '../../hosting/said-period.ts'
import type { Part } from '../keep/series-book.ts'
import { type OpenEvent, TRACEBACK_SOURCE } from './open-event.ts'

/** A ring is asked for stretches of about so much, so that no drain waits for a copy. Unit: bytes. */
const SLICE_BYTES = 2 << 20
/** The most that one stretch may be. Unit: bytes. */
const SLICE_BYTES_MAX = 8 << 20

/** A ring of a source of the node. */
export interface NodeTap extends TapInfo {
  readonly source: RunningSource
}

/** All rings of the node. A source that does not answer has none for now. */
export async function tapsOf(sources: readonly RunningSource[]): Promise<NodeTap[]> {
  const lists = await Promise.all(
    sources.map(async (source) => {
      try {
        return (await source.taps()).map((tap) => ({ ...tap, source }))
      } catch {
        // Its host is being replaced, or was never started: there is nothing to fetch.
        return []
      }
    }),
  )
  return lists.flat()
}

/** What a ring is called within an event. */
export function keyOf({ source, type, device }: NodeTap): string {
  return `${source.name}\n${type}\n${device}`
}

/** Whether a ring is of what the rule watches. A client has none, however it calls its source. */
export function isOfRule({ source, type, device }: NodeTap, { start }: OpenEvent): boolean {
  if (start.holder !== undefined) return false
  // The rules that a combination combines may watch any device.
  if (start.source === TRACEBACK_SOURCE) return start.types.has(type)
  return source.name === start.source && device === start.device
}

/** Limits of what an event fetches. */
export interface FetchLimits {
  /** Of the file. Unit: bytes. */
  readonly bytesMax: number
  /** Called with what a source does not hand over. */
  readonly failed: (source: string, reason: string) => void
}

/**
 * Fetches what a ring has of an event's window, up to a time, behind what was fetched before. Stops where the event is
 * full. Other rings than that of the rule have a part of it, which is larger where they are nearer to the device of the
 * event; what they would have more is left out.
 *
 * @param near As `nearnessOf` has it; undefined for a ring of the rule.
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
  const key = keyOf(tap)
  const newestNs = BigInt(tap.newestMonoNs)
  const isOwn = near === undefined
  const endNs = newestNs + 1n < upToNs ? newestNs + 1n : upToNs
  let fromNs = event.cursors.get(key) ?? event.fromNs
  const sliceNs = sliceOf(tap)
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
 * Of the bytes of an event: what signals that the rule does not watch may take together, and what rings may take of
 * that, by how near their device is. What is reported is cheap and says much about the node, so that rings leave a part
 * to it. The signals of the rule have all of the rest.
 */
const OTHERS_PART = 1 / 2
const RINGS_PARTS = [3 / 8, 9 / 32, 3 / 16] as const

/** Whether the event is as large as it may be: another part continues it. */
export function isFull({ file }: OpenEvent, { bytesMax }: FetchLimits): boolean {
  return file.bytes >= bytesMax
}

/** Whether more may be written of what is reported and the rule does not watch. */
export function hasRoomForReported(event: OpenEvent, limits: FetchLimits): boolean {
  return !isFull(event, limits) && event.ringsBytes + event.reportedBytes < OTHERS_PART * limits.bytesMax
}

/** Whether more may be written of a ring that the rule does not watch. */
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

/** Whether it could be had: a host that is replaced has it no more. */
async function fetchSlice(event: OpenEvent, tap: NodeTap, { fromNs, toNs, isOwn, limits }: Slice): Promise<boolean> {
  const { source, type, device } = tap
  const wallOffsetNs = String(event.start.offsetNs)
  const times = { fromMonoNs: String(fromNs), toMonoNs: String(toNs), wallOffsetNs }
  const before = event.file.bytes
  let diskError: unknown
  const take = async (batch: Batch) => {
    // A disk that is full is no fault of the source: its pieces are taken, and left out.
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

/** The part of an event that samples of a ring belong to. */
function partOfRing({ book }: OpenEvent, { source, device }: NodeTap, batch: Pick<Batch, 'type' | 'source'>): Part {
  const said = saidPeriodOf(source.stats.periods, { type: batch.type.name, device })
  const periodMs = said === undefined ? 0 : everyMsOf(said, true)
  const { id, labels } = batch.source
  // A source whose host was replaced goes on with its rings.
  return book.partOf({ source: id, owner: source, isOwn: true, type: batch.type, isRing: true, labels, periodMs })
}

/** The part of an event that reported records belong to. `running`: the source of the agent that made them. */
export function partOfReported(
  { book }: OpenEvent,
  running: RunningSource | undefined,
  { type, source, origin }: Pick<Batch, 'type' | 'source' | 'origin'>,
): Part {
  const said = saidPeriodOf(running?.stats.periods ?? [], { type: type.name, device: '' })
  const periodMs = said === undefined ? 0 : everyMsOf(said, false)
  // A device that takes a sample more rarely than it is reported is known no better than its samples.
  const valueMs = (said?.sampleUs ?? 0) / 1000
  const from = { source: source.id, owner: ownerOf(source), isOwn: origin === 'own', labels: source.labels }
  return book.partOf({ ...from, type, isRing: false, periodMs, valueMs })
}

/** Time between two samples, as the ring has them. Unit: nanoseconds. */
function stepOf({ count, oldestMonoNs, newestMonoNs }: NodeTap): number {
  const spanNs = Number(BigInt(newestMonoNs) - BigInt(oldestMonoNs))
  return count < 2 ? 1e9 : Math.max(1, spanNs / (count - 1))
}

function sliceOf(tap: NodeTap): bigint {
  const samples = Math.max(1, SLICE_BYTES / Math.max(1, tap.recordBytes))
  return BigInt(Math.ceil(samples * stepOf(tap)))
}

function samplesIn(tap: NodeTap, spanNs: bigint): number {
  return Math.round(Number(spanNs) / stepOf(tap))
}
