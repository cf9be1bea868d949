import type { MetricQuery } from '@sonde/sdk/api'
import type { QueryColumns } from '../api/query-client.ts'
import type { ChartMark } from '../chart/chart-spec.ts'

/** Messages of the kernel that came in each step. */
export const KERNEL_QUERY: MetricQuery = { metric: 'host_kernel_messages_total', function: 'increase' }
/** Flags on a chart; more would cover it. */
const MARK_LIMIT_COUNT = 20
const KIND_WORDS: Readonly<Record<string, string>> = {
  xid: 'Xid',
  sxid: 'SXid',
  aer: 'PCIe error',
  ecc: 'memory error',
  mce: 'machine check',
}

/**
 * A flag at each step with messages of the kernel about a device; about any device if the address is undefined. The
 * latest flags are kept.
 */
export function kernelMarks(answer: QueryColumns, address: string | undefined): readonly ChartMark[] {
  const { grid } = answer
  if (!grid) return []
  const marks = answer.columns(KERNEL_QUERY).flatMap((column): ChartMark[] => {
    const { kind = '', code = '', device = '', simulated } = column.labels
    if (simulated === 'true' || (address !== undefined && device !== address)) return []
    const label = [`Kernel: ${KIND_WORDS[kind] ?? kind}`, code, address === undefined ? device : '']
    return [...grid.slice(column)].flatMap((count, at) => {
      const fromMs = grid.times[at]
      return count > 0 && fromMs !== undefined ? [{ fromMs, toMs: fromMs, label: label.filter(Boolean).join(' ') }] : []
    })
  })
  return marks.toSorted((a, b) => a.fromMs - b.fromMs).slice(-MARK_LIMIT_COUNT)
}
