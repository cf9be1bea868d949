import type { ReactNode } from 'react'
import { useStale } from '../api/stale.ts'
import { formatClock, zoneName } from '../format/time.ts'
import { usePageState } from '../state/time-window.ts'
import { Icon } from './icon.tsx'

/** A headline: a sentence and its facts. */
export interface HeadlineText {
  readonly tone: 'calm' | 'info' | 'warning' | 'critical'
  readonly sentence: string
  readonly facts: string
}

/** The sentence at the top of a page: boxed only if something is wrong. */
export function Headline({
  text,
  moment = '',
  actions,
  announced,
}: {
  readonly text: HeadlineText
  /** The moment in words if it is not now. */
  readonly moment?: string
  readonly actions?: ReactNode
  /** Text for screen readers if the words hold numbers that change all the time. Default: the words. */
  readonly announced?: string
}) {
  const stale = useStale()
  const zone = usePageState().url.tz ?? 'utc'
  return (
    <section className={`headline is-${text.tone}`} aria-label="What is so">
      {text.tone !== 'calm' && <Icon name={text.tone} />}
      <div className="headline-words" aria-live={announced === undefined ? 'polite' : 'off'}>
        {moment && <p className="headline-moment">{moment}</p>}
        {/* Data may stop and go on every few seconds: a mark beside the sentence moves nothing below it. */}
        <div className="headline-line">
          <p className="headline-sentence">{asSentence(text.sentence)}</p>
          {stale && (
            <p className="headline-moment is-stale">
              <Icon name="stale" />
              {`As of ${formatClock(stale.atMs, zone)} ${zoneName(zone, stale.atMs)}, when data came last`}
            </p>
          )}
        </div>
        {text.facts && <p className="headline-facts">{text.facts}</p>}
      </div>
      {announced !== undefined && (
        <p className="visually-hidden" aria-live="polite">
          {announced}
        </p>
      )}
      {actions && <div className="button-row">{actions}</div>}
    </section>
  )
}

/** Sentences of rules have no full stop, because they also stand in lists. */
function asSentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`
}
