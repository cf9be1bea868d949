import type { ExplainWalk } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { DataTable } from '../../components/data-table.tsx'
import { Panel } from '../../components/panel.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { countText } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import { brokenLink, LINK_STATES } from './explain-words.ts'

/** Most walks listed. Walks with a broken link come first. */
const WALK_LIMIT_COUNT = 50

/** The other chains that match the name, each with its first broken link. */
export function OtherWalks({ walks }: { readonly walks: readonly ExplainWalk[] }) {
  const page = usePageState()
  if (walks.length === 0) return null
  const shown = walks.slice(0, WALK_LIMIT_COUNT)
  const columns: readonly TableColumn<ExplainWalk>[] = [
    { key: 'source', head: 'Source', kind: 'rowHead', cell: ({ source }) => source },
    {
      key: 'device',
      head: 'Device',
      cell: ({ device }) => (device ? <Link href={page.hrefTo('/explain', { of: device })}>{device}</Link> : '–'),
    },
    { key: 'state', head: 'State', cell: (walk) => <WalkState walk={walk} /> },
    {
      key: 'answer',
      head: 'Answer',
      isWide: true,
      look: 'is-quiet is-wrapping',
      cell: (walk) => brokenLink(walk)?.answer || '–',
    },
  ]
  return (
    <Panel id="other-walks" title="Others of this name" caption={countText(walks.length, 'chain')}>
      <DataTable
        label="Table of other chains"
        look="is-stacked"
        columns={columns}
        rows={shown}
        // A source may list a device twice, under two instances.
        keyOf={({ source, device }, place) => `${source} ${device} ${place}`}
      />
      {walks.length > shown.length && <p className="panel-note">The first {shown.length} are shown.</p>}
    </Panel>
  )
}

function WalkState({ walk }: { readonly walk: ExplainWalk }) {
  const broken = brokenLink(walk)
  const { tone, word } = LINK_STATES[broken ? 'broken' : 'ok']
  return <StateMark tone={tone} word={broken ? `Broken: ${broken.name}` : word} />
}
