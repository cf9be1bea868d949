import type { MetricQuery } from '@sonde/sdk/api'
import type { QueryColumns } from '../api/query-client.ts'
import type { ChartMark } from '../chart/chart-spec.ts'

/** Messages of the kernel that came in each step. */
export const KERNEL_QUERY: MetricQuery = { metric: 'host_kernel_messages_total', function: 'increase' }
/** Flags on a chart, and rows of a table; more would cover the rest. */
const MARK_LIMIT_COUNT = 20
const KIND_WORDS: Readonly<Record<string, string>> = {
  xid: 'Xid',
  sxid: 'SXid',
  aer: 'PCIe error',
  ecc: 'memory error',
  mce: 'machine check',
}

/** Equal messages of the kernel in one step. */
export interface KernelMessages {
  /** End of the step. */
  readonly atMs: number
  /** Kind and code: `Xid 79`. */
  readonly words: string
  /** PCI address; empty if the messages name none. */
  readonly address: string
  readonly count: number
}

/** Messages of the kernel about the devices with these addresses, or about any device. The latest are kept. */
export function kernelMessages(
  { grid, columns }: Pick<QueryColumns, 'grid' | 'columns'>,
  addresses: ReadonlySet<string> | undefined,
): readonly KernelMessages[] {
  if (!grid) return []
  const messages = columns(KERNEL_QUERY).flatMap((column): KernelMessages[] => {
    const { kind = '', code = '', device = '', simulated } = column.labels
    if (simulated === 'true' || (addresses !== undefined && !addresses.has(device))) return []
    const words = [KIND_WORDS[kind] ?? kind, code].filter(Boolean).join(' ')
    return [...grid.slice(column)].flatMap((count, at) => {
      const atMs = grid.times[at]
      return count > 0 && atMs !== undefined ? [{ atMs, words, address: device, count: Math.round(count) }] : []
    })
  })
  return messages.toSorted((a, b) => a.atMs - b.atMs).slice(-MARK_LIMIT_COUNT)
}

/** Messages as flags of charts, with the address of the device where charts are about several. */
export function kernelMarks(
  messages: readonly KernelMessages[],
  { hasAddress }: { readonly hasAddress: boolean },
): readonly ChartMark[] {
  return messages.map(({ atMs, words, address }) => ({
    fromMs: atMs,
    toMs: atMs,
    label: ['Kernel:', words, hasAddress ? address : ''].filter(Boolean).join(' '),
  }))
}
