import type { TroubleshootingHop } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { CopyButton } from '../../components/copy-button.tsx'
import { StateMark } from '../../components/state-mark.tsx'
import { usePageState } from '../../state/time-window.ts'
import { HOP_MARKS } from './hop-words.ts'

/** A hop: its state, what was found, the advice, and the commands that show it. */
export function HopPanel({ hop }: { readonly hop: TroubleshootingHop }) {
  const page = usePageState()
  const { name, state, finding, advice, commands, explain } = hop
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
