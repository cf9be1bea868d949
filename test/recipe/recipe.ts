import { mkdirSync } from 'node:fs'
import type { TestContext } from 'node:test'
import { TestNode } from '../../packages/agent/src/sources/test-node.ts'
import { DocaDouble, type DoubleDevice } from '../doubles/doca/doca-double.ts'

const SECOND_NS = 1_000_000_000n

/** The environment of the DaemonSet in the recipe for Kubernetes, but for what says where it runs. */
export const RECIPE_ENV = {
  NODE_NAME: 'gpu-17',
  TELEMETRY_INTERVAL_MS: '1000',
  ENABLE_ADP_RETX: 'true',
  ENABLE_DIAG: 'true',
  ENABLE_DPA: 'true',
  ENABLE_PCC: 'true',
  ENABLE_PCI: 'true',
  DOCA_DEVICES: 'mlx5_0,mlx5_1',
} as const

/** Room for every counter of `diag`. */
const ROOMY = { max_ids: 256, resources: 256 }

/** The devices of the recipe, in a node without any other. */
export const RECIPE_DEVICES: Readonly<Record<string, DoubleDevice>> = {
  mlx5_0: { pci: '0000:3a:00.0', iface: 'ens1f0np0', bins: [100, 0, 7], facts: ROOMY },
  mlx5_1: { pci: '0000:3a:00.1', iface: 'ens1f1np1', bins: [1], facts: ROOMY },
}

/** What the driver of the first device has counted. */
const LINK_ERRORS = { symbol_error: 3, link_downed: 1 }

/** A node whose only devices are those of a double, one second after the clocks of the devices began. */
export function doubledNode(t: Pick<TestContext, 'after'>, devices = RECIPE_DEVICES) {
  const double = new DocaDouble(t)
  double.play(devices)
  double.setElapsed(SECOND_NS)
  const node = new TestNode(t)
  const { procfs, sysfs } = node.paths
  mkdirSync(procfs)
  for (const [kind, count] of Object.entries(LINK_ERRORS))
    node.write(`sys/class/infiniband/mlx5_0/ports/1/counters/${kind}`, `${count}\n`)
  return {
    double,
    flags: ['--path.procfs', procfs, '--path.sysfs', sysfs],
    env: { SONDE_NATIVE_DOCA_LIBRARY: double.folder },
    /** Stands the clocks still so many seconds after they began. */
    setSeconds: (seconds: number) => double.setElapsed(BigInt(seconds) * SECOND_NS),
    runClocks: () => double.setElapsed(undefined),
  }
}
