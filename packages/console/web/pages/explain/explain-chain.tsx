import type { ExplainAnswer, ExplainLink } from '../../api/explain.ts'
import { CopyButton } from '../../components/copy-button.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { TableBox } from '../../components/table-box.tsx'
import { brokenLink, LINK_STATES } from './explain-words.ts'

/** Every link in its order; the first broken one stands in a box with what mends it. */
export function ExplainChain({ answer }: { readonly answer: ExplainAnswer }) {
  const broken = brokenLink(answer)
  return (
    <>
      <section className="panel" aria-labelledby="explain-chain">
        <header className="panel-head">
          <h2 id="explain-chain" className="panel-title">
            From the configuration to the value
          </h2>
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
      </section>
      <section className="panel" aria-labelledby="explain-links">
        <header className="panel-head has-line">
          <h2 id="explain-links" className="panel-title">
            What was tried
          </h2>
        </header>
        <TableBox label="Table of links">
          <table className="table has-first-fixed">
            <thead>
              <tr>
                <th scope="col">Link</th>
                <th scope="col">State</th>
                <th scope="col">Tried</th>
                <th scope="col" className="is-wide">
                  Answer
                </th>
              </tr>
            </thead>
            <tbody>
              {answer.links.map((link) => (
                <tr key={link.name}>
                  <th scope="row">{link.name}</th>
                  <td>
                    <StateMark tone={LINK_STATES[link.state].tone} word={LINK_STATES[link.state].word} />
                  </td>
                  <td className="mono is-wrapping">{link.tried || '–'}</td>
                  <td className="is-quiet is-wrapping">{link.answer || '–'}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </TableBox>
      </section>
    </>
  )
}

function BrokenLink({ link }: { readonly link: ExplainLink }) {
  const { mends } = link
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
        {mends && (
          <div>
            <dt>Mends it</dt>
            <dd className="broken-mends">
              <code className="mono">{mends}</code>
              <CopyButton label="Copy" text={() => mends} />
            </dd>
          </div>
        )}
      </dl>
    </section>
  )
}
