import { type RecordType, SondeError } from '@sonde/sdk'
import { DocaDevice, listDocaDevices } from '../../native/doca/device.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import type { DocaLibrary } from '../../native/doca/library.ts'
import type { Duty, NodeSource, Probe, SourceContext } from '../source.ts'
import type { DocaOptions } from './options.ts'
import { DocaPlace, type OpenReader } from './place.ts'
import { WantedDevices } from './wanted-devices.ts'

/** Devices are listed again so often. Unit: microseconds. */
const LIST_EVERY_US = 5_000_000

/** What a source reads of devices. */
export interface DocaReading {
  /** The type whose series say why a device is not read. */
  readonly type: RecordType
  /** Makes what reads one device, each time that it is opened. */
  readonly openReader: OpenReader
}

/** A source that reads devices by the DOCA libraries: follows which devices there are, and keeps each open. */
export class DocaSource implements NodeSource {
  readonly #options: DocaOptions
  readonly #context: SourceContext
  readonly #library: DocaLibrary
  readonly #type: RecordType
  readonly #openReader: OpenReader
  readonly #wanted: WantedDevices
  readonly #places = new Map<string, DocaPlace>()
  readonly #list: Duty
  #duties: readonly Duty[]

  constructor(options: DocaOptions, context: SourceContext, { type, openReader }: DocaReading) {
    this.#options = options
    this.#type = type
    this.#context = context
    this.#library = context.library as DocaLibrary
    this.#openReader = openReader
    this.#wanted = new WantedDevices(options.devices)
    const { stuck_ms: limitMs } = options
    this.#list = { device: '', name: 'list', everyUs: LIST_EVERY_US, limitMs, run: () => this.#follow() }
    this.#duties = [this.#list]
  }

  async probe(): Promise<Probe> {
    const listed = await listDocaDevices(this.#library)
    if (listed instanceof DocaFailure)
      return { state: listed.kind === 'denied' ? 'denied' : 'absent', reason: listed.words }
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

  /** Follows the list of devices: a new one is opened, one that left is said to be gone. */
  async #follow(): Promise<void> {
    const listed = await listDocaDevices(this.#library)
    if (listed instanceof DocaFailure) throw listed.error
    const wanted = this.#wanted.of(listed)
    const names = new Set(wanted.map(({ name }) => name))
    for (const place of this.#places.values()) if (!names.has(place.name)) place.leave('the device is no longer there')
    for (const name of names) {
      const known = this.#places.get(name)
      if (known === undefined || known.isLeaving) this.#places.set(name, this.#placeOf(name))
    }
    this.#wanted.tellMissing(listed, (device, reason) => {
      if (reason === undefined) this.#context.absences.clear(this.#type, { device }, '')
      else this.#context.absences.set(this.#type, { device }, '', 'unsupported', reason)
    })
    this.#follows()
    this.#refuseAll()
    if (wanted.length === 0) throw new SondeError('SRC_READ', this.#wanted.none(listed))
  }

  #placeOf(name: string): DocaPlace {
    return new DocaPlace(name, {
      context: this.#context,
      limitMs: this.#options.stuck_ms,
      openDevice: () => DocaDevice.open(this.#library, name),
      openReader: this.#openReader,
      refused: (device, { kind, error }) => {
        this.#context.absences.set(this.#type, { device }, '', kind, error.message)
      },
      changed: () => this.#follows(),
    })
  }

  /** Where no device can do it, the source says so instead of reading nothing. */
  #refuseAll(): void {
    const refusals = [...this.#places.values()].flatMap(({ refusal }) => refusal ?? [])
    const [first] = refusals
    if (first === undefined || refusals.length < this.#places.size) return
    if (refusals.every(({ kind }) => kind === 'unsupported')) throw first.error
  }

  #follows(): void {
    for (const [name, place] of this.#places) if (place.isGone) this.#places.delete(name)
    // What is read comes first: the first duty is that by which the source is known to be in time.
    this.#duties = [...[...this.#places.values()].flatMap((place) => place.duties()), this.#list]
  }
}
