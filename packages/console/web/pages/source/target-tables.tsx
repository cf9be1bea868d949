import type { DisputeStatus, TargetStatus } from '@sonde/sdk/api'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateMark, type StateTone } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { countText, groupThousands } from '../../format/number.ts'
import { formatDateTime, zoneName } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'

/** Most rows of a table. */
const ROW_LIMIT_COUNT = 64

const STATES: Readonly<Record<TargetStatus['state'], { readonly tone: StateTone; readonly word: string }>> = {
  stopped: { tone: 'critical', word: 'Stopped' },
  failed: { tone: 'critical', word: 'Failed' },
  starting: { tone: 'info', word: 'Starting' },
  reading: { tone: 'ok', word: 'Reading' },
}
const ORDER = Object.keys(STATES)

/** The exporters of a source, trouble first, and their conflicting claims. */
export function TargetTables({ targets }: { readonly targets: readonly TargetStatus[] }) {
  const zone = usePageState().url.tz ?? 'utc'
  const disputes = targets.flatMap(({ target, disputes }) => disputes.map((dispute) => ({ ...dispute, target })))
  const count = targets.reduce((sum, { disputeCount }) => sum + disputeCount, 0)
  return (
    <>
      <Targets targets={targets} zone={zone} />
      {count > 0 && <Disputes disputes={disputes} count={count} zone={zone} />}
    </>
  )
}

type Zone = Parameters<typeof formatDateTime>[1]

function Targets({ targets, zone }: { readonly targets: readonly TargetStatus[]; readonly zone: Zone }) {
  const sorted = targets.toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))
  const columns: readonly TableColumn<TargetStatus>[] = [
    { key: 'address', head: 'Address', kind: 'rowHead', look: 'mono is-wrapping', cell: ({ target }) => target },
    { key: 'state', head: 'State', cell: ({ state }) => <StateMark {...STATES[state]} /> },
    {
      key: 'why',
      head: 'Why',
      isWide: true,
      look: ({ reason }) => (reason === '' ? 'is-quiet is-wrapping is-empty' : 'is-quiet is-wrapping'),
      cell: ({ reason }) => reason || '–',
    },
    {
      key: 'refused',
      head: 'Answers refused',
      label: 'refused',
      look: ({ refused }) => (Object.keys(refused).length === 0 ? 'is-wrapping is-empty' : 'is-wrapping'),
      cell: ({ refused }) => refusedWords(refused),
    },
    sinceColumn(zone),
  ]
  return (
    <Panel id="targets" title="Exporters" caption={captionOf(targets.length)}>
      <DataTable
        label="Table of exporters"
        look="is-stacked"
        columns={columns}
        rows={sorted.slice(0, ROW_LIMIT_COUNT)}
        keyOf={({ target }) => target}
      />
    </Panel>
  )
}

function sinceColumn(zone: Zone): TableColumn<{ readonly sinceMs: number }> {
  return {
    key: 'since',
    head: `Since, ${zoneName(zone)}`,
    kind: 'number',
    look: 'is-row',
    label: 'since',
    cell: ({ sinceMs }) => formatDateTime(sinceMs, zone),
  }
}

function captionOf(count: number): string {
  const all = countText(count, 'address', 'addresses')
  return count > ROW_LIMIT_COUNT ? `${all}, the first ${ROW_LIMIT_COUNT} by state` : all
}

function refusedWords(refused: TargetStatus['refused']): string {
  const words = Object.entries(refused).map(
    ([reason, count]) => `${groupThousands(String(count))} ${reason.replaceAll('_', ' ')}`,
  )
  return words.join(', ') || '–'
}

type TargetDispute = DisputeStatus & Pick<TargetStatus, 'target'>

function Disputes({
  disputes,
  count,
  zone,
}: {
  readonly disputes: readonly TargetDispute[]
  readonly count: number
  readonly zone: Zone
}) {
  const columns: readonly TableColumn<TargetDispute>[] = [
    {
      key: 'subject',
      head: 'What',
      kind: 'rowHead',
      isWide: true,
      look: 'is-wrapping',
      cell: ({ subject }) => subject,
    },
    {
      key: 'target',
      head: 'Told by, not believed',
      look: 'mono is-wrapping',
      label: 'told by, not believed',
      cell: ({ target }) => target,
    },
    { key: 'holder', head: 'Believed', look: 'mono is-wrapping', label: 'believed', cell: ({ holder }) => holder },
    { key: 'key', head: 'Which has', look: 'is-quiet is-wrapping', label: 'which has', cell: ({ key }) => key },
    sinceColumn(zone),
  ]
  const whose = `${countText(count, 'GPU or pod', 'GPUs or pods')} of which two tell; the first is believed`
  return (
    <Panel id="disputes" title="Disputes" caption={whose}>
      <DataTable
        label="Table of disputes"
        look="is-stacked"
        columns={columns}
        rows={disputes.slice(0, ROW_LIMIT_COUNT)}
        keyOf={({ target, subject }) => `${target} ${subject}`}
      />
    </Panel>
  )
}
