import assert from 'node:assert/strict'
import type { Incident } from '@sonde/sdk/api'
import { ask } from '../ask.ts'
import type { Stage } from './browser.ts'

const STEP_MS = 2000
/** A rule looks at more or fewer samples than a step of the query. */
const TOLERANCE = 0.05
const PREFIXES: Readonly<Record<string, number>> = { k: 1e3, M: 1e6, G: 1e9 }

interface Answer {
  readonly results: readonly {
    readonly series: readonly {
      readonly labels: Readonly<Record<string, string>>
      readonly values: readonly (number | null)[]
    }[]
  }[]
}

interface Device {
  readonly id: string
  readonly labels: Readonly<Record<string, string>>
  readonly netdevs: readonly string[]
  readonly address: string
}

/** Samples of an incident: those of its device, and those of all others. Each row is a time. */
interface Samples {
  readonly own: readonly number[]
  readonly others: readonly number[]
}

/** Reads samples of a metric around an incident. */
type ReadSamples = (
  metric: string,
  fn: 'last' | 'rate' | 'increase',
  more?: Readonly<Record<string, string>>,
) => Promise<Samples>

/** A number that a sentence tells, and which numbers the records have for it. */
interface Told {
  /** Finds the number in the sentence. */
  readonly words: RegExp
  readonly records: (read: ReadSamples) => Promise<readonly number[]>
}

const NUMBER = String.raw`([\d.]+(?:[\s\u00a0\u202f][kMG](?=[\s\u00a0\u202fB]))?)`
/** An expression in which `#` stands for a number. */
const told = (words: string): RegExp =>
  new RegExp(words.replace('#', NUMBER).replaceAll(' ', String.raw`[\s\u00a0\u202f]`))
const percent = (values: readonly number[]) => values.map((value) => value * 100)
const overEach = (above: Samples, below: Samples, part: keyof Samples) =>
  above[part].map((value, at) => value / (below[part][at] ?? Number.NaN)).filter(Number.isFinite)

const congestion: readonly Told[] = [
  {
    words: told('^# % of the packets'),
    records: async (read) =>
      percent(
        overEach(
          await read('rdma_hw_np_ecn_marked_roce_packets_total', 'rate'),
          await read('rdma_port_unicast_rcv_packets_total', 'rate'),
          'own',
        ),
      ),
  },
]

/** What the sentences of each rule tell. Every rule of the twelve scenarios has a number. */
export const TOLD: Readonly<Record<string, readonly Told[]>> = {
  congestion,
  retransmission_storm: [
    {
      words: told('counts # sequence errors'),
      records: async (read) => (await read('rdma_hw_packet_seq_err_total', 'rate')).own,
    },
    {
      words: told('its siblings #,'),
      records: async (read) => (await read('rdma_hw_packet_seq_err_total', 'rate')).others,
    },
  ],
  noisy_neighbour: [
    {
      words: told('sends # ?B/s without'),
      records: async (read) => (await read('ethtool_priority_tx_bytes_total', 'rate', { priority: '0' })).own,
    },
  ],
  pfc_source: [
    {
      words: told('pauses for # % of'),
      records: async (read) =>
        percent((await read('ethtool_priority_tx_pause_seconds_total', 'rate', { priority: '3' })).own),
    },
  ],
  pcie_downtrain: [
    {
      words: told('has # % of its link'),
      records: async (read) => {
        const { own, others } = await read('pci_device_current_link_bandwidth_bytes_per_second', 'last')
        return percent(own.map((value) => value / Math.max(...others)))
      },
    },
    {
      words: told('its writes wait # % of'),
      records: async (read) => percent((await read('ethtool_port_outbound_pci_stalled_wr_ratio', 'last')).own),
    },
  ],
  stuck_collective: [
    {
      words: told('draw # % of their power'),
      records: async (read) =>
        percent(
          overEach(
            await read('DCGM_FI_DEV_POWER_USAGE', 'last'),
            await read('DCGM_FI_DEV_ENFORCED_POWER_LIMIT', 'last'),
            'others',
          ),
        ),
    },
    {
      words: told('tensor active # %'),
      records: async (read) => percent((await read('DCGM_FI_PROF_PIPE_TENSOR_ACTIVE', 'last')).others),
    },
  ],
  thermal_throttle: [
    { words: told('it is at # °C'), records: async (read) => (await read('DCGM_FI_DEV_GPU_TEMP', 'last')).own },
    { words: told('its siblings # °C'), records: async (read) => (await read('DCGM_FI_DEV_GPU_TEMP', 'last')).others },
  ],
  straggler: [
    {
      words: told('tensor active # %'),
      records: async (read) => percent((await read('DCGM_FI_PROF_PIPE_TENSOR_ACTIVE', 'last')).own),
    },
    {
      words: told('its siblings # %'),
      records: async (read) => percent((await read('DCGM_FI_PROF_PIPE_TENSOR_ACTIVE', 'last')).others),
    },
  ],
  data_stall: [
    {
      words: told('are in use # % of'),
      records: async (read) => (await read('DCGM_FI_DEV_GPU_UTIL', 'last')).others,
    },
  ],
  power_brake: [
    {
      words: told('clock down to # MHz'),
      records: async (read) => (await read('DCGM_FI_DEV_SM_CLOCK', 'last')).others,
    },
    {
      words: told('power down to # W'),
      records: async (read) => (await read('DCGM_FI_DEV_POWER_USAGE', 'last')).others,
    },
  ],
  link_ber: [
    {
      words: told('has # errors after correction'),
      records: async (read) => {
        const { own } = await read('doca_phy_effective_errors_total', 'increase')
        return [own.reduce((sum, value) => sum + value, 0)]
      },
    },
  ],
}

