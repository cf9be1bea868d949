import { type RecordType, SondeError } from '@sonde/sdk'
import { DocaDevice } from '../../native/doca/device.ts'
import { DocaFailure } from '../../native/doca/failure.ts'
import type { DocaLibrary } from '../../native/doca/library.ts'
import { DocaRoster } from '../../native/doca/roster.ts'
import type { Duty, NodeSource, Probe, SourceContext } from '../source.ts'
import type { DocaOptions } from './options.ts'
import { DocaPlace, LIMIT_KEY, type OpenReader } from './place.ts'
import { WantedDevices } from './wanted-devices.ts'

/** Devices are listed again so often. Unit: microseconds. */
const LIST_EVERY_US = 5_000_000

/** What it means for a source that devices cannot be listed. */
const PROBED = { denied: 'denied', gone: 'absent', unsupported: 'absent', failed: 'failed' } as const

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
  readonly #roster: DocaRoster
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
    // The others are listed before the list itself counts as stuck.
    this.#roster = new DocaRoster(this.#library, options.stuck_ms / 2)
    this.#openReader = openReader
    this.#wanted = new WantedDevices(options.devices)
    const { stuck_ms: limitMs } = options
    const list = { device: '', name: 'list', everyUs: LIST_EVERY_US, limitMs, limitKey: LIMIT_KEY }
    this.#list = { ...list, run: () => this.#follow() }
    this.#duties = [this.#list]
  }

  async probe(): Promise<Probe> {
    const listed = await this.#roster.list()
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

  /** Follows the list of devices: a new one is opened, one that left is said to be gone. */
  async #follow(): Promise<void> {
    const listed = await this.#roster.list()
    if (listed instanceof DocaFailure) {
      this.#miss(listed)
      return
    }
    const names = new Set(this.#wanted.of(listed).map(({ name }) => name))
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
    this.#wanted.tellMissing(listed, (device, reason) => {
      if (reason === undefined) this.#context.absences.clear(this.#type, { device }, '')
      else this.#context.absences.set(this.#type, { device }, '', 'unsupported', reason)
    })
    this.#refuseAll()
    if (names.size === 0) throw new SondeError('SRC_READ', this.#wanted.none(listed))
  }

  /** Why the list may lack devices that are there. */
  #silenceOf(missing: readonly string[]): SondeError | undefined {
    const { isWaiting, refusal } = this.#roster
    if (!isWaiting) return refusal?.error
    const silent = missing.length === 0 ? 'a device' : missing.join(', ')
    return new SondeError('SRC_CALL', `${silent}: the library does not come back with its names`)
  }

  #leave(names: Iterable<string>): void {
    for (const name of names) this.#places.get(name)?.leave('the device is no longer there')
  }

  /** Without a list devices are read as before, unless there is none because the last of them left. */
  #miss({ kind, error }: DocaFailure): void {
    if (kind === 'gone') {
      this.#leave(this.#places.keys())
      this.#follows()
      throw error
    }
    this.#keepReading(error)
  }

  /** Devices that are open are read, also while the library does not list them. */
  #keepReading(error: SondeError): void {
    if (this.#places.size === 0) throw error
    this.#context.failed('list of devices', error)
  }

  #placeOf(name: string): DocaPlace {
    return new DocaPlace(name, {
      context: this.#context,
      limitMs: this.#options.stuck_ms,
      openDevice: () => DocaDevice.open(this.#library, name),
      openReader: this.#openReader,
      refused: (device, failure) => this.#tellRefusal(device, failure),
      left: (device, reason) => this.#context.absences.gone(this.#type, { device }, reason),
      changed: () => this.#follows(),
    })
  }

  #tellRefusal(device: string, failure: DocaFailure | undefined): void {
    const { absences } = this.#context
    // A device that is listed and lost has not left: its reason stays.
    const code = failure?.kind === 'gone' ? 'failed' : failure?.kind
    if (code === undefined) absences.clear(this.#type, { device }, '')
    else absences.set(this.#type, { device }, '', code, failure?.error.message ?? '')
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
