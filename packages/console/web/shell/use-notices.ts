import { retryAll, useFrameState } from '../api/query-client.ts'
import { refreshAll, useNode } from '../api/resources.ts'
import type { Notice } from '../components/banner.tsx'
import { formatAge, formatClock, formatDateTime, zoneName } from '../format/time.ts'
import { useSecond } from '../state/clock.ts'
import { usePageState } from '../state/time-window.ts'

/** Consecutive failures after which the server counts as unreachable. */
const UNREACHABLE_AFTER_COUNT = 2
/** Time before a lost stream gets a banner. Shorter losses recover unnoticed. Unit: milliseconds. */
const STOPPED_AFTER_MS = 5_000

/** How long a banner reports a gap of the stream. Charts show it as long as it is in the window. Unit: milliseconds. */
const GAP_TOLD_MS = 300_000

/** All current problems of the page or its server. */
export function useNotices(): Notice[] {
  const page = usePageState()
  const node = useNode()
  const live = useFrameState()
  const nowMs = useSecond()
  const notices: Notice[] = []
  const tryNow = {
    label: 'Try now',
    run: () => {
      refreshAll()
      retryAll()
    },
  }
  const zone = page.url.tz ?? 'utc'
  const isUnreachable = node.failures >= UNREACHABLE_AFTER_COUNT && node.error?.status === 0
  if (isUnreachable) {
    notices.push({
      id: 'unreachable',
      tone: 'critical',
      fact: `${location.host} does not answer.`,
      detail: `${node.failures} tries, last ${formatClock(node.failedMs, zone)} ${zoneName(zone)}.${live.newestMs > 0 ? ` Showing data up to ${formatClock(live.newestMs, zone)}.` : ''} It is tried again every 5 s.`,
      action: tryNow,
    })
  } else if (node.error && node.error.status !== 0) {
    notices.push({
      id: 'node',
      tone: 'warning',
      fact: 'The server answers with an error.',
      detail: node.error.message,
      action: tryNow,
    })
  } else if (live.error) {
    notices.push({
      id: 'query',
      tone: 'warning',
      fact: 'A request was not answered.',
      detail: live.error.message,
      action: tryNow,
    })
  }
  if (!isUnreachable && live.streamFault) {
    notices.push({
      id: 'fault',
      tone: 'warning',
      fact: 'The server ended the live stream.',
      detail: `${live.streamFault.message} It is tried again; missed samples will be fetched.`,
      action: tryNow,
    })
  } else if (!isUnreachable && live.isOpen === false && nowMs - live.sinceMs > STOPPED_AFTER_MS) {
    notices.push({
      id: 'live',
      tone: 'stale',
      fact: `Live stopped ${formatAge(nowMs - live.sinceMs)} ago.`,
      detail: 'Reconnecting; missed samples will be fetched.',
    })
  }
  const gap = live.streamGap
  if (gap && nowMs - gap.toMs < GAP_TOLD_MS) {
    notices.push({
      id: 'gap',
      tone: 'info',
      fact: `No samples from ${formatClock(gap.fromMs, zone)} to ${formatClock(gap.toMs, zone)} ${zoneName(zone, gap.toMs)}.`,
      detail: `They are not available: ${gap.reason.replace(/\.$/, '')}. The charts show the gap.`,
    })
  }
  const certificate = node.data?.certificate
  if (certificate !== undefined && certificate.fault !== '') {
    notices.push({
      id: 'certificate',
      tone: 'warning',
      fact: 'A newer certificate is not in use.',
      detail: `${certificate.fault.replace(/\.$/, '')}. The one in use ends ${formatDateTime(certificate.endsMs, zone)} ${zoneName(zone, certificate.endsMs)}.`,
    })
  }
  const store = node.data?.store
  if (store?.state === 'failing') {
    notices.push({
      id: 'store',
      tone: 'critical',
      fact: `History is not being written: ${store.reason.replace(/\.$/, '')}.`,
      detail: 'Live values go on. Nothing acknowledged was lost; what waits is tried again.',
    })
  }
  if (page.ignored.length > 0) {
    const reasons = new Set(page.ignored.map(({ reason }) => reason).filter(Boolean))
    notices.push({
      id: 'ignored',
      tone: 'info',
      fact: `Ignored in the address: ${page.ignored.map(({ part }) => part).join(', ')}.`,
      detail: [...reasons, 'The rest of the address was followed.'].join(' '),
    })
  }
  return notices
}
