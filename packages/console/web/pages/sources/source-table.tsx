import type { ListedSource } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { formatIn, groupThousands, pickUnit } from '../../format/number.ts'
import type { DisplayQuantity } from '../../format/quantity.ts'
import { formatAge, formatDuration } from '../../format/time.ts'
import { useSecond } from '../../state/clock.ts'
import { usePageState } from '../../state/time-window.ts'
import { droppedCount, sourceState, targetWords } from '../source-words.ts'
import { DropReasons } from './drop-reasons.tsx'

/** Durations of all rows share a unit. */
const MILLISECONDS: DisplayQuantity = { base: 'ms', factor: 1, prefixes: 'none', resolution: 1, decimals: 0 }
const WHOLE = pickUnit(MILLISECONDS, 1)
const TENTHS = pickUnit({ ...MILLISECONDS, resolution: 0.1, decimals: 1 }, 1)

/** One row per source; trouble comes first. */
export function SourceTable({ sources }: { readonly sources: readonly ListedSource[] }) {
  const page = usePageState()
  const rows = sources.toSorted((a, b) => sourceState(a.state).rank - sourceState(b.state).rank)
  const columns: readonly TableColumn<ListedSource>[] = [
    {
      key: 'source',
      head: 'Source',
      kind: 'rowHead',
      cell: ({ name }) => <Link href={page.hrefTo(`/sources/${encodeURIComponent(name)}`)}>{name}</Link>,
    },
    { key: 'state', head: 'State', cell: ({ state }) => <StateMark {...sourceState(state)} /> },
    {
      key: 'why',
      head: 'Why',
      isWide: true,
      look: 'is-quiet is-wrapping',
      cell: (source) => source.reason || targetWords(source) || '–',
    },
    { key: 'interval', head: 'Interval ms', kind: 'number', cell: ({ intervalMs }) => formatIn(WHOLE, intervalMs) },
    {
      key: 'real',
      head: 'Real ms',
      kind: 'number',
      cell: ({ intervalRealMs }) => formatIn(WHOLE, intervalRealMs ?? Number.NaN),
    },
    {
      key: 'p99',
      head: 'p99 read ms',
      kind: 'number',
      cell: ({ sampleMsP99 }) => formatIn(TENTHS, sampleMsP99 ?? Number.NaN),
    },
    count('Samples', ({ samples }) => samples),
    count('Records', ({ records }) => records),
    {
      key: 'lost',
      head: 'Lost',
      kind: 'number',
      cell: (source) => <DropReasons count={droppedCount(source)} dropped={source.dropped} />,
    },
    troubleCount('Errors', ({ errors }) => errors),
    troubleCount('Overruns', ({ overruns }) => overruns),
    troubleCount('Restarts', ({ restarts }) => restarts),
    { key: 'last', head: 'Last sample', kind: 'number', cell: (source) => <LastSample source={source} /> },
  ]
  return (
    <Panel id="source-table" title="Sources" caption="since the start" isPresent>
      <DataTable
        label="Table of sources"
        look="has-first-fixed"
        columns={columns}
        rows={rows}
        keyOf={({ name }) => name}
      />
      {rows.length === 0 && <p className="panel-note">No source is configured.</p>}
    </Panel>
  )
}

function count(head: string, of: (source: ListedSource) => number): TableColumn<ListedSource> {
  return { key: head, head, kind: 'number', cell: (source) => groupThousands(String(of(source))) }
}

/** A column of counts that is highlighted unless the count is 0. */
function troubleCount(head: string, of: (source: ListedSource) => number): TableColumn<ListedSource> {
  return { ...count(head, of), look: (source) => (of(source) > 0 ? 'is-trouble' : '') }
}

function LastSample({ source: { lastSampleMs, intervalMs } }: { readonly source: ListedSource }) {
  const nowMs = useSecond()
  return lastSampleMs === null ? '–' : ageWords(nowMs - lastSampleMs, intervalMs)
}

/** Age of the last sample. A sample in time shows no seconds, because they would only flicker. */
function ageWords(ageMs: number, intervalMs: number): string {
  const inTimeMs = 2 * Math.max(intervalMs, 1_000)
  return ageMs <= inTimeMs ? `< ${formatDuration(inTimeMs)} ago` : `${formatAge(ageMs)} ago`
}
