import type { ExplainAnswer, ExplainLink } from '@sonde/sdk/api'
import type { ExplainState } from '../../api/explain.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { DataTable } from '../../components/data-table.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import type { TableColumn } from '../../components/table-column.ts'
import { brokenLink, fixParts, LINK_STATES } from './explain-words.ts'

/** All links in order, with the checks made. The first broken link stands in a box with its fix. */
export function ExplainChain({ answer, walk }: { readonly answer: ExplainAnswer; readonly walk: ExplainState }) {
  const broken = brokenLink(answer)
  return (
    <section className="panel" aria-labelledby="explain-chain">
      <header className="panel-head is-centred">
        <h2 id="explain-chain" className="panel-title">
          From the configuration to the value
        </h2>
        <button type="button" className="button panel-action" disabled={walk.isWalking} onClick={walk.again}>
          Walk again
        </button>
      </header>
      <ol className="chain">
        {answer.links.map((link) => (
          <li key={link.name} className={link === broken ? 'chain-link is-broken' : 'chain-link'}>
            <StateMark tone={LINK_STATES[link.state].tone} word={LINK_STATES[link.state].word} iconOnly />
            <span>{link.name}</span>
          </li>
        ))}
      </ol>
      {broken && <BrokenLink link={broken} />}
      <DataTable
        label="Table of links"
        look="is-stacked chain-table"
        columns={COLUMNS}
        rows={answer.links}
        keyOf={({ name }) => name}
      />
    </section>
  )
}

const COLUMNS: readonly TableColumn<ExplainLink>[] = [
  { key: 'link', head: 'Link', kind: 'rowHead', cell: ({ name }) => name },
  { key: 'state', head: 'State', cell: ({ state }) => <StateMark {...LINK_STATES[state]} /> },
  {
    key: 'tried',
    head: 'Tried',
    look: ({ tried }) => (tried ? 'mono is-wrapping' : 'mono is-empty'),
    cell: ({ tried }) => tried || '–',
  },
  {
    key: 'answer',
    head: 'Came back',
    isWide: true,
    look: 'is-quiet is-wrapping',
    cell: ({ answer }) => answer || '–',
  },
]

function BrokenLink({ link }: { readonly link: ExplainLink }) {
  const { command, words } = fixParts(link.fix ?? '')
  return (
    <section className="broken-link" aria-label={`The broken link: ${link.name}`}>
      <StateMark tone="denied" word={`Broken: ${link.name}`} />
      <dl>
        {link.tried && (
          <div>
            <dt>Tried</dt>
            <dd className="mono">{link.tried}</dd>
          </div>
        )}
        {link.answer && (
          <div>
            <dt>Came back</dt>
            <dd>{link.answer}</dd>
          </div>
        )}
        {link.fix && (
          <div>
            <dt>To fix it</dt>
            <dd className="broken-fix">
              {command && <code className="mono">{command}</code>}
              {command && <CopyButton label="Copy" text={() => command} />}
              {words && <span>{words}</span>}
            </dd>
          </div>
        )}
      </dl>
    </section>
  )
}
