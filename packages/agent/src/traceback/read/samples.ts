import { SondeError } from '@sonde/sdk'
import { BLOCK_HEADER_BYTES, decodeBlockHeader, turn, unpackPayload } from '@sonde/sdk/internal'
import type { KeptBlock, ReadIndex } from '../keep/kept-index.ts'
import { PassingSeries, type SampleSpan } from './passing-series.ts'
import { type LaneSignal, laneSignals } from './signals.ts'

/** Size of an answer without its head. Unit: bytes. */
const ANSWER_BYTES_MAX = 960_000
/** Adjacent blocks are read together up to this size. Unit: bytes. */
const READ_BYTES_MAX = 4 << 20

/** An event with readable samples. */
export interface ReadableEvent {
  readonly index: ReadIndex
  /** Bytes of its file. */
  read(at: number, bytes: number): Promise<Uint8Array>
}

/** A request for the samples of an event. */
export interface LaneSamplesRequest {
  /** Keys of lanes, 1 to 64. */
  readonly keys: readonly string[]
  readonly fromMs: number
  /** After `fromMs`. */
  readonly toMs: number
  /** Number of parts, each with a lowest and a highest value. Range: 2 to 20 000. */
  readonly points: number
}

/** The series of the lanes, and their time span. */
export interface ReadSamples {
  readonly stretch: SampleSpan
  readonly series: readonly PassingSeries[]
}

/**
 * Reads the samples of some lanes of an event, block by block. Yields to the loop between two lanes of a block.
 * @throws SondeError `QRY_FORM` for an unknown key, `DTB_…` if the file is invalid.
 */
export async function readSamples({ index, read }: ReadableEvent, question: LaneSamplesRequest): Promise<ReadSamples> {
  const { keys, fromMs, toMs, points } = question
  const known = new Map<number, readonly LaneSignal[]>()
  const bySeries = Map.groupBy(
    keys.map((key) => signalAt(index, key, known)),
    ({ series }) => series,
  )
  const room = Math.floor(ANSWER_BYTES_MAX / (8 * (keys.length + bySeries.size))) - 3
  // A double cannot hold nanoseconds since the Unix epoch, so the time span starts at a whole microsecond.
  const fromNs = BigInt(Math.round(fromMs * 1000)) * 1000n
  const stretch: SampleSpan = { fromNs, spanMs: toMs - fromMs, points: Math.max(2, Math.min(points, room)) }
  const wanted = new Map<number, PassingSeries[]>()
  const passing = [...bySeries].map(([at, signals]) => {
    const one = passingSeries(index, at, signals, stretch)
    const part = index.series[at]?.part ?? -1
    wanted.set(part, [...(wanted.get(part) ?? []), one])
    return one
  })
  for (const run of blockRuns(await blocksFor(index, [...bySeries.keys()], stretch))) {
    const [first] = run
    const last = run.at(-1)
    if (first === undefined || last === undefined) continue
    const bytes = await read(first[1], last[1] + last[2] - first[1])
    for (const block of run) {
      const data = blockRecords(bytes.subarray(block[1] - first[1], block[1] - first[1] + block[2]), index, block)
      if (turn.isOver()) await turn.next()
      for (const series of wanted.get(block[0]) ?? [])
        for (const _lane of series.take(data, block[3])) if (turn.isOver()) await turn.next()
    }
  }
  return { stretch, series: passing }
}

/** @param known Cache of the signals by series, because a series has many signals. */
function signalAt(index: ReadIndex, key: string, known: Map<number, readonly LaneSignal[]>): LaneSignal {
  const at = /^\d{1,6}\./.test(key) ? Number(key.split('.')[0]) : -1
  const signals = known.get(at) ?? laneSignals(index, at)
  known.set(at, signals)
  const signal = signals.find((one) => one.key === key)
  if (signal !== undefined) return signal
  throw new SondeError(
    'QRY_FORM',
    `lanes holds ${JSON.stringify(key.slice(0, 100))}; allowed: keys of the event's lanes`,
  )
}

function passingSeries(
  { series, types }: ReadIndex,
  at: number,
  signals: readonly LaneSignal[],
  stretch: SampleSpan,
): PassingSeries {
  const { part = 0, key = [], resolutionMs = 0 } = series[at] ?? {}
  const type = types[part]
  if (type === undefined) throw new SondeError('TRB_NOTE', 'the note of an event has a series of no part')
  return new PassingSeries({ type, key, usualMs: resolutionMs }, signals, stretch)
}

/** Blocks with samples of the time span, and slightly beyond it for the neighbours of its samples. */
async function blocksFor(
  { blocks, series }: ReadIndex,
  wanted: readonly number[],
  { fromNs, spanMs }: SampleSpan,
): Promise<KeptBlock[]> {
  const besideNs = new Map<number, bigint>()
  for (const at of wanted) {
    const { part = -1, resolutionMs = 0 } = series[at] ?? {}
    const ns = BigInt(Math.ceil(2 * resolutionMs * 1e6)) + 1_000_000n
    if (ns > (besideNs.get(part) ?? 0n)) besideNs.set(part, ns)
  }
  const toNs = fromNs + BigInt(Math.ceil(spanMs * 1e6))
  const found: KeptBlock[] = []
  for (const block of blocks) {
    const [part, , , , firstNs, lastNs] = block
    const beside = besideNs.get(part)
    if (beside === undefined) continue
    if (BigInt(lastNs) >= fromNs - beside && BigInt(firstNs) <= toNs + beside) found.push(block)
    if (turn.isOver()) await turn.next()
  }
  return found
}

/** Groups blocks that are read together. */
function blockRuns(blocks: readonly KeptBlock[]): KeptBlock[][] {
  const runs: KeptBlock[][] = []
  for (const block of blocks) {
    const run = runs.at(-1)
    const [first, last] = [run?.[0], run?.at(-1)]
    const [, at, bytes] = block
    if (run === undefined || first === undefined || last === undefined) runs.push([block])
    // Symbols and types may lie between two blocks. Distant blocks are not read together.
    else if (at - (last[1] + last[2]) > last[2] || at + bytes - first[1] > READ_BYTES_MAX) runs.push([block])
    else run.push(block)
  }
  return runs
}

/** The records of a block, after its checksums were verified. */
function blockRecords(block: Uint8Array, { types }: ReadIndex, [part, , , count]: KeptBlock): DataView {
  const header = decodeBlockHeader(block)
  const payload = unpackPayload(header, block.subarray(BLOCK_HEADER_BYTES))
  if (payload.byteLength !== count * (types[part]?.layout.recordBytes ?? 0))
    throw new SondeError('DTB_CONTENT', 'a block of an event has another size than in its note')
  return new DataView(payload.buffer, payload.byteOffset, payload.byteLength)
}
