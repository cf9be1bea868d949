import fs from 'node:fs'
import { basename, join } from 'node:path'
import { countOf } from '@sonde/sdk/internal'
import { deviceFilter } from '../device-filter.ts'
import { KernelFiles, ReadFailure } from '../kernel-file.ts'
import type { Probe, SourceContext } from '../source.ts'
import type { EthtoolOptions } from './config.ts'

/**
 * Lists after which each interface is looked at again, whether it has a device: a name may come back as something else.
 */
const LISTS_PER_LOOK = 16
const FOLDER = ['class', 'net'] as const
/** Buses on which a hypervisor shows adapters that it makes of software. */
export const VIRTUAL_BUSES: ReadonlySet<string> = new Set(['virtio', 'xen', 'vmbus'])

/** The interfaces that are to be read, by what sysfs lists. No driver is asked. */
export class Interfaces {
  readonly folder: string
  readonly #sysfs: KernelFiles
  readonly #wanted: (device: string) => boolean
  readonly #takesVirtual: boolean
  /** What is missing if there is none. */
  readonly #kind: string
  /** Whether a name is an interface to read. The map is cleared, so the list of the kernel bounds it. */
  readonly #isInterface = new Map<string, boolean>()
  #lists = 0

  constructor({ devices, virtual }: Pick<EthtoolOptions, 'devices' | 'virtual'>, { sysfs }: SourceContext['paths']) {
    this.folder = join(sysfs, ...FOLDER)
    this.#sysfs = new KernelFiles(sysfs)
    this.#wanted = deviceFilter(devices)
    this.#takesVirtual = virtual
    const kind = virtual ? 'interface' : 'network adapter'
    const others = virtual ? '' : '; virtual interfaces are left out'
    this.#kind = devices.length === 0 ? `${kind}${others}` : `${kind} that the option devices allows`
  }

  /** Their names. */
  list(): string[] | ReadFailure {
    if (this.#lists++ % LISTS_PER_LOOK === 0) this.#isInterface.clear()
    const names = this.#sysfs.list(...FOLDER)
    return names instanceof ReadFailure ? names : names.filter((name) => this.#wanted(name) && this.#isRead(name))
  }

  /** Whether there are any. */
  probe(): Probe {
    const names = this.list()
    if (names instanceof ReadFailure) return names.probe
    if (names.length > 0) return { state: 'present', found: countOf(names.length, 'interface') }
    return { state: 'absent', reason: `${this.folder} has no ${this.#kind}` }
  }

  #isRead(name: string): boolean {
    let known = this.#isInterface.get(name)
    if (known === undefined) {
      const folder = join(this.folder, name)
      // Other files of the folder have no number.
      known = this.#takesVirtual ? fs.existsSync(join(folder, 'ifindex')) : hasAdapter(folder)
      this.#isInterface.set(name, known)
    }
    return known
  }
}

/** Whether hardware is behind an interface. An adapter of software has no port, lanes or firmware to ask about. */
function hasAdapter(folder: string): boolean {
  const device = join(folder, 'device')
  if (!fs.existsSync(device)) return false
  try {
    return !VIRTUAL_BUSES.has(basename(fs.readlinkSync(join(device, 'subsystem'))))
  } catch {
    // Without a link the bus is unknown.
    return true
  }
}
