import type { ExplainAnswer, ExplainLink } from '@sonde/sdk/api'
import type { ExplainState } from '../../api/explain.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { brokenLink, fixParts, LINK_STATES } from './explain-words.ts'

/** Every link in its order with what was tried; the first broken one stands in a box with how to fix it. */
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
      <LinkTable links={answer.links} />
    </section>
  )
}

function LinkTable({ links }: { readonly links: readonly ExplainLink[] }) {
  return (
    <TableBox label="Table of links">
      <table className="table is-stacked chain-table">
        <thead>
          <tr>
            <th scope="col">Link</th>
            <th scope="col">State</th>
            <th scope="col">Tried</th>
            <th scope="col" className="is-wide">
              Came back
            </th>
          </tr>
        </thead>
        <tbody>
          {links.map(({ name, state, tried, answer }) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>
                <StateMark tone={LINK_STATES[state].tone} word={LINK_STATES[state].word} />
              </td>
              <td className={tried ? 'mono is-wrapping' : 'mono is-empty'}>{tried || '–'}</td>
              <td className="is-quiet is-wrapping">{answer || '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableBox>
  )
}

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
