import type { AppGpuPod, PodAnswer } from '@sonde/sdk/api'
import { useMemo } from 'react'
import { Link } from 'wouter'
import { useDevices } from '../../api/devices.ts'
import { Headline, type HeadlineText } from '../../components/headline.tsx'
import { hintWords, worstByDevice } from '../../devices/hint-words.ts'
import { podPath } from '../../devices/pod-path.ts'
import { countText, formatQuantity } from '../../format/number.ts'
import { PERCENT_WHOLE } from '../../format/quantity.ts'
import { formatDateTime, zoneName } from '../../format/time.ts'
import { usePageState } from '../../state/time-window.ts'
import { HintHeadline } from '../hint-headline.tsx'
import { useMoment } from '../use-moment.ts'
import { useMomentHints, useSpokenMoment } from '../use-moment-hints.ts'

/** Time shown before a pod ended. Unit: milliseconds. */
const BEFORE_END_MS = 1_800_000

/** What matters most of a pod: a hint on one of its GPUs, else its condition. */
export function PodHeadline({ answer, pod }: { readonly answer: PodAnswer; readonly pod: AppGpuPod }) {
  const page = usePageState()
  const moment = useMoment()
  const spoken = useSpokenMoment(moment)
  const { hints } = useMomentHints(moment)
  const devices = useDevices().data?.devices
  const worst = useMemo(() => {
    const uuids = new Set(answer.devices.map(({ uuid }) => uuid))
    const byDevice = worstByDevice(hints)
    const own =
      devices?.flatMap(({ id, labels }) => (uuids.has(labels.UUID ?? '') ? (byDevice.get(id) ?? []) : [])) ?? []
    return own.find(({ severity }) => severity === 'critical') ?? own.find(({ severity }) => severity === 'warning')
  }, [answer.devices, devices, hints])
  const { endedMs } = answer
  if (endedMs !== null) {
    const zone = page.url.tz ?? 'utc'
    const before = { fromMs: endedMs - BEFORE_END_MS, toMs: endedMs, rangeMs: undefined }
    return (
      <Headline
        text={{
          tone: 'info',
          sentence: `This pod ended at ${formatDateTime(endedMs, zone)} ${zoneName(zone, endedMs)}.`,
          facts: 'State and numbers are the last that were known.',
        }}
        actions={
          <Link className="button is-primary" href={page.hrefTo(podPath(pod), before)}>
            Show its last 30 minutes
          </Link>
        }
      />
    )
  }
  if (worst !== undefined)
    return (
      <HintHeadline
        text={{
          tone: worst.severity === 'critical' ? 'critical' : 'warning',
          sentence: `${hintWords(worst, spoken)}.`,
          facts: worst.sentence,
        }}
        moment={moment.words}
        toMs={moment.toMs}
        worst={worst}
      />
    )
  return <Headline text={page.isLive ? conditionText(pod) : PAST_TEXT} announced={pod.condition.words} />
}

/** Headline of a past window. The charts show the past; all else shows only the present. */
const PAST_TEXT: HeadlineText = {
  tone: 'calm',
  sentence: 'The charts show the window; all else is of now.',
  facts: '',
}

/** The condition of a pod as a sentence. */
function conditionText({ condition, gpus, instances, values, deviceValues, gaps }: AppGpuPod): HeadlineText {
  const { tone, words } = condition
  const held = countText(gpus, instances === gpus && gpus > 0 ? 'MIG instance' : 'GPU')
  const util = values['gpu-util'] ?? deviceValues['gpu-util']
  const at = util === undefined ? '' : ` at ${formatQuantity(PERCENT_WHOLE, util)} utilisation`
  const [first] = gaps
  if (tone === 'ok') return { tone: 'calm', sentence: `The pod holds ${held}${at}.`, facts: '' }
  return {
    tone: tone === 'absent' ? 'info' : tone,
    sentence: `${words.charAt(0).toUpperCase()}${words.slice(1)}${gpus > 0 ? `, holding ${held}${at}` : ''}.`,
    facts:
      util === undefined && first !== undefined
        ? `${first.reason.charAt(0).toUpperCase()}${first.reason.slice(1)}.`
        : '',
  }
}
