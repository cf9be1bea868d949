import { test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import { needs } from '../../../../../test/debian.ts'
import type { DoubleDevice } from '../../../../../test/doubles/doca/doca-double.ts'
import { until } from '../../../../sdk/test/helper.ts'
import { readDouble } from '../../../test/doca-agent.ts'
import { docaTelemetryDpa } from '../doca-telemetry-dpa/doca-telemetry-dpa.ts'
import { docaTelemetryPcc } from '../doca-telemetry-pcc/doca-telemetry-pcc.ts'
import { docaTelemetryPci } from '../doca-telemetry-pci/doca-telemetry-pci.ts'
import { docaTelemetryPhy } from '../doca-telemetry-phy/doca-telemetry-phy.ts'

// Faults of one device, or of the library, while all sources that only read share its child process.

const NEEDS = needs('cc')
const BESIDE = [docaTelemetryPhy, docaTelemetryPci, docaTelemetryPcc, docaTelemetryDpa]
const NAMES = ['mlx5_0', 'mlx5_1', 'mlx5_2']

/** From one scrape to the next. Unit: milliseconds. */
const PAUSE_MS = 50

/** Removals of a device: `SONDE_REMOVALS=100` for a full run. */
const ROUNDS = Number(process.env.SONDE_REMOVALS ?? 1)

/** By domain: a counter that moves, and the function that reads it. */
const DOMAINS = {
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

/** The devices, the second with its own properties. */
function devicesWith(second: DoubleDevice = {}): Record<string, DoubleDevice> {
  return Object.fromEntries(NAMES.map((name, at) => [name, at === 1 ? { ...MOVING, ...second } : MOVING]))
}

/** By domain: the sum of its counter for each device that has series. */
type Counts = ReadonlyMap<string, ReadonlyMap<string, number>>

test('a hang costs one source of one device, a crash and a removal cost nothing for long', NEEDS, async (t) => {
  const { double, scrape, child, hurry } = await readDouble(t, { devices: devicesWith(), beside: BESIDE })
  const counts = async (): Promise<Counts> => {
    const lines = await scrape('doca_')
    return new Map(Object.entries(DOMAINS).map(([domain, { counter }]) => [domain, sumsOf(counter, lines)]))
  }
  /** Waits until each counter of these devices has moved, and no other device has it. */
  const moves = async (what: string, names: readonly string[], domains = Object.keys(DOMAINS)) => {
    const before = await counts()
    await until(`${what}: ${domains} of ${names}`, async () => {
      // Each scrape costs as much as many readings.
      await setTimeout(PAUSE_MS)
      const now = await counts()
      return domains.every((domain) => {
        const [old, own] = [before.get(domain), now.get(domain)]
        return own?.size === names.length && names.every((name) => (own.get(name) ?? 0) !== (old?.get(name) ?? 0))
      })
    })
  }
  await moves('at first', NAMES)
  await hurry()

  await t.test('a call that hangs costs the series of its source and device alone', async () => {
    for (const [domain, { read }] of Object.entries(DOMAINS)) {
      double.play(devicesWith({ faults: [`hang ${read}`] }))
      await moves(`${read} hangs`, ['mlx5_0', 'mlx5_2'], [domain])
      double.play(devicesWith())
      await moves(`${read} came back`, NAMES, [domain])
    }
  })

  await t.test('a device that is removed under load leaves all sources, and comes back', async () => {
    const { mlx5_1: _, ...others } = devicesWith()
    for (let round = 0; round < ROUNDS; round++) {
      double.play(others)
      await moves(`removed ${round}`, ['mlx5_0', 'mlx5_2'])
      double.play(devicesWith())
      await moves(`returned ${round}`, NAMES)
    }
    double.play(others)
    const rest = Object.keys(others).length * Object.keys(DOMAINS).length
    await until('the contexts of the device are released', () => double.total('contexts') === rest)
    double.play(devicesWith())
    await moves('returned at last', NAMES)
  })

  await t.test('a crash in a call of one source ends the child, and another child reads everything again', async () => {
    const before = child()
    double.play(devicesWith({ faults: [`segv ${DOMAINS.dpa.read}`] }))
    await until('the child crashed', () => child() !== before)
    double.play(devicesWith())
    await moves('after the crash', NAMES)
  })
})

function sumsOf(counter: string, lines: readonly string[]): ReadonlyMap<string, number> {
  const sums = new Map<string, number>()
  for (const line of lines) {
    if (!line.startsWith(`${counter}{`)) continue
    const device = /device="([^"]+)"/.exec(line)?.[1] ?? ''
    sums.set(device, (sums.get(device) ?? 0) + Number(line.split(' ').at(-1)))
  }
  return sums
}
