import { entityOf } from '@sonde/sdk/internal'
import { pciAerType } from '../../sources/pci/type.ts'
import { foreignHost, type HintDevice, type HintDeviceLookup, type WhichNode } from '../device.ts'
import type { SeriesWatch, WatchedSeries } from '../watch/series-watch.ts'
import { Scope } from './scope.ts'

/** All nodes as rules see them: the watched series, grouped by device. */
export class Scopes {
  readonly #devices: HintDeviceLookup
  readonly #watch: SeriesWatch
  readonly #isOpen: (rule: string, device: string) => boolean
  #scopes: readonly Scope[] = []
  /** Versions of the devices and series in `#scopes`. */
  #madeFrom = ''

  constructor(devices: HintDeviceLookup, watch: SeriesWatch, isOpen: (rule: string, device: string) => boolean) {
    this.#devices = devices
    this.#watch = watch
    this.#isOpen = isOpen
  }

  /** The nodes with series, at an instant. Unit: milliseconds since the Unix epoch. */
  at(nowMs: number): readonly Scope[] {
    const from = `${this.#devices.version} ${this.#watch.version}`
    if (from !== this.#madeFrom) this.#scopes = this.#make()
    this.#madeFrom = from
    for (const scope of this.#scopes) scope.nowMs = nowMs
    return this.#scopes
  }

  #make(): readonly Scope[] {
    const scopes = new Map<string, Scope>()
    const scopeOf = (node: WhichNode, host: string) => {
      const key = `${node} ${host}`
      const scope = scopes.get(key) ?? new Scope(node, host, this.#isOpen)
      scopes.set(key, scope)
      return scope
    }
    for (const series of this.#watch.series.values()) {
      const device = this.#deviceOf(series, scopeOf(series.node, ''))
      if (device === undefined) continue
      const inspection = scopeOf(series.node, foreignHost(device)).of(device)
      for (const { signal, window } of series.windows) inspection.add(signal, window, series.labels)
    }
    return [...scopes.values()].filter(({ inspections }) => inspections.length > 0)
  }

  /** Errors of a PCIe link are often counted at the port above a device. They belong to the device below. */
  #deviceOf({ type, labels }: WatchedSeries, scope: Scope): HintDevice | undefined {
    if (type.entity?.kind === 'host') return scope.node
    const device = this.#devices.deviceOf(type, labels)
    if (type.name !== pciAerType.name || (device !== undefined && device.kind !== 'pci')) return device
    const { isSimulated } = scope.node
    const address = entityOf(type, labels)?.key[0]
    const below = this.#devices.own().filter(({ path }) => path.at(-1) === address)
    return below.find(({ kind, ...one }) => kind !== 'pci' && one.isSimulated === isSimulated) ?? device
  }
}
