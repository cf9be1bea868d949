import type { ReactNode } from 'react'
import { Icon } from './icon.tsx'

/** What is so, in one sentence, made from facts. */
export interface HeadlineText {
  readonly tone: 'calm' | 'warning' | 'critical'
  readonly sentence: string
  readonly facts: string
}

/** The sentence at the top of a page: boxed only where something is wrong. */
export function Headline({
  text,
  moment = '',
  actions,
}: {
  readonly text: HeadlineText
  /** What it speaks of where that is not now, in words. */
  readonly moment?: string
  readonly actions?: ReactNode
}) {
  return (
    <section className={`headline is-${text.tone}`} aria-label="What is so">
      {text.tone !== 'calm' && <Icon name={text.tone} />}
      <div className="headline-words" aria-live="polite">
        {moment && <p className="headline-moment">{moment}</p>}
        <p className="headline-sentence">{text.sentence}</p>
        {text.facts && <p className="headline-facts">{text.facts}</p>}
      </div>
      {actions && <div className="button-row">{actions}</div>}
    </section>
  )
}
