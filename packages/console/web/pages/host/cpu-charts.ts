import type { MetricQuery } from '@sonde/sdk/api'
import type { QueryColumns } from '../../api/query-client.ts'
import type { ChartSpec } from '../../chart/chart-spec.ts'
import { PERCENT } from '../../format/quantity.ts'
import type { HostColumns } from '../host-data.ts'
import { RATE_PROVENANCE } from '../interface-charts.ts'

/** The time of all CPUs by mode. */
export const MODE_QUERY: MetricQuery = {
  metric: 'host_cpu_seconds_total',
  function: 'rate',
  matchers: [{ label: 'simulated', op: '!=', value: 'true' }],
  by: ['mode'],
}

/** Modes in which a CPU works or waits, with their words. */
const MODES: readonly (readonly [mode: string, words: string])[] = [
  ['user', 'programs'],
  ['system', 'kernel'],
  ['iowait', 'waits for a disk'],
  ['softirq', 'soft interrupts'],
  ['irq', 'interrupts'],
  ['nice', 'nice'],
  ['steal', 'taken by the hypervisor'],
]

/** CPU time by mode, and each CPU as a row of a heat strip. */
export function cpuCharts(answer: QueryColumns, { busy }: HostColumns): ChartSpec[] {
  const shared = { noun: ['CPU', 'CPUs'], quantity: PERCENT, provenance: RATE_PROVENANCE } as const
  return [
    {
      ...shared,
      id: 'cpu-modes',
      title: 'CPU time by mode',
      caption: 'share of all CPUs',
      slots: [6, 3, 4, 5, 2, 1, 7],
      isAlike: false,
      members: modeMembers(answer, busy.length),
    },
    {
      ...shared,
      id: 'cpu-cores',
      title: 'Each CPU',
      caption: 'busy, the lowest row is CPU 0',
      scale: 'heat',
      members: busy.map(({ name, values }) => ({ key: name, label: `CPU ${name}`, values })),
    },
  ].filter(({ members }) => members.length > 0) as ChartSpec[]
}

/** Modes that took time in the window. User and system are always shown. */
function modeMembers(answer: QueryColumns, cpuCount: number): ChartSpec['members'] {
  const { grid } = answer
  const columns = answer.columns(MODE_QUERY)
  if (!grid || cpuCount === 0) return []
  return MODES.flatMap(([mode, label]) => {
    const column = columns.find(({ labels }) => labels.mode === mode)
    const values = column && grid.slice(column).map((seconds) => seconds / cpuCount)
    const isShown = mode === 'user' || mode === 'system' || values?.some((share) => share > 0.001)
    return values && isShown ? [{ key: mode, label, values }] : []
  })
}
