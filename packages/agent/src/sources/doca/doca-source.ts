import { type AbsenceCode, type RecordType, SondeError } from '@sonde/sdk'
import { deviceLabelOf, within } from '@sonde/sdk/internal'
import { DocaDevice } from '../../native/doca/device.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import type { DocaLibrary } from '../../native/doca/library.ts'
import { type DocaDeviceNames, DocaRoster } from '../../native/doca/roster.ts'
import { ATTRIBUTE_BYTES_LIMIT, KernelFiles } from '../kernel-file.ts'
import { readPlanes } from '../rdma-planes.ts'
import type { Duty, NodeSource, Probe, SourceContext } from '../source.ts'
import { adapterOf } from './adapter.ts'
import { lowerFunctions } from './lower-functions.ts'
import type { DocaOptions } from './options.ts'
import { DocaPlace, LIMIT_KEY, type OpenReader } from './place.ts'
import { type ListedDevices, WantedDevices } from './wanted-devices.ts'

/** Time between two listings of the devices. Unit: microseconds. */
const LIST_EVERY_US = 5_000_000

/** State of a source if devices cannot be listed. */
const PROBED = { denied: 'denied', gone: 'absent', unsupported: 'absent', failed: 'failed' } as const

/** How a source reads devices. */
export interface DocaReading {
  /** The types whose series are absent with the reason if a device is not read: those of this source alone. */
  readonly types: readonly RecordType[]
  /** Creates the reader of a device each time that the device is opened. */
  readonly openReader: OpenReader
  /** Whether functions of a card are opened in the order of their addresses, because only the first may succeed. */
  readonly isOrdered?: boolean
}

/** A source that reads devices with the DOCA libraries. It follows the list of devices, and keeps each device open. */
export class DocaSource implements NodeSource {
  readonly #options: DocaOptions
  readonly #context: SourceContext
  readonly #library: DocaLibrary
  readonly #roster: DocaRoster
  readonly #sysfs: KernelFiles
  readonly #types: readonly RecordType[]
  readonly #openReader: OpenReader
  readonly #wanted: WantedDevices
  readonly #places = new Map<string, DocaPlace>()
  readonly #isOrdered: boolean
  /** The devices that are read. */
  #listed: readonly DocaDeviceNames[] = []
  readonly #list: Duty
  #duties: readonly Duty[]

  constructor(options: DocaOptions, context: SourceContext, { types, openReader, isOrdered = false }: DocaReading) {
    this.#options = options
    this.#types = types
    this.#context = context
    this.#library = context.library as DocaLibrary
    // The names of the other devices are listed before the list itself counts as stuck.
    this.#roster = new DocaRoster(this.#library, options.stuck_ms / 2)
    this.#sysfs = new KernelFiles(context.paths.sysfs, { fileBytesLimit: ATTRIBUTE_BYTES_LIMIT })
    this.#openReader = openReader
    this.#isOrdered = isOrdered
    this.#wanted = new WantedDevices(options.devices)
    const { stuck_ms: limitMs } = options
    const list = { device: '', name: 'list', everyUs: LIST_EVERY_US, limitMs, limitKey: LIMIT_KEY }
    this.#list = { ...list, run: () => this.#follow() }
    this.#duties = [this.#list]
  }

