import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeDevices, writePorts } from '../sysfs/tree.ts'

/** Interfaces in the tree. With 21 series each, and those of the host, an agent keeps about 2 000. */
export const INTERFACE_COUNT = 90

/** RDMA ports in a tree with a fabric, as in a node with as many GPUs and one adapter for storage. */
const PORT_COUNT = 9

const ROWS_HEAD = `Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
`
const HOST_FILES = ['stat', 'meminfo', 'loadavg', 'pressure/cpu', 'pressure/memory', 'pressure/io', 'net/softnet_stat']
const ATTRIBUTES = { operstate: 'up', carrier: '1', carrier_changes: '2', speed: '100000', mtu: '9000' }

/** A node of many interfaces below a folder, whose counters `step` moves on. */
export interface Tree {
  readonly procfs: string
  readonly sysfs: string
  /** Writes the counters that a node under load would have one second later. */
  step(): void
}

/** Writes the tree: this machine's own files of the host, and interfaces as a large node has them. */
export function writeTree(root: string): Tree {
  const [procfs, sysfs] = [join(root, 'proc'), join(root, 'sys')]
  const names = Array.from({ length: INTERFACE_COUNT }, (_, at) => `eth${at}`)
  for (const file of HOST_FILES) {
    mkdirSync(join(procfs, file, '..'), { recursive: true })
    writeFileSync(join(procfs, file), readFileSync(join('/proc', file)))
  }
  for (const name of names) {
    const folder = join(sysfs, 'class/net', name)
    // The calls to drivers go to the real interfaces of this machine, not to the tree.
    const isReal = existsSync(join('/sys/class/net', name, 'device'))
    mkdirSync(isReal ? join(folder, 'device') : folder, { recursive: true })
    for (const [attribute, value] of Object.entries(ATTRIBUTES)) writeFileSync(join(folder, attribute), `${value}\n`)
  }
  let seconds = 0
  const step = (): void => {
    seconds++
    const rows = names.map((name, at) => {
      const packets = seconds * (90_000 + at * 1_000)
      const bytes = 914_206_311_480 + packets * 1_400
      return `${name.padStart(6)}: ${bytes} ${packets} 0 0 0 0 0 ${seconds} ${bytes} ${packets} 0 0 0 0 0 0\n`
    })
    // Written in place, as the kernel changes what an open descriptor reads.
    writeFileSync(join(procfs, 'net/dev'), ROWS_HEAD + rows.join(''))
  }
  step()
  return { procfs, sysfs, step }
}

/** Adds to a tree what a node of eight GPUs has on its PCIe: switches, GPUs, adapters, drives, and RDMA ports. */
export function writeFabric(root: string): void {
  writeDevices(root)
  writePorts(join(root, 'sys'), PORT_COUNT)
}
