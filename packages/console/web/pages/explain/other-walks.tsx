import type { ExplainWalk } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { StateMark } from '../../components/state-mark.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { countOf } from '../../format/number.ts'
import { usePageState } from '../../state/time-window.ts'
import { brokenLink, LINK_STATES } from './explain-words.ts'

/** Walks that are listed; the first of them are those with a broken link. */
const WALK_LIMIT_COUNT = 50

/** The other chains that a name stands for, each with its first broken link. */
export function OtherWalks({ walks }: { readonly walks: readonly ExplainWalk[] }) {
  const page = usePageState()
  if (walks.length === 0) return null
  const shown = walks.slice(0, WALK_LIMIT_COUNT)
  return (
    <section className="panel" aria-labelledby="other-walks">
      <header className="panel-head has-line">
        <h2 id="other-walks" className="panel-title">
          Others of this name
        </h2>
        <span className="panel-caption">{countOf(walks.length, 'chain')}</span>
      </header>
      <TableBox label="Table of other chains">
        <table className="table is-stacked">
          <thead>
            <tr>
              <th scope="col">Source</th>
              <th scope="col">Device</th>
              <th scope="col">State</th>
              <th scope="col" className="is-wide">
                Answer
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((walk, order) => {
              const broken = brokenLink(walk)
              const state = LINK_STATES[broken ? 'broken' : 'ok']
              return (
                // biome-ignore lint/suspicious/noArrayIndexKey: one source may have a device twice, under two instances
                <tr key={`${walk.source} ${walk.device} ${order}`}>
                  <th scope="row">{walk.source}</th>
                  <td>
                    {walk.device ? <Link href={page.hrefTo('/explain', { of: walk.device })}>{walk.device}</Link> : '–'}
                  </td>
                  <td>
                    <StateMark tone={state.tone} word={broken ? `Broken: ${broken.name}` : state.word} />
                  </td>
                  <td className="is-quiet is-wrapping">{broken?.answer || '–'}</td>
                </tr>
              )
            })}
          </tbody>
        </table>
      </TableBox>
      {walks.length > shown.length && <p className="panel-note">The first {shown.length} are shown.</p>}
    </section>
  )
}
