import type { ListedNode } from '@sonde/sdk/api'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { SICKEST_FIRST, sicknessKey } from '../../components/sickness.ts'
import { SimulatedMark } from '../../components/simulated-mark.tsx'
import { type SortKey, sortRows } from '../../components/sort.ts'
import { StateMark, type StateTone } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { useChosenRows } from '../../components/use-chosen-rows.ts'
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
    { key: 'name', head: 'Node', kind: 'rowHead', cell: (node) => <NodeName node={node} />, sortKey: nameOf },
    { key: 'state', head: 'State', look: 'is-row', cell: stateOf, sortKey: sicknessOf },
    {
      key: 'since',
      head: 'For',
      label: 'For',
      kind: 'number',
      cell: ({ sinceMs }) => age(nowMs - sinceMs),
      sortKey: ({ sinceMs }) => nowMs - sinceMs,
    },
    { key: 'hints', head: 'Hints', label: 'Hints', cell: hintsOf, sortKey: ({ hintCount }) => hintCount ?? Number.NaN },
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
  const chosen = useChosenRows(sortRows(nodes, 'ascending', nameOf), {
    columns,
    fallback: SICKEST_FIRST,
    wordsOf: ({ name, node, url, hardware }) => `${name} ${node} ${url} ${hardware}`,
  })
  return (
    <Panel id="node-table" title="Nodes" caption={`${countText(nodes.length, 'node')}, sickest first`} isPresent>
      <DataTable
        label="Table of nodes"
        look="is-stacked"
        columns={columns}
        keyOf={({ name }) => name}
        isWindowed
        {...chosen}
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

function nameOf({ name }: ListedNode): string {
  return name
}

/** A node that cannot be asked comes first, then the node with the worst hint, then the node with most hints. */
function sicknessOf({ state, severity, hintCount }: ListedNode): SortKey {
  const tone = state !== 'reachable' || severity === null ? STATES[state][0] : SEVERITY_TONES[severity]
  return sicknessKey(tone, hintCount ?? 0)
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
