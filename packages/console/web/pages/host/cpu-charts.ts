import type { MetricQuery } from '@sonde/sdk/api'
import type { QueryColumns } from '../../api/query-client.ts'
import type { ChartSpec } from '../../chart/chart-spec.ts'
import { LONG_COUNT, splitIdle } from '../../components/sickness.ts'
import { sortRows } from '../../components/sort.ts'
import { meanReading } from '../../devices/device-reading.ts'
import { countText } from '../../format/number.ts'
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

/** A CPU that is busy for less of a window is idle. */
const IDLE_SHARE_MAX = 0.01
const WHOLE_WINDOW = { isNow: false, stepMs: 1_000 } as const

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
      scale: 'heat',
      ...coreRows(busy),
    },
  ].filter(({ members }) => members.length > 0) as ChartSpec[]
}

/** The CPUs from the lowest row; of many the busiest on top, without those that were idle in the whole window. */
function coreRows(busy: HostColumns['busy']): Pick<ChartSpec, 'caption' | 'members'> {
  const members = busy.map(({ name, values }) => ({ key: name, label: `CPU ${name}`, values }))
  if (members.length <= LONG_COUNT) return { caption: 'busy, the lowest row is CPU 0', members }
  const loads = new Map(members.map((member) => [member, meanReading(member.values, WHOLE_WINDOW).value || 0]))
  const sorted = sortRows(members, 'ascending', (member) => loads.get(member)!)
  const { busy: shown, idle } = splitIdle(sorted, (member) => loads.get(member)! < IDLE_SHARE_MAX)
  const left = idle.length === 0 ? '' : `, without ${countText(idle.length, 'idle CPU')}`
  return { caption: `busy, the busiest on top${left}`, members: shown }
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
