import { useId } from 'react'
import { Icon } from './icon.tsx'

/** Stands in the place of a chart that cannot be had, and says why. */
export function AbsentPanel({ title, reason }: { readonly title: string; readonly reason: string }) {
  const titleId = useId()
  return (
    <section className="panel absent-panel" aria-labelledby={titleId}>
      <header className="panel-head">
        <h2 id={titleId} className="panel-title">
          {title}
        </h2>
      </header>
      <div className="absent-words">
        <Icon name="absent" />
        <p>
          <strong>Absent.</strong> {reason}
        </p>
      </div>
    </section>
  )
}
