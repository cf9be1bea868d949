import type { Source } from '@sonde/sdk'
import { markType, wallOffsetNs } from '@sonde/sdk/internal'
import type { HostEdge } from './edge-gate.ts'

/** Reports the mark of an edge: the wall time is stamped here, where it leaves the monotonic clock. */
export function reportMark(source: Source, { rule, device, event, isStart, monoNs, errorNs }: HostEdge): void {
  source.report(markType, {
    time: monoNs + wallOffsetNs(),
    ...{ rule, device, event, edge: isStart ? 'opened' : 'ended', severity: 'notice', unit: '' },
    summary: `${rule}, its time known to ${errorNs} ns`,
  })
}
