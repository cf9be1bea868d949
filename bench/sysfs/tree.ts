import { existsSync, mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { hgxDevices, putDevice } from '../../packages/agent/src/sources/pci/test-bus.ts'
import { HW_COUNTERS, PORT_COUNTERS } from '../../packages/agent/src/sources/rdma/names.ts'

/** Memory, so that the benchmark measures us and not a disk; the kernel's own files are never further away. */
const MEMORY = '/dev/shm'

function makeRoot(): string {
  return mkdtempSync(join(existsSync(MEMORY) ? MEMORY : tmpdir(), 'sonde-bench-'))
}

/**
 * Makes a tree with RDMA devices of one port each; its root. `lifespan` is 0, so that every sweep reads the hardware
 * counters.
 */
export function makePorts(count: number): string {
  const root = makeRoot()
  writePorts(join(root, 'sys'), count)
  return root
}

/** Makes a tree with the PCI devices of a node of eight GPUs; its root. */
export function makeNode(): string {
  const root = makeRoot()
  writeDevices(root)
  return root
}

/** Writes the PCI devices of a node of eight GPUs below a root: switches, GPUs, adapters and drives. */
export function writeDevices(root: string): void {
  const pathOf = (name: string) => {
    const path = join(root, name)
    mkdirSync(dirname(path), { recursive: true })
    return path
  }
  const node = {
    write: (name: string, text: string) => writeFileSync(pathOf(name), text),
    link: (name: string, target: string) => symlinkSync(target, pathOf(name)),
  }
  for (const device of hgxDevices()) putDevice(node, device)
}

/**
 * The files of such ports that a sweep over more than 80 reads: traffic of all, of one half the state and of the other
 * the hardware counters that tell.
 */
export function tellingPaths(root: string, count: number): string[] {
  const frequent = (folder: string, forms: ReadonlyMap<string, { readonly frequent?: boolean }>) =>
    [...forms].filter(([, form]) => form.frequent === true).map(([name]) => `${folder}/${name}`)
  const traffic = frequent('counters', PORT_COUNTERS)
  const halves = [
    [...traffic, 'state'],
    [...traffic, ...frequent('hw_counters', HW_COUNTERS)],
  ]
  return Array.from({ length: count }, (_, i) =>
    (halves[i % 2] ?? []).map((name) => join(root, 'sys/class/infiniband', `mlx5_${i}`, 'ports/1', name)),
  ).flat()
}

/** Writes RDMA devices of one port each below a sysfs. */
export function writePorts(sysfs: string, count: number): void {
  for (let i = 0; i < count; i++) {
    const device = join(sysfs, 'class/infiniband', `mlx5_${i}`)
    const files: Readonly<Record<string, string>> = {
      fw_ver: '28.42.1000',
      hca_type: 'MT4129',
      board_id: 'MT_0000000838',
      node_guid: `a088:c203:0054:${(0x1000 + i).toString(16)}`,
      'device/uevent': `DRIVER=mlx5_core\nPCI_SLOT_NAME=${(i >> 8).toString(16).padStart(4, '0')}:${(i & 255).toString(16).padStart(2, '0')}:00.0`,
      [`device/net/ib${i}/dev_port`]: '0',
      'ports/1/state': '4: ACTIVE',
      'ports/1/phys_state': '5: LinkUp',
      'ports/1/rate': '400 Gb/sec (4X NDR)',
      'ports/1/link_layer': 'InfiniBand',
      'ports/1/hw_counters/lifespan': '0',
    }
    const counters = [...PORT_COUNTERS.keys()].map((name) => `ports/1/counters/${name}`)
    // Those that an operator has to turn on are not there.
    const hardware = [...HW_COUNTERS.keys()].filter((name) => !/^(cc|rdma)_/.test(name))
    write(device, files)
    write(
      device,
      Object.fromEntries(
        [...counters, ...hardware.map((name) => `ports/1/hw_counters/${name}`)].map((name) => [name, '57641830211']),
      ),
    )
  }
}

function write(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${text}\n`)
  }
}
