import type { Batch } from '@sonde/sdk'
import { ownLabels } from '@sonde/sdk/internal'
import type { ReadFormat, RecordSlice } from './format.ts'
import { hasLabels, labelTexts } from './labels.ts'
import type { FormatName } from './options.ts'
import { type SummaryRow, summaryText } from './summary.ts'
import { timeText } from './table.ts'

interface Group {
  readonly batch: Pick<Batch, 'type' | 'source' | 'clock'>
  records: number
  fromNs: bigint | undefined
  toNs: bigint
}

/** Counts instead of records: how many of each source, type and clock, and their time range. */
export function stats(format: FormatName): ReadFormat {
  const groups = new Map<string, Group>()
  return {
    records(chosen) {
      const { type, source, clock } = chosen.batch
      const key = JSON.stringify([source.id, source.tag, source.labels, type.fingerprint, clock])
      const group = groups.get(key) ?? { batch: { type, source, clock }, records: 0, fromNs: undefined, toNs: 0n }
      groups.set(key, group)
      count(group, chosen)
      return ''
    },
    rest() {
      const isLabelled = [...groups.values()].some(({ batch }) => hasLabels(batch.source))
      const rows = [...groups.values()].map(({ batch: { type, source, clock }, records, fromNs, toNs }) => ({
        source: source.id,
        tag: source.tag,
        ...(isLabelled ? { labels: labelsIn(format, source) } : {}),
        records,
        bytes: records * type.layout.recordBytes,
        clock,
        from: fromNs === undefined ? undefined : shownTime(fromNs, clock),
        to: fromNs === undefined ? undefined : shownTime(toNs, clock),
        type: type.name,
      }))
      return summaryText(rows, format)
    },
  }
}

/** An object, if the format can write one. */
function labelsIn(format: FormatName, source: Batch['source']): SummaryRow[string] {
  return format === 'jsonl' ? ownLabels(source) : labelTexts(source).join(' ')
}

function shownTime(ns: bigint, clock: Batch['clock']): string {
  return clock === 'wall' ? timeText(ns) : `${ns}`
}

function count(group: Group, { batch: { type }, views, offsets }: RecordSlice): void {
  group.records += offsets.length
  if (type.time === undefined) return
  const factor = type.time.field.resolution === 'us' ? 1000n : 1n
  for (const offset of offsets) {
    const ns = views.data.getBigUint64(offset + type.time.offset, true) * factor
    if (group.fromNs === undefined || ns < group.fromNs) group.fromNs = ns
    if (ns > group.toNs) group.toNs = ns
  }
}
