import type { AppGpuPod, PodAnswer } from '@sonde/sdk/api'
import type { Fact } from '../../components/facts.tsx'
import { ABSENT } from '../../format/number.ts'
import { formatAge, formatDateTime, type TimeZoneChoice, zoneName } from '../../format/time.ts'

/** The state of a pod: phase, place, owner and life. */
export function podFacts({ endedMs, nowMs }: PodAnswer, pod: AppGpuPod, zone: TimeZoneChoice): readonly Fact[] {
  const { attribution, startedMs } = pod
  const { phase = '', waiting = '', appLabel = '', serviceLabel = '', labelsFrom = '' } = attribution ?? {}
  const labelled = (label: string) =>
    label === '' ? '' : `label ${label}${labelsFrom === '' ? '' : `, ${labelsFrom}`}`
  const timeFact = (label: string, timeMs: number): Fact => ({
    label,
    value: formatDateTime(timeMs, zone, 'minutes'),
    caption: `${zoneName(zone, timeMs)}, ${formatAge(nowMs - timeMs)} ago`,
  })
  return [
    {
      label: 'Phase',
      value: phase || ABSENT,
      caption: waiting || (phase !== '' ? 'nothing waits' : endedMs === null ? 'not reported' : 'it has ended'),
      ...(waiting !== '' || phase === 'Failed' ? { tone: 'warning' as const } : {}),
    },
    { label: 'Node', value: pod.node || ABSENT, caption: nodeCaption(pod) },
    {
      label: 'App',
      value: pod.app || ABSENT,
      caption: labelled(appLabel) || (pod.app === '' ? 'no label names it' : ''),
    },
    {
      label: 'Service',
      value: pod.service || ABSENT,
      caption: labelled(serviceLabel) || (pod.service === '' ? 'no label names it' : ''),
    },
    { label: gpuLabel(pod), value: String(pod.gpus), caption: gpuCaption(pod) },
    startedMs === null ? { label: 'Started', value: ABSENT, caption: 'not reported' } : timeFact('Started', startedMs),
    ...(endedMs === null ? [] : [timeFact('Ended', endedMs)]),
  ]
}

function nodeCaption({ node, isScheduled }: AppGpuPod): string {
  if (node !== '') return ''
  return isScheduled === false ? 'it waits for one' : 'not reported'
}

function gpuLabel({ gpus, instances }: AppGpuPod): string {
  if (gpus > 0 && gpus === instances) return 'MIG instances'
  return instances > 0 ? 'GPUs and instances' : 'GPUs'
}

function gpuCaption({ gpus, requested, sharedWith }: AppGpuPod): string {
  const asked = requested === null || requested === gpus ? '' : `of ${requested} requested`
  const shared = sharedWith === 0 ? '' : `shared with ${sharedWith}`
  return [asked, shared].filter(Boolean).join(', ') || (gpus === 0 ? 'none is known' : 'its own')
}
