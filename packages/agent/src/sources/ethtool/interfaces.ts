import fs from 'node:fs'
import { join } from 'node:path'
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

/** The interfaces that are to be read, by what sysfs lists. No driver is asked. */
export class Interfaces {
  readonly folder: string
  readonly #sysfs: KernelFiles
  readonly #wanted: (device: string) => boolean
  /** What each interface must have: a device behind it, or just a number, which no other file of the folder has. */
  readonly #sign: 'device' | 'ifindex'
  /** By name; bounded by what the kernel lists, since it is cleared. */
  readonly #hasSign = new Map<string, boolean>()
  #lists = 0

  constructor({ devices, virtual }: EthtoolOptions, { sysfs }: SourceContext['paths']) {
    this.folder = join(sysfs, ...FOLDER)
    this.#sysfs = new KernelFiles(sysfs)
    this.#wanted = deviceFilter(devices)
    this.#sign = virtual ? 'ifindex' : 'device'
  }

  /** Their names. */
  list(): string[] | ReadFailure {
    if (this.#lists++ % LISTS_PER_LOOK === 0) this.#hasSign.clear()
    const names = this.#sysfs.list(...FOLDER)
    return names instanceof ReadFailure ? names : names.filter((name) => this.#wanted(name) && this.#isInterface(name))
  }

  /** Whether there are any. */
  probe(): Probe {
    const names = this.list()
    if (names instanceof ReadFailure) return names.probe
    if (names.length > 0) return { state: 'present', found: countOf(names.length, 'interface') }
    return { state: 'absent', reason: `${this.folder} has no interface that the options devices and virtual allow` }
  }

  #isInterface(name: string): boolean {
    let known = this.#hasSign.get(name)
    if (known === undefined) {
      known = fs.existsSync(join(this.folder, name, this.#sign))
      this.#hasSign.set(name, known)
    }
    return known
  }
}