/** Fails unless every number of a sentence that a rule tells is among the samples of the records. */
export async function assertTold(stage: Pick<Stage, 'address'>, incident: Incident, sentence: string): Promise<number> {
  const read = await reader(stage, incident)
  let checked = 0
  for (const { words, records } of TOLD[incident.rule] ?? []) {
    const found = words.exec(sentence)?.[1]
    if (found === undefined) continue
    const number = numberOf(found)
    const values = (await records(read)).filter(Number.isFinite)
    const [low, high] = [Math.min(...values), Math.max(...values)]
    const room = TOLERANCE * Math.abs(number) + 0.1
    assert.ok(
      number >= low - room && number <= high + room,
      `${sentence}: ${number} is not between ${low} and ${high}, which the records have`,
    )
    checked++
  }
  return checked
}

function numberOf(text: string): number {
  const [digits = '', prefix = ''] = text.split(/[\s\u00a0\u202f]/)
  return Number(digits) * (PREFIXES[prefix] ?? 1)
}

async function reader(
  stage: Pick<Stage, 'address'>,
  { device, startMs, endMs = startMs }: Incident,
): Promise<ReadSamples> {
  const { devices } = await ask<{ readonly devices: readonly Device[] }>(stage, '/api/v1/devices')
  const own = devices.find(({ id }) => id === device)
  const names = new Set([own?.labels.rdma_device, own?.labels.UUID, own?.address, ...(own?.netdevs ?? [])])
  return async (metric, fn, more = {}) => {
    const matchers = Object.entries(more).map(([label, value]) => ({ label, op: '=', value }))
    const queries = [{ metric, function: fn, matchers }]
    const span = { fromMs: Math.floor(startMs) - STEP_MS, toMs: Math.ceil(endMs), stepMs: STEP_MS }
    const { results } = await ask<Answer>(stage, '/api/v1/query', { ...span, queries })
    const series = results[0]?.series ?? []
    const isOwn = ({ labels }: (typeof series)[number]) =>
      [labels.rdma_device, labels.UUID, labels.pci_address, labels.device].some((name) => name && names.has(name))
    const numbers = (some: typeof series) => some.flatMap(({ values }) => values.map((value) => value ?? Number.NaN))
    return { own: numbers(series.filter(isOwn)), others: numbers(series.filter((one) => !isOwn(one))) }
  }
}
