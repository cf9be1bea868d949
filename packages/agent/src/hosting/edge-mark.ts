import type { Source } from '@sonde/sdk'
import { markType, wallOffsetNs } from '@sonde/sdk/internal'
import type { HostEdge } from './edge-gate.ts'

/**
 * Reports the mark of an edge: the wall time is stamped here, where it leaves the monotonic clock.
 *
 * @param offsetNs From the monotonic clock to the wall clock. Default: that of now.
 */
export function reportMark(
  source: Source,
  { rule, device, event, isStart, monoNs, errorNs }: HostEdge,
  offsetNs: bigint = wallOffsetNs(),
): void {
  source.report(markType, {
    time: monoNs + offsetNs,
    ...{ rule, device, event, edge: isStart ? 'opened' : 'ended', severity: 'notice', unit: '' },
    summary: `${rule}, its time known to ${errorNs} ns`,
  })
}
