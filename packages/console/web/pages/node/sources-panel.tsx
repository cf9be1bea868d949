import type { ListedSource, SourceState } from '@sonde/sdk/api'
import type { ReactNode } from 'react'
import { Link } from 'wouter'
import { useSources } from '../../api/resources.ts'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { countText, groupThousands } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import { sourceState } from '../source-words.ts'

interface SourceRow {
  readonly key: string
  readonly state: SourceState
  readonly name: ReactNode
  readonly why: string
}

const COLUMNS: readonly TableColumn<SourceRow>[] = [
  { key: 'state', head: 'State', cell: ({ state }) => <StateMark {...sourceState(state)} /> },
  { key: 'source', head: 'Source', cell: ({ name }) => name },
  {
    key: 'why',
    head: 'Why',
    isWide: true,
    look: ({ key }) => (key === '' ? 'is-quiet is-wrapping num' : 'is-quiet is-wrapping'),
    cell: ({ why }) => why,
  },
]

/** Failures of active sources since their start; empty if there were none. */
function failedWords(reading: readonly ListedSource[]): string {
  const failing = reading.filter(({ errors }) => errors > 0)
  if (failing.length === 0) return ''
  const reads = failing.reduce((sum, { errors }) => sum + errors, 0)
  return ` · ${groupThousands(String(reads))} reads failed: ${failing.map(({ name }) => name).join(', ')}`
}

/** A summary of the sources: one row for all active sources, and one for each inactive source. */
export function SourcesPanel() {
  const page = usePageState()
  const { data } = useSources()
  if (!data) return null
  const { sources } = data
  const reading = sources.filter(({ state }) => state === 'reading')
  const others = sources
    .filter(({ state }) => state !== 'reading')
    .sort((a, b) => sourceState(a.state).rank - sourceState(b.state).rank)
  const rows: readonly SourceRow[] = [
    ...(reading.length === 0
      ? []
      : [
          {
            key: '',
            state: 'reading' as const,
            name: countText(reading.length, 'source'),
            why: `${groupThousands(String(data.ledger.dropped))} lost of ${groupThousands(String(data.ledger.in))}${failedWords(reading)}`,
          },
        ]),
    ...others.map(({ name, state, reason }) => ({
      key: name,
      state,
      name: <Link href={page.hrefTo(`/sources/${encodeURIComponent(name)}`)}>{name}</Link>,
      why: reason || '–',
    })),
  ]
  return (
    <Panel
      id="sources-panel"
      title="Sources"
      isPresent
      more={
        <Link className="panel-link" href={page.hrefTo('/sources')}>
          All sources
        </Link>
      }
    >
      <DataTable label="Table of sources" look="is-stacked" columns={COLUMNS} rows={rows} keyOf={({ key }) => key} />
      {sources.length === 0 && <p className="panel-note">No source is configured.</p>}
    </Panel>
  )
}
