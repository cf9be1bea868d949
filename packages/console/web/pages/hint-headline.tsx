import type { Hint, ListedDevice } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { Headline, type HeadlineText } from '../components/headline.tsx'
import { serverNowMs } from '../state/clock.ts'
import { usePageState } from '../state/time-window.ts'
import { deviceQuestion } from './grafana/grafana-address.ts'
import { GrafanaLink } from './grafana/grafana-link.tsx'
import { evidenceOf } from './node/evidence.ts'

interface HintHeadlineProps {
  readonly text: HeadlineText
  readonly moment: string
  /** End of the shown window; absent if it is now. */
  readonly toMs?: number | undefined
  /** The most important hint, if any. */
  readonly worst: Hint | undefined
  /** The device of that hint, if the page is about more than the device. */
  readonly device?: ListedDevice | undefined
}

/** A headline with a link to the evidence of the worst hint. */
export function HintHeadline({ text, moment, toMs, worst, device }: HintHeadlineProps) {
  const page = usePageState()
  return (
    <Headline
      text={text}
      moment={moment}
      announced={worst?.title ?? text.sentence}
      actions={
        worst &&
        worst.evidence.length > 0 && (
          <>
            <Link
              className="button is-primary"
              href={page.hrefTo('/explore', evidenceOf(worst, { nowMs: serverNowMs(), toMs }))}
            >
              See the evidence
            </Link>
            {device && <GrafanaLink question={deviceQuestion(device)} />}
          </>
        )
      }
    />
  )
}
