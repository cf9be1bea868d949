import type { Hint, ListedDevice } from '@sonde/sdk/api'
import { Link } from 'wouter'
import { useNode } from '../api/resources.ts'
import { Headline, type HeadlineText } from '../components/headline.tsx'
import { incidentPathOfHint } from '../devices/incident-path.ts'
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

/** A headline with links to the incident of the worst hint and to its evidence. */
export function HintHeadline({ text, moment, toMs, worst, device }: HintHeadlineProps) {
  const page = usePageState()
  const node = useNode().data?.node
  return (
    <Headline
      text={text}
      moment={moment}
      announced={worst?.title ?? text.sentence}
      actions={
        worst &&
        worst.evidence.length > 0 && (
          <>
            {node !== undefined && (
              <Link
                className="button is-primary"
                href={page.hrefTo(incidentPathOfHint(node, worst), { fromMs: undefined, toMs: undefined })}
              >
                Open incident
              </Link>
            )}
            <Link className="button" href={page.hrefTo('/explore', evidenceOf(worst, { nowMs: serverNowMs(), toMs }))}>
              See the evidence
            </Link>
            {device && <GrafanaLink question={deviceQuestion(device)} />}
          </>
        )
      }
    />
  )
}
