import { isPresent, type RecordType, type SourceInfo, viewsOf } from '@sonde/sdk'
import type { RatesAnswer, SeriesRate } from '@sonde/sdk/api'
import { definitionOf, SeriesIndex, turn } from '@sonde/sdk/internal'
import type { RecentRing } from './recent.ts'
import type { KeptBatch } from './writer-share.ts'

/** How far back records are read. Series that are read in turns have a record in this time. Unit: milliseconds. */
const SPAN_MS = 60_000
/** Fields of all listed types and sources at most: about 10 MB of JSON. */
const FIELDS_MAX = 50_000

/** The series of each type and source in the last minute, and how often they have records. */
export async function seriesRates(recent: RecentRing, nowMs = performance.now()): Promise<RatesAnswer> {
  const types: RatesAnswer['types'][number][] = []
  const rates: SeriesRate[] = []
  let leftOut = 0
  let fields = 0
  for (const type of recent.types()) {
    if (type.metrics.size === 0) continue
    const newest = recent.batches(type).filter(({ arrivedMs, source }) => {
      return arrivedMs > nowMs - SPAN_MS && !recent.isRetired(source)
    })
    if (newest.length === 0) continue
    const sources = Map.groupBy(newest, (batch) => batch.source)
    fields += type.layout.slots.length * (sources.size + 1)
    if (fields > FIELDS_MAX) {
      leftOut++
      continue
    }
    for (const [source, batches] of sources) rates.push(await rateOf(type, source, batches))
    types.push({ fingerprint: type.fingerprint, definition: definitionOf(type) })
  }
  return { types, rates, leftOut }
}

async function rateOf(type: RecordType, source: SourceInfo, batches: readonly KeptBatch[]): Promise<SeriesRate> {
  const index = new SeriesIndex(type)
  const slots = type.layout.slots.filter(({ name }) => type.metrics.has(name))
  const present = slots.map(() => 0)
  for (const batch of batches.toReversed()) {
    if (turn.isOver()) await turn.next()
    if (batch.hasLeft) continue
    const views = viewsOf(batch.bytes)
    for (let at = 0; at < batch.bytes.byteLength; at += type.layout.recordBytes) {
      const before = index.count
      index.of(views, at)
      if (index.count === before) continue
      for (const [i, slot] of slots.entries())
        if (isPresent(type.layout, slot, views, at)) present[i] = (present[i] ?? 0) + 1
    }
  }
  return {
    source: source.id,
    tag: source.tag,
    type: type.fingerprint,
    series: index.count,
    recordsPerS: recordsPerS(batches),
    present: Object.fromEntries(slots.map(({ name }, i) => [name, present[i] ?? 0])),
  }
}

/** The records after the first batch, over the time since that batch: the periods between them are whole. */
function recordsPerS(batches: readonly KeptBatch[]): number {
  const [first, last] = [batches[0], batches.at(-1)]
  if (first === undefined || last === undefined) return 0
  const records = batches.reduce((sum, { count }) => sum + count, 0)
  const spanMs = last.arrivedMs - first.arrivedMs
  return spanMs > 0 ? ((records - first.count) / spanMs) * 1000 : (records / SPAN_MS) * 1000
}
