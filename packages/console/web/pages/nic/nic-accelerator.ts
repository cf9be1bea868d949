import type { Fact } from '../../components/facts.tsx'
import { ABSENT, formatQuantity } from '../../format/number.ts'
import { COUNT, PER_SECOND, PERCENT } from '../../format/quantity.ts'
import type { DeviceReadings } from '../device/device-readings.ts'
import { numberFact } from '../device/facts.ts'
import { last, rate } from '../device/lines.ts'
import type { DeviceSection } from '../device/panel-sections.tsx'

const THREAD = ['process', 'thread'] as const
const WITHOUT = 'No process runs on the data-path accelerator of this NIC, or no source reads it.'

/** Processes and threads on the data-path accelerator. */
export function acceleratorSection(): DeviceSection {
  return {
    id: 'dpa',
    title: 'Data-path accelerator',
    facts: acceleratorFacts,
    panels: [
      {
        id: 'dpa',
        title: 'DPA utilisation',
        caption: 'threads, share of time',
        quantity: PERCENT,
        lines: [{ ...rate('doca_dpa_thread_active_seconds_total', 'thread'), each: THREAD }],
        without: WITHOUT,
        replaces: {
          title: 'DPA queue occupancy',
          reason: 'No library reports how full the queues of the accelerator are.',
        },
      },
      {
        id: 'dpa-instructions',
        title: 'DPA instructions',
        caption: 'by thread',
        quantity: PER_SECOND,
        lines: [{ ...rate('doca_dpa_thread_instructions_total', 'thread'), each: THREAD }],
        without: WITHOUT,
      },
      {
        id: 'dpa-executions',
        title: 'DPA executions',
        caption: 'times a thread was scheduled',
        quantity: PER_SECOND,
        lines: [{ ...rate('doca_dpa_thread_executions_total', 'thread'), each: THREAD }],
        without: WITHOUT,
      },
      {
        id: 'dpa-threads',
        title: 'DPA threads',
        caption: 'of each process',
        quantity: COUNT,
        scale: 'lanes',
        slots: [1],
        lines: [{ ...last('doca_dpa_process_threads', 'process'), each: 'process' }],
        without: WITHOUT,
      },
    ],
  }
}

function acceleratorFacts({ all, newest, mean }: DeviceReadings): readonly Fact[] {
  const threads = all('doca_dpa_process_threads')
    .map(({ values }) => values.findLast((value) => !Number.isNaN(value)) ?? Number.NaN)
    .filter((count) => !Number.isNaN(count))
  const counted = (label: string, count: number, caption: string): Fact =>
    threads.length === 0
      ? { label, value: ABSENT, caption: 'not reported' }
      : { label, value: formatQuantity(COUNT, count), caption }
  return [
    counted('Processes', threads.length, 'on the accelerator'),
    counted(
      'Threads',
      threads.reduce((sum, count) => sum + count, 0),
      'of all processes',
    ),
    numberFact('Busiest thread', PERCENT, mean('doca_dpa_thread_active_seconds_total', 'rate'), 'share of time'),
    numberFact(
      'Instructions',
      PER_SECOND,
      newest('doca_dpa_thread_instructions_total', 'rate'),
      'of the busiest thread',
    ),
    { label: 'Queue occupancy', value: ABSENT, caption: 'in no library', isFixed: true },
  ]
}