  async probe(): Promise<Probe> {
    const listed = await this.#listWhole()
    if (listed instanceof DocaFailure) return { state: PROBED[listed.kind], reason: listed.error.message }
    if (this.#wanted.of(listed).length > 0) return { state: 'present', found: this.#wanted.found(listed) }
    return { state: 'absent', reason: this.#wanted.none(listed) }
  }

  duties(): readonly Duty[] {
    return this.#duties
  }

  stuck(device: string, reason: string): void {
    this.#places.get(device)?.stuck(reason)
  }

  async close(): Promise<void> {
    const places = [...this.#places.values()]
    this.#places.clear()
    this.#duties = [this.#list]
    await Promise.all(places.map((place) => place.close()))
  }

  /** Lists the devices, without planes of a port: the counters of its device are those of the whole port. */
  async #listWhole(): Promise<ListedDevices | DocaFailure> {
    const listed = await this.#roster.list()
    if (listed instanceof DocaFailure) return listed
    const planes = readPlanes(
      listed.map(({ name }) => name),
      this.#sysfs,
    )
    return { devices: listed.filter(({ name }) => !planes.has(name)), planes }
  }

  /** Follows the list of devices: opens new devices, and reports missing devices as gone. */
  async #follow(): Promise<void> {
    const listed = await this.#listWhole()
    if (listed instanceof DocaFailure) {
      this.#miss(listed)
      return
    }
    this.#listed = this.#wanted.of(listed)
    const names = new Set(this.#listed.map(({ name }) => name))
    const missing = [...this.#places.keys()].filter((name) => !names.has(name))
    const silence = this.#silenceOf(missing)
    if (silence === undefined) this.#leave(missing)
    for (const name of names) {
      const known = this.#places.get(name)
      if (known === undefined) this.#places.set(name, this.#placeOf(name))
      else known.stay()
    }
    this.#follows()
    if (silence !== undefined) {
      this.#keepReading(silence)
      return
    }
    this.#wanted.reportMissing(listed, (device, reason) => {
      if (reason === undefined) this.#present(device)
      else this.#absent(device, 'unsupported', reason)
    })
    this.#refuseAll()
    if (names.size === 0) throw new SondeError('SRC_READ', this.#wanted.none(listed))
  }

  /** Returns why the list may be incomplete; undefined if it is complete. */
  #silenceOf(missing: readonly string[]): SondeError | undefined {
    const { isWaiting, refusal } = this.#roster
    if (!isWaiting) return refusal?.error
    const silent = missing.length === 0 ? 'a device' : missing.join(', ')
    return new SondeError('SRC_CALL', `${silent}: the library does not return its names`)
  }

  #leave(names: Iterable<string>): void {
    for (const name of names) this.#places.get(name)?.leave('the device is no longer there')
  }

  /** Without a list, devices are read as before. Once the last device has left, no device is read. */
  #miss({ kind, error }: DocaFailure): void {
    if (kind === 'gone') {
      this.#leave(this.#places.keys())
      this.#follows()
      throw error
    }
    this.#keepReading(error)
  }

  /** Keeps reading open devices while the library does not list them. */
  #keepReading(error: SondeError): void {
    if (this.#places.size === 0) throw error
    this.#context.failed('list of devices', error)
  }

  #placeOf(name: string): DocaPlace {
    return new DocaPlace(name, {
      context: this.#context,
      limitMs: this.#options.stuck_ms,
      ...(this.#isOrdered && { before: () => this.#tryLower(name) }),
      openDevice: () => DocaDevice.open(this.#library, name),
      openReader: async (device, context) => {
        const reader = await this.#openReader(device, context)
        return reader instanceof DocaFailure ? reader.ofAdapter(adapterOf(context.paths.sysfs, name)) : reader
      },
      refused: (device, failure) => this.#reportRefusal(device, failure),
      left: (device, reason) => this.#absent(device, 'gone', reason),
      changed: () => this.#follows(),
    })
  }

  /**
   * Tries to open the lower functions of the card of a device, unless one of them is read. A function that does not
   * answer delays the device for half of its limit.
   */
  #tryLower(name: string): Promise<unknown> {
    const lower = lowerFunctions(this.#listed, name).flatMap((one) => this.#places.get(one) ?? [])
    const tried = async () => {
      for (const place of lower) {
        if (lower.some(({ isRead }) => isRead)) return
        await place.tryOpen()
      }
    }
    return within(this.#options.stuck_ms / 2, tried())
  }

  #absent(device: string, code: AbsenceCode, reason: string): void {
    const { absences } = this.#context
    for (const type of this.#types) {
      if (code === 'gone') absences.gone(type, labelsOf(type, device), reason)
      else absences.set(type, labelsOf(type, device), '', code, reason)
    }
  }

  #present(device: string): void {
    for (const type of this.#types) this.#context.absences.clear(type, labelsOf(type, device), '')
  }

  #reportRefusal(device: string, failure: DocaFailure | undefined): void {
    // A device that is lost but still listed is not gone, so its reason stays.
    const code = failure?.kind === 'gone' ? 'failed' : failure?.kind
    if (code === undefined) this.#present(device)
    else this.#absent(device, code, failure?.error.message ?? '')
  }

  /** If no device supports the call, the source fails with the reason. */
  #refuseAll(): void {
    const refusals = [...this.#places.values()].flatMap(({ refusal }) => refusal ?? [])
    const [first] = refusals
    if (first === undefined || refusals.length < this.#places.size) return
    if (refusals.every(({ kind }) => kind === 'unsupported')) throw first.error
  }

  #follows(): void {
    for (const [name, place] of this.#places) if (place.isGone) this.#places.delete(name)
    // Reads come first, because the first duty shows whether the source is on time.
    this.#duties = [...[...this.#places.values()].flatMap((place) => place.duties()), this.#list]
  }
}

function labelsOf(type: RecordType, device: string): Record<string, string> {
  return { [deviceLabelOf(type) ?? '']: device }
}
