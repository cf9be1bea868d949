import type { ListedNode, ListedVersion, VersionKind } from '@sonde/sdk/api'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { NodeName } from './node-table.tsx'

const HEADS: readonly (readonly [VersionKind, string])[] = [
  ['Sonde', 'Sonde'],
  ['kernel', 'Kernel'],
  ['GPU driver', 'GPU driver'],
  ['NIC driver', 'NIC driver'],
  ['DOCA', 'DOCA'],
  ['firmware', 'NIC firmware'],
]

/** The versions of all nodes side by side. A version that most nodes do not have is marked. */
export function VersionTable({ nodes }: { readonly nodes: readonly ListedNode[] }) {
  const columns: readonly TableColumn<ListedNode>[] = [
    { key: 'name', head: 'Node', kind: 'rowHead', cell: (node) => <NodeName node={node} /> },
    ...HEADS.map(([kind, head]): TableColumn<ListedNode> => {
      const found = ({ versions }: ListedNode) => versions.filter(({ of }) => of === kind)
      return {
        key: kind,
        head,
        label: head,
        look: (node) =>
          found(node).length === 0 ? 'is-empty' : kind === 'firmware' ? 'is-row node-versions' : 'node-versions',
        cell: (node) => <Versions versions={found(node)} />,
      }
    }),
  ]
  return (
    <Panel id="version-table" title="Versions" caption={captionOf(nodes)} isPresent>
      <DataTable
        label="Table of versions"
        look="is-stacked"
        columns={columns}
        rows={nodes}
        keyOf={({ name }) => name}
        isWindowed
      />
    </Panel>
  )
}

function captionOf(nodes: readonly ListedNode[]): string {
  const isOdd = nodes.some(({ versions }) => versions.some(({ standing }) => standing !== 'common'))
  return isOdd ? 'marked where most nodes have another version' : 'equal on all nodes'
}

function Versions({ versions }: { readonly versions: readonly ListedVersion[] }) {
  if (versions.length === 0) return '–'
  return versions.map((each) => (
    <span key={`${each.about} ${each.version}`} className="node-version">
      {each.standing === 'common' ? (
        <span>{wordsOf(each)}</span>
      ) : (
        <StateMark tone={each.standing === 'minority' ? 'warning' : 'info'} word={wordsOf(each)} />
      )}
      {each.standing !== 'common' && (
        <span className="visually-hidden">
          , {each.standing === 'minority' ? 'most nodes have another version' : 'as many nodes have another version'}
        </span>
      )}
    </span>
  ))
}

function wordsOf({ about, version, count }: ListedVersion): string {
  return [about, version, count > 1 && `×\u00a0${count}`].filter(Boolean).join(' ')
}
