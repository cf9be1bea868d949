import { Fragment } from 'react'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { meansWords, type ReadSpan } from '../../devices/device-reading.ts'
import { ReadingWords } from '../../devices/reading-words.tsx'
import { ABSENT, countText, pickUnit } from '../../format/number.ts'
import { PERCENT } from '../../format/quantity.ts'
import type { PressureCause, PressureCauses } from './pressure-causes.ts'

const SHARE = pickUnit(PERCENT, 1)

const COLUMNS: readonly TableColumn<PressureCause>[] = [
  { key: 'owner', head: 'Who waits', kind: 'rowHead', cell: ({ owner, cgroup }) => owner || nameOf(cgroup) },
  { key: 'resource', head: 'For', cell: ({ resource }) => RESOURCES[resource] ?? resource },
  {
    key: 'waiting',
    head: 'Waits %',
    kind: 'number',
    title: () => 'Share of time in which at least one task waited',
    cell: ({ waiting }) => <ReadingWords unit={SHARE} reading={waiting} />,
  },
  {
    key: 'stalled',
    head: 'Stalls %',
    kind: 'number',
    title: () => 'Share of time in which all tasks waited',
    cell: ({ stalled }) => (Number.isNaN(stalled.value) ? ABSENT : <ReadingWords unit={SHARE} reading={stalled} />),
  },
  {
    key: 'cgroup',
    head: 'Control group',
    isWide: true,
    look: 'mono',
    cell: ({ cgroup }) => <CgroupPath path={cgroup} />,
  },
]
const RESOURCES: Readonly<Record<string, string>> = { cpu: 'CPU', memory: 'memory', io: 'disks' }

/** The control groups behind the pressure of the host. */
export function PressureCauseTable({ causes, span }: { readonly causes: PressureCauses; readonly span: ReadSpan }) {
  const { rows, skipped } = causes
  const left = skipped > 0 ? `; ${countText(skipped, 'group')} left out by a limit` : ''
  return (
    <Panel
      id="pressure-causes"
      title="Who causes pressure"
      caption={rows.length === 0 ? '' : `control groups that wait most; ${meansWords(span)}${left}`}
    >
      {rows.length === 0 ? (
        <p className="panel-note">No control group waits for more than 1 % of the time{left}.</p>
      ) : (
        <DataTable
          label="Table of control groups that wait"
          look="has-first-fixed"
          columns={COLUMNS}
          rows={rows}
          keyOf={({ resource, cgroup, owner }) => `${resource} ${cgroup} ${owner}`}
        />
      )}
    </Panel>
  )
}

/** A path that breaks before its slashes where there is no room. */
function CgroupPath({ path }: { readonly path: string }) {
  return path.split('/').map((folder, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: folders of a path have no other key than their place
    <Fragment key={at}>
      {at > 0 && (
        <>
          <wbr />/
        </>
      )}
      {folder}
    </Fragment>
  ))
}

function nameOf(cgroup: string): string {
  return cgroup.slice(cgroup.lastIndexOf('/') + 1)
}
