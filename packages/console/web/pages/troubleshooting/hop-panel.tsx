import type { HopOfNode, TroubleshootingHop } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { CopyButton } from '../../components/copy-button.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { usePageState } from '../../state/time-window.ts'
import { HOP_MARKS } from './hop-words.ts'

/** A hop: its state, what was found, the advice, and the commands that show it. */
export function HopPanel({ hop }: { readonly hop: TroubleshootingHop }) {
  const page = usePageState()
  const { name, state, finding, advice, commands, explain, nodes = [] } = hop
  const id = `hop-${name.toLowerCase().replaceAll(' ', '-')}`
  return (
    <section className={`panel hop is-${state}`} aria-labelledby={id}>
      <header className="panel-head is-centred">
        <h2 id={id} className="panel-title">
          {name}
        </h2>
        <StateMark {...HOP_MARKS[state]} />
        {explain !== undefined && (
          <Link className="panel-link" href={page.hrefTo('/explain', { of: explain })}>
            Explain {explain}
          </Link>
        )}
      </header>
      <div className="hop-words">
        <p>{finding}</p>
        {advice !== '' && <p className="hop-advice">{advice}</p>}
        {nodes.length > 0 && <NodeList nodes={nodes} />}
        {commands.map((command) => (
          <div key={command} className="hop-command">
            <code className="mono">{command}</code>
            <CopyButton label="Copy" text={() => command} />
          </div>
        ))}
      </div>
    </section>
  )
}

/** What the nodes of a console find, each with a way to all of its hops. */
function NodeList({ nodes }: { readonly nodes: readonly HopOfNode[] }) {
  return (
    <ul className="hop-nodes">
      {nodes.map(({ node, state, finding, advice }) => (
        <li key={node} className="hop-node">
          <StateMark {...HOP_MARKS[state]} />
          {/* The browser loads the pages of a node anew, and asks that node for everything. */}
          <a href={`/nodes/${encodeURIComponent(node)}/troubleshooting`}>{node}</a>
          <span className="hop-node-words">
            {finding} {state !== 'ok' && advice !== '' && <span className="hop-advice">{advice}</span>}
          </span>
        </li>
      ))}
    </ul>
  )
}
