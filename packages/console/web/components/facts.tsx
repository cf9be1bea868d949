import type { ReactNode } from 'react'
import { Icon } from './icon.tsx'

/** One fact of a strip: label, value, and a line under it. */
export interface Fact {
  readonly label: string
  readonly value: string
  readonly unit?: string
  readonly caption?: ReactNode
  /** A state, told in the words of the caption: colour, shape and word belong together. */
  readonly tone?: 'info' | 'warning' | 'critical'
  /** Whether the fact is known without samples. Default: no. */
  readonly isFixed?: boolean
}

/** Facts side by side, hairlines between them. */
export function Facts({ facts, label }: { readonly facts: readonly Fact[]; readonly label: string }) {
  return (
    <section className="panel facts" aria-label={label}>
      <dl className="facts-list">
        {facts.map((fact) => (
          <div key={fact.label} className={fact.tone ? `fact is-${fact.tone}` : 'fact'}>
            <dt>{fact.label}</dt>
            <dd className="fact-value">
              <span className="num">{fact.value}</span>
              {fact.unit && <span className="unit"> {fact.unit}</span>}
            </dd>
            {fact.caption && (
              <dd className="fact-caption">
                {fact.tone && <Icon name={fact.tone} />}
                {fact.caption}
              </dd>
            )}
          </div>
        ))}
      </dl>
    </section>
  )
}
