import type { ListedNode } from '@sonde/sdk/api'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { SimulatedMark } from '../../components/simulated-mark.tsx'
import { StateMark, type StateTone } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { countText } from '../../format/number.ts'
import { formatAge } from '../../format/time.ts'

const STATES: Readonly<Record<ListedNode['state'], readonly [StateTone, string]>> = {
  reachable: ['ok', 'answers'],
  asking: ['absent', 'not heard yet'],
  unreachable: ['critical', 'does not answer'],
  refused: ['denied', 'refuses'],
}
const SEVERITY_TONES = { critical: 'critical', warning: 'warning', notice: 'info' } as const

/** A row for each node: whether it answers and since when, its hints, and what it is. */
export function NodeTable({ nodes, nowMs }: { readonly nodes: readonly ListedNode[]; readonly nowMs: number }) {
  const columns: readonly TableColumn<ListedNode>[] = [
    { key: 'name', head: 'Node', kind: 'rowHead', cell: (node) => <NodeName node={node} /> },
    { key: 'state', head: 'State', look: 'is-row', cell: stateOf },
    { key: 'since', head: 'For', label: 'For', kind: 'number', cell: ({ sinceMs }) => age(nowMs - sinceMs) },
    { key: 'hints', head: 'Hints', label: 'Hints', cell: hintsOf },
    {
      key: 'hardware',
      head: 'Hardware',
      label: 'Hardware',
      look: ({ hardware }) => (hardware === '' ? 'is-empty' : 'is-row'),
      cell: ({ hardware }) => hardware || '–',
    },
    { key: 'url', head: 'Address', label: 'Address', look: 'mono', cell: ({ url }) => url },
    {
      key: 'reason',
      head: 'Why',
      isWide: true,
      look: ({ reason }) => (reason === '' ? 'is-wrapping is-empty' : 'is-wrapping'),
      cell: ({ reason }) => reason,
    },
  ]
  return (
    <Panel id="node-table" title="Nodes" caption={countText(nodes.length, 'node')} isPresent>
      <DataTable
        label="Table of nodes"
        look="is-stacked"
        columns={columns}
        rows={nodes}
        keyOf={({ name }) => name}
        isBoxed
      />
    </Panel>
  )
}

/** The browser loads the page of a node anew, and asks that node for everything. */
export function NodeName({ node: listed }: { readonly node: ListedNode }) {
  const { name, node } = listed
  return (
    <>
      <a href={`/nodes/${encodeURIComponent(name)}`}>{name}</a>
      {node !== '' && node !== name && <span className="is-quiet"> {node}</span>}
      {listed.simulated && (
        <>
          {' '}
          <SimulatedMark of={listed} />
        </>
      )}
    </>
  )
}

function stateOf({ state }: ListedNode) {
  const [tone, word] = STATES[state]
  return <StateMark tone={tone} word={word} />
}

function hintsOf({ hintCount, severity }: ListedNode) {
  if (hintCount === null) return '–'
  if (severity === null) return 'none'
  return <StateMark tone={SEVERITY_TONES[severity]} word={countText(hintCount, 'hint')} />
}

function age(ms: number): string {
  return formatAge(Math.max(0, ms))
}
