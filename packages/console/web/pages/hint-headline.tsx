import type { Hint } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { Headline, type HeadlineText } from '../components/headline.tsx'
import { serverNowMs } from '../state/clock.ts'
import { usePageState } from '../state/time-window.ts'
import { evidenceOf } from './node/evidence.ts'

interface HintHeadlineProps {
  readonly text: HeadlineText
  readonly moment: string
  /** Where the window ends that is shown; left out where it is now. */
  readonly toMs?: number | undefined
  /** The hint that matters most, where there is one. */
  readonly worst: Hint | undefined
}

/** A headline that leads to the evidence of the worst hint. */
export function HintHeadline({ text, moment, toMs, worst }: HintHeadlineProps) {
  const page = usePageState()
  return (
    <Headline
      text={text}
      moment={moment}
      announced={worst?.title ?? text.sentence}
      actions={
        worst &&
        worst.evidence.length > 0 && (
          <Link
            className="button is-primary"
            href={page.hrefTo('/explore', evidenceOf(worst, { nowMs: serverNowMs(), toMs }))}
          >
            See the evidence
          </Link>
        )
      }
    />
  )
}
