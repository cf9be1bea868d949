import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { TestNode } from '../../packages/agent/src/sources/test-node.ts'
import { DocaDouble, type DoubleDevice } from '../doubles/doca/doca-double.ts'
import type { Ending } from './browser.ts'

const DEVICE = 'mlx5_3'
const ADDRESS = '0000:4b:00.0'
const TREE = new URL(
  `../../packages/agent/src/sources/rdma/fixtures/node/sys/class/infiniband/${DEVICE}`,
  import.meta.url,
)
const DOCA_SOURCES = ['adp_retx', 'phy', 'pci', 'pcc', 'dpa'].map((name) => `doca_telemetry_${name}`)

/** The path of its page. */
export const NIC_PATH = `/fabric/nic-${DEVICE}-1`

/** A NIC with everything that the libraries can report: an algorithm, and a process on the accelerator. */
export const FULL_NIC: DoubleDevice = {
  pci: ADDRESS,
  facts: { max_ids: 256, resources: 256 },
  bins: [20, 0, 6],
  grows: { pci_perf_counters_1: { crc_error_tlp: 2, outbound_stalled_writes_events: 3 } },
  algorithms: [
    {
      slot: 0,
      version: [2, 7],
      description: 'example algorithm',
      counters: [
        ['cnp_events', 0, 40],
        ['rtt_ns', 8200, 0],
      ],
    },
  ],
  processes: [
    {
      id: 7,
      threads: [
        { id: 1, name: 'rx', ticks: 250_000_000, cycles: 4e8, instructions: 1e8, executions: 50 },
        { id: 2, name: 'tx', ticks: 500_000_000, cycles: 8e8, instructions: 2e8, executions: 90 },
      ],
    },
  ],
}

/** A node whose only NIC is that of a double: its files of the kernel, and the libraries. Needs `cc`. */
export function doubledNic(test: Ending, device: DoubleDevice = FULL_NIC) {
  // Without this function its values count as those of hardware, and belong to the NIC of the kernel's files.
  const double = new DocaDouble(test, { without: ['sonde_doca_double'] })
  double.play({ [DEVICE]: device })
  const node = new TestNode(test)
  const { procfs, sysfs } = node.paths
  mkdirSync(procfs)
  cpSync(fileURLToPath(TREE), join(sysfs, 'class/infiniband', DEVICE), { recursive: true })
  const config = join(node.root, 'sonde.yaml')
  const entries = [...DOCA_SOURCES, 'rdma'].map((type) => `  - type: ${type}\n    interval_ms: 1000\n`)
  const diag = '  - type: doca_telemetry_diag\n    interval_ms: 1000\n    accept_taint: true\n'
  writeFileSync(config, `data_sources:\n${entries.join('')}${diag}`)
  return {
    /** What it answers from now on. */
    play: (now: DoubleDevice, faults?: readonly string[]) => double.play({ [DEVICE]: now }, faults),
    args: ['--config', config, '--path.procfs', procfs, '--path.sysfs', sysfs],
    env: { SONDE_NATIVE_DOCA_LIBRARY: double.folder },
  }
}
