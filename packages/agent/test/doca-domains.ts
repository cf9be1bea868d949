import type { TestContext } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { DoubleDevice } from '../../../test/doubles/doca/doca-double.ts'
import { until } from '../../../test/sonde-process.ts'
import { docaTelemetryDpa } from '../src/sources/doca-telemetry-dpa/doca-telemetry-dpa.ts'
import { docaTelemetryPcc } from '../src/sources/doca-telemetry-pcc/doca-telemetry-pcc.ts'
import { docaTelemetryPci } from '../src/sources/doca-telemetry-pci/doca-telemetry-pci.ts'
import { docaTelemetryPhy } from '../src/sources/doca-telemetry-phy/doca-telemetry-phy.ts'
import { readDouble } from './doca-agent.ts'

const BESIDE = [docaTelemetryPhy, docaTelemetryPci, docaTelemetryPcc, docaTelemetryDpa]

/** Names of the devices of {@link readDomains}. */
export const DOMAIN_DEVICES = ['mlx5_0', 'mlx5_1', 'mlx5_2'] as const

/** From one scrape to the next. Unit: milliseconds. */
const PAUSE_MS = 50
/** Unit: milliseconds. */
const LIMIT_MS = 60_000

/** By domain: a counter that moves, and the function that reads it. */
export const DOMAINS = {
  adp_retx: { counter: 'doca_adp_retx_packets', read: 'doca_telemetry_adp_retx_read_hist_bins' },
  phy: { counter: 'doca_phy_lane_raw_errors_total', read: 'doca_telemetry_phy_get_counter_and_ber_info' },
  pci: { counter: 'doca_pci_l0_to_recovery_total', read: 'doca_telemetry_pci_read_perf_counters_1' },
  pcc: { counter: 'doca_pcc_events_total', read: 'doca_telemetry_pcc_get_counters' },
  dpa: { counter: 'doca_dpa_thread_cycles_total', read: 'doca_telemetry_dpa_read_cumul_info_list' },
} as const

const MOVING: DoubleDevice = {
  bins: [1000],
  grows: {
    phy_counter_and_ber_info: { 'raw_errors.raw_errors_per_lane': 1000 },
    pci_perf_counters_1: { l0_to_recovery: 1000 },
  },
  algorithms: [{ slot: 0, counters: [['ecn', 0, 1000]] }],
  processes: [{ id: 1, threads: [{ id: 1, cycles: 1000 }] }],
}

/** Returns the devices, the second with its own properties. */
export function devicesWith(second: DoubleDevice = {}): Record<string, DoubleDevice> {
  return Object.fromEntries(DOMAIN_DEVICES.map((name, at) => [name, at === 1 ? { ...MOVING, ...second } : MOVING]))
}

/** An agent that reads a double with all sources that only read. They share its child process. */
export async function readDomains(t: Pick<TestContext, 'after'>) {
  const started = await readDouble(t, { devices: devicesWith(), beside: BESIDE })
  const sums = async () => {
    const lines = await started.scrape('doca_')
    return new Map(Object.entries(DOMAINS).map(([domain, { counter }]) => [domain, sumsOf(counter, lines)]))
  }
  /** Waits until each counter of these devices has moved, and no other device has it. */
  const moves = async (what: string, names: readonly string[], domains: readonly string[] = Object.keys(DOMAINS)) => {
    const before = await sums()
    await until(`${what}: ${domains} of ${names}`, LIMIT_MS, async () => {
      // Each scrape costs as much as many readings.
      await setTimeout(PAUSE_MS)
      const now = await sums()
      return domains.every((domain) => {
        const [old, own] = [before.get(domain), now.get(domain)]
        return own?.size === names.length && names.every((name) => (own.get(name) ?? 0) !== (old?.get(name) ?? 0))
      })
    })
  }
  await moves('at first', DOMAIN_DEVICES)
  await started.hurry()
  return { ...started, moves }
}

/** Sums of a counter over the series of each device. */
function sumsOf(counter: string, lines: readonly string[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const line of lines) {
    if (!line.startsWith(`${counter}{`)) continue
    const device = /device="([^"]+)"/.exec(line)?.[1] ?? ''
    sums.set(device, (sums.get(device) ?? 0) + Number(line.split(' ').at(-1)))
  }
  return sums
}
