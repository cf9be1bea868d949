// Faults that must fire an alert, and look-alikes that must not.

import { aerText, CORRECTABLE, folderOf, putDevice } from '../../packages/agent/src/sources/pci/test-bus.ts'
import { NODE_CLASSES } from '../../packages/agent/src/sources/simulator/classes/classes.ts'
import type { TestNode } from '../../packages/agent/src/sources/test-node.ts'
import type { ScenarioRequest } from '../../packages/sdk/src/api/index.ts'
import type { DoubleDevice } from '../doubles/doca/doca-double.ts'

/** Names of alerts that fire in the end, `NAME severity`; none for a look-alike. */
type Fires = readonly string[]

const FULL_SIZE = { max_ids: 256, resources: 256 }
const INBOUND = 0x1160_0001_0000_0000n
const OUTBOUND = 0x1160_0002_0000_0000n
/** Bytes on the PCIe link. Unit: bytes per microsecond. */
const pcieBytes = (inbound: bigint, outbound: bigint) =>
  [
    { id: INBOUND, start: 0n, step: inbound, extra: 0n, kind: 'counter' },
    { id: OUTBOUND, start: 0n, step: outbound, extra: 0n, kind: 'counter' },
  ] as const
/** Timeouts per second of 3.2 to 6.4 ms. */
const longTimeouts = (perS: number) => [0, 0, 0, 0, 0, 0, perS]

/** Devices of the double by their state. */
export const DOUBLE_CASES: Readonly<Record<string, { readonly device: DoubleDevice; readonly fires: Fires }>> = {
  losing_packets: { device: { bins: [150] }, fires: ['HighRetransmissionRate warning'] },
  below_the_limit: { device: { bins: [90] }, fires: [] },
  long_timeouts: { device: { bins: longTimeouts(2) }, fires: ['HighRetransmissionTimeouts warning'] },
  many_short_timeouts: { device: { bins: [80] }, fires: [] },
  full_link: { device: { waves: pcieBytes(60_000n, 1000n) }, fires: ['PCIBandwidthSaturation warning'] },
  // Two and a half times the 16e9 bytes/s of the recipe, in each direction.
  two_busy_directions: { device: { waves: pcieBytes(40_000n, 40_000n) }, fires: [] },
  // Less than the 85 % of 16e9 bytes/s of the recipe, but all that a slow link can carry.
  full_slow_link: {
    device: {
      waves: pcieBytes(1000n, 7000n),
      structures: { pci_management_info: { link_speed_active: 3, link_width_active: 8 } },
    },
    fires: ['PCIBandwidthSaturation warning'],
  },
  errors_after_correction: {
    device: { grows: { phy_counter_and_ber_info: { 'effective_errors.effective_errors_counter': 1 } } },
    fires: ['DiagLinkErrors critical'],
  },
  errors_before_correction: {
    device: { grows: { phy_counter_and_ber_info: { 'raw_errors.raw_errors_per_lane': 1_000_000 } } },
    fires: [],
  },
  link_that_was_down: {
    device: { structures: { phy_counter_and_ber_info: { link_down_counter: 7 } } },
    fires: [],
  },
  corrupt_packets: {
    device: { grows: { pci_perf_counters_1: { crc_error_tlp: 1 } } },
    fires: ['PCITLPErrors warning'],
  },
  other_recoveries: { device: { grows: { pci_perf_counters_1: { crc_error_dllp: 1, l0_to_recovery: 1 } } }, fires: [] },
}

/** Devices of the double, with the properties that all have. */
export const DOUBLE_DEVICES: Readonly<Record<string, DoubleDevice>> = Object.fromEntries(
  Object.entries(DOUBLE_CASES).map(([name, { device }]) => [name, { facts: FULL_SIZE, ...device }]),
)

interface KernelCase {
  /** Counts by the name of the error, at a scrape. */
  readonly counts: (scrape: number) => Readonly<Record<string, number>>
  readonly file: 'aer_dev_correctable' | 'aer_dev_nonfatal'
  readonly fires: Fires
}

/** Devices whose errors the kernel counts, by address. A scrape is 30 s. */
export const KERNEL_CASES: Readonly<Record<string, KernelCase>> = {
  // The kernel has no series before the first error: a rate alone would miss it.
  '0000:01:00.0': {
    file: 'aer_dev_nonfatal',
    counts: (scrape) => ({ MalfTLP: scrape >= 35 ? 1 : 0 }),
    fires: ['PCITLPErrors critical'],
  },
  '0000:02:00.0': {
    file: 'aer_dev_correctable',
    counts: (scrape) => ({ BadTLP: scrape * 300 }),
    fires: ['PCITLPErrors warning'],
  },
  // As many as the specification allows.
  '0000:03:00.0': { file: 'aer_dev_correctable', counts: (scrape) => ({ BadTLP: scrape * 15 }), fires: [] },
  '0000:04:00.0': {
    file: 'aer_dev_correctable',
    counts: (scrape) => ({ BadDLLP: scrape * 300, RxErr: scrape * 3000 }),
    fires: [],
  },
  // Errors of the start of the machine.
  '0000:05:00.0': { file: 'aer_dev_nonfatal', counts: () => ({ MalfTLP: 3, TLP: 1 }), fires: [] },
}

const ABOVE = 'pci0000:00'
const UNCORRECTABLE = ['TLP', 'MalfTLP', 'ECRC']

/** Puts the devices of {@link KERNEL_CASES} into a tree, as they are at a scrape. */
export function writeKernelCases(node: TestNode, scrape: number): void {
  for (const [address, { file, counts }] of Object.entries(KERNEL_CASES)) {
    if (scrape === 0) putDevice(node, { address, above: ABOVE, ids: '020000 15b3:1021 15b3:0023', link: '32.0 x16' })
    const [names, total] =
      file === 'aer_dev_correctable' ? [CORRECTABLE, 'TOTAL_ERR_COR'] : [UNCORRECTABLE, 'TOTAL_ERR_NONFATAL']
    const now = counts(scrape)
    const text = aerText(
      names,
      total,
      names.map((name) => now[name] ?? 0),
    )
    node.write(`${folderOf({ above: ABOVE, address })}/${file}`, text)
  }
}

/** Scenarios of the simulator by NIC, from the third minute on. The other NICs are healthy. */
export const SIMULATED_CASES: Readonly<Record<string, { readonly request: ScenarioRequest; readonly fires: Fires }>> = {
  mlx5_1: {
    request: { name: 'retransmission-storm', severity: 0.01, durationS: 1200 },
    // The adapter counts timeouts: one for 40 lost packets.
    fires: ['HighRetransmissionTimeouts warning'],
  },
  // A job that ended while it was sending.
  mlx5_2: { request: { name: 'retransmission-storm', severity: 0.005, durationS: 40 }, fires: [] },
  mlx5_3: { request: { name: 'pcie-aer', severity: 50, durationS: 1200 }, fires: ['PCITLPErrors warning'] },
}

/** PCI address of a NIC of the simulated node. */
export function simulatedAddress(nic: string): string {
  const found = NODE_CLASSES.flatMap(({ nics }) => nics).find(({ device }) => device === nic)
  return found?.ports[0]?.address ?? ''
}
