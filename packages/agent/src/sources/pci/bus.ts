import fs from 'node:fs'
import { posix } from 'node:path'
import { SondeError } from '@sonde/sdk'
import { messageOf } from '@sonde/sdk/internal'
import { failureKind, type KernelFiles, ReadFailure } from '../kernel-file.ts'
import { addressesOf, isAddress } from './parse.ts'

/** Where a device is. */
export interface PciPlace {
  readonly address: string
  /** Its own folder below the root, a name each: no link is on the way any more. */
  readonly folder: readonly string[]
  /** Addresses of the bridges above it, the root port first. */
  readonly path: readonly string[]
}

const DEVICES = ['bus', 'pci', 'devices'] as const

/** Where PCI devices are in sysfs. Nothing outside the root is looked at. */
export class PciBus {
  readonly #sysfs: KernelFiles

  constructor(sysfs: KernelFiles) {
    this.#sysfs = sysfs
  }

  /** The folder that lists all devices, for people. */
  get listing(): string {
    return posix.join(this.#sysfs.root, ...DEVICES)
  }

  /** Addresses of all devices, in order. One read of a folder, whatever their number. */
  addresses(): string[] | ReadFailure {
    const names = this.#sysfs.list(...DEVICES)
    return names instanceof ReadFailure ? names : names.filter(isAddress).sort()
  }

  /**
   * Where a device is. The listing holds links into `/sys/devices`, whose folders are nested as the bridges are; a tree
   * without links says nothing of bridges. Refused where the folder lies outside the root, however it got there.
   */
  place(address: string): PciPlace | ReadFailure {
    const listed = [...DEVICES, address]
    const link = this.#attempt(listed, (path) => fs.readlinkSync(path))
    if (link instanceof ReadFailure) {
      return link.kind === 'unsupported' ? { address, folder: listed, path: [] } : link
    }
    const target = posix.resolve('/', ...DEVICES, link)
    const folder = target.split('/').slice(1)
    const real = this.#attempt(folder, (path) => fs.realpathSync.native(path))
    const root = this.#attempt([], (path) => fs.realpathSync.native(path))
    if (real instanceof ReadFailure) return real
    if (root instanceof ReadFailure) return root
    if (!target.startsWith('/devices/') || real !== posix.join(root, target)) {
      const message = `${this.listing}/${address} leads to ${real}, which is no folder below ${this.#sysfs.root}/devices`
      return new ReadFailure('failed', new SondeError('SRC_PATH', message))
    }
    const addresses = addressesOf(folder)
    return { address, folder, path: addresses.slice(0, addresses.lastIndexOf(address)) }
  }

  #attempt<T>(parts: readonly string[], look: (path: string) => T): T | ReadFailure {
    const path = posix.join(this.#sysfs.root, ...parts)
    try {
      return look(path)
    } catch (error) {
      return new ReadFailure(failureKind(error), new SondeError('SRC_READ', messageOf(error), { cause: error }))
    }
  }
}
